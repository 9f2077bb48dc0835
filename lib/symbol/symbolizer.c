/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See symbolizer.h. Each file is opened once, and each of its instructions looked up once. What may break a library that
 * reads it is read in a child (guard.h).
 */
#include "symbol/symbolizer.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/number.h"
#include "jit/jit.h"
#include "jit/perf_map.h"
#include "symbol/demangle.h"
#include "symbol/dwarf_child.h"
#include "symbol/guard.h"
#include "symbol/symbol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What frames lie in: a file, or memory that is called so. Strings are interned. */
struct module_key {
	const char *name; /* of the region; NULL: unknown */
	uint64_t ino, dev;
};

struct module {
	struct module_key key;
	UT_hash_handle hh;
	bool opened;
	struct pfs_elf_symbols symbols;
	struct pfs_guard lines; /* reads the debug information */
	const char *build_id;
};

struct site_key {
	const struct module *module; /* NULL: the kernel */
	uint64_t at;		     /* offset in the file; address; in the kernel the name, interned */
	uint64_t pid, epoch;	     /* of memory */
	uint64_t call;
};

struct site {
	struct site_key key;
	UT_hash_handle hh;
	uint32_t nr;
	struct pfs_place *places;
	struct pfs_place one;
};

struct file_id {
	uint64_t dev, ino;
};

struct recorded_id {
	struct file_id key;
	UT_hash_handle hh;
	const char *build_id;
};

/* Mangled to demangled, both interned. */
struct function_name {
	const char *key;
	UT_hash_handle hh;
	const char *name;
};

struct process {
	int32_t key;
	UT_hash_handle hh;
	bool read;
	struct pfs_perf_map map;
	struct pfs_jit_content content; /* of it, as recorded */
	const char *why;		/* that is not there: the reason */
};

struct pfs_symbolizer {
	struct pfs_symbolizer_options options;
	struct pfs_intern *strings;
	struct module *modules;
	struct site *sites;
	struct recorded_id *build_ids;
	struct function_name *names;
	struct process *processes;
	struct pfs_demangler demangler;
	struct site **of_frames; /* by the numbers of frames that are not memory */
	size_t max_frames;
	uint32_t nr_places;
	struct question *questions;
	size_t nr_questions, max_questions;
	char name[PFS_GUARD_MAX]; /* the answers of children */
	char lines[PFS_GUARD_MAX + 1];
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
	struct process *process, *next_process;

	if (!s)
		return;
	HASH_ITER (hh, s->modules, module, next_module) {
		HASH_DEL(s->modules, module);
		pfs_elf_symbols_fini(&module->symbols);
		pfs_guard_end(&module->lines);
		free(module);
	}
	HASH_ITER (hh, s->sites, site, next_site) {
		HASH_DEL(s->sites, site);
		if (site->places != &site->one)
			free(site->places);
		free(site);
	}
	HASH_ITER (hh, s->processes, process, next_process) {
		HASH_DEL(s->processes, process);
		pfs_perf_map_fini(&process->map);
		free(process);
	}
	PFS_HASH_FREE(s->build_ids);
	PFS_HASH_FREE(s->names);
	pfs_demangler_fini(&s->demangler);
	free(s->of_frames);
	free(s->questions);
	pfs_intern_free(s->strings);
	free(s);
}

int pfs_symbolizer_build_id(struct pfs_symbolizer *s, uint32_t dev, uint64_t ino, const char *build_id)
{
	struct file_id key = { dev, ino };
	struct recorded_id *id = PFS_HASH_GET(s->build_ids, key, key);

	if (id)
		id->build_id = pfs_intern(&s->strings, build_id);
	return id && id->build_id ? 0 : -ENOMEM;
}

int pfs_symbolizer_perf_map(struct pfs_symbolizer *s, int32_t pid, const struct pfs_jit_content *content)
{
	struct process *process = PFS_HASH_GET(s->processes, key, pid);

	if (process && !process->read)
		process->content = *content;
	return process ? 0 : -ENOMEM;
}

/* ---- names ---- */

