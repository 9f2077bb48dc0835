/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frame pointers: have the C library of this machine, or a program, any? Call stacks that the kernel takes by them end where there are none. */
#ifndef PFS_FRAMES_H
#define PFS_FRAMES_H

#include <stdbool.h>

/* How many of some functions, none of which is a leaf, begin with a frame; *of: how many were looked at. 0 of 0: not known here. */
unsigned int pfs_libc_frames(unsigned int *of);

/* The same of functions of a program's file, leaves among them: at most 512, spread over it. 0 of 0: not known. */
unsigned int pfs_program_frames(const char *path, unsigned int *of);

/*
 * Is the program's file one of Go's linker, as its note says? All functions of Go have frame pointers (amd64 since Go 1.7, arm64
 * since 1.12), and their unwinding rules are where no program but a debugger looks.
 */
bool pfs_program_is_go(const char *path);

/* Are these so few that stacks by frame pointers end early? Of programs that have them, two thirds and more of the functions do. */
static inline bool pfs_frames_are_few(unsigned int with, unsigned int of)
{
	return of && with * 3 < of;
}

#endif
