/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace.dat reader against libtracecmd, event by event and field by field: on recordings of
 * trace-cmd (tests/data/dat) and on forged files of every kind (dat_forge.h).
 */
#include "support/dat_forge.h"
#include "support/dat_oracle.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define DATA "tests/data/dat/"

static void assert_same_event(const struct raw_event *a, const struct raw_event *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->ts_ns, b->ts_ns);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->nr, b->nr);
	assert_memory_equal(a->arg, b->arg, sizeof(a->arg));
	if (a->str && b->str)
		assert_string_equal(a->str, b->str);
	else
		assert_true(!a->str && !b->str);
}

/* Losses are a page's; the oracle tells them with the page's first event. */
static const struct raw_event *next_of(const struct ev_list *list, size_t *i, bool lost)
{
	while (*i < list->nr && (list->ev[*i].kind == RAW_LOST) != lost)
		++*i;
	return *i < list->nr ? &list->ev[(*i)++] : NULL;
}

static void assert_same(const struct ev_list *a, const struct ev_list *b)
{
	const struct raw_event *x, *y;

	assert_int_equal(a->nr, b->nr);
	for (int lost = 0; lost < 2; lost++) {
		size_t i = 0, k = 0;

		do {
			x = next_of(a, &i, lost);
			y = next_of(b, &k, lost);
			assert_true(!x == !y);
			if (x)
				assert_same_event(x, y);
		} while (x);
	}
}

static size_t count_kind(const struct ev_list *list, enum raw_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < list->nr; i++)
		n += list->ev[i].kind == kind;
	return n;
}

/* Both views of a file are the same. Returns ours. */
static struct ev_list check_fd(int fd)
{
	struct ev_list ours = { 0 }, oracle = { 0 };
	struct pfs_err err = { "" };

