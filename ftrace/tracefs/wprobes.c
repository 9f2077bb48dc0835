/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracefs/wprobes.h"

#include <tracefs.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pfs_wprobes_in(const char *readme)
{
	return strstr(readme, "w[:[<group>/][<event>]] [r|w|rw]@<addr>");
}

bool pfs_wprobes_work(void)
{
	char *readme = tracefs_instance_file_read(NULL, "README", NULL);
	bool work = readme && pfs_wprobes_in(readme);

	free(readme);
	return work;
}

void pfs_wprobe_name(char *buf, size_t size, unsigned int nr)
{
	snprintf(buf, size, "pfs_word%u", nr);
}

/* "-1": no address. The reader of these events has no other way to know offset and number. */
void pfs_wprobe_define(char *buf, size_t size, unsigned int nr, const struct pfs_wprobe *wprobe)
{
	snprintf(buf, size,
		 "w:" PFS_WPROBES_GROUP
		 "/pfs_word%u rw@-1:8 addr=$addr:x64 off=\\%u:x64 value=+0($addr):x64 word=\\%u:x64",
		 nr, wprobe->off, nr);
}

/* Only objects that have the word. */
void pfs_wprobe_set(char *buf, size_t size, unsigned int nr, const struct pfs_wprobe *wprobe)
{
	snprintf(buf, size, "set_wprobe:pfs_word%u:ptr+%u if %s%sbytes_alloc >= %u", nr, wprobe->off, wprobe->filter,
		 *wprobe->filter ? " && " : "", wprobe->off + 8);
}

void pfs_wprobe_clear(char *buf, size_t size, unsigned int nr, const struct pfs_wprobe *wprobe)
{
	snprintf(buf, size, "clear_wprobe:pfs_word%u:ptr+%u", nr, wprobe->off);
}

static int append_line(const char *line)
{
	errno = 0;
	return tracefs_instance_file_append(NULL, "dynamic_events", line) < 0 ? -(errno ? errno : EIO) : 0;
}

void pfs_wprobes_remove(void)
{
	char line[64];

	if (!tracefs_dir_exists(NULL, "events/" PFS_WPROBES_GROUP))
		return;
	for (unsigned int nr = 0; nr < PFS_NR_WPROBES; nr++) {
		snprintf(line, sizeof(line), "-:" PFS_WPROBES_GROUP "/pfs_word%u\n", nr);
		append_line(line);
	}
}

int pfs_wprobes_define(const struct pfs_wprobe wprobes[PFS_NR_WPROBES], struct pfs_err *err)
{
	char line[256];
	int ret = 0;

	pfs_wprobes_remove();
	for (unsigned int nr = 0; !ret && nr < PFS_NR_WPROBES; nr++) {
		pfs_wprobe_define(line, sizeof(line) - 1, nr, &wprobes[nr]);
		strcat(line, "\n");
		ret = append_line(line);
	}
	if (!ret)
		return 0;
	if (ret == -EBUSY || ret == -EEXIST)
		return pfs_err_set(err, -EBUSY, "are used by another recording");
	pfs_wprobes_remove();
	return pfs_err_set(err, ret, "are refused by the kernel: %s", strerror(-ret));
}
