/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Damaged trace.dat files: cut at every 64th byte, every byte of the header turned over, claims no
 * file can keep. Never a crash or a hang (the sanitizers look); an error names an offset, and
 * salvage gives what is left.
 */
#include "support/dat_forge.h"
#include "support/dat_oracle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct sum {
	uint64_t events, lost, limit;
};

static int add(void *ctx, const struct raw_event *ev)
{
	struct sum *sum = ctx;

	sum->events += ev->kind != RAW_LOST;
	sum->lost += ev->kind == RAW_LOST;
	if (ev->str)
		assert_true(strlen(ev->str) < 100000);
	/* a damaged file may say more than was there, but not for ever */
	assert_true(sum->events + sum->lost < sum->limit);
	return 0;
}

/* Opens and reads; *damaged is what salvage counted. 0 or -errno. */
static int read_fd(int fd, unsigned int flags, struct sum *sum, uint64_t *damaged, struct pfs_err *err)
{
	struct pfs_dat *dat = pfs_dat_open(fd, "x", flags, err);
	int ret = 0;

	*sum = (struct sum){ .limit = 1000000 };
	*damaged = 0;
	if (!dat)
		ret = -errno;
	else if (!pfs_dat_is_text(dat))
		ret = pfs_dat_read(dat, PFS_DAT_OTHER, add, sum, err);
	if (dat)
		*damaged = pfs_dat_stats(dat)->damaged;
	if (dat && *damaged)
		assert_true(*pfs_dat_stats(dat)->first_damage.msg != 0);
	pfs_dat_close(dat);
	return ret;
}

static int read_bytes(const void *bytes, size_t len, unsigned int flags, struct sum *sum, uint64_t *damaged,
		      struct pfs_err *err)
{
	int fd = forge_fd(bytes, len), ret = read_fd(fd, flags, sum, damaged, err);

	close(fd);
	return ret;
}

static void assert_message(const struct pfs_err *err)
{
	if (strncmp(err->msg, "x: ", 3) || strchr(err->msg, '\n') || !strstr(err->msg, "offset"))
		fail_msg("no good message: \"%s\"", err->msg);
}

static struct forge kind_of(unsigned int i)
{
	static const char *const codecs[] = { NULL, NULL, "zstd", "zlib" };

	return (struct forge){
		.version = i ? 7 : 6, .codec = codecs[i], .big_endian = i & 1, .instance = i & 1 ? "inst" : NULL
	};
}

static void test_truncated(void **state)
{
	for (unsigned int i = 0; i < 4; i++) {
		struct forge kind = kind_of(i);
		uint64_t damaged, whole, best = 0;
		struct pfs_err err = { "" };
		struct sum sum;
		size_t len;
		char *bytes = forge_bytes(&kind, &len);

		assert_int_equal(read_bytes(bytes, len, 0, &sum, &damaged, &err), 0);
		whole = sum.events;
		for (size_t cut = 0; cut < len; cut += 64) {
			int ret = read_bytes(bytes, cut, 0, &sum, &damaged, &err);

			assert_true(ret < 0);
			assert_message(&err);
			ret = read_bytes(bytes, cut, PFS_DAT_SALVAGE, &sum, &damaged, &err);
			if (ret < 0) {
				assert_message(&err);
				continue;
			}
			assert_true(damaged > 0);
			assert_true(sum.events <= whole);
			if (sum.events > best)
				best = sum.events;
		}
		/* v6 has its tables first: nearly all of it is still there with the end cut off */
		if (kind.version == 6)
			assert_true(best > whole * 9 / 10);
		free(bytes);
	}
}

/* Which bytes: all of v6's head, and of v7 those at both ends, where it is not as v6. */
static bool is_tried(const struct forge *kind, size_t at, size_t len)
{
	if (at + 600 > len || at < (kind->version == 6 ? 4600 : 60))
		return true;
	return at % (at < 4600 ? 7 : 61) == 0;
}

static void test_flipped(void **state)
{
	static const uint8_t masks[] = { 0xff, 0x01, 0x80 };

	for (unsigned int i = 0; i < 4; i++) {
		struct forge kind = kind_of(i);
		uint64_t damaged;
		struct pfs_err err = { "" };
		struct sum sum;
		size_t len;
		char *bytes = forge_bytes(&kind, &len);
		int fd = forge_fd(bytes, len);

		for (size_t at = 0; at < len; at++) {
			uint8_t byte = bytes[at] ^ masks[at % 3];
			int ret;

			if (!is_tried(&kind, at, len))
				continue;
			assert_int_equal(pwrite(fd, &byte, 1, at), 1);
			ret = read_fd(fd, 0, &sum, &damaged, &err);
			if (ret < 0) {
				assert_message(&err);
				ret = read_fd(fd, PFS_DAT_SALVAGE, &sum, &damaged, &err);
				assert_true(ret < 0 || damaged > 0);
			}
			assert_int_equal(pwrite(fd, &bytes[at], 1, at), 1);
		}
		free(bytes);
		close(fd);
	}
}

/* Puts v at the place where `needle` ends. */
static void set_after(char *bytes, size_t len, const char *needle, size_t n, uint64_t v, unsigned int size)
{
	char *p = memmem(bytes, len, needle, n);

	assert_non_null(p);
	memcpy(p + n, &v, size);
}

