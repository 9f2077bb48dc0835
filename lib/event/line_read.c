/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads events from lines; docs/event-format.md has the grammar. Any bytes are tolerated: lines that are no events are
 * counted, and the error of the first one is explained. Strings are unescaped into the reader's own buffer.
 */
#include "event/line.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/escape.h"
#include "event/cursor.h"
#include "event/notes.h"

#define VERSION_PREFIX "# pfscope events "
enum { HASH_SIZE = 256 };

/* Finds kinds and fields by name: open addressing; a slot without a name is free. */
struct name_table {
	const char *name[HASH_SIZE];
	uint8_t value[HASH_SIZE];
};

/* The beginning of a field's name, compared at once. */
struct name_start {
	uint64_t bytes, mask;
	size_t len; /* of the whole name */
};

struct pfs_line_reader {
	struct pfs_sink sink;
	struct pfs_line_stats stats;
	struct name_table kinds, fields;
	struct name_start starts[PFS_NR_FIELDS];
	uint8_t next[PFS_NR_FIELDS +
		     1];    /* the field that came behind each one last; of PFS_NR_FIELDS: at the beginning */
	unsigned int field; /* that was read last */
	int failed;	    /* what every further call returns */
	bool skipping;	    /* the rest of a line that is too long */
	char *carry;	    /* start of a line whose end has not come yet */
	size_t carried, max_carry;
	char *strings; /* of the event in hand; no longer than its line */
	size_t max_strings;
	uint64_t version;
	char renewed[1024]; /* the value of a note of version 1 */
};

static unsigned int hash_name(const char *name, size_t len)
{
	unsigned char first = name[0], middle = name[len / 2], last = name[len - 1];

	return (first * 5 + middle * 3 + last * 11 + len) % HASH_SIZE;
}

static void table_add(struct name_table *table, const char *name, unsigned int value)
{
	unsigned int i = hash_name(name, strlen(name));

	while (table->name[i])
		i = (i + 1) % HASH_SIZE;
	table->name[i] = name;
	table->value[i] = value;
}

/* -ENOENT: no such name. */
static int table_find(const struct name_table *table, const char *name, size_t len)
{
	for (unsigned int i = hash_name(name, len); table->name[i]; i = (i + 1) % HASH_SIZE)
		if (pfs_same_name(table->name[i], name, len))
			return table->value[i];
	return -ENOENT;
}

static struct name_start start_of(const char *name)
{
	struct name_start start = { .len = strlen(name) };
	size_t len = start.len < sizeof(start.bytes) ? start.len : sizeof(start.bytes);

	memcpy(&start.bytes, name, len);
	memset(&start.mask, 0xff, len);
	return start;
}

/* Lines of a kind have their fields in the same order, as a rule: that name is read and found at once. -1: it may be another one. */
static int expected_field(const struct pfs_line_reader *reader, struct pfs_cursor *c)
{
	int field = reader->next[reader->field];
	const struct name_start *start = &reader->starts[field];
	const size_t word = sizeof(start->bytes), left = c->end - c->at;
	uint64_t bytes;

	if (left <= word || left <= start->len)
		return -1;
	memcpy(&bytes, c->at, word);
	if ((bytes & start->mask) != start->bytes || (c->at[start->len] != '=' && c->at[start->len] != '~'))
		return -1;
	if (start->len > word && memcmp(c->at + word, pfs_fields[field].name + word, start->len - word))
		return -1;
	c->at += start->len;
	return field;
}

/* The field whose name begins here; -ENOENT: an unknown one. On an error c->why is set. */
static int find_field(struct pfs_line_reader *reader, struct pfs_cursor *c)
{
	const char *name = c->at;
	int field = expected_field(reader, c);
	size_t len;

	if (field < 0) {
		len = pfs_cursor_name(c, "a field like name=value is missing here");
		if (!c->why && (c->at == c->end || (*c->at != '=' && *c->at != '~')))
			pfs_cursor_fail(c, name, "this field has no = or ~ behind its name");
		field = c->why ? -ENOENT : table_find(&reader->fields, name, len);
	}
	if (field >= 0)
		reader->field = reader->next[reader->field] = field;
	return field;
}

