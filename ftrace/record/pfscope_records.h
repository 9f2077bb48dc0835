/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope's own records: layouts, tasks and notes as ordinary trace events.
 *
 * RAW_PFS_MAP and the kinds after it become events pfs_map, pfs_task, pfs_note and pfs_hist of the
 * system "pfscope", with ids that no kernel event of the recording has, in a stream of sub-buffers
 * beside the kernel's. `trace-cmd report` prints them, other readers pass over them. The same
 * records exist as lines in trace_pipe's layout, for a capture of text.
 *
 * Strings are escaped (control characters and backslash as \ooo), so that a line holds any; they stay escaped in struct
 * raw_event: see pfs_records_unescape(). A string too long for its record is begun in pfs_note records before it,
 * "name+=" and a piece each; the pieces and the record's own string, one after the other, are the whole.
 */
#ifndef PFS_PFSCOPE_RECORDS_H
#define PFS_PFSCOPE_RECORDS_H

#include "event/notes.h"
#include "record/formats.h"
#include "record/raw.h"
#include "record/ringpage.h"

/* Ids begin here or above the highest of the recording's. KernelShark keeps them in 16 bits with a sign. */
#define PFS_RECORDS_FIRST_ID 32000

/* A joined string is cut to this. */
#define PFS_RECORDS_STR_MAX (1u << 20)

struct pfs_records {
	uint16_t first_id; /* of pfs_map; the kinds after it follow */
};

/* Chooses the ids and adds their formats to f. 0, -ENOMEM, or -ENOSPC: no ids are left. */
int pfs_records_init(struct pfs_records *own, struct pfs_formats *f);

/*
 * Appends the record (kind, ts_ns, tid, arg, str unescaped) in one piece or several. 0, -ENOMEM,
 * -EINVAL for another kind, or what pfs_ringwrite_append() returns.
 */
int pfs_records_write(const struct pfs_records *own, struct pfs_ringwrite *w, const struct raw_event *ev);

/* Passes a note as a record to fn, dated and placed as ev. 0, -ENOMEM, or what fn returned. */
int pfs_records_note(const struct raw_event *ev, const struct pfs_fact *fact, raw_event_fn fn, void *ctx);

/* The same as one line of text, '\n' at its end; the caller frees it. NULL: no memory. */
char *pfs_records_text(const struct raw_event *ev);

/* Unescapes src to dst (may be src), at most size bytes with the NUL. Returns the whole length. */
size_t pfs_records_unescape(char *dst, size_t size, const char *src);

/* Joins strings that were divided into several records. Begins as all 0. */
struct pfs_records_join {
	char *str;
	size_t len, max;
	bool begun;
};
void pfs_records_join_free(struct pfs_records_join *join);

/*
 * To be called with each own record in order. 0: it was a piece, to be dropped; 1: ev is to be passed on, its str is
 * whole and borrowed until the next call; -ENOMEM.
 */
int pfs_records_join(struct pfs_records_join *join, struct raw_event *ev);

#endif
