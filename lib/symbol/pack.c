/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See pack.h.
 */
#include "symbol/pack.h"

#include "base/hash.h"
#include "base/intern.h"
#include "model/model.h"
#include "symbol/archive.h"
#include "symbol/symbol.h"

#include <errno.h>

/* A build-id: files of several names may have it. */
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

static bool is_first(struct packed **all, struct pfs_intern **strings, const char *build_id, bool *no_memory)
{
	const char *key = pfs_intern(strings, build_id);
	struct packed *packed = key ? PFS_HASH_GET(*all, key, key) : NULL;
	bool first = packed && !packed->seen;

	*no_memory = !packed;
	if (packed)
		packed->seen = true;
	return first;
}

int pfs_pack_write(struct pfs_pack *pack, const struct pfs_build_ids *ids, const struct pfs_model *model, FILE *out,
		   struct pfs_err *err)
{
	struct pfs_intern *strings = NULL;
	struct packed *all = NULL;
	bool no_memory = false;
	int ret = 0;

	pack->nr_without_id = pfs_build_ids_nr(ids);
	for (unsigned int i = 0; !ret && !no_memory && i < model->nr_notes; i++) {
		struct pfs_elf_wanted wanted = { .files = pack->files };
		struct pfs_fact fact;

		if (!pfs_recorded_build_id(&model->notes[i], &fact, &wanted.dev) ||
		    !(wanted.path = pfs_build_ids_path(ids, wanted.dev, fact.count)))
			continue;
		wanted.ino = fact.count;
		wanted.build_id = fact.text;
		pack->nr_without_id--;
		if (is_first(&all, &strings, fact.text, &no_memory))
			ret = add_file(pack, &wanted, out, err);
	}
	if (no_memory)
		ret = pfs_err_set(err, -ENOMEM, "no memory for the build-ids");
	if (!ret && !pack->nr_files)
		ret = pfs_err_set(err, -ENODATA, "nothing to pack: no file with a recorded build-id is here");
	if (!ret)
		ret = pfs_archive_end(out, err);
	PFS_HASH_FREE(all);
	pfs_intern_free(strings);
	return ret;
}
