/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads recordings of any kind: trace.dat, text of trace_pipe, event lines. All kinds deliver events. See reading.h.
 */
#include "common/reading.h"

#include "assemble/assemble.h"
#include "base/clock.h"
#include "base/units.h"
#include "common/command.h"
#include "dat/dat.h"
#include "event/line.h"
#include "record/formats.h"
#include "record/handlers.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_LEN 65536

/* ---- a progress line on a terminal, erased at the end ---- */

#define MS UINT64_C(1000000)
enum { FIRST_MS = 500, EVERY_MS = 200 };

struct progress {
	bool on; /* standard error is a terminal that can erase a line */
	bool shown;
	uint64_t total;		    /* bytes; 0: unknown */
	uint64_t start_ns, next_ns; /* CLOCK_MONOTONIC: of the work, of the next update */
};

/* wanted: false if the terminal receives other output meanwhile. total: bytes, 0: unknown. */
static void progress_start(struct progress *p, bool wanted, uint64_t total)
{
	const char *term = getenv("TERM");

	*p = (struct progress){ .total = total };
	p->on = wanted && isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
	if (!p->on)
		return;
	p->start_ns = pfs_now_ns();
	p->next_ns = p->start_ns + FIRST_MS * MS;
}

/* Bytes and events read so far. Cheap unless it is called for every event. */
static void progress_at(struct progress *p, uint64_t bytes, uint64_t events)
{
	char read[16], all[40] = "", left[48] = "", time[32], number[32], rate[32];
	double ns;
	uint64_t now;

	if (!p->on)
		return;
	now = pfs_now_ns();
	if (now < p->next_ns)
		return;
	p->next_ns = now + EVERY_MS * MS;
	p->shown = true;
	ns = now - p->start_ns;
	if (p->total && bytes && bytes <= p->total) {
		snprintf(all, sizeof(all), "%2.0f %% of ", 100.0 * bytes / p->total);
		strcat(all, pfs_bytes_text(read, p->total));
		snprintf(left, sizeof(left), ", %s left", pfs_duration_text(time, ns * (p->total - bytes) / bytes, 2));
	}
	fprintf(stderr, "\r%s, %s events, %s events/s%s\033[K", *all ? all : pfs_bytes_text(read, bytes),
		pfs_decimal_text(number, events), pfs_decimal_text(rate, events * (PFS_NS_PER_S / ns)), left);
	fflush(stderr);
}

static void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = p->on = false;
}

/* ---- reading ---- */

struct input {
	int fd;
	const char *name;	 /* for messages */
	char head[HEAD_LEN + 1]; /* read to detect the kind */
	size_t head_len;
	const struct input_options *options;
	const struct pfs_sink *sink;
	struct pfs_err *err;
	struct progress progress;
	uint32_t page_size; /* of a trace.dat */
	bool no_faults;	    /* it has no page-fault events, which was reported */
};

/* Not at a first reading: the second one prints them. */
#define input_message(in, ...)                \
	do {                                  \
		if (!(in)->options->quiet)    \
			message(__VA_ARGS__); \
	} while (0)

struct input_kind {
	int (*probe)(const char *head, size_t len); /* 0 (no) to 100 */
	int (*read)(struct input *in);
};

static int no_memory(const struct input *in)
{
	return pfs_err_set(in->err, -ENOMEM, "%s: no memory to read it", in->name);
}

static int read_some(const struct input *in, char *buf, size_t size, ssize_t *got)
{
	do
		*got = read(in->fd, buf, size);
	while (*got < 0 && errno == EINTR);
	if (*got < 0)
		return pfs_err_set(in->err, -errno, "%s: %s", in->name, strerror(errno));
	return 0;
}

/* The head and then the rest of the input, in blocks. *nr_events: how many they have given so far. */
static int each_block(struct input *in, int (*fn)(void *ctx, const char *buf, size_t len), const uint64_t *nr_events,
		      void *ctx)
{
	char *buf = malloc(1 << 18);
	uint64_t bytes = in->head_len;
	ssize_t got = 1;
	int ret;

	if (!buf)
		return no_memory(in);
	ret = fn(ctx, in->head, in->head_len);
	while (!ret && got > 0) {
		ret = read_some(in, buf, 1 << 18, &got);
		if (!ret && got > 0)
			ret = fn(ctx, buf, got);
		bytes += got > 0 ? got : 0;
		progress_at(&in->progress, bytes, *nr_events);
	}
	free(buf);
	return ret;
}

/* A recording may have other events only. */
static void report_no_faults(struct input *in, const struct raw_seen *seen)
{
	in->no_faults = !raw_seen_faults(seen) && !in->options->objects;
	if (in->no_faults)
		input_message(in, "%s: no page-fault events%s%.*s (`%s)", in->name, seen->nr ? ", only" : "",
			      (int)strlen(seen->names) - !!seen->nr, seen->names,
			      seen->objects ? "pfscope kmap` prints kernel objects"
					    : "pfscope events --needed` prints how to record them");
}

