/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "watch/slots.h"

#include "base/array.h"
#include "base/hash.h"

#include <errno.h>

struct slot {
	uint64_t key; /* the address */
	uint32_t words;
	size_t at; /* in its class */
	UT_hash_handle hh;
};

struct slot_class {
	uint32_t words;
	struct slot **slots;
	size_t nr, max;
};

/* splitmix64 */
static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Below nr, which is far below 2^64: no value is noticeably more likely. */
static uint64_t random_below(struct pfs_slots *s, uint64_t nr)
{
	s->seed += UINT64_C(0x9e3779b97f4a7c15);
	return mixed(s->seed) % nr;
}

static bool is_kept(const struct pfs_slots *s, uint64_t ptr)
{
	return !(mixed(ptr) & ((UINT64_C(1) << s->halved) - 1));
}

static struct slot_class *class_of(struct pfs_slots *s, uint32_t words)
{
	struct slot_class *class;

	for (size_t i = 0; i < s->nr_classes; i++)
		if (s->classes[i].words == words)
			return &s->classes[i];
	class = pfs_array_add(s->classes, s->nr_classes, s->max_classes);
	if (class)
		*class = (struct slot_class){ .words = words };
	return class;
}

static int enter(struct pfs_slots *s, struct slot *slot, uint32_t words)
{
	struct slot_class *class = class_of(s, words);
	struct slot **at = class ? pfs_array_add(class->slots, class->nr, class->max) : NULL;

	if (!at)
		return -ENOMEM;
	slot->words = words;
	slot->at = class->nr - 1;
	*at = slot;
	return 0;
}

/* The last one of the class takes its place. */
static void leave(struct pfs_slots *s, struct slot *slot)
{
	struct slot_class *class = class_of(s, slot->words);
	struct slot *last = class->slots[--class->nr];

	class->slots[slot->at] = last;
	last->at = slot->at;
}

static void drop(struct pfs_slots *s, struct slot *slot)
{
	HASH_DEL(s->all, slot);
	free(slot);
	s->nr--;
}

static void halve(struct pfs_slots *s)
{
	struct slot *slot, *next;

	s->halved++;
	HASH_ITER (hh, s->all, slot, next) {
		if (is_kept(s, slot->key))
			continue;
		leave(s, slot);
		drop(s, slot);
	}
}

int pfs_slots_add(struct pfs_slots *s, uint64_t ptr, uint64_t bytes)
{
	uint32_t words = (bytes < UINT32_MAX ? bytes : UINT32_MAX) / 8;
	struct slot *slot;

	if (!words || !is_kept(s, ptr))
		return 0;
	slot = PFS_HASH_GET(s->all, key, ptr);
	if (!slot)
		return -ENOMEM;
	if (slot->words == words)
		return 0;
	if (slot->words)
		leave(s, slot);
	else
		s->nr++;
	if (enter(s, slot, words)) {
		drop(s, slot);
		return -ENOMEM;
	}
	while (s->nr > PFS_SLOTS_MAX)
		halve(s);
	return 0;
}

static uint64_t words_kept(const struct pfs_slots *s)
{
	uint64_t words = 0;

	for (size_t i = 0; i < s->nr_classes; i++)
		words += (uint64_t)s->classes[i].words * s->classes[i].nr;
	return words;
}

uint64_t pfs_slots_words(const struct pfs_slots *s)
{
	return words_kept(s) << s->halved;
}

static struct pfs_slot_word word_at(const struct pfs_slots *s, uint64_t nr)
{
	for (const struct slot_class *class = s->classes;; class ++) {
		uint64_t words = (uint64_t) class->words * class->nr;

		if (nr < words)
			return (struct pfs_slot_word){ class->slots[nr / class->words]->key, nr % class->words * 8 };
		nr -= words;
	}
}

/* Draws again what it has drawn before. */
unsigned int pfs_slots_choose(struct pfs_slots *s, struct pfs_slot_word *words, unsigned int nr)
{
	uint64_t all = words_kept(s);
	unsigned int chosen = 0, i;

	if (nr > all)
		nr = all;
	while (chosen < nr) {
		struct pfs_slot_word word = word_at(s, random_below(s, all));

		for (i = 0; i < chosen && (words[i].ptr != word.ptr || words[i].off != word.off); i++)
			;
		if (i == chosen)
			words[chosen++] = word;
	}
	return nr;
}

void pfs_slots_fini(struct pfs_slots *s)
{
	PFS_HASH_FREE(s->all);
	for (size_t i = 0; i < s->nr_classes; i++)
		free(s->classes[i].slots);
	free(s->classes);
	*s = (struct pfs_slots){ 0 };
}
