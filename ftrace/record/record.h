/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One kernel record: from the bytes of a ring buffer to a raw event, and streams of them. The room's headers:
 *
 *	raw.h			the raw event, and the table of kernel events that pfscope reads
 *	record.h		decodes a record, by offsets
 *	formats.h		the offsets, from the event formats of tracefs or of a trace.dat
 *	merge.h			streams of pages, one per CPU, merged by time; page_source.h: their pages
 *	fault_batch.h		runs of plain faults
 *	ringpage.h		pages of the ring buffer, read and written
 *	pfscope_records.h	pfscope's own records
 *	i386.h			system calls of 32-bit programs
 *	handlers.h		the kernel functions that handle faults
 *
 * The decoder allocates nothing, looks up nothing by name, and is safe against any bytes.
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
