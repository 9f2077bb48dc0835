/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings of a real kernel (tests/data/stap) through the decoder: the events of a small one, line by
 * line; of all, that nothing is missing and that the kernel counted just the faults that were recorded.
 */
#include "support/stap_forge.h"
#include "support/line_echo.h"
#include "view/view.h"

#include <stdio.h>

#define DATA "tests/data/stap/"

/* All of a file; to be freed. */
static char *read_all(const char *name, size_t *len)
{
	char path[256], *data = malloc(1 << 20);
	FILE *file;

	snprintf(path, sizeof(path), DATA "%s", name);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_non_null(data);
	*len = fread(data, 1, (1 << 20) - 1, file);
	data[*len] = '\0';
	fclose(file);
	return data;
}

static void decode(struct pfs_decoder *d, const char *name)
{
	const struct pfs_decode_stats *stats = pfs_decoder_stats(d);
	size_t len;
	char *data = read_all(name, &len);

	assert_int_equal(len % sizeof(struct pfs_rec), 0);
	for (size_t at = 0; at < len; at += sizeof(struct pfs_rec))
		assert_int_equal(pfs_decoder_feed(d, (const struct pfs_rec *)(data + at)), 0);
	assert_int_equal(pfs_decoder_finish(d), 0);
	assert_true(stats->ready && stats->ended && stats->records > 50);
	assert_int_equal(stats->lost + stats->skipped + stats->damaged + stats->late, 0);
	assert_int_equal(stats->torn + stats->corrected, 0);
	free(data);
}

static int put_line(void *ctx, const struct pfs_event *ev)
{
	char line[20000];
	ssize_t len = pfs_line_write(ev, line, sizeof(line));

	assert_true(len > 0);
	assert_int_equal(fwrite(line, 1, len, ctx), len);
	return 0;
}

static void test_lines(void **state)
{
	char *text = NULL, *lines, *expected;
	size_t size, len;
	FILE *out = open_memstream(&text, &size);
	struct pfs_sink sink = { .fn = put_line, .ctx = out };
	struct pfs_decoder *d = pfs_decoder_new(&sink);

	assert_non_null(d);
	decode(d, "ls.rec");
	fclose(out);
	lines = read_all("ls.events", &len); /* of version 1 */
	reread(lines, &expected);
	assert_string_equal(text, expected);
	free(lines);
	free(expected);
	free(text);
	pfs_decoder_free(d);
}

static int apply(void *ctx, const struct pfs_event *ev)
{
	return pfs_model_apply(ctx, ev, NULL);
}

static void check(const char *name, unsigned int nr_procs, uint64_t nr_faults, uint64_t nr_unasked)
{
	struct pfs_event source = {
		.kind = PFS_NOTE, .key = "source", .value = "stap", .have = PFS_HAS(PFS_F_KEY) | PFS_HAS(PFS_F_VALUE)
	};
	struct pfs_model *model = pfs_model_new();
	struct pfs_sink sink = { .fn = apply, .ctx = model };
	struct pfs_decoder *d = pfs_decoder_new(&sink);
	struct pfs_view_options options = { .out = stderr };
	struct pfs_err err = { "" };

	assert_int_equal(pfs_model_apply(model, &source, NULL), 0);
	decode(d, name);
	assert_int_equal(model->nr_procs, nr_procs);
	assert_int_equal(model->counts.faults, nr_faults);
	assert_int_equal(model->counts.unasked_minor, nr_unasked);
	assert_int_equal(model->counts.outside, 0);
	options.out = fopen("/dev/null", "we");
	assert_int_equal(pfs_view_find("check")->draw(model, &options, &err), 0);
	fclose(options.out);
	pfs_decoder_free(d);
	pfs_model_free(model);
}

static void test_counts(void **state)
{
	check("ls.rec", 1, 9, 0);
	check("target.rec", 2, 186, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
