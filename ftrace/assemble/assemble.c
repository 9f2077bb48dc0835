/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entrance of the assembler: hands each raw event to its file, and takes in notes and losses itself. */
#include "assemble/assemble_priv.h"

#include "record/fault_batch.h"

#include <errno.h>
#include <stdio.h>

struct pfs_assembler *pfs_assembler_new(const struct pfs_sink *sink)
{
	struct pfs_assembler *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->sink = *sink;
	a->page_mask = 4095;
	a->checks_first = true;
	asm_fault_init(a);
	return a;
}

void pfs_assembler_free(struct pfs_assembler *a)
{
	struct asm_thread *t, *next_thread;
	struct asm_proc *p, *next_proc;

	if (!a)
		return;
	HASH_ITER (hh, a->threads, t, next_thread) {
		HASH_DEL(a->threads, t);
		asm_pending_free(t);
		asm_doubtful_free(t);
		free(t);
	}
	HASH_ITER (hh, a->procs, p, next_proc) {
		HASH_DEL(a->procs, p);
		free(p);
	}
	for (unsigned int i = 0; i < a->nr_header; i++)
		free(a->header[i]);
	asm_files_free(a);
	asm_sites_free(a);
	asm_stacks_free(a);
	pfs_stack_numbers_free(a->numbers);
	asm_frames_free(a);
	free(a->targets);
	free(a->unescaped);
	free(a);
}

const struct pfs_assembler_stats *pfs_assembler_stats(const struct pfs_assembler *a)
{
	return &a->stats;
}

/* Notes that change how the rest of the stream is read. */
static int heed_note(struct pfs_assembler *a, const struct pfs_fact *fact)
{
	switch (fact->key) {
	case PFS_NOTE_PAGE_SIZE:
		if (fact->count >= 1024 && !(fact->count & (fact->count - 1)))
			a->page_mask = fact->count - 1;
		break;
	case PFS_NOTE_PFSCOPE:
		a->own = true;
		return asm_fault_stacks_note(a, fact);
	case PFS_NOTE_STACK:
		return asm_fault_stacks_note(a, fact);
	case PFS_NOTE_DUMPS_LOST:
		a->nr_dumps_lost += fact->count;
		break;
	case PFS_NOTE_KERNEL:
		a->checks_first = !pfs_kernel_before(fact->text, 6, 17);
		break;
	case PFS_NOTE_MACHINE:
		a->is_x86_64 = !strcmp(fact->text, "x86_64");
		asm_fault_machine(a, fact->text);
		break;
	case PFS_NOTE_SIDEBAND:
		a->sideband = !strcmp(fact->text, "mmap2");
		break;
	case PFS_NOTE_EXIT_MMAP:
		a->exit_mmap = !strcmp(fact->text, "yes");
		break;
	case PFS_NOTE_CALLS32:
		a->has_calls = !strcmp(fact->text, "yes");
		break;
	case PFS_NOTE_FILE_FAULTS:
		a->file_faults = !strcmp(fact->text, "yes");
		break;
	case PFS_NOTE_OBJECTS:
		a->has_pages = fact->count;
		break;
	case PFS_NOTE_ONLY:
		a->only_pid = fact->pid;
		break;
	case PFS_NOTE_PROBES:
	case PFS_NOTE_CLASSIFY:
	case PFS_NOTE_MICROSET:
		asm_pending_note(a, fact);
		break;
	case PFS_NOTE_REFAULT:
		asm_pending_note(a, fact);
		return asm_access_note(a, fact);
	case PFS_NOTE_ACCESS_BY:
	case PFS_NOTE_ACCESS_TARGETS:
		return asm_access_note(a, fact);
	default:
		break;
	}
	return 0;
}

int pfs_assembler_header(struct pfs_assembler *a, const char *key, const char *value)
{
	struct pfs_fact fact;

	if (a->nr_header == MAX_HEADER)
		return -ENOMEM;
	if (asprintf(&a->header[a->nr_header], "%s=%s", key, value) < 0)
		return -ENOMEM;
	a->nr_header++;
	return pfs_note_read(&fact, key, value) ? heed_note(a, &fact) : 0;
}

void pfs_assembler_set_names(struct pfs_assembler *a, const char *(*name)(void *ctx, int32_t tid), void *ctx)
{
	a->name = name;
	a->name_ctx = ctx;
}

/* The header facts get the time of the first event, but not its CPU: a recording begins with them. */
static int emit_header(struct pfs_assembler *a, const struct raw_event *first)
{
	const struct raw_event begin = { .ts_ns = first->ts_ns, .cpu = -1 };
	int err = 0;

	for (unsigned int i = 0; i < a->nr_header; i++) {
		char *value = strchr(a->header[i], '=');

		*value++ = '\0';
		err = err ? err : asm_emit_note(a, NULL, &begin, a->header[i], value);
		free(a->header[i]);
	}
	a->nr_header = 0;
	return err;
}

