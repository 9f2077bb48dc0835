/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations of --source=perf: events are opened, their rings drained, the records put in order and written as lines. */
#include "faults/faults_priv.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/write_all.h"
#include "event/export.h"
#include "event/line.h"
#include "event/notes.h"
#include "os/limits.h"
#include "os/process.h"
#include "unwind/sample.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Data of a ring by default. An ordinary account may lock RLIMIT_MEMLOCK and kernel.perf_event_mlock_kb per CPU. */
#define BUFFER_KB      2048
#define BUFFER_ROOT_KB 8192
#define DUMPS_FACTOR   4 /* with --stack=dwarf */
#define WAKEUP_PART    4 /* of it, when full, wakes pfscope */

struct perf_options {
	bool pfn;
};

enum { OPT_PFN = 1 };

const struct argp_option pfs_perf_options[] = {
	{ "pfn", OPT_PFN, NULL, 0, "Record the page frame of each fault (root), and the size of its page", 0 },
	{ 0 },
};

static struct perf_session *of(struct pfs_live *live)
{
	return (struct perf_session *)live;
}

static int set_option(void *options, int key, const char *arg, struct pfs_err *err)
{
	((struct perf_options *)options)->pfn = true;
	return 0;
}

static int check(const struct pfs_source_config *config, struct pfs_err *err)
{
	return config->stack == PFS_STACK_DWARF ? pfs_unwind_check(err) : 0;
}

static int usable(struct pfs_err *err)
{
	return pfs_perf_may_record(false, err);
}

static int no_memory(struct pfs_err *err)
{
	return pfs_err_set(err, -ENOMEM, "no memory to record");
}

static int note(void *live, int32_t tid, const struct pfs_fact *fact)
{
	struct perf_session *s = of(live);
	char *text = pfs_note_text(fact);

	if (!text)
		return -ENOMEM;
	if (fact->key == PFS_NOTE_RUSAGE)
		s->nr_counted = fact->minor + fact->major;
	return perf_queue_put(
		&s->queue,
		(struct perf_item){
			.ts_ns = pfs_now_ns(), .cpu = -1, .pid = tid, .tid = tid, .kind = PERF_NOTE, .data = text });
}

/* ---- opening ---- */

static int note_lacks(struct perf_session *s)
{
	const struct {
		const char *what, *tells;
	} lacks[] = {
		{ "error_code", "the access of faults" },
		{ "filemap:mm_filemap_map_pages", "pages mapped by fault-around" },
		{ "signal:signal_generate", "faults that end in a signal" },
		{ s->pfn ? NULL : "page_size", "huge pages" },
		{ "syscalls:*", "removals and moves of regions (layouts are read now and then)" },
	};
	int ret = 0;

	if (!s->scans)
		ret = note(s, 0, PFS_FACT(LACKS, .what = "PAGEMAP_SCAN", .tells = "which pages are mapped"));
	for (size_t i = 0; !ret && i < sizeof(lacks) / sizeof(lacks[0]); i++)
		if (lacks[i].what)
			ret = note(s, 0, PFS_FACT(LACKS, .what = lacks[i].what, .tells = lacks[i].tells));
	return ret;
}

