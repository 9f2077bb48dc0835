/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small trace.dat files that claim to be large: four billion processors in a hundred bytes, tables that lead
 * back to themselves, kilobytes that become gigabytes. Each is an error of one line, and takes no memory to speak
 * of: measured as the most that this process ever had.
 */
#include "base/bytes.h"
#include "dat/dat.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>
#include <cmocka.h>

#define MANY UINT32_MAX

static void put(FILE *out, uint64_t v, unsigned int size)
{
	fwrite(&v, 1, size, out); /* in this machine's order, which the files say */
}

static void put_name(FILE *out, const char *name)
{
	fwrite(name, 1, strlen(name) + 1, out);
}

static void put_beginning(FILE *out, int version)
{
	fwrite("\x17\x08\x44tracing", 1, 10, out);
	fprintf(out, "%d%c%c%c", version, 0, PFS_HOST_BIG_ENDIAN, 8);
	put(out, 4096, 4);
}

/* The numbers of a version 6 header, in their order. All 0 but for one is what the tests make. */
enum {
	HEADER_PAGE,
	HEADER_EVENT,
	FTRACE_FORMATS,
	SYSTEMS,
	SYMBOLS,
	PRINTK,
	COMMANDS,
	CPUS,
	OPTION,
	NR_NUMBERS,
};

static void put_v6(FILE *out, const uint64_t numbers[NR_NUMBERS])
{
	put_beginning(out, 6);
	put_name(out, "header_page");
	put(out, numbers[HEADER_PAGE], 8);
	put_name(out, "header_event");
	put(out, numbers[HEADER_EVENT], 8);
	put(out, numbers[FTRACE_FORMATS], 4);
	put(out, numbers[SYSTEMS], 4);
	put(out, numbers[SYMBOLS], 4);
	put(out, numbers[PRINTK], 4);
	put(out, numbers[COMMANDS], 8);
	put(out, numbers[CPUS], 4);
	put_name(out, "options  ");
	if (numbers[OPTION]) {
		put(out, 2, 2);
		put(out, numbers[OPTION], 4);
	}
	put(out, 0, 2);
}

static long peak_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static int ignore(void *ctx, const struct raw_event *ev)
{
	return 0;
}

/*
 * Opens and reads it, with a hole of that size behind it. It may take max_mb of memory. Closes the stream. 0 or -errno.
 */
static int read_within(FILE *out, char **bytes, size_t *len, uint64_t hole, long max_mb, unsigned int flags,
		       struct pfs_err *err)
{
	int fd = memfd_create("claims", MFD_CLOEXEC), ret;
	struct pfs_dat *dat;
	long before, took;

	fclose(out);
	assert_int_equal(write(fd, *bytes, *len), *len);
	assert_int_equal(ftruncate(fd, *len + hole), 0);
	free(*bytes);
	before = peak_kb();
	*err->msg = '\0';
	dat = pfs_dat_open(fd, "x", flags, err);
	ret = dat ? pfs_dat_read(dat, 0, ignore, NULL, err) : -errno;
	pfs_dat_close(dat);
	close(fd);
	took = peak_kb() - before;
	if (took > max_mb << 10)
		fail_msg("%zu bytes took %ld kB: %s", *len, took, err->msg);
	assert_null(strchr(err->msg, '\n'));
	return ret;
}

static int read_file(FILE *out, char **bytes, size_t *len, unsigned int flags, struct pfs_err *err)
{
	return read_within(out, bytes, len, 0, 16, flags, err);
}

static void assert_refused(int ret, const struct pfs_err *err)
{
	assert_int_equal(ret, -EBADMSG);
	assert_int_equal(strncmp(err->msg, "x: offset ", 10), 0);
}

static void test_numbers(void **state)
{
	static const uint64_t claims[] = { UINT64_MAX, INT64_MAX, MANY, INT32_MAX, 1000000 };

	for (unsigned int i = 0; i < NR_NUMBERS * 5; i++) {
		uint64_t numbers[NR_NUMBERS] = { 0 };
		struct pfs_err err;
		char *bytes;
		size_t len;
		FILE *out = open_memstream(&bytes, &len);
		int ret;

		numbers[i / 5] = claims[i % 5];
		put_v6(out, numbers);
		put_name(out, "flyrecord");
		ret = read_file(out, &bytes, &len, 0, &err);
		assert_true(len < 140);
		assert_refused(ret, &err);
	}
}

/*
 * 64 kB: two thousand buffers, all of them said to have their two thousand processors in one and the same table:
 * together that would be four million.
 */
