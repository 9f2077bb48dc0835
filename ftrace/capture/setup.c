/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a capture records of whom: events, filters, processes, and how a running one is entered.
 *
 * How no change of a running process is missed: first its threads are traced (the list is read again
 * until it has no new thread, and once more when tracing is on; threads started by a traced one are
 * traced by the kernel), then the layout is read and tracing switched on. A change made in between is in
 * the stream as well, told by the side-band, and replaying it over the layout gives the same whether the
 * reading caught it or not: rows of the region tree say what a range is from then on, not what became of
 * it. What the side-band does not tell (a munmap), or was under way, a second look mends, and others a
 * moment later; they count only where nothing changed while they were taken.
 */
#include "capture/capture_priv.h"

#include "base/clock.h"
#include "event/header.h"
#include "os/huge_pages.h"
#include "os/process.h"

#include <tracefs.h>

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Without these, if they are wanted, there is nothing to show. */
static bool is_required(const struct raw_desc *desc)
{
	return desc->kind == RAW_FAULT_USER || desc->kind == RAW_FAULT_KERNEL || desc->kind == RAW_DAMON;
}

/* An event that is switched on by its row: not pfscope's own, not a tracer's, nor one that is counted, or dear. */
static bool is_wanted(const struct pfs_capture *c, const struct raw_desc *desc)
{
	switch (desc->kind) {
	case RAW_FUNCTION:
	case RAW_HANDLER:
	case RAW_HANDLER_END:
		return false;
	case RAW_PAGE_ALLOC: /* see enable_page_alloc() */
		return false;
	case RAW_FAULT_USER:
	case RAW_FAULT_KERNEL:
		return !c->has_hist;
	case RAW_DAMON:
		return c->wants_accesses;
	default:
		return desc->kind < RAW_PFS_MAP;
	}
}

/* What is filtered out in the kernel is never worth recording, whoever reads it. */
static const char *filter_of(const struct raw_desc *desc, char *buf, size_t size)
{
	switch (desc->kind) {
	case RAW_MA_WRITE: /* the kernel's other trees are not in whole pages */
		snprintf(buf, size, "!(index & %ld)", sysconf(_SC_PAGESIZE) - 1);
		return buf;
	case RAW_SIGNAL:
		return "sig == 11 || sig == 7";
	case RAW_DAMON:
		return "nr_accesses > 0";
	case RAW_PAGE_ALLOC: /* a huge page of anonymous memory: see page_alloc() in assemble.c */
		return "order > 0 && gfp_flags & 0x8 && gfp_flags & 0x80000";
	default:
		return NULL;
	}
}

/* What nobody records without the event; "": everything that its name promises; NULL: nothing that matters. */
static const char *lack_of(const struct raw_desc *desc)
{
	switch (desc->kind) {
	case RAW_MA_WRITE:
		return "identity, splits and merges of regions";
	case RAW_MAP_PAGES:
		return "pages mapped beside a fault";
	case RAW_ADD_CACHE:
		return "major faults";
	case RAW_EXIT_MMAP:
		return "end of an address space";
	case RAW_SIGNAL:
		return "faults that end in a signal";
	case RAW_EXEC:
	case RAW_FORK:
	case RAW_EXIT:
		return "";
	default:
		return NULL; /* system calls of other processors, renames */
	}
}

static void add_lack(struct pfs_capture *c, const char *system, const char *name, const char *tells)
{
	struct capture_lack *lack = &c->lacks[c->nr_lacks];

	if (!tells || c->nr_lacks == MAX_LACKS)
		return;
	snprintf(lack->what, sizeof(lack->what), "%s%s%s", system, *system ? ":" : "", name);
	lack->tells = *tells ? tells : NULL;
	c->nr_lacks++;
}

static int enable(struct pfs_capture *c, const struct raw_desc *desc, struct pfs_err *err)
{
	char buf[128];

	return pfs_instance_enable(c->instance, desc->system, desc->name, filter_of(desc, buf, sizeof(buf)), err);
}

/* ---- other events, as the user names them ---- */

static int enable_other(struct pfs_capture *c, const char *system, const char *name, struct pfs_err *err)
{
	int ret = pfs_instance_enable(c->instance, system, name, NULL, err);

	if (!ret && c->formats && pfs_formats_keep(c->formats, pfs_tracing_dir(NULL), system, name))
		ret = pfs_err_set(err, -ENOMEM, "no memory for event formats");
	return ret;
}