static int open_all(struct perf_session *s, struct pfs_err *err)
{
	unsigned int kb = s->config.buffer_kb, page_kb;
	char vsyscall[5];
	int fd, ret = usable(err);

	if (ret)
		return ret;
	s->page_size = sysconf(_SC_PAGESIZE);
	page_kb = s->page_size >> 10;
	s->kernel = !pfs_perf_may_record(true, NULL);
	s->scans = pfs_pagemap_can_scan();
	s->counts_lost = true;
	if (s->pfn && !s->kernel && s->config.report)
		s->config.report(s->config.ctx, "--pfn: page frames need root; the sizes of pages are recorded");
	if (!kb)
		kb = (s->kernel ? BUFFER_ROOT_KB : BUFFER_KB) * (s->config.stack == PFS_STACK_DWARF ? DUMPS_FACTOR : 1);
	for (s->nr_pages = 1; s->nr_pages * 2 * page_kb <= kb; s->nr_pages *= 2)
		;
	s->nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	s->cpus = calloc(s->nr_cpus, sizeof(*s->cpus));
	if (!s->cpus)
		return no_memory(err);
	for (int i = 0; i < s->nr_cpus; i++)
		s->cpus[i] = (struct perf_cpu){ .ring.fd = -1, .session = s, .cpu = i };
	fd = pfs_temp_open(err);
	if (fd < 0)
		return fd;
	s->spool = fdopen(fd, "w+");
	if (!s->spool) {
		close(fd);
		return no_memory(err);
	}
	s->writer = pfs_export_new(s->spool, PFS_EXPORT_LINES);
	pfs_vsyscall_perms(vsyscall);
	if (!s->writer || pfs_header_notes("perf", vsyscall, note, s) || note_lacks(s))
		return no_memory(err);
	pfs_fd_limit_raise();
	return 0;
}

/* Chains by frame pointers are as deep as the kernel allows. */
static unsigned int kernel_max_frames(void)
{
	uint64_t max = 0;
	char text[32];

	if (pfs_read_file("/proc/sys/kernel/perf_event_max_stack", text, sizeof(text)) > 0)
		pfs_dec(text, &max);
	return max > 0 && max < 4096 ? max : 127; /* its default */
}

static int open_stacks(struct perf_session *s, struct pfs_err *err)
{
	bool dwarf = s->config.stack == PFS_STACK_DWARF;
	int ret = dwarf ? perf_unwinder_open(s, err) : 0;

	if (ret)
		return ret;
	s->max_frames = dwarf ? UINT_MAX : kernel_max_frames();
	s->symbols = s->kernel ? pfs_symbols_load(NULL) : NULL;
	s->numbers = pfs_stack_numbers_new();
	if (!s->numbers || note(s, 0, PFS_FACT(STACK, .what = dwarf ? "dwarf" : "fp", .count = s->kernel)))
		return no_memory(err);
	return 0;
}

static int close_live(struct pfs_live *live, struct pfs_err *err)
{
	struct perf_session *s = of(live);

	if (!s)
		return 0;
	for (int i = 0; s->cpus && i < s->nr_cpus; i++)
		pfs_perf_ring_fini(&s->cpus[i].ring);
	for (size_t i = 0; i < s->nr_events; i++)
		close(s->events[i].fd);
	free(s->cpus);
	free(s->events);
	free(s->poll_fds);
	pfs_stack_numbers_free(s->numbers);
	pfs_symbols_free(s->symbols);
	free(s->frames);
	perf_unwinder_close(s);
	perf_queue_free(&s->queue);
	perf_procs_free(s);
	pfs_export_free(s->writer);
	if (s->spool)
		fclose(s->spool);
	free(s);
	return 0;
}

static struct pfs_live *open_live(const struct pfs_source_config *config, struct pfs_err *err)
{
	struct perf_session *s = calloc(1, sizeof(*s));
	int ret;

	if (!s) {
		no_memory(err);
		return NULL;
	}
	s->base.source = &pfs_perf_source;
	s->config = *config;
	s->pfn = ((const struct perf_options *)config->options)->pfn;
	ret = open_all(s, err);
	if (!ret && s->config.stack)
		ret = open_stacks(s, err);
	if (!ret)
		return &s->base;
	close_live(&s->base, NULL);
	errno = -ret;
	return NULL;
}

/* ---- processes ---- */

/* Its ring is smaller where the account may not lock as much. */
static int join(struct perf_session *s, int cpu, int fd)
{
	struct pfs_perf_ring *ring = &s->cpus[cpu].ring;
	unsigned int nr_pages = s->nr_pages;
	int ret;

	do
		ret = pfs_perf_ring_join(ring, fd, nr_pages);
	while (ret == -EPERM && (nr_pages /= 2) >= 8);
	return ret;
}

