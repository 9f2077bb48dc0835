/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text of any event's records, whatever their formats do to libtraceevent. */
#include "print/print.h"

#include "support/user_namespace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COMMON                                                                         \
	"format:\n"                                                                    \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                   \
	"\tfield:unsigned long level;\toffset:8;\tsize:8;\tsigned:0;\n\n"

static const char plain[] = "name: water\nID: 300\n" COMMON "print fmt: \"level=%lu\", REC->level\n";
static const char flags[] = "name: fire\nID: 301\n" COMMON
			    "print fmt: \"%s\", __print_flags(REC->level, \"|\", { 1, \"warm\" }, { 2, \"hot\" })\n";
/* a field that does not exist: libtraceevent 1.7 follows a null pointer */
static const char deadly[] =
	"name: void\nID: 302\n" COMMON "print fmt: \"%s\", __print_flags(REC->missing & 3, \"|\", { 1, \"S\" })\n";

struct record {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	uint64_t level;
};

static struct pfs_printer *printer(void)
{
	struct pfs_printer *p = pfs_printer_new(false, 8);

	assert_int_equal(pfs_printer_add(p, "element", plain, strlen(plain)), 0);
	assert_int_equal(pfs_printer_add(p, "element", flags, strlen(flags)), 0);
	assert_int_equal(pfs_printer_add(p, "element", deadly, strlen(deadly)), 0);
	assert_int_equal(pfs_printer_add(p, "element", "no format", 9), 0);
	return p;
}

static void prints(struct pfs_printer *p, unsigned int id, uint64_t level, const char *wanted)
{
	const struct record record = { .type = id, .pid = 1, .level = level };
	const char *name, *text;
	char both[256];

	assert_int_equal(pfs_printer_print(p, id, &record, sizeof(record), 0, 1000, &name, &text), 0);
	snprintf(both, sizeof(both), "%s %s", name ? name : "-", text);
	assert_string_equal(both, wanted);
}

static void test_records_are_printed(void **state)
{
	struct pfs_printer *p = printer();

	prints(p, 300, 7, "element:water level=7");
	prints(p, 301, 3, "element:fire warm|hot");
	prints(p, 300, UINT64_MAX, "element:water level=18446744073709551615");
	prints(p, 999, 1, "- (no format in the recording)");
	prints(p, 70000, 1, "- (no format in the recording)");
	pfs_printer_free(p);
}

static void test_a_crash_of_libtraceevent_costs_one_event(void **state)
{
	const char *crash = "element:void (cannot be printed: libtraceevent crashed on the format of this event)";
	struct pfs_printer *p = printer();

	prints(p, 301, 1, "element:fire warm");
	prints(p, 302, 1, crash);
	prints(p, 300, 8, "element:water level=8");
	prints(p, 302, 1, crash);
	prints(p, 301, 2, "element:fire hot");
	pfs_printer_free(p);
}

static void test_records_that_are_too_short(void **state)
{
	struct pfs_printer *p = printer();
	const char *name, *text;

	for (uint32_t len = 0; len < sizeof(struct record); len++) {
		const struct record record = { .type = 300 };

		assert_int_equal(pfs_printer_print(p, 300, &record, len, 0, 1, &name, &text), 0);
		assert_string_equal(name, "element:water");
	}
	pfs_printer_free(p);
}

/* Containers without root have such a root. This process stays there: it is the last test. */
static void test_root_of_a_user_namespace(void **state)
{
	if (!enter_user_namespace())
		skip();
	test_records_are_printed(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_are_printed),
		cmocka_unit_test(test_a_crash_of_libtraceevent_costs_one_event),
		cmocka_unit_test(test_records_that_are_too_short),
		cmocka_unit_test(test_root_of_a_user_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
