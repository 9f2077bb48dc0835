/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading event lines that people, scripts, newer versions and accidents wrote.
 *
 * Round trips of what pfscope itself writes are in event/line.c.
 */
#include "event/line.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/event_random.h"
#include "support/line_echo.h"

/* The values themselves, once by hand: a reader and a writer could be wrong in the same way. */
static void test_values(void **state)
{
	static const char text[] =
		"1.5 map cpu=-7 pid=4 start=10ff end=0x2000 len=18 perms=r-xs dev=fe:10 order=9 "
		"flags=mkwrite,vma_lock traits=stack,locked by=mremap space=fork child=-2 shared=1 sig=11 how=unknown "
		"name=\"a\\x20\\\"\"\n";
	struct echo echo = { 0 };
	struct pfs_line_stats stats;
	struct pfs_event *ev = &echo.last;

	assert_int_equal(read_text(&echo, &stats, text, strlen(text), 0), 0);
	assert_int_equal(echo.nr, 1);
	assert_int_equal(ev->ts_ns, 1500000000);
	assert_int_equal(ev->kind, PFS_MAP);
	assert_int_equal(ev->cpu, -7);
	assert_int_equal(ev->pid, 4);
	assert_int_equal(ev->start, 0x10ff);
	assert_int_equal(ev->end, 0x2000);
	assert_int_equal(ev->len, 18);
	assert_int_equal(ev->perms, PFS_PERM_R | PFS_PERM_X | PFS_PERM_SHARED);
	assert_int_equal(ev->dev, 0xfe << 20 | 0x10);
	assert_int_equal(ev->order, 9);
	assert_int_equal(ev->traits, PFS_TRAIT_STACK | PFS_TRAIT_LOCKED);
	assert_int_equal(ev->flags, PFS_FLAG_MKWRITE | PFS_FLAG_VMA_LOCK);
	assert_int_equal(ev->by, PFS_BY_MREMAP);
	assert_int_equal(ev->space, PFS_SPACE_FORK);
	assert_int_equal(ev->child, -2);
	assert_int_equal(ev->shared, 1);
	assert_int_equal(ev->sig, 11);
	assert_string_equal(echo.name, "a \"");
	assert_int_equal(ev->inferred, 0);
	assert_false(pfs_has(ev, PFS_F_TID));
	assert_false(pfs_has(ev, PFS_F_HOW));
	free(echo.text);
}

/* Written otherwise than pfscope does, but meant the same. */
static void test_tolerance(void **state)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "7 exit\n", "7.000000000 exit\n" },
		{ "7 unmap start=1000\n", "7.000000000 unmap op=ring start=1000\n" },
		{ "7.25   exit   tid=3\t pid=4  \r\n", "7.250000000 exit pid=4 tid=3\n" },
		{ "  7.123456 exit\n\n\r\n# tid=5\n  # x\n", "7.123456000 exit\n" },
		{ "0007.0 fault addr=0X00FfE0 tid=007\n", "7.000000000 fault tid=7 addr=ffe0\n" },
		{ "1.0 exit comm=\"\x01\xff\\x41\t\"\n", "1.000000000 exit comm=\"\\x01\\xffA\\t\"\n" },
		{ "1.0 exit access=unknown\n", "1.000000000 exit\n" },
		{ "1.0 exit ino=00018446744073709551615\n", "1.000000000 exit ino=18446744073709551615\n" },
		{ "1.0 fault addr=0f23456789abcdef0\n", "1.000000000 fault addr=f23456789abcdef0\n" },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		char *again;
		struct pfs_line_stats stats = reread(rows[i].in, &again);

		assert_string_equal(again, rows[i].out);
		assert_int_equal(stats.nr_errors + stats.nr_unknown_fields, 0);
		free(again);
	}
}

/* The names of fields are guessed from the line before: others that begin or end alike are no such guess. */
static void test_guessed_names(void **state)
{
	static const char text[] = "1 fork child=2 child_tid=3 sig=4 interval=5 tid=6\n"
				   "1 fork child=2 child_tid=3 interval=5 sig=4 tid=6\n"
				   "1 fork child=2 child_tie=3 sig=4 intervals=5 tidy=600000\n"
				   "1 fork child=2 child_ti=3 si=4 interva=5 ti=6\n"
				   "1 fork child=2 child_tid~3 sig~4 interval~5 tid~6\n";
	static const char meant[] = "1.000000000 fork tid=6 child=2 child_tid=3 sig=4 interval=5\n"
				    "1.000000000 fork tid=6 child=2 child_tid=3 sig=4 interval=5\n"
				    "1.000000000 fork child=2 sig=4\n"
				    "1.000000000 fork child=2\n"
				    "1.000000000 fork tid~6 child=2 child_tid~3 sig~4 interval~5\n";
	char *again;
	struct pfs_line_stats stats = reread(text, &again);

	assert_string_equal(again, meant);
	assert_int_equal(stats.nr_errors, 0);
	assert_int_equal(stats.nr_unknown_fields, 7);
	free(again);
}