/* The faults of one class of a thread and of all that it starts, on a CPU. 0 (also if that is off line) or -errno. */
static int watch_on(struct perf_session *s, pid_t tid, int cpu, bool major)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = major ? PERF_COUNT_SW_PAGE_FAULTS_MAJ : PERF_COUNT_SW_PAGE_FAULTS_MIN,
		.sample_period = 1,
		.sample_type = PFS_PERF_SAMPLE | (s->max_frames && !s->unwinder ? PERF_SAMPLE_CALLCHAIN : 0) |
			       (major ? PERF_SAMPLE_WEIGHT : 0) | (s->pfn ? PERF_SAMPLE_DATA_PAGE_SIZE : 0) |
			       (s->pfn && s->kernel ? PERF_SAMPLE_PHYS_ADDR : 0),
		.read_format = s->counts_lost ? PERF_FORMAT_LOST : 0,
		.sample_id_all = 1,
		.disabled = 1,
		.inherit = 1,
		.inherit_thread = s->config.no_follow, /* not its children */
		.exclude_kernel = !s->kernel,
		.exclude_hv = 1,
		.mmap = !major,
		.mmap2 = !major,
		.mmap_data = !major,
		.comm = !major,
		.comm_exec = !major,
		.task = !major,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = s->nr_pages * s->page_size / WAKEUP_PART,
	};
	struct perf_open *kept;
	int fd;

	if (s->unwinder)
		pfs_stack_sample_want(&attr, s->kernel);
	fd = pfs_perf_open(&attr, tid, cpu);
	if (fd == -EINVAL && s->counts_lost) {
		s->counts_lost = false;
		return watch_on(s, tid, cpu, major);
	}
	if (fd < 0)
		return fd == -ENODEV ? 0 : fd;
	kept = pfs_array_add(s->events, s->nr_events, s->max_events);
	if (!kept) {
		close(fd);
		return -ENOMEM;
	}
	*kept = (struct perf_open){ fd, cpu };
	return join(s, cpu, fd);
}

static int watch(struct perf_session *s, pid_t pid, pid_t tid, struct pfs_err *err)
{
	int ret = 0;

	for (int cpu = 0; !ret && cpu < s->nr_cpus; cpu++)
		ret = watch_on(s, tid, cpu, false) ?: watch_on(s, tid, cpu, true);
	if (ret == -EPERM && !s->kernel)
		return pfs_err_set(
			err, ret,
			"process %d: no memory may be locked for its buffers: as root, run `sysctl kernel.perf_event_mlock_kb=2064`",
			pid);
	if (ret == -EACCES)
		return pfs_process_refused(pid, err);
	return ret ? pfs_err_set(err, ret, "process %d: perf_event_open: %s", pid, strerror(-ret)) : 0;
}

/* The name that it has now, as a record of perf's. 0 or -ENOMEM. */
static int put_comm(struct perf_session *s, pid_t pid, pid_t tid)
{
	struct pfs_perf_comm *r = calloc(1, sizeof(*r) + 32);
	char file[64];

	if (!r)
		return -ENOMEM;
	snprintf(file, sizeof(file), "task/%d/comm", tid);
	if (!pfs_process_read(pid, file, r->comm, 32)) {
		free(r);
		return 0;
	}
	r->comm[strcspn(r->comm, "\n")] = '\0';
	r->header.type = PERF_RECORD_COMM;
	return perf_queue_put(
		&s->queue,
		(struct perf_item){
			.ts_ns = pfs_now_ns(), .cpu = -1, .pid = pid, .tid = tid, .kind = PERF_RECORD, .data = r });
}

