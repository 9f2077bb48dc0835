/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The settings of transparent huge pages, see huge_pages.h (Documentation/admin-guide/mm/transhuge.rst).
 */
#include "os/huge_pages.h"

#include "base/number.h"
#include "base/write_all.h"

#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The line of a file of settings, like "always [madvise] never"; "" if there is none. */
static const char *line_of(char line[128], const char *path, ...)
{
	char name[PATH_MAX];
	va_list ap;

	va_start(ap, path);
	vsnprintf(name, sizeof(name), path, ap);
	va_end(ap);
	if (pfs_read_file(name, line, 128) <= 0)
		*line = '\0';
	return line;
}

/* What is in force. A size that inherits has the value of `enabled`. */
static enum pfs_huge_pages setting_in(const char *line)
{
	return strstr(line, "[always]")	   ? PFS_HUGE_ALWAYS
	       : strstr(line, "[madvise]") ? PFS_HUGE_ADVISED
					   : PFS_HUGE_NEVER;
}

enum pfs_huge_pages pfs_huge_pages(const char *dir)
{
	enum pfs_huge_pages most, setting;
	char path[PATH_MAX], line[128];
	glob_t sizes;

	most = setting_in(line_of(line, "%s/enabled", dir));
	snprintf(path, sizeof(path), "%s/hugepages-*kB/enabled", dir);
	if (glob(path, GLOB_NOSORT, NULL, &sizes))
		return most;
	for (size_t i = 0; i < sizes.gl_pathc; i++) {
		setting = setting_in(line_of(line, "%s", sizes.gl_pathv[i]));
		if (setting > most)
			most = setting;
	}
	globfree(&sizes);
	return most;
}

const char *pfs_huge_pages_name(enum pfs_huge_pages setting)
{
	return setting == PFS_HUGE_ALWAYS ? "always" : setting == PFS_HUGE_ADVISED ? "madvise" : "never";
}

/* ---- what faults may map without an event ---- */

/* Of the largest size; before 6.8 there is one setting for all. */
static enum pfs_huge_pages of_huge_size(const char *dir)
{
	uint64_t size = 0;
	char line[128];

	pfs_dec(line_of(line, "%s/hpage_pmd_size", dir), &size);
	line_of(line, "%s/hugepages-%" PRIu64 "kB/enabled", dir, size / 1024);
	if (!*line || strstr(line, "[inherit]"))
		line_of(line, "%s/enabled", dir);
	return setting_in(line);
}

/* May shared anonymous memory, memfd and System V segments have pages of that size? */
static bool may_be_large(const char *dir, const char *size_path)
{
	char line[128];

	line_of(line, "%s", size_path);
	if (strstr(line, "[inherit]"))
		line_of(line, "%s/shmem_enabled", dir);
	return *line && !strstr(line, "[never]") && !strstr(line, "[deny]");
}

static bool is_internal_large(const char *dir)
{
	char path[PATH_MAX];
	bool large;
	glob_t sizes;

	snprintf(path, sizeof(path), "%s/shmem_enabled", dir);
	large = may_be_large(dir, path);
	snprintf(path, sizeof(path), "%s/hugepages-*kB/shmem_enabled", dir);
	if (glob(path, GLOB_NOSORT, NULL, &sizes))
		return large;
	for (size_t i = 0; !large && i < sizes.gl_pathc; i++)
		large = may_be_large(dir, sizes.gl_pathv[i]);
	globfree(&sizes);
	return large;
}

static void add(struct pfs_huge_settings *s, unsigned int major, unsigned int minor, const char *setting)
{
	char one[64];
	int len = snprintf(one, sizeof(one), "%s%x:%x=%s", *s->text ? " " : "", major, minor, setting);

	s->shmem |= strcmp(setting, "never") != 0;
	if (strlen(s->text) + len < sizeof(s->text))
		strcat(s->text, one);
}

/* The file system of memory that has no name: that of any memfd. */
static void add_internal(struct pfs_huge_settings *s, const char *dir)
{
	int fd = memfd_create("pfscope", MFD_CLOEXEC);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st))
		add(s, major(st.st_dev), minor(st.st_dev), is_internal_large(dir) ? "advise" : "never");
	if (fd >= 0)
		close(fd);
}

/* A line like "30 25 0:27 / /dev/shm rw,relatime - tmpfs tmpfs rw,size=24684084k,huge=within_size". */
static void add_mount(struct pfs_huge_settings *s, const char *line, const char *all)
{
	const char *type = strstr(line, " - tmpfs "), *huge = type ? strstr(type, ",huge=") : NULL;
	uint64_t major, minor;
	char setting[16] = "never";
	int at = 0;

	if (!type || sscanf(line, "%*s %*s %n", &at) || !at)
		return;
	line += at;
	if (!pfs_take_dec(&line, UINT32_MAX, &major) || *line++ != ':' || !pfs_take_dec(&line, UINT32_MAX, &minor))
		return;
	if (huge)
		sscanf(huge, ",huge=%15[a-z_]", setting);
	add(s, major, minor, all ? all : setting);
}

void pfs_huge_settings(struct pfs_huge_settings *s, const char *dir)
{
	char line[4096], internal[128];
	FILE *mounts;

	*s = (struct pfs_huge_settings){ .anon = of_huge_size(dir) };
	s->zero = *line_of(line, "%s/use_zero_page", dir) == '1';
	add_internal(s, dir);
	line_of(internal, "%s/shmem_enabled", dir);
	mounts = fopen("/proc/self/mountinfo", "re");
	while (mounts && fgets(line, sizeof(line), mounts))
		add_mount(s, line,
			  strstr(internal, "[force]")  ? "always"
			  : strstr(internal, "[deny]") ? "never"
						       : NULL);
	if (mounts)
		fclose(mounts);
}

/* Of the calling thread so far. */
static long minor_faults(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

/* A write to the zero page faults, a write to a page of its own does not. With huge pages there would be too few faults. */
bool pfs_has_zero_page(void)
{
	enum { NR_PAGES = 8 };
	size_t size = sysconf(_SC_PAGESIZE);
	volatile char *pages = mmap(NULL, NR_PAGES * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long before, taken;

	if (pages == MAP_FAILED)
		return true;
	madvise((void *)pages, NR_PAGES * size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < NR_PAGES; i++)
		(void)pages[i * size];
	before = minor_faults();
	for (size_t i = 0; i < NR_PAGES; i++)
		pages[i * size] = 1;
	taken = minor_faults() - before;
	munmap((void *)pages, NR_PAGES * size);
	return taken >= NR_PAGES;
}
