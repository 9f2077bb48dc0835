// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints what the SystemTap module wrote (stap/tapset/wire.h, objects.h), one record a line, and says at the end
 * whether the numbers of the records leave gaps. Nothing is interpreted: for looking at what
 * decode.c is given.
 *
 *     staprun -o records probe.ko pfs_pids=4711; stap_dump records
 */
#include "tapset/objects.h"

#include <stdio.h>
#include <string.h>

#define MAX_CPUS 1024

static const char *const types[PFS_REC_OBJECTS_NR] = {
	[PFS_REC_HELLO] = "hello",
	[PFS_REC_PROBE] = "probe",
	[PFS_REC_READY] = "ready",
	[PFS_REC_FAULT] = "fault",
	[PFS_REC_AROUND] = "around",
	[PFS_REC_LAYOUT] = "layout",
	[PFS_REC_REGION] = "region",
	[PFS_REC_LAYOUT_END] = "layout_end",
	[PFS_REC_UNMAP] = "unmap",
	[PFS_REC_MOVE] = "move",
	[PFS_REC_FORK] = "fork",
	[PFS_REC_THREAD] = "thread",
	[PFS_REC_EXEC] = "exec",
	[PFS_REC_EXIT] = "exit",
	[PFS_REC_COMM] = "comm",
	[PFS_REC_SIGNAL] = "signal",
	[PFS_REC_NAME] = "name",
	[PFS_REC_COUNTERS] = "counters",
	[PFS_REC_CPU] = "cpu",
	[PFS_REC_END] = "end",
	[PFS_REC_ALLOC] = "alloc",
	[PFS_REC_KMALLOC] = "kmalloc",
	[PFS_REC_RELEASE] = "release",
	[PFS_REC_PAGE_ALLOC] = "page_alloc",
	[PFS_REC_PAGE_RELEASE] = "page_release",
	[PFS_REC_TASK] = "task",
	[PFS_REC_CHILD] = "child",
	[PFS_REC_WATCH] = "watch",
	[PFS_REC_ACCESS] = "access",
};

static void print_hello(const struct pfs_rec_hello *h)
{
	printf("version=%u size=%u page_shift=%u cpus=%u dwarf=%u%s", h->version, h->rec_size, h->page_shift,
	       h->nr_cpus, h->dwarf, h->magic == PFS_WIRE_MAGIC ? "" : " BAD MAGIC");
}

static void print_fault(const struct pfs_rec_fault *f)
{
	printf("addr=%llx ip=%llx what=%x how=%u flags=%x ret=%x code=%x latency=%llu", f->addr, f->ip, f->what, f->how,
	       f->flags, f->ret, f->code, f->latency_ns);
	printf(" mm=%llx vma=%llx %llx-%llx pfn=%llx", f->mm, f->vma, f->vm_start, f->vm_end, f->pfn);
	printf(" dev=%x ino=%llu pgoff=%llx", f->dev, f->ino, f->pgoff);
}

static void print_layout(const struct pfs_rec_layout *l)
{
	printf("mm=%llx %llx-%llx why=%u nr=%u brk=%llx-%llx stack=%llx", l->mm, l->lo, l->hi, l->why, l->nr_regions,
	       l->start_brk, l->brk, l->start_stack);
}

static void print_region(const struct pfs_rec_region *r)
{
	printf("%llx-%llx flags=%llx off=%llx dev=%x ino=%llu traits=%x mm=%llx vma=%llx special=%u %.*s", r->start,
	       r->end, r->vm_flags, r->pgoff, r->dev, r->ino, r->traits, r->mm, r->vma, r->special, r->name_len,
	       r->name);
}

static void print_life(const struct pfs_rec_life *l)
{
	printf("mm=%llx child=%d/%d flags=%x code=%x flt=%llu+%llu comm=%.16s", l->mm, l->child_pid, l->child_tid,
	       l->flags, l->code, l->min_flt, l->maj_flt, l->comm);
}

static void print_counters(const struct pfs_rec_counters *c)
{
	printf("skipped=%llu transport=%llu no_memory=%llu partial=%llu targets=%llu", c->skipped,
	       c->transport_failures, c->no_memory, c->partial, c->nr_targets);
}

static void print_object(const struct pfs_rec_object *o)
{
	printf("ptr=%llx site=%llx size=%u/%u name=%.*s", o->ptr, o->site, o->size, o->allocated, o->name_len, o->name);
}