static int add_thread(struct perf_session *s, struct perf_proc *p, pid_t tid, struct pfs_err *err)
{
	int ret = watch(s, p->key, tid, err);

	if (ret)
		return ret;
	p->nr_threads++;
	return put_comm(s, p->key, tid) ? no_memory(err) : 0;
}

static int launch(struct pfs_live *live, pid_t pid, struct pfs_err *err)
{
	struct perf_session *s = of(live);
	struct perf_proc *p = perf_proc(s, pid);
	uint64_t minor, major;
	int ret = p ? add_thread(s, p, pid, err) : no_memory(err);

	if (ret)
		return ret;
	ret = note(s, pid, PFS_FACT(LAUNCH, .pid = pid));
	if (!ret && pfs_process_faults(pid, &minor, &major)) {
		s->nr_before = minor + major;
		ret = note(s, pid, PFS_FACT(COUNTED_BEFORE, .minor = minor, .major = major));
	}
	return ret ? no_memory(err) : 0;
}

struct tids {
	pid_t *tids;
	size_t nr, max;
};

/* Threads that are not in the list yet. Returns how many, or -errno with err set. */
static int add_threads(struct perf_session *s, struct perf_proc *p, struct tids *known, struct pfs_err *err)
{
	struct dirent *entry;
	char path[64];
	int nr = 0, ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", p->key);
	dir = opendir(path);
	if (!dir)
		return pfs_err_set(err, -ESRCH, "process %d: no such process", p->key);
	while (!ret && (entry = readdir(dir))) {
		pid_t tid = pfs_pid_parse(entry->d_name), *added;
		size_t i = 0;

		while (i < known->nr && known->tids[i] != tid)
			i++;
		if (!tid || i < known->nr)
			continue;
		added = pfs_array_add(known->tids, known->nr, known->max);
		if (!added) {
			ret = no_memory(err);
			break;
		}
		*added = tid;
		ret = add_thread(s, p, tid, err);
		if (ret == -ESRCH && tid != p->key) /* it has ended */
			ret = 0;
		nr++;
	}
	closedir(dir);
	return ret ? ret : nr;
}

static int attach(struct pfs_live *live, pid_t pid, struct pfs_err *err)
{
	struct perf_session *s = of(live);
	struct perf_proc *p = perf_proc(s, pid);
	struct tids known = { 0 };
	int ret = p ? 0 : no_memory(err);

	if (ret)
		return ret;
	do /* a thread that is not watched yet starts others that are not either */
		ret = add_threads(s, p, &known, err);
	while (ret > 0);
	free(known.tids);
	if (!ret && note(s, pid, PFS_FACT(ATTACH, .pid = pid)))
		ret = no_memory(err);
	p->changed = p->mapped = true;
	return ret;
}

/* ---- draining ---- */

static int drain(struct perf_session *s, struct pfs_err *err)
{
	uint64_t until_ns = s->drained_ns;
	int ret = 0;

	s->drained_ns = pfs_now_ns();
	for (int cpu = 0; !ret && cpu < s->nr_cpus; cpu++)
		ret = pfs_perf_ring_drain(&s->cpus[cpu].ring, perf_take, &s->cpus[cpu]);
	if (!ret)
		ret = perf_queue_flush(&s->queue, until_ns, perf_decode, s);
	if (ret == -ENOMEM)
		return no_memory(err);
	return ret ? pfs_err_set(err, ret, "cannot write the recording: %s", strerror(-ret)) : 0;
}

static int switch_all(struct perf_session *s, unsigned long request)
{
	for (size_t i = 0; i < s->nr_events; i++)
		if (ioctl(s->events[i].fd, request, 0))
			return -errno;
	return 0;
}

static int start(struct pfs_live *live, struct pfs_err *err)
{
	struct perf_session *s = of(live);
	int ret = switch_all(s, PERF_EVENT_IOC_ENABLE);

	if (ret)
		return pfs_err_set(err, ret, "perf events cannot be enabled: %s", strerror(-ret));
	s->drained_ns = pfs_now_ns();
	return note(s, 0, PFS_FACT(START, .text = "mono")) ? no_memory(err) : 0;
}

