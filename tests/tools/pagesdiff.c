/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares what `pfscope pages` prints with the kernel's own page table, page by page. Called by the tests.
 *
 *     pfscope pages --pid 4711 --at @81.234567890 rec.dat | pagesdiff [-n LINES] [-u PERCENT] 0007.pages -
 *
 * The first file is a snapshot (tests/workload/snapshot.h). A page that is present and said to be absent, or the
 * other way round, is wrong, and so is one in only one of the two. A page said to be unknown is counted by the reason.
 * The kernel's own mappings may be missing, and pagemap has no pages of [vvar]. -n limits the wrong runs that are
 * printed (20). Exit status: 0; 1 for a wrong page, or if more than PERCENT of the pages not absent are unknown; 2 for
 * wrong usage or text.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_REASONS 64
#define PAGE	    4096

/* A run of alike pages: of a region that the kernel names, or as pfscope has it. */
struct run {
	uint64_t start, end;
	const char *state;  /* kernel: "present,file", "swapped" or "absent"; pfscope: present, absent or unknown */
	const char *how;    /* pfscope's */
	const char *reason; /* pfscope's */
	const char *name;   /* of the region */
};

struct runs {
	struct run *run;
	size_t nr;
};

struct reason {
	const char *name;
	uint64_t nr;
};

struct result {
	uint64_t present, absent, unknown, wrong;
	struct reason reasons[MAX_REASONS];
	unsigned int nr_reasons, nr_shown, max_shown;
};

static const struct run nothing = { .state = "missing", .how = "-", .reason = "-", .name = "" };

static void die(const char *what, const char *why, unsigned long line)
{
	fprintf(stderr, "pagesdiff: %s:%lu: %s\n", what, line, why);
	exit(2);
}

static char *copy(const char *text)
{
	char *s = strdup(text);

	if (!s)
		die(text, strerror(errno), 0);
	return s;
}

static void add(struct runs *runs, struct run run)
{
	struct run *last = runs->nr ? &runs->run[runs->nr - 1] : NULL;

	if (run.start >= run.end)
		return;
	if (last && run.start < last->end)
		die("a run begins before the end of the one before it", run.name, runs->nr);
	runs->run = realloc(runs->run, (runs->nr + 1) * sizeof(run));
	if (!runs->run)
		die("runs", strerror(errno), 0);
	runs->run[runs->nr++] = run;
}

/* ---- the kernel's: regions, below each of which are the runs of its pages ---- */

struct region {
	uint64_t at, end; /* what is not yet in a run */
	const char *name;
};

static void region_absent(struct runs *runs, struct region *r, uint64_t end)
{
	add(runs, (struct run){ r->at, end, "absent", "", "", r->name });
	r->at = end;
}

/* 55d0c0a00000-55d0c0a05000 r--p 00000000 fe:00 1234     /tmp/layout */
static bool read_region(struct runs *runs, struct region *r, const char *line)
{
	uint64_t start, end;
	int n = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*4s %*x %*x:%*x %*u%n", &start, &end, &n) != 2 || !n)
		return false;
	region_absent(runs, r, r->end);
	*r = (struct region){ start, end, copy(line + n + strspn(line + n, " ")) };
	return true;
}

/*  55d0c0a01000 2 present,file */
static bool read_pages(struct runs *runs, struct region *r, const char *line)
{
	uint64_t start, nr;
	char state[64];

	if (sscanf(line, " %" SCNx64 " %" SCNu64 " %63s", &start, &nr, state) != 3 || start < r->at ||
	    start + nr * PAGE > r->end)
		return false;
	region_absent(runs, r, start);
	r->at = start + nr * PAGE;
	add(runs, (struct run){ start, r->at, copy(state), "", "", r->name });
	return true;
}

/* ---- pfscope's ---- */

/* 7f5d58600000-7f5d58626000 r--p /usr/lib/libc.so.6 */
static bool read_said_region(struct region *r, const char *line)
{
	uint64_t start, end;
	int n = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*4s%n", &start, &end, &n) != 2 || !n)
		return false;
	*r = (struct region){ start, end, copy(line + n + strspn(line + n, " ")) };
	return true;
}

/*  7f5d58600000 2 present read,user - */
static bool read_said(struct runs *runs, struct region *r, const char *line)
{
	char state[64], how[128], reason[64];
	uint64_t start, nr;

	if (sscanf(line, " %" SCNx64 " %" SCNu64 " %63s %127s %63s", &start, &nr, state, how, reason) != 5 ||
	    start != r->at || start + nr * PAGE > r->end ||
	    (strcmp(state, "present") && strcmp(state, "absent") && strcmp(state, "unknown")))
		return false;
	r->at = start + nr * PAGE;
	add(runs, (struct run){ start, r->at, copy(state), copy(how), copy(reason), r->name });
	return true;
}

