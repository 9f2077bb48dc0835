/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children that hand bytes of others to libraries which such bytes may break: they do it without privileges. */
#ifndef PFS_NOBODY_H
#define PFS_NOBODY_H

#include <stdbool.h>

/*
 * Root becomes nobody, any other account stays what it is, and no program that is executed adds privileges. A root that cannot
 * (of a user namespace without such a user, or without CAP_SETUID) stays that, without its capabilities. False: privileges are
 * left.
 */
bool pfs_become_nobody(void);

#endif
