/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw events to pfscope events: faults, and what comes of them.
 *
 * A fault's exception is told before the kernel handles it. Where nothing tells of the handling,
 * the fault is passed on at once, and what came of it are events that follow. Where the handler is
 * watched (probes at handle_mm_fault, function tracer), the fault is held back until it is through,
 * and passed on whole (assemble/held.c), in its thread's own order.
 */
#include "assemble/assemble_priv.h"

#include <signal.h>
#include <string.h>

/* How a processor's page-fault error code says what kind of access it was. One row a processor. */
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

void asm_fault_machine(struct pfs_assembler *a, const char *machine)
{
	a->cpu_type = NULL;
	for (size_t i = 0; i < sizeof(cpu_types) / sizeof(cpu_types[0]); i++)
		if (!strcmp(cpu_types[i].machine, machine))
			a->cpu_type = &cpu_types[i];
}

enum pfs_access asm_fault_access(const struct pfs_assembler *a, uint64_t code)
{
	const struct asm_cpu_type *type = a->cpu_type;

	if ((code & type->exec_mask) == type->exec_value)
		return PFS_EXECUTE;
	return (code & type->write_mask) == type->write_value ? PFS_WRITE : PFS_READ;
}

int asm_fault(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	const uint64_t always = PFS_HAS(PFS_F_TID) | PFS_HAS(PFS_F_ADDR) | PFS_HAS(PFS_F_MODE);
	struct pfs_event *ev = &a->fault;

	ev->ts_ns = raw->ts_ns;
	ev->tid = t->tid;
	ev->addr = raw->arg[0];
	ev->ip = raw->arg[1];
	ev->code = raw->arg[2];
	ev->mode = raw->kind == RAW_FAULT_USER ? PFS_USER : PFS_KERNEL;
	ev->cpu = raw->cpu;
	ev->have = always | (uint64_t)(raw->cpu >= 0) << PFS_F_CPU | (uint64_t)(ev->ip != RAW_ABSENT) << PFS_F_IP;
	ev->access = 0;
	if (ev->code != RAW_ABSENT) {
		ev->have |= PFS_HAS(PFS_F_CODE);
		if (a->cpu_type) {
			ev->have |= PFS_HAS(PFS_F_ACCESS);
			ev->access = asm_fault_access(a, ev->code);
		}
	}
	if (t->proc) {
		ev->pid = t->proc->pid;
		ev->have |= PFS_HAS(PFS_F_PID);
	}
	if (__builtin_expect(t->in_exec, 0) && t->switched) {
		ev->have |= PFS_HAS(PFS_F_SPACE);
		ev->space = PFS_SPACE_EXEC;
	}
	return a->holds ? asm_hold(a, t, ev) : asm_emit(a, ev);
}

/* Does all that it takes to know of faults of the thread that was last on that processor stand in the run? */
static bool is_plain(const struct pfs_assembler *a, const struct asm_thread *t, const struct pfs_fault_run *run)
{
	return t && t->tid == run->tid && t->comm_said && (!t->proc || t->proc->pid) && !t->in_exec && !t->exited &&
	       run->code != RAW_ABSENT && run->cpu >= 0 && a->sink.faults && !a->holds && !a->only_pid && a->cpu_type;
}

static int pass_runs(const struct pfs_assembler *a, const struct pfs_fault_run *runs, unsigned int nr)
{
	return nr ? a->sink.faults(a->sink.ctx, runs, nr) : 0;
}

/* The first fault of the run, which loses it. */
static int feed_first(struct pfs_assembler *a, struct pfs_fault_run *run)
{
	struct raw_event raw = {
		.ts_ns = *run->ts_ns++,
		.cpu = run->cpu,
		.tid = run->tid,
		.tgid = -1,
		.kind = run->mode == PFS_USER ? RAW_FAULT_USER : RAW_FAULT_KERNEL,
		.arg = { *run->addr++, *run->ip++, run->code, RAW_ABSENT, RAW_ABSENT, RAW_ABSENT, RAW_ABSENT,
			 RAW_ABSENT },
	};

	run->nr--;
	return pfs_assembler_feed(a, &raw);
}

