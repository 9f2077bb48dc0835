/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hand-made events for the tests of the model and the views: one short call an event.
 *
 * A test makes a struct feed around a model, then says what happened, a microsecond apart. Every
 * thread's number is also its process's unless pid says otherwise.
 */
#ifndef PFS_TEST_FEED_H
#define PFS_TEST_FEED_H

#include "model/filter.h"
#include "model/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define HAS(field) PFS_HAS(PFS_F_##field)

enum {
	R = PFS_PERM_R,
	W = PFS_PERM_W,
	X = PFS_PERM_X,
	S = PFS_PERM_SHARED,
	RW = R | W,
	RX = R | X,
	PAGE = 4096,
};

struct feed {
	struct pfs_model *model;
	struct pfs_filter *filter;  /* NULL: none */
	struct pfs_observer behind; /* gets the event after the model; of zeroes: none */
	struct pfs_outcome outcome; /* of the last event */
	uint64_t now_ns;
	int32_t pid, tid; /* whose events follow; pid 0: unknown */
	uint8_t space;	  /* enum pfs_which of what follows */
};

static inline struct feed feed_new(int32_t pid)
{
	struct feed f = { .model = pfs_model_new(), .now_ns = 1000000000, .pid = pid, .tid = pid };

	assert_non_null(f.model);
	return f;
}

static inline void feed_free(struct feed *f)
{
	pfs_model_free(f->model);
}

static inline struct pfs_event feed_event(struct feed *f, enum pfs_kind kind, uint64_t have)
{
	struct pfs_event ev = { .kind = kind, .ts_ns = f->now_ns, .tid = f->tid, .pid = f->pid, .space = f->space };

	ev.have = have | HAS(TID) | (f->pid ? HAS(PID) : 0) | (f->space ? HAS(SPACE) : 0);
	f->now_ns += 1000;
	return ev;
}

static inline int feed_try(struct feed *f, const struct pfs_event *ev)
{
	return f->filter ? pfs_filter_apply(f->filter, f->model, ev, &f->outcome)
			 : pfs_model_apply(f->model, ev, &f->outcome);
}

static inline void feed_apply(struct feed *f, const struct pfs_event *ev)
{
	assert_int_equal(feed_try(f, ev), 0);
	if (f->behind.event)
		assert_int_equal(f->behind.event(f->behind.ctx, ev, &f->outcome), 0);
}

/* A region with a name ("" is anonymous) and nothing else known but its permissions. */
static inline void feed_map(struct feed *f, uint64_t start, uint64_t end, int perms, const char *name)
{
	struct pfs_event ev = feed_event(f, PFS_MAP, HAS(START) | HAS(END) | HAS(PERMS) | HAS(NAME));

	ev.start = start;
	ev.end = end;
	ev.perms = perms;
	ev.name = name;
	feed_apply(f, &ev);
}

/* As a line of /proc/PID/maps says it: everything. */
static inline void feed_maps_line(struct feed *f, uint64_t start, uint64_t end, int perms, uint64_t off, uint32_t dev,
				  uint64_t ino, const char *name)
{
	struct pfs_event ev =
		feed_event(f, PFS_MAP, HAS(START) | HAS(END) | HAS(PERMS) | HAS(NAME) | HAS(OFF) | HAS(DEV) | HAS(INO));

	ev.start = start;
	ev.end = end;
	ev.perms = perms;
	ev.off = off;
	ev.dev = dev;
	ev.ino = ino;
	ev.name = name;
	feed_apply(f, &ev);
}

/* A row of the kernel's region tree: a range and an identity. */
static inline void feed_row(struct feed *f, uint64_t start, uint64_t end, uint64_t id)
{
	struct pfs_event ev = feed_event(f, PFS_MAP, HAS(START) | HAS(END) | HAS(ID));

	ev.start = start;
	ev.end = end;
	ev.id = id;
	feed_apply(f, &ev);
}