static int look(struct pfs_live *live, struct pfs_err *err)
{
	struct perf_session *s = of(live);

	return perf_look_at(s, true) ? no_memory(err) : 0;
}

static int wait_live(struct pfs_live *live, struct pollfd *fds, unsigned int nr_fds, int timeout_ms,
		     struct pfs_err *err)
{
	struct perf_session *s = of(live);
	uint64_t now_ns = pfs_now_ns();
	int wait_ms = s->due_ns > now_ns ? (s->due_ns - now_ns) / 1000000 + 1 : 1;
	unsigned int nr = nr_fds;

	if (!pfs_array_reserve(s->poll_fds, 0, s->max_poll, nr_fds + s->nr_cpus))
		return no_memory(err);
	if (s->unwinder && wait_ms > PFS_UNWIND_WAIT_MS)
		wait_ms = PFS_UNWIND_WAIT_MS;
	memcpy(s->poll_fds, fds, nr_fds * sizeof(*fds));
	for (int cpu = 0; cpu < s->nr_cpus; cpu++)
		if (s->cpus[cpu].ring.meta && !s->cpus[cpu].hung_up)
			s->poll_fds[nr++] = (struct pollfd){ s->cpus[cpu].ring.fd, POLLIN, 0 };
	if (poll(s->poll_fds, nr, timeout_ms < 0 || timeout_ms > wait_ms ? wait_ms : timeout_ms) < 0 && errno != EINTR)
		return pfs_err_set(err, -errno, "poll: %s", strerror(errno));
	memcpy(fds, s->poll_fds, nr_fds * sizeof(*fds));
	for (unsigned int i = nr_fds; i < nr; i++) /* the thread of the ring's first event has ended: it wakes nobody */
		for (int cpu = 0; s->poll_fds[i].revents & (POLLHUP | POLLERR) && cpu < s->nr_cpus; cpu++)
			s->cpus[cpu].hung_up |= s->cpus[cpu].ring.fd == s->poll_fds[i].fd;
	return drain(s, err) ?: perf_look_at(s, false) ? no_memory(err) : 0;
}

/*
 * A ring reports what it lost in front of the next record that it has room for. What it had no room to report, the events
 * know. 0 or -ENOMEM.
 */
static int put_unreported(struct perf_session *s, struct perf_cpu *cpu)
{
	uint64_t lost = 0, count[2];
	struct pfs_perf_lost *r;

	for (size_t i = 0; i < s->nr_events; i++)
		if (s->events[i].cpu == cpu->cpu && read(s->events[i].fd, count, sizeof(count)) == sizeof(count))
			lost += count[1];
	if (lost <= cpu->nr_lost)
		return 0;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->header.type = PERF_RECORD_LOST;
	r->lost = lost - cpu->nr_lost;
	cpu->nr_lost = lost;
	return perf_queue_put(
		&s->queue,
		(struct perf_item){
			.ts_ns = pfs_now_ns(), .ip = cpu->last_ns, .cpu = cpu->cpu, .kind = PERF_RECORD, .data = r });
}

/* What the rusage of a command has more than the recording; and losses that only Linux 6.0 reports. */
static int note_unseen(struct perf_session *s)
{
	uint64_t counted = s->nr_counted > s->nr_before ? s->nr_counted - s->nr_before : 0;
	char text[64];

	if (!s->counts_lost &&
	    note(s, 0, PFS_FACT(LACKS, .what = "PERF_FORMAT_LOST", .tells = "events lost at the very end, if any")))
		return -ENOMEM;
	if (s->kernel)
		return 0;
	if (counted)
		snprintf(text, sizeof(text), "%" PRIu64 " faults in kernel mode or by get_user_pages",
			 counted > s->nr_faults ? counted - s->nr_faults : 0);
	else
		snprintf(text, sizeof(text), "faults in kernel mode or by get_user_pages");
	return note(s, 0, PFS_FACT(LACKS, .what = "exclude_kernel", .tells = text));
}

