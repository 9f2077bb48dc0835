/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of the event language: kinds, fields and the values of enumerated fields.
 *
 * Whatever writes or reads events by name (event/line.c, event/export.c) goes by these tables, so a
 * new field is a row here and a bit in event.h. Nothing here runs per event on the binary path.
 */
#include "event/event.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* clang-format off */
#define HAS(field)	PFS_HAS(PFS_F_##field)
#define RANGE		(HAS(START) | HAS(END))
#define DETAIL		(PFS_KIND_THREAD | PFS_KIND_FILTERED)
#define GOES_ON		(PFS_KIND_THREAD | PFS_KIND_ENDS_FAULT)

const struct pfs_kind_info pfs_kinds[PFS_NR_KINDS] = {
	[PFS_FAULT] = { "fault", HAS(ADDR), GOES_ON | PFS_KIND_FILTERED },
	[PFS_AROUND] = { "around", HAS(OFF) | HAS(END_OFF), DETAIL },
	[PFS_POPULATE] = { "populate", RANGE, GOES_ON | PFS_KIND_FILTERED },
	[PFS_REACHED] = { "reached", RANGE | HAS(END_OFF), DETAIL },
	[PFS_ADVISE] = { "advise", RANGE | HAS(ADVICE), GOES_ON | PFS_KIND_FILTERED },
	[PFS_REMOTE] = { "remote", HAS(TARGET), GOES_ON | PFS_KIND_FILTERED },
	[PFS_EVICT] = { "evict", HAS(DEV) | HAS(INO) | HAS(OFF) | HAS(END_OFF), DETAIL },
	[PFS_MAP] = { "map", RANGE, GOES_ON },
	[PFS_UNMAP] = { "unmap", 0, GOES_ON },
	[PFS_PROTECT] = { "protect", RANGE, GOES_ON },
	[PFS_MOVE] = { "move", RANGE | HAS(FROM) | HAS(LEN), GOES_ON },
	[PFS_BRK] = { "brk", HAS(END), GOES_ON },
	[PFS_FORK] = { "fork", 0, GOES_ON },
	[PFS_THREAD] = { "thread", HAS(CHILD), GOES_ON },
	[PFS_EXEC] = { "exec", 0, GOES_ON },
	[PFS_EXIT] = { "exit", 0, GOES_ON },
	[PFS_COMM] = { "comm", HAS(COMM), PFS_KIND_THREAD },
	[PFS_SIGNAL] = { "signal", 0, DETAIL },
	[PFS_HUGE] = { "huge", HAS(ORDER), DETAIL },
	[PFS_MAJOR] = { "major", 0, DETAIL },
	[PFS_CACHED] = { "cached", HAS(DEV) | HAS(INO) | HAS(OFF) | HAS(END_OFF), PFS_KIND_RECORDING },
	[PFS_RESIDENT] = { "resident", 0, PFS_KIND_THREAD },
	[PFS_ACCESS] = { "access", HAS(ADDR), DETAIL },
	[PFS_ALLOC] = { "alloc", HAS(PTR), DETAIL },
	[PFS_FREE] = { "free", HAS(PTR), DETAIL },
	[PFS_WATCH] = { "watch", HAS(PTR) | HAS(OFF) | HAS(LEN), PFS_KIND_FILTERED },
	[PFS_STACK] = { "stack", HAS(PTR) | HAS(FRAMES), DETAIL },
	[PFS_FRAMES] = { "frames", HAS(STACK) | HAS(FRAMES), PFS_KIND_THREAD },
	[PFS_LOST] = { "lost", 0, PFS_KIND_RECORDING },
	[PFS_NOTE] = { "note", HAS(KEY) | HAS(VALUE), PFS_KIND_RECORDING },
	[PFS_TRACE] = { "trace", HAS(KEY), PFS_KIND_FILTERED },
};

static const uint64_t op_needs[PFS_NR_OPS] = {
	[PFS_OP_PLAIN] = RANGE,
	[PFS_OP_CLEAR] = 0,
	[PFS_OP_REPLACE] = RANGE | HAS(LEN),
	[PFS_OP_MOVED] = RANGE,
	[PFS_OP_IF_MAPPED] = RANGE | HAS(FROM),
	[PFS_OP_DETACH_BEGIN] = HAS(START),
	[PFS_OP_DETACH] = HAS(START),
	[PFS_OP_RING] = HAS(START),
};
/* clang-format on */