/* since_ns: time of the last record before the loss. Both may be RAW_ABSENT. */
static int lost(struct pfs_assembler *a, const struct raw_event *raw, uint64_t count, uint64_t since_ns)
{
	struct pfs_event ev;

	a->losses++;
	asm_event_init(&ev, raw, NULL, PFS_LOST);
	if (count != RAW_ABSENT)
		PFS_SET(&ev, count, COUNT, count);
	if (since_ns <= raw->ts_ns)
		PFS_SET(&ev, interval_ns, INTERVAL, raw->ts_ns - since_ns);
	return asm_emit(a, &ev) ?: asm_conclude_ends(a, raw->ts_ns);
}

/* Notes that are events of their own, too. */
static int apply_note(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw,
		      const struct pfs_fact *fact)
{
	struct pfs_event ev;

	switch (fact->key) {
	case PFS_NOTE_BRK: /* of an empty heap as well: it shows where the heap begins */
		if (t->proc)
			t->proc->brk = fact->end;
		asm_event_range(&ev, raw, t, PFS_BRK, (struct range){ fact->start, fact->end });
		return asm_emit(a, &ev);
	case PFS_NOTE_SIDEBAND_LOST:
	case PFS_NOTE_HISTOGRAM_LOST:
		return lost(a, raw, fact->count, fact->since_ns ? fact->since_ns : RAW_ABSENT);
	case PFS_NOTE_SNAPSHOT:
		return asm_snapshot(a, t, raw, fact);
	default:
		return 0;
	}
}

static int take_note(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	const char *text = asm_unescaped(a, raw->str), *equals, *value;
	struct pfs_fact fact;
	char key[64], renewed[1024];
	bool known;
	int err = 0;

	if (!text)
		return -ENOMEM;
	equals = strchr(text, '=');
	if (!equals || (size_t)(equals - text) >= sizeof(key))
		return 0;
	snprintf(key, sizeof(key), "%.*s", (int)(equals - text), text);
	value = pfs_note_renew(key, equals + 1, renewed, sizeof(renewed));
	known = pfs_note_read(&fact, key, value);
	if (known)
		err = heed_note(a, &fact);
	if (!err)
		err = asm_emit_note(a, raw->tid > 0 ? t : NULL, raw, key, value);
	return err || !known ? err : apply_note(a, t, raw, &fact);
}

int pfs_assembler_finish(struct pfs_assembler *a)
{
	struct asm_thread *t, *next;
	int err = asm_report_forgotten(a) ?: asm_conclude_ends(a, 0) ?: asm_words_end(a);

	HASH_ITER (hh, a->threads, t, next)
		if (!err)
			err = asm_pending_finish(a, t);
	return err ?: asm_fault_stacks_finish(a);
}

/* Occurs while a fault is handled, or is unrelated to what its thread does. */
#define IN_FAULT true

static const struct handler {
	asm_fn *fn;
	bool in_fault;
} handlers[RAW_NR_KINDS] = {
	[RAW_FAULT_USER] = { asm_fault, false },
	[RAW_FAULT_KERNEL] = { asm_fault, false },
	[RAW_HANDLER] = { asm_handler, IN_FAULT },
	[RAW_HANDLER_END] = { asm_handler_end, IN_FAULT },
	[RAW_FUNCTION] = { asm_function, IN_FAULT },
	[RAW_HIDDEN] = { asm_hidden, IN_FAULT },
	[RAW_MAP_PAGES] = { asm_map_pages, IN_FAULT },
	[RAW_ADD_CACHE] = { asm_add_cache, IN_FAULT },
	[RAW_DELETE_CACHE] = { asm_delete_cache, IN_FAULT },
	[RAW_FILE_FAULT] = { asm_file_fault, IN_FAULT },
	[RAW_PAGE_ALLOC] = { asm_page_alloc, IN_FAULT },
	[RAW_KMALLOC] = { asm_object_alloc, IN_FAULT },
	[RAW_CACHE_ALLOC] = { asm_object_alloc, IN_FAULT },
	[RAW_CACHE_FREE] = { asm_object_free, IN_FAULT },
	[RAW_PAGE_FREE] = { asm_pages, IN_FAULT },
	[RAW_WPROBE] = { asm_wprobe, IN_FAULT },
	[RAW_STACK] = { asm_object_stack, IN_FAULT },
	[RAW_USER_STACK] = { asm_pending_stack, IN_FAULT },
	[RAW_SIGNAL] = { asm_signal, false },
	[RAW_SYS_ENTER] = { asm_sys_enter, false },
	[RAW_SYS_EXIT] = { asm_sys_exit, false },
	[RAW_CALL_ENTER] = { asm_call, false },
	[RAW_CALL_EXIT] = { asm_call, false },
	[RAW_MA_WRITE] = { asm_ma_write, IN_FAULT }, /* the stack grows */
	[RAW_EXIT_MMAP] = { asm_mm_gone, false },
	[RAW_EXEC] = { asm_executed, false },
	[RAW_FORK] = { asm_forked, false },
	[RAW_NEWTASK] = { asm_newtask, false },
	[RAW_EXIT] = { asm_exit, false },
	[RAW_RENAME] = { asm_renamed, false },
	[RAW_PFS_MAP] = { asm_pfs_map, IN_FAULT },
	[RAW_PFS_TASK] = { asm_task_reported, IN_FAULT },
	[RAW_PFS_NOTE] = { take_note, IN_FAULT },
	[RAW_PFS_HIST] = { asm_fault_counted, IN_FAULT },
	[RAW_PFS_CACHED] = { asm_cached, IN_FAULT },
	[RAW_PFS_ACCESS] = { asm_object_access, IN_FAULT },
	[RAW_PFS_WATCH] = { asm_watch, IN_FAULT },
	[RAW_PFS_STACK] = { asm_dumped_stack, IN_FAULT },
};

