/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "refault/zram.h"

#include "base/write_all.h"
#include "os/process.h"
#include "os/program.h"

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
	struct { /* a UUID elsewhere */
		uint64_t owner, start;
	} by;
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

/* Reading it makes one. */
static int hot_add(void)
{
	char text[16];
	int ret = pfs_read_file(CONTROL "/hot_add", text, sizeof(text));

	return ret > 0 ? atoi(text) : ret ?: -EIO;
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

static int write_header(int fd, uint64_t bytes, pid_t owner)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct swap_header *header = calloc(1, page);
	int ret = 0;

	if (!header)
		return -ENOMEM;
	header->version = 1;
	header->last_page = bytes / page - 1;
	header->by.owner = owner;
	header->by.start = pfs_process_start(owner);
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
	unsigned int major, minor;
	int fd = open(path, O_RDWR | O_CLOEXEC), ret;

	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? -errno : fd;
	ret = pfs_read_file(path_of(file, SYSFS, nr, "/dev"), text, sizeof(text));
	if (ret < 0)
		return ret;
	if (sscanf(text, "%u:%u", &major, &minor) != 2)
		major = minor = 0;
	if (mknod(path, S_IFBLK | 0600, makedev(major, minor)))
		return -errno;
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int swap_on(int nr, uint64_t bytes, pid_t owner)
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

int pfs_zram_up(struct pfs_zram *zram, uint64_t bytes, pid_t owner, struct pfs_err *err)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char path[PATH_SIZE];
	int ret;

	*zram = (struct pfs_zram){ .nr = -1, .bytes = bytes / page * page };
	ret = load(&zram->loaded);
	if (ret)
		return pfs_err_set(err, ret, "--zram: this kernel has no zram (module zram, CONFIG_ZRAM)");
	ret = hot_add();
	if (ret < 0)
		return pfs_err_set(err, ret, "--zram: %s/hot_add: %s", CONTROL, strerror(-ret));
	zram->nr = ret;
	ret = put_number(path_of(path, SYSFS, zram->nr, "/disksize"), zram->bytes);
	if (ret)
		return pfs_err_set(err, ret, "--zram: a device of %" PRIu64 " bytes: %s", zram->bytes, strerror(-ret));
	ret = swap_on(zram->nr, zram->bytes, owner);
	return ret ? pfs_err_set(err, ret, "--zram: cannot swap to /dev/zram%d: %s", zram->nr, strerror(-ret)) : 0;
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
	int ret = zram->nr >= 0 ? remove_device(zram->nr) : 0;

	if (ret)
		return pfs_err_set(err, ret, "/dev/zram%d: cannot be removed: %s; then run pfscope clean", zram->nr,
				   strerror(-ret));
	zram->nr = -1;
	if (zram->loaded)
		modprobe((const char *const[]){ "modprobe", "-r", "zram", NULL });
	zram->loaded = false;
	return 0;
}

/* ---- what others left ---- */

static bool is_orphan(const char *path)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct swap_header header;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char magic[sizeof(swap_magic)];
	bool ours;

	if (fd < 0)
		return false;
	ours = pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	       pread(fd, magic, sizeof(magic), page - sizeof(magic)) == sizeof(magic) &&
	       !memcmp(magic, swap_magic, sizeof(magic)) && !strncmp(header.label, LABEL, sizeof(header.label));
	close(fd);
	return ours && pfs_process_start(header.by.owner) != header.by.start;
}

int pfs_zram_clean(struct pfs_err *err)
{
	FILE *swaps = fopen("/proc/swaps", "re");
	char line[4096], path[PATH_SIZE];
	int nr, removed = 0, ret = 0;

	while (!ret && swaps && fgets(line, sizeof(line), swaps)) {
		if (sscanf(line, DEVICE "%d", &nr) != 1 || !is_orphan(path_of(path, DEVICE, nr, "")))
			continue;
		ret = pfs_zram_down(&(struct pfs_zram){ .nr = nr }, err);
		removed++;
	}
	if (swaps)
		fclose(swaps);
	return ret ?: removed;
}
