/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See debug_file.h.
 */
#include "symbol/debug_file.h"

#include "symbol/archive.h"
#include "symbol/build_id.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *dir_of(const struct pfs_debug_files *files)
{
	return files && files->dir ? files->dir : "/usr/lib/debug";
}

static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || (!fstat(fd, &st) && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	return -1;
}

/* Closes it and returns -1 unless it has that build-id. */
static int checked(int fd, const char *build_id)
{
	struct pfs_build_id id;

	if (fd < 0 || (pfs_build_id_read(&id, fd) && !strcmp(id.hex, build_id)))
		return fd;
	close(fd);
	return -1;
}

/* libdebuginfod, which keeps what it gets in the user's cache. */
static struct {
	debuginfod_client *client; /* NULL: not loaded */
	typeof(debuginfod_find_debuginfo) *find_debuginfo;
	typeof(debuginfod_find_executable) *find_executable;
} server;

int pfs_debuginfod_load(struct pfs_err *err)
{
	const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);
	typeof(debuginfod_begin) *begin;
	void *library;

	if (!urls || !*urls)
		return pfs_err_set(err, -EINVAL, "--debuginfod: no server is named in " DEBUGINFOD_URLS_ENV_VAR);
	library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_NODELETE);
	begin = library ? dlsym(library, "debuginfod_begin") : NULL;
	server.find_debuginfo = library ? dlsym(library, "debuginfod_find_debuginfo") : NULL;
	server.find_executable = library ? dlsym(library, "debuginfod_find_executable") : NULL;
	if (!begin || !server.find_debuginfo || !server.find_executable)
		return pfs_err_set(err, -ENOENT, "--debuginfod needs libdebuginfod (apt-get install libdebuginfod1)");
	server.client = begin();
	return server.client ? 0 : pfs_err_set(err, -ENOMEM, "--debuginfod: no memory");
}

static int open_served(const struct pfs_debug_files *files, const char *build_id,
		       typeof(debuginfod_find_debuginfo) *find)
{
	if (!files || !files->debuginfod || !server.client || !*build_id)
		return -1;
	return checked(find(server.client, (const unsigned char *)build_id, 0, NULL), build_id);
}

/* Not checked. */
static int open_archived(const struct pfs_debug_files *files, const char *id, const char *what)
{
	char path[PATH_MAX];
	int fd;

	if (!files || !files->archive || id[strspn(id, "0123456789abcdef")])
		return -1;
	snprintf(path, sizeof(path), "%s/%s/%s", files->archive, id, what);
	fd = open_regular(path);
	return fd >= 0 ? fd : pfs_archive_open(files->archive, id, what);
}

int pfs_debug_program_open(const struct pfs_debug_files *files, const char *build_id)
{
	int fd = checked(open_archived(files, build_id, "elf"), build_id);

	return fd >= 0 ? fd : open_served(files, build_id, server.find_executable);
}

int pfs_debug_file_by_id(const struct pfs_debug_files *files, const char *build_id)
{
	char path[PATH_MAX];
	int fd = -1;

	if (strlen(build_id) < 4)
		return -1;
	fd = checked(open_archived(files, build_id, "debug"), build_id);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", dir_of(files), build_id, build_id + 2);
	return checked(open_regular(path), build_id);
}

/* CRC-32 of IEEE 802.3, as `objcopy --add-gnu-debuglink` computes it. */
static bool has_crc(int fd, uint32_t wanted)
{
	const size_t room = 1 << 16;
	unsigned char *bytes = malloc(room);
	uint32_t table[256], crc = ~0u;
	ssize_t len = -1;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
	for (off_t off = 0; bytes && (len = pread(fd, bytes, room, off)) > 0; off += len)
		for (ssize_t i = 0; i < len; i++)
			crc = table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
	free(bytes);
	return !len && ~crc == wanted;
}

int pfs_debug_file_by_link(const struct pfs_debug_files *files, const char *path, const char *link, uint32_t crc)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? slash - path : 0;
	char tried[PATH_MAX];

	if (!*link || strchr(link, '/'))
		return -1;
	for (int i = 0; i < 3; i++) {
		int len = snprintf(tried, sizeof(tried), "%s%.*s/%s%s", i == 2 ? dir_of(files) : "", folder, path,
				   i == 1 ? ".debug/" : "", link);
		int fd = len < (int)sizeof(tried) && strcmp(tried, path) ? open_regular(tried) : -1;

		if (fd >= 0 && has_crc(fd, crc))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

int pfs_debug_jit_open(void *files, const char *id)
{
	return open_archived(files, id, "jit");
}

int pfs_debug_file_served(const struct pfs_debug_files *files, const char *build_id)
{
	return open_served(files, build_id, server.find_debuginfo);
}
