/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/owner.h"

#include "base/number.h"
#include "base/write_all.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define PREFIX "pfscope"

/* An id is the offset of a lock, so it is below 2^63. This bit: it has no lock. */
#define UNLOCKED (UINT64_C(1) << 62)

/* Any mount of tracefs will do. Where debugfs mounts it on demand, it is not in the list before that. */
static int open_instances(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	char path[PATH_MAX];
	struct mntent *mount;
	int fd = -1;

	while (mounts && fd < 0 && (mount = getmntent(mounts))) {
		if (strcmp(mount->mnt_type, "tracefs"))
			continue;
		snprintf(path, sizeof(path), "%s/instances", mount->mnt_dir);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (mounts)
		endmntent(mounts);
	return fd >= 0 ? fd : open("/sys/kernel/debug/tracing/instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static struct flock byte_of(uint64_t id, short type)
{
	return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = id, .l_len = 1 };
}

void pfs_owner_open(struct pfs_owner *owner)
{
	struct flock lock;

	owner->fd = -1;
	if (getrandom(&owner->id, sizeof(owner->id), 0) != sizeof(owner->id)) /* never for so few bytes */
		owner->id = getpid();
	owner->id &= UNLOCKED - 1;
	owner->fd = open_instances();
	lock = byte_of(owner->id, F_RDLCK);
	if (owner->fd < 0 || fcntl(owner->fd, F_OFD_SETLK, &lock))
		owner->id |= UNLOCKED;
}

void pfs_owner_close(struct pfs_owner *owner)
{
	pfs_close(owner->fd);
	owner->fd = -1;
}

enum pfs_owner_state pfs_owner_state(uint64_t id)
{
	struct flock lock = byte_of(id, F_WRLCK);
	int fd = id & ~(UNLOCKED - 1) ? -1 : open_instances();
	enum pfs_owner_state state = PFS_OWNER_UNKNOWN;

	if (fd >= 0 && !fcntl(fd, F_OFD_GETLK, &lock))
		state = lock.l_type == F_UNLCK ? PFS_OWNER_DEAD : PFS_OWNER_LIVES;
	pfs_close(fd);
	return state;
}

void pfs_owner_name(uint64_t id, char separator, char name[PFS_OWNER_NAME_MAX])
{
	snprintf(name, PFS_OWNER_NAME_MAX, PREFIX "%c%d%c%016" PRIx64, separator, getpid(), separator, id);
}

uint64_t pfs_owner_of_name(const char *name)
{
	uint64_t pid, id;
	char separator;

	if (strncmp(name, PREFIX, strlen(PREFIX)))
		return 0;
	name += strlen(PREFIX);
	separator = *name++;
	if ((separator != '-' && separator != '_') || !pfs_take_dec(&name, INT32_MAX, &pid) || *name++ != separator ||
	    !pfs_take_hex(&name, UINT64_MAX, &id) || *name)
		return 0;
	return id;
}
