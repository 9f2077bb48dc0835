// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Task names and paths in an event's text are not quoted and may look like the fields around them:
 *
 *     sched_process_exec: filename=/tmp/a b=c pid=9 pid=4831 old_pid=4831
 *     sched_process_fork: comm=a child_comm=b pid=6842 child_comm=a child_comm=b child_pid=6843
 *     task_rename: pid=4821 oldcomm=kid newcomm=[001] d..1. 1.2 oom_score_adj=0
 *
 * So the numbers before the first name are taken from the left, those after the last name from the
 * right, and the names are what is between. A number may be "0x12 (18)" (options/fields).
 */
#include "text/args.h"

#include "text/scan.h"

#include <stdbool.h>
#include <string.h>

#define NUMBER_MAX 96 /* bytes of " group_dead=0x..." with all its digits, and more */

enum { OF_STR = -1, OF_NONE = -2 }; /* to raw_event.str; to nowhere. Else: the argument */

/* The fields of each event, in the order of its text. */
static const struct name_field {
	const char *name, *also; /* in the kernel's text; in the bare fields */
	enum { DEC, HEX, INT32, BOOL, NAME } type;
	int to;
} name_fields[RAW_NR_KINDS][8] = {
	[RAW_EXEC] = {
		{ "filename", NULL, NAME, OF_STR },
		{ "pid", NULL, DEC, 0 },
		{ "old_pid", NULL, DEC, 1 },
	},
	[RAW_FORK] = {
		{ "comm", "parent_comm", NAME, OF_NONE },
		{ "pid", "parent_pid", DEC, 0 },
		{ "child_comm", NULL, NAME, OF_STR },
		{ "child_pid", NULL, DEC, 1 },
	},
	[RAW_NEWTASK] = {
		{ "pid", NULL, DEC, 0 },
		{ "comm", NULL, NAME, OF_STR },
		{ "clone_flags", NULL, HEX, 1 },
		{ "oom_score_adj", NULL, DEC, OF_NONE },
	},
	[RAW_EXIT] = {
		{ "comm", NULL, NAME, OF_STR },
		{ "pid", NULL, DEC, 0 },
		{ "prio", NULL, DEC, OF_NONE },
		{ "group_dead", NULL, BOOL, 1 },
	},
	[RAW_RENAME] = {
		{ "pid", NULL, DEC, 0 },
		{ "oldcomm", NULL, NAME, OF_NONE },
		{ "newcomm", NULL, NAME, OF_STR },
		{ "oom_score_adj", NULL, DEC, OF_NONE },
	},
	[RAW_SIGNAL] = {
		{ "sig", NULL, DEC, 0 },
		{ "errno", NULL, DEC, OF_NONE },
		{ "code", NULL, INT32, 1 },
		{ "comm", NULL, NAME, OF_NONE },
		{ "pid", NULL, DEC, 2 },
		{ "grp", "group", DEC, OF_NONE },
		{ "res", "result", DEC, OF_NONE },
	},
};

char *text_take(char *str, const char *s, const char *end)
{
	memcpy(str, s, end - s);
	str[end - s] = 0;
	return str;
}

/*
 * Copies a name. trace-cmd report -R shows one that it cannot print as "ARRAY[ff, fe, 01, ...]", all 16 bytes of it,
 * which is longer than any name.
 */
static char *take_name(char *str, const char *s, const char *end)
{
	size_t len = 0;
	uint64_t byte = 0;

	if (end - s <= 16 || memcmp(s, "ARRAY[", 6) || end[-1] != ']')
		return text_take(str, s, end);
	for (const char *p = s + 6; p < end; p += 4) {
		if (pfs_hex(p, &byte) != p + 2)
			return text_take(str, s, end);
		str[len++] = byte;
		if (p[2] == ']')
			break;
	}
	str[len] = 0;
	return str;
}

/* Is "name=" at s? Returns its value or NULL. */
static const char *key_is(const char *s, const char *end, const char *name)
{
	size_t len = name ? strlen(name) : 0;

	return len && (size_t)(end - s) > len && s[len] == '=' && !memcmp(s, name, len) ? s + len + 1 : NULL;
}

static const char *key_at(const char *s, const char *end, const struct name_field *f)
{
	const char *value = key_is(s, end, f->name);

	return value ? value : key_is(s, end, f->also);
}

/* "true", "false", "(0)" of the bare fields, 1. Returns what follows it, or s if it is none. */
static const char *scan_bool(const char *s, uint64_t *val)
{
	const char *p;

	*val = 1;
	if (!strncmp(s, "true", 4))
		return s + 4;
	*val = 0;
	if (!strncmp(s, "false", 5))
		return s + 5;
	if (*s != '(')
		return pfs_any_number(s, 10, val);
	p = pfs_dec(s + 1, val);
	return p > s + 1 && *p == ')' ? p + 1 : s;
}