/* A line without end is given up, and the next one is read. */
static void test_too_long(void **state)
{
	static char text[2 * PFS_LINE_MAX];
	static const size_t lengths[] = {
		PFS_LINE_MAX - 1,
		PFS_LINE_MAX,
		PFS_LINE_MAX + 1,
		PFS_LINE_MAX + 70000,
	};

	for (size_t i = 0; i < NR(lengths); i++) {
		for (size_t piece = 0; piece < 10000; piece += 4999) {
			struct pfs_line_stats stats;
			struct echo echo = { 0 };
			size_t len = lengths[i];

			memset(text, ' ', len);
			memcpy(text, "1 exit", 6);
			len += sprintf(text + len, "\n2 exit\n");
			assert_int_equal(read_text(&echo, &stats, text, len, piece), 0);
			assert_int_equal(stats.nr_lines, 2);
			assert_int_equal(stats.nr_errors, lengths[i] > PFS_LINE_MAX);
			assert_int_equal(stats.nr_events, 2 - stats.nr_errors);
			assert_int_equal(echo.last.ts_ns, 2000000000);
			if (stats.nr_errors)
				assert_non_null(strstr(stats.first_error.msg, "line 1: this line is longer"));
			free(echo.text);
		}
	}
}

static char *random_text(uint64_t seed, size_t nr, size_t *len)
{
	static struct random_event random;
	char *text = malloc(nr * 4096), *p = text;

	p += sprintf(p, "# pfscope events 1\n");
	while (nr--) {
		random_event(&seed, &random);
		p += pfs_line_write(&random.ev, p, 4096);
	}
	*len = p - text;
	return text;
}

/* However the text is cut, the same events come out. */
static void test_pieces(void **state)
{
	static const size_t pieces[] = { 1, 2, 3, 7, 64, 1000, 4096 };
	struct pfs_line_stats stats, whole_stats;
	struct echo whole = { 0 };
	size_t len;
	char *text = random_text(5, 40, &len);

	text[len / 2] = '\n'; /* and the same errors */
	assert_int_equal(read_text(&whole, &whole_stats, text, len, 0), 0);
	assert_true(whole.nr > 10);
	for (size_t i = 0; i < NR(pieces); i++) {
		struct echo echo = { 0 };

		assert_int_equal(read_text(&echo, &stats, text, len, pieces[i]), 0);
		assert_int_equal(echo.len, whole.len);
		assert_memory_equal(echo.text, whole.text, whole.len);
		assert_memory_equal(&stats, &whole_stats, sizeof(stats));
		free(echo.text);
	}
	free(whole.text);
	free(text);
}

/* Any damage: no crash, every line accounted for, and what was read is written and read again. */
static void test_garbage(void **state)
{
	static const char some[] = "\0\n\"\\=~ x\r\t09af.-,:#\xff\xc3";
	uint64_t seed = 77;

	for (int round = 0; round < 150; round++) {
		struct pfs_line_stats stats, again_stats;
		struct echo echo = { 0 }, again = { 0 };
		size_t len;
		char *text = random_text(random_u64(&seed) | 1, 6, &len);

		for (uint64_t nr = random_u64(&seed) % 60; nr; nr--)
			text[19 + random_u64(&seed) % (len - 19)] =
				random_u64(&seed) % 4 ? some[random_u64(&seed) % (sizeof(some) - 1)]
						      : (char)random_u64(&seed);
		assert_int_equal(read_text(&echo, &stats, text, len, random_u64(&seed) % 200), 0);
		assert_true(stats.nr_events + stats.nr_errors + stats.nr_unknown_kinds <= stats.nr_lines);
		assert_int_equal(!stats.nr_errors, !stats.first_error.msg[0]);
		if (echo.len) {
			read_text(&again, &again_stats, echo.text, echo.len, 0);
			assert_int_equal(again.len, echo.len);
			assert_memory_equal(again.text, echo.text, echo.len);
		}
		free(echo.text);
		free(again.text);
		free(text);
	}
}

