/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes and reads binary tapes: docs/tape-format.md.
 */
#include "reference/tapes.h"

#include "reference/tape_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char magic[8] = "pfstape1", trailer[4] = "end\n";

enum { FLAG_STABLE = 1, FLAG_TIMES = 2, FLAG_REFAULT = 4, FLAG_MORE_GAPS = 8, FLAGS_KNOWN = 15 };

/*
 * A file that is written, or read: the functions below write what they are given and return it, or return what they read
 * in its place. So the order of the file's parts stands once.
 */
struct coder {
	FILE *out; /* NULL: reading */
	const uint8_t *start, *at, *end;
	const char *why; /* reading failed; NULL: all is well */
	int ret;
};

static void fail(struct coder *c, int ret, const char *why)
{
	if (c->why)
		return;
	c->why = why;
	c->ret = ret;
}

/* A number, when it is read at most max; 0 after a failure. */
static uint64_t number(struct coder *c, uint64_t value, uint64_t max, const char *what)
{
	uint8_t bytes[10];

	if (c->out) {
		fwrite(bytes, 1, pfs_leb_put(bytes, value) - bytes, c->out);
		return value;
	}
	if (!c->why && pfs_leb_get(&c->at, c->end, &value) && value <= max)
		return value;
	fail(c, -EINVAL, what);
	return 0;
}
#define NUMBER(c, member, max, what) ((member) = number(c, member, max, what))
#define COUNT(c, member)	     NUMBER(c, member, UINT64_MAX, "a count")

/* How many elements follow, each of which takes `least` bytes. */
static unsigned int nr_elements(struct coder *c, unsigned int nr, size_t least, const char *what)
{
	return number(c, nr, (size_t)(c->end - c->at) / least, what);
}

/* A name; the caller frees one that was read. */
static char *string(struct coder *c, const char *s)
{
	size_t len = number(c, s ? strlen(s) : 0, c->end - c->at, "the length of a name");
	char *copy;

	if (c->out) {
		fwrite(s, 1, len, c->out);
		return (char *)s;
	}
	if (c->why || len > (size_t)(c->end - c->at) || memchr(c->at, '\0', len)) {
		fail(c, -EINVAL, "a name");
		return NULL;
	}
	copy = strndup((const char *)c->at, len);
	if (!copy)
		fail(c, -ENOMEM, "no memory");
	c->at += len;
	return copy;
}

static void code_head(struct coder *c, struct pfs_tapes *t)
{
	struct pfs_tape_gaps *gaps = &t->gaps;
	uint64_t flags = number(c,
				(t->options.stable ? FLAG_STABLE : 0) | (t->options.times ? FLAG_TIMES : 0) |
					(gaps->refault.method ? FLAG_REFAULT : 0) |
					(gaps->counted || gaps->unasked_huge ? FLAG_MORE_GAPS : 0),
				FLAGS_KNOWN, "flags");

	t->options.stable = flags & FLAG_STABLE;
	t->options.times = flags & FLAG_TIMES;
	NUMBER(c, t->options.by, PFS_TAPE_OF_ALL, "what a tape is of");
	NUMBER(c, t->page_shift, 30, "the size of pages");
	COUNT(c, gaps->sampled);
	COUNT(c, gaps->unasked);
	COUNT(c, gaps->outside);
	COUNT(c, gaps->lost);
	COUNT(c, gaps->lost_unknown);
	if (flags & FLAG_REFAULT) {
		NUMBER(c, gaps->refault.method, PFS_REFAULT_NR_METHODS - 1, "how pages were made to fault again");
		NUMBER(c, gaps->refault.interval_ns, UINT64_MAX, "an interval");
		NUMBER(c, gaps->refault.mean_ns, UINT64_MAX, "an interval");
		COUNT(c, gaps->refault.nr_cycles);
		COUNT(c, gaps->refault.nr_full);
	}
	if (flags & FLAG_MORE_GAPS) {
		COUNT(c, gaps->counted);
		COUNT(c, gaps->unasked_huge);
	}
}

static void code_object(struct coder *c, struct pfs_object *object)
{
	NUMBER(c, object->kind, PFS_OBJECT_UNKNOWN, "a kind of object");
	NUMBER(c, object->nr, UINT32_MAX, "an object's number");
	NUMBER(c, object->image, UINT32_MAX, "an object's image");
	object->name = string(c, object->name);
}

static void code_tape_head(struct coder *c, struct pfs_tape *tape)
{
	NUMBER(c, tape->process, UINT32_MAX, "a tape's process");
	NUMBER(c, tape->thread, UINT32_MAX, "a tape's thread");
	if (number(c, tape->comm != NULL, 1, "whether a tape has a name"))
		tape->comm = string(c, tape->comm);
	NUMBER(c, tape->nr_entries, UINT64_MAX, "a tape's number of entries");
	NUMBER(c, tape->nr_refs, UINT64_MAX, "a tape's number of references");
	NUMBER(c, tape->nr_bytes, c->end - c->at, "the length of a tape");
}