/* ---- the end at --to and --at ---- */

enum { LOSS_DRAIN_CPUS = 1024 }; /* CPUs beyond are not waited for */

/*
 * Text and event lines may report losses from before --to only with the next event of the same CPU. So the reader
 * continues until each CPU that appeared before has another event.
 */
struct loss_drain {
	const struct pfs_sink *to;
	bool over; /* only losses from before the end are still passed on */
	unsigned int nr_awaited;
	bool awaited[LOSS_DRAIN_CPUS]; /* by CPU: appeared before the end, and not since */
};

static void await(struct loss_drain *d, int32_t cpu, bool awaited)
{
	if (cpu < 0 || cpu >= LOSS_DRAIN_CPUS)
		return;
	d->nr_awaited += awaited - d->awaited[cpu];
	d->awaited[cpu] = awaited;
}

/* The sink has returned ret for an event of that CPU. */
static int drain_taken(struct loss_drain *d, int32_t cpu, int ret)
{
	if (ret && ret != -ECANCELED)
		return ret;
	d->over |= ret == -ECANCELED;
	await(d, cpu, !d->over);
	return d->over && !d->nr_awaited ? -ECANCELED : 0;
}

static int drain_event(void *ctx, const struct pfs_event *ev)
{
	struct loss_drain *d = ctx;

	return drain_taken(d, pfs_has(ev, PFS_F_CPU) ? ev->cpu : -1,
			   !d->over || ev->kind == PFS_LOST ? pfs_emit(d->to, ev) : 0);
}

static int drain_faults(void *ctx, const struct pfs_fault_run *runs, unsigned int nr)
{
	struct loss_drain *d = ctx;
	int ret = 0;

	for (unsigned int i = 0; i < nr && !ret; i++)
		ret = drain_taken(d, runs[i].cpu, d->over ? 0 : d->to->faults(d->to->ctx, &runs[i], 1));
	return ret;
}

/* A sink before `to` that delays its -ECANCELED. Both are borrowed. */
static struct pfs_sink loss_drain_sink(struct loss_drain *drain, const struct pfs_sink *to)
{
	*drain = (struct loss_drain){ .to = to };
	return (struct pfs_sink){ .fn = drain_event, .ctx = drain, .faults = to->faults ? drain_faults : NULL };
}

/* ---- text of trace_pipe and its like ---- */

static int read_text(struct input *in)
{
	struct loss_drain drain;
	struct pfs_sink sink = loss_drain_sink(&drain, in->sink);
	struct pfs_assembler *a = pfs_assembler_new(&sink);
	const struct pfs_text_options options = { .other = in->options->other };
	struct pfs_text *text = a ? pfs_text_new(pfs_assembler_feed, a, &options) : NULL;
	const struct pfs_text_stats *stats;
	int ret;

	if (!text) {
		ret = no_memory(in);
		goto out;
	}
	pfs_text_take_faults(text, pfs_assembler_faults);
	ret = each_block(in, pfs_text_feed, &pfs_text_stats(text)->events, text);
	if (!ret)
		ret = pfs_text_finish(text);
	if (!ret)
		ret = pfs_assembler_finish(a);
	progress_end(&in->progress);
	stats = pfs_text_stats(text);
	if (!ret)
		report_no_faults(in, &stats->seen);
	if (stats->unparsed)
		input_message(in, "%s: lines that are not events: %" PRIu64 " (first: line %" PRIu64 ")", in->name,
			      stats->unparsed, stats->first_unparsed);
out:
	pfs_text_free(text);
	pfs_assembler_free(a);
	return ret;
}

/* A latency tracer's trace.dat contains the lines of a `trace` file. */
static int read_dat_text(struct input *in, struct pfs_dat *dat)
{
	int fd = in->fd, ret;

	in->head_len = 0;
	in->fd = pfs_dat_text(dat, in->err);
	ret = in->fd < 0 ? in->fd : read_text(in);
	if (in->fd >= 0)
		close(in->fd);
	in->fd = fd;
	return ret;
}

/* ---- trace.dat ---- */

static int probe_dat(const char *head, size_t len)
{
	return pfs_dat_is_magic(head, len) ? 100 : 0;
}

static const char *dat_name(void *ctx, int32_t tid)
{
	return pfs_dat_comm(ctx, tid);
}