/* All that is in the queue becomes lines of the spool. 0 or -errno. */
static int write_queue(struct perf_session *s)
{
	int ret = perf_queue_flush(&s->queue, UINT64_MAX, perf_decode, s) ?: pfs_export_flush(s->writer);

	return !ret && fflush(s->spool) ? -errno : ret;
}

/* Returns ret, with err set unless it is 0 or the reason is known. */
static int unwritten(int ret, struct pfs_err *err)
{
	return ret && !*err->msg ? pfs_err_set(err, ret, "cannot write the recording: %s", strerror(-ret)) : ret;
}

static int stop(struct pfs_live *live, struct pfs_err *err)
{
	struct perf_session *s = of(live);
	int ret;

	switch_all(s, PERF_EVENT_IOC_DISABLE);
	ret = perf_look_at(s, true) ? no_memory(err) : drain(s, err);
	for (int cpu = 0; !ret && s->counts_lost && cpu < s->nr_cpus; cpu++)
		ret = put_unreported(s, &s->cpus[cpu]);
	if (!ret) /* all of before is in the queue now */
		ret = perf_queue_flush(&s->queue, UINT64_MAX, perf_decode, s);
	if (!ret)
		ret = note_unseen(s) ?: note(s, 0, PFS_FACT(END, .text = "mono")) ?: write_queue(s);
	return unwritten(ret, err);
}

static int stopped_notes(struct pfs_live *live, struct pfs_err *err)
{
	return unwritten(write_queue(of(live)), err);
}

/* ---- reading back ---- */

static int replay(struct pfs_live *live, const struct pfs_sink *sink, struct pfs_err *err)
{
	struct perf_session *s = of(live);
	struct pfs_line_reader *reader = pfs_line_reader_new(sink);
	char *buf = malloc(1 << 16);
	ssize_t got = 1;
	off_t at = 0;
	int ret = reader && buf ? 0 : no_memory(err);

	while (!ret && got > 0) {
		got = pfs_read_all_at(fileno(s->spool), buf, 1 << 16, at);
		at += got > 0 ? got : 0;
		if (got < 0)
			ret = pfs_err_set(err, got, "cannot read the recording: %s", strerror(-got));
		else if (s->config.give_up && s->config.give_up(s->config.ctx))
			ret = pfs_err_set(err, -EINTR, "interrupted");
		else
			ret = pfs_line_reader_feed(reader, buf, got);
	}
	if (!ret)
		ret = pfs_line_reader_end(reader);
	free(buf);
	pfs_line_reader_free(reader);
	return ret;
}

static int write_lines(struct pfs_live *live, int fd, struct pfs_err *err)
{
	struct perf_session *s = of(live);
	off_t len = lseek(fileno(s->spool), 0, SEEK_END);
	int ret = len < 0 ? -errno : pfs_copy_file(fd, fileno(s->spool), len);

	return ret ? pfs_err_set(err, ret, "cannot write the recording: %s", strerror(-ret)) : 0;
}

const struct pfs_source pfs_perf_source = {
	.name = "perf",
	.options = pfs_perf_options,
	.options_size = sizeof(struct perf_options),
	.can = PFS_CAN_SPACE | PFS_CAN_FP | PFS_CAN_DWARF | PFS_IS_FOR_DWARF,
	.set_option = set_option,
	.check = check,
	.usable = usable,
	.open = open_live,
	.close = close_live,
	.launch = launch,
	.attach = attach,
	.note = note,
	.start = start,
	.look = look,
	.wait = wait_live,
	.stop = stop,
	.stopped_notes = stopped_notes,
	.replay = replay,
	.write = write_lines,
};
