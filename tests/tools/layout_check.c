/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds the layouts that a recording gives against the kernel's own, at each of many moments.
 *
 *     layout_check run.dat run.4711.0.maps run.4711.1.maps ...
 *
 * The files are a workload's checkpoints (tests/workload/checkpoint.h): /proc/self/maps behind a line
 * "# t0=NS t1=NS pid=N tid=N". The recording (trace.dat, text or event lines) is read once; each layout
 * is compared when all events up to its t0 are in the model and nothing later is. All of every line
 * must be equal but blanks at its end. --coarse: the recording's times are whole microseconds, so the
 * middle between t0 and t1 is taken; nothing changes between the two.
 * Exit status: 0 all equal, 1 differences (the first ones are printed), 2 wrong usage or no such file.
 */
#include "assemble/assemble.h"
#include "dat/dat.h"
#include "event/line.h"
#include "text/text.h"
#include "view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SHOWN	3 /* checkpoints whose differences are printed */
#define MAX_SHOWN_LINES 8 /* of each */

struct point {
	const char *path;
	uint64_t at_ns;
	int32_t pid;
};

struct check {
	struct pfs_model *model;
	struct point *points; /* in order of time */
	unsigned int nr_points, nr_done, nr_equal;
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "layout_check: %s: %s\n", what, why);
	exit(2);
}

/* ---- two layouts ---- */

/* A text that is walked line by line; blanks at the end of lines and comments are not seen. */
struct lines {
	char *next;
	char *line; /* the one looked at, NULL at the end */
	uint64_t start;
};

static void lines_next(struct lines *l)
{
	do {
		size_t len = strcspn(l->next, "\n");
		char *end = l->next + len;

		l->line = *l->next ? l->next : NULL;
		l->next = *end ? end + 1 : end;
		*end = '\0';
		while (end > l->line && l->line && end[-1] == ' ')
			*--end = '\0';
	} while (l->line && l->line[0] == '#');
	l->start = l->line ? strtoull(l->line, NULL, 16) : UINT64_MAX;
}

/* Prints up to max differences: - what the kernel said, + what the recording gives. Are they equal? */
static bool compare(const struct point *point, char *kernel, char *ours, unsigned int max)
{
	struct lines k = { .next = kernel }, o = { .next = ours };
	unsigned int nr = 0;

	lines_next(&k);
	lines_next(&o);
	while (k.line || o.line) {
		bool take_k = k.line && k.start <= o.start, take_o = o.line && o.start <= k.start;

		if (!take_k || !take_o || strcmp(k.line, o.line)) {
			if (!nr && max)
				printf("%s at %" PRIu64 ".%09" PRIu64 ":\n", point->path, point->at_ns / 1000000000,
				       point->at_ns % 1000000000);
			if (take_k && nr < max)
				printf("  - %s\n", k.line);
			if (take_o && nr < max)
				printf("  + %s\n", o.line);
			nr++;
		}
		if (take_k)
			lines_next(&k);
		if (take_o)
			lines_next(&o);
	}
	return !nr;
}

/* A whole file; the caller frees it. */
static char *read_all(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (!f)
		die(path, strerror(errno));
	if (getdelim(&text, &size, '\0', f) < 0)
		die(path, "is empty");
	fclose(f);
	return text;
}

/* The layout that the model has of the process now; the caller frees it. */
static char *layout_of(const struct pfs_model *model, int32_t pid)
{
	struct pfs_filter filter = { .pids = &pid, .nr_pids = 1 };
	struct pfs_view_options options = { .filter = &filter };
	struct pfs_err err = { "" };
	char *text = NULL;
	size_t size;

	options.out = open_memstream(&text, &size);
	if (!options.out)
		die("a layout", strerror(errno));
	if (pfs_view_maps_draw(model, &options, &err))
		fprintf(options.out, "%s\n", err.msg);
	fclose(options.out);
	return text;
}

static void check_point(struct check *c, const struct point *point)
{
	unsigned int failed = c->nr_done - c->nr_equal, max = failed < MAX_SHOWN ? MAX_SHOWN_LINES : 0;
	char *kernel = read_all(point->path), *ours = layout_of(c->model, point->pid);

	c->nr_equal += compare(point, kernel, ours, max);
	c->nr_done++;
	free(kernel);
	free(ours);
}

/* Those whose time is over once something happens at ts_ns. */
static void check_until(struct check *c, uint64_t ts_ns)
{
	while (c->nr_done < c->nr_points && c->points[c->nr_done].at_ns < ts_ns)
		check_point(c, &c->points[c->nr_done]);
}