static int enable_system(struct pfs_capture *c, const char *system, struct pfs_err *err)
{
	char **names = tracefs_system_events(pfs_tracing_dir(NULL), system);
	int ret = names ? 0 : -ENOENT;

	for (char **name = names; !ret && *name; name++)
		if (pfs_instance_has_event(c->instance, system, *name))
			ret = enable_other(c, system, *name, err);
	tracefs_list_free(names);
	return ret;
}

static int enable_named(struct pfs_capture *c, const char *text, struct pfs_err *err)
{
	char system[128], *name;
	int ret = -ENOENT;

	snprintf(system, sizeof(system), "%s", text);
	name = strchr(system, ':');
	if (name)
		*name++ = '\0';
	if (*system && !strchr(text, '/') && *system != '.') {
		if (!name)
			ret = enable_system(c, system, err);
		else if (*name && pfs_instance_has_event(c->instance, system, name))
			ret = enable_other(c, system, name, err);
	}
	return ret == -ENOENT
		       ? pfs_err_set(err, ret, "-e %s: no such event (see %s/events/)", text, pfs_tracing_dir(NULL))
		       : ret;
}

int capture_enable_events(struct pfs_capture *c, struct pfs_err *err)
{
	bool syscalls = false;

	for (unsigned int i = 0; i < nr_raw_descs; i++) {
		const struct raw_desc *desc = &raw_descs[i];
		int ret;

		if (!is_wanted(c, desc))
			continue;
		if (!pfs_instance_has_event(c->instance, desc->system, desc->name)) {
			if (is_required(desc))
				return pfs_err_set(err, -ENOTSUP,
						   "this kernel has no event %s:%s; "
						   "the ftrace source needs it",
						   desc->system, desc->name);
			add_lack(c, desc->system, desc->name, lack_of(desc));
			continue;
		}
		syscalls |= desc->kind == RAW_SYS_ENTER;
		ret = enable(c, desc, err);
		if (ret)
			return ret;
	}
	if (!syscalls)
		add_lack(c, "syscalls", "*", "mappings asked for, removals, populated pages");
	for (const char *const *event = c->config.events; event && *event; event++) {
		int ret = enable_named(c, *event, err);

		if (ret)
			return ret;
	}
	return 0;
}

int pfs_capture_note(struct pfs_capture *c, pid_t tid, const struct pfs_fact *fact)
{
	struct raw_event ev = { .ts_ns = pfs_now_ns(), .cpu = -1, .tid = tid, .tgid = tid ? tid : -1 };

	return pfs_records_note(&ev, fact, (raw_event_fn)pfs_sideband_put, c->sideband);
}

static int put_note(void *ctx, int32_t tid, const struct pfs_fact *fact)
{
	return pfs_capture_note(ctx, tid, fact);
}

static int note_lack(struct pfs_capture *c, const struct capture_lack *lack)
{
	return pfs_capture_note(c, 0, PFS_FACT(LACKS, .what = lack->what, .tells = lack->tells));
}

int capture_header_notes(struct pfs_capture *c)
{
	char vsyscall[5];
	int ret;

	pfs_vsyscall_perms(vsyscall);
	ret = pfs_header_notes(c->config.text ? "ftrace text" : "ftrace", vsyscall, put_note, c);
	if (!ret && pfs_instance_has_event(c->instance, "mmap", "exit_mmap"))
		ret = pfs_capture_note(c, 0, PFS_FACT(EXIT_MMAP, .text = "yes"));
	for (unsigned int i = 0; !ret && i < c->nr_lacks; i++)
		ret = note_lack(c, &c->lacks[i]);
	return ret ? ret : capture_tracers_notes(c);
}

void pfs_capture_tids_file(const struct pfs_capture *c, char *path, size_t size)
{
	snprintf(path, size, "%s/set_event_pid", pfs_instance_dir(c->instance));
}

void pfs_capture_want_accesses(struct pfs_capture *c)
{
	c->wants_accesses = true;
}

/* Without perf the recording goes on: names and protections are then not known. */
static int watch(struct pfs_capture *c, pid_t tid, struct pfs_err *err)
{
	struct pfs_err why;
	int ret = pfs_sideband_add(c->sideband, tid, &why);

	if (ret == -ESRCH)
		return ret;
	if (ret && !pfs_sideband_works(c->sideband)) {
		add_lack(c, "", "perf_event_open", "names, devices and protections of regions");
		/* Before that the note is among those of the header. */
		return c->settled ? note_lack(c, &c->lacks[c->nr_lacks - 1]) : 0;
	}
	if (ret)
		return pfs_err_set(err, ret, "%s", why.msg);
	return 0;
}

