/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "module/check.h"

#include "module/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the recording gets from a point. */
static const struct {
	const char *name;
	bool at_return;
	const char *records;
} known[] = {
	{ "exceptions:page_fault_user", false, "faults: instruction, error code" },
	{ "exceptions:page_fault_kernel", false, "faults in kernel mode: instruction, error code" },
	{ "handle_mm_fault", false, "faults: address, flags, region, what was there before" },
	{ "handle_mm_fault", true, "faults: minor or major, page frame, latency" },
	{ "filemap_map_pages", false, "pages of a file offered beside a fault" },
	{ "filemap:mm_filemap_delete_from_page_cache", false, "pages of files that left the page cache" },
	{ "change_protection", false, "hidden pages that a new protection makes accessible" },
	{ "do_madvise", false, "pages discarded by madvise" },
	{ "do_madvise", true, "whether madvise succeeded" },
	{ "mcopy_atomic", false, "pages filled by UFFDIO_COPY" },
	{ "mcopy_atomic", true, "pages filled by UFFDIO_COPY: how many" },
	{ "mfill_zeropage", false, "pages filled by UFFDIO_ZEROPAGE" },
	{ "mfill_zeropage", true, "pages filled by UFFDIO_ZEROPAGE: how many" },
	{ "mcopy_continue", false, "pages filled by UFFDIO_CONTINUE" },
	{ "mcopy_continue", true, "pages filled by UFFDIO_CONTINUE: how many" },
	{ "mfill_atomic_copy", false, "pages filled by UFFDIO_COPY" },
	{ "mfill_atomic_copy", true, "pages filled by UFFDIO_COPY: how many" },
	{ "mfill_atomic_zeropage", false, "pages filled by UFFDIO_ZEROPAGE" },
	{ "mfill_atomic_zeropage", true, "pages filled by UFFDIO_ZEROPAGE: how many" },
	{ "mfill_atomic_continue", false, "pages filled by UFFDIO_CONTINUE" },
	{ "mfill_atomic_continue", true, "pages filled by UFFDIO_CONTINUE: how many" },
	{ "move_pages", false, "pages filled by UFFDIO_MOVE" },
	{ "move_pages", true, "pages filled by UFFDIO_MOVE: how many" },
	{ "maple_tree:ma_write", false, "which part of a layout has changed" },
	{ "up_write", false, "layouts: written when their lock is released" },
	{ "downgrade_write", false, "layouts: written before munmap frees pages" },
	{ "unmap_vmas", false, "pages unmapped: by munmap, exec, a mapping over others" },
	{ "exit_mmap", false, "the end of an address space" },
	{ "move_page_tables", false, "pages moved by mremap" },
	{ "move_page_tables", true, "pages moved by mremap: where they are" },
	{ "sched:sched_process_fork", false, "new processes and threads" },
	{ "sched:sched_process_exec", false, "new programs" },
	{ "sched:sched_process_exit", false, "exits, and the kernel's own counts" },
	{ "task:task_rename", false, "names of threads" },
	{ "commit_creds", false, "processes that change their user, for --user" },
	{ "signal:signal_generate", false, "faults that end in a signal" },
	{ "kmem:kmem_cache_alloc", false, "objects of caches" },
	{ "kmem:kmem_cache_free", false, "objects of caches that are freed" },
	{ "kmem:kmalloc", false, "memory of kmalloc()" },
	{ "kmem:kfree", false, "memory that kfree() frees" },
	{ "kmem:mm_page_alloc", false, "pages, with --pages" },
	{ "kmem:mm_page_free", false, "pages that are freed, with --pages" },
};

/*
 * A line of the script:
 *     probe @place("handle_mm_fault").return.maxactive(4096) { pfs_at_fault_return() }
 */
static bool parse_function(const char *line, const char *end, struct pfs_point *point)
{
	static const char begin[] = "probe @place(\"";
	const char *name = line + sizeof(begin) - 1, *brace, *quote;

	if (strncmp(line, begin, sizeof(begin) - 1))
		return false;
	brace = memchr(line, '{', end - line);
	quote = memchr(name, '"', end - name);
	if (!brace || !quote || quote - name >= (long)sizeof(point->name))
		return false;
	memcpy(point->name, name, quote - name);
	point->at_return = memmem(quote, brace - quote, ".return", 7);
	point->needed = !memchr(quote, '?', brace - quote) && !memchr(quote, '!', brace - quote);
	return true;
}

