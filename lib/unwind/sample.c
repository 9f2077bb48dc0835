/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/sample.h"

#include "unwind/user_regs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As perf record has it by default. */
enum { DUMP_BYTES = 8192 };

void pfs_stack_sample_want(struct perf_event_attr *attr, bool kernel)
{
	pfs_user_regs_want(attr, DUMP_BYTES);
	if (!kernel)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->exclude_callchain_user = 1;
}

int pfs_stack_sample_take(bool kernel, const uint64_t *at, const uint64_t *end, struct pfs_stack_sample **sample)
{
	const uint64_t *frames = at + 1;
	uint64_t nr_kernel = 0;
	struct pfs_stack_sample *s;
	struct pfs_dump stack;
	struct pfs_regs regs;

	if (kernel) {
		if (end - at < 1 || *at > (uint64_t)(end - frames))
			return -EBADMSG;
		nr_kernel = *at;
		at = frames + nr_kernel;
	}
	if (!pfs_user_regs_read(&at, end, &regs, &stack))
		return -EBADMSG;
	*sample = s = malloc(sizeof(*s) + nr_kernel * sizeof(*frames) + stack.len);
	if (!s)
		return -ENOMEM;
	*s = (struct pfs_stack_sample){
		.regs = regs, .len = stack.len, .unreadable = stack.unreadable, .nr_kernel = nr_kernel
	};
	if (nr_kernel)
		memcpy(s->kernel, frames, nr_kernel * sizeof(*frames));
	if (stack.len)
		memcpy(s->kernel + nr_kernel, stack.bytes, stack.len);
	return end - at;
}

unsigned int pfs_stack_sample_unwind(const struct pfs_stack_sample *s, struct pfs_unwind_files *files,
				     struct pfs_unwind_space *space, uint64_t ip, uint64_t *frames, bool *cut)
{
	const struct pfs_dump stack = { .start = s->regs.value[PFS_REG_SP],
					.bytes = s->kernel + s->nr_kernel,
					.len = s->len };

	if (s->regs.known)
		return pfs_unwind(files, space, &s->regs, &stack, frames, cut);
	*cut = true;
	*frames = ip;
	return ip != 0;
}