static void test_buffers_in_one_place(void **state)
{
	enum { NR = 2000 };
	uint64_t numbers[NR_NUMBERS] = { [CPUS] = NR }, table;
	struct pfs_err err;
	char *bytes;
	size_t len;
	FILE *out = open_memstream(&bytes, &len);

	put_v6(out, numbers);
	table = ftell(out) + NR * 16; /* two bytes less, for the end of the options comes later */
	fseek(out, -2, SEEK_CUR);
	for (unsigned int i = 0; i < NR; i++) {
		put(out, 3, 2);
		put(out, 10, 4);
		put(out, table, 8);
		put_name(out, "b");
	}
	put(out, 0, 2);
	put_name(out, "flyrecord");
	for (unsigned int i = 0; i < NR; i++) {
		put(out, 0, 8);
		put(out, 1, 8);
	}
	assert_refused(read_file(out, &bytes, &len, 0, &err), &err);
	if (!strstr(err.msg, "two buffers have the same header"))
		fail_msg("%s", err.msg);
}

static void put_section(FILE *out, unsigned int id, bool compressed, uint64_t size)
{
	put(out, id, 2);
	put(out, compressed, 2);
	put(out, -1, 4);
	put(out, size, 8);
}

static void put_v7(FILE *out, const char *codec, uint64_t options_at)
{
	put_beginning(out, 7);
	put_name(out, codec);
	put_name(out, "1");
	put(out, options_at ? options_at : (uint64_t)ftell(out) + 8, 8);
}

/* A buffer with as many processors as there is room for in 60 kB, in options that are followed by themselves. */
static void test_options_in_a_circle(void **state)
{
	enum { NR = 3000 };
	struct pfs_err err;
	uint64_t start;
	char *bytes;
	size_t len;
	FILE *out = open_memstream(&bytes, &len);

	put_v7(out, "none", 0);
	start = ftell(out);
	put_section(out, 0, false, MANY);
	put(out, 3, 2);
	put(out, 8 + 2 + 2 + 4 + 4 + NR * 20, 4);
	put(out, 0, 8);
	put_name(out, "b");
	put_name(out, "m");
	put(out, 4096, 4);
	put(out, NR, 4);
	for (unsigned int i = 0; i < NR; i++) {
		put(out, i, 4);
		put(out, 0, 8);
		put(out, 1, 8);
	}
	put(out, 0, 2);
	put(out, 8, 4);
	put(out, start, 8);
	assert_refused(read_file(out, &bytes, &len, 0, &err), &err);
	assert_non_null(strstr(err.msg, "circle"));
}

/*
 * A megabyte that begins with so much noise, and that again and again: zstd makes next to nothing of it. In
 * pieces, for here it would take memory, too. The caller frees it.
 */
static char *zipped(size_t noise, size_t megabytes, size_t *len)
{
	static char piece[1 << 20];
	const size_t room = 1 << 18;
	ZSTD_CCtx *zip = ZSTD_createCCtx();
	ZSTD_outBuffer out = { malloc(room), room, 0 };

	for (size_t i = 0; i < sizeof(piece); i++)
		piece[i] = i < noise ? random() : 0;
	for (size_t i = 1; i <= megabytes; i++) {
		ZSTD_inBuffer in = { piece, sizeof(piece), 0 };

		ZSTD_compressStream2(zip, &out, &in, i < megabytes ? ZSTD_e_continue : ZSTD_e_end);
		assert_int_equal(in.pos, in.size);
	}
	ZSTD_freeCCtx(zip);
	*len = out.pos;
	return out.dst;
}

/* A section of some kilobytes that does become as much as it says: 200 MB of nothing. */
static void test_section_out_of_proportion(void **state)
{
	struct pfs_err err;
	char *bytes, *zip;
	size_t len, zip_len;
	FILE *out = open_memstream(&bytes, &len);

	zip = zipped(16384, 200, &zip_len);
	put_v7(out, "zstd", 0);
	put_section(out, 0, true, zip_len + 8);
	put(out, zip_len, 4);
	put(out, 200 << 20, 4);
	fwrite(zip, 1, zip_len, out);
	free(zip);
	assert_refused(read_file(out, &bytes, &len, 0, &err), &err);
	assert_true(len < 65536);
}

/* header_page, as version 7 wants to have it, and an option that says where. Returns where it is. */
static uint64_t put_header_info(FILE *out)
{
	uint64_t at = ftell(out);

	put_section(out, 16, false, 12 + 8 + 13 + 8);
	put_name(out, "header_page");
	put(out, 0, 8);
	put_name(out, "header_event");
	put(out, 0, 8);
	return at;
}

