/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See pack.h.
 */
#include "symbol/pack.h"

#include "base/hash.h"
#include "base/intern.h"
#include "base/write_all.h"
#include "jit/jit.h"
#include "jit/perf_map.h"
#include "model/model.h"
#include "symbol/archive.h"
#include "symbol/symbol.h"

#include <errno.h>

/* A build-id, or the id of a content: files of several names may have it. */
struct packed {
	const char *key; /* interned */
	UT_hash_handle hh;
	bool seen;
};

static void report(const struct pfs_pack *pack, const char *path, const char *why)
{
	char line[512];

	snprintf(line, sizeof(line), "%s: %s", path, why);
	pack->report(pack->ctx, line);
}

static int add(struct pfs_pack *pack, FILE *out, const char *build_id, const char *what, int fd, struct pfs_err *err)
{
	int64_t size = pfs_archive_add(out, build_id, what, fd, err);

	if (size < 0)
		return size;
	pack->bytes += size;
	return 0;
}

/* A debug file that is found by its checksum need not have the build-id, by which readers know it. */
static int add_debug(struct pfs_pack *pack, FILE *out, const char *build_id, int fd, struct pfs_err *err)
{
	struct pfs_build_id id;

	if (fd < 0 || !pfs_build_id_read(&id, fd) || strcmp(id.hex, build_id))
		return 0;
	pack->nr_debug++;
	return add(pack, out, build_id, "debug", fd, err);
}

static int add_file(struct pfs_pack *pack, const struct pfs_elf_wanted *wanted, FILE *out, struct pfs_err *err)
{
	struct pfs_elf_symbols symbols;
	int ret = pfs_elf_symbols_read(&symbols, wanted), debug, fd;

	if (ret) {
		pfs_err_set(err, ret, "no memory for the symbols of %s", wanted->path);
	} else if (symbols.state) {
		report(pack, wanted->path, pfs_elf_symbols_text(symbols.state));
	} else {
		fd = pfs_elf_symbols_files(&symbols, &debug);
		pack->nr_files++;
		ret = add(pack, out, wanted->build_id, "elf", fd, err)
			      ?: add_debug(pack, out, wanted->build_id, debug, err);
	}
	pfs_elf_symbols_fini(&symbols);
	return ret;
}

/* path: of a jitdump. */
static int add_jit(struct pfs_pack *pack, const struct pfs_jit_file *file, const char *path, FILE *out,
		   struct pfs_err *err)
{
	const struct timespec any = { 0 };
	int fd = file->pid ? pfs_perf_map_open(NULL, file->pid, any, any) : pfs_jit_open(path, any, any), ret = 0;
	char name[32];

	snprintf(name, sizeof(name), "perf-%d.map", file->pid);
	if (fd < 0 || !pfs_jit_content_is(&file->content, fd)) {
		report(pack, file->pid ? name : path, fd < 0 ? "no such file here" : "another file now");
	} else {
		pack->nr_files++;
		pack->nr_jit++;
		ret = add(pack, out, file->content.id, "jit", fd, err);
	}
	pfs_close(fd);
	return ret;
}

struct packing {
	struct pfs_pack *pack;
	const struct pfs_build_ids *ids;
	FILE *out;
	struct pfs_err *err;
	struct pfs_intern *strings;
	struct packed *all;
	bool no_memory;
};

static bool is_new(struct packing *p, const char *id)
{
	const char *key = pfs_intern(&p->strings, id);
	struct packed *packed = key ? PFS_HASH_GET(p->all, key, key) : NULL;
	bool new = packed && !packed->seen;

	p->no_memory |= !packed;
	if (packed)
		packed->seen = true;
	return new;
}

/* What the note says, if it says something of a file. */
static int pack_note(struct packing *p, const struct pfs_note *note)
{
	struct pfs_elf_wanted wanted = { .files = p->pack->files };
	struct pfs_jit_file jit;
	struct pfs_fact fact;

	if (pfs_recorded_build_id(note, &fact, &wanted.dev)) {
		wanted.path = pfs_build_ids_path(p->ids, wanted.dev, fact.count);
		wanted.ino = fact.count;
		wanted.build_id = fact.text;
		p->pack->nr_without_id -= wanted.path && pfs_is_file(wanted.dev, wanted.ino);
		return wanted.path && is_new(p, fact.text) ? add_file(p->pack, &wanted, p->out, p->err) : 0;
	}
	if (!pfs_jit_file_read(&jit, note->key, note->value))
		return 0;
	wanted.path = jit.pid ? NULL : pfs_build_ids_path(p->ids, jit.dev, jit.ino);
	p->pack->nr_without_id -= wanted.path != NULL;
	if (!jit.pid && !wanted.path)
		return 0;
	return is_new(p, jit.content.id) ? add_jit(p->pack, &jit, wanted.path, p->out, p->err) : 0;
}

int pfs_pack_write(struct pfs_pack *pack, const struct pfs_build_ids *ids, const struct pfs_model *model, FILE *out,
		   struct pfs_err *err)
{
	struct packing p = { .pack = pack, .ids = ids, .out = out, .err = err };
	int ret = 0;

	pack->nr_without_id = pfs_build_ids_nr(ids);
	for (unsigned int i = 0; !ret && !p.no_memory && i < model->nr_notes; i++)
		ret = pack_note(&p, &model->notes[i]);
	if (p.no_memory)
		ret = pfs_err_set(err, -ENOMEM, "no memory for the build-ids");
	if (!ret && !pack->nr_files)
		ret = pfs_err_set(err, -ENODATA, "nothing to pack: no file with a recorded build-id is here");
	if (!ret)
		ret = pfs_archive_end(out, err);
	PFS_HASH_FREE(p.all);
	pfs_intern_free(p.strings);
	return ret;
}
