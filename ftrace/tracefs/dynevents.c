/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes at handle_mm_fault through tracefs's dynamic_events, see dynevents.h.
 *
 * libtracefs has calls for this too, but a keeper cannot use them, and those of Debian 12 know no
 * probe by argument name. Lines are appended: opened otherwise, the file empties itself, of others'
 * events as well.
 */
#include "tracefs/dynevents.h"

#include "tracefs/btf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "pfscope_"
/*
 * Faults may sleep, and each that does takes one of these; else its end is missed. The kernel's own
 * limit.
 */
#define MAX_AT_ONCE 4096
#define BEGIN_LINE  "%c:%s/" PFS_HANDLER_EVENT " handle_mm_fault %s\n"

void pfs_dynevents_group(const char *dir, char *group, size_t size)
{
	const char *name = strrchr(dir, '/');

	snprintf(group, size, "%s", name ? name + 1 : dir);
	for (char *p = group; *p; p++)
		if (*p == '-')
			*p = '_';
}

static int append_line(const char *tracing_dir, const char *line)
{
	char path[PATH_MAX];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "%s/dynamic_events", tracing_dir);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, line, strlen(line)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

void pfs_dynevents_remove(const char *tracing_dir, const char *group)
{
	char line[256];

	snprintf(line, sizeof(line), "-:%s/" PFS_HANDLER_EVENT "\n", group);
	append_line(tracing_dir, line);
	snprintf(line, sizeof(line), "-:%s/" PFS_HANDLER_END_EVENT "\n", group);
	append_line(tracing_dir, line);
}

/* The arguments by name, as the kernel looks them up itself (6.4 and later, with BTF). */
static void args_by_name(char *args, size_t size, bool region)
{
	snprintf(args, size, "address=address:x64 flags=flags:x32%s",
		 region ? " vma=vma:x64 start=vma->vm_start:x64 end=vma->vm_end:x64" : "");
}

/* The same by place, which the kernel's type information tells. */
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
		snprintf(args + len, size - len,
			 " vma=$arg%d:x64 start=+%d($arg%d):x64 "
			 "end=+%d($arg%d):x64",
			 vma, start, vma, end, vma);
	return 0;
}

static int create_begin(const char *tracing_dir, const char *group, bool region, const char **how, struct pfs_err *err)
{
	char line[512], args[256];
	int ret;

	*how = "kprobe btf";
	args_by_name(args, sizeof(args), region);
	snprintf(line, sizeof(line), BEGIN_LINE, 'p', group, args);
	ret = append_line(tracing_dir, line);
	if (ret != -EINVAL && ret != -EOPNOTSUPP)
		goto out;
	*how = "kprobe";
	ret = args_by_place(args, sizeof(args), region, err);
	if (ret)
		return ret;
	snprintf(line, sizeof(line), BEGIN_LINE, 'p', group, args);
	ret = append_line(tracing_dir, line);
out:
	return ret ? pfs_err_set(err, ret, "a probe at handle_mm_fault: %s", strerror(-ret)) : 0;
}

/* A function probe, where there are no kprobes but those. */
static int create_fprobes(const char *tracing_dir, const char *group, bool region, const char **how)
{
	char line[512], args[256];
	int ret;

	args_by_name(args, sizeof(args), region);
	snprintf(line, sizeof(line), BEGIN_LINE, 'f', group, args);
	ret = append_line(tracing_dir, line);
	if (ret)
		return ret;
	snprintf(line, sizeof(line),
		 "f:%s/" PFS_HANDLER_END_EVENT " handle_mm_fault%%return "
		 "ret=$retval:x32\n",
		 group);
	*how = "fprobe btf";
	return append_line(tracing_dir, line);
}

static bool has_file(const char *tracing_dir, const char *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%.255s", tracing_dir, file);
	return !access(path, F_OK);
}

int pfs_dynevents_create(const char *tracing_dir, const char *group, bool region, const char **how, struct pfs_err *err)
{
	char line[256];
	int ret;

	*how = "";
	if (!has_file(tracing_dir, "dynamic_events"))
		return pfs_err_set(err, -ENOTSUP, "this kernel has no dynamic events");
	ret = create_begin(tracing_dir, group, region, how, err);
	if (ret) {
		if (!create_fprobes(tracing_dir, group, region, how))
			return 0;
		if (!has_file(tracing_dir, "kprobe_events"))
			pfs_err_set(err, ret, "this kernel has no kprobe events");
		goto failed;
	}
	snprintf(line, sizeof(line),
		 "r%d:%s/" PFS_HANDLER_END_EVENT " handle_mm_fault "
		 "ret=$retval:x32\n",
		 MAX_AT_ONCE, group);
	ret = append_line(tracing_dir, line);
	if (!ret)
		return 0;
	pfs_err_set(err, ret, "a probe at the return of handle_mm_fault: %s", strerror(-ret));
failed:
	*how = "";
	pfs_dynevents_remove(tracing_dir, group);
	return ret;
}

/* kprobe_profile:  "  pfs_handler      12345      0", of every pfscope's that is at work */
unsigned long long pfs_dynevents_missed(int fd)
{
	unsigned long long hits, missed, sum = 0;
	char line[256], name[128];
	FILE *f = fdopen(fd, "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " %127s %llu %llu", name, &hits, &missed) == 3 &&
		    (!strcmp(name, PFS_HANDLER_EVENT) || !strcmp(name, PFS_HANDLER_END_EVENT)))
			sum += missed;
	if (f)
		fclose(f);
	else
		close(fd);
	return sum;
}

/*
 * p:pfscope_1_2_0/pfs_handler handle_mm_fault ... to the group. false: nothing of a pfscope's.
 */
static bool group_of_line(char *line, char **group)
{
	char *colon = strchr(line, ':'), *slash;

	if (!colon || strncmp(colon + 1, PREFIX, strlen(PREFIX)))
		return false;
	slash = strchr(colon, '/');
	if (!slash)
		return false;
	*slash = '\0';
	*group = colon + 1;
	return true;
}

/* The file changes while it is being emptied, so it is read as a whole before. */
int pfs_dynevents_clean(const char *tracing_dir, bool (*orphaned)(const char *group), struct pfs_err *err)
{
	char path[PATH_MAX], last[128] = "", *text = NULL, *line, *save = NULL, *group;
	size_t size = 0;
	int nr = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/dynamic_events", tracing_dir);
	f = fopen(path, "re");
	if (!f) /* a kernel that has none, or kprobes alone, has none of ours */
		return errno == ENOENT ? 0 : pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (getdelim(&text, &size, '\0', f) < 0) {
		free(text);
		text = NULL;
	}
	fclose(f);
	line = text ? strtok_r(text, "\n", &save) : NULL;
	for (; line; line = strtok_r(NULL, "\n", &save)) {
		if (!group_of_line(line, &group) || !strcmp(group, last) || !orphaned(group))
			continue;
		snprintf(last, sizeof(last), "%s", group);
		pfs_dynevents_remove(tracing_dir, group);
		snprintf(path, sizeof(path), "events/%s", group);
		nr += !has_file(tracing_dir, path);
	}
	free(text);
	return nr;
}