static void test_unknown(void **state)
{
	struct pfs_line_stats stats;
	char *again;

	stats = reread("1 teleport from=1 to=\"x y\"\n2 exit new=1 other~\"a b\\x41\" tid=5\n"
		       "3 exit access=sniff class~odd traits=stack,blue,locked\n",
		       &again);
	assert_string_equal(again, "2.000000000 exit tid=5\n3.000000000 exit traits=stack,locked\n");
	assert_int_equal(stats.nr_unknown_kinds, 1);
	assert_int_equal(stats.nr_unknown_fields, 5);
	assert_int_equal(stats.nr_errors, 0);
	free(again);
}

static void test_version(void **state)
{
	static const char *const good[] = {
		"# pfscope events 1\n1 exit\n", "# pfscope events 2\n1 exit\n", "# pfscope events 1.9 x\n1 exit\n",
		"# pfscope events x\n1 exit\n", "# pfscope events \n1 exit\n",	"#pfscope events 3\n1 exit\n",
	};
	static const char *const newer[] = {
		"# pfscope events 3\n1 exit\n",
		"1 exit\n# pfscope events 3.1\n1 exit\n",
		"# pfscope events 99999999999999999999999\n",
		"# pfscope events 3",
	};
	struct pfs_line_stats stats;

	for (size_t i = 0; i < NR(good); i++) {
		char *again;

		stats = reread(good[i], &again);
		assert_string_equal(again, "1.000000000 exit\n");
		free(again);
	}
	for (size_t i = 0; i < NR(newer); i++) {
		struct echo echo = { 0 };

		assert_int_equal(read_text(&echo, &stats, newer[i], strlen(newer[i]), 3), -EPROTONOSUPPORT);
		assert_true(echo.nr <= (newer[i][0] == '1'));
		assert_non_null(strstr(stats.first_error.msg, "reads up to version 2 only"));
		free(echo.text);
	}
	assert_string_equal(stats.first_error.msg,
			    "line 1: these event lines are of version 3, but this pfscope reads up "
			    "to version 2 only: read them with a newer one");
}

/* Notes of version 1 held prose; lines without a version are of version 1. */
static void test_notes_of_version_1(void **state)
{
	static const char prose[] = "1 note key=\"rusage\" value=\"minor 209 major 0\"\n";
	static const char pairs[] = "1.000000000 note key=\"rusage\" value=\"minor=209 major=0\"\n";
	char text[256], *again;

	reread(prose, &again);
	assert_string_equal(again, pairs);
	free(again);
	snprintf(text, sizeof(text), "# pfscope events 1\n%s%s", prose, pairs);
	reread(text, &again);
	snprintf(text, sizeof(text), "%s%s", pairs, pairs);
	assert_string_equal(again, text);
	free(again);
}

/* Which fields an unmap of version 1 had showed what it removed. */
static void test_unmap_of_version_1(void **state)
{
	static const struct {
		const char *old, *now;
	} rows[] = {
		{ "start=1000 end=2000", "start=1000 end=2000" },
		{ "start=1000 end=ffffffffffffffff", "start=1000 end=ffffffffffffffff" },
		{ "tid=5 space=exec start=0 end=ffffffffffffffff", "tid=5 space=exec op=clear" },
		{ "start=1000 end=2000 len=4096 id=a", "op=replace start=1000 end=2000 len=4096 id=a" },
		{ "start=1000 end=2000 by=mremap", "op=moved start=1000 end=2000" },
		{ "start=1000 end=2000 from=3000", "op=if_mapped start=1000 end=2000 from=3000" },
		{ "start=1000 by=shmat", "op=detach_begin start=1000" },
		{ "start=1000 by~shmat last=0", "op=detach_begin start=1000" },
		{ "start=1000 by=shmat last=1", "op=detach start=1000" },
		{ "start=1000", "op=ring start=1000" },
		{ "op=detach start=1000", "op=detach start=1000" },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		static const char *const heads[] = { "", "# pfscope events 1\n" };
		char text[256], expected[128], *again;

		snprintf(expected, sizeof(expected), "1.000000000 unmap %s\n", rows[i].now);
		for (int head = 0; head < 2; head++) {
			snprintf(text, sizeof(text), "%s1 unmap %s\n", heads[head], rows[i].old);
			reread(text, &again);
			assert_string_equal(again, expected);
			free(again);
		}
		snprintf(text, sizeof(text), "# pfscope events 2\n%s", expected);
		reread(text, &again);
		assert_string_equal(again, expected);
		free(again);
	}
}

