/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counterparts by keys: the strictest first, in order where keys repeat, one at most in each sequence.
 */
#include "base/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Items "strict/loose" separated by spaces; "-": no key. */
struct sequence {
	char text[256];
	struct pfs_match_item items[16];
	size_t nr;
};

static void add(struct pfs_match *match, struct sequence *s, const char *text)
{
	char *next = NULL;

	strcpy(s->text, text);
	for (char *word = strtok_r(s->text, " ", &next); word; word = strtok_r(NULL, " ", &next)) {
		char *slash = strchr(word, '/');
		struct pfs_match_item *item = &s->items[s->nr++];

		if (slash)
			*slash = '\0';
		*item = (struct pfs_match_item){ .key = { strcmp(word, "-") ? word : NULL, slash ? slash + 1 : NULL } };
	}
	assert_int_equal(pfs_match_add(match, s->items, s->nr), 0);
}

/* "0 2 1": the lines of the items; behind each by which level it was matched. */
static void check(const struct sequence *s, const char *wanted)
{
	char got[256] = "";

	for (size_t i = 0; i < s->nr; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%zu%c", i ? " " : "", s->items[i].line,
			 s->items[i].level < 0 ? '+' : 'a' + s->items[i].level);
	assert_string_equal(got, wanted);
}

static void check_order(const struct pfs_match *match, const char *wanted)
{
	char got[256] = "";

	for (size_t line = match->first; line != PFS_MATCH_NONE; line = match->lines[line].next)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%zu", got[0] ? " " : "", line);
	assert_string_equal(got, wanted);
}

static void test_two(void **state)
{
	static const struct {
		const char *a, *b, *lines, *order;
	} cases[] = {
		{ "a b c", "a b c", "0a 1a 2a", "0 1 2" },
		{ "a b c", "c a", "2a 0a", "0 1 2" },
		{ "a b", "a x b", "0a 2+ 1a", "0 2 1" },
		{ "a b", "x a b y", "2+ 0a 1a 3+", "2 0 1 3" },
		/* equal keys: in order, and what is too much is new */
		{ "a a", "a a a", "0a 1a 2+", "0 1 2" },
		{ "a a a", "a", "0a", "0 1 2" },
		/* the strict key decides first, wherever the loose one is */
		{ "old/l", "new/l", "0b", "0" },
		{ "p/l q/l", "x/l q/l", "0b 1a", "0 1" },
		{ "p/l", "x/l p/l", "1+ 0a", "1 0" },
		{ "p/l -/l", "-/l p/l", "1b 0a", "0 1" },
		{ "-/ -/", "-", "2+", "2 0 1" },
		{ "", "a", "0+", "0" },
		{ "a", "", "", "0" },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sequence a = { .nr = 0 }, b = { .nr = 0 };
		struct pfs_match match = { 0 };

		add(&match, &a, cases[i].a);
		add(&match, &b, cases[i].b);
		check(&b, cases[i].lines);
		check_order(&match, cases[i].order);
		pfs_match_fini(&match);
	}
}

static void test_several(void **state)
{
	struct sequence a = { .nr = 0 }, b = { .nr = 0 }, c = { .nr = 0 };
	struct pfs_match match = { 0 };

	add(&match, &a, "a b/l c");
	check(&a, "0+ 1+ 2+");
	add(&match, &b, "a x c");
	check(&b, "0a 3+ 2a");
	add(&match, &c, "x m/l c y");
	check(&c, "3a 1b 2a 4+");
	check_order(&match, "0 3 1 2 4");
	pfs_match_fini(&match);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two),
		cmocka_unit_test(test_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
