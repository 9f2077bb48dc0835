/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events that a capture switches on in its instance, their filters, and the header notes on them.
 */
#include "capture/capture_priv.h"

#include "event/notes.h"
#include "os/huge_pages.h"
#include "os/process.h"

#include <tracefs.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
	case RAW_PAGE_ALLOC: /* see capture_enable_page_alloc() */
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
		return NULL; /* system calls of other processors, renames */
	}
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
			capture_add_lack(c, desc->system, desc->name, lack_of(desc));
			continue;
		}
		syscalls |= desc->kind == RAW_SYS_ENTER;
		ret = enable(c, desc, err);
		if (ret)
			return ret;
	}
	if (!syscalls)
		capture_add_lack(c, "syscalls", "*", "mappings asked for, removals, populated pages");
	for (const char *const *event = c->config.events; event && *event; event++) {
		int ret = enable_named(c, *event, err);

		if (ret)
			return ret;
	}
	return 0;
}

static int put_note(void *ctx, int32_t tid, const struct pfs_fact *fact)
{
	return pfs_capture_note(ctx, tid, fact);
}

void pfs_capture_want_accesses(struct pfs_capture *c)
{
	c->wants_accesses = true;
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
		ret = capture_note_lack(c, &c->lacks[i]);
	return ret ? ret : capture_tracers_notes(c);
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
int capture_enable_page_alloc(struct pfs_capture *c, bool runs_already, struct pfs_err *err)
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
