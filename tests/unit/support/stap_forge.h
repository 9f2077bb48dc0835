/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hand-made records of the probe module for the tests of its decoder, and the lines that come of them.
 *
 * The lines are event/line.h's, less the time, "cpu=0" and "pid=100 tid=100": unless told otherwise,
 * everything happens on processor 0 in the one thread of process 100, a microsecond apart.
 */
#ifndef PFS_TEST_STAP_FORGE_H
#define PFS_TEST_STAP_FORGE_H

#include "decode/decode.h"
#include "event/line.h"
#include "model/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum {
	VM_R = 1,
	VM_W = 2,
	VM_X = 4,
	VM_S = 0x88,
	VM_RW = VM_R | VM_W,
	VM_RX = VM_R | VM_X,
	PAGE_BYTES = 4096,
	DEV = 0xfe << 20,
	NR_FORGE_CPUS = 4,
};

struct forge {
	struct pfs_decoder *d;
	struct pfs_model *model; /* NULL: only lines */
	uint64_t now_ns;
	uint32_t seq[NR_FORGE_CPUS];
	int32_t pid, tid; /* of what follows */
	uint16_t cpu;
	uint64_t mm;
	int ret; /* what the sink returns */
	char got[65536];
	size_t len;
	bool quiet; /* keep no lines */
};

static inline void forge_cut(char *line, const char *usual)
{
	char *at = strstr(line, usual);

	if (at && strchr(" \n", at[strlen(usual)]))
		memmove(at, at + strlen(usual), strlen(at + strlen(usual)) + 1);
}

static inline int forge_sink(void *ctx, const struct pfs_event *ev)
{
	struct forge *f = ctx;
	char line[20000], *kind;
	ssize_t len;

	if (f->model)
		assert_int_equal(pfs_model_apply(f->model, ev, NULL), 0);
	if (f->quiet)
		return f->ret;
	len = pfs_line_write(ev, line, sizeof(line) - 1);
	assert_true(len > 0);
	line[len] = '\0';
	kind = strchr(line, ' ') + 1;
	forge_cut(kind, " cpu=0");
	forge_cut(kind, " pid=100 tid=100");
	assert_true(f->len + strlen(kind) < sizeof(f->got));
	f->len += strlen(strcpy(f->got + f->len, kind));
	return f->ret;
}

static inline struct pfs_rec forge_rec(struct forge *f, enum pfs_rec_type type)
{
	struct pfs_rec rec = {
		.type = type, .cpu = f->cpu, .seq = f->seq[f->cpu], .ts_ns = f->now_ns, .pid = f->pid, .tid = f->tid
	};

	f->seq[f->cpu] += type != PFS_REC_COUNTERS;
	f->now_ns += 1000;
	return rec;
}

static inline void forge_put(struct forge *f, const struct pfs_rec *rec)
{
	assert_int_equal(pfs_decoder_feed(f->d, rec), 0);
}

static inline void forge_hello(struct forge *f)
{
	struct pfs_rec rec = forge_rec(f, PFS_REC_HELLO);

	rec.hello = (struct pfs_rec_hello){ PFS_WIRE_MAGIC, PFS_WIRE_VERSION, sizeof(rec), 12, 4, 1, 0 };
	forge_put(f, &rec);
}

static inline struct forge *forge_new(void)
{
	struct forge *f = calloc(1, sizeof(*f));
	struct pfs_sink sink = { .fn = forge_sink, .ctx = f };

	assert_non_null(f);
	f->now_ns = 1000000000;
	f->pid = f->tid = 100;
	f->mm = 0xff00;
	f->d = pfs_decoder_new(&sink);
	assert_non_null(f->d);
	forge_hello(f);
	return f;
}

static inline void forge_free(struct forge *f)
{
	pfs_model_free(f->model);
	pfs_decoder_free(f->d);
	free(f);
}

/* All that was fed has come out. */
static inline void forge_flush(struct forge *f)
{
	assert_int_equal(pfs_decoder_flush(f->d, UINT64_MAX), 0);
}