/* addr=7f0012345000, class~minor */
static void read_field(struct pfs_line_reader *reader, struct pfs_cursor *c, struct pfs_event *ev)
{
	const char *name = c->at;
	int field = find_field(reader, c);
	bool inferred;

	if (c->why)
		return;
	inferred = *c->at++ == '~';
	if (field < 0) {
		c->nr_unknown++;
		pfs_cursor_skip(c);
	} else if (pfs_has(ev, field)) {
		pfs_cursor_fail(c, name, "this field comes twice");
	} else if (pfs_cursor_value(c, ev, &pfs_fields[field])) {
		ev->have |= PFS_HAS(field);
		ev->inferred |= (uint64_t)inferred << field;
	} else if (field == PFS_F_OP) {
		ev->op = PFS_NR_OPS; /* unknown: what the event means is unknown, too */
	}
	if (!c->why && c->at < c->end && !pfs_is_space(*c->at))
		pfs_cursor_fail(c, name, "this value goes on where a space should be");
}

/* Counts the line as an error; the first one is explained. */
__attribute__((format(printf, 2, 3))) static void line_error(struct pfs_line_reader *reader, const char *fmt, ...)
{
	char *msg = reader->stats.first_error.msg;
	size_t size = sizeof(reader->stats.first_error.msg), len;
	va_list ap;

	if (reader->stats.nr_errors++)
		return;
	reader->stats.first_error_line = reader->stats.nr_lines;
	len = snprintf(msg, size, "line %llu", (unsigned long long)reader->stats.nr_lines);
	va_start(ap, fmt);
	vsnprintf(msg + len, size - len, fmt, ap);
	va_end(ap);
}

static void cursor_error(struct pfs_line_reader *reader, const char *line, const struct pfs_cursor *c)
{
	size_t len = c->end - c->token;
	char token[33], shown[sizeof(token) * 4];

	snprintf(token, sizeof(token), "%.*s", (int)(len < sizeof(token) ? len : sizeof(token) - 1), c->token);
	pfs_escape(shown, sizeof(shown), token, PFS_ESCAPE_AGAIN);
	line_error(reader, ", column %zu: %s: %s", (size_t)(c->token - line) + 1, c->why, len ? shown : "end of line");
}

static void long_line(struct pfs_line_reader *reader)
{
	line_error(reader, ": this line is longer than %u bytes", PFS_LINE_MAX);
}

/* The time and the kind, whose name (*len bytes) is returned. NULL: c->why. */
static const char *read_head(struct pfs_cursor *c, uint64_t *ts_ns, size_t *len)
{
	const char *name;

	pfs_cursor_spaces(c);
	*ts_ns = pfs_cursor_time(c);
	if (!c->why && (c->at == c->end || !pfs_is_space(*c->at)))
		pfs_cursor_fail(c, c->at, "a space and a kind are missing behind the time");
	if (c->why)
		return NULL;
	pfs_cursor_spaces(c);
	name = c->at;
	*len = pfs_cursor_name(c, "the kind of the event is missing here");
	if (*len && c->at < c->end && !pfs_is_space(*c->at))
		pfs_cursor_fail(c, c->at, "a space is missing behind the kind");
	return c->why ? NULL : name;
}

/* The op of an unmap of version 1, where its fields showed it. */
static enum pfs_op op_of_version_1(const struct pfs_event *ev)
{
	if (!pfs_has(ev, PFS_F_END) && !pfs_has(ev, PFS_F_BY))
		return PFS_OP_RING;
	if (!pfs_has(ev, PFS_F_END))
		return pfs_has(ev, PFS_F_LAST) && ev->last ? PFS_OP_DETACH : PFS_OP_DETACH_BEGIN;
	if (pfs_has(ev, PFS_F_BY))
		return PFS_OP_MOVED;
	if (pfs_has(ev, PFS_F_LEN))
		return PFS_OP_REPLACE;
	if (pfs_has(ev, PFS_F_FROM))
		return PFS_OP_IF_MAPPED;
	return pfs_has(ev, PFS_F_START) && !ev->start && ev->end == UINT64_MAX ? PFS_OP_CLEAR : PFS_OP_PLAIN;
}

