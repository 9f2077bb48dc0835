/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The set-up of a capture's instance: the events that are enabled in it, their filters, notes of those that the kernel
 * lacks; and pfscope's own stream.
 */
#include "base/number.h"
#include "capture/capture_priv.h"

#include "base/write_all.h"
#include "os/huge_pages.h"
#include "os/process.h"
#include "os/slabs.h"
#include "record/i386.h"

#include <tracefs.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Without these, if they are wanted, there is nothing to record. */
static bool is_required(const struct raw_desc *desc)
{
	return desc->kind == RAW_FAULT_USER || desc->kind == RAW_FAULT_KERNEL || desc->kind == RAW_DAMON ||
	       desc->kind == RAW_CACHE_FREE;
}

static bool wants_for_objects(const struct pfs_object_choice *objects, const struct raw_desc *desc)
{
	switch (desc->kind) {
	case RAW_KMALLOC: /* its event has no cache */
		return !objects->cache;
	case RAW_PAGE_ALLOC:
	case RAW_PAGE_FREE:
		return objects->pages;
	case RAW_STACK:
		return objects->stacks;
	case RAW_CACHE_ALLOC:
	case RAW_CACHE_FREE:
		return true;
	default:
		return raw_is_of_process(desc->kind);
	}
}

bool capture_wants(const struct pfs_capture *c, const struct raw_desc *desc)
{
	if (c->config.objects)
		return wants_for_objects(c->config.objects, desc);
	if (raw_is_object(desc->kind))
		return false;
	switch (desc->kind) {
	case RAW_USER_STACK: /* see enable_stacks() */
	case RAW_HIDDEN:     /* the module writes them */
	case RAW_FUNCTION:
	case RAW_HANDLER:
	case RAW_HANDLER_END:
		return false;
	case RAW_PAGE_ALLOC: /* see capture_enable_later() */
	case RAW_CALL_ENTER:
	case RAW_CALL_EXIT:
	case RAW_FILE_FAULT:
		return false;
	case RAW_FAULT_USER:
	case RAW_FAULT_KERNEL:
	case RAW_DELETE_CACHE: /* which pages are mapped is not known without the faults */
		return !c->tracers.has_hist;
	case RAW_DAMON:
		return c->wants_accesses;
	default:
		return desc->kind < RAW_PFS_MAP;
	}
}

#define FILTER_MAX 512

/* linux/userfaultfd.h: a new one of /dev/userfaultfd, REGISTER, COPY, ZEROPAGE, MOVE, CONTINUE, POISON, UNREGISTER */
#define UFFD_IOCTLS                                                                                             \
	"cmd == 0xaa00 || cmd == 0xc020aa00 || cmd == 0xc028aa03 || cmd == 0xc020aa04 || cmd == 0xc028aa05 || " \
	"cmd == 0xc020aa07 || cmd == 0xc020aa08 || cmd == 0x8010aa01"

const char *capture_filter_of(const struct raw_desc *desc, char *buf, size_t size)
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
	case RAW_CALL_ENTER:
	case RAW_CALL_EXIT:
		return raw_i386_filter(buf, size);
	case RAW_SYS_ENTER:
		return desc->nr == SYS_IOCTL ? UFFD_IOCTLS : NULL;
	default:
		return NULL;
	}
}

/* What the recording lacks without the event; "": what the event's name names; NULL: nothing that matters. */
static const char *lack_of(const struct raw_desc *desc)
{
	switch (desc->kind) {
	case RAW_MA_WRITE:
		return "identity, splits and merges of regions";
	case RAW_MAP_PAGES:
		return "pages mapped by fault-around";
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
		return NULL; /* system calls of other architectures, renames */
	}
}

/* Objects of other processes are freed, too: their allocations are recorded and left out when the recording is read. */
const char *capture_object_filter(const struct pfs_object_choice *o, const struct raw_desc *desc, char *buf,
				  size_t size)
{
	bool is_alloc = desc->kind == RAW_KMALLOC || desc->kind == RAW_CACHE_ALLOC;
	int len = 0;

	*buf = '\0';
	if (o->cache && desc->str && (is_alloc || desc->kind == RAW_CACHE_FREE))
		len = snprintf(buf, size, "%s ~ \"%s\"", desc->str, o->cache);
	if (is_alloc && o->min)
		len += snprintf(buf + len, size - len, "%sbytes_req >= %" PRIu64, len ? " && " : "", o->min);
	if (is_alloc && o->max)
		snprintf(buf + len, size - len, "%sbytes_req <= %" PRIu64, len ? " && " : "", o->max);
	return *buf ? buf : NULL;
}