/*
 * Or:
 *	PFS_TRACEPOINT(sched, sched_process_fork, pfs_on_fork, "fork", PFS_NEEDED),
 */
static bool parse_tracepoint(const char *line, const char *end, struct pfs_point *point)
{
	static const char begin[] = "\tPFS_TRACEPOINT(";
	char system[32], name[64];

	if (strncmp(line, begin, sizeof(begin) - 1) ||
	    sscanf(line + sizeof(begin) - 1, "%31[^,\n], %63[^,\n], ", system, name) != 2)
		return false;
	snprintf(point->name, sizeof(point->name), "%s:%s", system, name);
	point->tracepoint = true;
	point->needed = memmem(line, end - line, "PFS_NEEDED", 10);
	return true;
}

static bool parse_line(const char *line, size_t len, struct pfs_point *point)
{
	*point = (struct pfs_point){ .state = PFS_POINT_NO };
	if (!parse_function(line, line + len, point) && !parse_tracepoint(line, line + len, point))
		return false;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, point->name) && known[i].at_return == point->at_return)
			point->records = known[i].records;
	return true;
}

unsigned int pfs_points_of(const char *script, struct pfs_point points[PFS_POINTS_MAX])
{
	unsigned int nr = 0;

	for (const char *line = script; *line && nr < PFS_POINTS_MAX;) {
		size_t len = strcspn(line, "\n");

		nr += parse_line(line, len, &points[nr]);
		line += len + (line[len] == '\n');
	}
	return nr;
}

char *pfs_script_optional(const char *script)
{
	char *result = NULL;
	size_t size;
	FILE *out = open_memstream(&result, &size);
	struct pfs_point point;

	if (!out)
		return NULL;
	for (const char *line = script; *line;) {
		size_t len = strcspn(line, "\n"), head = 0;

		if (parse_line(line, len, &point) && point.needed && !point.tracepoint) {
			head = strcspn(line, "{");
			fprintf(out, "%.*s? ", (int)head, line);
		}
		fprintf(out, "%.*s\n", (int)(len - head), line + head);
		line += len + (line[len] == '\n');
	}
	if (!fclose(out))
		return result;
	free(result);
	return NULL;
}

/*
 * A line of stap's output, after "# probes":
 *     kernel.function("up_write@kernel/locking/rwsem.c:1623") ...
 *     kprobe.function("up_write") ...
 */
static bool is_at(const struct pfs_point *point, const char *line, size_t len)
{
	const char *name = memchr(line, '"', len), *after;
	size_t name_len = strlen(point->name);

	if (point->tracepoint || (strncmp(line, "kernel.", 7) && strncmp(line, "kprobe.", 7)))
		return false;
	if (!name++ || strncmp(name, point->name, name_len) || !strchr("\"@", name[name_len]))
		return false;
	after = strpbrk(name, ")\n");
	return (after && !strncmp(after, ").return", 8)) == point->at_return;
}

void pfs_points_find(struct pfs_point *points, unsigned int nr, const char *output)
{
	const char *line = strstr(output, "# probes\n");

	while (line && *line) {
		size_t len = strcspn(line, "\n");

		for (unsigned int i = 0; i < nr; i++)
			if (is_at(&points[i], line, len))
				points[i].state = PFS_POINT_YES;
		line += len + (line[len] == '\n');
	}
}

/* For each tracepoint the kernel has a function that calls the registered probes. */
void pfs_points_look_up(struct pfs_point *points, unsigned int nr, FILE *symbols)
{
	static const char iterator[] = "__traceiter_";
	char name[PFS_SYMBOL_MAX];

	for (unsigned int i = 0; i < nr && !symbols; i++)
		if (points[i].tracepoint)
			points[i].state = PFS_POINT_UNKNOWN;
	while (symbols && pfs_kernel_symbol_next(symbols, name)) {
		if (strncmp(name, iterator, sizeof(iterator) - 1))
			continue;
		for (unsigned int i = 0; i < nr; i++)
			if (points[i].tracepoint &&
			    !strcmp(strchr(points[i].name, ':') + 1, name + sizeof(iterator) - 1))
				points[i].state = PFS_POINT_YES;
	}
}