/* ---- writing ---- */

int pfs_tapes_write_binary(const struct pfs_tapes *tapes, FILE *out)
{
	struct coder c = { .out = out };
	struct pfs_tapes t = *tapes;

	fwrite(magic, 1, sizeof(magic), out);
	code_head(&c, &t);
	nr_elements(&c, t.nr_objects, 4, "the number of objects");
	for (unsigned int i = 0; i < t.nr_objects; i++)
		code_object(&c, &t.objects[i]);
	nr_elements(&c, t.nr_tapes, 6, "the number of tapes");
	for (unsigned int i = 0; i < t.nr_tapes; i++) {
		code_tape_head(&c, &t.tapes[i]);
		if (t.tapes[i].nr_bytes)
			fwrite(t.tapes[i].bytes, 1, t.tapes[i].nr_bytes, out);
	}
	fwrite(trailer, 1, sizeof(trailer), out);
	return fflush(out) || ferror(out) ? -EIO : 0;
}

/* ---- reading ---- */

bool pfs_tapes_probe(const void *bytes, size_t len)
{
	return len >= sizeof(magic) && !memcmp(bytes, magic, sizeof(magic));
}

static void get_objects(struct coder *c, struct pfs_tapes *t)
{
	unsigned int nr = nr_elements(c, 0, 4, "the number of objects");

	t->objects = nr ? calloc(nr, sizeof(*t->objects)) : NULL;
	if (nr && !t->objects)
		fail(c, -ENOMEM, "no memory");
	for (unsigned int i = 0; i < nr && !c->why; i++) {
		code_object(c, &t->objects[i]);
		t->nr_objects += t->objects[i].name != NULL;
	}
}

/* Compares the entries with the tape's numbers. */
static void check_entries(struct coder *c, const struct pfs_tapes *t, const struct pfs_tape *tape)
{
	struct pfs_tape_cursor cursor;
	uint64_t nr_entries = 0, nr_refs = 0;
	int ret;

	for (pfs_tape_rewind(&cursor, t, tape); (ret = pfs_tape_next(&cursor)) > 0; nr_entries++)
		nr_refs += cursor.last.count;
	if (ret < 0 || nr_entries != tape->nr_entries || nr_refs != tape->nr_refs)
		fail(c, -EINVAL, "the entries of a tape");
}

static void get_tape(struct coder *c, struct pfs_tapes *t)
{
	struct pfs_tape *tape = &t->tapes[t->nr_tapes++];

	code_tape_head(c, tape);
	if (tape->nr_bytes > (size_t)(c->end - c->at))
		fail(c, -EINVAL, "the length of a tape");
	if (c->why) {
		tape->nr_bytes = 0;
		return;
	}
	tape->bytes = malloc(tape->nr_bytes + 1);
	if (!tape->bytes) {
		fail(c, -ENOMEM, "no memory");
		return;
	}
	memcpy(tape->bytes, c->at, tape->nr_bytes);
	check_entries(c, t, tape);
	c->at += tape->nr_bytes;
}

struct pfs_tapes *pfs_tapes_read(const void *bytes, size_t len, int *ret, struct pfs_err *err)
{
	struct coder c = { .start = bytes,
			   .at = (const uint8_t *)bytes + sizeof(magic),
			   .end = (const uint8_t *)bytes + len };
	struct pfs_tapes *t = calloc(1, sizeof(*t));
	unsigned int nr;

	if (!t) {
		*ret = pfs_err_set(err, -ENOMEM, "no memory for a tape");
		return NULL;
	}
	if (!pfs_tapes_probe(bytes, len)) {
		c.at = c.start;
		fail(&c, -EINVAL, "the first 8 bytes: this is no binary tape");
	}
	code_head(&c, t);
	get_objects(&c, t);
	nr = nr_elements(&c, 0, 6, "the number of tapes");
	t->tapes = nr && !c.why ? calloc(nr, sizeof(*t->tapes)) : NULL;
	if (nr && !t->tapes)
		fail(&c, -ENOMEM, "no memory");
	while (t->nr_tapes < nr && !c.why)
		get_tape(&c, t);
	if (!c.why && ((size_t)(c.end - c.at) != sizeof(trailer) || memcmp(c.at, trailer, sizeof(trailer))))
		fail(&c, -EINVAL, "its end");
	*ret = c.ret;
	if (!c.why)
		return t;
	if (c.ret == -ENOMEM)
		pfs_err_set(err, c.ret, "no memory for a tape of %zu bytes", len);
	else
		pfs_err_set(err, c.ret, "damaged tape: byte %td: %s", c.at - c.start, c.why);
	pfs_tapes_free(t);
	return NULL;
}
