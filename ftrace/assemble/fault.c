/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw events to pfscope events: faults and their results.
 *
 * The kernel records a fault's exception before it handles the fault. Where the handling is not recorded, the fault is
 * passed on at once, and its results are events that follow. Where the handler is watched (probes at handle_mm_fault,
 * function tracer), the fault stays pending until the handler has returned (pending_fault.c); and where stacks are, until its
 * stack has come, which is its next record.
 */
#include "assemble/assemble_priv.h"

#include "record/fault_batch.h"

#include <signal.h>

/* How the error code of a page fault encodes the kind of access. One row per CPU architecture. */
struct asm_cpu_type {
	const char *machine; /* as in uname -m */
	uint64_t exec_mask, exec_value;
	uint64_t write_mask, write_value;
};

static const struct asm_cpu_type cpu_types[] = {
	/* arch/x86/include/asm/trap_pf.h: bit 1 write, bit 4 instruction fetch */
	{ "x86_64", 0x10, 0x10, 0x2, 0x2 },
	{ "i686", 0x10, 0x10, 0x2, 0x2 },
	/* the cause register: 12 instruction, 13 load, 15 store page fault */
	{ "riscv64", ~UINT64_C(0), 12, ~UINT64_C(0), 15 },
};

void asm_fault_init(struct pfs_assembler *a)
{
	a->cpu_type = &cpu_types[0];
	a->fault.kind = PFS_FAULT;
}

static const struct asm_cpu_type *type_of(const char *machine)
{
	for (size_t i = 0; i < sizeof(cpu_types) / sizeof(cpu_types[0]); i++)
		if (!strcmp(cpu_types[i].machine, machine))
			return &cpu_types[i];
	return NULL;
}

bool pfs_machine_has_access(const char *machine)
{
	return type_of(machine);
}

void asm_fault_machine(struct pfs_assembler *a, const char *machine)
{
	a->cpu_type = type_of(machine);
}

/* The kind of access that an error code of that CPU type stands for. Requires a->cpu_type. */
static enum pfs_access fault_access(const struct pfs_assembler *a, uint64_t code)
{
	const struct asm_cpu_type *type = a->cpu_type;

	if ((code & type->exec_mask) == type->exec_value)
		return PFS_EXECUTE;
	return (code & type->write_mask) == type->write_value ? PFS_WRITE : PFS_READ;
}

static void set_code(const struct pfs_assembler *a, struct pfs_event *ev, uint64_t code)
{
	ev->code = code;
	ev->access = 0;
	if (code == RAW_ABSENT)
		return;
	ev->have |= PFS_HAS(PFS_F_CODE);
	if (a->cpu_type)
		PFS_SET(ev, access, ACCESS, fault_access(a, code));
}

int asm_fault(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	const uint64_t always = PFS_HAS(PFS_F_TID) | PFS_HAS(PFS_F_ADDR) | PFS_HAS(PFS_F_MODE);
	struct pfs_event *ev = &a->fault;

	ev->ts_ns = raw->ts_ns;
	ev->tid = t->tid;
	ev->addr = raw->arg[0];
	ev->ip = raw->arg[1];
	ev->mode = fault_mode(raw->kind);
	ev->cpu = raw->cpu;
	ev->have = always | (uint64_t)(raw->cpu >= 0) << PFS_F_CPU | (uint64_t)(ev->ip != RAW_ABSENT) << PFS_F_IP;
	set_code(a, ev, raw->arg[2]);
	if (t->proc)
		PFS_SET(ev, pid, PID, t->proc->pid);
	if (__builtin_expect(t->exec.under_way, 0) && t->exec.switched)
		PFS_SET(ev, space, SPACE, PFS_SPACE_EXEC);
	t->in_fault = true;
	return a->defers || a->stacks_of_faults ? asm_pending_begin(a, t, ev) : asm_emit(a, ev);
}

/* Is everything about the thread known, and its fault an event of its current address space? */
static bool is_settled(const struct asm_thread *t)
{
	return t->named && (!t->proc || t->proc->pid) && !t->exec.under_way && !t->exited && !t->reused_ns;
}

