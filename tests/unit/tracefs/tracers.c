/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is read of the kernel's tracers: function records and probes in text, symbols, tables of
 * counted faults, type information, and what the functions of a fault say of it.
 */
#include "tracefs/btf.h"
#include "event/event.h"
#include "record/handlers.h"
#include "support/text_sink.h"
#include "tracefs/dynevents.h"
#include "tracefs/hist.h"

#include <errno.h>
#include <linux/btf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define HEAD   "            task-7       [001] d..1.    12.345678: "
#define BIT(h) (1u << PFS_H_##h)

/* ---- text ---- */

static struct raw_event read_one(const char *text)
{
	struct text_sink sink = { 0 };
	struct pfs_text_stats stats;
	struct raw_event ev;
	char line[512];

	snprintf(line, sizeof(line), HEAD "%s\n", text);
	assert_int_equal(text_sink_read(&sink, line, strlen(line), &stats), 0);
	assert_int_equal(sink.nr, 1);
	ev = sink.got[0].ev;
	text_sink_fini(&sink);
	return ev;
}

static void test_function_lines(void **state)
{
	static const struct {
		const char *line;
		uint64_t handler;
		const char *caller;
	} lines[] = {
		{ "do_wp_page <-__handle_mm_fault", PFS_H_WRITE_PROTECTED, "__handle_mm_fault" },
		{ "do_fault.isra.0 <-handle_pte_fault", PFS_H_FILE, "handle_pte_fault" },
		{ "do_fault.part.0 <-handle_pte_fault", RAW_ABSENT, "handle_pte_fault" },
		{ "do_wp_page+0x4/0x1a0 <-__handle_mm_fault+0x9f/0x100", PFS_H_WRITE_PROTECTED, "__handle_mm_fault" },
		{ "schedule <-x", RAW_ABSENT, "x" },
		/* libtraceevent, with and without the caller */
		{ "function:             do_fault <-- __handle_mm_fault", PFS_H_FILE, "__handle_mm_fault" },
		{ "function:             do_fault", PFS_H_FILE, NULL },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct raw_event ev = read_one(lines[i].line);

		assert_int_equal(ev.kind, RAW_FUNCTION);
		assert_int_equal(ev.ts_ns, 12345678000);
		assert_int_equal(ev.arg[0], lines[i].handler);
		if (lines[i].caller)
			assert_int_equal(ev.arg[1], pfs_function_key(lines[i].caller, strlen(lines[i].caller)));
		else
			assert_int_equal(ev.arg[1], RAW_ABSENT);
	}
}

static void test_probe_lines(void **state)
{
	/*
	 * the kernel's own text hides the region's address elsewhere: here it would be another name
	 */
	struct raw_event ev = read_one("pfs_handler: (handle_mm_fault+0x4/0x2d0) address=0x7f57 "
				       "flags=0x1255 vma=0xff2d53c27ad6ba50 start=0x7000 "
				       "end=0x9000");

	assert_int_equal(ev.kind, RAW_HANDLER);
	assert_int_equal(ev.arg[0], 0x7f57);
	assert_int_equal(ev.arg[1], 0x1255);
	assert_int_equal(ev.arg[2], RAW_ABSENT);
	assert_int_equal(ev.arg[3], 0x7000);
	assert_int_equal(ev.arg[4], 0x9000);
	ev = read_one("pfs_handler:          (ffffffff97d8a6b4) address=0x7f57 flags=0x1255 "
		      "vma=0xff2d53c27ad6ba50 start=0x7000 end=0x9000");
	assert_int_equal(ev.arg[2], 0xff2d53c27ad6ba50);
	ev = read_one("pfs_handler: (handle_mm_fault+0x4/0x2d0) address=0x7f57 flags=0x4");
	assert_int_equal(ev.arg[1], 4);
	assert_int_equal(ev.arg[3], RAW_ABSENT);
	ev = read_one("pfs_handler_end: (do_user_addr_fault+0x20c/0x6a0 <- handle_mm_fault) "
		      "ret=0x200");
	assert_int_equal(ev.kind, RAW_HANDLER_END);
	assert_int_equal(ev.arg[0], 0x200);
}

/* ---- symbols ---- */

