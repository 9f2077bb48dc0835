/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See build_ids.h. An interpreter's files are not mapped for execution, so data files are not opened.
 */
#include "symbol/build_ids.h"

#include "base/hash.h"
#include "base/number.h"
#include "base/perms.h"
#include "model/model.h"
#include "symbol/recorded_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FILES = 1 << 16 };

struct mapped {
	struct mapped_key {
		uint64_t dev, ino;
	} key;
	UT_hash_handle hh;
	char *path; /* NULL: it was not mapped for execution */
};

struct pfs_build_ids {
	struct mapped *files;
};

struct pfs_build_ids *pfs_build_ids_new(void)
{
	return calloc(1, sizeof(struct pfs_build_ids));
}

void pfs_build_ids_free(struct pfs_build_ids *ids)
{
	if (!ids)
		return;
	for (struct mapped *file = ids->files; file; file = file->hh.next)
		free(file->path);
	PFS_HASH_FREE(ids->files);
	free(ids);
}

static int take(void *ctx, const struct pfs_event *ev)
{
	const uint64_t needed = PFS_HAS(PFS_F_DEV) | PFS_HAS(PFS_F_INO) | PFS_HAS(PFS_F_NAME) | PFS_HAS(PFS_F_PERMS);
	struct mapped_key key = { ev->dev, ev->ino };
	struct pfs_build_ids *ids = ctx;
	struct mapped *file;

	if (ev->kind != PFS_MAP || (ev->have & needed) != needed || !(ev->perms & PFS_PERM_X) ||
	    !pfs_is_file(ev->dev, ev->ino) || ev->name[0] != '/' || HASH_COUNT(ids->files) >= MAX_FILES)
		return 0;
	file = PFS_HASH_GET(ids->files, key, key);
	if (file && !file->path)
		file->path = strdup(ev->name);
	return file && file->path ? 0 : -ENOMEM;
}

static int take_faults(void *ctx, const struct pfs_fault_run *runs, unsigned int nr)
{
	return 0;
}

struct pfs_sink pfs_build_ids_sink(struct pfs_build_ids *ids)
{
	return (struct pfs_sink){ .fn = take, .ctx = ids, .faults = take_faults };
}

unsigned int pfs_build_ids_nr(const struct pfs_build_ids *ids)
{
	return HASH_COUNT(ids->files);
}

const char *pfs_build_ids_path(const struct pfs_build_ids *ids, uint32_t dev, uint64_t ino)
{
	struct mapped_key key = { dev, ino };
	struct mapped *file;

	HASH_FIND(hh, ids->files, &key, sizeof(key), file);
	return file ? file->path : NULL;
}

int pfs_build_ids_notes(struct pfs_build_ids *ids, pfs_note_fn *put, void *ctx)
{
	enum pfs_elf_symbols_state state;
	struct pfs_build_id id;
	char device[32];
	int ret = 0;

	for (struct mapped *file = ids->files; !ret && file; file = file->hh.next) {
		struct pfs_elf_wanted wanted = { .path = file->path, .dev = file->key.dev, .ino = file->key.ino };
		int fd = file->path ? pfs_recorded_file_open(&wanted, &id, &state) : -1;

		if (fd < 0)
			continue;
		close(fd);
		snprintf(device, sizeof(device), "%02x:%02x", wanted.dev >> 20, wanted.dev & 0xfffff);
		if (id.hex[0])
			ret = put(ctx, 0, PFS_FACT(BUILD_ID, .what = device, .count = wanted.ino, .text = id.hex));
	}
	return ret;
}

/* "fe:01", as major << 20 | minor. */
static bool parse_device(const char *text, uint32_t *dev)
{
	uint64_t major, minor;

	if (!text || !pfs_take_hex(&text, 0xfff, &major) || *text++ != ':' || !pfs_take_hex(&text, 0xfffff, &minor) ||
	    *text)
		return false;
	*dev = major << 20 | minor;
	return true;
}

bool pfs_recorded_build_id(const struct pfs_note *note, struct pfs_fact *fact, uint32_t *dev)
{
	return !strcmp(note->key, pfs_note_key(PFS_NOTE_BUILD_ID)) && pfs_note_read(fact, note->key, note->value) &&
	       parse_device(fact->what, dev);
}
