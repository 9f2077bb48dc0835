/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "refault/zram.h"

#include "base/number.h"
#include "base/write_all.h"
#include "os/owner.h"
#include "os/program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define CONTROL "/sys/class/zram-control"
#define DEVICE	"/dev/zram"
#define SYSFS	"/sys/block/zram"
#define LABEL	"pfscope"

/* The first page of a swap device, as mkswap(8) makes it; the last ten bytes of the page are the magic. */
struct swap_header {
	uint8_t boot[1024];
	uint32_t version, last_page, nr_bad;
	uint64_t owner, unused; /* a UUID elsewhere */
	char label[16];
} __attribute__((packed));

static const char swap_magic[10] = "SWAPSPACE2";

/* ---- the device ---- */

/* Longer than each path here. */
enum { PATH_SIZE = 64 };

/* The path of the device, or of one of its files in sysfs. */
static const char *path_of(char path[PATH_SIZE], const char *device, int nr, const char *file)
{
	snprintf(path, PATH_SIZE, "%s%d%s", device, nr, file);
	return path;
}

static int put_number(const char *path, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	return pfs_write_file(path, text);
}

static int nr_of(const struct pfs_zram *zram)
{
	const char *at = zram->nr;
	uint64_t nr;

	return pfs_take_dec(&at, INT32_MAX, &nr) ? (int)nr : -1;
}

/* Reading it makes one. The kernel itself writes its number to where a successor finds it: none is made and forgotten. */
static int hot_add(struct pfs_zram *zram)
{
	int ret = pfs_read_file(CONTROL "/hot_add", zram->nr, sizeof(zram->nr));

	return ret < 0 ? ret : nr_of(zram) < 0 ? -EIO : nr_of(zram);
}

/* ---- the module ---- */

static int modprobe(const char *const argv[])
{
	const struct pfs_program program = { .argv = argv };
	struct pfs_program_result result = { 0 };
	int ret = pfs_program_run(&program, &result, NULL);

	pfs_program_result_free(&result);
	return ret ? ret : pfs_program_succeeded(&result) ? 0 : -ENOENT;
}

/* Without the device that the module makes by default. */
static int load(bool *loaded)
{
	if (!access(CONTROL, F_OK))
		return 0;
	if (modprobe((const char *const[]){ "modprobe", "zram", "num_devices=0", NULL }))
		return -ENOENT;
	*loaded = true;
	return access(CONTROL, F_OK) ? -errno : 0;
}

/* ---- swap ---- */

static int write_header(int fd, uint64_t bytes, uint64_t owner)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct swap_header *header = calloc(1, page);
	int ret = 0;

	if (!header)
		return -ENOMEM;
	header->version = 1;
	header->last_page = bytes / page - 1;
	header->owner = owner;
	memcpy(header->label, LABEL, sizeof(LABEL));
	memcpy((char *)header + page - sizeof(swap_magic), swap_magic, sizeof(swap_magic));
	if (pwrite(fd, header, page, 0) != (ssize_t)page || fsync(fd))
		ret = errno ? -errno : -EIO;
	free(header);
	return ret;
}