static void test_symbols(void **state)
{
	static const char text[] = "0000000000000000 A hidden\n"
				   "ffffffff81002000 T second\n"
				   "not a line\n"
				   "ffffffff81001000 t first\n"
				   "ffffffff81003000 D data\n"
				   "ffffffffc0001000 t third\t[mod]\n";
	struct pfs_symbols *s = pfs_symbols_parse(text, sizeof(text) - 1);
	uint64_t start = 0;

	assert_non_null(s);
	assert_null(pfs_symbols_find(s, 0xffffffff81000fff, NULL));
	assert_string_equal(pfs_symbols_find(s, 0xffffffff81001000, &start), "first");
	assert_string_equal(pfs_symbols_find(s, 0xffffffff81001fff, NULL), "first");
	assert_string_equal(pfs_symbols_find(s, 0xffffffff81002004, &start), "second");
	assert_int_equal(start, 0xffffffff81002000);
	assert_string_equal(pfs_symbols_find(s, UINT64_MAX, NULL), "third");
	pfs_symbols_free(s);
	s = pfs_symbols_parse("", 0);
	assert_non_null(s);
	assert_null(pfs_symbols_find(s, 1, NULL));
	pfs_symbols_free(s);
	pfs_symbols_free(NULL);
	assert_null(pfs_symbols_find(NULL, 1, NULL));
}

/* ---- what the functions say ---- */

