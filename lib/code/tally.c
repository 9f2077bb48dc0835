/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the faults of each stack, and of each instruction whose fault has no stack.
 */
#include "code/code_priv.h"

#include "base/array.h"

#include <errno.h>
#include <string.h>

const char *const pfs_code_tables[PFS_NR_CODE_TABLES] = {
	[PFS_CODE_FUNCTION] = "function",
	[PFS_CODE_LINE] = "line",
	[PFS_CODE_STACK] = "stack",
	[PFS_CODE_MODULE] = "module",
	[PFS_CODE_INSTRUCTION] = "instruction",
};

struct pfs_code *pfs_code_new(const struct pfs_filter *filter, const struct pfs_debug_files *files,
			      const struct pfs_model *notes)
{
	struct pfs_code *code = calloc(1, sizeof(*code));

	if (!code)
		return NULL;
	code->filter = filter;
	code->stacks = pfs_stacks_new();
	code->jit = pfs_jit_new();
	if (code->stacks && code->jit && !pfs_symbolizer_prepare_jit(code->jit, files, notes))
		return code;
	pfs_code_free(code);
	return NULL;
}

void pfs_code_free(struct pfs_code *code)
{
	if (!code)
		return;
	for (uint32_t i = 0; i < code->nr_origins; i++)
		free(code->origins[i]);
	free(code->origins);
	free(code->origin_nrs.slots);
	PFS_HASH_FREE(code->threads);
	free(code->pages);
	pfs_stacks_free(code->stacks);
	pfs_jit_free(code->jit);
	free(code);
}

void pfs_code_add(struct pfs_code_counts *sum, const struct pfs_code_counts *counts)
{
	sum->faults += counts->faults;
	sum->read += counts->read;
	sum->write += counts->write;
	sum->exec += counts->exec;
	sum->kernel += counts->kernel;
	sum->major += counts->major;
	sum->pages += counts->pages;
	sum->latency_ns += counts->latency_ns;
	sum->major_ns += counts->major_ns;
	sum->nr_timed += counts->nr_timed;
}

static bool is_shown(const struct pfs_code *code, const struct pfs_outcome *o)
{
	return o->space && o->thread && !o->space->launcher && pfs_filter_outcome(code->filter, o);
}

static bool is_memory(const struct pfs_code *code, uint64_t stack, const struct pfs_frame *frame)
{
	const struct pfs_stack *known = stack ? pfs_stacks_find(code->stacks, stack) : NULL;

	return stack ? known && known->memory : pfs_frame_is_memory(frame);
}

static bool is_origin(const void *ctx, uint32_t nr, const void *key)
{
	const struct pfs_code *code = ctx;

	return !memcmp(&code->origins[nr - 1]->key, key, sizeof(struct pfs_code_key));
}

/* A new one has no faults. NULL: no memory. */
static struct pfs_code_origin *find_origin(struct pfs_code *code, struct pfs_code_key key)
{
	uint64_t hash = pfs_index_hash(pfs_index_hash(0, key.stack ^ key.at), key.name ^ key.ino ^ key.dev << 32);
	struct pfs_code_origin *added;
	uint32_t *nr;

	hash = pfs_index_hash(hash, (uint64_t)key.pid << 32 ^ key.epoch);
	nr = pfs_index_find(&code->origin_nrs, hash, is_origin, code, &key);
	if (!nr)
		return NULL;
	if (*nr)
		return code->origins[*nr - 1];
	added = pfs_array_add_new(code->origins, code->nr_origins, code->max_origins);
	if (added) {
		added->key = key;
		*nr = code->nr_origins;
	}
	return added;
}