/* In version 2 the op decides alone; what an unknown one means, nobody knows. */
static void test_ops(void **state)
{
	char *again;
	struct pfs_line_stats stats = reread("# pfscope events 2\n"
					     "1 unmap start=0 end=ffffffffffffffff by=mremap len=1\n"
					     "2 unmap op=clear\n"
					     "3 unmap op=sold start=1000 end=2000\n"
					     "4 lost op=sold\n"
					     "5 unmap start=1000\n",
					     &again);

	assert_string_equal(again, "1.000000000 unmap start=0 end=ffffffffffffffff len=1 by=mremap\n"
				   "2.000000000 unmap op=clear\n"
				   "4.000000000 lost\n");
	assert_int_equal(stats.nr_unknown_kinds, 1);
	assert_int_equal(stats.nr_unknown_fields, 1);
	assert_int_equal(stats.nr_errors, 1);
	assert_string_equal(stats.first_error.msg, "line 6: this unmap has no field end");
	free(again);
}

static void test_errors(void **state)
{
	static const struct {
		const char *line, *why;
	} rows[] = {
		{ "hello", "line 1, column 1: a decimal number is missing here: hello" },
		{ "1", "line 1, column 2: a space and a kind are missing behind the time: end of line" },
		{ "1.x exit", "line 1, column 1: digits are missing after the point of the time: 1.x exit" },
		{ "1.1234567890 exit", "line 1, column 12: a space and a kind are missing behind the time: 0 exit" },
		{ "18446744073.709551616 exit", "line 1, column 1: this time is too large: "
						"18446744073.709551616 exit" },
		{ "18446744074 exit", "line 1, column 1: this number is too large: 18446744074 exit" },
		{ "1 Exit", "line 1, column 3: the kind of the event is missing here: Exit" },
		{ "1 exit:", "line 1, column 7: a space is missing behind the kind: :" },
		{ "1 exit tid", "line 1, column 8: this field has no = or ~ behind its name: tid" },
		{ "1 exit =1", "line 1, column 8: a field like name=value is missing here: =1" },
		{ "1 exit tid=", "line 1, column 12: a decimal number is missing here: end of line" },
		{ "1 exit tid=a", "line 1, column 12: a decimal number is missing here: a" },
		{ "1 exit tid=1x", "line 1, column 8: this value goes on where a space should be: tid=1x" },
		{ "1 exit tid=2147483648", "line 1, column 12: this number is too large: 2147483648" },
		{ "1 exit tid=-2147483649", "line 1, column 13: this number is too large: 2147483649" },
		{ "1 exit tid=1 tid=1", "line 1, column 14: this field comes twice: tid=1" },
		{ "1 fault addr=10000000000000000", "line 1, column 14: this number is too large: 10000000000000000" },
		{ "1 fault addr=g", "line 1, column 14: a hexadecimal number is missing here: g" },
		{ "1 fault addr=0x", "line 1, column 9: this value goes on where a space should be: "
				     "addr=0x" },
		{ "1 exit ino=18446744073709551616",
		  "line 1, column 12: this number is too large: 18446744073709551616" },
		{ "1 exit ino=00018446744073709551616",
		  "line 1, column 12: this number is too large: 00018446744073709551616" },
		{ "1 exit ino=99999999999999999999",
		  "line 1, column 12: this number is too large: 99999999999999999999" },
		{ "1 exit order=256", "line 1, column 14: this number is too large: 256" },
		{ "1 exit last=2", "line 1, column 13: this number is too large: 2" },
		{ "1 exit perms=rwx", "line 1, column 14: permissions like rw-p are missing here: rwx" },
		{ "1 exit dev=fe", "line 1, column 14: a device like fe:00 is missing here: end of line" },
		{ "1 exit dev=1000:0", "line 1, column 12: this number is too large: 1000:0" },
		{ "1 exit access=6", "line 1, column 15: the name of a value is missing here: 6" },
		{ "1 exit traits=stack,", "line 1, column 21: a name is missing here: "
					  "end of line" },
		{ "1 exit comm=cat", "line 1, column 13: a string in double quotes is missing here: cat" },
		{ "1 exit comm=\"cat", "line 1, column 13: this string has no closing quote: \"cat" },
		{ "1 exit comm=\"cat\\\"", "line 1, column 13: this string has no closing quote: "
					   "\"cat\\\"" },
		{ "1 exit comm=\"\\q\"", "line 1, column 14: this is no escape, or a NUL: \\q\"" },
		{ "1 exit comm=\"\\x0g\"", "line 1, column 14: this is no escape, or a NUL: \\x0g\"" },
		{ "1 exit comm=\"\\x00\"", "line 1, column 14: this is no escape, or a NUL: \\x00\"" },
		{ "1 exit comm=\"a\"b", "line 1, column 8: this value goes on where a space should be: "
					"comm=\"a\"b" },
		{ "1 exit new=\"a", "line 1, column 12: this string has no closing quote: \"a" },
		{ "1 exit \033[31m", "line 1, column 8: a field like name=value is missing here: "
				     "\\e[31m" },
		{ "1 fault tid=1", "line 1: this fault has no field addr" },
		{ "1 map start=1000", "line 1: this map has no field end" },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		char text[256], *again;
		struct pfs_line_stats stats;

		snprintf(text, sizeof(text), "%s\n2 exit\nrubbish\n", rows[i].line);
		stats = reread(text, &again);
		assert_string_equal(stats.first_error.msg, rows[i].why);
		assert_string_equal(again, "2.000000000 exit\n");
		assert_int_equal(stats.nr_errors, 2);
		assert_int_equal(stats.first_error_line, 1);
		assert_int_equal(stats.nr_lines, 3);
		free(again);
	}
}

