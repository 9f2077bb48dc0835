/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads events from lines; docs/event-format.md has the grammar. Any bytes are tolerated: lines that are no events are
 * counted, and the error of the first one is explained. Strings are unescaped into the reader's own buffer.
 */
#include "event/line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "event/cursor.h"
#include "event/notes.h"

#define VERSION_PREFIX "# pfscope events "
enum { HASH_SIZE = 256, MIN_ROOM = 1024 };

/* Finds kinds and fields by name: open addressing; a slot without a name is free. */
struct name_table {
	const char *name[HASH_SIZE];
	uint8_t value[HASH_SIZE];
};

/* Memory that grows to the longest line so far, mostly far below PFS_LINE_MAX. */
struct room {
	char *bytes;
	size_t size;
};

struct pfs_line_reader {
	struct pfs_sink sink;
	struct pfs_line_stats stats;
	struct name_table kinds, fields;
	int failed;	     /* what every further call returns */
	bool skipping;	     /* the rest of a line that is too long */
	struct room carry;   /* start of a line whose end has not come yet */
	size_t carried;	     /* of it: bytes */
	struct room strings; /* of the event in hand; no longer than its line */
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

/* addr=7f0012345000, class~minor */
static void read_field(struct pfs_line_reader *reader, struct pfs_cursor *c, struct pfs_event *ev)
{
	const char *name = c->at;
	size_t len = pfs_cursor_name(c, "a field like name=value is missing here");
	bool inferred;
	int field;

	if (c->why)
		return;
	if (c->at == c->end || (*c->at != '=' && *c->at != '~')) {
		pfs_cursor_fail(c, name, "this field has no = or ~ behind its name");
		return;
	}
	inferred = *c->at++ == '~';
	field = table_find(&reader->fields, name, len);
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

/* Counts the line as an error; true if it is the first, which is explained. */
static bool first_error(struct pfs_line_reader *reader)
{
	if (reader->stats.nr_errors++)
		return false;
	reader->stats.first_error_line = reader->stats.nr_lines;
	return true;
}

static void explain(struct pfs_line_reader *reader, const char *line, const struct pfs_cursor *c)
{
	size_t len = c->end - c->token;
	char token[33], shown[sizeof(token) * 4];

	len = len < sizeof(token) ? len : sizeof(token) - 1;
	memcpy(token, c->token, len);
	token[len] = '\0';
	pfs_escape(shown, sizeof(shown), token, 0);
	pfs_err_set(&reader->stats.first_error, -EINVAL, "line %llu, column %zu: %s: %s",
		    (unsigned long long)reader->stats.nr_lines, (size_t)(c->token - line) + 1, c->why,
		    len ? shown : "end of line");
}

static void missing_field(struct pfs_line_reader *reader, const struct pfs_event *ev, uint64_t missing)
{
	pfs_err_set(&reader->stats.first_error, -EINVAL, "line %llu: this %s has no field %s",
		    (unsigned long long)reader->stats.nr_lines, pfs_kind_name(ev->kind),
		    pfs_fields[__builtin_ctzll(missing)].name);
}

static void long_line(struct pfs_line_reader *reader)
{
	if (first_error(reader))
		pfs_err_set(&reader->stats.first_error, -EINVAL, "line %llu: this line is longer than %u bytes",
			    (unsigned long long)reader->stats.nr_lines, PFS_LINE_MAX);
}

/* The time and the kind. Returns the kind; -ENOENT: unknown; meaningless if there is `why`. */
static int read_head(struct pfs_line_reader *reader, struct pfs_cursor *c, struct pfs_event *ev)
{
	const char *name;
	size_t len;

	pfs_cursor_spaces(c);
	ev->ts_ns = pfs_cursor_time(c);
	if (!c->why && (c->at == c->end || !pfs_is_space(*c->at)))
		pfs_cursor_fail(c, c->at, "a space and a kind are missing behind the time");
	if (c->why)
		return 0;
	pfs_cursor_spaces(c);
	name = c->at;
	len = pfs_cursor_name(c, "the kind of the event is missing here");
	if (len && c->at < c->end && !pfs_is_space(*c->at))
		pfs_cursor_fail(c, c->at, "a space is missing behind the kind");
	return c->why ? 0 : table_find(&reader->kinds, name, len);
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
	const char *line = c->at;
	uint64_t missing;
	int kind = read_head(reader, c, &ev);

	if (kind < 0) {
		reader->stats.nr_unknown_kinds++;
		return 0;
	}
	ev.kind = kind;
	for (pfs_cursor_spaces(c); !c->why && c->at < c->end; pfs_cursor_spaces(c))
		read_field(reader, c, &ev);
	if (c->why) {
		if (first_error(reader))
			explain(reader, line, c);
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
		if (first_error(reader))
			missing_field(reader, &ev, missing);
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

static int make_room(struct room *room, size_t size)
{
	char *bigger;

	if (size <= room->size)
		return 0;
	size = size < MIN_ROOM ? MIN_ROOM : size + size / 2;
	bigger = realloc(room->bytes, size);
	if (!bigger)
		return -ENOMEM;
	*room = (struct room){ bigger, size };
	return 0;
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
	if (make_room(&reader->strings, len + 1))
		return -ENOMEM;
	c.at = line;
	c.string = reader->strings.bytes;
	return read_event(reader, &c);
}

/* Keeps the start of a line until its end comes. 0, -EMSGSIZE: the line has become too long, or -ENOMEM. */
static int carry(struct pfs_line_reader *reader, const char *buf, size_t len)
{
	if (len > PFS_LINE_MAX - reader->carried)
		return -EMSGSIZE;
	if (make_room(&reader->carry, reader->carried + len))
		return -ENOMEM;
	memcpy(reader->carry.bytes + reader->carried, buf, len);
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
	return read_line(reader, reader->carry.bytes, len);
}

struct pfs_line_reader *pfs_line_reader_new(const struct pfs_sink *sink)
{
	struct pfs_line_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->sink = *sink;
	for (unsigned int i = 0; i < PFS_NR_KINDS; i++)
		table_add(&reader->kinds, pfs_kinds[i].name, i);
	for (unsigned int i = 0; i < PFS_NR_FIELDS; i++)
		table_add(&reader->fields, pfs_fields[i].name, i);
	return reader;
}

int pfs_line_reader_feed(struct pfs_line_reader *reader, const char *buf, size_t len)
{
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
	struct pfs_cursor c = { .at = reader->carry.bytes };

	if (reader->failed || !reader->carried)
		return reader->failed;
	c.end = c.at + reader->carried;
	pfs_cursor_spaces(&c);
	if (c.at == c.end || *c.at == '#') {
		reader->failed = read_piece(reader, "", 0, true);
	} else {
		reader->stats.nr_lines++;
		reader->carried = 0;
		if (first_error(reader))
			pfs_err_set(&reader->stats.first_error, -EINVAL,
				    "line %llu: the input ends within this line: it may be cut off",
				    (unsigned long long)reader->stats.nr_lines);
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
	free(reader->carry.bytes);
	free(reader->strings.bytes);
	free(reader);
}

/* Whether a line starts with a time and a kind that is known. */
static bool probe_line(const char *line, size_t len)
{
	struct pfs_cursor c = { .at = line, .end = line + len };
	const char *name;

	pfs_cursor_time(&c);
	if (c.why || c.at == c.end || !pfs_is_space(*c.at))
		return false;
	pfs_cursor_spaces(&c);
	name = c.at;
	len = pfs_cursor_name(&c, "");
	return len && (c.at == c.end || pfs_is_space(*c.at)) && pfs_kind_find(name, len) >= 0;
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

		pfs_cursor_spaces(&c);
		if (c.at < c.end && *c.at != '#')
			return probe_line(c.at, c.end - c.at);
		nr += !!newline;
		buf += nr;
		len -= nr;
	}
	return false;
}
