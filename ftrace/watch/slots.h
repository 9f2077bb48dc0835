/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places where objects have been allocated, and a random word of them. When there are too many, half of them, by a hash of
 * the address, is forgotten and not taken again: what stays is a fair sample.
 */
#ifndef PFS_WATCH_SLOTS_H
#define PFS_WATCH_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#define PFS_SLOTS_MAX 65536

struct slot;
struct slot_class;

/* Of zeroes at first, but for the seed of the random choice. */
struct pfs_slots {
	struct slot *all;
	struct slot_class *classes; /* by their number of words */
	size_t nr, nr_classes, max_classes;
	unsigned int halved; /* so often */
	uint64_t seed;
};

struct pfs_slot_word {
	uint64_t ptr;
	uint32_t off; /* in bytes, of 8 each */
};

/* An allocation of so many bytes at ptr. 0 or -ENOMEM. */
int pfs_slots_add(struct pfs_slots *slots, uint64_t ptr, uint64_t bytes);

/* The words of all places, an estimate once some were forgotten. */
uint64_t pfs_slots_words(const struct pfs_slots *slots);

/*
 * Chooses at most nr different words, each set of them as likely as any other. Returns how many: less only if there are less.
 */
unsigned int pfs_slots_choose(struct pfs_slots *slots, struct pfs_slot_word *words, unsigned int nr);

void pfs_slots_fini(struct pfs_slots *slots);

#endif