/* Numbers that ask for more memory or time than there is. */
static void test_claims(void **state)
{
	static const uint64_t claims[] = { UINT64_MAX, INT64_MAX, UINT32_MAX, 1ull << 40, 0 };
	static const struct {
		const char *needle;
		size_t n;
		unsigned int size;
	} places[] = {
		{ "header_page", 12, 8 },	 { "header_event", 13, 8 },
		{ "flyrecord", 10, 8 },		 /* offset of the first processor */
		{ "options  \0\5", 11, 4 },	 /* size of an option */
		{ "exceptions", 11, 4 },	 /* events of a system */
		{ "exceptions\0\1\0\0", 15, 8 }, /* size of a format */
		{ "tracing6\0\0\10", 11, 4 },	 /* page size */
	};
	struct forge kind = kind_of(0);
	size_t len;
	char *bytes = forge_bytes(&kind, &len), *copy = malloc(len);

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		for (size_t k = 0; k < sizeof(claims) / sizeof(claims[0]); k++) {
			uint64_t damaged;
			struct pfs_err err;
			struct sum sum;

			memcpy(copy, bytes, len);
			set_after(copy, len, places[i].needle, places[i].n, claims[k], places[i].size);
			for (unsigned int flags = 0; flags <= PFS_DAT_SALVAGE; flags++)
				if (read_bytes(copy, len, flags, &sum, &damaged, &err) < 0)
					assert_message(&err);
		}
	}
	free(bytes);
	free(copy);
}

/* A hundred thousand processors that all have the same data: refused, not read a thousand times. */
static void test_overlap(void **state)
{
	struct forge kind = { .version = 6 };
	uint64_t damaged, pair[2], end;
	struct pfs_err err;
	struct sum sum;
	size_t len;
	char *bytes = forge_bytes(&kind, &len), *table;

	table = memmem(bytes, len, "flyrecord", 10);
	assert_non_null(table);
	memcpy(pair, table + 10, 16);
	end = len;
	bytes = realloc(bytes, len += 16 * 100000);
	table = (char *)memmem(bytes, len, "flyrecord", 10) + 10;
	/* the table goes over all that follows it; the data it speaks of is any bytes */
	pair[0] = end;
	pair[1] = 1600;
	for (unsigned int i = 0; table + 16 * i + 16 <= bytes + len; i++)
		memcpy(table + 16 * i, pair, 16);
	table = memmem(bytes, len, "<third>\n", 8);
	memcpy(table + 8, "\240\206\1\0", 4);
	assert_int_equal(read_bytes(bytes, len, 0, &sum, &damaged, &err), -EBADMSG);
	assert_message(&err);
	assert_non_null(strstr(err.msg, "overlaps that of another CPU"));
	read_bytes(bytes, len, PFS_DAT_SALVAGE, &sum, &damaged, &err);
	assert_true(damaged > 90000);
	free(bytes);
}

/* Options of v7 that lead back to themselves. */
static void test_circle(void **state)
{
	struct forge kind = { .version = 7 };
	uint64_t damaged, first;
	struct pfs_err err;
	struct sum sum;
	size_t len;
	char *bytes = forge_bytes(&kind, &len);

	/* "none\0" "\0" and the offset; the last option of that section says where to go on */
	memcpy(&first, bytes + 24, 8);
	memcpy(bytes + first + 16 + 6 * 14 + 6, &first, 8);
	assert_true(read_bytes(bytes, len, 0, &sum, &damaged, &err) < 0);
	assert_message(&err);
	assert_non_null(strstr(err.msg, "circle"));
	free(bytes);
}

/* One bad sub-buffer: an error that names it; with salvage the others, and a loss in its place. */
static void test_bad_page(void **state)
{
	for (unsigned int zip = 0; zip < 2; zip++) {
		struct forge kind = { .version = 7, .codec = zip ? "zstd" : NULL };
		uint64_t damaged, whole, at;
		struct pfs_err err;
		struct sum sum;
		size_t len;
		char *bytes = forge_bytes(&kind, &len), *buffer, expect[64];

		assert_int_equal(read_bytes(bytes, len, 0, &sum, &damaged, &err), 0);
		whole = sum.events;
		assert_int_equal(sum.lost, 1);
		/* the option BUFFER: offset, "", "mono", page size, number, processor, its offset */
		buffer = memmem(bytes, len, "\0mono\0\0\20\0\0\2\0\0\0\0\0\0\0", 18);
		assert_non_null(buffer);
		memcpy(&at, buffer + 18, 8);
		if (zip) {
			bytes[at + 30] ^= 0xff; /* in the first chunk */
			at += 4;
		} else {
			bytes[at + 9] |= 0x70; /* its length */
		}
		assert_int_equal(read_bytes(bytes, len, 0, &sum, &damaged, &err), -EBADMSG);
		assert_message(&err);
		snprintf(expect, sizeof(expect), "offset %llu", (unsigned long long)at);
		if (!strstr(err.msg, expect))
			fail_msg("%s: %s", expect, err.msg);
		assert_int_equal(read_bytes(bytes, len, PFS_DAT_SALVAGE, &sum, &damaged, &err), 0);
		assert_int_equal(damaged, 1);
		assert_true(sum.events > whole / 3);
		/* of a page that only says too much about itself everything is still there */
		assert_true(zip ? sum.events < whole : sum.events >= whole);
		assert_true(sum.lost >= 1);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truncated), cmocka_unit_test(test_flipped), cmocka_unit_test(test_claims),
		cmocka_unit_test(test_overlap),	  cmocka_unit_test(test_circle),  cmocka_unit_test(test_bad_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