int pfs_assembler_faults(void *assembler, struct pfs_fault_run *runs, unsigned int nr)
{
	struct pfs_assembler *a = assembler;
	unsigned int passed = 0, i = 0;
	int err = 0;

	while (i < nr && !err) {
		struct asm_thread *t = a->hot[runs[i].cpu & 63];

		if (is_plain(a, t, &runs[i])) {
			runs[i].pid = t->proc ? t->proc->pid : 0;
			runs[i].access = asm_fault_access(a, runs[i].code);
			a->stats.raw += runs[i++].nr;
			continue;
		}
		err = pass_runs(a, runs + passed, i - passed);
		if (!err)
			err = feed_first(a, &runs[i]);
		i += !runs[i].nr; /* the rest of the run may be plain by now */
		passed = i;
	}
	return err ? err : pass_runs(a, runs + passed, nr - passed);
}

int asm_add_cache(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	uint64_t order = raw->arg[3] == RAW_ABSENT ? 0 : raw->arg[3] & 63;
	struct pfs_event ev;

	if (a->handlers) /* the handler's result says it for certain */
		return 0;
	asm_event_init(&ev, raw, t, PFS_MAJOR);
	ev.dev = raw->arg[0];
	ev.ino = raw->arg[1];
	ev.off = raw->arg[2] * (a->page_mask + 1);
	ev.end_off = ev.off + ((a->page_mask + 1) << order);
	ev.have |= PFS_HAS(PFS_F_DEV) | PFS_HAS(PFS_F_INO) | PFS_HAS(PFS_F_OFF) | PFS_HAS(PFS_F_END_OFF);
	return asm_emit_beside(a, t, &ev);
}

/*
 * Several pages at once for a process: a huge page of anonymous memory, if the allocation is
 * movable (__GFP_MOVABLE) and must not dip into reserves (__GFP_NOMEMALLOC), which the page cache's
 * are not.
 */
int asm_page_alloc(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	const uint64_t movable = 0x8, no_reserves = 0x80000;
	uint64_t gfp = raw->arg[2];
	struct range r = asm_populates(a, t);
	struct pfs_event ev;

	if (!raw->arg[1] || raw->arg[1] == RAW_ABSENT)
		return 0;
	if (gfp == RAW_ABSENT ? !a->own : !(gfp & movable) || !(gfp & no_reserves))
		return 0;
	asm_event_init(&ev, raw, t, PFS_HUGE);
	ev.order = raw->arg[1];
	ev.pfn = raw->arg[0];
	ev.have |= PFS_HAS(PFS_F_ORDER) | PFS_HAS(PFS_F_PFN);
	if (r.start < r.end) {
		ev.start = r.start;
		ev.end = r.end;
		ev.have |= PFS_HAS(PFS_F_START) | PFS_HAS(PFS_F_END);
	}
	return asm_emit_beside(a, t, &ev);
}

/* A signal that the kernel itself sends to the thread it runs in: the answer to a fault. */
int asm_signal(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	int sig = raw->arg[0], code = raw->arg[1];
	struct pfs_event ev;

	if ((sig != SIGSEGV && sig != SIGBUS) || code <= 0 || (int32_t)raw->arg[2] != raw->tid)
		return 0;
	asm_event_init(&ev, raw, t, PFS_SIGNAL);
	ev.sig = sig;
	ev.have |= PFS_HAS(PFS_F_SIG);
	return asm_emit(a, &ev);
}

/*
 * Faults that the kernel counted by page instead of telling each (a hist trigger): read at the end,
 * they happened at some time in the interval before, and nothing says which instruction it was.
 */
int asm_fault_counted(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct pfs_event ev;

	asm_event_init(&ev, raw, t, PFS_FAULT);
	ev.have &= ~PFS_HAS(PFS_F_CPU);
	ev.addr = raw->arg[0];
	ev.code = raw->arg[1];
	ev.count = raw->arg[2];
	ev.mode = raw->arg[3] ? PFS_KERNEL : PFS_USER;
	ev.interval_ns = raw->arg[4];
	ev.have |= PFS_HAS(PFS_F_ADDR) | PFS_HAS(PFS_F_MODE) | PFS_HAS(PFS_F_COUNT) | PFS_HAS(PFS_F_INTERVAL);
	if (ev.code != RAW_ABSENT) {
		ev.have |= PFS_HAS(PFS_F_CODE);
		if (a->cpu_type) {
			ev.have |= PFS_HAS(PFS_F_ACCESS);
			ev.access = asm_fault_access(a, ev.code);
		}
	}
	return asm_emit(a, &ev);
}