/* Converts an event of version 1: values of notes, the op of an unmap. */
static void renew(struct pfs_line_reader *reader, struct pfs_event *ev)
{
	if (ev->kind == PFS_NOTE && pfs_has(ev, PFS_F_KEY) && pfs_has(ev, PFS_F_VALUE))
		ev->value = pfs_note_renew(ev->key, ev->value, reader->renewed, sizeof(reader->renewed));
	if (ev->kind != PFS_UNMAP || pfs_has(ev, PFS_F_OP))
		return;
	ev->op = op_of_version_1(ev);
	ev->have &= ~(PFS_HAS(PFS_F_BY) | PFS_HAS(PFS_F_LAST));
	ev->have &= ~(ev->op == PFS_OP_CLEAR ? PFS_HAS(PFS_F_START) | PFS_HAS(PFS_F_END) : 0);
	ev->have |= ev->op == PFS_OP_PLAIN ? 0 : PFS_HAS(PFS_F_OP);
	ev->inferred &= ev->have;
}

/* 123.456789012 fault cpu=1 pid=42 tid=43 comm="cat" addr=7f0012345000 access=write */
static int read_event(struct pfs_line_reader *reader, struct pfs_cursor *c)
{
	struct pfs_event ev = { 0 };
	const char *line = c->at, *name;
	uint64_t missing;
	size_t len = 0;
	int kind;

	name = read_head(c, &ev.ts_ns, &len);
	kind = name ? table_find(&reader->kinds, name, len) : 0;

	if (kind < 0) {
		reader->stats.nr_unknown_kinds++;
		return 0;
	}
	ev.kind = kind;
	reader->field = PFS_NR_FIELDS;
	for (pfs_cursor_spaces(c); !c->why && c->at < c->end; pfs_cursor_spaces(c))
		read_field(reader, c, &ev);
	if (c->why) {
		cursor_error(reader, line, c);
		return 0;
	}
	if (ev.kind == PFS_UNMAP && ev.op == PFS_NR_OPS) {
		reader->stats.nr_unknown_kinds++;
		return 0;
	}
	reader->stats.nr_unknown_fields += c->nr_unknown;
	if (reader->version < 2)
		renew(reader, &ev);
	missing = pfs_event_needs(&ev) & ~ev.have;
	if (missing) {
		line_error(reader, ": this %s has no field %s", pfs_kind_name(ev.kind),
			   pfs_fields[__builtin_ctzll(missing)].name);
		return 0;
	}
	reader->stats.nr_events++;
	return pfs_emit(&reader->sink, &ev);
}

/* # pfscope events 2 */
static int read_comment(struct pfs_line_reader *reader, struct pfs_cursor *c)
{
	size_t len = strlen(VERSION_PREFIX);
	const char *digits = c->at + len;
	uint64_t version;

	if ((size_t)(c->end - c->at) <= len || memcmp(c->at, VERSION_PREFIX, len) || *digits < '0' || *digits > '9')
		return 0;
	c->at = digits;
	version = pfs_cursor_dec(c, UINT64_MAX);
	if (!c->why && version <= PFS_EVENT_VERSION) {
		reader->version = version;
		return 0;
	}
	reader->stats.first_error_line = reader->stats.nr_lines;
	return pfs_err_set(&reader->stats.first_error, -EPROTONOSUPPORT,
			   "line %llu: these event lines are of version %.*s, but this pfscope reads "
			   "up to version %d only: read them with a newer one",
			   (unsigned long long)reader->stats.nr_lines, (int)(c->at - digits), digits,
			   PFS_EVENT_VERSION);
}

/* One line, without its newline. */
static int read_line(struct pfs_line_reader *reader, const char *line, size_t len)
{
	struct pfs_cursor c = { .at = line, .end = line + len };

	reader->stats.nr_lines++;
	if (len > PFS_LINE_MAX) {
		long_line(reader);
		return 0;
	}
	pfs_cursor_spaces(&c);
	if (c.at == c.end)
		return 0;
	if (*c.at == '#')
		return read_comment(reader, &c);
	if (!pfs_array_reserve(reader->strings, 0, reader->max_strings, len + 1))
		return -ENOMEM;
	c.at = line;
	c.string = reader->strings;
	return read_event(reader, &c);
}