/* Interned; NULL: no memory. */
static const char *demangled(struct pfs_symbolizer *s, const char *name)
{
	const char *mangled = pfs_intern(&s->strings, name);
	struct function_name *known = mangled ? PFS_HASH_GET(s->names, key, mangled) : NULL;

	if (known && !known->name)
		known->name = pfs_intern(&s->strings, pfs_demangle(&s->demangler, name, s->name));
	return known ? known->name : NULL;
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

/* ---- what JIT compilers made ---- */

/* 0 or -ENOMEM. */
static int dump_place(struct pfs_symbolizer *s, struct pfs_place *place, const struct pfs_frame *frame, uint64_t ts_ns)
{
	struct pfs_jit_place found = { 0 };
	int err =
		s->options.jit ? pfs_jit_find(s->options.jit, frame->pid, frame->addr - frame->call, ts_ns, &found) : 0;

	if (err || !found.func)
		return err;
	place->behind = found.behind + frame->call;
	place->why = NULL;
	place->func = demangled(s, found.func);
	if (found.source && (s->options.lines || s->options.inlines)) {
		place->source = pfs_intern(&s->strings, found.source);
		place->line = found.line;
	}
	return place->func && (!found.source || !place->line || place->source) ? 0 : -ENOMEM;
}

/* Closes it and returns -1 unless it begins with what was recorded. */
static int checked_map(const struct process *process, int fd)
{
	if (fd < 0 || (pfs_jit_content_is(&process->content, fd) && !lseek(fd, 0, SEEK_SET)))
		return fd;
	close(fd);
	return -1;
}

/* If its content was recorded, it may be anywhere, and of any time. */
static int open_map(struct pfs_symbolizer *s, struct process *process)
{
	const struct pfs_symbolizer_options *options = &s->options;
	const struct timespec any = { 0 };
	int fd;

	if (!process->content.size)
		return pfs_perf_map_open(options->jit_dir, process->key, options->since, options->until);
	fd = pfs_perf_map_open(options->jit_dir, process->key, any, any);
	process->why = fd < 0 ? "no such file here" : "another file now";
	fd = checked_map(process, fd);
	if (fd < 0)
		fd = checked_map(process, pfs_debug_jit_open(&s->options.files, process->content.id));
	if (fd >= 0)
		process->why = NULL;
	return fd;
}

static int read_map(struct pfs_symbolizer *s, struct process *process)
{
	int fd = open_map(s, process);

	process->read = true;
	return fd < 0 ? 0 : pfs_perf_map_read(&process->map, fd, process->content.size ?: UINT64_MAX, &s->strings);
}

static int map_place(struct pfs_symbolizer *s, struct pfs_place *place, const struct pfs_frame *frame)
{
	struct process *process = frame->pid > 0 ? PFS_HASH_GET(s->processes, key, frame->pid) : NULL;
	const char *name;
	int err = 0;

	if (!process)
		return frame->pid > 0 ? -ENOMEM : 0;
	if (!process->read)
		err = read_map(s, process);
	name = err ? NULL : pfs_perf_map_find(&process->map, frame->addr - frame->call, &place->behind);
	if (!name)
		return err;
	place->behind += frame->call;
	place->why = NULL;
	place->func = demangled(s, name);
	return place->func ? 0 : -ENOMEM;
}

/* ---- source lines ---- */

/* Asked for when a place is wanted. */
struct question {
	struct module *module;
	struct site *site;
	uint64_t addr;
};

/* 0 or -ENOMEM. */
static int ask_for_lines(struct pfs_symbolizer *s, struct module *module, struct site *site, uint64_t off)
{
	struct question question = { .module = module, .site = site }, *added;

	if (!(s->options.lines || s->options.inlines) || pfs_elf_symbols_debug_fd(&module->symbols) < 0 ||
	    !pfs_elf_symbols_address(&module->symbols, off, &question.addr))
		return 0;
	added = pfs_array_add(s->questions, s->nr_questions, s->max_questions);
	if (added)
		*added = question;
	return added ? 0 : -ENOMEM;
}

/* What a module is asked. */
struct asked {
	struct pfs_symbolizer *s;
	struct site **sites;
	uint64_t *addrs;
	unsigned int nr;
};

/* What was found of a place, inlined or `last` the function that is known as `whole`. 0 or -ENOMEM. */
static int complete_place(struct pfs_symbolizer *s, struct pfs_place *place, const struct pfs_dwarf_place *found,
			  const struct pfs_place *whole, bool last)
{
	const char *func = last && whole->func ? NULL : found->func;

	*place = *whole;
	place->line = found->line;
	place->source = found->source ? pfs_intern(&s->strings, found->source) : NULL;
	place->inlined = !last;
	place->behind = last ? whole->behind : 0;
	place->func = func ? demangled(s, func) : last ? whole->func : NULL;
	place->why = place->func ? NULL : whole->why ? whole->why : "no name";
	return (found->source && !place->source) || (func && !place->func) ? -ENOMEM : 0;
}

static int take_lines(void *ctx, unsigned int i, const struct pfs_dwarf_place *found, unsigned int nr)
{
	const struct asked *asked = ctx;
	struct pfs_place *places = calloc(nr, sizeof(*places));
	int err = places ? 0 : -ENOMEM;

	for (unsigned int k = 0; !err && k < nr; k++) {
		err = complete_place(asked->s, &places[k], &found[k], &asked->sites[i]->one, k + 1 == nr);
		places[k].nr = ++asked->s->nr_places;
	}
	if (err) {
		free(places);
		return err;
	}
	asked->sites[i]->places = places;
	asked->sites[i]->nr = nr;
	return 0;
}

/* All that the module of the first question is to be asked; what others are stays. 0 or -ENOMEM. */
static int ask_module(struct asked *asked)
{
	struct pfs_symbolizer *s = asked->s;
	struct module *module = s->questions[0].module;
	size_t kept = 0;

	asked->nr = 0;
	for (size_t i = 0; i < s->nr_questions; i++) {
		const struct question *question = &s->questions[i];

		if (question->module != module) {
			s->questions[kept++] = *question;
			continue;
		}
		asked->sites[asked->nr] = question->site;
		asked->addrs[asked->nr++] = question->addr;
	}
	s->nr_questions = kept;
	return pfs_dwarf_child_find(&module->lines, pfs_elf_symbols_debug_fd(&module->symbols), asked->addrs, asked->nr,
				    s->options.inlines, s->lines, take_lines, asked);
}

static int by_addr(const void *a, const void *b)
{
	return pfs_order(((const struct question *)a)->addr, ((const struct question *)b)->addr);
}

static int ask_all(struct pfs_symbolizer *s)
{
	struct asked asked = { .s = s };
	int err = 0;

	if (!s->nr_questions)
		return 0;
	asked.sites = malloc(s->nr_questions * sizeof(*asked.sites));
	asked.addrs = malloc(s->nr_questions * sizeof(*asked.addrs));
	if (!asked.sites || !asked.addrs)
		err = -ENOMEM;
	qsort(s->questions, s->nr_questions, sizeof(*s->questions), by_addr); /* what lies near is in the cache */
	while (!err && s->nr_questions)
		err = ask_module(&asked);
	free(asked.sites);
	free(asked.addrs);
	return err;
}

/* ---- files ---- */

static const char *base_of(const char *path)
{
	const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

static int open_module(struct pfs_symbolizer *s, struct module *module)
{
	struct file_id id = { module->key.dev, module->key.ino };
	struct recorded_id *recorded;
	int err;

	HASH_FIND(hh, s->build_ids, &id, sizeof(id), recorded);
	err = pfs_elf_symbols_read(&module->symbols,
				   &(struct pfs_elf_wanted){ .path = module->key.name,
							     .dev = module->key.dev,
							     .ino = module->key.ino,
							     .build_id = recorded ? recorded->build_id : NULL,
							     .until = s->options.until,
							     .files = &s->options.files });
	if (err)
		return err;
	module->opened = true;
	module->build_id = recorded						       ? recorded->build_id
			   : !module->symbols.state && module->symbols.build_id.hex[0] ? module->symbols.build_id.hex
										       : NULL;
	return 0;
}

static int file_place(struct pfs_symbolizer *s, struct module *module, struct site *site, const struct pfs_frame *frame)
{
	struct pfs_place *place = &site->one;
	uint64_t off = frame->off - frame->call;
	const char *name;
	int err = module->opened ? 0 : open_module(s, module);

	if (err)
		return err;
	place->path = module->key.name;
	place->module = base_of(module->key.name);
	place->build_id = module->build_id;
	name = pfs_elf_symbols_find(&module->symbols, off, &place->behind);
	if (name) {
		place->behind += frame->call;
		place->func = demangled(s, name);
		if (!place->func)
			return -ENOMEM;
	} else {
		place->why = pfs_elf_symbols_text(module->symbols.state);
	}
	return ask_for_lines(s, module, site, off);
}

static int memory_place(struct pfs_symbolizer *s, struct pfs_place *place, const struct module *module,
			const struct pfs_frame *frame, uint64_t ts_ns)
{
	const char *name = module->key.name;
	int err;

	place->module = !name ? NULL : *name ? name : "[anon]";
	place->why = !name ? "no known region" : "no file";
	err = dump_place(s, place, frame, ts_ns);
	return err || place->func ? err : map_place(s, place, frame);
}

/* ---- all ---- */

/* Addresses of the kernel are the upper half. */
static bool is_kernel(const struct pfs_frame *frame)
{
	return frame->func || frame->addr >> 63;
}

/* One of a known build-id. That of a 32-bit process is another one, in the lowest 4 GiB. */
static bool is_known_vdso(const struct pfs_symbolizer *s, const struct pfs_frame *frame)
{
	const struct file_id none = { 0, 0 };
	struct recorded_id *recorded;

	if (!frame->name || strcmp(frame->name, "[vdso]") || !(frame->addr >> 32))
		return false;
	HASH_FIND(hh, s->build_ids, &none, sizeof(none), recorded);
	return recorded;
}

static bool is_file(const struct pfs_symbolizer *s, const struct pfs_frame *frame)
{
	return !is_kernel(frame) && (!pfs_frame_is_memory(frame) || is_known_vdso(s, frame));
}

static struct module *module_of(struct pfs_symbolizer *s, const struct pfs_frame *frame)
{
	bool file = is_file(s, frame);
	struct module_key key = { pfs_intern(&s->strings, frame->name), file ? frame->ino : 0, file ? frame->dev : 0 };

	return frame->name && !key.name ? NULL : PFS_HASH_GET(s->modules, key, key);
}

static int look_up(struct pfs_symbolizer *s, struct module *module, struct site *site, const struct pfs_frame *frame,
		   uint64_t ts_ns)
{
	int err;

	site->places = &site->one;
	site->nr = 1;
	site->one.nr = ++s->nr_places;
	err = !module		  ? kernel_place(s, &site->one, frame->func)
	      : is_file(s, frame) ? file_place(s, module, site, frame)
				  : memory_place(s, &site->one, module, frame, ts_ns);
	if (err)
		site->nr = 0;
	return err;
}

/* NULL: no memory. */
static struct site *hashed_site(struct pfs_symbolizer *s, const struct pfs_frame *frame, uint64_t ts_ns)
{
	bool kernel = is_kernel(frame), file = is_file(s, frame);
	struct site_key key = { .at = file ? frame->off : frame->addr,
				.pid = kernel || file ? 0 : frame->pid,
				.call = frame->call };
	struct module *module = NULL;
	struct site *site;

	if (kernel && frame->func) {
		key.at = (uintptr_t)pfs_intern(&s->strings, frame->func);
		if (!key.at)
			return NULL;
	}
	if (!kernel && !(key.module = module = module_of(s, frame)))
		return NULL;
	if (key.pid && s->options.jit && pfs_jit_epoch(s->options.jit, key.pid, ts_ns, &key.epoch))
		return NULL;
	site = PFS_HASH_GET(s->sites, key, key);
	return site && (site->nr || !look_up(s, module, site, frame, ts_ns)) ? site : NULL;
}

/* Its lines may be still to be asked for. NULL: no memory. */
static struct site *find_site(struct pfs_symbolizer *s, const struct pfs_frame *frame, uint64_t ts_ns)
{
	struct site **known;

	if (!frame->nr || !(is_kernel(frame) || is_file(s, frame)))
		return hashed_site(s, frame, ts_ns);
	if (!pfs_array_extend(s->of_frames, s->max_frames, (size_t)frame->nr + 1))
		return NULL;
	known = &s->of_frames[frame->nr];
	if (!*known)
		*known = hashed_site(s, frame, ts_ns);
	return *known;
}

const struct pfs_place *pfs_symbolizer_frame(struct pfs_symbolizer *s, const struct pfs_frame *frame, uint64_t ts_ns,
					     uint32_t *nr)
{
	struct site *site = find_site(s, frame, ts_ns);

	if (!site || ask_all(s))
		return NULL;
	*nr = site->nr;
	return site->places;
}

int pfs_symbolizer_ahead(struct pfs_symbolizer *s, const struct pfs_frame *const *frames, uint32_t nr, uint64_t ts_ns)
{
	for (uint32_t i = 0; (s->options.lines || s->options.inlines) && i < nr; i++)
		if (is_file(s, frames[i]) && !find_site(s, frames[i], ts_ns))
			return -ENOMEM;
	return 0;
}

bool pfs_symbolizer_problem(const struct pfs_symbolizer *s, unsigned int *at, char *buf, size_t size)
{
	unsigned int nr = 0, of_jit;

	for (struct module *module = s->modules; module; module = module->hh.next) {
		const char *why = !module->opened	  ? NULL
				  : module->symbols.state ? pfs_elf_symbols_text(module->symbols.state)
				  : module->lines.broken  ? "its debug information cannot be read"
							  : NULL;

		if (!why || nr++ < *at)
			continue;
		snprintf(buf, size, "%s: %s", module->key.name, why);
		*at = nr;
		return true;
	}
	if (s->demangler.guard.broken && nr++ >= *at) {
		snprintf(buf, size, "libiberty failed to demangle a name: names stay as they are");
		*at = nr;
		return true;
	}
	for (struct process *process = s->processes; process; process = process->hh.next) {
		if (!process->why || nr++ < *at)
			continue;
		snprintf(buf, size, "perf-%d.map: %s", process->key, process->why);
		*at = nr;
		return true;
	}
	of_jit = *at - nr;
	if (!s->options.jit || !pfs_jit_problem(s->options.jit, &of_jit, buf, size))
		return false;
	*at = nr + of_jit;
	return true;
}