/* NULL: no memory. */
static struct pfs_code_origin *origin_of(struct pfs_code *code, const struct pfs_outcome *o, uint64_t ts_ns,
					 uint64_t stack, uint64_t ip, unsigned int mode)
{
	const struct pfs_proc *proc = o->thread->proc;
	struct pfs_code_key key = { .stack = stack };
	struct pfs_code_origin *origin;
	struct pfs_frame frame = { 0 };
	uint64_t epoch;

	if (!stack) {
		bool file;

		frame = pfs_frame_of_fault(o->space, ip, mode, proc->pid_known ? proc->pid : 0);
		file = pfs_is_file(frame.dev, frame.ino) && !pfs_frame_is_memory(&frame);
		key = (struct pfs_code_key){ .name = (uintptr_t)frame.name,
					     .at = file ? frame.off : ip,
					     .dev = frame.dev,
					     .ino = frame.ino,
					     .pid = file ? 0 : frame.pid };
	}
	if (pfs_jit_epoch(code->jit, proc->pid, ts_ns, &epoch))
		return NULL;
	if (epoch && is_memory(code, stack, &frame))
		key.epoch = epoch;
	if (code->last && !memcmp(&code->last->key, &key, sizeof(key)))
		return code->last;
	origin = find_origin(code, key);
	if (origin && !origin->counts.faults) {
		origin->ts_ns = ts_ns;
		origin->frame = stack ? NULL : pfs_stacks_frame(code->stacks, &frame);
		if (!stack && !origin->frame)
			return NULL;
	}
	return code->last = origin;
}

/* Whether the fault at that time was the first event of its page. */
static bool is_first(const struct pfs_outcome *o, uint64_t addr, uint64_t ts_ns)
{
	const struct pfs_pages *pages = o->region && o->region->pages ? o->region->pages : o->space->pages;
	const struct pfs_page *page;
	struct pfs_page_walk walk;

	if (!pages)
		return false;
	pfs_page_walk_start(&walk, pages, addr, addr + 1);
	page = pfs_page_walk_next(&walk);
	return page && page->first_ns == ts_ns;
}

void pfs_code_want_pages(struct pfs_code *code)
{
	code->wants_pages = true;
}

/* 0 or -ENOMEM. */
static int keep_page(struct pfs_code *code, const struct pfs_code_origin *origin, const struct pfs_outcome *o,
		     uint64_t addr)
{
	struct pfs_code_page *page;

	if (!code->wants_pages || !o->region)
		return 0;
	page = pfs_array_add(code->pages, code->nr_pages, code->max_pages);
	if (!page)
		return -ENOMEM;
	*page = (struct pfs_code_page){ o->region, addr, origin, o->thread->proc->pid };
	return 0;
}

static void count(struct pfs_code_counts *counts, unsigned int access, unsigned int mode, bool first, uint64_t nr)
{
	counts->faults += nr;
	counts->read += access == PFS_READ ? nr : 0;
	counts->write += access == PFS_WRITE ? nr : 0;
	counts->exec += access == PFS_EXECUTE ? nr : 0;
	counts->kernel += mode == PFS_KERNEL ? nr : 0;
	counts->pages += first;
}

/* 0 or -ENOMEM. */
static int remember(struct pfs_code *code, const struct pfs_outcome *o, struct pfs_code_origin *origin,
		    uint64_t latency_ns)
{
	struct pfs_code_thread *thread = PFS_HASH_GET(code->threads, key, o->thread->tid);

	if (!thread)
		return -ENOMEM;
	thread->origin = origin;
	thread->latency_ns = latency_ns;
	return 0;
}

static void count_major(struct pfs_code *code, const struct pfs_outcome *o)
{
	int32_t tid = o->thread->tid;
	struct pfs_code_thread *thread;

	HASH_FIND(hh, code->threads, &tid, sizeof(tid), thread);
	if (!thread || !thread->origin)
		return;
	thread->origin->counts.major++;
	thread->origin->counts.major_ns += thread->latency_ns;
	thread->origin = NULL;
}