/* Keeps the start of a line until its end comes. 0, -EMSGSIZE: the line has become too long, or -ENOMEM. */
static int carry(struct pfs_line_reader *reader, const char *buf, size_t len)
{
	if (len > PFS_LINE_MAX - reader->carried)
		return -EMSGSIZE;
	if (!pfs_array_reserve(reader->carry, reader->carried, reader->max_carry, len))
		return -ENOMEM;
	memcpy(reader->carry + reader->carried, buf, len);
	reader->carried += len;
	return 0;
}

/* A line ends with these bytes (ended), or goes on; its first ones may be carried. */
static int read_piece(struct pfs_line_reader *reader, const char *buf, size_t len, bool ended)
{
	int ret;

	if (reader->skipping) {
		reader->skipping = !ended;
		return 0;
	}
	if (ended && !reader->carried)
		return read_line(reader, buf, len);
	ret = carry(reader, buf, len);
	if (ret == -EMSGSIZE) {
		reader->stats.nr_lines++;
		long_line(reader);
		reader->carried = 0;
		reader->skipping = !ended;
		return 0;
	}
	if (ret || !ended)
		return ret;
	len = reader->carried;
	reader->carried = 0;
	return read_line(reader, reader->carry, len);
}

struct pfs_line_reader *pfs_line_reader_new(const struct pfs_sink *sink)
{
	struct pfs_line_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->sink = *sink;
	for (unsigned int i = 0; i < PFS_NR_KINDS; i++)
		table_add(&reader->kinds, pfs_kinds[i].name, i);
	for (unsigned int i = 0; i < PFS_NR_FIELDS; i++) {
		table_add(&reader->fields, pfs_fields[i].name, i);
		reader->starts[i] = start_of(pfs_fields[i].name);
	}
	return reader;
}

int pfs_line_reader_feed(void *ctx, const char *buf, size_t len)
{
	struct pfs_line_reader *reader = ctx;

	while (len && !reader->failed) {
		const char *newline = memchr(buf, '\n', len);
		size_t nr = newline ? (size_t)(newline - buf) : len;

		reader->failed = read_piece(reader, buf, nr, newline);
		nr += !!newline;
		buf += nr;
		len -= nr;
	}
	return reader->failed;
}

int pfs_line_reader_end(struct pfs_line_reader *reader)
{
	struct pfs_cursor c = { .at = reader->carry };

	if (reader->failed || !reader->carried)
		return reader->failed;
	c.end = c.at + reader->carried;
	pfs_cursor_spaces(&c);
	if (c.at == c.end || *c.at == '#') {
		reader->failed = read_piece(reader, "", 0, true);
	} else {
		reader->stats.nr_lines++;
		reader->carried = 0;
		line_error(reader, ": the input ends within this line: it may be cut off");
	}
	return reader->failed;
}

const struct pfs_line_stats *pfs_line_reader_stats(const struct pfs_line_reader *reader)
{
	return &reader->stats;
}

void pfs_line_reader_free(struct pfs_line_reader *reader)
{
	if (!reader)
		return;
	free(reader->carry);
	free(reader->strings);
	free(reader);
}

bool pfs_line_probe(const char *buf, size_t len)
{
	size_t prefix = strlen(VERSION_PREFIX);

	if (len > prefix && !memcmp(buf, VERSION_PREFIX, prefix))
		return buf[prefix] >= '0' && buf[prefix] <= '9';
	while (len) {
		const char *newline = memchr(buf, '\n', len);
		size_t nr = newline ? (size_t)(newline - buf) : len;
		struct pfs_cursor c = { .at = buf, .end = buf + nr };
		const char *name;
		uint64_t ts_ns;

		pfs_cursor_spaces(&c);
		if (c.at < c.end && *c.at != '#') {
			name = read_head(&c, &ts_ns, &nr);
			return name && pfs_kind_find(name, nr) >= 0;
		}
		nr += !!newline;
		buf += nr;
		len -= nr;
	}
	return false;
}
