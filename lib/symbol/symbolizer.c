/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See symbolizer.h. Each file is opened once, and each of its instructions looked up once.
 */
#include "symbol/symbolizer.h"

#include "base/hash.h"
#include "base/intern.h"
#include "base/number.h"
#include "symbol/symbol.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What frames lie in: a file, memory that is called so, or the kernel. Strings are interned. */
struct module_key {
	const char *name; /* of the region; NULL: unknown, or the kernel */
	uint64_t ino;
	uint64_t dev;
};

struct module {
	struct module_key key;
	UT_hash_handle hh;
	bool opened;
	struct pfs_elf_symbols symbols;
};

struct site_key {
	const struct module *module; /* NULL: the kernel */
	uint64_t at;		     /* offset in the file; address; in the kernel the name, interned */
	uint64_t call;
};

struct site {
	struct site_key key;
	UT_hash_handle hh;
	uint32_t nr;
	struct pfs_place *places;
	struct pfs_place one;
};

struct pfs_symbolizer {
	struct pfs_symbolizer_options options;
	struct pfs_intern *strings;
	struct module *modules;
	struct site *sites;
};

struct pfs_symbolizer *pfs_symbolizer_new(const struct pfs_symbolizer_options *options)
{
	struct pfs_symbolizer *s = calloc(1, sizeof(*s));

	if (s)
		s->options = *options;
	return s;
}

void pfs_symbolizer_free(struct pfs_symbolizer *s)
{
	struct module *module, *next_module;
	struct site *site, *next_site;

	if (!s)
		return;
	HASH_ITER (hh, s->modules, module, next_module) {
		HASH_DEL(s->modules, module);
		pfs_elf_symbols_fini(&module->symbols);
		free(module);
	}
	HASH_ITER (hh, s->sites, site, next_site) {
		HASH_DEL(s->sites, site);
		if (site->places != &site->one)
			free(site->places);
		free(site);
	}
	pfs_intern_free(s->strings);
	free(s);
}

/* ---- the kernel ---- */

/* "filemap_read+0x1c". 0 or -ENOMEM. */
static int kernel_place(struct pfs_symbolizer *s, struct pfs_place *place, const char *func)
{
	const char *plus = func ? strrchr(func, '+') : NULL;
	char *name;

	place->module = "[kernel]";
	if (!func) {
		place->why = "no name was recorded";
		return 0;
	}
	name = strndup(func, plus ? (size_t)(plus - func) : strlen(func));
	place->func = pfs_intern(&s->strings, name);
	if (plus && !strncmp(plus, "+0x", 3))
		pfs_hex(plus + 3, &place->behind);
	free(name);
	return place->func ? 0 : -ENOMEM;
}

/* ---- files ---- */

static const char *base_of(const char *path)
{
	const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

static int file_place(struct pfs_symbolizer *s, struct module *module, struct pfs_place *place,
		      const struct pfs_frame *frame)
{
	int err = 0;

	place->path = module->key.name;
	place->module = base_of(module->key.name);
	if (!module->opened) {
		module->opened = true;
		err = pfs_elf_symbols_read(&module->symbols, module->key.name, module->key.dev, module->key.ino,
					   s->options.until);
	}
	if (!err)
		place->func = pfs_elf_symbols_find(&module->symbols, frame->off - frame->call, &place->behind);
	if (place->func)
		place->behind += frame->call;
	else
		place->why = pfs_elf_symbols_text(module->symbols.state);
	return err;
}

static void memory_place(struct pfs_place *place, const struct module *module)
{
	const char *name = module->key.name;

	place->module = !name ? NULL : *name ? name : "[anon]";
	place->why = !name ? "no known region" : "no file";
}

/* ---- all ---- */

/* Addresses of the kernel are the upper half. */
static bool is_kernel(const struct pfs_frame *frame)
{
	return frame->func || frame->addr >> 63;
}

static struct module *module_of(struct pfs_symbolizer *s, const struct pfs_frame *frame)
{
	struct module_key key = { pfs_intern(&s->strings, frame->name), frame->ino, frame->dev };

	return frame->name && !key.name ? NULL : PFS_HASH_GET(s->modules, key, key);
}

static int look_up(struct pfs_symbolizer *s, struct module *module, struct site *site, const struct pfs_frame *frame)
{
	int err = 0;

	site->places = &site->one;
	if (!module)
		err = kernel_place(s, &site->one, frame->func);
	else if (pfs_is_file(frame->dev, frame->ino) && frame->name)
		err = file_place(s, module, &site->one, frame);
	else
		memory_place(&site->one, module);
	site->nr = err ? 0 : 1;
	return err;
}

const struct pfs_place *pfs_symbolizer_frame(struct pfs_symbolizer *s, const struct pfs_frame *frame, uint32_t *nr)
{
	bool kernel = is_kernel(frame), file = pfs_is_file(frame->dev, frame->ino);
	struct site_key key = { .at = file ? frame->off : frame->addr, .call = frame->call };
	struct module *module = NULL;
	struct site *site;

	if (kernel && frame->func) {
		key.at = (uintptr_t)pfs_intern(&s->strings, frame->func);
		if (!key.at)
			return NULL;
	}
	if (!kernel && !(key.module = module = module_of(s, frame)))
		return NULL;
	site = PFS_HASH_GET(s->sites, key, key);
	if (!site || (!site->nr && look_up(s, module, site, frame)))
		return NULL;
	*nr = site->nr;
	return site->places;
}
