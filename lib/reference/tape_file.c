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

/* ---- writing ---- */

static void put(FILE *out, uint64_t value)
{
	uint8_t bytes[10];

	fwrite(bytes, 1, pfs_leb_put(bytes, value) - bytes, out);
}

static void put_string(FILE *out, const char *s)
{
	size_t len = strlen(s);

	put(out, len);
	fwrite(s, 1, len, out);
}

static void put_tape(FILE *out, const struct pfs_tape *tape)
{
	put(out, tape->process);
	put(out, tape->thread);
	put(out, tape->comm != NULL);
	if (tape->comm)
		put_string(out, tape->comm);
	put(out, tape->nr_entries);
	put(out, tape->nr_refs);
	put(out, tape->nr_bytes);
	if (tape->nr_bytes)
		fwrite(tape->bytes, 1, tape->nr_bytes, out);
}

int pfs_tapes_write_binary(const struct pfs_tapes *t, FILE *out)
{
	const struct pfs_tape_gaps *gaps = &t->gaps;

	fwrite(magic, 1, sizeof(magic), out);
	put(out, (t->options.stable ? FLAG_STABLE : 0) | (t->options.times ? FLAG_TIMES : 0) |
			 (gaps->refault.method ? FLAG_REFAULT : 0) |
			 (gaps->counted || gaps->unasked_huge ? FLAG_MORE_GAPS : 0));
	put(out, t->options.by);
	put(out, t->page_shift);
	put(out, gaps->sampled);
	put(out, gaps->unasked);
	put(out, gaps->outside);
	put(out, gaps->lost);
	put(out, gaps->lost_unknown);
	if (gaps->refault.method) {
		put(out, gaps->refault.method);
		put(out, gaps->refault.interval_ns);
		put(out, gaps->refault.mean_ns);
		put(out, gaps->refault.nr_cycles);
		put(out, gaps->refault.nr_full);
	}
	if (gaps->counted || gaps->unasked_huge) {
		put(out, gaps->counted);
		put(out, gaps->unasked_huge);
	}
	put(out, t->nr_objects);
	for (unsigned int i = 0; i < t->nr_objects; i++) {
		put(out, t->objects[i].kind);
		put(out, t->objects[i].nr);
		put(out, t->objects[i].image);
		put_string(out, t->objects[i].name);
	}
	put(out, t->nr_tapes);
	for (unsigned int i = 0; i < t->nr_tapes; i++)
		put_tape(out, &t->tapes[i]);
	fwrite(trailer, 1, sizeof(trailer), out);
	return fflush(out) || ferror(out) ? -EIO : 0;
}

/* ---- reading ---- */

bool pfs_tapes_probe(const void *bytes, size_t len)
{
	return len >= sizeof(magic) && !memcmp(bytes, magic, sizeof(magic));
}

struct reader {
	const uint8_t *start, *at, *end;
	const char *why; /* NULL: all is well */
	int ret;
};

static void bad(struct reader *r, const char *why)
{
	if (r->why)
		return;
	r->why = why;
	r->ret = -EINVAL;
}

static void no_memory(struct reader *r)
{
	if (r->why)
		return;
	r->why = "no memory";
	r->ret = -ENOMEM;
}

/* A number, at most max; 0 after a failure. */
static uint64_t get(struct reader *r, uint64_t max, const char *what)
{
	uint64_t value;

	if (!r->why && pfs_leb_get(&r->at, r->end, &value) && value <= max)
		return value;
	bad(r, what);
	return 0;
}

/* How many elements follow, each of which takes `least` bytes. */
static unsigned int get_nr(struct reader *r, size_t least, const char *what)
{
	return get(r, (size_t)(r->end - r->at) / least, what);
}

static char *get_string(struct reader *r)
{
	size_t len = get(r, r->end - r->at, "the length of a name");
	char *s;

	if (r->why || len > (size_t)(r->end - r->at) || memchr(r->at, '\0', len)) {
		bad(r, "a name");
		return NULL;
	}
	s = strndup((const char *)r->at, len);
	if (!s)
		no_memory(r);
	r->at += len;
	return s;
}

