/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers and the stack of a thread in user mode, as perf events report them: what is unwound. */
#ifndef PFS_USER_REGS_H
#define PFS_USER_REGS_H

#include "unwind/rules.h"

#include <linux/perf_event.h>

/* Has each sample of the event report them: PERF_SAMPLE_REGS_USER and STACK_USER, that many bytes of it. */
void pfs_user_regs_want(struct perf_event_attr *attr, unsigned int stack_bytes);

/*
 * Reads these fields of a sample, in [*at, end), and sets *at behind them. The dump is borrowed. regs->known is 0 if there are
 * none that can be unwound: of a 32-bit program. False: they do not fit.
 */
bool pfs_user_regs_read(const uint64_t **at, const uint64_t *end, struct pfs_regs *regs, struct pfs_dump *dump);

#endif
