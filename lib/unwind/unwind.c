/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind.h"

#include "base/array.h"
#include "unwind/code_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { KNOWN_BITS = 8, CODE_READ = 16 };

struct code {
	struct pfs_unwind_map map; /* with its own name */
	struct pfs_unwind_file *file;
	bool looked; /* for the file */
};

struct pfs_unwind_space {
	struct code *code; /* by address, without overlaps */
	size_t nr, max;
	struct {
		uint64_t addr;
		struct pfs_rules *rules; /* or NULL */
	} known[1 << KNOWN_BITS];	 /* of code in no file, since what can be executed has changed */
};

struct pfs_unwind_space *pfs_unwind_space_new(void)
{
	return calloc(1, sizeof(struct pfs_unwind_space));
}

static void free_code(struct code *code)
{
	free((char *)code->map.name);
}

static void forget_rules(struct pfs_unwind_space *space)
{
	for (size_t i = 0; i < 1 << KNOWN_BITS; i++) {
		free(space->known[i].rules);
		space->known[i].rules = NULL;
	}
}

void pfs_unwind_space_free(struct pfs_unwind_space *space)
{
	if (!space)
		return;
	forget_rules(space);
	for (size_t i = 0; i < space->nr; i++)
		free_code(&space->code[i]);
	free(space->code);
	free(space);
}

/* The first that ends behind the address. */
static size_t place_of(const struct pfs_unwind_space *space, uint64_t addr)
{
	return pfs_lower_bound(space->nr, i, space->code[i].map.end <= addr);
}

/* Adds it at that place. 0 or -ENOMEM. */
static int insert(struct pfs_unwind_space *space, size_t at, struct code code)
{
	code.map.name = strdup(code.map.name);
	if (!code.map.name || !pfs_array_reserve(space->code, space->nr, space->max, 1)) {
		free_code(&code);
		return -ENOMEM;
	}
	memmove(space->code + at + 1, space->code + at, (space->nr - at) * sizeof(*space->code));
	space->code[at] = code;
	space->nr++;
	return 0;
}

int pfs_unwind_space_copy(struct pfs_unwind_space *to, const struct pfs_unwind_space *from, pid_t pid)
{
	int ret = pfs_unwind_space_unmap(to, 0, UINT64_MAX);

	for (size_t i = 0; ret >= 0 && i < from->nr; i++) {
		ret = insert(to, to->nr, from->code[i]);
		if (!ret)
			to->code[i].map.pid = pid;
	}
	return ret < 0 ? ret : 0;
}

/* Nothing begins below the address and ends above it any more. 0 or -ENOMEM. */
static int split_at(struct pfs_unwind_space *space, uint64_t addr)
{
	size_t at = place_of(space, addr);
	struct code above;
	int ret;

	if (at == space->nr || space->code[at].map.start >= addr)
		return 0;
	above = space->code[at];
	above.map.off += addr - above.map.start;
	above.map.start = addr;
	ret = insert(space, at + 1, above);
	if (!ret)
		space->code[at].map.end = addr;
	return ret;
}

int pfs_unwind_space_unmap(struct pfs_unwind_space *space, uint64_t start, uint64_t end)
{
	int ret = start < end ? split_at(space, start) ?: split_at(space, end) : 0;
	size_t at = place_of(space, start), to = place_of(space, end);

	if (ret || at >= to)
		return ret;
	forget_rules(space);
	for (size_t i = at; i < to; i++)
		free_code(&space->code[i]);
	memmove(space->code + at, space->code + to, (space->nr - to) * sizeof(*space->code));
	space->nr -= to - at;
	return 1;
}

static bool is_same(const struct pfs_unwind_map *a, const struct pfs_unwind_map *b)
{
	return a->start == b->start && a->end == b->end && a->off == b->off && a->dev == b->dev && a->ino == b->ino &&
	       !strcmp(a->name, b->name);
}

int pfs_unwind_space_map(struct pfs_unwind_space *space, const struct pfs_unwind_map *map, bool executable)
{
	size_t at = place_of(space, map->start);
	int ret;

	if (executable && at < space->nr && is_same(&space->code[at].map, map))
		return 0;
	ret = pfs_unwind_space_unmap(space, map->start, map->end);
	if (ret < 0 || !executable)
		return ret;
	return insert(space, place_of(space, map->start), (struct code){ .map = *map }) ?: 1;
}

/*
 * Of code in no file, as JIT compilers make it, nothing is known but its instructions: those of Python's trampolines between its
 * functions (python -X perf) are a call and the way back. `addr` is where the call returns. NULL: they are others, or the process
 * has ended.
 */
static const struct pfs_rules *rules_in_memory(struct pfs_unwind_space *space, const struct pfs_unwind_map *map,
					       uint64_t addr)
{
	typeof(space->known[0]) *known = &space->known[addr * UINT64_C(0x9e3779b97f4a7c15) >> (64 - KNOWN_BITS)];
	uint8_t code[CODE_READ];
	struct iovec local = { code, CODE_READ }, remote = { (void *)(uintptr_t)addr, CODE_READ }; /* NOLINT */
	struct pfs_rules *rules;

	if (known->rules && known->addr == addr)
		return known->rules;
	if (map->end - addr < CODE_READ)
		local.iov_len = remote.iov_len = map->end - addr;
	if (process_vm_readv(map->pid, &local, 1, &remote, 1, 0) != (ssize_t)local.iov_len)
		return NULL;
	rules = pfs_code_rules(code, local.iov_len);
	if (!rules)
		return NULL;
	free(known->rules);
	known->addr = addr;
	known->rules = rules;
	return rules;
}

/* At that address; called: a call returns there, so it is before it. */
static const struct pfs_rules *rules_at(struct pfs_unwind_files *files, struct pfs_unwind_space *space, uint64_t addr,
					bool called)
{
	uint64_t in = addr - called;
	size_t at = place_of(space, in);
	struct code *code = at < space->nr && space->code[at].map.start <= in ? &space->code[at] : NULL;

	if (!code)
		return NULL;
	if (!code->looked)
		code->file = pfs_unwind_file(files, &code->map);
	code->looked = true;
	if (code->file)
		return pfs_unwind_file_rules(files, code->file, code->map.off + (in - code->map.start));
	return called && !code->map.dev && !code->map.ino && addr < code->map.end
		       ? rules_in_memory(space, &code->map, addr)
		       : NULL;
}

unsigned int pfs_unwind(struct pfs_unwind_files *files, struct pfs_unwind_space *space, const struct pfs_regs *regs,
			const struct pfs_dump *dump, uint64_t *frames, bool *cut)
{
	enum pfs_step step = PFS_STEP_CALLER;
	struct pfs_regs now = *regs;
	bool called = false; /* the address is where a call returns: the call is before it */
	unsigned int nr = 0;

	while (step == PFS_STEP_CALLER && nr < PFS_MAX_FRAMES) {
		const struct pfs_rules *rules;

		frames[nr] = now.value[PFS_REG_PC] + (nr && !called);
		nr++;
		rules = rules_at(files, space, now.value[PFS_REG_PC], called);
		step = rules ? pfs_rules_step(rules, &now, dump) : PFS_STEP_UNKNOWN;
		called = rules && !rules->signal;
	}
	*cut = step != PFS_STEP_END;
	return nr;
}