static void get_head(struct reader *r, struct pfs_tapes *t)
{
	uint64_t flags = get(r, FLAGS_KNOWN, "flags");

	t->options = (struct pfs_tape_options){
		.stable = flags & FLAG_STABLE,
		.times = flags & FLAG_TIMES,
		.by = get(r, PFS_TAPE_OF_ALL, "what a tape is of"),
	};
	t->page_shift = get(r, 30, "the size of pages");
	t->gaps.sampled = get(r, UINT64_MAX, "a count");
	t->gaps.unasked = get(r, UINT64_MAX, "a count");
	t->gaps.outside = get(r, UINT64_MAX, "a count");
	t->gaps.lost = get(r, UINT64_MAX, "a count");
	t->gaps.lost_unknown = get(r, UINT64_MAX, "a count");
	if (flags & FLAG_REFAULT) {
		t->gaps.refault.method = get(r, PFS_REFAULT_NR_METHODS - 1, "how pages were made to fault again");
		t->gaps.refault.interval_ns = get(r, UINT64_MAX, "an interval");
		t->gaps.refault.mean_ns = get(r, UINT64_MAX, "an interval");
		t->gaps.refault.nr_cycles = get(r, UINT64_MAX, "a count");
		t->gaps.refault.nr_full = get(r, UINT64_MAX, "a count");
	}
	if (flags & FLAG_MORE_GAPS) {
		t->gaps.counted = get(r, UINT64_MAX, "a count");
		t->gaps.unasked_huge = get(r, UINT64_MAX, "a count");
	}
}

static void get_objects(struct reader *r, struct pfs_tapes *t)
{
	unsigned int nr = get_nr(r, 4, "the number of objects");

	t->objects = nr ? calloc(nr, sizeof(*t->objects)) : NULL;
	if (nr && !t->objects)
		no_memory(r);
	for (unsigned int i = 0; i < nr && !r->why; i++) {
		struct pfs_object *object = &t->objects[i];

		object->kind = get(r, PFS_OBJECT_UNKNOWN, "a kind of object");
		object->nr = get(r, UINT32_MAX, "an object's number");
		object->image = get(r, UINT32_MAX, "an object's image");
		object->name = get_string(r);
		t->nr_objects += object->name != NULL;
	}
}

/* Compares the entries with the tape's numbers. */
static void check_entries(struct reader *r, const struct pfs_tapes *t, const struct pfs_tape *tape)
{
	struct pfs_tape_cursor cursor;
	uint64_t nr_entries = 0, nr_refs = 0;
	int ret;

	for (pfs_tape_rewind(&cursor, t, tape); (ret = pfs_tape_next(&cursor)) > 0; nr_entries++)
		nr_refs += cursor.last.count;
	if (ret < 0 || nr_entries != tape->nr_entries || nr_refs != tape->nr_refs)
		bad(r, "the entries of a tape");
}

static void get_tape(struct reader *r, struct pfs_tapes *t)
{
	struct pfs_tape *tape = &t->tapes[t->nr_tapes++];

	tape->process = get(r, UINT32_MAX, "a tape's process");
	tape->thread = get(r, UINT32_MAX, "a tape's thread");
	if (get(r, 1, "whether a tape has a name"))
		tape->comm = get_string(r);
	tape->nr_entries = get(r, UINT64_MAX, "a tape's number of entries");
	tape->nr_refs = get(r, UINT64_MAX, "a tape's number of references");
	tape->nr_bytes = get(r, r->end - r->at, "the length of a tape");
	if (tape->nr_bytes > (size_t)(r->end - r->at))
		bad(r, "the length of a tape");
	if (r->why) {
		tape->nr_bytes = 0;
		return;
	}
	tape->bytes = malloc(tape->nr_bytes + 1);
	if (!tape->bytes) {
		no_memory(r);
		return;
	}
	memcpy(tape->bytes, r->at, tape->nr_bytes);
	check_entries(r, t, tape);
	r->at += tape->nr_bytes;
}

struct pfs_tapes *pfs_tapes_read(const void *bytes, size_t len, int *ret, struct pfs_err *err)
{
	struct reader r = { .start = bytes,
			    .at = (const uint8_t *)bytes + sizeof(magic),
			    .end = (const uint8_t *)bytes + len };
	struct pfs_tapes *t = calloc(1, sizeof(*t));
	unsigned int nr;

	if (!t) {
		*ret = pfs_err_set(err, -ENOMEM, "no memory for a tape");
		return NULL;
	}
	if (!pfs_tapes_probe(bytes, len)) {
		r.at = r.start;
		bad(&r, "the first 8 bytes: this is no binary tape");
	}
	get_head(&r, t);
	get_objects(&r, t);
	nr = get_nr(&r, 6, "the number of tapes");
	t->tapes = nr && !r.why ? calloc(nr, sizeof(*t->tapes)) : NULL;
	if (nr && !t->tapes)
		no_memory(&r);
	while (t->nr_tapes < nr && !r.why)
		get_tape(&r, t);
	if (!r.why && ((size_t)(r.end - r.at) != sizeof(trailer) || memcmp(r.at, trailer, sizeof(trailer))))
		bad(&r, "its end");
	*ret = r.ret;
	if (!r.why)
		return t;
	if (r.ret == -ENOMEM)
		pfs_err_set(err, r.ret, "no memory for a tape of %zu bytes", len);
	else
		pfs_err_set(err, r.ret, "damaged tape: byte %td: %s", r.at - r.start, r.why);
	pfs_tapes_free(t);
	return NULL;
}