bool asm_fault_run(struct pfs_assembler *a, struct pfs_fault_run *run)
{
	struct asm_thread *t = a->hot[run->cpu & 63];

	if (!fault_is_plain(run, *run->ip) || !a->sink.faults || a->defers || a->stacks_of_faults || a->only_pid ||
	    !a->cpu_type || !t || t->tid != run->tid || !is_settled(t))
		return false;
	t->in_fault = true;
	run->pid = t->proc ? t->proc->pid : 0;
	run->access = fault_access(a, run->code);
	return true;
}

/* Emits that nr_pages pages of a file, from index arg[2] on, were mapped or read. */
static int emit_file_pages(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw,
			   enum pfs_kind kind, uint64_t nr_pages)
{
	struct range r = kind == PFS_AROUND ? asm_call_populates(a, t) : (struct range){ 0, 0 };
	const uint64_t page_size = a->page_mask + 1;
	struct pfs_event ev;

	asm_event_init(&ev, raw, t, kind);
	PFS_SET(&ev, dev, DEV, raw->arg[0]);
	PFS_SET(&ev, ino, INO, raw->arg[1]);
	PFS_SET(&ev, off, OFF, raw->arg[2] * page_size);
	PFS_SET(&ev, end_off, END_OFF, ev.off + nr_pages * page_size);
	if (kind == PFS_EVICT && raw->arg[3] != RAW_ABSENT)
		PFS_SET(&ev, order, ORDER, raw->arg[3]);
	if (r.start < r.end)
		asm_event_set_range(&ev, r);
	if (kind == PFS_AROUND && t->exec.under_way && t->exec.switched)
		PFS_SET(&ev, space, SPACE, PFS_SPACE_EXEC);
	return asm_emit_beside(a, t, &ev);
}

/* ---- the page cache ---- */

/* It is of a file, whoever changed it. order: of its folios; RAW_ABSENT: unknown. */
static int emit_cached(struct pfs_assembler *a, const struct raw_event *raw, enum pfs_cached state, uint64_t off,
		       uint64_t end_off, uint64_t order)
{
	struct pfs_event ev;

	asm_event_init(&ev, raw, NULL, PFS_CACHED);
	PFS_SET(&ev, dev, DEV, raw->arg[0]);
	PFS_SET(&ev, ino, INO, raw->arg[1]);
	PFS_SET(&ev, off, OFF, off);
	PFS_SET(&ev, end_off, END_OFF, end_off);
	PFS_SET(&ev, state, STATE, state);
	if (raw->kind == RAW_PFS_CACHED) {
		PFS_SET(&ev, interval_ns, INTERVAL, raw->arg[5]);
		PFS_SET(&ev, last, LAST, raw->arg[6] == 1);
	}
	if (order != RAW_ABSENT)
		PFS_SET(&ev, order, ORDER, order);
	return asm_emit(a, &ev);
}

int asm_cached(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	return emit_cached(a, raw, raw->arg[4] < PFS_NR_CACHE ? raw->arg[4] : 0, raw->arg[2], raw->arg[3], raw->arg[7]);
}

static uint64_t nr_pages_of(const struct raw_event *raw)
{
	return UINT64_C(1) << (raw->arg[3] == RAW_ABSENT ? 0 : raw->arg[3] & 31);
}

/* ---- pages of files that a call populates ---- */

/*
 * A populating call got the pages up to `end`, which is in the file, and looks up the next one if it has not mapped it
 * by then: of a large folio it may have.
 */
static int reach(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, uint64_t end)
{
	struct range r = asm_call_populates(a, t);
	struct asm_reached *reached = &t->call.reached;
	bool copies = t->call.nr == SYS_MMAP && t->call.arg[3] & MAP_PRIVATE && t->call.arg[2] & PROT_WRITE;
	int err = 0;

	if (r.start >= r.end || a->handlers)
		return 0;
	if (reached->end && (reached->dev != raw->arg[0] || reached->ino != raw->arg[1])) {
		err = asm_emit_reached(a, t, raw);
		*reached = (struct asm_reached){ 0 };
	}
	t->call.has_reached = true;
	reached->dev = raw->arg[0];
	reached->ino = raw->arg[1];
	if (raw->kind == RAW_FILE_FAULT) {
		reached->nr_single +=
			!reached->nr_single || end != reached->single_end; /* else once more, after it was read */
		reached->single_end = end;
		reached->ends = copies; /* a copy is of one page */
	} else if (raw->kind == RAW_ADD_CACHE && end >= reached->end) {
		reached->ends = true; /* the whole folio */
	} else if (end >= reached->end) {
		reached->ends = end == reached->end; /* once more: for a page that the file does not have */
	}
	reached->end = end > reached->end ? end : reached->end;
	return err;
}

