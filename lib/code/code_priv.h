/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of code/ share. */
#ifndef PFS_CODE_PRIV_H
#define PFS_CODE_PRIV_H

#include "base/hash.h"
#include "base/intern.h"
#include "code/code.h"
#include "jit/jit.h"
#include "model/model.h"

struct pfs_code_counts {
	uint64_t faults, read, write, exec, kernel, major;
	uint64_t pages;				 /* that the fault was the first event of */
	uint64_t latency_ns, major_ns, nr_timed; /* of those with a known latency */
};

void pfs_code_add(struct pfs_code_counts *sum, const struct pfs_code_counts *counts);

/* What caused faults: a stack, or an instruction. */
struct pfs_code_origin {
	struct pfs_code_key {
		uint64_t stack; /* its number; 0: none */
		uint64_t name;	/* of the frame, a pointer */
		uint64_t at;	/* offset in the file, or address */
		uint64_t dev, ino;
		int64_t pid;	/* of memory without a file */
		uint64_t epoch; /* of such memory: what JIT compilers have made there may change */
	} key;
	struct pfs_code_counts counts;
	const struct pfs_frame *frame; /* where there is no stack */
	uint64_t ts_ns;		       /* of the first fault */
};

/* The last fault of a thread: what a later `major` is about. */
struct pfs_code_thread {
	int32_t key;
	UT_hash_handle hh;
	struct pfs_code_origin *origin;
	uint64_t latency_ns;
};

/* A page, and what touched it first. */
struct pfs_code_page {
	const struct pfs_region *region;
	uint64_t addr;
	const struct pfs_code_origin *origin;
	int32_t pid;
};

struct pfs_code {
	const struct pfs_filter *filter;
	bool wants_pages;
	struct pfs_code_page *pages;
	size_t nr_pages, max_pages;
	struct pfs_code_thread *threads;
	struct pfs_stacks *stacks;
	struct pfs_jit *jit;
	struct pfs_code_origin **origins, *last; /* in the order of their first faults */
	uint32_t nr_origins, max_origins;
	struct pfs_index origin_nrs; /* from 1 */
};

/* An origin's frames, the innermost first, without those of the kernel's fault handler. */
struct pfs_code_frames {
	const struct pfs_frame *const *frames;
	uint32_t nr;
	bool cut;
	uint64_t ts_ns; /* when they were there */
};
struct pfs_code_frames pfs_code_frames(const struct pfs_code *code, const struct pfs_code_origin *origin);

/* The place of an origin without frames. */
extern const struct pfs_place pfs_code_no_frames;

/* For tables: "name" with what is not known in brackets. Interned; NULL: no memory. */
const char *pfs_code_func_text(struct pfs_intern **strings, const struct pfs_place *place);
const char *pfs_code_module_text(const struct pfs_place *place);

/* Part of the whole in tenths of a percent. */
static inline uint64_t pfs_code_share(uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((double)part * 1000 / whole + 0.5) : 0;
}

/* In text, where --top was not given. */
enum { PFS_CODE_LINES = 20 };

struct pfs_code_view {
	struct pfs_code *code;
	const struct pfs_code_options *how;
	const struct pfs_view_options *options;
	struct pfs_json *json;
	struct pfs_symbolizer *symbolizer;
	struct pfs_intern *strings;
	struct pfs_code_counts total;
	bool stacks; /* some faults have one */
};

/* Before the first name, and after the last one. 0 or -ENOMEM; end() follows in any case. */
int pfs_code_view_begin(struct pfs_code_view *view, const struct pfs_model *model);
void pfs_code_view_end(struct pfs_code_view *view);
void pfs_code_put_problems(const struct pfs_code_view *view);

/* Write a table. 0 or -ENOMEM. */
int pfs_code_put_table(struct pfs_code_view *view, enum pfs_code_table table); /* all but stacks */
int pfs_code_put_stacks(struct pfs_code_view *view);

#endif