static bool allocates(const struct raw_desc *desc)
{
	return desc->kind == RAW_KMALLOC || desc->kind == RAW_CACHE_ALLOC || desc->kind == RAW_PAGE_ALLOC;
}

static const char *trigger_file(const struct raw_desc *desc, char file[64])
{
	snprintf(file, 64, "events/%s/%s/trigger", desc->system, desc->name);
	return file;
}

/*
 * The kernel then writes a stack behind each event. The option `stacktrace` would do that for frees, too, which takes 60 %
 * more room. With the filter of the event: a trigger is not bound by that.
 */
static int switch_stacks(struct pfs_capture *c, const struct raw_desc *desc, bool on, struct pfs_err *err)
{
	char filter[FILTER_MAX], text[FILTER_MAX + 32], file[64];
	const char *condition = capture_object_filter(c->config.objects, desc, filter, sizeof(filter));

	snprintf(text, sizeof(text), "%sstacktrace%s%s", on ? "" : "!", on && condition ? " if " : "",
		 on && condition ? condition : "");
	return pfs_instance_write(c->instance, trigger_file(desc, file), text, err);
}

static int enable(struct pfs_capture *c, const struct raw_desc *desc, struct pfs_err *err)
{
	char buf[FILTER_MAX];
	int ret = 0;

	if (c->config.objects && c->config.objects->stacks && allocates(desc))
		ret = switch_stacks(c, desc, true, err);
	return ret
		       ?: pfs_instance_enable(c->instance, desc->system, desc->name,
					      c->config.objects
						      ? capture_object_filter(c->config.objects, desc, buf, sizeof(buf))
						      : capture_filter_of(desc, buf, sizeof(buf)),
					      err);
}

/* ---- other events, as the user names them ---- */