static int note_sideband(struct pfs_capture *c)
{
	return pfs_sideband_works(c->sideband) ? pfs_capture_note(c, 0, PFS_FACT(SIDEBAND, .text = "mmap2")) : 0;
}

/* ---- huge pages ---- */

/*
 * From the moment on at which the target asks for huge pages, in the kernel (Documentation/trace/events.rst,
 * enable_event). Until then the event costs a fault a third of what it does with its filter.
 */
static int enable_when_advised(struct pfs_capture *c, const struct raw_desc *desc)
{
	char file[128], trigger[128], buf[128];
	int ret;

	snprintf(file, sizeof(file), "events/%s/%s/filter", desc->system, desc->name);
	ret = pfs_instance_write(c->instance, file, filter_of(desc, buf, sizeof(buf)), NULL);
	if (ret)
		return ret;
	snprintf(trigger, sizeof(trigger), "enable_event:%s:%s if behavior == %d", desc->system, desc->name,
		 MADV_HUGEPAGE);
	return pfs_instance_write(c->instance, "events/syscalls/sys_enter_madvise/trigger", trigger, NULL);
}

/*
 * Fires for every page that is allocated, so only if huge ones may come, and from when on they may. Once the target
 * is entered: before that it is anybody who asks.
 */
static int enable_page_alloc(struct pfs_capture *c, bool runs_already, struct pfs_err *err)
{
	enum pfs_huge_pages who = pfs_huge_pages(PFS_HUGE_PAGES_DIR);
	const struct raw_desc *desc = raw_descs;

	while (desc->kind != RAW_PAGE_ALLOC)
		desc++;
	if (who == PFS_HUGE_NEVER || !pfs_instance_has_event(c->instance, desc->system, desc->name))
		return 0;
	if (who == PFS_HUGE_ADVISED && !runs_already && !enable_when_advised(c, desc))
		return 0;
	return enable(c, desc, err);
}

int pfs_capture_launch(struct pfs_capture *c, pid_t pid, struct pfs_err *err)
{
	uint64_t minor, major;
	int ret;

	ret = watch(c, pid, err); /* which takes its time: before the instance is needed */
	if (!ret)
		ret = capture_settle(c, err);
	if (!ret)
		ret = note_sideband(c);
	if (!ret)
		ret = pfs_instance_add_tids(c->instance, &pid, 1, err);
	if (!ret)
		ret = enable_page_alloc(c, false, err);
	if (!ret)
		ret = capture_tracers_add_tid(c, pid, err);
	if (!ret)
		ret = pfs_snapshot_tasks(pid, pfs_now_ns(), pfs_sideband_put, c->sideband, err);
	if (!ret)
		ret = pfs_capture_note(c, pid, PFS_FACT(LAUNCH, .pid = pid));
	if (ret)
		return ret;
	c->launched = pid;
	if (c->config.tracers.count)
		pfs_counters_open(&c->counters, pid); /* without them the check knows less, and says so */
	if (!pfs_process_faults(pid, &minor, &major))
		return 0;
	return pfs_capture_note(c, pid, PFS_FACT(COUNTED_BEFORE, .minor = minor, .major = major));
}

/* ---- processes that run already ---- */

static bool is_entered(const struct pfs_capture *c, pid_t tid)
{
	for (unsigned int i = 0; i < c->nr_entered; i++)
		if (c->entered[i] == tid)
			return true;
	return false;
}

