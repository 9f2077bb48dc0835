/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Access permissions of a region, as in the second column of /proc/PID/maps. */
#ifndef PFS_PERMS_H
#define PFS_PERMS_H

enum { PFS_PERM_R = 1, PFS_PERM_W = 2, PFS_PERM_X = 4, PFS_PERM_SHARED = 8 };

#endif