	if (ev_list_pfs(&ours, fd, PFS_DAT_OTHER, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(ev_list_oracle(&oracle, fd), 0);
	assert_same(&ours, &oracle);
	ev_list_fini(&oracle);
	return ours;
}

static void test_recordings(void **state)
{
	/* the numbers are those of `trace-cmd report FILE | grep -c`; one loss more in lost.dat */
	static const struct {
		const char *name;
		size_t nr, faults;
	} files[] = {
		{ "v6.dat", 182, 147 },	      { "v6-date.dat", 149, 148 },  { "v6-counter.dat", 148, 147 },
		{ "v6-buffers.dat", 82, 76 }, { "v6-split.dat", 62, 32 },   { "v7-none.dat", 148, 147 },
		{ "v7-zstd.dat", 183, 148 },  { "v7-buffers.dat", 78, 73 }, { "pfs-v6.dat", 172, 162 },
		{ "pfs-v7.dat", 172, 162 },   { "lost.dat", 341, 338 },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct ev_list list;
		char path[256];
		int fd;

		snprintf(path, sizeof(path), DATA "%s", files[i].name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		list = check_fd(fd);
		if (list.nr != files[i].nr || count_kind(&list, RAW_FAULT_USER) != files[i].faults)
			fail_msg("%s: %zu events, %zu faults", files[i].name, list.nr,
				 count_kind(&list, RAW_FAULT_USER));
		ev_list_fini(&list);
	}
}

/* The same events in every byte order, long size, version and compression. */
static void test_kinds(void **state)
{
	static const char *const codecs[] = { NULL, NULL, "zstd", "zlib" };

	for (unsigned int i = 0; i < 32; i++) {
		struct forge kind = { .version = i < 8 ? 6 : 7,
				      .big_endian = i & 1,
				      .long_size = i & 2 ? 4 : 8,
				      .codec = codecs[i / 8],
				      .instance = i & 4 ? "inst" : NULL };
		struct forge plain = { .version = 6, .long_size = kind.long_size };
		struct ev_list ours = { 0 }, same;
		struct pfs_err err = { "" };
		int fd = forge_file(&kind);

		if (ev_list_pfs(&ours, fd, PFS_DAT_OTHER, &err) < 0)
			fail_msg("%u: %s", i, err.msg);
		assert_int_equal(count_kind(&ours, RAW_LOST), 1);
		assert_true(count_kind(&ours, RAW_OTHER) > 20);
		same = check_fd(forge_file(&plain));
		assert_same(&ours, &same);
		ev_list_fini(&same);
		/* libtracecmd here has no zlib */
		if (!kind.codec || strcmp(kind.codec, "zlib")) {
			same = check_fd(fd);
			ev_list_fini(&same);
		} else {
			close(fd);
		}
		ev_list_fini(&ours);
	}
}

/* Options that move time: both readers print the same times. */
static void check_time(struct forge kind, uint16_t id, const void *data, uint32_t len, uint64_t first)
{
	struct ev_list list;

	kind.options[kind.nr_options++] = (struct forge_option){ id, data, len };
	for (kind.version = 6; kind.version <= 7; kind.version++) {
		list = check_fd(forge_file(&kind));
		assert_int_equal(list.ev[0].ts_ns, first);
		ev_list_fini(&list);
	}
}

/* An option TIME_SHIFT: three samples on each of two processors, from `first` on. */
#define SHIFT_LEN (16 + 2 * (4 + 3 * 24))
static void time_shift(uint8_t *p, uint64_t first, uint32_t flags)
{
	memset(p, 0, SHIFT_LEN);
	pfs_store32(p + 8, flags, false);
	pfs_store32(p + 12, 2, false);
	p += 16;
	for (int cpu = 0; cpu < 2; cpu++, p += 4 + 72) {
		pfs_store32(p, 3, false);
		for (int i = 0; i < 3; i++) {
			pfs_store64(p + 4 + i * 8, first + 50000 * i, false);
			pfs_store64(p + 28 + i * 8, (i - 1) * 777, false);
			pfs_store64(p + 52 + i * 8, 1, false);
		}
	}
}

static void test_times(void **state)
{
	struct forge kind = { .version = 6 }, twice = { .version = 6 };
	uint8_t tsc[16], shift[SHIFT_LEN];
	const uint64_t first = 5000000000;

	check_time(kind, 1, "0x5f5e100", 10, first + 100000000000);
	check_time(kind, 1, "-0x10", 6, first - 16000);
	check_time(kind, 7, "12345", 6, first + 12345);
	check_time(kind, 7, "-5", 3, first - 5);
	twice.options[twice.nr_options++] = (struct forge_option){ 7, "7", 2 };
	check_time(twice, 1, "0x1", 4, first + 1007);

	pfs_store32(tsc, 0x55555555, false);
	pfs_store32(tsc + 4, 31, false);
	pfs_store64(tsc + 8, 99, false);
	check_time(kind, 14, tsc, 16, first * 0x55555555 >> 31);
	check_time(twice, 14, tsc, 16, (first * 0x55555555 >> 31) + 7);

	/* before the first sample, which applies there too */
	time_shift(shift, first, 1);
	check_time(kind, 12, shift, sizeof(shift), first - 777);
	/* at a sample's own time, and no line drawn to the next */
	time_shift(shift, first - 50000, 0);
	check_time(kind, 12, shift, sizeof(shift), first);
	time_shift(shift, first - 25000, 0);
	check_time(kind, 12, shift, sizeof(shift), first - 777);
	time_shift(shift, first - 25000, 1);
	check_time(kind, 12, shift, sizeof(shift), first - 388);
}

/* The first CPU's samples are so far apart that the distance is negative: there is no line between them. */
static void test_times_far_apart(void **state)
{
	struct forge kind = { .version = 6 };
	struct ev_list list = { 0 };
	struct pfs_err err = { "" };
	uint8_t shift[SHIFT_LEN];

	time_shift(shift, 0, 1);
	pfs_store32(shift + 16, 2, false);
	pfs_store64(shift + 20, 0, false);
	pfs_store64(shift + 28, UINT64_MAX, false);
	pfs_store64(shift + 36, -(UINT64_C(1) << 54), false);
	pfs_store64(shift + 44, 0, false);
	pfs_store64(shift + 52, 1, false);
	pfs_store64(shift + 60, 1, false);
	pfs_store32(shift + 68, 0, false);
	kind.options[kind.nr_options++] = (struct forge_option){ 12, shift, 72 };
	assert_true(ev_list_pfs(&list, forge_file(&kind), PFS_DAT_OTHER, &err) >= 0);
	assert_int_equal(list.ev[0].ts_ns, 5000000000);
	assert_int_equal(list.ev[list.nr - 1].ts_ns >> 54, 1023);
	ev_list_fini(&list);
}

static void test_facts(void **state)
{
	struct forge kind = { .version = 6 };

	kind.options[kind.nr_options++] = (struct forge_option){ 9, "3.1.6\n", 7 };
	kind.options[kind.nr_options++] = (struct forge_option){ 2, "CPU: 0\nentries: 1\n", 19 };
	kind.options[kind.nr_options++] = (struct forge_option){ 999, "?", 2 };
	for (kind.version = 6; kind.version <= 7; kind.version++) {
		struct pfs_err err = { "" };
		int fd = forge_file(&kind);
		struct pfs_dat *dat = pfs_dat_open(fd, "x", 0, &err);

		assert_non_null(dat);
		assert_int_equal(pfs_dat_info(dat)->version, kind.version);
		assert_string_equal(pfs_dat_info(dat)->clock, "mono");
		assert_string_equal(pfs_dat_info(dat)->uname, "Linux forge 1.0");
		assert_string_equal(pfs_dat_info(dat)->writer, "3.1.6");
		assert_string_equal(pfs_dat_comm(dat, 1000), "first name");
		assert_string_equal(pfs_dat_comm(dat, 1002), "<third>");
		assert_null(pfs_dat_comm(dat, 1001));
		assert_int_equal(pfs_dat_info(dat)->page_size, FORGE_PAGE);
		assert_false(pfs_dat_is_text(dat));
		pfs_dat_close(dat);
		close(fd);
	}
}

static void test_text(void **state)
{
	static const char *const codecs[] = { NULL, NULL, "zlib", "zstd" };

	for (unsigned int i = 0; i < 4; i++) {
		struct forge kind = { .version = i ? 7 : 6, .codec = codecs[i], .text = "# tracer: wakeup\n" };
		struct ev_list list = { 0 };
		struct pfs_err err = { "" };
		int fd = forge_file(&kind), text;
		struct pfs_dat *dat = pfs_dat_open(fd, "x", 0, &err);
		char got[64] = "";

		if (!dat)
			fail_msg("%s", err.msg);
		assert_true(pfs_dat_is_text(dat));
		assert_int_equal(pfs_dat_read(dat, 0, ev_list_add, &list, &err), -EINVAL);
		text = pfs_dat_text(dat, &err);
		assert_true(text >= 0);
		assert_int_equal(read(text, got, sizeof(got) - 1), strlen(kind.text));
		assert_string_equal(got, kind.text);
		close(text);
		pfs_dat_close(dat);
		close(fd);
	}
}

/* What is no trace.dat, or of a kind not known, says what and where. */
static void test_foreign(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		int ret;
		const char *why;
	} files[] = {
		{ "", 0, EBADMSG, "x: offset 0: this is no trace.dat file" },
		{ "\x17\x08\x44trac", 7, EBADMSG, "x: offset 0: this is no trace.dat file" },
		{ "\177ELF............", 16, EBADMSG, "x: offset 0: this is no trace.dat file" },
		{ "\x17\x08\x44tracing", 10, EBADMSG, "x: offset 10: " },
		{ "\x17\x08\x44tracing8\0\0\10\0\20\0\0", 18, ENOTSUP, "version \"8\"" },
		{ "\x17\x08\x44tracing6\0\2\10\0\20\0\0", 18, EBADMSG, "x: offset 12: " },
		{ "\x17\x08\x44tracing6\0\0\5\0\20\0\0", 18, EBADMSG, "x: offset 12: " },
		{ "\x17\x08\x44tracing7\0\0\10\0\20\0\0lz4\0", 22, ENOTSUP, "\"lz4\"" },
		{ "\x17\x08\x44tracing6\0\0\10\0\20\0\0", 18, EBADMSG, "x: offset 18: " },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct pfs_err err = { "" };
		int fd = forge_fd(files[i].bytes, files[i].len);

		errno = 0;
		assert_null(pfs_dat_open(fd, "x", 0, &err));
		assert_int_equal(errno, files[i].ret);
		if (!strstr(err.msg, files[i].why))
			fail_msg("%zu: %s", i, err.msg);
		assert_null(strchr(err.msg, '\n'));
		close(fd);
	}
	assert_true(pfs_dat_is_magic("\x17\x08\x44tracing6", 11));
	assert_false(pfs_dat_is_magic("\x17\x08\x44tracin", 9));
}

/* A pipe: read from a copy; a file: from itself. */
static void test_spool(void **state)
{
	struct forge kind = { .version = 7, .codec = "zstd" };
	struct ev_list list;
	struct pfs_err err;
	int ends[2], fd;
	size_t len;
	char *bytes = forge_bytes(&kind, &len);

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], bytes + 10, len - 10), len - 10);
	close(ends[1]);
	fd = pfs_dat_spool(ends[0], "stdin", bytes, 10, &err);
	assert_true(fd >= 0 && fd != ends[0]);
	lseek(fd, 0, SEEK_SET); /* for libtracecmd */
	list = check_fd(fd);
	assert_true(list.nr > 300);
	ev_list_fini(&list);
	close(ends[0]);
	fd = forge_fd(bytes, len);
	assert_int_equal(pfs_dat_spool(fd, "file", NULL, 0, &err), fd);
	close(fd);
	free(bytes);
}

