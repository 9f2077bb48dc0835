/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a capture does beyond events, where asked to: probes at the fault handler, the function
 * tracer on the handlers, faults counted inside the kernel. Each is set up by itself; what the
 * kernel refuses is kept as a line for the user and noted in the recording, and the rest goes on.
 */
#include "capture/capture_priv.h"

#include "base/clock.h"
#include "record/handlers.h"
#include "record/symbols.h"
#include "tracefs/dynevents.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Entries of the kernel's tables of counted faults; 2^17 is the most there can be. */
#define USER_ENTRIES   (1u << 17)
#define KERNEL_ENTRIES (1u << 14)

static void refused(struct pfs_capture *c, const char *option, const struct pfs_err *why)
{
	if (c->nr_refused < MAX_REFUSED && asprintf(&c->refused[c->nr_refused], "%s: %s", option, why->msg) >= 0)
		c->refused_option[c->nr_refused++] = option;
}

/* ---- probes ---- */

static int set_up_probes(struct pfs_capture *c, struct pfs_err *err)
{
	int ret;

	pfs_dynevents_group(pfs_instance_dir(c->instance), c->group, sizeof(c->group));
	ret = pfs_dynevents_create(c->group, c->config.tracers.probes, &c->probes_how, err);
	if (ret)
		return ret;
	ret = pfs_instance_enable(c->instance, c->group, PFS_HANDLER_EVENT, NULL, err);
	if (!ret)
		ret = pfs_instance_enable(c->instance, c->group, PFS_HANDLER_END_EVENT, NULL, err);
	if (!ret) /* a kernel without the file does not count them */
		pfs_instance_hold(c->instance, PFS_DYNEVENTS_PROFILE, O_RDONLY, NULL);
	c->has_probes = !ret;
	return ret;
}

int capture_tracers_load_formats(struct pfs_capture *c)
{
	const char *tracing = pfs_tracing_dir(NULL);
	int ret = 0;

	if (c->has_probes) {
		ret = pfs_formats_load_event(c->formats, tracing, c->group, PFS_HANDLER_EVENT);
		if (ret >= 0)
			ret = pfs_formats_load_event(c->formats, tracing, c->group, PFS_HANDLER_END_EVENT);
	}
	c->formats->symbols = c->symbols;
	c->symbols = NULL;
	return ret < 0 ? ret : 0;
}

/* ---- the function tracer ---- */

/*
 * do_wp_page		a module's function has "[name]" behind it: handlers are none
 *
 * A function is chosen by its number in the list, which the kernel finds at once; a name it would
 * search.
 */
static int choose_functions(struct pfs_capture *c, FILE *available, struct pfs_err *err)
{
	char line[512], number[16];
	int ret = 0;

	for (unsigned int nr = 1; !ret && fgets(line, sizeof(line), available); nr++) {
		if (pfs_handler_find(line, strcspn(line, "\n")) < 0)
			continue;
		snprintf(number, sizeof(number), "%u", nr);
		ret = pfs_instance_write(c->instance, "set_ftrace_filter", number, err);
	}
	return ret;
}

/* What is traced now, as the kernel itself says: into one line for the note. */
static int list_functions(struct pfs_capture *c, struct pfs_err *err)
{
	char path[PATH_MAX], line[512];
	FILE *in, *out;
	size_t size;

	snprintf(path, sizeof(path), "%s/set_ftrace_filter", pfs_instance_dir(c->instance));
	in = fopen(path, "re");
	if (!in)
		return pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
	out = open_memstream(&c->functions, &size);
	while (out && fgets(line, sizeof(line), in)) {
		size_t len = strcspn(line, "\n");

		if (pfs_handler_find(line, len) >= 0)
			fprintf(out, "%s%.*s", c->functions_traced++ ? " " : "", (int)len, line);
	}
	fclose(in);
	if (!out || fclose(out))
		return pfs_err_set(err, -ENOMEM, "no memory for a list of functions");
	/* An empty filter would trace every function there is. */
	if (!c->functions_traced)
		return pfs_err_set(err, -ENOTSUP, "this kernel lets no fault handler be traced");
	return 0;
}

static int filter_functions(struct pfs_capture *c, struct pfs_err *err)
{
	const char *tracing = pfs_tracing_dir(err);
	char path[PATH_MAX];
	FILE *available;
	int ret;

	snprintf(path, sizeof(path), "%s/available_filter_functions", tracing ? tracing : "");
	available = fopen(path, "re");
	if (!available)
		return errno == ENOENT ? pfs_err_set(err, -ENOENT, "this kernel has no function tracer")
				       : pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
	ret = choose_functions(c, available, err);
	fclose(available);
	return ret ? ret : list_functions(c, err);
}

static int set_up_functions(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = filter_functions(c, err);

	if (!ret && !c->config.text) {
		c->symbols = pfs_symbols_load(err);
		ret = c->symbols ? 0 : -errno;
	}
	if (!ret)
		ret = pfs_instance_write(c->instance, "options/function-fork", "1", err);
	/* Last: until a thread is entered it would trace all there are, but tracing is off. */
	if (!ret)
		ret = pfs_instance_write(c->instance, "current_tracer", "function", err);
	c->has_functions = !ret;
	return ret;
}