/* Value 0 of most is "unknown"; text forms leave such a field out. */
static const char *const space_names[] = { "current", "fork", "exec", "other", NULL };
static const char *const op_names[] = {
	"plain", "clear", "replace", "moved", "if_mapped", "detach_begin", "detach", "ring", "filled", NULL,
};
static const char *const access_names[] = { "unknown", "read", "write", "exec", NULL };
static const char *const mode_names[] = { "unknown", "user", "kernel", NULL };
static const char *const class_names[] = { "unknown", "minor", "major", NULL };
static const char *const how_names[] = {
	"unknown", "anon", "file", "cow", "swap", "huge", "numa", "hidden", NULL,
};
static const char *const by_names[] = {
	"unknown", "mmap", "madvise", "mlock", "mremap", "brk", "shmat", "exec", "gup", "userfaultfd", "mprotect", NULL,
};
static const char *const advice_names[] = {
	"unknown", "dontneed", "free", "pageout", "remove", "collapse", "wipeonfork", "keeponfork", "cold", NULL,
};

static const char *const state_names[] = { "unknown", "added", "ready", "held", "absent", "mapped", NULL };

/* Of sets: the name of each bit. */
static const char *const traits_names[] = {
	"stack", "hugetlb", "locked", "noreserve", "sealed", "guarded", "droppable", "thp", "no_thp", NULL,
};
static const char *const flags_names[] = {
	"write",  "mkwrite",	 "allow_retry",	  "retry_nowait", "killable",	    "tried",	"user",
	"remote", "instruction", "interruptible", "unshare",	  "orig_pte_valid", "vma_lock", NULL,
};

enum pfs_advice pfs_advice_of(uint64_t behavior)
{
	static const uint8_t by_behavior[] = {
		[MADV_DONTNEED] = PFS_ADVICE_DONTNEED,
		[MADV_FREE] = PFS_ADVICE_FREE,
		[MADV_REMOVE] = PFS_ADVICE_REMOVE,
		[MADV_WIPEONFORK] = PFS_ADVICE_WIPEONFORK,
		[MADV_KEEPONFORK] = PFS_ADVICE_KEEPONFORK,
		[MADV_PAGEOUT] = PFS_ADVICE_PAGEOUT,
		[MADV_COLD] = PFS_ADVICE_COLD,
		[24] = PFS_ADVICE_DONTNEED,  /* MADV_DONTNEED_LOCKED */
		[25] = PFS_ADVICE_COLLAPSE,  /* MADV_COLLAPSE */
		[102] = PFS_ADVICE_DONTNEED, /* MADV_GUARD_INSTALL: the pages go */
	};

	return behavior < sizeof(by_behavior) ? by_behavior[behavior] : 0;
}

const char *pfs_kind_name(enum pfs_kind kind)
{
	return (unsigned int)kind < PFS_NR_KINDS ? pfs_kinds[kind].name : NULL;
}

uint64_t pfs_event_needs(const struct pfs_event *ev)
{
	if ((ev->kind == PFS_ALLOC || ev->kind == PFS_FREE || ev->kind == PFS_STACK) && pfs_has(ev, PFS_F_PFN))
		return pfs_kinds[ev->kind].needs & ~HAS(PTR);
	if (ev->kind == PFS_ACCESS && pfs_has(ev, PFS_F_PTR))
		return 0;
	return ev->kind == PFS_UNMAP ? op_needs[pfs_event_op(ev)] : pfs_kinds[ev->kind].needs;
}

int pfs_kind_find(const char *name, size_t len)
{
	for (int i = 0; i < PFS_NR_KINDS; i++)
		if (strlen(pfs_kinds[i].name) == len && !memcmp(pfs_kinds[i].name, name, len))
			return i;
	return -ENOENT;
}

#define FIELD(FIELD, name, type, member, names) \
	[PFS_F_##FIELD] = { #name, PFS_T_##type, offsetof(struct pfs_event, member), names },
const struct pfs_field_info pfs_fields[PFS_NR_FIELDS] = { PFS_FIELDS(FIELD) };