static int take_fault(struct pfs_code *code, const struct pfs_event *ev, const struct pfs_outcome *o)
{
	bool first;
	bool major = pfs_has(ev, PFS_F_CLASS) && ev->class == PFS_MAJOR_CLASS;
	unsigned int mode = pfs_has(ev, PFS_F_MODE) ? ev->mode : 0;
	uint64_t latency_ns = pfs_has(ev, PFS_F_LATENCY) ? ev->latency_ns : 0;
	struct pfs_code_origin *origin = origin_of(code, o, ev->ts_ns, pfs_has(ev, PFS_F_STACK) ? ev->stack : 0,
						   pfs_has(ev, PFS_F_IP) ? ev->ip : 0, mode);

	if (!origin)
		return -ENOMEM;
	first = is_first(o, ev->addr, ev->ts_ns);
	if (first && keep_page(code, origin, o, ev->addr))
		return -ENOMEM;
	count(&origin->counts, pfs_has(ev, PFS_F_ACCESS) ? ev->access : 0, mode, first,
	      pfs_has(ev, PFS_F_COUNT) ? ev->count : 1);
	origin->counts.major += major;
	origin->counts.nr_timed += pfs_has(ev, PFS_F_LATENCY);
	origin->counts.latency_ns += latency_ns;
	origin->counts.major_ns += major ? latency_ns : 0;
	return remember(code, o, origin, latency_ns);
}

static int take_event(void *ctx, const struct pfs_event *ev, const struct pfs_outcome *o)
{
	struct pfs_code *code = ctx;

	if (ev->kind == PFS_FRAMES)
		return pfs_stacks_event(code->stacks, ev, o);
	if (ev->kind != PFS_FAULT && pfs_jit_event(code->jit, ev, o->thread ? o->thread->proc->pid : 0))
		return -ENOMEM;
	if ((ev->kind != PFS_FAULT && ev->kind != PFS_MAJOR) || !is_shown(code, o))
		return 0;
	if (ev->kind == PFS_FAULT)
		return take_fault(code, ev, o);
	count_major(code, o);
	return 0;
}

static int take_faults(void *ctx, const struct pfs_fault_run *run, const struct pfs_outcome *o)
{
	struct pfs_code *code = ctx;
	struct pfs_code_origin *origin = NULL;

	if (!is_shown(code, o))
		return 0;
	for (uint32_t i = 0; i < run->nr; i++) {
		bool first = is_first(o, run->addr[i], run->ts_ns[i]);

		origin = origin_of(code, o, run->ts_ns[i], 0, run->ip[i], run->mode);
		if (!origin || (first && keep_page(code, origin, o, run->addr[i])))
			return -ENOMEM;
		count(&origin->counts, run->access, run->mode, first, 1);
	}
	return origin ? remember(code, o, origin, 0) : 0;
}

struct pfs_observer pfs_code_observer(struct pfs_code *code)
{
	return (struct pfs_observer){ take_event, take_faults, code };
}

/* A stack of a fault in kernel mode begins with how the kernel handles it, down to the exception. */
static uint32_t handler_frames(const struct pfs_stack *stack)
{
	static const char *const entries[] = { "asm_exc_page_fault+", "el1h_64_sync+", "el1_abort+",
					       "exc_page_fault+" };

	for (size_t e = 0; e < sizeof(entries) / sizeof(entries[0]); e++)
		for (uint32_t i = 0; i + 1 < stack->nr_frames && stack->frames[i]->func; i++)
			if (!strncmp(stack->frames[i]->func, entries[e], strlen(entries[e])))
				return i + 1;
	return 0;
}

struct pfs_code_frames pfs_code_frames(const struct pfs_code *code, const struct pfs_code_origin *origin)
{
	const struct pfs_stack *stack = origin->key.stack ? pfs_stacks_find(code->stacks, origin->key.stack) : NULL;
	uint32_t skipped = stack ? handler_frames(stack) : 0;

	if (!stack)
		return (struct pfs_code_frames){ &origin->frame, origin->key.stack ? 0 : 1, false, origin->ts_ns };
	return (struct pfs_code_frames){ stack->frames + skipped, stack->nr_frames - skipped, stack->cut,
					 origin->ts_ns };
}
