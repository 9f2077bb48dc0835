/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The settings of transparent huge pages, see huge_pages.h (Documentation/admin-guide/mm/transhuge.rst).
 */
#include "os/huge_pages.h"

#include "base/write_all.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* "always [madvise] never": what is in force. A size that inherits has the value of `enabled`. */
static enum pfs_huge_pages read_setting(const char *path)
{
	char line[128];

	if (pfs_read_file(path, line, sizeof(line)) <= 0)
		return PFS_HUGE_NEVER;
	return strstr(line, "[always]")	   ? PFS_HUGE_ALWAYS
	       : strstr(line, "[madvise]") ? PFS_HUGE_ADVISED
					   : PFS_HUGE_NEVER;
}

enum pfs_huge_pages pfs_huge_pages(const char *dir)
{
	enum pfs_huge_pages most, setting;
	char path[PATH_MAX];
	glob_t sizes;

	snprintf(path, sizeof(path), "%s/enabled", dir);
	most = read_setting(path);
	snprintf(path, sizeof(path), "%s/hugepages-*kB/enabled", dir);
	if (glob(path, GLOB_NOSORT, NULL, &sizes))
		return most;
	for (size_t i = 0; i < sizes.gl_pathc; i++) {
		setting = read_setting(sizes.gl_pathv[i]);
		if (setting > most)
			most = setting;
	}
	globfree(&sizes);
	return most;
}
