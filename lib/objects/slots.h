/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places where objects have been allocated, and a random word of them. When there are too many, half of them, by a hash of
 * the address, is forgotten and not taken again: what stays is a fair sample.
 *
 * Watchpoints are set on these words, by the helper of ftrace/watch and by SystemTap's module, into whose script this file is
 * copied: it needs nothing but integers, and allocates nothing.
 */
#ifndef PFS_OBJECTS_SLOTS_H
#define PFS_OBJECTS_SLOTS_H

#ifndef __KERNEL__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#endif

#define PFS_SLOTS_BITS 16
#define PFS_SLOTS_MAX  (1u << PFS_SLOTS_BITS)

/* Of zeroes at first, but for the seed of the random choice. */
struct pfs_slots {
	uint64_t seed;
	uint64_t words;	     /* of the places that are kept */
	unsigned int halved; /* so often */
	uint32_t nr;
	struct pfs_slot {
		uint64_t ptr;
		uint32_t words;
	} slots[PFS_SLOTS_MAX];
	uint32_t at[PFS_SLOTS_MAX * 2]; /* by a hash of the address: which of the slots + 1; 0: none */
};

struct pfs_slot_word {
	uint64_t ptr;
	uint32_t off; /* in bytes, of 8 each */
};

/* splitmix64 */
static inline uint64_t pfs_slots_mixed(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* Below nr, which is far below 2^64: no value is noticeably more likely. */
static inline uint64_t pfs_slots_random(struct pfs_slots *s, uint64_t nr)
{
	s->seed += 0x9e3779b97f4a7c15ULL;
	return pfs_slots_mixed(s->seed) % nr;
}

/* By the lowest bits of the hash; its highest ones are where it is found. */
static inline bool pfs_slots_is_kept(const struct pfs_slots *s, uint64_t ptr)
{
	return !(pfs_slots_mixed(ptr) & ((1ULL << s->halved) - 1));
}

/* Where the number of its slot is, or has to be. */
static inline uint32_t *pfs_slots_at(struct pfs_slots *s, uint64_t ptr)
{
	uint32_t i = pfs_slots_mixed(ptr) >> (63 - PFS_SLOTS_BITS);

	while (s->at[i] && s->slots[s->at[i] - 1].ptr != ptr)
		i = (i + 1) % (PFS_SLOTS_MAX * 2);
	return &s->at[i];
}

static inline void pfs_slots_enter(struct pfs_slots *s, uint32_t *at, uint64_t ptr, uint32_t words)
{
	s->slots[s->nr].ptr = ptr;
	s->slots[s->nr].words = words;
	*at = ++s->nr;
	s->words += words;
}

static inline void pfs_slots_halve(struct pfs_slots *s)
{
	uint32_t nr = s->nr, i;

	s->halved++;
	s->nr = 0;
	s->words = 0;
	memset(s->at, 0, sizeof(s->at));
	for (i = 0; i < nr; i++) /* none is written before it is read */
		if (pfs_slots_is_kept(s, s->slots[i].ptr))
			pfs_slots_enter(s, pfs_slots_at(s, s->slots[i].ptr), s->slots[i].ptr, s->slots[i].words);
}

/* An allocation of so many bytes at ptr, which is not 0. */
static inline void pfs_slots_add(struct pfs_slots *s, uint64_t ptr, uint64_t bytes)
{
	uint32_t words = (bytes < 0xffffffff ? bytes : 0xffffffff) / 8, *at;
	struct pfs_slot *slot;

	if (!words || !pfs_slots_is_kept(s, ptr))
		return;
	at = pfs_slots_at(s, ptr);
	if (*at) {
		slot = &s->slots[*at - 1];
		s->words += (uint64_t)words - slot->words;
		slot->words = words;
		return;
	}
	while (s->nr == PFS_SLOTS_MAX)
		pfs_slots_halve(s);
	if (pfs_slots_is_kept(s, ptr))
		pfs_slots_enter(s, pfs_slots_at(s, ptr), ptr, words);
}

/* The words of all places, an estimate once some were forgotten. */
static inline uint64_t pfs_slots_words(const struct pfs_slots *s)
{
	return s->words << s->halved;
}

static inline struct pfs_slot_word pfs_slots_word(const struct pfs_slots *s, uint64_t nr)
{
	const struct pfs_slot *slot = s->slots;
	struct pfs_slot_word word;

	for (; nr >= slot->words; slot++)
		nr -= slot->words;
	word.ptr = slot->ptr;
	word.off = nr * 8;
	return word;
}

/*
 * Chooses at most nr different words, each set of them as likely as any other. Returns how many: less only if there are less.
 * Draws again what it has drawn before.
 */
static inline unsigned int pfs_slots_choose(struct pfs_slots *s, struct pfs_slot_word *words, unsigned int nr)
{
	unsigned int chosen = 0, i;

	if (nr > s->words)
		nr = s->words;
	while (chosen < nr) {
		words[chosen] = pfs_slots_word(s, pfs_slots_random(s, s->words));
		for (i = 0; words[i].ptr != words[chosen].ptr || words[i].off != words[chosen].off; i++)
			;
		chosen += i == chosen;
	}
	return nr;
}

#endif
