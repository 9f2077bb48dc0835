/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often the kernel took memory away, or rearranged it, by itself: /proc/vmstat, of the whole machine. */
#ifndef PFS_VM_EVENTS_H
#define PFS_VM_EVENTS_H

#include <stdint.h>

struct pfs_vm_events {
	uint64_t scanned;   /* pages looked at for reclaim, by whomever */
	uint64_t swapped;   /* pages swapped out, zswap's among them */
	uint64_t collapsed; /* huge pages made of small ones */
};

/* Counts since boot. 0 or -errno. */
int pfs_vm_events(struct pfs_vm_events *events);

#endif
