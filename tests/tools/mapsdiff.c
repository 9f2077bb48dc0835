/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares two texts in the form of /proc/PID/maps region by region: start, end and permissions;
 * with --full also offset, device, inode and path. Called by the tests, on a workload's checkpoint
 * and on what `pfscope maps` says of the same moment.
 *
 *     mapsdiff --full run.4711.3.maps reconstructed.maps
 *
 * Lines beginning with # are comments. A region that only one text has does not shift the others.
 * Exit status: 0 equal, 1 different (the first differences are printed), 2 wrong usage or no maps
 * text.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SHOWN 10
#define MAX_SKIP  8

/* One line: 7f5d58600000-7f5d58626000 r--p 00000000 fe:00 1234     /usr/lib/libc.so.6 */
struct line {
	uint64_t start, end, off, ino;
	unsigned int major, minor;
	char perms[5];
	char *path; /* in text */
	char *text; /* the whole line */
};

struct maps {
	const char *name;
	struct line *lines;
	size_t nr;
};

struct options {
	bool full;
	const char *skip[MAX_SKIP]; /* paths of regions that do not count */
	unsigned int nr_skip;
	unsigned long max_shown;
};

static bool skipped(const struct options *opt, const char *path)
{
	for (unsigned int i = 0; i < opt->nr_skip; i++)
		if (!strcmp(opt->skip[i], path))
			return true;
	return false;
}

static int parse_line(struct line *line, char *text)
{
	int n = 0;

	line->text = text;
	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 "%n", &line->start, &line->end,
		   line->perms, &line->off, &line->major, &line->minor, &line->ino, &n) != 7 ||
	    !n || line->start >= line->end)
		return -EINVAL;
	line->path = text + n + strspn(text + n, " ");
	return 0;
}

/* Adds the line, which is kept, unless it is skipped. */
static int add_line(struct maps *maps, const struct options *opt, const char *text)
{
	char *copy = strdup(text);
	struct line line, *bigger;

	if (!copy)
		return -ENOMEM;
	copy[strcspn(copy, "\n")] = '\0';
	if (parse_line(&line, copy)) {
		free(copy);
		return -EINVAL;
	}
	if (skipped(opt, line.path)) {
		free(copy);
		return 0;
	}
	bigger = realloc(maps->lines, (maps->nr + 1) * sizeof(*bigger));
	if (!bigger) {
		free(copy);
		return -ENOMEM;
	}
	maps->lines = bigger;
	maps->lines[maps->nr++] = line;
	return 0;
}

/* Prints what is wrong itself. 0 or -errno. */
static int read_maps(struct maps *maps, const struct options *opt, const char *name)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "re") : stdin;
	unsigned long number = 0;
	char *text = NULL;
	size_t size = 0;
	int err = 0;

	maps->name = name;
	if (!f) {
		err = -errno;
		fprintf(stderr, "mapsdiff: %s: %s\n", name, strerror(errno));
		return err;
	}
	while (!err && getline(&text, &size, f) > 0) {
		number++;
		if (*text != '#')
			err = add_line(maps, opt, text);
	}
	if (err)
		fprintf(stderr, "mapsdiff: %s:%lu: %s: %s", name, number,
			err == -EINVAL ? "not a line of /proc/PID/maps" : strerror(-err), text);
	free(text);
	if (f != stdin)
		fclose(f);
	return err;
}

static void free_maps(struct maps *maps)
{
	for (size_t i = 0; i < maps->nr; i++)
		free(maps->lines[i].text);
	free(maps->lines);
}

/* Name of the first field that differs, or NULL. */
static const char *difference(const struct line *a, const struct line *b, bool full)
{
	if (a->end != b->end)
		return "end";
	if (strcmp(a->perms, b->perms))
		return "permissions";
	if (!full)
		return NULL;
	if (a->off != b->off)
		return "offset";
	if (a->major != b->major || a->minor != b->minor)
		return "device";
	if (a->ino != b->ino)
		return "inode";
	return strcmp(a->path, b->path) ? "path" : NULL;
}

/* a or b is NULL where the other one has a region more. */
static void show(const struct line *a, const struct line *b, const char *what)
{
	if (a)
		printf("- %s\n", a->text);
	if (b)
		printf("+ %s%s%s\n", b->text, a ? "    <- " : "", a ? what : "");
}

/* The number of differences. Both are sorted by start, as the kernel prints them. */
static unsigned long compare(const struct maps *a, const struct maps *b, const struct options *opt)
{
	unsigned long nr = 0;
	size_t i = 0, j = 0;

	while (i < a->nr || j < b->nr) {
		const struct line *x = i < a->nr ? &a->lines[i] : NULL;
		const struct line *y = j < b->nr ? &b->lines[j] : NULL;
		const char *what = "start";

		if (x && y && x->start == y->start)
			what = difference(x, y, opt->full);
		else if (!y || (x && x->start < y->start))
			y = NULL;
		else
			x = NULL;
		i += x != NULL;
		j += y != NULL;
		if (what && nr++ < opt->max_shown)
			show(x, y, what);
	}
	return nr;
}

static int usage(void)
{
	fprintf(stderr, "usage: mapsdiff [--full] [--skip PATH] [--max N] MAPS MAPS\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct options opt = { .max_shown = MAX_SHOWN };
	struct maps a = { 0 }, b = { 0 };
	unsigned long nr = 0;
	int i, status = 2;

	for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		if (!strcmp(argv[i], "--full"))
			opt.full = true;
		else if (!strcmp(argv[i], "--skip") && i + 1 < argc && opt.nr_skip < MAX_SKIP)
			opt.skip[opt.nr_skip++] = argv[++i];
		else if (!strcmp(argv[i], "--max") && i + 1 < argc)
			opt.max_shown = strtoul(argv[++i], NULL, 10);
		else
			return usage();
	}
	if (argc - i != 2)
		return usage();
	if (read_maps(&a, &opt, argv[i]) || read_maps(&b, &opt, argv[i + 1]))
		goto out;
	nr = compare(&a, &b, &opt);
	if (nr)
		printf("%lu different: %s has %zu regions (-), %s has %zu (+)\n", nr, a.name, a.nr, b.name, b.nr);
	status = nr != 0;
out:
	free_maps(&a);
	free_maps(&b);
	return status;
}