/* The number at s and its " (18)". Returns what follows it, or NULL if it is none. */
static const char *scan_value(const char *s, const struct name_field *f, uint64_t *val)
{
	const char *p, *q;
	uint64_t again;

	p = f->type == BOOL ? scan_bool(s, val) : pfs_any_number(s, f->type == HEX ? 16 : 10, val);
	if (p == s)
		return NULL;
	if (f->type == INT32)
		*val = (uint64_t)(int64_t)(int32_t)*val;
	if (p[0] != ' ' || p[1] != '(')
		return p;
	s = p + 2;
	q = pfs_any_number(s, 10, &again);
	return q > s && *q == ')' ? q + 1 : p;
}

static void store(struct raw_event *ev, const struct name_field *f, uint64_t val)
{
	if (f->to >= 0)
		ev->arg[f->to] = val;
}

/* Takes the numbers before the first name. Returns where that name's key is, *f at its field. */
static const char *take_head(const char *s, const char *end, const struct name_field **f, struct raw_event *ev)
{
	const char *p;
	uint64_t val;

	for (; (*f)->type != NAME; (*f)++) {
		p = key_at(s, end, *f);
		p = p ? scan_value(p, *f, &val) : NULL;
		if (!p)
			continue;
		store(ev, *f, val);
		s = text_skip_spaces(p);
	}
	return s;
}

/* The last "name=" before `end` that has a space before it. NULL: none. */
static const char *last_key(const char *s, const char *end, const struct name_field *f)
{
	for (const char *p = end - 1; p > s; p--)
		if (p[-1] == ' ' && key_at(p, end, f))
			return p;
	return NULL;
}

/* The last field `f` whose number reaches to `end` exactly. NULL: none. */
static const char *last_number(const char *s, const char *end, const struct name_field *f, uint64_t *val)
{
	const char *at = end;

	if (end - s > NUMBER_MAX)
		s = end - NUMBER_MAX;
	while ((at = last_key(s, at, f)))
		if (scan_value(key_at(at, end, f), f, val) == end)
			return at;
	return NULL;
}

/* The start of the last word of [s, end), if it is "key=..." of a key that we do not know. */
static const char *unknown_field(const char *s, const char *end, const struct name_field *f)
{
	const char *p = end, *q;

	while (p > s && p[-1] != ' ')
		p--;
	if (p == s)
		return NULL;
	for (; f->name; f++)
		if (key_at(p, end, f))
			return NULL;
	for (q = p; q < end && pfs_is_word(*q); q++)
		;
	return q > p && q < end && *q == '=' ? p : NULL;
}

static bool is_text(const char *s, const char *end, const char *text)
{
	return text && strlen(text) == (size_t)(end - s) && !memcmp(s, text, end - s);
}

/*
 * The key of name `f`, which ends at `end`: the last one whose neighbour to the left is the number
 * that it should be. After another name ("oldcomm=a newcomm=b newcomm=c") it could be each: the one
 * that makes it the task's name as the line's own column has it, else the first. NULL: none.
 */
static const char *name_key(const char *s, const char *end, const struct name_field *f, const char *comm)
{
	const char *at = end, *first = NULL, *value;
	uint64_t val;

	while ((at = last_key(s, at, f))) {
		first = at;
		value = key_at(at, end, f);
		if (f[-1].type == NAME ? is_text(value, end, comm) : last_number(s, at - 1, f - 1, &val) != NULL)
			return at;
	}
	return f[-1].type == NAME ? first : NULL;
}

void text_names(const struct raw_desc *desc, const char *s, const char *end, char *str, struct raw_event *ev)
{
	const struct name_field *first = name_fields[desc->kind], *f;
	const char *at;
	uint64_t val;

	s = take_head(s, end, &first, ev);
	/* what some newer kernel puts after the fields that we know is no part of a name */
	for (at = end; at; at = unknown_field(s, end, first))
		for (end = at; end > s && end[-1] == ' '; end--)
			;
	for (f = first; f->name; f++)
		;
	for (f--; f > first; f--) {
		at = f->type == NAME ? name_key(s, end, f, ev->comm) : last_number(s, end, f, &val);
		if (!at)
			continue;
		if (f->to == OF_STR)
			ev->str = take_name(str, key_at(at, end, f), end);
		else if (f->type != NAME)
			store(ev, f, val);
		end = at - 1;
	}
	at = key_at(s, end, first);
	if (at && first->to == OF_STR)
		ev->str = take_name(str, at, end);
}
