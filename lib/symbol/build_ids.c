/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See build_ids.h. An interpreter's files are not mapped for execution, so data files are not opened.
 */
#include "symbol/build_ids.h"

#include "base/hash.h"
#include "base/perms.h"
#include "base/write_all.h"
#include "jit/jit.h"
#include "jit/perf_map.h"
#include "model/model.h"
#include "os/smaps.h"
#include "symbol/recorded_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FILES = 1 << 16, MAX_PROCESSES = 1 << 16 };

struct mapped {
	struct mapped_key {
		uint64_t dev, ino;
	} key;
	UT_hash_handle hh;
	char *path; /* NULL: it was not mapped for execution */
};

struct process {
	int32_t key;
	UT_hash_handle hh;
};

struct pfs_build_ids {
	struct mapped *files;
	struct process *processes;
	bool vdso; /* a process has one */
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
	PFS_HASH_FREE(ids->processes);
	free(ids);
}

static int take_process(struct pfs_build_ids *ids, const struct pfs_event *ev)
{
	if (!pfs_has(ev, PFS_F_PID) || ev->pid <= 0 || HASH_COUNT(ids->processes) >= MAX_PROCESSES)
		return 0;
	return PFS_HASH_GET(ids->processes, key, ev->pid) ? 0 : -ENOMEM;
}

static int take(void *ctx, const struct pfs_event *ev)
{
	const uint64_t needed = PFS_HAS(PFS_F_DEV) | PFS_HAS(PFS_F_INO) | PFS_HAS(PFS_F_NAME) | PFS_HAS(PFS_F_PERMS);
	struct mapped_key key = { ev->dev, ev->ino };
	struct pfs_build_ids *ids = ctx;
	struct mapped *file;

	if (take_process(ids, ev))
		return -ENOMEM;
	ids->vdso |= ev->kind == PFS_MAP && pfs_has(ev, PFS_F_NAME) && !strcmp(ev->name, "[vdso]");
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

	if (!dev && !ino)
		return ids->vdso ? "[vdso]" : NULL;
	HASH_FIND(hh, ids->files, &key, sizeof(key), file);
	return file ? file->path : NULL;
}

/* Of an ELF file its build-id, of a jitdump its content. 0 or what put() returned. */
static int note_file(const struct mapped *file, pfs_note_fn *put, void *ctx)
{
	struct pfs_elf_wanted wanted = { .path = file->path, .dev = file->key.dev, .ino = file->key.ino };
	struct pfs_jit_file jit = { .dev = wanted.dev, .ino = wanted.ino };
	enum pfs_elf_symbols_state state;
	char device[PFS_NOTE_DEVICE_SIZE];
	struct pfs_build_id id;
	int fd = file->path ? pfs_recorded_file_open(&wanted, &id, &state) : -1, ret = 0;

	if (fd < 0)
		return 0;
	pfs_note_put_device(device, wanted.dev);
	if (id.hex[0])
		ret = put(ctx, 0, PFS_FACT(BUILD_ID, .what = device, .count = wanted.ino, .text = id.hex));
	else if (pfs_is_jitdump(file->path) && pfs_jit_content_of(&jit.content, fd))
		ret = pfs_jit_file_note(&jit, put, ctx);
	close(fd);
	return ret;
}

static int note_vdso(pfs_note_fn *put, void *ctx)
{
	struct pfs_build_id id;
	int fd = pfs_vdso_open(), ret = 0;

	if (fd >= 0 && pfs_build_id_read(&id, fd))
		ret = put(ctx, 0, PFS_FACT(BUILD_ID, .what = "00:00", .text = id.hex));
	pfs_close(fd);
	return ret;
}

static int note_perf_map(int32_t pid, struct timespec since, pfs_note_fn *put, void *ctx)
{
	struct pfs_jit_file file = { .pid = pid };
	int fd = pfs_perf_map_open(NULL, pid, since, (struct timespec){ 0 }), ret = 0;

	if (fd >= 0 && pfs_jit_content_of(&file.content, fd))
		ret = pfs_jit_file_note(&file, put, ctx);
	pfs_close(fd);
	return ret;
}

int pfs_build_ids_notes(struct pfs_build_ids *ids, struct timespec since, pfs_note_fn *put, void *ctx)
{
	int ret = ids->vdso ? note_vdso(put, ctx) : 0;

	for (struct mapped *file = ids->files; !ret && file; file = file->hh.next)
		ret = note_file(file, put, ctx);
	for (struct process *process = ids->processes; !ret && process; process = process->hh.next)
		ret = note_perf_map(process->key, since, put, ctx);
	return ret;
}

bool pfs_recorded_build_id(const struct pfs_note *note, struct pfs_fact *fact, uint32_t *dev)
{
	return !strcmp(note->key, pfs_note_key(PFS_NOTE_BUILD_ID)) && pfs_note_read(fact, note->key, note->value) &&
	       pfs_note_device(fact->what, dev);
}