/* What stands at the end without a newline is no event: addr=7f00 may have been longer. */
static void test_cut_line(void **state)
{
	static const char *const rows[] = {
		"1 exit\n2 fault addr=7f00",
		"1 exit\n2",
		"1 exit\n \t",
		"1 exit\n# tid=",
	};

	for (size_t i = 0; i < NR(rows); i++) {
		for (size_t piece = 0; piece < 3; piece++) {
			struct pfs_line_stats stats;
			struct echo echo = { 0 };

			read_text(&echo, &stats, rows[i], strlen(rows[i]), piece);
			assert_string_equal(echo.text, "1.000000000 exit\n");
			assert_int_equal(stats.nr_lines, 2);
			assert_int_equal(stats.nr_errors, i < 2);
			if (i < 2)
				assert_string_equal(stats.first_error.msg,
						    "line 2: the input ends within this line: it may "
						    "be cut off");
			free(echo.text);
		}
	}
}

/* An escape that the end of the line cuts off. */
static void test_cut_escape(void **state)
{
	static const char *const rows[] = {
		"1 exit comm=\"\\\n",
		"1 exit comm=\"\\x\n",
		"1 exit comm=\"\\x4\n",
		"1 exit comm=\"\n",
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct pfs_line_stats stats;
		struct echo echo = { 0 };

		assert_int_equal(read_text(&echo, &stats, rows[i], strlen(rows[i]), 0), 0);
		assert_int_equal(stats.nr_errors, 1);
	}
}

static void test_sink_stops(void **state)
{
	struct echo echo = { .ret = -EPIPE };
	struct pfs_line_stats stats;

	assert_int_equal(read_text(&echo, &stats, "1 exit\n2 exit\n", 14, 0), -EPIPE);
	assert_int_equal(echo.nr, 1);
	free(echo.text);
}

static void test_probe(void **state)
{
	static const struct {
		const char *text;
		bool is;
	} rows[] = {
		{ "# pfscope events 1\n", true },
		{ "# pfscope events 7\n", true }, /* so that its reader can refuse it */
		{ "1.5 fault addr=0\n", true },
		{ "\n# note\n  1 exit", true },
		{ "", false },
		{ "# tracer: nop\n#\n             cat-123     [000] .....  1.5: page_fault\n", false },
		{ "# pfscope events\n", false },
		{ "1.5 faulty\n", false },
		{ "1.5: fault\n", false },
		{ "\027\010\104tracing6", false },
		{ "1.5", false },
	};

	for (size_t i = 0; i < NR(rows); i++)
		assert_int_equal(pfs_line_probe(rows[i].text, strlen(rows[i].text)), rows[i].is);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_tolerance),
		cmocka_unit_test(test_guessed_names),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_notes_of_version_1),
		cmocka_unit_test(test_unmap_of_version_1),
		cmocka_unit_test(test_ops),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_cut_line),
		cmocka_unit_test(test_cut_escape),
		cmocka_unit_test(test_sink_stops),
		cmocka_unit_test(test_probe),
	};

	return cmocka_run_group_tests_name("reading event lines", tests, NULL, NULL);
}