/* The file's metadata as header notes; pfscope's own files already have such notes. */
static int dat_header(struct pfs_assembler *a, const struct pfs_dat *dat)
{
	const char *uname = pfs_dat_info(dat)->uname, *clock = pfs_dat_info(dat)->clock, *machine, *pages;
	char size[16];
	int ret = 0;

	if (pfs_formats_find(pfs_dat_info(dat)->formats, "pfscope", "pfs_note"))
		return 0;
	snprintf(size, sizeof(size), "%u", pfs_dat_info(dat)->page_size);
	pages = pfs_formats_find(pfs_dat_info(dat)->formats, "kmem", "mm_page_free") ? "1" : NULL;
	machine = uname ? strrchr(uname, ' ') : NULL;
	const char *const notes[][2] = {
		{ "page_size", size }, { "machine", machine ? machine + 1 : NULL },
		{ "uname", uname },    { "clock", clock },
		{ "objects", pages },
	};

	for (size_t i = 0; !ret && i < sizeof(notes) / sizeof(notes[0]); i++)
		if (notes[i][1])
			ret = pfs_assembler_header(a, notes[i][0], notes[i][1]);
	return ret;
}

static void print_damage(const struct input *in, const struct pfs_dat *dat)
{
	const struct pfs_merge_stats *stats = pfs_dat_stats(dat);

	if (stats->damaged)
		input_message(in, "%s: damaged in %" PRIu64 " place%s, the rest is shown (first: %s)", in->name,
			      stats->damaged, stats->damaged == 1 ? "" : "s", stats->first_damage.msg);
}

static void dat_progress(void *ctx, const struct pfs_merge_stats *stats)
{
	struct input *in = ctx;

	progress_at(&in->progress, stats->pages * in->page_size, stats->records);
}

static int read_dat(struct input *in)
{
	unsigned int flags = (in->options->salvage ? PFS_DAT_SALVAGE : 0) | (in->options->other ? PFS_DAT_PRINT : 0);
	struct pfs_assembler *a = NULL;
	struct pfs_dat *dat = NULL;
	int fd, ret;

	fd = pfs_dat_spool(in->fd, in->name, in->head, in->head_len, in->err);
	if (fd < 0)
		return fd;
	dat = pfs_dat_open(fd, in->name, flags, in->err);
	if (!dat) {
		ret = errno ? -errno : -EBADMSG;
		goto out;
	}
	if (pfs_dat_is_text(dat)) {
		ret = read_dat_text(in, dat);
		goto out;
	}
	if (!pfs_dat_stats(dat)->damaged) /* the formats are all there */
		report_no_faults(in, &pfs_dat_info(dat)->formats->seen);
	a = pfs_assembler_new(in->sink);
	if (!a || pfs_assembler_may_have_stacks(a) || dat_header(a, dat)) {
		ret = no_memory(in);
		goto out;
	}
	pfs_assembler_set_names(a, dat_name, dat);
	pfs_assembler_set_functions(a, pfs_function_name, pfs_dat_info(dat)->formats->symbols);
	pfs_dat_take_faults(dat, pfs_assembler_faults);
	in->page_size = pfs_dat_info(dat)->page_size;
	if (pfs_dat_info(dat)->compressed)
		in->progress.total = 0;
	pfs_dat_watch(dat, dat_progress, in);
	ret = pfs_dat_read(dat, in->options->other ? PFS_DAT_OTHER : 0, pfs_assembler_feed, a, in->err);
	if (!ret)
		ret = pfs_assembler_finish(a);
	progress_end(&in->progress);
	print_damage(in, dat);
out:
	pfs_assembler_free(a);
	pfs_dat_close(dat);
	if (fd != in->fd)
		close(fd);
	return ret;
}

/* ---- event lines ---- */

static int probe_lines(const char *head, size_t len)
{
	return pfs_line_probe(head, len) ? 90 : 0;
}

static void print_line_errors(const struct input *in, const struct pfs_line_stats *stats)
{
	if (stats->nr_errors)
		input_message(in, "%s: lines that are not events: %" PRIu64 " (first: %s)", in->name, stats->nr_errors,
			      stats->first_error.msg);
	if (stats->nr_unknown_kinds || stats->nr_unknown_fields)
		input_message(in,
			      "%s: written by a newer pfscope: %" PRIu64 " events and %" PRIu64
			      " fields of unknown kinds are ignored",
			      in->name, stats->nr_unknown_kinds, stats->nr_unknown_fields);
}

/* On their way to a sink: are there faults, are there kernel objects? */
struct lines_seen {
	const struct pfs_sink *to;
	bool faults, objects;
};

static int see_event(void *ctx, const struct pfs_event *ev)
{
	struct lines_seen *seen = ctx;

	seen->faults |= ev->kind == PFS_FAULT;
	seen->objects |= ev->kind == PFS_ALLOC || ev->kind == PFS_FREE;
	return pfs_emit(seen->to, ev);
}

