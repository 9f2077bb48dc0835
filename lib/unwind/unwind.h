/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind/: call chains of programs without frame pointers, from the registers and a part of the stack at one moment.
 *
 * A space is what a process has mapped of code. The rules how a function is left are those of the files' .eh_frame, which C++
 * needs and every program of a distribution has; libdw reads them in a helper without privileges. Each rule is read once
 * and used for all processes that map the file, so that a frame takes some ten nanoseconds.
 *
 *     unwind.h     spaces, and unwinding
 *     files.h      files and their rules, and the helper that reads them
 *     rules.h      registers, and the step from a function to its caller
 *     code_rules.h rules of code that has none
 *     user_regs.h  registers and stacks, as perf events report them
 *     sample.h     ... with the kernel's chain, kept until they are unwound
 */
#ifndef PFS_UNWIND_H
#define PFS_UNWIND_H

#include "unwind/files.h"
#include "unwind/rules.h"

/* The executable regions of a process. */
struct pfs_unwind_space;

struct pfs_unwind_space *pfs_unwind_space_new(void); /* NULL: no memory */
void pfs_unwind_space_free(struct pfs_unwind_space *space);

/* As fork() does it: `to` has what `from` has. 0 or -ENOMEM. */
int pfs_unwind_space_copy(struct pfs_unwind_space *to, const struct pfs_unwind_space *from, pid_t pid);

/*
 * From now on [map->start, map->end) is that, if it is executable, or nothing to execute. Returns 1 if this changes what can be
 * executed, 0 if it does not, -ENOMEM. The name is copied.
 */
int pfs_unwind_space_map(struct pfs_unwind_space *space, const struct pfs_unwind_map *map, bool executable);

/* 1 if something was executable there. */
int pfs_unwind_space_unmap(struct pfs_unwind_space *space, uint64_t start, uint64_t end);

enum { PFS_MAX_FRAMES = 512 };

/* Code in no file is read in its process, which may end soon: so long may a sample wait. */
enum { PFS_UNWIND_WAIT_MS = 10 };

/*
 * The addresses of the functions from the innermost, where regs are, to the one that nobody called: into frames, which has
 * room for PFS_MAX_FRAMES; all but the first are where a call returns, or one behind an instruction that a signal
 * interrupted. Returns how many. *cut: there are more, but they are not known.
 */
unsigned int pfs_unwind(struct pfs_unwind_files *files, struct pfs_unwind_space *space, const struct pfs_regs *regs,
			const struct pfs_dump *dump, uint64_t *frames, bool *cut);

#endif
