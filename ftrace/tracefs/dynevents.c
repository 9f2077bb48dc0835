/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes at handle_mm_fault, see dynevents.h.
 */
#include "tracefs/dynevents.h"

#include "base/number.h"
#include "tracefs/btf.h"

#include <tracefs.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "dynamic_events"

/* Three ways to make the two events. A return probe takes 4096 faults that sleep at once, the kernel's limit. */
static const struct way {
	const char *how, *begin, *end;
	bool by_name; /* the kernel finds arguments by name itself (6.4 and later, with BTF) */
} ways[] = {
	{ "kprobe btf", "p", "r4096:%s/%s handle_mm_fault ret=$retval:x32\n", true },
	{ "kprobe", "p", "r4096:%s/%s handle_mm_fault ret=$retval:x32\n", false },
	{ "fprobe btf", "f", "f:%s/%s handle_mm_fault%%return ret=$retval:x32\n", true },
};

void pfs_dynevents_group(const char *dir, char *group, size_t size)
{
	snprintf(group, size, "%s", strrchr(dir, '/') + 1);
	while ((group = strchr(group, '-')))
		*group++ = '_';
}

/* By libtracefs as text: its calls for dynamic events (version 1.6.4) have no fprobes. */
static int append_line(const char *line)
{
	errno = 0;
	return tracefs_instance_file_append(NULL, FILE_NAME, line) < 0 ? -(errno ? errno : EIO) : 0;
}

void pfs_dynevents_remove(const char *group)
{
	static const char *const events[] = { PFS_HANDLER_EVENT, PFS_HANDLER_END_EVENT };
	char line[256];

	for (int i = 0; i < 2; i++) {
		snprintf(line, sizeof(line), "-:%s/%s\n", group, events[i]);
		append_line(line);
	}
}

/* The places of the arguments, from the kernel's type information. */
static int args_by_place(char *args, size_t size, bool region, struct pfs_err *err)
{
	struct pfs_btf *btf = pfs_btf_load(err);
	int address, flags, vma, start, end, len;

	if (!btf)
		return -errno;
	address = pfs_btf_param(btf, "handle_mm_fault", "address");
	flags = pfs_btf_param(btf, "handle_mm_fault", "flags");
	vma = pfs_btf_param(btf, "handle_mm_fault", "vma");
	start = pfs_btf_member(btf, "vm_area_struct", "vm_start");
	end = pfs_btf_member(btf, "vm_area_struct", "vm_end");
	pfs_btf_free(btf);
	if (address < 0 || flags < 0 || vma < 0 || start < 0 || end < 0)
		return pfs_err_set(err, -ENOTSUP,
				   "the kernel's type information has no "
				   "handle_mm_fault(vma, address, flags)");
	len = snprintf(args, size, "address=$arg%d:x64 flags=$arg%d:x32", address, flags);
	if (region)
		snprintf(args + len, size - len, " vma=$arg%d:x64 start=+%d($arg%d):x64 end=+%d($arg%d):x64", vma,
			 start, vma, end, vma);
	return 0;
}

static int create(const struct way *way, const char *group, bool region, struct pfs_err *err)
{
	char line[512], args[256];
	int ret = 0;

	if (way->by_name)
		snprintf(args, sizeof(args), "address=address:x64 flags=flags:x32%s",
			 region ? " vma=vma:x64 start=vma->vm_start:x64 end=vma->vm_end:x64" : "");
	else
		ret = args_by_place(args, sizeof(args), region, err);
	if (ret)
		return ret;
	snprintf(line, sizeof(line), "%s:%s/" PFS_HANDLER_EVENT " handle_mm_fault %s\n", way->begin, group, args);
	ret = append_line(line);
	if (ret)
		return pfs_err_set(err, ret, "a probe at handle_mm_fault: %s", strerror(-ret));
	snprintf(line, sizeof(line), way->end, group, PFS_HANDLER_END_EVENT);
	ret = append_line(line);
	return ret ? pfs_err_set(err, ret, "a probe at the return of handle_mm_fault: %s", strerror(-ret)) : 0;
}

int pfs_dynevents_create(const char *group, bool region, const char **how, struct pfs_err *err)
{
	int ret = 0, reported = 0;

	*how = "";
	if (!tracefs_file_exists(NULL, FILE_NAME))
		return pfs_err_set(err, -ENOTSUP, "this kernel has no dynamic events");
	for (const struct way *way = ways; way < ways + sizeof(ways) / sizeof(ways[0]); way++) {
		bool fprobe = *way->begin == 'f';

		ret = create(way, group, region, fprobe ? NULL : err); /* few kernels have fprobes: not reported */
		if (!ret) {
			*how = way->how;
			return 0;
		}
		pfs_dynevents_remove(group);
		reported = fprobe ? reported : ret;
	}
	if (!tracefs_file_exists(NULL, "kprobe_events"))
		pfs_err_set(err, reported, "this kernel has no kprobe events");
	return reported;
}

/* kprobe_profile:  "  pfs_handler      12345      0", of every pfscope that records now */
unsigned long long pfs_dynevents_missed(int fd)
{
	uint64_t missed, sum = 0;
	char line[256], name[128];
	FILE *f = fdopen(fd, "r");
	int at;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%127s %*s %n", name, &at) == 1 &&
		    pfs_take_dec(&(const char *){ line + at }, UINT64_MAX, &missed) &&
		    (!strcmp(name, PFS_HANDLER_EVENT) || !strcmp(name, PFS_HANDLER_END_EVENT)))
			sum += missed;
	if (f)
		fclose(f);
	else
		close(fd);
	return sum;
}

/* p:pfscope_42_00c5d3a1b2e4f607/pfs_handler handle_mm_fault ...		read as a whole, since each removal changes the file */
void pfs_dynevents_clean(bool (*is_orphaned)(const char *group))
{
	char *text = NULL, *line, *save = NULL, group[128];

	if (tracefs_file_exists(NULL, FILE_NAME)) /* a kernel with kprobes alone has none of ours */
		text = tracefs_instance_file_read(NULL, FILE_NAME, NULL);
	line = text ? strtok_r(text, "\n", &save) : NULL;
	for (; line; line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "%*[^:]:%127[^/]", group) == 1 && is_orphaned(group))
			pfs_dynevents_remove(group);
	}
	free(text);
}
