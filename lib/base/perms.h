/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Access permissions of a region, as in the second column of /proc/PID/maps: "rw-p". */
#ifndef PFS_PERMS_H
#define PFS_PERMS_H

#include <stdint.h>

enum { PFS_PERM_R = 1, PFS_PERM_W = 2, PFS_PERM_X = 4, PFS_PERM_SHARED = 8 };

/* Writes four characters, without a NUL. Returns what is behind them. */
static inline char *pfs_perms_put(char *p, uint8_t perms)
{
	*p++ = perms & PFS_PERM_R ? 'r' : '-';
	*p++ = perms & PFS_PERM_W ? 'w' : '-';
	*p++ = perms & PFS_PERM_X ? 'x' : '-';
	*p++ = perms & PFS_PERM_SHARED ? 's' : 'p';
	return p;
}

#endif
