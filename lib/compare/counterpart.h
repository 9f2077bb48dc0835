/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys by which base/match.h finds which process or region of one recording is which of another. None contains an
 * address, a pid or an inode, which differ from run to run:
 *
 *     an image    its name and those of its ancestors; its name; its executable's; whether it is the first one
 *     a row       of a file: path and offset; the file's name and offset; path and permissions; name and permissions
 *                 of [heap], [stack] and the like: that
 *                 of anonymous memory: kind, permissions, size, and the file right below it; then less of these
 */
#ifndef PFS_COMPARE_COUNTERPART_H
#define PFS_COMPARE_COUNTERPART_H

#include "base/intern.h"
#include "base/match.h"
#include "view/rows.h"

/* Both set the keys of an item, which live as long as the pool. 0 or -ENOMEM. */

/* Of the image that was reached; first: the recording shows none before it. */
int pfs_image_keys(struct pfs_match_item *item, const struct pfs_epochs *at, bool first, struct pfs_intern **pool);

/* Of a row of it. The image is a line of its own match: regions of other images are no counterparts. */
int pfs_row_keys(struct pfs_match_item *item, const struct pfs_epochs *at, const struct pfs_rows *rows, unsigned int i,
		 size_t image, struct pfs_intern **pool);

#endif
