// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parser of format texts, as tracefs shows them in events/SYSTEM/NAME/format:
 *
 *	name: page_fault_user
 *	ID: 190
 *	format:
 *		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 *		field:__data_loc char[] filename;	offset:8;	size:4;	signed:0;
 *
 *	print fmt: "..."
 *
 * header_page has the same lines of fields. A line that is none is passed over.
 */
#include "base/number.h"
#include "record/formats.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

int pfs_format_name(const char *text, char *name, size_t size)
{
	const char *start = text + 6, *end, *id;
	uint64_t value;

	if (strncmp(text, "name: ", 6))
		return -EBADMSG;
	end = strchr(start, '\n');
	if (!end || (size_t)(end - start) >= size || strncmp(end, "\nID: ", 5))
		return -EBADMSG;
	memcpy(name, start, end - start);
	name[end - start] = 0;
	id = end + 5;
	return pfs_take_dec(&id, UINT16_MAX, &value) && value ? (int)value : -EBADMSG;
}

/* "offset:8;" within [p, end): its number, or false. */
static bool number(const char *p, const char *end, const char *key, uint16_t *v)
{
	const char *found = memmem(p, end - p, key, strlen(key));
	uint64_t value;

	if (!found)
		return false;
	found += strlen(key);
	if (!pfs_take_dec(&found, UINT16_MAX, &value) || *found != ';')
		return false;
	*v = value;
	return true;
}

static enum pfs_field_form form_of(const char *decl, bool array)
{
	if (!strncmp(decl, "__data_loc ", 11))
		return PFS_FIELD_DATA_LOC;
	if (!strncmp(decl, "__rel_loc ", 10))
		return PFS_FIELD_REL_LOC;
	return array ? PFS_FIELD_ARRAY : PFS_FIELD_PLAIN;
}

/*
 * Whether [decl, end) declares a field of that name: "char comm[16]" declares comm. *array: the
 * name has brackets behind it.
 */
static bool declares(const char *decl, const char *end, const char *name, size_t len, bool *array)
{
	*array = end > decl && end[-1] == ']';
	if (*array) {
		while (end > decl && *end != '[')
			end--;
	}
	while (end > decl && end[-1] == ' ')
		end--;
	return (size_t)(end - decl) > len && !memcmp(end - len, name, len) && !pfs_is_word(end[-(ptrdiff_t)len - 1]);
}

/* One line: 1 if it is the field of that name and whole. */
static bool parse_line(const char *line, const char *end, const char *name, size_t len, struct pfs_format_field *field)
{
	const char *decl, *semicolon;
	uint16_t is_signed = 0;
	bool array;

	while (line < end && (*line == '\t' || *line == ' '))
		line++;
	if (end - line < 6 || strncmp(line, "field:", 6))
		return false;
	decl = line + 6;
	while (*decl == ' ')
		decl++;
	semicolon = memchr(decl, ';', end - decl);
	if (!semicolon || !declares(decl, semicolon, name, len, &array))
		return false;
	if (!number(semicolon, end, "\toffset:", &field->off) || !number(semicolon, end, "\tsize:", &field->size))
		return false;
	/* kernels before 2.6.32 have no such field */
	number(semicolon, end, "\tsigned:", &is_signed);
	field->is_signed = is_signed;
	field->form = form_of(decl, array);
	return (field->size || array) && (uint32_t)field->off + field->size <= UINT16_MAX;
}

static bool find_one(const char *text, const char *name, size_t len, struct pfs_format_field *field)
{
	while (*text && strncmp(text, "print fmt:", 10)) {
		const char *end = text + strcspn(text, "\n");

		if (parse_line(text, end, name, len, field))
			return true;
		text = end + (*end == '\n');
	}
	return false;
}

bool pfs_format_field(const char *text, const char *names, struct pfs_format_field *field)
{
	while (*names) {
		size_t len = strcspn(names, "|");

		if (len && find_one(text, names, len, field))
			return true;
		names += len + (names[len] == '|');
	}
	return false;
}