/* An event of no use to pfscope, passed on as it was printed. Its thread need not be one that is traced. */
static int trace_event(struct pfs_assembler *a, const struct raw_event *raw)
{
	struct pfs_event ev = {
		.kind = PFS_TRACE,
		.ts_ns = raw->ts_ns,
		.cpu = raw->cpu,
		.tid = raw->tid,
		.key = raw->str,
		.value = raw->text,
		.have = PFS_HAS(PFS_F_CPU) | PFS_HAS(PFS_F_TID) | PFS_HAS(PFS_F_KEY) | PFS_HAS(PFS_F_VALUE),
	};
	struct asm_thread *thread;

	a->stats.other++;
	HASH_FIND_INT(a->threads, &ev.tid, thread);
	if (thread && thread->proc)
		PFS_SET(&ev, pid, PID, thread->proc->pid);
	return asm_emit(a, &ev);
}

int pfs_assembler_feed(void *assembler, const struct raw_event *raw)
{
	struct pfs_assembler *a = assembler;
	const struct handler *handler = &handlers[raw->kind];
	struct asm_thread *t;
	bool taken = false;
	int err = a->nr_header ? emit_header(a, raw) : 0;

	a->stats.raw++;
	a->last_ns = raw->ts_ns;
	if (err)
		return err;
	t = a->hot[raw->cpu & 63];
	if (a->stacks_of_faults && raw->cpu >= 0 && t && t->tid != raw->tid)
		err = asm_pending_left_cpu(a, t, raw->cpu);
	else if (a->stacks_of_faults && raw->kind == RAW_OTHER && !raw->record && raw->cpu >= 0 && t)
		err = asm_fault_stacks(a, t, raw, &taken); /* of text; pages say what they pass over */
	if (err)
		return err;
	if (raw->kind == RAW_OTHER && raw->str)
		return trace_event(a, raw);
	if (raw->kind == RAW_LOST)
		asm_stacks_lost(a, raw->cpu);
	if (raw->kind == RAW_LOST)
		return lost(a, raw, raw->arg[0], raw->arg[1]);
	if (raw->kind == RAW_DAMON)
		return asm_accessed(a, raw);
	if (!handler->fn || (raw->kind == RAW_FUNCTION && !a->functions) || asm_access_is_watcher(a, raw)) {
		a->stats.other++;
		return 0;
	}
	err = asm_thread_of(a, raw, &t);
	if (!err && (a->stacks_of_faults || raw->kind == RAW_USER_STACK))
		err = asm_fault_stacks(a, t, raw, &taken);
	if (err || taken)
		return err;
	err = asm_follow_exec(a, t, raw);
	if (!err && t->reused_ns && raw->kind < RAW_PFS_MAP)
		asm_seen(t, raw->ts_ns);
	if (!err && !handler->in_fault)
		t->in_fault = false;
	if (!err && a->defers && !handler->in_fault)
		err = asm_pending_end(a, t, raw);
	return err ? err : handler->fn(a, t, raw);
}

static int pass_runs(const struct pfs_assembler *a, const struct pfs_fault_run *runs, unsigned int nr)
{
	return nr ? a->sink.faults(a->sink.ctx, runs, nr) : 0;
}

int pfs_assembler_faults(void *assembler, struct pfs_fault_run *runs, unsigned int nr)
{
	struct pfs_assembler *a = assembler;
	unsigned int passed = 0, i = 0;
	int err = 0;

	while (i < nr && !err) {
		struct raw_event raw;

		if (asm_fault_run(a, &runs[i])) {
			a->stats.raw += runs[i++].nr;
			continue;
		}
		err = pass_runs(a, runs + passed, i - passed);
		fault_run_shift(&runs[i], &raw);
		if (!err)
			err = pfs_assembler_feed(a, &raw);
		i += !runs[i].nr; /* the rest of the run may be passed on as such by now */
		passed = i;
	}
	return err ? err : pass_runs(a, runs + passed, nr - passed);
}
