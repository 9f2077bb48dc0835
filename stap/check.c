/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the records that come of a point say. In the order of the script. */
static const struct { const char *name; bool at_return; const char *tells; } tells[] = {
	{ "exceptions:page_fault_user", false, "faults: instruction, error code" },
	{ "exceptions:page_fault_kernel", false, "faults in kernel mode: instruction, error code" },
	{ "handle_mm_fault", false, "faults: address, flags, region, what was there before" },
	{ "handle_mm_fault", true, "faults: minor or major, page frame, latency" },
	{ "filemap_map_pages", false, "pages of a file offered beside a fault" },
	{ "maple_tree:ma_write", false, "which part of a layout has changed" },
	{ "up_write", false, "layouts: told when their lock is given back" },
	{ "downgrade_write", false, "layouts: told before munmap frees pages" },
	{ "unmap_vmas", false, "pages given up: munmap, exec, mapping over others" },
	{ "exit_mmap", false, "the end of an address space" },
	{ "move_page_tables", false, "pages moved by mremap" },
	{ "move_page_tables", true, "pages moved by mremap: where they are" },
	{ "sched:sched_process_fork", false, "new processes and threads" },
	{ "sched:sched_process_exec", false, "new programs" },
	{ "sched:sched_process_exit", false, "ends, and the kernel's own counts" },
	{ "task:task_rename", false, "names of threads" },
	{ "commit_creds", false, "processes that become another user's, for --user" },
	{ "signal:signal_generate", false, "faults that end in a signal" },
};

/*
 * A line of the script:
 *     probe kernel.trace("maple_tree:ma_write") ? { pfs_at_ma_write($mas) }
 *     probe @place("handle_mm_fault").return.maxactive(4096) { pfs_at_fault_return() }
 * False: it places no probe in the kernel's code.
 */
static bool parse_line(const char *line, size_t len, struct pfs_point *point)
{
	const char *end = line + len, *brace = memchr(line, '{', len), *name, *quote;

	*point = (struct pfs_point){ .needed = true };
	point->tracepoint = !strncmp(line, "probe kernel.trace(\"", 20);
	if ((!point->tracepoint && strncmp(line, "probe @place(\"", 14)) || !brace)
		return false;
	name = strchr(line, '"') + 1;
	quote = memchr(name, '"', end - name);
	if (!quote || quote - name >= (long)sizeof(point->name))
		return false;
	memcpy(point->name, name, quote - name);
	point->at_return = memmem(quote, brace - quote, ".return", 7);
	point->needed = !memchr(quote, '?', brace - quote) && !memchr(quote, '!', brace - quote);
	for (size_t i = 0; i < sizeof(tells) / sizeof(tells[0]); i++)
		if (!strcmp(tells[i].name, point->name) && tells[i].at_return == point->at_return)
			point->tells = tells[i].tells;
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

		if (parse_line(line, len, &point) && point.needed) {
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
 * A line of stap's, behind "# probes":
 *     kernel.function("up_write@kernel/locking/rwsem.c:1623") ...
 *     kprobe.function("up_write") ...
 */
static bool is_at(const struct pfs_point *point, const char *line, size_t len)
{
	const char *name = memchr(line, '"', len), *behind;
	size_t name_len = strlen(point->name);
	bool at_return;

	if (strncmp(line, "kernel.", 7) && strncmp(line, "kprobe.", 7))
		return false;
	if (!name++ || strncmp(name, point->name, name_len) || !strchr("\"@", name[name_len]))
		return false;
	if (point->tracepoint != !strncmp(line, "kernel.trace(", 13))
		return false;
	behind = strpbrk(name, ")\n");
	at_return = behind && !strncmp(behind, ").return", 8);
	return at_return == point->at_return;
}

void pfs_points_find(struct pfs_point *points, unsigned int nr, const char *said)
{
	const char *line = strstr(said, "# probes\n");

	while (line && *line) {
		size_t len = strcspn(line, "\n");

		for (unsigned int i = 0; i < nr; i++)
			points[i].found |= is_at(&points[i], line, len);
		line += len + (line[len] == '\n');
	}
}