/* The beginning of a version 7 file up to its buffer's data. Returns where the data begins. */
static uint64_t begin_chunks(FILE *out, uint64_t *info, uint64_t *section)
{
	put_v7(out, "zstd", 1);
	*info = put_header_info(out);
	*section = ftell(out);
	put_section(out, 3, true, 0);
	return ftell(out);
}

/*
 * The rest: one buffer with nr processors. The first one has the len bytes at `at`, each later one those `step` further
 * on, or, if that is 0, one byte in the same place.
 */
static void end_chunks(FILE *out, char **bytes, uint64_t info, uint64_t section, uint32_t page_size, uint32_t nr,
		       uint64_t at, uint64_t len, uint64_t step)
{
	fflush(out);
	memcpy(*bytes + 10 + 2 + 2 + 4 + 5 + 2, &(uint64_t){ ftell(out) }, 8);
	put_section(out, 0, false, MANY);
	put(out, 16, 2);
	put(out, 8, 4);
	put(out, info, 8);
	put(out, 3, 2);
	put(out, 8 + 2 + 2 + 4 + 4 + nr * 20, 4);
	put(out, section, 8);
	put_name(out, "b");
	put_name(out, "m");
	put(out, page_size, 4);
	put(out, nr, 4);
	for (uint32_t i = 0; i < nr; i++) {
		put(out, i, 4);
		put(out, at + i * step, 8);
		put(out, i && !step ? 1 : len, 8);
	}
	put(out, 0, 2);
	put(out, 8, 4);
	put(out, 0, 8);
}

/*
 * 600 processors, each with one chunk of a megabyte of empty sub-buffers, and all in the same place: what they
 * have in common is read as one's, and of what is not compressed there is a little for each.
 */
static void test_chunks_in_one_place(void **state)
{
	uint64_t at, info, section;
	struct pfs_err err;
	char *bytes, *zip;
	size_t len, zip_len;
	FILE *out = open_memstream(&bytes, &len);

	zip = zipped(0, 1, &zip_len);
	at = begin_chunks(out, &info, &section);
	put(out, 1, 4);
	put(out, zip_len, 4);
	put(out, 1 << 20, 4);
	fwrite(zip, 1, zip_len, out);
	free(zip);
	end_chunks(out, &bytes, info, section, 4096, 600, at, 12 + zip_len, 0);
	assert_true(read_file(out, &bytes, &len, PFS_DAT_SALVAGE, &err) <= 0);
}

/* Each of 10 processors has chunks that double up to 16 MB: each time only the difference is more memory. */
static void test_chunks_that_grow(void **state)
{
	uint64_t at, info, section, step = 0;
	struct pfs_err err;
	char *bytes, *zip;
	size_t len, zip_len;
	FILE *out = open_memstream(&bytes, &len);

	at = begin_chunks(out, &info, &section);
	for (unsigned int cpu = 0; cpu < 10; cpu++) {
		put(out, 5, 4);
		for (unsigned int megabytes = 1; megabytes <= 16; megabytes *= 2) {
			zip = zipped(0, megabytes, &zip_len);
			put(out, zip_len, 4);
			put(out, megabytes << 20, 4);
			fwrite(zip, 1, zip_len, out);
			free(zip);
		}
		step = cpu ? step : ftell(out) - at;
	}
	end_chunks(out, &bytes, info, section, 1 << 20, 10, at, step, step);
	assert_refused(read_within(out, &bytes, &len, 0, 256, 0, &err), &err);
	assert_non_null(strstr(err.msg, "out of all proportion"));
}

/* A compressed chunk of 4 GB, for which a file of so many zeroes has room. */
static void test_a_chunk_of_a_hole(void **state)
{
	uint64_t at, info, section, hole = UINT64_C(5) << 30;
	struct pfs_err err;
	char *bytes;
	size_t len;
	FILE *out = open_memstream(&bytes, &len);

	at = begin_chunks(out, &info, &section);
	put(out, 1, 4);
	put(out, UINT32_MAX, 4);
	put(out, 4096, 4);
	end_chunks(out, &bytes, info, section, 4096, 1, at, hole, 0);
	assert_refused(read_within(out, &bytes, &len, hole, 16, 0, &err), &err);
	assert_non_null(strstr(err.msg, "size of a chunk"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_buffers_in_one_place),
		cmocka_unit_test(test_options_in_a_circle),
		cmocka_unit_test(test_section_out_of_proportion),
		cmocka_unit_test(test_chunks_in_one_place),
		cmocka_unit_test(test_chunks_that_grow),
		cmocka_unit_test(test_a_chunk_of_a_hole),
	};

	return cmocka_run_group_tests_name("claims", tests, NULL, NULL);
}