int capture_tracers_add_tid(struct pfs_capture *c, pid_t tid, struct pfs_err *err)
{
	char text[16];

	if (!c->has_functions)
		return 0;
	snprintf(text, sizeof(text), "%d", tid);
	return pfs_instance_write(c->instance, "set_ftrace_pid", text, err);
}

/* ---- faults counted in the kernel ---- */

static int set_up_histogram(struct pfs_capture *c, struct pfs_err *err)
{
	unsigned long page = sysconf(_SC_PAGESIZE);
	unsigned int entries = USER_ENTRIES;
	int ret;

	do
		ret = pfs_hist_create(&c->hist[0], c->instance, "page_fault_user", page, entries, err);
	while (ret == -ENOMEM && (entries /= 2) >= KERNEL_ENTRIES);
	if (!ret)
		ret = pfs_hist_create(&c->hist[1], c->instance, "page_fault_kernel", page, KERNEL_ENTRIES, err);
	c->has_hist = !ret;
	return ret;
}

/*
 * A launched command is counted from its exec on: what comes before are pfscope's own faults, which
 * no address would tell from it.
 */
int capture_tracers_start(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = 0;

	c->start_ns = pfs_now_ns();
	for (unsigned int i = 0; c->has_hist && !ret && i < NR_HIST; i++) {
		if (c->launched)
			ret = pfs_hist_count_from_exec(&c->hist[i], c->instance, c->launched, err);
		if (ret || !c->launched)
			ret = pfs_hist_count(&c->hist[i], c->instance, true, err);
	}
	return ret;
}

struct counting {
	struct pfs_capture *c;
	uint64_t now_ns, kernel;
};

static int put_entry(void *ctx, const struct pfs_hist_entry *entry)
{
	struct counting *n = ctx;
	struct raw_event ev = {
		.ts_ns = n->now_ns,
		.kind = RAW_PFS_HIST,
		.cpu = -1,
		.tid = entry->tid,
		.tgid = -1,
		.arg = { entry->page, entry->code, entry->count, n->kernel, n->now_ns - n->c->start_ns },
	};

	return pfs_sideband_put(n->c->sideband, &ev);
}

static int note_missed(struct pfs_capture *c)
{
	int fd = c->has_probes ? pfs_instance_open(c->instance, PFS_DYNEVENTS_PROFILE, O_RDONLY, NULL) : -1;
	unsigned long long missed = fd >= 0 ? pfs_dynevents_missed(fd) : 0;

	return missed ? pfs_capture_note(c, 0, PFS_FACT(PROBES_MISSED, .count = missed)) : 0;
}

int capture_tracers_stop(struct pfs_capture *c, struct pfs_err *err)
{
	struct counting n = { .c = c, .now_ns = pfs_now_ns() };
	uint64_t dropped, sum = 0;
	int ret = 0;

	for (unsigned int i = 0; c->has_hist && !ret && i < NR_HIST; i++) {
		n.kernel = i;
		ret = pfs_hist_count(&c->hist[i], c->instance, false, err);
		if (!ret)
			ret = pfs_hist_read(&c->hist[i], c->instance, put_entry, &n, &dropped, err);
		if (ret == -ENOMEM)
			pfs_err_set(err, ret, "no memory for the counted faults");
		sum += ret ? 0 : dropped;
	}
	if (ret)
		return ret;
	if ((sum && pfs_capture_note(c, 0, PFS_FACT(HISTOGRAM_LOST, .count = sum))) || note_missed(c))
		ret = pfs_err_set(err, -ENOMEM, "no memory for a note");
	return ret;
}

/* ---- all of them ---- */

void capture_tracers_set_up(struct pfs_capture *c)
{
	const struct pfs_capture_tracers *asked = &c->config.tracers;
	struct pfs_err why;

	if (asked->histogram && set_up_histogram(c, &why))
		refused(c, "--histogram", &why);
	if ((asked->probes || asked->latency) && set_up_probes(c, &why))
		refused(c, asked->probes ? "--probes" : "--latency", &why);
	if (asked->classify && set_up_functions(c, &why))
		refused(c, "--classify", &why);
}

int capture_tracers_notes(struct pfs_capture *c)
{
	int ret = 0;

	if (c->has_probes)
		ret = pfs_capture_note(c, 0, PFS_FACT(PROBES, .text = c->probes_how));
	if (!ret && c->has_functions)
		ret = pfs_capture_note(c, 0, PFS_FACT(CLASSIFY, .text = c->functions));
	if (!ret && c->has_hist)
		ret = pfs_capture_note(c, 0, PFS_FACT(HISTOGRAM, .count = sysconf(_SC_PAGESIZE)));
	for (unsigned int i = 0; !ret && i < c->nr_refused; i++)
		ret = pfs_capture_note(c, 0,
				       PFS_FACT(LACKS, .what = c->refused_option[i],
						.text = c->refused[i] + strlen(c->refused_option[i]) + 2));
	return ret;
}

void capture_tracers_free(struct pfs_capture *c)
{
	for (unsigned int i = 0; i < c->nr_refused; i++)
		free(c->refused[i]);
	free(c->functions);
	pfs_symbols_free(c->symbols);
}

const char *const *pfs_capture_refused(const struct pfs_capture *c)
{
	return (const char *const *)c->refused;
}