static int see_faults(void *ctx, const struct pfs_fault_run *runs, unsigned int nr)
{
	struct lines_seen *seen = ctx;

	seen->faults = true;
	return seen->to->faults(seen->to->ctx, runs, nr);
}

/* A recording of `kmap record --source=stap'. Lines that have neither may be a part of any. */
static void report_only_objects(struct input *in, const struct lines_seen *seen)
{
	in->no_faults = seen->objects && !seen->faults && !in->options->objects;
	if (in->no_faults)
		input_message(in, "%s: no page-fault events, only kernel objects (`pfscope kmap` prints them)",
			      in->name);
}

static int read_lines(struct input *in)
{
	struct loss_drain drain;
	struct pfs_sink drained = loss_drain_sink(&drain, in->sink);
	struct lines_seen seen = { .to = &drained };
	const struct pfs_sink sink = { .fn = see_event, .ctx = &seen, .faults = drained.faults ? see_faults : NULL };
	struct pfs_line_reader *reader = pfs_line_reader_new(&sink);
	int ret;

	if (!reader)
		return no_memory(in);
	ret = each_block(in, pfs_line_reader_feed, &pfs_line_reader_stats(reader)->nr_events, reader);
	if (!ret)
		ret = pfs_line_reader_end(reader);
	progress_end(&in->progress);
	if (ret == -EPROTONOSUPPORT)
		pfs_err_set(in->err, ret, "%s: %s", in->name, pfs_line_reader_stats(reader)->first_error.msg);
	else
		print_line_errors(in, pfs_line_reader_stats(reader));
	if (!ret)
		report_only_objects(in, &seen);
	pfs_line_reader_free(reader);
	return ret;
}

/* ---- detecting the kind ---- */

static const struct input_kind kinds[] = {
	{ probe_dat, read_dat },
	{ probe_lines, read_lines },
	{ pfs_text_probe, read_text },
};

static int read_head(struct input *in)
{
	ssize_t got = 1;
	int ret = 0;

	while (!ret && got > 0 && in->head_len < HEAD_LEN) {
		ret = read_some(in, in->head + in->head_len, HEAD_LEN - in->head_len, &got);
		if (!ret)
			in->head_len += got;
	}
	return ret;
}

static int read_kind(struct input *in)
{
	const struct input_kind *best = NULL;
	int most = 0, ret;

	ret = read_head(in);
	if (ret)
		return ret;
	if (!in->head_len)
		return pfs_err_set(in->err, -EBADMSG, "%s: is empty", in->name);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int likely = kinds[i].probe(in->head, in->head_len);

		if (likely > most) {
			most = likely;
			best = &kinds[i];
		}
	}
	if (!best)
		return pfs_err_set(
			in->err, -EBADMSG,
			"%s: offset 0: not a recording (neither trace.dat, nor text of trace_pipe or trace-cmd report, nor event lines)",
			in->name);
	return best->read(in);
}

/* A recording can be read by who made it only, at first. */
static int cannot_open(const char *path, int why, struct pfs_err *err)
{
	const struct passwd *owner;
	struct stat st;

	if (why != EACCES || stat(path, &st))
		return pfs_err_set(err, -why, "%s: %s", path, strerror(why));
	owner = getpwuid(st.st_uid);
	return pfs_err_set(err, -why, "%s: %s: it belongs to %s (user %u), with mode %03o", path, strerror(why),
			   owner ? owner->pw_name : "an unknown user", st.st_uid, st.st_mode & 0777);
}

int input_read(const char *path, const struct input_options *options, const struct pfs_sink *sink, struct pfs_err *err)
{
	bool standard = !path || !strcmp(path, "-");
	struct input *in = calloc(1, sizeof(*in));
	struct stat st;
	int ret;

	if (!in)
		return pfs_err_set(err, -ENOMEM, "no memory to read");
	in->name = standard ? "standard input" : path;
	in->options = options;
	in->sink = sink;
	in->err = err;
	in->fd = standard ? 0 : open(path, O_RDONLY | O_CLOEXEC);
	if (in->fd < 0)
		ret = cannot_open(path, errno, err);
	else if (fstat(in->fd, &st))
		ret = pfs_err_set(err, -errno, "%s: %s", in->name, strerror(errno));
	else if (S_ISDIR(st.st_mode))
		ret = pfs_err_set(err, -EISDIR, "%s: is a directory", path);
	else {
		progress_start(&in->progress, options->progress, S_ISREG(st.st_mode) ? st.st_size : 0);
		ret = read_kind(in);
		progress_end(&in->progress);
	}
	if (!ret || ret == -ECANCELED) /* past --to or --at */
		ret = in->no_faults;
	else if (!*err->msg) /* from the sink */
		pfs_err_set(err, ret, "%s: %s", in->name, strerror(-ret));
	if (in->fd > 0)
		close(in->fd);
	free(in);
	return ret;
}
