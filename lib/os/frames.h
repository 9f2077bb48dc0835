/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frame pointers: has the C library of this machine any? Call stacks that the kernel takes by them end where there are none. */
#ifndef PFS_FRAMES_H
#define PFS_FRAMES_H

/* How many of some functions, none of which is a leaf, begin with a frame; *of: how many were looked at. 0 of 0: not known here. */
unsigned int pfs_libc_frames(unsigned int *of);

#endif