static inline void forge_forget(struct forge *f)
{
	forge_flush(f);
	f->got[0] = '\0';
	f->len = 0;
}

static inline void forge_expect(struct forge *f, const char *lines)
{
	forge_flush(f);
	assert_string_equal(f->got, lines);
	forge_forget(f);
}

static inline void forge_name(struct forge *f, const char *name)
{
	size_t len = strlen(name);

	for (size_t at = 0; at < len; at += PFS_NAME_MAX) {
		struct pfs_rec rec = forge_rec(f, PFS_REC_NAME);

		rec.len = len - at < PFS_NAME_MAX ? len - at : PFS_NAME_MAX;
		rec.name.total = len;
		rec.name.offset = at;
		memcpy(rec.name.piece, name + at, rec.len);
		forge_put(f, &rec);
	}
}

/* ---- layouts ---- */

struct forge_vma {
	uint64_t vma, start, end;
	uint64_t flags;
	const char *name; /* NULL: none */
	uint64_t ino, pgoff;
	uint8_t traits, page_shift;
};

static inline void forge_region(struct forge *f, const struct forge_vma *v)
{
	size_t len = v->name ? strlen(v->name) : 0;
	struct pfs_rec rec;

	if (len > PFS_REGION_NAME_MAX)
		forge_name(f, v->name);
	rec = forge_rec(f, PFS_REC_REGION);
	rec.region = (struct pfs_rec_region){
		.mm = f->mm,
		.vma = v->vma,
		.start = v->start,
		.end = v->end,
		.vm_flags = v->flags,
		.pgoff = v->pgoff,
		.ino = v->ino,
		.dev = v->ino ? DEV : 0,
		.traits = v->traits,
		.page_shift = v->page_shift,
		.special = !v->name ? PFS_NAME_NONE
			   : v->ino ? PFS_NAME_PATH
				    : PFS_NAME_SPECIAL,
	};
	if (len && len <= PFS_REGION_NAME_MAX) {
		rec.region.name_len = len;
		memcpy(rec.region.name, v->name, len);
	}
	forge_put(f, &rec);
}

static inline void forge_layout_edge(struct forge *f, enum pfs_rec_type type, uint32_t why, uint64_t lo, uint64_t hi,
				     uint32_t nr)
{
	struct pfs_rec rec = forge_rec(f, type);

	rec.layout = (struct pfs_rec_layout){ .mm = f->mm, .lo = lo, .hi = hi, .why = why, .nr_regions = nr };
	forge_put(f, &rec);
}

static inline void forge_layout(struct forge *f, uint32_t why, uint64_t lo, uint64_t hi, const struct forge_vma *v,
				unsigned int nr)
{
	forge_layout_edge(f, PFS_REC_LAYOUT, why, lo, hi, 0);
	for (unsigned int i = 0; i < nr; i++)
		forge_region(f, &v[i]);
	forge_layout_edge(f, PFS_REC_LAYOUT_END, why, lo, hi, nr);
}
#define LAYOUT(f, why, lo, hi, ...)                                                       \
	forge_layout(f, PFS_WHY_##why, lo, hi, (const struct forge_vma[]){ __VA_ARGS__ }, \
		     sizeof((const struct forge_vma[]){ __VA_ARGS__ }) / sizeof(struct forge_vma))
#define EMPTY_LAYOUT(f, why, lo, hi) forge_layout(f, PFS_WHY_##why, lo, hi, NULL, 0)

/* Anonymous private memory is described so. */
#define ANON_RW " perms=rw-p off=0 dev=00:00 ino=0 traits=none name=\"\"\n"

static inline void forge_range(struct forge *f, enum pfs_rec_type type, uint64_t start, uint64_t end, uint64_t to)
{
	struct pfs_rec rec = forge_rec(f, type);

	rec.range = (struct pfs_rec_range){ f->mm, start, end, to, 0 };
	forge_put(f, &rec);
}

static inline void forge_unmap(struct forge *f, uint64_t start, uint64_t end)
{
	forge_range(f, PFS_REC_UNMAP, start, end, 0);
}

