/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two checks against the kernel's counts: view/check.c, for sources that see exceptions only,
 * chooses by what the recording says of its source.
 */
#ifndef PFS_VIEW_CHECK_H
#define PFS_VIEW_CHECK_H

#include "view/view.h"

/* view/check_all.c, for sources that see every fault. As a pfs_draw_fn. */
int pfs_check_all_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err);

#endif
