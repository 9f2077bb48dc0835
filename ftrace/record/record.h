/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One record of a ring buffer to one raw event, by the offsets in struct pfs_formats.
 *
 * No allocation and no lookup by name; safe against any bytes. merge.c calls it for each record.
 */
#ifndef PFS_RECORD_H
#define PFS_RECORD_H

#include "record/formats.h"
#include "record/raw.h"

/* Room for a string that the record does not terminate: it is cut to this. */
#define PFS_RECORD_STR 4096

/*
 * Fills ev's kind, nr, tid, arg and str (ts_ns and cpu are the caller's; comm is NULL, tgid -1)
 * and returns the kind: RAW_OTHER for a record that pfscope has no use for, of which only the tid
 * is filled in. ev->str points into the record, or into scratch[PFS_RECORD_STR].
 */
enum raw_kind pfs_record_decode(const struct pfs_formats *f, const uint8_t *record, uint32_t len, char *scratch,
				struct raw_event *ev);

#endif