/* ---- life ---- */

static inline void forge_comm(struct forge *f, const char *comm, uint64_t minor, uint64_t major)
{
	struct pfs_rec rec = forge_rec(f, PFS_REC_COMM);

	rec.comm.mm = f->mm;
	rec.comm.min_flt = minor;
	rec.comm.maj_flt = major;
	strncpy(rec.comm.comm, comm, sizeof(rec.comm.comm));
	forge_put(f, &rec);
}

static inline struct pfs_rec forge_life(struct forge *f, enum pfs_rec_type type, const char *comm)
{
	struct pfs_rec rec = forge_rec(f, type);

	rec.life.mm = f->mm;
	strncpy(rec.life.comm, comm, sizeof(rec.life.comm));
	return rec;
}

static inline void forge_fork(struct forge *f, int32_t child, uint64_t mm, uint32_t flags)
{
	struct pfs_rec rec = forge_life(f, PFS_REC_FORK, "cat");

	rec.life.mm = mm;
	rec.life.child_pid = rec.life.child_tid = child;
	rec.life.flags = flags;
	forge_put(f, &rec);
}

static inline void forge_thread(struct forge *f, int32_t child)
{
	struct pfs_rec rec = forge_life(f, PFS_REC_THREAD, "cat");

	rec.life.child_pid = f->pid;
	rec.life.child_tid = child;
	forge_put(f, &rec);
}

static inline void forge_exec(struct forge *f, uint64_t mm, int32_t old_tid, const char *name)
{
	struct pfs_rec rec;

	forge_name(f, name);
	rec = forge_life(f, PFS_REC_EXEC, "new");
	rec.life.mm = mm;
	rec.life.child_tid = old_tid;
	forge_put(f, &rec);
}

static inline void forge_exit(struct forge *f, bool last, uint64_t minor, uint64_t major)
{
	struct pfs_rec rec = forge_life(f, PFS_REC_EXIT, "cat");

	rec.life.flags = last ? PFS_LIFE_LAST : 0;
	rec.life.min_flt = minor;
	rec.life.maj_flt = major;
	forge_put(f, &rec);
}

/* ---- faults ---- */

enum { MINOR = 0, MAJOR = 4, SIGBUS_RET = 2, RETRY = 0x400 };

/* In region v; the caller may change it before it is fed. */
static inline struct pfs_rec forge_fault(struct forge *f, const struct forge_vma *v, uint64_t addr, uint16_t flags,
					 uint16_t ret)
{
	struct pfs_rec rec = forge_rec(f, PFS_REC_FAULT);

	rec.fault = (struct pfs_rec_fault){
		.addr = addr,
		.ip = 0x401000,
		.mm = f->mm,
		.vma = v->vma,
		.vm_start = v->start,
		.vm_end = v->end,
		.flags = flags,
		.ret = ret,
		.code = flags & 1 ? 6 : 4,
		.what = PFS_WHAT_EXCEPTION | PFS_WHAT_HANDLED | (v->ino ? PFS_WHAT_FILE : 0),
		.how = PFS_WAS_NONE,
		.ino = v->ino,
		.dev = v->ino ? DEV : 0,
		.pgoff = v->pgoff + ((addr - v->start) >> 12),
		.latency_ns = 7,
	};
	return rec;
}

static inline void forge_touch(struct forge *f, const struct forge_vma *v, uint64_t addr, uint16_t flags, uint16_t ret)
{
	struct pfs_rec rec = forge_fault(f, v, addr, flags, ret);

	forge_put(f, &rec);
}

/* By get_user_pages. */
static inline void forge_gup(struct forge *f, const struct forge_vma *v, uint64_t addr, uint16_t flags, uint16_t ret)
{
	struct pfs_rec rec = forge_fault(f, v, addr, flags, ret);

	rec.fault.what &= ~PFS_WHAT_EXCEPTION;
	rec.fault.what |= PFS_WHAT_KERNEL;
	rec.fault.ip = rec.fault.code = 0;
	forge_put(f, &rec);
}

#endif