/* Without udev or devtmpfs the node is missing and is made here. */
static int open_device(int nr, const char *path)
{
	char file[PATH_SIZE], text[32];
	const char *at = text;
	uint64_t major, minor;
	int fd = open(path, O_RDWR | O_CLOEXEC), ret;

	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? -errno : fd;
	ret = pfs_read_file(path_of(file, SYSFS, nr, "/dev"), text, sizeof(text));
	if (ret < 0)
		return ret;
	if (!pfs_take_dec(&at, UINT32_MAX, &major) || *at++ != ':' || !pfs_take_dec(&at, UINT32_MAX, &minor))
		return -EIO;
	if (mknod(path, S_IFBLK | 0600, makedev(major, minor)))
		return -errno;
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int swap_on(int nr, uint64_t bytes, uint64_t owner)
{
	char path[PATH_SIZE];
	int fd = open_device(nr, path_of(path, DEVICE, nr, "")), ret;

	if (fd < 0)
		return fd;
	ret = write_header(fd, bytes, owner);
	close(fd);
	if (!ret && swapon(path, SWAP_FLAG_PREFER | SWAP_FLAG_PRIO_MASK))
		ret = -errno;
	return ret;
}

static int no_zram(int ret, struct pfs_err *err)
{
	return pfs_err_set(err, ret, "--zram: this kernel has no zram (module zram, CONFIG_ZRAM)");
}

int pfs_zram_possible(struct pfs_err *err)
{
	if (!access(CONTROL, F_OK) || !modprobe((const char *const[]){ "modprobe", "-n", "zram", NULL }))
		return 0;
	return no_zram(-ENOENT, err);
}

int pfs_zram_up(struct pfs_zram *zram, uint64_t bytes, uint64_t owner, struct pfs_err *err)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char path[PATH_SIZE];
	int nr, ret;

	*zram = (struct pfs_zram){ .bytes = bytes / page * page };
	ret = load(&zram->loaded);
	if (ret)
		return no_zram(ret, err);
	nr = hot_add(zram);
	if (nr < 0)
		return pfs_err_set(err, nr, "--zram: %s/hot_add: %s", CONTROL, strerror(-nr));
	ret = put_number(path_of(path, SYSFS, nr, "/disksize"), zram->bytes);
	if (ret)
		return pfs_err_set(err, ret, "--zram: a device of %" PRIu64 " bytes: %s", zram->bytes, strerror(-ret));
	ret = swap_on(nr, zram->bytes, owner);
	return ret ? pfs_err_set(err, ret, "--zram: cannot swap to /dev/zram%d: %s", nr, strerror(-ret)) : 0;
}

static int remove_device(int nr)
{
	char path[PATH_SIZE];
	int ret;

	if (swapoff(path_of(path, DEVICE, nr, "")) && errno != EINVAL && errno != ENOENT) /* EINVAL: it is not in use */
		return -errno;
	ret = put_number(path_of(path, SYSFS, nr, "/reset"), 1) ?: put_number(CONTROL "/hot_remove", nr);
	return ret == -ENOENT || ret == -ENODEV ? 0 : ret;
}

int pfs_zram_down(struct pfs_zram *zram, struct pfs_err *err)
{
	int nr = nr_of(zram), ret = nr < 0 ? 0 : remove_device(nr);

	if (ret)
		return pfs_err_set(err, ret, "/dev/zram%d: cannot be removed: %s; then run pfscope clean", nr,
				   strerror(-ret));
	*zram->nr = '\0';
	if (zram->loaded)
		modprobe((const char *const[]){ "modprobe", "-r", "zram", NULL });
	zram->loaded = false;
	return 0;
}

/* ---- what others left ---- */

static bool is_orphan(int nr)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct swap_header header;
	char path[PATH_SIZE], text[8], magic[sizeof(swap_magic)];
	bool ours;
	int fd;

	/* One without content is not opened: meanwhile nobody could set it up. */
	if (pfs_read_file(path_of(path, SYSFS, nr, "/initstate"), text, sizeof(text)) < 1 || *text != '1')
		return false;
	fd = open(path_of(path, DEVICE, nr, ""), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ours = pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	       pread(fd, magic, sizeof(magic), page - sizeof(magic)) == sizeof(magic) &&
	       !memcmp(magic, swap_magic, sizeof(magic)) && !strncmp(header.label, LABEL, sizeof(header.label));
	close(fd);
	return ours && pfs_owner_state(header.owner) == PFS_OWNER_DEAD;
}

/* Each that holds anything, used as swap or not. */
int pfs_zram_clean(struct pfs_err *err)
{
	DIR *blocks = opendir("/sys/block");
	struct dirent *entry;
	struct pfs_zram zram;
	int removed = 0, ret = 0;

	while (!ret && blocks && (entry = readdir(blocks))) {
		if (strncmp(entry->d_name, "zram", 4))
			continue;
		zram = (struct pfs_zram){ 0 };
		snprintf(zram.nr, sizeof(zram.nr), "%s", entry->d_name + 4);
		if (nr_of(&zram) < 0 || !is_orphan(nr_of(&zram)))
			continue;
		ret = pfs_zram_down(&zram, err);
		removed++;
	}
	if (blocks)
		closedir(blocks);
	return ret ?: removed;
}
