/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One field of an event's format text, found by name.
 *
 * Only what is needed of it, and safe against any text: the formats in a trace.dat are somebody
 * else's bytes, and libtraceevent's parser trusts them (1.7.1 follows a null pointer on a cut one).
 * The tests hold this one against libtraceevent's, field by field. Only formats.c calls it.
 */
#ifndef PFS_FORMAT_TEXT_H
#define PFS_FORMAT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
