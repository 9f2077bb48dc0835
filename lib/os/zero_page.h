/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether reads of anonymous memory get the zero page, which the first write replaces. Some kernels for virtual machines give
 * each a page of its own at once; nothing in /proc or /sys tells.
 */
#ifndef PFS_ZERO_PAGE_H
#define PFS_ZERO_PAGE_H

#include <stdbool.h>

/* Tries it with a few pages of pfscope's own. True also if that fails. */
bool pfs_has_zero_page(void);

#endif
