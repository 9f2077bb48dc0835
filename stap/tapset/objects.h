/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of kernel objects, in the form of wire.h; compiled into their module and into the decoder.
 *
 * They come from a module of their own (objects.stp), which writes none of faults and layouts. Their numbers follow those
 * of wire.h, and PFS_WIRE_VERSION is the version of both.
 */
#ifndef PFS_STAP_OBJECTS_H
#define PFS_STAP_OBJECTS_H

#ifndef __KERNEL__ /* there it comes before this file */
#include "tapset/wire.h"
#endif

#define PFS_CACHE_NAME_MAX 64 /* bytes of a name within the object's record */

enum pfs_object_rec_type {
	PFS_REC_ALLOC = PFS_REC_NR, /* object; of a cache */
	PFS_REC_KMALLOC,	    /* object; has no cache */
	PFS_REC_RELEASE,	    /* object, ptr and site; by kmem_cache_free() with the cache, by kfree() without */
	PFS_REC_PAGE_ALLOC,	    /* page */
	PFS_REC_PAGE_RELEASE,	    /* page */
	PFS_REC_TASK,		    /* task; the thread of the record has that name now */
	PFS_REC_CHILD,		    /* task; a new one, by the thread of the record */
	PFS_REC_WATCH,		    /* watch; of no thread */
	PFS_REC_ACCESS,		    /* access; by the thread of the record */
	PFS_REC_OBJECTS_NR
};

struct pfs_rec_object {
	__u64 ptr, site;
	__u32 size, allocated; /* bytes requested, and given; allocated 0: not known */
	__u8 name_len;	       /* of the cache's inline name; 0: see NAME before, or the name is not known */
	__u8 pad[7];
	char name[PFS_CACHE_NAME_MAX];
};

struct pfs_rec_page {
	__u64 pfn;
	__u32 order, pad;
};

struct pfs_rec_task {
	__s32 pid, tid; /* of the child */
	char comm[16];
};

/* From now on each access to the word of 8 bytes at ptr + off is an ACCESS, until the one with `last`. */
struct pfs_rec_watch {
	__u64 ptr;
	__u64 count; /* of how many words it was chosen; last: accesses that are missing */
	__u32 off;
	__u8 last, pad[3];
};

struct pfs_rec_access {
	__u64 ptr, ip;
	__u32 off;
	__u16 cpu;
	__u8 write, pad; /* write: it has written, and may have read, too */
};

/* The body of a record of objects. */
union pfs_rec_objects {
	struct pfs_rec_object object;
	struct pfs_rec_page page;
	struct pfs_rec_task task;
	struct pfs_rec_watch watch;
	struct pfs_rec_access access;
};

_Static_assert(sizeof(union pfs_rec_objects) <= sizeof(((struct pfs_rec *)0)->body), "is the body of a record");

#endif