int asm_file_fault(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	return raw->arg[2] == RAW_ABSENT ? 0 : reach(a, t, raw, raw->arg[2] + 1);
}

int asm_add_cache(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	uint64_t first = raw->arg[2], end = first + nr_pages_of(raw), page_size = a->page_mask + 1;
	int err;

	if (first == RAW_ABSENT)
		return 0;
	err = reach(a, t, raw, end)
		      ?: emit_cached(a, raw, PFS_CACHE_ADDED, first * page_size, end * page_size, raw->arg[3]);
	/* The handler's result determines the class. Outside of a fault, read() and write() fill the page cache, too. */
	if (err || a->handlers || !t->in_fault)
		return err;
	return emit_file_pages(a, t, raw, PFS_MAJOR, nr_pages_of(raw));
}

/* Nobody has the pages mapped any more. Most files are never mapped, so those do not matter. */
int asm_delete_cache(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	if (!asm_is_mapped_file(a, raw->arg[0], raw->arg[1]))
		return 0;
	return emit_file_pages(a, t, raw, PFS_EVICT, nr_pages_of(raw));
}

/* Fault-around. */
int asm_map_pages(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	int err;

	if (raw->arg[2] == RAW_ABSENT || raw->arg[3] == RAW_ABSENT)
		return 0;
	err = reach(a, t, raw, raw->arg[3] + 1);
	return err ?: emit_file_pages(a, t, raw, PFS_AROUND, raw->arg[3] + 1 - raw->arg[2]);
}

/*
 * An allocation of several pages is a huge page of anonymous memory if it is movable (__GFP_MOVABLE) and must not use
 * reserves (__GFP_NOMEMALLOC); those of the page cache are neither.
 */
int asm_page_alloc(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	const uint64_t movable = 0x8, no_reserves = 0x80000;
	uint64_t gfp = raw->arg[2];
	struct range r = asm_call_populates(a, t);
	int err = a->has_pages ? asm_pages(a, t, raw) : 0;
	struct pfs_event ev;

	if (err || !raw->arg[1] || raw->arg[1] == RAW_ABSENT || asm_call_collapses(t))
		return err;
	if (gfp == RAW_ABSENT ? !a->own : !(gfp & movable) || !(gfp & no_reserves))
		return 0;
	asm_event_init(&ev, raw, t, PFS_HUGE);
	PFS_SET(&ev, order, ORDER, raw->arg[1]);
	PFS_SET(&ev, pfn, PFN, raw->arg[0]);
	if (r.start < r.end)
		asm_event_set_range(&ev, r);
	return asm_emit_beside(a, t, &ev);
}

/* A signal that the kernel sends to the current thread: the result of a fault. */
int asm_signal(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	int sig = raw->arg[0], code = raw->arg[1];
	struct pfs_event ev;

	if ((sig != SIGSEGV && sig != SIGBUS) || code <= 0 || (int32_t)raw->arg[2] != raw->tid)
		return 0;
	asm_event_init(&ev, raw, t, PFS_SIGNAL);
	PFS_SET(&ev, sig, SIG, sig);
	return asm_emit(a, &ev);
}

/*
 * Faults that the kernel counted per page (a hist trigger). The counts are read at the end: the faults happened in the
 * interval before, at an unknown instruction.
 */
int asm_fault_counted(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct pfs_event ev;

	asm_event_init(&ev, raw, t, PFS_FAULT);
	ev.have &= ~PFS_HAS(PFS_F_CPU);
	PFS_SET(&ev, addr, ADDR, raw->arg[0]);
	PFS_SET(&ev, count, COUNT, raw->arg[2]);
	PFS_SET(&ev, mode, MODE, raw->arg[3] ? PFS_KERNEL : PFS_USER);
	PFS_SET(&ev, interval_ns, INTERVAL, raw->arg[4]);
	set_code(a, &ev, raw->arg[1]);
	return asm_emit(a, &ev);
}
