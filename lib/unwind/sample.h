/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a sample of a perf event has of the stacks of a thread, kept until it is unwound. */
#ifndef PFS_SAMPLE_H
#define PFS_SAMPLE_H

#include "unwind/unwind.h"

#include <linux/perf_event.h>

struct pfs_stack_sample {
	struct pfs_regs regs; /* of user mode */
	size_t len;	      /* of the stack that is behind the frames, in bytes */
	bool unreadable;      /* the kernel met a page that is not there behind that, which is a fault of its own */
	uint64_t nr_kernel;
	uint64_t kernel[]; /* the kernel's chain: with PERF_CONTEXT_* between its parts */
};

/* Has each sample of the event report them; kernel: the kernel's chain, too. */
void pfs_stack_sample_want(struct perf_event_attr *attr, bool kernel);

/* Copies these fields of a sample, in [at, end). The caller frees it. Returns how many words are behind them, -EBADMSG or -ENOMEM. */
int pfs_stack_sample_take(bool kernel, const uint64_t *at, const uint64_t *end, struct pfs_stack_sample **sample);

/* As pfs_unwind(). Of a 32-bit program ip (0: none) is all that is known. */
unsigned int pfs_stack_sample_unwind(const struct pfs_stack_sample *sample, struct pfs_unwind_files *files,
				     struct pfs_unwind_space *space, uint64_t ip, uint64_t *frames, bool *cut);

#endif
