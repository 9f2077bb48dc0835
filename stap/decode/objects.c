/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel objects (tapset/objects.h): allocated and freed, an event each, and the threads that did it. lib/objects pairs
 * them. Nothing of spaces and regions is known or needed.
 */
#include "decode/decode_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const union pfs_rec_objects *body_of(const struct pfs_rec *rec)
{
	return (const union pfs_rec_objects *)rec->body;
}

/* And its function, "alloc_pipe_info+0x88", as far as it is known. */
static void set_site(const struct pfs_decoder *d, struct pfs_event *ev, uint64_t site, char func[100])
{
	uint64_t start = 0;
	const char *name = d->function ? d->function(d->function_ctx, site, &start) : NULL;

	PFS_SET(ev, site, SITE, site);
	if (!name)
		return;
	snprintf(func, 100, "%s+0x%" PRIx64, name, site - start);
	PFS_SET(ev, func, FUNC, func);
}

/* The name that is in the record, or came before it. NULL: not known. */
static const char *cache_of(const struct pfs_rec_object *object, const struct dec_cpu *cpu,
			    char name[PFS_CACHE_NAME_MAX + 1])
{
	if (!object->name_len)
		return dec_name(cpu);
	snprintf(name, PFS_CACHE_NAME_MAX + 1, "%.*s", object->name_len, object->name);
	return name;
}

int dec_object(struct pfs_decoder *d, struct dec_cpu *cpu, const struct pfs_rec *rec)
{
	const struct pfs_rec_object *object = &body_of(rec)->object;
	char func[100], name[PFS_CACHE_NAME_MAX + 1];
	const char *cache = rec->type == PFS_REC_KMALLOC ? "kmalloc" : cache_of(object, cpu, name);
	struct pfs_event ev;

	if (object->name_len > PFS_CACHE_NAME_MAX) {
		d->stats.damaged++;
		return 0;
	}
	dec_event_own(&ev, rec, rec->type == PFS_REC_RELEASE ? PFS_FREE : PFS_ALLOC);
	PFS_SET(&ev, ptr, PTR, object->ptr);
	set_site(d, &ev, object->site, func);
	if (cache)
		PFS_SET(&ev, cache, CACHE, cache);
	if (ev.kind == PFS_FREE)
		return pfs_emit(&d->sink, &ev);
	PFS_SET(&ev, size, SIZE, object->size);
	if (object->allocated)
		PFS_SET(&ev, allocated, ALLOCATED, object->allocated);
	return pfs_emit(&d->sink, &ev);
}

int dec_page(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	const struct pfs_rec_page *page = &body_of(rec)->page;
	struct pfs_event ev;

	if (page->order > 32) {
		d->stats.damaged++;
		return 0;
	}
	dec_event_own(&ev, rec, rec->type == PFS_REC_PAGE_RELEASE ? PFS_FREE : PFS_ALLOC);
	PFS_SET(&ev, pfn, PFN, page->pfn);
	PFS_SET(&ev, order, ORDER, page->order);
	if (ev.kind == PFS_ALLOC) {
		PFS_SET(&ev, size, SIZE, dec_page_size(d) << page->order);
		PFS_SET(&ev, allocated, ALLOCATED, ev.size);
	}
	return pfs_emit(&d->sink, &ev);
}

/* ---- accesses, by watchpoints ---- */

static void set_word(struct pfs_event *ev, uint64_t ptr, uint32_t off)
{
	PFS_SET(ev, ptr, PTR, ptr);
	PFS_SET(ev, off, OFF, off);
	PFS_SET(ev, len, LEN, 8);
}

int dec_watch(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	const struct pfs_rec_watch *watch = &body_of(rec)->watch;
	struct pfs_event ev;

	dec_event_own(&ev, rec, PFS_WATCH);
	ev.have = 0; /* of all CPUs, and of no thread */
	set_word(&ev, watch->ptr, watch->off);
	PFS_SET(&ev, count, COUNT, watch->count);
	if (watch->last)
		PFS_SET(&ev, last, LAST, 1);
	return pfs_emit(&d->sink, &ev);
}

int dec_access(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	const struct pfs_rec_access *access = &body_of(rec)->access;
	struct pfs_event ev;
	char func[100];

	dec_event_own(&ev, rec, PFS_ACCESS);
	ev.cpu = access->cpu;
	set_site(d, &ev, access->ip, func);
	set_word(&ev, access->ptr, access->off);
	PFS_SET(&ev, access, ACCESS, access->write ? PFS_WRITE : PFS_READ);
	return pfs_emit(&d->sink, &ev);
}

/* ---- threads ---- */

static int named(struct pfs_decoder *d, const struct pfs_rec *rec, struct dec_subject subject, const char text[16])
{
	char comm[17] = "";
	struct pfs_event ev;

	memcpy(comm, text, 16);
	if (!*comm)
		return 0;
	dec_event(&ev, rec, subject, PFS_COMM);
	PFS_SET(&ev, comm, COMM, comm);
	return pfs_emit(&d->sink, &ev);
}

int dec_task(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	const struct dec_subject subject = { rec->pid, rec->tid, PFS_SPACE_CURRENT };

	return named(d, rec, subject, body_of(rec)->task.comm);
}

/* A process, or a thread of the same one. */
int dec_child(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	const struct pfs_rec_task *child = &body_of(rec)->task;
	struct pfs_event ev;

	if (child->pid <= 0 || child->tid <= 0) {
		d->stats.damaged++;
		return 0;
	}
	dec_event_own(&ev, rec, child->pid == rec->pid ? PFS_THREAD : PFS_FORK);
	PFS_SET(&ev, child, CHILD, child->tid);
	return pfs_emit(&d->sink, &ev)
		       ?: named(d, rec, (struct dec_subject){ child->pid, child->tid, PFS_SPACE_CURRENT }, child->comm);
}