static void test_how(void **state)
{
	/* as Debian's 6.12 and 6.1 let them be traced */
	const uint32_t all = ~0u;
	const uint32_t old = ~(BIT(ANON) | BIT(FILE_COPY) | BIT(FILE_READ) | BIT(FILE_SHARED) | BIT(NUMA));
	const struct {
		uint32_t seen, traced;
		unsigned int how;
		bool inferred;
	} cases[] = {
		{ BIT(BEGIN), all, 0, false },
		{ BIT(BEGIN) | BIT(ANON) | BIT(NEW_ANON), all, PFS_HOW_ANON, false },
		{ BIT(ANON), all, PFS_HOW_ANON, false }, /* the zero page */
		{ BIT(NEW_ANON), old, PFS_HOW_ANON, true },
		{ BIT(NEW_ANON), old & ~BIT(WRITE_PROTECTED), 0, false },
		{ BIT(NEW_ANON), old & ~BIT(FILE), 0, false },
		{ BIT(FILE), old, PFS_HOW_FILE, true },
		{ BIT(FILE), old & ~BIT(NEW_ANON), 0, false },
		{ BIT(FILE) | BIT(NEW_ANON), old, PFS_HOW_COW, true },
		{ BIT(FILE) | BIT(FILE_COPY), all, PFS_HOW_COW, false },
		{ BIT(FILE) | BIT(FILE_SHARED), all, PFS_HOW_FILE, false },
		{ BIT(WRITE_PROTECTED) | BIT(NEW_ANON), all, PFS_HOW_COW, false },
		{ BIT(WRITE_PROTECTED), all, PFS_HOW_COW, false }, /* nobody else has it */
		{ BIT(WRITE_PROTECTED), all & ~BIT(DIRTIES), 0, false },
		{ BIT(WRITE_PROTECTED) | BIT(DIRTIES), all, PFS_HOW_FILE, false },
		{ BIT(SWAP), all, PFS_HOW_SWAP, false },
		{ BIT(SWAP) | BIT(WRITE_PROTECTED) | BIT(NEW_ANON), all, PFS_HOW_SWAP, false },
		{ BIT(SWAP) | BIT(MIGRATION), all, 0, false },
		{ BIT(SWAP), all & ~BIT(MIGRATION), 0, false },
		{ BIT(NUMA), all, PFS_HOW_NUMA, false },
		{ BIT(HUGE_ANON) | BIT(HUGE_DONE), all, PFS_HOW_HUGE, false },
		{ BIT(HUGE_ANON) | BIT(ANON), all, PFS_HOW_ANON, false }, /* none was free */
		{ BIT(HUGE), all, PFS_HOW_HUGE, false },
		{ BIT(HUGE) | BIT(HUGE_SPLIT) | BIT(WRITE_PROTECTED), all, PFS_HOW_COW, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool inferred;
		unsigned int how = pfs_handlers_how(cases[i].seen, cases[i].traced, &inferred);

		if (how != cases[i].how || (how && inferred != cases[i].inferred))
			fail_msg("case %zu: how %u, inferred %d", i, how, inferred);
	}
}

static void test_handler_table(void **state)
{
	assert_int_equal(pfs_handler_find("do_wp_page", 10), PFS_H_WRITE_PROTECTED);
	assert_int_equal(pfs_handler_find("handle_mm_fault", 15), PFS_H_BEGIN);
	assert_int_equal(pfs_handler_find("do_wp_pag", 9), -ENOENT);
	assert_int_equal(pfs_handler_find("do_wp_pages", 11), -ENOENT);
	assert_int_equal(pfs_handler_find("do_wp_page.constprop.0", 22), PFS_H_WRITE_PROTECTED);
	assert_int_equal(pfs_handler_find("do_wp_page.cold", 15), -ENOENT);
	assert_int_equal(pfs_handler_find("", 0), -ENOENT);
}

/* ---- counted faults ---- */

static void test_hist_lines(void **state)
{
	struct pfs_hist_entry e;

	assert_int_equal(pfs_hist_line("{ common_pid:        125, address: ~ 139732268941312-"
				       "139732268945407, error_code: 14 } hitcount:          3\n",
				       4096, &e),
			 1);
	assert_int_equal(e.tid, 125);
	assert_int_equal(e.page, 139732268941312);
	assert_int_equal(e.code, 0x14);
	assert_int_equal(e.count, 3);
	/* not in buckets: the address itself */
	assert_int_equal(pfs_hist_line("{ common_pid: 7, address: 4097 } "
				       "hitcount: 18446744073709551615",
				       4096, &e),
			 1);
	assert_int_equal(e.page, 4096);
	assert_int_equal(e.code, UINT64_MAX);
	assert_int_equal(e.count, UINT64_MAX);
	assert_int_equal(pfs_hist_line("    Hits: 80\n", 4096, &e), 0);
	assert_int_equal(pfs_hist_line("# event histogram\n", 4096, &e), 0);
	assert_int_equal(pfs_hist_line("{ common_pid: x, address: 1 } hitcount: 1", 4096, &e), 0);
	assert_int_equal(pfs_hist_line("{ common_pid: 1, address: ~ } hitcount: 1", 4096, &e), 0);
	assert_int_equal(pfs_hist_line("{ common_pid: 1, address: 1 } hitcount:", 4096, &e), 0);
	assert_int_equal(pfs_hist_line("", 4096, &e), 0);
}

/* ---- type information ---- */

/*
 * void handle_mm_fault(vma, address), struct vm_area_struct { mm; union { struct { vm_start;
 * vm_end; }; }; }
 */
static size_t make_btf(unsigned char *buf)
{
	static const char strings[] = "\0vm_area_struct\0mm\0vm_start\0vm_end\0handle_mm_fault\0vma\0address";
	enum { AREA = 1, MM = 16, START = 19, END = 28, HANDLE = 35, VMA = 51, ADDRESS = 55 };
	const uint32_t types[] = {
		/* 1: struct { vm_start, vm_end } */
		0,
		BTF_KIND_STRUCT << 24 | 2,
		16,
		START,
		0,
		0,
		END,
		0,
		64,
		/* 2: union { 1 } */
		0,
		BTF_KIND_UNION << 24 | 1,
		16,
		0,
		1,
		0,
		/* 3: struct vm_area_struct { mm at 0, 2 at 8 }, with the flag for bit fields */
		AREA,
		1u << 31 | BTF_KIND_STRUCT << 24 | 2,
		24,
		MM,
		0,
		8u << 24,
		0,
		2,
		64,
		/* 4: (vma, address), 5: handle_mm_fault */
		0,
		BTF_KIND_FUNC_PROTO << 24 | 2,
		0,
		VMA,
		3,
		ADDRESS,
		0,
		HANDLE,
		BTF_KIND_FUNC << 24,
		4,
	};
	struct btf_header h = { .magic = BTF_MAGIC,
				.version = 1,
				.hdr_len = sizeof(h),
				.type_len = sizeof(types),
				.str_off = sizeof(types),
				.str_len = sizeof(strings) };

	memcpy(buf, &h, sizeof(h));
	memcpy(buf + sizeof(h), types, sizeof(types));
	memcpy(buf + sizeof(h) + sizeof(types), strings, sizeof(strings));
	return sizeof(h) + sizeof(types) + sizeof(strings);
}

/* struct vm_area_struct { 100 times itself, without a name }: eight deep, that would be 10^16 members. */
static void test_btf_of_itself(void **state)
{
	enum { NR = 100 };
	static const char strings[] = "\0vm_area_struct";
	struct {
		struct btf_header h;
		struct btf_type outer, inner;
		struct btf_member members[NR];
		char strings[sizeof(strings)];
	} btf = {
		.h = { .magic = BTF_MAGIC,
		       .version = 1,
		       .hdr_len = sizeof(btf.h),
		       .type_len = offsetof(typeof(btf), strings) - sizeof(btf.h),
		       .str_off = offsetof(typeof(btf), strings) - sizeof(btf.h),
		       .str_len = sizeof(strings) },
		.outer = { .info = BTF_KIND_TYPEDEF << 24 },
		.inner = { .name_off = 1, .info = BTF_KIND_STRUCT << 24 | NR },
	};
	struct pfs_btf *b;

	memcpy(btf.strings, strings, sizeof(strings));
	for (unsigned int i = 0; i < NR; i++)
		btf.members[i].type = 2;
	b = pfs_btf_parse(&btf, sizeof(btf), NULL);
	assert_non_null(b);
	assert_int_equal(pfs_btf_member(b, "vm_area_struct", "vm_start"), -ENOENT);
	pfs_btf_free(b);
}

static void test_btf(void **state)
{
	_Alignas(8) unsigned char bytes[512];
	size_t len = make_btf(bytes);
	struct pfs_btf *b = pfs_btf_parse(bytes, len, NULL);

	assert_non_null(b);
	assert_int_equal(pfs_btf_member(b, "vm_area_struct", "mm"), 0);
	assert_int_equal(pfs_btf_member(b, "vm_area_struct", "vm_start"), 8);
	assert_int_equal(pfs_btf_member(b, "vm_area_struct", "vm_end"), 16);
	assert_int_equal(pfs_btf_member(b, "vm_area_struct", "vm_mm"), -ENOENT);
	assert_int_equal(pfs_btf_member(b, "vm_area", "mm"), -ENOENT);
	assert_int_equal(pfs_btf_param(b, "handle_mm_fault", "vma"), 1);
	assert_int_equal(pfs_btf_param(b, "handle_mm_fault", "address"), 2);
	assert_int_equal(pfs_btf_param(b, "handle_mm_fault", "flags"), -ENOENT);
	assert_int_equal(pfs_btf_param(b, "vm_area_struct", "vma"), -ENOENT);
	pfs_btf_free(b);
	pfs_btf_free(NULL);
}

/* Cut anywhere, or with any one byte changed: answers or refuses, and reads nothing outside. */
static void test_btf_damage(void **state)
{
	_Alignas(8) unsigned char whole[512];
	size_t len = make_btf(whole);

	for (size_t i = 0; i < len * 4; i++) {
		size_t cut = i < len ? i : len;
		unsigned char *bytes = malloc(cut ? cut : 1);
		struct pfs_btf *b;

		memcpy(bytes, whole, cut);
		if (i >= len)
			bytes[i % len] ^= i < 2 * len ? 1 : i < 3 * len ? 0x80 : 0xff;
		b = pfs_btf_parse(bytes, cut, NULL);
		if (b) {
			pfs_btf_member(b, "vm_area_struct", "vm_end");
			pfs_btf_param(b, "handle_mm_fault", "address");
		}
		pfs_btf_free(b);
		free(bytes);
	}
}

static void test_group(void **state)
{
	char group[64];

	pfs_dynevents_group("/sys/kernel/tracing/instances/pfscope-12-345-0", group, sizeof(group));
	assert_string_equal(group, "pfscope_12_345_0");
	assert_non_null(raw_desc_find(group, PFS_HANDLER_EVENT));
	assert_int_equal(raw_desc_find(group, PFS_HANDLER_END_EVENT)->kind, RAW_HANDLER_END);
	assert_null(raw_desc_find("pfscope", PFS_HANDLER_EVENT));
	assert_null(raw_desc_find("other_1", PFS_HANDLER_EVENT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_function_lines),
		cmocka_unit_test(test_probe_lines),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_how),
		cmocka_unit_test(test_handler_table),
		cmocka_unit_test(test_hist_lines),
		cmocka_unit_test(test_btf),
		cmocka_unit_test(test_btf_damage),
		cmocka_unit_test(test_btf_of_itself),
		cmocka_unit_test(test_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