static void read_file(struct runs *runs, const char *path, bool kernel)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	struct region region = { 0, 0, "" };
	unsigned long number = 0;
	char *line = NULL;
	size_t size = 0;

	if (!f)
		die(path, strerror(errno), 0);
	while (getline(&line, &size, f) > 0) {
		bool good;

		number++;
		line[strcspn(line, "\n")] = '\0';
		if (*line == '#' || !*line || (!kernel && !strncmp(line, "  address ", 10)))
			continue;
		if (kernel)
			good = *line == ' ' ? read_pages(runs, &region, line) : read_region(runs, &region, line);
		else
			good = *line == ' ' ? read_said(runs, &region, line) : read_said_region(&region, line);
		if (!good)
			die(path, kernel ? "not a line of a snapshot" : "not a line of `pfscope pages'", number);
	}
	if (kernel)
		region_absent(runs, &region, region.end);
	if (!number)
		die(path, "is empty", 0);
	free(line);
	if (f != stdin)
		fclose(f);
}

/* ---- the comparison ---- */

/* No page of it is counted: pagemap does not know these, or recordings need not have them. */
static bool is_exempt(const struct run *kernel, const struct run *said)
{
	static const char *const unknown_to_pagemap[] = { "[vvar]", "[vvar_vclock]", "[vsyscall]" };

	for (unsigned int i = 0; i < sizeof(unknown_to_pagemap) / sizeof(*unknown_to_pagemap); i++)
		if (!strcmp(kernel->name, unknown_to_pagemap[i]))
			return true;
	return said == &nothing && !strcmp(kernel->name, "[vdso]");
}

static void count_reason(struct result *result, const char *name, uint64_t nr)
{
	unsigned int i;

	for (i = 0; i < result->nr_reasons && strcmp(result->reasons[i].name, name);)
		i++;
	if (i == MAX_REASONS)
		i--;
	else if (i == result->nr_reasons)
		result->reasons[result->nr_reasons++].name = name;
	result->reasons[i].nr += nr;
}

static bool is_wrong(const struct run *kernel, const struct run *said)
{
	if (kernel == &nothing || said == &nothing)
		return true;
	return strcmp(said->state, "unknown") &&
	       !strcmp(said->state, "present") != !strncmp(kernel->state, "present", 7);
}

static void count(struct result *result, uint64_t start, uint64_t end, const struct run *kernel, const struct run *said)
{
	const char *name = kernel == &nothing ? said->name : kernel->name;
	uint64_t nr = (end - start) / PAGE;

	if (is_exempt(kernel, said))
		return;
	if (is_wrong(kernel, said)) {
		result->wrong += nr;
		if (result->nr_shown++ < result->max_shown)
			printf("%" PRIx64 "-%" PRIx64 " %" PRIu64 " kernel %s, said %s %s %s, %s\n", start, end, nr,
			       kernel->state, said->state, said->how, said->reason, *name ? name : "anon");
	} else if (!strcmp(said->state, "unknown")) {
		result->unknown += nr;
		count_reason(result, said->reason, nr);
	} else if (!strcmp(said->state, "present")) {
		result->present += nr;
	} else {
		result->absent += nr;
	}
}

/* What covers `at`, or `nothing`; *end is moved to where that changes. Runs that end before are passed over. */
static const struct run *run_at(const struct runs *runs, size_t *i, uint64_t at, uint64_t *end)
{
	const struct run *run;
	uint64_t until;

	while (*i < runs->nr && runs->run[*i].end <= at)
		(*i)++;
	if (*i == runs->nr)
		return &nothing;
	run = &runs->run[*i];
	until = at < run->start ? run->start : run->end;
	*end = until < *end ? until : *end;
	return at < run->start ? &nothing : run;
}

static void compare(const struct runs *kernel, const struct runs *said, struct result *result)
{
	size_t i = 0, j = 0;
	uint64_t at = 0, end;

	while (i < kernel->nr || j < said->nr) {
		const struct run *k, *s;

		end = UINT64_MAX;
		k = run_at(kernel, &i, at, &end);
		s = run_at(said, &j, at, &end);
		if (k != &nothing || s != &nothing)
			count(result, at, end, k, s);
		at = end;
	}
}

static void sum_up(const struct result *result)
{
	uint64_t all = result->present + result->absent + result->unknown + result->wrong;

	if (result->nr_shown > result->max_shown)
		printf("... and %u more\n", result->nr_shown - result->max_shown);
	printf("%" PRIu64 " pages: %" PRIu64 " present, %" PRIu64 " absent, %" PRIu64 " unknown", all, result->present,
	       result->absent, result->unknown);
	for (unsigned int i = 0; i < result->nr_reasons; i++)
		printf("%s%s %" PRIu64 "%s", i ? ", " : " (", result->reasons[i].name, result->reasons[i].nr,
		       i + 1 == result->nr_reasons ? ")" : "");
	printf(", %" PRIu64 " wrong\n", result->wrong);
}

static int usage(void)
{
	fprintf(stderr, "usage: pagesdiff [-n LINES] [-u PERCENT] SNAPSHOT PAGES\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct runs kernel = { 0 }, said = { 0 };
	struct result result = { .max_shown = 20 };
	double limit = 100;
	int option;

	while ((option = getopt(argc, argv, "n:u:")) >= 0) {
		if (option == 'n')
			result.max_shown = strtoul(optarg, NULL, 10);
		else if (option == 'u')
			limit = atof(optarg);
		else
			return usage();
	}
	if (argc - optind != 2)
		return usage();
	read_file(&kernel, argv[optind], true);
	read_file(&said, argv[optind + 1], false);
	compare(&kernel, &said, &result);
	sum_up(&result);
	return result.wrong || result.unknown * 100.0 > limit * (result.present + result.unknown);
}