static inline void feed_range(struct feed *f, enum pfs_kind kind, uint64_t start, uint64_t end)
{
	struct pfs_event ev = feed_event(f, kind, HAS(START) | HAS(END));

	ev.start = start;
	ev.end = end;
	feed_apply(f, &ev);
}

static inline void feed_unmap(struct feed *f, uint64_t start, uint64_t end)
{
	feed_range(f, PFS_UNMAP, start, end);
}

static inline void feed_clear(struct feed *f)
{
	struct pfs_event ev = feed_event(f, PFS_UNMAP, HAS(OP));

	ev.op = PFS_OP_CLEAR;
	feed_apply(f, &ev);
}

static inline void feed_protect(struct feed *f, uint64_t start, uint64_t end, int perms)
{
	struct pfs_event ev = feed_event(f, PFS_PROTECT, HAS(START) | HAS(END) | HAS(PERMS));

	ev.start = start;
	ev.end = end;
	ev.perms = perms;
	feed_apply(f, &ev);
}

static inline void feed_move(struct feed *f, uint64_t from, uint64_t len, uint64_t start, uint64_t end)
{
	struct pfs_event ev = feed_event(f, PFS_MOVE, HAS(START) | HAS(END) | HAS(FROM) | HAS(LEN));

	ev.from = from;
	ev.len = len;
	ev.start = start;
	ev.end = end;
	feed_apply(f, &ev);
}

static inline void feed_brk(struct feed *f, uint64_t start, uint64_t end)
{
	feed_range(f, PFS_BRK, start, end);
}

static inline void feed_fault_mode(struct feed *f, uint64_t addr, int access, int mode)
{
	struct pfs_event ev = feed_event(f, PFS_FAULT, HAS(ADDR) | (access ? HAS(ACCESS) : 0) | (mode ? HAS(MODE) : 0));

	ev.addr = addr;
	ev.access = access;
	ev.mode = mode;
	feed_apply(f, &ev);
}

static inline void feed_fault(struct feed *f, uint64_t addr, int access)
{
	feed_fault_mode(f, addr, access, PFS_USER);
}

/* Faults on nr pages from start on. */
static inline void feed_faults(struct feed *f, uint64_t start, unsigned int nr, int access)
{
	for (unsigned int i = 0; i < nr; i++)
		feed_fault(f, start + (uint64_t)i * PAGE, access);
}

static inline void feed_around(struct feed *f, uint32_t dev, uint64_t ino, uint64_t off, uint64_t end_off)
{
	struct pfs_event ev = feed_event(f, PFS_AROUND, HAS(DEV) | HAS(INO) | HAS(OFF) | HAS(END_OFF));

	ev.dev = dev;
	ev.ino = ino;
	ev.off = off;
	ev.end_off = end_off;
	feed_apply(f, &ev);
}

/* A probe found all pages of the range in that state, some time in the interval before. */
static inline void feed_cached(struct feed *f, uint32_t dev, uint64_t ino, uint64_t off, uint64_t end_off,
			       enum pfs_cached state, uint64_t interval_ns)
{
	struct pfs_event ev = feed_event(f, PFS_CACHED, HAS(DEV) | HAS(INO) | HAS(OFF) | HAS(END_OFF) | HAS(STATE));

	ev.have = (ev.have & ~(HAS(TID) | HAS(PID))) | HAS(INTERVAL) | HAS(LAST) | HAS(ORDER);
	ev.dev = dev;
	ev.ino = ino;
	ev.off = off;
	ev.end_off = end_off;
	ev.state = state;
	ev.interval_ns = interval_ns;
	ev.last = state != PFS_CACHE_ADDED;
	feed_apply(f, &ev);
	f->now_ns -= 1000;
}

static inline void feed_major(struct feed *f, uint32_t dev, uint64_t ino, uint64_t off)
{
	struct pfs_event ev = feed_event(f, PFS_MAJOR, HAS(DEV) | HAS(INO) | HAS(OFF) | HAS(END_OFF));

	ev.dev = dev;
	ev.ino = ino;
	ev.off = off;
	ev.end_off = off + PAGE;
	feed_apply(f, &ev);
}

