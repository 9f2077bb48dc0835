/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The formats of a recording: where in a record each argument that pfscope wants is.
 *
 * Built once, by name, from the event format texts of tracefs or of a trace.dat (raw_desc.c lists events and fields);
 * record.c then needs only event id and offset. Events and fields that the kernel does not have are absent, never an
 * error. Byte order and long size are those of the recording, not of this machine.
 */
#ifndef PFS_FORMATS_H
#define PFS_FORMATS_H

#include "base/bytes.h"
#include "base/err.h"
#include "record/raw.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a ring-buffer sub-buffer is laid out: events/header_page, for ringpage.c. */
struct pfs_ring_layout {
	bool big_endian;
	bool swap;	   /* the byte order is not this machine's */
	uint8_t long_size; /* of the kernel: bytes of the commit word, 4 or 8 */
	uint16_t ts_at, commit_at, data_at;
};

/* Where one argument is in a record. size 0: this kernel does not have it. */
struct pfs_arg_at {
	uint16_t off;
	uint8_t size;
	bool is_signed;
};

enum pfs_str_form {
	PFS_STR_NONE,
	PFS_STR_FIXED, /* char comm[16] */
	PFS_STR_LOC,   /* __data_loc char[]: length << 16 | offset in the record */
	PFS_STR_REL,   /* __rel_loc char[]: offset from the field's end */
};

/* One event that pfscope makes use of. */
struct pfs_row {
	const struct raw_desc *desc;
	uint8_t nr_args;
	uint8_t str_form; /* enum pfs_str_form */
	bool quick;	  /* at most three arguments, each 8 bytes in host order */
	uint16_t str_at, str_size;
	uint16_t quick_len; /* bytes that a record must have for that */
	struct pfs_arg_at arg[RAW_MAX_ARGS];
};

/* The text of a format in use, kept for the writer of a trace.dat. */
struct pfs_format_text {
	char *system;
	char *text;
};

/* row_of[] has a byte an event. */
#define PFS_FORMATS_MAX 256

struct pfs_formats {
	struct pfs_ring_layout ring;
	uint16_t type_at, pid_at; /* common_type (2 bytes), common_pid (4 bytes) */
	bool common_known;
	uint16_t max_id; /* highest event id seen, in use or not */
	unsigned int nr_rows;
	struct pfs_row rows[PFS_FORMATS_MAX]; /* rows[0] is of no event */
	uint8_t row_of[UINT16_MAX + 1];	      /* by event id; 0: none */
	struct pfs_format_text *texts;	      /* of the rows, and of other events that are recorded */
	size_t nr_texts, max_texts;
	char *header_page, *header_event; /* NULL: unknown */
	struct raw_seen seen;		  /* the events whose formats these are */
	struct pfs_symbols *symbols;	  /* of the kernel, for function records; NULL: unknown. Owned */
};

/* long_size: of the recording's kernel, 4 or 8; header_page corrects it. NULL: no memory. */
struct pfs_formats *pfs_formats_new(bool big_endian, unsigned int long_size);
void pfs_formats_free(struct pfs_formats *f);

/* Of this machine, with nothing in it yet. NULL: no memory. */
#define pfs_formats_new_host() pfs_formats_new(PFS_HOST_BIG_ENDIAN, sizeof(long))

/*
 * Takes in the text of events/header_page (len 0: a kernel too old to have one). 0, or -EBADMSG if
 * it is none. header_event is only kept: its numbers have never changed.
 */
int pfs_formats_set_header_page(struct pfs_formats *f, const char *text, size_t len, struct pfs_err *err);
int pfs_formats_set_header_event(struct pfs_formats *f, const char *text, size_t len);

/* Takes in one format text. 1: pfscope uses it, 0: not (or the text is unreadable), -ENOMEM. */
int pfs_formats_add(struct pfs_formats *f, const char *system, const char *text, size_t len);

/*
 * One event of a tracefs or instance, if it is there; as pfs_formats_add(). The text of one that pfscope does not decode is
 * kept, too: it is recorded.
 */
int pfs_formats_load_event(struct pfs_formats *f, const char *tracing_dir, const char *system, const char *name);

/* Those events of raw_desc.c that are wanted (NULL: all) and exist under a tracefs or instance. 0 or -errno with err set. */
int pfs_formats_load_events(struct pfs_formats *f, const char *tracing_dir,
			    bool (*wants)(const void *ctx, const struct raw_desc *desc), const void *ctx,
			    struct pfs_err *err);

/* header_page and header_event. The same. */
int pfs_formats_load_headers(struct pfs_formats *f, const char *tracing_dir, struct pfs_err *err);

/* The row of an event, NULL if this recording does not have it. */
const struct pfs_row *pfs_formats_find(const struct pfs_formats *f, const char *system, const char *name);

/* ---- format_text.c: safe against any text, where libtraceevent's parser (1.7.1) follows a null pointer ---- */

enum pfs_field_form {
	PFS_FIELD_PLAIN,    /* unsigned long address */
	PFS_FIELD_ARRAY,    /* char comm[16] */
	PFS_FIELD_DATA_LOC, /* __data_loc char[] filename */
	PFS_FIELD_REL_LOC,  /* __rel_loc char[] filename */
};

struct pfs_format_field {
	uint16_t off, size;
	bool is_signed;
	uint8_t form; /* enum pfs_field_form */
};

/* The field that "a|b" names: the first of the alternatives there is. False: none is. */
bool pfs_format_field(const char *text, const char *names, struct pfs_format_field *field);

/* The event's name (cut to size) and its id, which is returned: 1 to 65535, or -EBADMSG. */
int pfs_format_name(const char *text, char *name, size_t size);

#endif