static int remember_thread(struct pfs_capture *c, pid_t tid)
{
	if (c->nr_entered == c->max_entered) {
		unsigned int want = c->max_entered ? c->max_entered * 2 : 64;
		pid_t *bigger = realloc(c->entered, want * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		c->entered = bigger;
		c->max_entered = want;
	}
	c->entered[c->nr_entered++] = tid;
	return 0;
}

static int remember_process(struct pfs_capture *c, pid_t pid)
{
	struct pfs_snapshot *bigger = realloc(c->attached, (c->nr_attached + 1) * sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	c->attached = bigger;
	c->attached[c->nr_attached++] = (struct pfs_snapshot){ .pid = pid, .maps_fd = -1 };
	return 0;
}

void capture_forget_running(struct pfs_capture *c)
{
	for (unsigned int i = 0; i < c->nr_attached; i++)
		pfs_snapshot_close(&c->attached[i]);
	free(c->attached);
	free(c->entered);
}

static int list_thread(void *ctx, const struct raw_event *ev)
{
	struct pfs_capture *c = ctx;
	int ret;

	if (is_entered(c, ev->tid))
		return 0;
	ret = remember_thread(c, ev->tid);
	return ret ? ret : pfs_sideband_put(c->sideband, ev);
}

/* One that has ended: what there was of it is recorded. */
static int unless_ended(int ret)
{
	return ret == -ESRCH ? 0 : ret;
}

/* A thread may have ended by now: then there is nothing to trace. */
static int enter_threads(struct pfs_capture *c, const pid_t *tids, unsigned int nr, struct pfs_err *err)
{
	int ret = pfs_instance_add_tids(c->instance, tids, nr, err);

	for (unsigned int i = 0; !ret && i < nr; i++) {
		ret = capture_tracers_add_tid(c, tids[i], err);
		if (!ret)
			ret = watch(c, tids[i], err);
		ret = unless_ended(ret);
	}
	return ret;
}

/* Every thread there is, of the attached processes from that one on; those they start, the kernel adds by itself. */
static int enter_processes(struct pfs_capture *c, unsigned int first, struct pfs_err *err)
{
	unsigned int before;
	int ret = 0;

	do {
		before = c->nr_entered;
		for (unsigned int i = first; !ret && i < c->nr_attached; i++) {
			ret = pfs_snapshot_tasks(c->attached[i].pid, pfs_now_ns(), list_thread, c, err);
			ret = unless_ended(ret);
		}
		if (!ret)
			ret = enter_threads(c, c->entered + before, c->nr_entered - before, err);
	} while (!ret && c->nr_entered > before);
	return ret;
}

int capture_begin_running(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = c->running_begun ? 0 : enable_page_alloc(c, true, err);

	c->running_begun = true;
	return ret ? ret : note_sideband(c);
}

static bool is_attached(const struct pfs_capture *c, pid_t pid)
{
	for (unsigned int i = 0; i < c->nr_attached; i++)
		if (c->attached[i].pid == pid)
			return true;
	return false;
}

/* Those that are attached to already, or have ended, are passed over. */
int capture_attach(struct pfs_capture *c, const pid_t *pids, unsigned int nr, struct pfs_err *err)
{
	unsigned int first = c->nr_attached;
	int ret = capture_settle(c, err);

	for (unsigned int i = 0; !ret && i < nr; i++)
		if (!is_attached(c, pids[i]))
			ret = remember_process(c, pids[i]);
	if (!ret)
		ret = enter_processes(c, first, err);
	if (!ret && c->nr_attached > first)
		ret = capture_begin_running(c, err);
	for (unsigned int i = first; !ret && i < c->nr_attached; i++)
		ret = pfs_capture_note(c, c->attached[i].pid, PFS_FACT(ATTACH, .pid = c->attached[i].pid));
	return ret;
}

int pfs_capture_attach(struct pfs_capture *c, pid_t pid, struct pfs_err *err)
{
	unsigned int before = c->nr_entered;
	int ret = capture_attach(c, &pid, 1, err);

	if (!ret && c->nr_entered == before && !is_entered(c, pid))
		ret = pfs_err_set(err, -ESRCH, "process %d: no such process", pid);
	return ret;
}

int capture_take_layouts(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < c->nr_attached; i++) {
		struct pfs_snapshot *s = &c->attached[i];

		ret = pfs_snapshot_open(s, err);
		if (!ret)
			ret = pfs_snapshot_take(s, s->maps_fd, pfs_now_ns(), err);
		ret = unless_ended(ret);
	}
	return ret;
}

int capture_enter_running(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = enter_processes(c, 0, err);

	for (unsigned int i = 0; !ret && i < c->nr_attached; i++)
		ret = unless_ended(pfs_snapshot_renew(&c->attached[i], err));
	return ret;
}

static int look_at_all(struct pfs_capture *c,
		       int (*look)(const struct pfs_snapshot *s, raw_event_fn fn, void *ctx, struct pfs_err *err),
		       struct pfs_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < c->nr_attached; i++)
		ret = unless_ended(look(&c->attached[i], pfs_sideband_put, c->sideband, err));
	return ret;
}

int pfs_capture_look(struct pfs_capture *c, struct pfs_err *err)
{
	const struct timespec moment = { .tv_nsec = 20000000 };
	int ret = look_at_all(c, pfs_snapshot_first, err);

	for (int i = 0; !ret && c->nr_attached && i < 4; i++) {
		if (i)
			nanosleep(&moment, NULL);
		ret = pfs_sideband_drain(c->sideband);
		if (!ret)
			ret = look_at_all(c, pfs_snapshot_later, err);
	}
	return ret;
}