static inline void feed_huge(struct feed *f, unsigned int order)
{
	struct pfs_event ev = feed_event(f, PFS_HUGE, HAS(ORDER));

	ev.order = order;
	feed_apply(f, &ev);
}

static inline void feed_signal(struct feed *f, int sig)
{
	struct pfs_event ev = feed_event(f, PFS_SIGNAL, HAS(SIG));

	ev.sig = sig;
	feed_apply(f, &ev);
}

static inline void feed_populate(struct feed *f, uint64_t start, uint64_t end)
{
	feed_range(f, PFS_POPULATE, start, end);
}

/* The populating call under way got the pages of that file up to end_off, where it ends. */
static inline void feed_reached(struct feed *f, uint32_t dev, uint64_t ino, uint64_t end_off)
{
	struct pfs_event ev =
		feed_event(f, PFS_REACHED, HAS(START) | HAS(END) | HAS(DEV) | HAS(INO) | HAS(END_OFF) | HAS(LAST));

	ev.end = UINT64_MAX;
	ev.dev = dev;
	ev.ino = ino;
	ev.end_off = end_off;
	ev.last = 1;
	feed_apply(f, &ev);
}

static inline void feed_comm(struct feed *f, const char *comm)
{
	struct pfs_event ev = feed_event(f, PFS_COMM, HAS(COMM));

	ev.comm = comm;
	feed_apply(f, &ev);
}

/* The new image becomes the process: its regions came before, with space = PFS_SPACE_EXEC. */
static inline void feed_exec(struct feed *f, const char *exe, const char *comm)
{
	struct pfs_event ev = feed_event(f, PFS_EXEC, HAS(NAME) | HAS(COMM));

	f->space = 0;
	ev.space = 0;
	ev.have &= ~HAS(SPACE);
	ev.name = exe;
	ev.comm = comm;
	feed_apply(f, &ev);
}

static inline void feed_fork(struct feed *f, int32_t child, bool shared)
{
	struct pfs_event ev = feed_event(f, PFS_FORK, HAS(CHILD) | HAS(SHARED));

	ev.child = child;
	ev.shared = shared;
	feed_apply(f, &ev);
}

static inline void feed_thread(struct feed *f, int32_t tid)
{
	struct pfs_event ev = feed_event(f, PFS_THREAD, HAS(CHILD));

	ev.child = tid;
	feed_apply(f, &ev);
}

static inline void feed_exit(struct feed *f, bool last)
{
	struct pfs_event ev = feed_event(f, PFS_EXIT, HAS(LAST));

	ev.last = last;
	feed_apply(f, &ev);
}

/* count 0: an unknown number; cpu -1: an unknown one; interval_ns 0: since when is unknown. */
static inline void feed_gap(struct feed *f, int cpu, uint64_t count, uint64_t interval_ns)
{
	struct pfs_event ev = feed_event(f, PFS_LOST, 0);

	ev.have = (count ? HAS(COUNT) : 0) | (cpu >= 0 ? HAS(CPU) : 0) | (interval_ns ? HAS(INTERVAL) : 0);
	ev.interval_ns = interval_ns;
	ev.count = count;
	ev.cpu = cpu;
	feed_apply(f, &ev);
}

/* In less time than one event is after the other. */
static inline void feed_lost(struct feed *f, int cpu, uint64_t count)
{
	feed_gap(f, cpu, count, 500);
}

/* A note; of_process: about the current process, not the recording. */
static inline void feed_note(struct feed *f, const char *key, const char *value, bool of_process)
{
	struct pfs_event ev = feed_event(f, PFS_NOTE, HAS(KEY) | HAS(VALUE));

	if (!of_process)
		ev.have &= ~(HAS(TID) | HAS(PID));
	ev.key = key;
	ev.value = value;
	feed_apply(f, &ev);
}

/* Another process or thread speaks from now on. */
static inline void feed_as(struct feed *f, int32_t pid, int32_t tid)
{
	f->pid = pid;
	f->tid = tid;
}

#endif
