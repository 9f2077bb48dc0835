/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See dump.h. The file may hold anything: a record is read no further than its length, and one that contradicts itself is the
 * last one. A process that was killed has left a part of a record, which is nothing special.
 *
 * V8 counts the addresses of lines from the ELF header that `perf inject' would put in front of the code: in its files no function
 * has a line before. And of optimized code it may write any bytes for lines: those of a function are not used if one lies outside.
 */
#include "jit/dump.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/nested.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_CODES = 1 << 22, MAX_LINES = 1 << 22, MAX_NAME = 4096 };

enum { MAGIC = 0x4a695444, MAGIC_SWAPPED = 0x4454694a, VERSION = 1 };
enum { FLAG_ARCH_TIMESTAMP = 1 };
enum { ELF_HEADER_SIZE = 64 };
enum { HEADER_SIZE = 40, RECORD_SIZE = 16, LOAD_SIZE = 40, MOVE_SIZE = 48, DEBUG_SIZE = 16, LINE_SIZE = 16 };
/* The end of a runtime (3) is not that of the file: it may be a child's. */
enum { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, NR_KINDS };

struct pfs_jit_code {
	uint64_t start, end;
	uint64_t reach;
	uint64_t from_ns, until_ns; /* loaded; moved away: UINT64_MAX never */
	size_t nr;		    /* of its record */
	const char *name;
	uint64_t lines_at; /* where it was when its lines were written */
	size_t first_line, nr_lines;
};

struct pfs_jit_line {
	uint64_t addr;
	size_t nr;
	const char *source;
	uint32_t line;
};

/* What a compiler calls its function, to where it is now. */
struct known {
	uint64_t key;
	UT_hash_handle hh;
	size_t code;
};

struct reader {
	FILE *file;
	bool swap;
	uint64_t left; /* bytes of the record */
	uint64_t ts_ns;
	struct pfs_jit_dump *dump;
	struct pfs_intern **strings;
	struct known *known;
	uint64_t lines_of; /* the code of which the last lines are */
	size_t first_line;
};

enum { GOES_ON, ENDS, DAMAGED }; /* of a record; or -ENOMEM */

/* ---- bytes ---- */

static bool take(struct reader *r, uint8_t *bytes, size_t len)
{
	if (len > r->left || fread(bytes, 1, len, r->file) != len)
		return false;
	r->left -= len;
	return true;
}

static uint64_t u64(const struct reader *r, const uint8_t *bytes)
{
	return pfs_load64(bytes, r->swap);
}

/* A string of at most `len` bytes with its end; of a long one the beginning. */
static bool take_string(struct reader *r, uint64_t len, char text[MAX_NAME])
{
	uint64_t at = 0;
	int c = EOF;

	for (; at < len && at < r->left && (c = getc(r->file)) > 0; at++)
		if (at < MAX_NAME - 1)
			text[at] = c;
	text[at < MAX_NAME ? at : MAX_NAME - 1] = '\0';
	r->left -= at + (c == 0);
	return c == 0;
}

/* ---- records ---- */

static bool is_range(uint64_t start, uint64_t len)
{
	return len && start + len > start;
}

/* 0 or -ENOMEM. */
static int add_code(struct reader *r, uint64_t index, struct pfs_jit_code code)
{
	struct pfs_jit_dump *dump = r->dump;
	struct known *known = PFS_HASH_GET(r->known, key, index);
	struct pfs_jit_code *added = known ? pfs_array_add(dump->codes, dump->nr, dump->max) : NULL;

	if (!added)
		return -ENOMEM;
	code.from_ns = r->ts_ns;
	code.until_ns = UINT64_MAX;
	code.nr = known->code = dump->nr - 1;
	*added = code;
	return 0;
}

static int compare_lines(const void *a, const void *b)
{
	const struct pfs_jit_line *x = a, *y = b;

	return pfs_order(x->addr, y->addr) ?: pfs_order(x->nr, y->nr);
}

/* The lines that were read last, if they are of that code. */
static void give_lines(struct reader *r, struct pfs_jit_code *code)
{
	struct pfs_jit_dump *dump = r->dump;

	if (r->lines_of != code->start || r->first_line == dump->nr_lines)
		return;
	for (size_t i = r->first_line; i < dump->nr_lines; i++)
		if (dump->lines[i].addr - code->start > code->end - code->start + ELF_HEADER_SIZE)
			return;
	code->lines_at = code->start;
	code->first_line = r->first_line;
	code->nr_lines = dump->nr_lines - r->first_line;
	qsort(dump->lines + code->first_line, code->nr_lines, sizeof(*dump->lines), compare_lines);
	r->first_line = dump->nr_lines;
	if (dump->lines[code->first_line].addr - code->start < ELF_HEADER_SIZE)
		dump->lines_behind = 0;
}

/* pid, tid, address, address, size, index; then the name, and the code itself. */
static int take_load(struct reader *r)
{
	struct pfs_jit_code code = { 0 };
	uint8_t fixed[LOAD_SIZE];
	char name[MAX_NAME];
	uint64_t len;

	if (!take(r, fixed, sizeof(fixed)))
		return DAMAGED;
	code.start = u64(r, fixed + 16);
	len = u64(r, fixed + 24);
	if (len > r->left || !take_string(r, r->left - len, name))
		return DAMAGED;
	if (!is_range(code.start, len) || !*name)
		return GOES_ON;
	code.end = code.start + len;
	code.name = pfs_intern(r->strings, name);
	give_lines(r, &code);
	return code.name ? add_code(r, u64(r, fixed + 32), code) : -ENOMEM;
}

/* pid, tid, address, old address, new address, size, index. */
static int take_move(struct reader *r)
{
	struct pfs_jit_code *old, code;
	uint8_t fixed[MOVE_SIZE];
	struct known *known;
	uint64_t index;

	if (!take(r, fixed, sizeof(fixed)))
		return DAMAGED;
	index = u64(r, fixed + 40);
	HASH_FIND(hh, r->known, &index, sizeof(index), known);
	old = known ? &r->dump->codes[known->code] : NULL;
	if (!old || old->start != u64(r, fixed + 16))
		return GOES_ON;
	code = *old;
	code.start = u64(r, fixed + 24);
	code.end = code.start + (old->end - old->start);
	if (!is_range(code.start, old->end - old->start))
		return GOES_ON;
	old->until_ns = r->ts_ns;
	return add_code(r, index, code);
}

static int add_line(struct reader *r, uint64_t addr, uint32_t number, const char *source)
{
	struct pfs_jit_dump *dump = r->dump;
	size_t nr = dump->nr_lines;
	struct pfs_jit_line *line = source ? pfs_array_add(dump->lines, dump->nr_lines, dump->max_lines) : NULL;

	if (!line)
		return -ENOMEM;
	*line = (struct pfs_jit_line){ addr, nr, source, number };
	return GOES_ON;
}

/* The code's address, the number of entries, and these: address, line, column, and the file, "\xff" for the one before. */
static int take_debug_info(struct reader *r)
{
	uint8_t fixed[LINE_SIZE];
	const char *source = NULL;
	char name[MAX_NAME];
	uint64_t nr;
	int ret = GOES_ON;

	if (!take(r, fixed, DEBUG_SIZE))
		return DAMAGED;
	r->dump->nr_lines = r->first_line; /* nobody has taken those before */
	r->lines_of = u64(r, fixed);
	nr = u64(r, fixed + 8);
	for (; !ret && nr && r->dump->nr_lines < MAX_LINES; nr--) {
		if (!take(r, fixed, sizeof(fixed)) || !take_string(r, r->left, name))
			return DAMAGED;
		if (!source || strcmp(name, "\xff"))
			source = pfs_intern(r->strings, name);
		ret = add_line(r, u64(r, fixed), pfs_load32(fixed + 8, r->swap), source);
	}
	return ret;
}

static int take_record(struct reader *r)
{
	static int (*const kinds[NR_KINDS])(struct reader *) = {
		[CODE_LOAD] = take_load,
		[CODE_MOVE] = take_move,
		[CODE_DEBUG_INFO] = take_debug_info,
	};
	uint8_t head[RECORD_SIZE];
	uint32_t kind, size;
	int ret;

	r->left = sizeof(head);
	if (!take(r, head, sizeof(head)))
		return ENDS;
	kind = pfs_load32(head, r->swap);
	size = pfs_load32(head + 4, r->swap);
	r->ts_ns = u64(r, head + 8);
	if (size < sizeof(head))
		return DAMAGED;
	r->left = size - sizeof(head);
	ret = kind < NR_KINDS ? kinds[kind](r) : GOES_ON;
	if (ret == DAMAGED && feof(r->file))
		return ENDS;
	return ret ?: fseeko(r->file, r->left, SEEK_CUR) ? ENDS : GOES_ON;
}

/* ---- the file ---- */

static bool take_header(struct reader *r)
{
	uint8_t head[HEADER_SIZE];
	uint32_t magic, size;

	r->left = sizeof(head);
	if (!take(r, head, sizeof(head)))
		return false;
	magic = pfs_load32(head, false);
	r->swap = magic == MAGIC_SWAPPED;
	size = pfs_load32(head + 8, r->swap);
	r->dump->other_clock = u64(r, head + 32) & FLAG_ARCH_TIMESTAMP;
	return (magic == MAGIC || r->swap) && pfs_load32(head + 4, r->swap) == VERSION && size >= sizeof(head) &&
	       !fseeko(r->file, size - sizeof(head), SEEK_CUR);
}

static int compare_codes(const void *a, const void *b)
{
	const struct pfs_jit_code *x = a, *y = b;

	return pfs_order(x->start, y->start) ?: pfs_order(x->nr, y->nr);
}

static int compare_moments(const void *a, const void *b)
{
	return pfs_order(*(const uint64_t *)a, *(const uint64_t *)b);
}

static int add_moment(struct pfs_jit_dump *dump, uint64_t ts_ns)
{
	uint64_t *moment = pfs_array_add(dump->moments, dump->nr_moments, dump->max_moments);

	if (!moment)
		return -ENOMEM;
	*moment = ts_ns;
	return 0;
}

/* Those of all code that shares addresses with other code, or was moved away. 0 or -ENOMEM. */
static int find_moments(struct pfs_jit_dump *dump)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; !err && !dump->other_clock && i < dump->nr; i++) {
		const struct pfs_jit_code *code = &dump->codes[i];
		bool shares = (i && code[-1].reach > code->start) || (i + 1 < dump->nr && code[1].start < code->end);

		if (shares)
			err = add_moment(dump, code->from_ns);
		if (!err && code->until_ns != UINT64_MAX)
			err = add_moment(dump, code->until_ns);
	}
	if (dump->nr_moments)
		qsort(dump->moments, dump->nr_moments, sizeof(*dump->moments), compare_moments);
	for (size_t i = 0; i < dump->nr_moments; i++)
		if (!kept || dump->moments[kept - 1] != dump->moments[i])
			dump->moments[kept++] = dump->moments[i];
	dump->nr_moments = kept;
	return err;
}

int pfs_jit_dump_read(struct pfs_jit_dump *dump, int fd, struct pfs_intern **strings)
{
	struct reader r = { .file = fdopen(fd, "r"), .dump = dump, .strings = strings };
	int ret = GOES_ON;

	*dump = (struct pfs_jit_dump){ .lines_behind = ELF_HEADER_SIZE };
	if (!r.file) {
		close(fd);
		return -ENOMEM;
	}
	if (!take_header(&r)) {
		fclose(r.file);
		return 1;
	}
	while (!ret && dump->nr < MAX_CODES)
		ret = take_record(&r);
	fclose(r.file);
	PFS_HASH_FREE(r.known);
	dump->damaged = ret == DAMAGED;
	pfs_nested_sort(dump->codes, dump->nr, compare_codes);
	return ret < 0 ? ret : find_moments(dump);
}

void pfs_jit_dump_fini(struct pfs_jit_dump *dump)
{
	free(dump->codes);
	free(dump->lines);
	free(dump->moments);
	*dump = (struct pfs_jit_dump){ 0 };
}

/* ---- names ---- */

/* Was x loaded after y? */
static bool is_newer(const struct pfs_jit_code *x, const struct pfs_jit_code *y, bool timeless)
{
	return !y || (timeless || x->from_ns == y->from_ns ? x->nr > y->nr : x->from_ns > y->from_ns);
}

static const struct pfs_jit_code *code_at(const struct pfs_jit_dump *dump, uint64_t addr, uint64_t ts_ns,
					  uint64_t end_ns)
{
	bool timeless = dump->other_clock || ts_ns == UINT64_MAX;
	size_t at = pfs_lower_bound(dump->nr, k, dump->codes[k].start <= addr);
	const struct pfs_jit_code *only = NULL, *best = NULL;
	unsigned int nr = 0;

	for (unsigned int tried = 0; at-- && dump->codes[at].reach > addr && tried < PFS_MAX_NESTED; tried++) {
		const struct pfs_jit_code *code = &dump->codes[at];

		if (code->end <= addr)
			continue;
		only = code;
		nr++;
		if ((timeless || code->from_ns <= ts_ns) && is_newer(code, best, timeless))
			best = code;
	}
	if (nr == 1 && only->from_ns <= end_ns)
		best = only;
	return best && (timeless || best->until_ns > ts_ns) ? best : NULL;
}

bool pfs_jit_dump_find(const struct pfs_jit_dump *dump, uint64_t addr, uint64_t ts_ns, uint64_t end_ns,
		       struct pfs_jit_place *place)
{
	const struct pfs_jit_code *code = code_at(dump, addr, ts_ns, end_ns);
	const struct pfs_jit_line *lines;
	size_t at;

	if (!code)
		return false;
	*place = (struct pfs_jit_place){ .func = code->name, .behind = addr - code->start };
	if (!code->nr_lines)
		return true;
	lines = dump->lines + code->first_line;
	at = pfs_lower_bound(code->nr_lines, k, lines[k].addr - dump->lines_behind <= code->lines_at + place->behind);
	if (at && lines[at - 1].line && *lines[at - 1].source) {
		place->source = lines[at - 1].source;
		place->line = lines[at - 1].line;
	}
	return true;
}

size_t pfs_jit_dump_epoch(const struct pfs_jit_dump *dump, uint64_t ts_ns)
{
	return pfs_lower_bound(dump->nr_moments, k, dump->moments[k] <= ts_ns);
}