static int stop_at_ten(void *ctx, const struct raw_event *ev)
{
	return ++*(int *)ctx == 10 ? -ECANCELED : 0;
}

/* fn's own word ends the reading; a second reading starts anew. */
static void test_stop(void **state)
{
	struct forge kind = { .version = 6 };
	struct pfs_err err = { "" };
	int fd = forge_file(&kind), seen = 0;
	struct pfs_dat *dat = pfs_dat_open(fd, "x", 0, &err);
	struct ev_list a = { 0 }, b = { 0 }, all = { 0 };

	assert_int_equal(pfs_dat_read(dat, 0, stop_at_ten, &seen, &err), -ECANCELED);
	assert_int_equal(seen, 10);
	assert_string_equal(err.msg, "");
	assert_int_equal(pfs_dat_read(dat, 0, ev_list_add, &a, &err), 0);
	assert_int_equal(pfs_dat_read(dat, 0, ev_list_add, &b, &err), 0);
	assert_same(&a, &b);
	assert_int_equal(pfs_dat_read(dat, PFS_DAT_OTHER, ev_list_add, &all, &err), 0);
	assert_int_equal(pfs_dat_stats(dat)->other, all.nr - a.nr);
	assert_int_equal(pfs_dat_stats(dat)->other, count_kind(&all, RAW_OTHER));
	assert_int_equal(pfs_dat_stats(dat)->lost, 77);
	assert_int_equal(pfs_dat_stats(dat)->lost_unknown, 0);
	assert_int_equal(pfs_dat_stats(dat)->records, all.nr - 1);
	ev_list_fini(&all);
	ev_list_fini(&a);
	ev_list_fini(&b);
	pfs_dat_close(dat);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recordings),	cmocka_unit_test(test_kinds), cmocka_unit_test(test_times),
		cmocka_unit_test(test_times_far_apart), cmocka_unit_test(test_facts), cmocka_unit_test(test_text),
		cmocka_unit_test(test_foreign),		cmocka_unit_test(test_spool), cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
