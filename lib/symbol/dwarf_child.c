/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See dwarf_child.h. The answer has, one address after the other, the number of its places (32 bits) and "FUNCTION\0SOURCE\0LINE\0"
 * of each. It ends before the first address that has no room; that is asked for again.
 */
#include "symbol/dwarf_child.h"

#include "base/number.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ADDRS = 64, MAX_PLACES = 64, MAX_STRING = 4096 };

struct question {
	uint64_t inlines;
	uint64_t addrs[MAX_ADDRS];
};

/* ---- the child ---- */

static size_t put_string(char *answer, size_t at, const char *string)
{
	size_t len = string ? strnlen(string, MAX_STRING) : 0;

	memcpy(answer + at, string ? string : "", len);
	answer[at + len] = '\0';
	return at + len + 1;
}

/* False: not all of them have room. */
static bool put_places(char *answer, size_t *at, const struct pfs_dwarf_place *places, uint32_t nr)
{
	size_t start = *at;
	uint32_t put;

	*at += sizeof(put);
	for (put = 0; put < nr && *at + 3 * MAX_STRING < PFS_GUARD_MAX; put++) {
		*at = put_string(answer, *at, places[put].func);
		*at = put_string(answer, *at, places[put].source);
		*at += snprintf(answer + *at, PFS_GUARD_MAX - *at, "%u", places[put].line) + 1;
	}
	memcpy(answer + start, &put, sizeof(put));
	return put == nr;
}

static size_t answer_question(void *ctx, const char *text, size_t len, char *answer)
{
	static struct pfs_dwarf *dwarf;
	static bool opened;
	struct pfs_dwarf_place places[MAX_PLACES];
	struct question question;
	size_t at = 0, end = 0;
	unsigned int nr;

	if (!opened)
		dwarf = pfs_dwarf_open(*(const int *)ctx, NULL);
	opened = true;
	if (!dwarf || len > sizeof(question))
		return 0;
	memcpy(&question, text, len);
	for (size_t i = 0; offsetof(struct question, addrs[i + 1]) <= len; i++, end = at) {
		nr = pfs_dwarf_find(dwarf, question.addrs[i], places, question.inlines ? MAX_PLACES : 1);
		if (!put_places(answer, &at, places, nr))
			return i ? end : at; /* of the only address some places are better than none */
	}
	return end;
}

/* ---- its parent ---- */

/* The next string of an answer, which ends it in any case. */
static const char *take(const char **at, const char *end)
{
	const char *string = *at;

	*at += strnlen(string, end - string);
	*at += *at < end;
	return string;
}

static void take_place(struct pfs_dwarf_place *place, const char **at, const char *end)
{
	const char *func = take(at, end), *source = take(at, end), *number = take(at, end);
	uint64_t line = 0;

	pfs_dec(number, &line);
	*place = (struct pfs_dwarf_place){
		.func = *func ? func : NULL,
		.source = *source && line ? source : NULL,
		.line = line,
	};
}

/* A question: some of the addresses. */
struct part {
	unsigned int first, nr;
};

static void ask(struct pfs_guard *child, const uint64_t *addrs, struct part part, bool inlines)
{
	struct question question = { .inlines = inlines };

	memcpy(question.addrs, addrs + part.first, part.nr * sizeof(*addrs));
	pfs_guard_send(child, &question, offsetof(struct question, addrs[part.nr]));
}

/* Takes the addresses that are answered from the question. At the end of the answer is a byte of 0. 0, or the error of fn. */
static int take_answer(const char *answer, size_t len, struct part *part, pfs_dwarf_child_fn *fn, void *ctx)
{
	struct pfs_dwarf_place places[MAX_PLACES];
	const char *at = answer, *end = answer + len;
	uint32_t of_it, nr;
	int err = 0;

	for (; !err && part->nr && (size_t)(end - at) >= sizeof(of_it); part->first++, part->nr--) {
		memcpy(&of_it, at, sizeof(of_it));
		at += sizeof(of_it);
		for (nr = 0; nr < of_it && nr < MAX_PLACES && at < end; nr++)
			take_place(&places[nr], &at, end);
		if (nr)
			err = fn(ctx, part->first, places, nr);
	}
	return err;
}

/* What is to be asked next: first what an answer has left. False: nothing. */
static bool next_part(struct part *left, struct part *rest, struct part *part)
{
	struct part *from = left->nr ? left : rest;

	*part = (struct part){ from->first, from->nr < MAX_ADDRS ? from->nr : MAX_ADDRS };
	from->first += part->nr;
	from->nr -= part->nr;
	return part->nr;
}

int pfs_dwarf_child_find(struct pfs_guard *child, int fd, const uint64_t *addrs, unsigned int nr, bool inlines,
			 char *room, pfs_dwarf_child_fn *fn, void *ctx)
{
	struct part asked[2] = { 0 }, left = { 0 }, rest = { 0, nr };
	unsigned int nr_asked = 0;
	int err = 0;

	if (!child->started)
		pfs_guard_start(child, answer_question, &fd, fd);
	do {
		/* The child answers one question while the answer to another is taken. */
		while (!err && nr_asked < 2 && next_part(&left, &rest, &asked[nr_asked]))
			ask(child, addrs, asked[nr_asked++], inlines);
		if (nr_asked) {
			size_t len = pfs_guard_receive(child, room);

			room[len] = '\0';
			if (!err && len)
				err = take_answer(room, len, &asked[0], fn, ctx);
			if (len >= sizeof(uint32_t))
				left = asked[0];
			asked[0] = asked[1];
			nr_asked--;
		}
	} while (nr_asked || (!err && (left.nr || rest.nr)));
	return err;
}