static int enable_other(struct pfs_capture *c, const char *system, const char *name, struct pfs_err *err)
{
	int ret = pfs_instance_enable(c->instance, system, name, NULL, err);

	if (!ret && c->formats && pfs_formats_load_event(c->formats, pfs_tracing_dir(NULL), system, name) < 0)
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

static int note_lack(struct pfs_capture *c, const char *system, const char *name, const char *tells,
		     struct pfs_err *err)
{
	char what[128];

	snprintf(what, sizeof(what), "%s:%s", system, name);
	return tells ? capture_fact(c, PFS_FACT(LACKS, .what = what, .tells = *tells ? tells : NULL), err) : 0;
}

/* One of those that every recording has. */
static int enable_desc(struct pfs_capture *c, const struct raw_desc *desc, struct pfs_err *err)
{
	if (pfs_instance_has_event(c->instance, desc->system, desc->name))
		return enable(c, desc, err);
	if (is_required(desc))
		return pfs_err_set(err, -ENOTSUP, "this kernel has no event %s:%s; the ftrace source needs it",
				   desc->system, desc->name);
	return note_lack(c, desc->system, desc->name, lack_of(desc), err);
}

/* From 6.18 on the kernel maps all of a large folio, and its event has only the range that it asked for. */
static int note_whole_folios(struct pfs_capture *c, struct pfs_err *err)
{
	struct utsname uts;

	if (uname(&uts) || pfs_kernel_before(uts.release, 6, 18))
		return 0;
	return note_lack(c, "filemap", "mm_filemap_map_pages", "pages of large folios beyond a fault-around", err);
}

static int note_merged(void *capture, const char *names)
{
	return capture_note(capture, 0, PFS_FACT(MERGED, .text = names));
}

/* Which names of caches mean one cache, as far as the kernel says that. */
static int note_caches(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = pfs_slabs_merged(PFS_SLABS_DIR, note_merged, c);

	if (ret == -ENOMEM)
		return pfs_err_set(err, ret, "no memory for a note");
	return ret ? capture_fact(c,
				  PFS_FACT(LACKS, .what = PFS_SLABS_DIR, .tells = "which caches are merged",
					   .text = strerror(-ret)),
				  err)
		   : 0;
}

static int check_objects(struct pfs_capture *c, struct pfs_err *err)
{
	const struct pfs_object_choice *o = c->config.objects;
	const struct pfs_row *row = pfs_formats_find(c->formats, "kmem", "kmem_cache_alloc");

	if (o->cache && (!row || row->str_form == PFS_STR_NONE))
		return pfs_err_set(err, -ENOTSUP, "--cache: the events of this kernel do not name the cache");
	return capture_fact(c, PFS_FACT(OBJECTS, .count = o->pages, .first = o->min, .last = o->max, .text = o->cache),
			    err)
		       ?: note_caches(c, err);
}

static int enable_events(struct pfs_capture *c, struct pfs_err *err)
{
	bool objects = c->config.objects;
	int ret = objects ? check_objects(c, err) : note_whole_folios(c, err);

	for (unsigned int i = 0; !ret && i < nr_raw_descs; i++)
		if (capture_wants(c, &raw_descs[i]))
			ret = enable_desc(c, &raw_descs[i], err);
	if (!ret && !objects && !pfs_instance_has_event(c->instance, "syscalls", "sys_enter_munmap"))
		ret = note_lack(c, "syscalls", "*", "mappings asked for, removals, populated pages", err);
	for (const char *const *event = c->options->events; !ret && *event; event++)
		ret = enable_named(c, *event, err);
	if (!ret && !objects && pfs_instance_has_event(c->instance, "mmap", "exit_mmap"))
		ret = capture_fact(c, PFS_FACT(EXIT_MMAP, .text = "yes"), err);
	return ret;
}

/*
 * The user's stack behind each event, and the kernel's behind faults in kernel mode. A fault with preemption off is not the
 * program's: the kernel reads the user's stack for this (assemble/fault_stacks.c).
 */
static int enable_stacks(struct pfs_capture *c, struct pfs_err *err)
{
	static const char file[] = "events/exceptions/page_fault_kernel/trigger";
	struct pfs_err why = { "" };
	int ret = pfs_instance_write(c->instance, "options/userstacktrace", "1", &why), kernel;

	if (ret)
		return pfs_err_set(err, -ENOTSUP, "--stack: this kernel records no stacks of users: %s", why.msg);
	kernel = pfs_instance_write(c->instance, file, "stacktrace if common_preempt_count == 0", NULL);
	return capture_fact(c, PFS_FACT(STACK, .what = "fp", .count = !kernel), err);
}

/*
 * ---- events that cost each fault or system call more than they are worth to most targets: the kernel enables them when
 * one needs them (Documentation/trace/events.rst, enable_event) ----
 *
 * Armed once the target is entered: before that any process would do.
 */

static const struct raw_desc *desc_of(enum raw_kind kind)
{
	const struct raw_desc *desc = raw_descs;

	while (desc->kind != kind)
		desc++;
	return desc;
}

/* Enables the event when that other one occurs. */
static int enable_when(struct pfs_capture *c, const struct raw_desc *desc, const char *other, const char *condition)
{
	char file[128], text[512], buf[FILTER_MAX];
	const char *filter = capture_filter_of(desc, buf, sizeof(buf));
	int ret;

	snprintf(file, sizeof(file), "events/%s/%s/filter", desc->system, desc->name);
	ret = filter ? pfs_instance_write(c->instance, file, filter, NULL) : 0;
	if (ret)
		return ret;
	snprintf(file, sizeof(file), "events/%s/trigger", other);
	snprintf(text, sizeof(text), "enable_event:%s:%s if %s", desc->system, desc->name, condition);
	return pfs_instance_write(c->instance, file, text, NULL);
}

/*
 * It fires for every page that is allocated, so it is enabled only if huge pages are allowed, and only from when on they
 * are. With its filter it costs a fault a third of what that costs without.
 */
static int enable_page_alloc(struct pfs_capture *c, bool runs_already, struct pfs_err *err)
{
	enum pfs_huge_pages who = pfs_huge_pages(PFS_HUGE_PAGES_DIR);
	const struct raw_desc *desc = desc_of(RAW_PAGE_ALLOC);
	struct pfs_huge_settings s;
	char advised[32];
	int ret;

	snprintf(advised, sizeof(advised), "behavior == %d", MADV_HUGEPAGE);
	if (!pfs_instance_has_event(c->instance, desc->system, desc->name))
		return 0;
	pfs_huge_settings(&s, PFS_HUGE_PAGES_DIR);
	ret = capture_fact(c,
			   PFS_FACT(HUGE_PAGES, .what = pfs_huge_pages_name(s.anon), .tells = pfs_huge_pages_name(who),
				    .count = s.zero, .text = *s.text ? s.text : NULL),
			   err);
	if (ret || (who == PFS_HUGE_NEVER && !s.shmem))
		return ret;
	if (who == PFS_HUGE_ADVISED && !s.shmem && !runs_already &&
	    !enable_when(c, desc, "syscalls/sys_enter_madvise", advised))
		return 0;
	return enable(c, desc, err);
}

#ifdef __x86_64__
#define HAS_32BIT true
#else
#define HAS_32BIT false
#endif
static const enum raw_kind call_kinds[] = { RAW_CALL_ENTER, RAW_CALL_EXIT };
#define FOR_CALLS(desc) for (unsigned int i_ = 0; i_ < 2 && (desc = desc_of(call_kinds[i_])); i_++)

/* Does the user record it anyway, and all of it? */
static bool is_named(const struct pfs_capture *c, const struct raw_desc *desc)
{
	size_t len = strlen(desc->system);

	for (const char *const *event = c->options->events; *event; event++)
		if (!strncmp(*event, desc->system, len) &&
		    (!(*event)[len] || ((*event)[len] == ':' && !strcmp(*event + len + 1, desc->name))))
			return true;
	return false;
}

/*
 * The system calls of 32-bit processes, which only events of all system calls report. From when on there is such a process:
 * an exec moves the stack of its image to at most 16 MiB below the end of its addresses, which is near 4 GiB, or at 3 GiB
 * by its personality. Until then an event that waits for that costs each system call 130 ns, so it waits only if asked to.
 */
static int arm_calls(struct pfs_capture *c)
{
	static const char low_stack[] = "(index >= 0xff000000 && index < 0xffffe000) || "
					"(index >= 0xbf000000 && index < 0xc0000000)";
	const struct raw_desc *desc;

	FOR_CALLS(desc)
	if (!is_named(c, desc) && enable_when(c, desc, "maple_tree/ma_write", low_stack))
		return 0; /* the kernel does not have it */
	c->calls_armed = true;
	return capture_note(c, 0, PFS_FACT(CALLS32, .text = "yes"));
}

/* ---- pages of files that are populated ---- */

/*
 * What a populating call got of a file is known from the event, which fires for each page of a file that the kernel has
 * to look up. A trigger at each of the five calls that populate would cost the end of a recording 50 ms each.
 */
static int enable_file_faults(struct pfs_capture *c, struct pfs_err *err)
{
	const struct raw_desc *desc = desc_of(RAW_FILE_FAULT);

	if (!pfs_instance_has_event(c->instance, desc->system, desc->name) || enable(c, desc, NULL))
		return note_lack(c, desc->system, desc->name, "how much of a file was populated", err);
	return capture_fact(c, PFS_FACT(FILE_FAULTS, .text = "yes"), err);
}

int capture_enable_later(struct pfs_capture *c, bool runs_already, struct pfs_err *err)
{
	bool calls = HAS_32BIT && (c->options->calls_32bit || c->config.is_32bit);

	return enable_page_alloc(c, runs_already, err) ?: enable_file_faults(c, err) ?: calls ? arm_calls(c) : 0;
}

static const char *enable_file(const struct raw_desc *desc, char file[64])
{
	snprintf(file, 64, "events/%s/%s/enable", desc->system, desc->name);
	return file;
}

int capture_hold_calls(struct pfs_capture *c, struct pfs_err *err)
{
	const struct raw_desc *desc;
	char file[64];
	int ret = 0;

	FOR_CALLS(desc)
	if (!ret && c->calls_armed)
		ret = pfs_instance_hold(c->instance, enable_file(desc, file), O_WRONLY, err);
	return ret;
}

int capture_enable_calls(struct pfs_capture *c, pid_t pid, struct pfs_err *err)
{
	const struct raw_desc *desc;
	char file[64];
	int ret;

	snprintf(file, sizeof(file), "/proc/%d/exe", pid);
	if (!HAS_32BIT || !pfs_program_is_32bit(file))
		return 0;
	ret = c->calls_armed || c->tracing ? 0 : arm_calls(c);
	FOR_CALLS(desc)
	if (!ret && c->calls_armed)
		ret = pfs_instance_write(c->instance, enable_file(desc, file), "1", err);
	return ret;
}

/* ---- the events of objects, which are switched off and on while it records ---- */

static bool is_of_objects(const struct raw_desc *desc)
{
	return raw_is_object(desc->kind) || desc->kind == RAW_PAGE_ALLOC;
}

static bool is_free(const struct raw_desc *desc)
{
	return desc->kind == RAW_CACHE_FREE || desc->kind == RAW_PAGE_FREE;
}

int capture_hold_objects(struct pfs_capture *c, struct pfs_err *err)
{
	struct capture_pauses *p = &c->pauses;
	char file[64];
	int ret = 0;

	for (unsigned int i = 0; c->config.objects && !ret && i < nr_raw_descs; i++) {
		const struct raw_desc *desc = &raw_descs[i];

		if (!is_of_objects(desc) || !capture_wants(c, desc) || p->nr_events == MAX_OBJECT_EVENTS ||
		    !pfs_instance_has_event(c->instance, desc->system, desc->name))
			continue;
		p->events[p->nr_events++] = desc;
		ret = pfs_instance_hold(c->instance, enable_file(desc, file), O_WRONLY, err);
		if (!ret && c->config.objects->stacks && allocates(desc))
			ret = pfs_instance_hold(c->instance, trigger_file(desc, file), O_WRONLY, err);
	}
	return ret;
}

/* An event that is off would go on to pull its trigger. */
static int switch_event(struct pfs_capture *c, const struct raw_desc *desc, bool on, struct pfs_err *err)
{
	char file[64];
	int ret = 0;

	if (c->config.objects->stacks && allocates(desc))
		ret = switch_stacks(c, desc, on, err);
	return ret ?: pfs_instance_write(c->instance, enable_file(desc, file), on ? "1" : "0", err);
}

/* Frees are on whenever allocations are: no object that is recorded is freed without an event. */
int capture_switch_objects(struct pfs_capture *c, bool on, struct pfs_err *err)
{
	const struct capture_pauses *p = &c->pauses;
	int ret = 0;

	for (int pass = 0; pass < 2; pass++)
		for (unsigned int i = 0; !ret && i < p->nr_events; i++)
			if (is_free(p->events[i]) == (on == !pass))
				ret = switch_event(c, p->events[i], on, err);
	return ret;
}

/*
 * ---- the set-up of the instance, as late as possible: when the first process or user is added ----
 *
 * The kernel waits for a grace period, with a lock held, to change the clock of a new instance, and for another one for the
 * first perf event. Meanwhile pfscope does what needs no instance.
 */

static uint32_t sub_buffer_size(struct pfs_instance *instance)
{
	int fd = pfs_instance_open(instance, "buffer_subbuf_size_kb", O_RDONLY, NULL); /* Linux 6.8 */
	char text[32] = "";
	uint64_t kb = 0;

	if (fd < 0)
		return sysconf(_SC_PAGESIZE);
	if (read(fd, text, sizeof(text) - 1) > 0)
		pfs_take_dec(&(const char *){ text }, 1 << 20, &kb);
	close(fd);
	return kb ? kb * 1024 : (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The stream of pfscope's own records, beside the kernel's. */
static int open_own(struct pfs_capture *c, struct pfs_err *err)
{
	struct capture_own *own = &c->own;
	int ret = pfs_formats_load_headers(c->formats, pfs_tracing_dir(NULL), err);

	if (!ret && capture_tracers_load_formats(c))
		ret = pfs_err_set(err, -ENOMEM, "no memory for event formats");
	if (!ret)
		ret = pfs_records_init(&own->records, c->formats);
	if (!ret)
		ret = own->fd = pfs_temp_open(err);
	if (ret < 0)
		return ret;
	own->pages = pfs_ringwrite_new(own->fd, &c->formats->ring, c->drain.page_size);
	return own->pages ? 0 : pfs_err_set(err, -errno, "no memory for pfscope's own records");
}

/* All that needs the instance but the buffers. */
static int settle(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = pfs_instance_settle(c->instance, err);

	if (ret)
		return ret;
	c->drain.page_size = sub_buffer_size(c->instance);
	c->drain.page = malloc(c->drain.page_size);
	if (!c->drain.page)
		return pfs_err_set(err, -ENOMEM, "no memory for a page");
	if (capture_tracers_set_up(c))
		return pfs_err_set(err, -ENOMEM, "no memory for a note");
	ret = enable_events(c, err);
	if (!ret && c->config.stack == PFS_STACK_FP)
		ret = enable_stacks(c, err);
	if (!ret && c->dumps)
		ret = capture_fact(c, PFS_FACT(STACK, .what = "dwarf", .count = 1), err);
	return ret || c->options->text ? ret : open_own(c, err);
}

int capture_settle(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = c->settled ? 0 : settle(c, err);

	c->settled = true;
	return ret;
}
