/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See recorded_file.h. Only regular files are opened: to open another kind may have an effect.
 */
#include "symbol/recorded_file.h"

#include "base/clock.h"
#include "os/smaps.h"
#include "symbol/debug_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_regular(const char *path, struct stat *st, enum pfs_elf_symbols_state *state)
{
	int fd;

	*state = PFS_ELF_NO_FILE;
	if (path[0] != '/' || stat(path, st))
		return -1;
	if (!S_ISREG(st->st_mode)) {
		*state = PFS_ELF_OTHER_FILE;
		return -1;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && !fstat(fd, st) && S_ISREG(st->st_mode))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* PFS_ELF_READ: it is the recorded one. */
static enum pfs_elf_symbols_state judge(int fd, const struct stat *st, const struct pfs_elf_wanted *wanted,
					const struct pfs_build_id *id)
{
	if (wanted->build_id)
		return strcmp(wanted->build_id, id->hex) ? PFS_ELF_OTHER_BUILD : PFS_ELF_READ;
	if (!pfs_is_mapped_file(fd, st, wanted->dev, wanted->ino))
		return PFS_ELF_OTHER_FILE;
	return wanted->until.tv_sec && pfs_timespec_order(st->st_ctim, wanted->until) > 0 ? PFS_ELF_CHANGED
											  : PFS_ELF_READ;
}

static int open_wanted(const struct pfs_elf_wanted *wanted, struct pfs_build_id *id, enum pfs_elf_symbols_state *state)
{
	struct stat st = { 0 };
	int fd = strcmp(wanted->path, "[vdso]") ? open_regular(wanted->path, &st, state) : pfs_vdso_open();

	if (fd < 0)
		return -1;
	pfs_build_id_read(id, fd);
	*state = judge(fd, &st, wanted, id);
	if (*state == PFS_ELF_READ)
		return fd;
	close(fd);
	return -1;
}

int pfs_recorded_file_open(const struct pfs_elf_wanted *wanted, struct pfs_build_id *id,
			   enum pfs_elf_symbols_state *state)
{
	int fd;

	*id = (struct pfs_build_id){ "" };
	*state = PFS_ELF_UNKNOWN_FILE;
	if (!wanted->dev && !wanted->ino && !wanted->build_id)
		return -1;
	fd = open_wanted(wanted, id, state);
	if (fd < 0 && wanted->build_id && (fd = pfs_debug_program_open(wanted->files, wanted->build_id)) >= 0) {
		*state = PFS_ELF_READ;
		snprintf(id->hex, sizeof(id->hex), "%s", wanted->build_id);
	}
	return fd;
}