static int take(void *ctx, const struct pfs_event *ev)
{
	struct check *c = ctx;

	check_until(c, ev->ts_ns);
	return pfs_model_apply(c->model, ev, NULL);
}

/* ---- the checkpoints ---- */

static int by_time(const void *left, const void *right)
{
	const struct point *a = left, *b = right;

	return a->at_ns < b->at_ns ? -1 : a->at_ns > b->at_ns;
}

/* # t0=81234567890 t1=81234601234 pid=4711 tid=4712 */
static struct point point_of(const char *path, bool coarse)
{
	struct point point = { .path = path };
	FILE *f = fopen(path, "re");
	uint64_t t0, t1;

	if (!f)
		die(path, strerror(errno));
	if (fscanf(f, "# t0=%" SCNu64 " t1=%" SCNu64 " pid=%" SCNd32, &t0, &t1, &point.pid) != 3)
		die(path, "is no checkpoint");
	fclose(f);
	point.at_ns = coarse ? t0 + (t1 - t0) / 2 : t0;
	return point;
}

/* ---- the recording ---- */

static int each_block(int fd, int (*fn)(void *ctx, const char *buf, size_t len), void *ctx)
{
	static char buf[1 << 16];
	ssize_t got;
	int ret = 0;

	while (!ret && (got = read(fd, buf, sizeof(buf))) > 0)
		ret = fn(ctx, buf, got);
	return ret ? ret : got < 0 ? -errno : 0;
}

static int read_dat(int fd, const char *path, const struct pfs_sink *sink)
{
	struct pfs_assembler *a = pfs_assembler_new(sink);
	struct pfs_err err = { "" };
	struct pfs_dat *dat = pfs_dat_open(fd, path, 0, &err);
	int ret = -EINVAL;

	if (a && dat)
		ret = pfs_dat_read(dat, 0, pfs_assembler_feed, a, &err);
	if (ret)
		die(path, err.msg);
	pfs_dat_close(dat);
	pfs_assembler_free(a);
	return ret;
}

static int read_text(int fd, const struct pfs_sink *sink)
{
	struct pfs_assembler *a = pfs_assembler_new(sink);
	struct pfs_text *text = pfs_text_new(pfs_assembler_feed, a, NULL);
	int ret = each_block(fd, pfs_text_feed, text);

	if (!ret)
		ret = pfs_text_finish(text);
	pfs_text_free(text);
	pfs_assembler_free(a);
	return ret;
}

static int read_lines(int fd, const struct pfs_sink *sink)
{
	struct pfs_line_reader *reader = pfs_line_reader_new(sink);
	int ret = each_block(fd, pfs_line_reader_feed, reader);

	if (!ret)
		ret = pfs_line_reader_end(reader);
	pfs_line_reader_free(reader);
	return ret;
}

static void read_recording(const char *path, const struct pfs_sink *sink)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;
	char head[4096];
	ssize_t len;

	if (fd < 0 || (len = pread(fd, head, sizeof(head), 0)) < 0)
		die(path, strerror(errno));
	if (pfs_dat_is_magic(head, len))
		ret = read_dat(fd, path, sink);
	else if (pfs_line_probe(head, len))
		ret = read_lines(fd, sink);
	else
		ret = read_text(fd, sink);
	if (ret)
		die(path, strerror(-ret));
	close(fd);
}

int main(int argc, char **argv)
{
	bool coarse = argc > 1 && !strcmp(argv[1], "--coarse");
	struct check c = { .model = pfs_model_new() };
	struct pfs_sink sink = { .fn = take, .ctx = &c };

	argv += 1 + coarse;
	argc -= 1 + coarse;
	if (argc < 2 || !c.model) {
		fprintf(stderr, "usage: layout_check [--coarse] RECORDING CHECKPOINT...\n");
		return 2;
	}
	c.points = calloc(argc, sizeof(*c.points));
	if (!c.points)
		die("checkpoints", strerror(errno));
	for (int i = 1; i < argc; i++)
		c.points[c.nr_points++] = point_of(argv[i], coarse);
	qsort(c.points, c.nr_points, sizeof(*c.points), by_time);
	read_recording(argv[0], &sink);
	check_until(&c, UINT64_MAX);
	printf("%u checkpoints, %u equal\n", c.nr_done, c.nr_equal);
	free(c.points);
	pfs_model_free(c.model);
	return c.nr_equal != c.nr_done;
}