static void print_body(const struct pfs_rec *r)
{
	const union pfs_rec_objects *objects = (const union pfs_rec_objects *)r->body;

	switch (r->type) {
	case PFS_REC_ALLOC:
	case PFS_REC_KMALLOC:
	case PFS_REC_RELEASE:
		print_object(&objects->object);
		break;
	case PFS_REC_PAGE_ALLOC:
	case PFS_REC_PAGE_RELEASE:
		printf("pfn=%llx order=%u", objects->page.pfn, objects->page.order);
		break;
	case PFS_REC_TASK:
	case PFS_REC_CHILD:
		printf("child=%d/%d comm=%.16s", objects->task.pid, objects->task.tid, objects->task.comm);
		break;
	case PFS_REC_WATCH:
		printf("ptr=%llx off=%u count=%llu last=%u", objects->watch.ptr, objects->watch.off,
		       objects->watch.count, objects->watch.last);
		break;
	case PFS_REC_ACCESS:
		printf("ptr=%llx off=%u ip=%llx cpu=%u write=%u", objects->access.ptr, objects->access.off,
		       objects->access.ip, objects->access.cpu, objects->access.write);
		break;
	case PFS_REC_HELLO:
		print_hello(&r->hello);
		break;
	case PFS_REC_FAULT:
		print_fault(&r->fault);
		break;
	case PFS_REC_AROUND:
		printf("addr=%llx mm=%llx dev=%x ino=%llu pages=%llx-%llx", r->around.addr, r->around.mm, r->around.dev,
		       r->around.ino, r->around.pgoff, r->around.end_pgoff);
		break;
	case PFS_REC_LAYOUT:
	case PFS_REC_LAYOUT_END:
		print_layout(&r->layout);
		break;
	case PFS_REC_REGION:
		print_region(&r->region);
		break;
	case PFS_REC_UNMAP:
	case PFS_REC_MOVE:
		printf("mm=%llx %llx-%llx to=%llx", r->range.mm, r->range.start, r->range.end, r->range.to);
		break;
	case PFS_REC_FORK:
	case PFS_REC_THREAD:
	case PFS_REC_EXEC:
	case PFS_REC_EXIT:
	case PFS_REC_SIGNAL:
		print_life(&r->life);
		break;
	case PFS_REC_COMM:
		printf("comm=%.16s mm=%llx flt=%llu+%llu", r->comm.comm, r->comm.mm, r->comm.min_flt, r->comm.maj_flt);
		break;
	case PFS_REC_NAME:
		printf("%u/%u %.*s", r->name.offset, r->name.total, r->len, r->name.piece);
		break;
	case PFS_REC_READY:
	case PFS_REC_COUNTERS:
	case PFS_REC_END:
		print_counters(&r->counters);
		break;
	case PFS_REC_CPU:
		printf("cpu=%u nr=%u", r->end.cpu, r->end.nr);
		break;
	}
}

int main(int argc, char **argv)
{
	static unsigned int next[MAX_CPUS];
	unsigned long long lost = 0, nr = 0;
	struct pfs_rec r;
	FILE *in = argc == 2 ? fopen(argv[1], "r") : NULL;

	if (!in) {
		fprintf(stderr, "usage: stap_dump RECORDS\n");
		return 2;
	}
	for (; fread(&r, sizeof(r), 1, in) == 1; nr++) {
		const char *type = r.type < PFS_REC_OBJECTS_NR ? types[r.type] : NULL;
		unsigned int cpu = r.cpu % MAX_CPUS;

		if (r.type == PFS_REC_NONE) {
			nr--;
			continue;
		}
		if (r.type != PFS_REC_COUNTERS) {
			if (r.seq != next[cpu])
				printf("GAP cpu=%u %u..%u\n", cpu, next[cpu], r.seq);
			lost += r.seq - next[cpu];
			next[cpu] = r.seq + 1;
		}
		printf("%-10s %llu.%09llu %u %d/%d ", type ? type : "?", r.ts_ns / 1000000000, r.ts_ns % 1000000000,
		       r.cpu, r.pid, r.tid);
		print_body(&r);
		putchar('\n');
	}
	fclose(in);
	printf("%llu records, %llu missing\n", nr, lost);
	return lost != 0;
}
