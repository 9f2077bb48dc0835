/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Growing arrays and binary search. A growing array is three members of a struct: a pointer, the number of elements in
 * use and the number that fit.
 *
 *     struct { struct range *ranges; size_t nr_ranges, max_ranges; } *l;
 *
 *     struct range *range = pfs_array_add(l->ranges, l->nr_ranges, l->max_ranges);
 *     if (!range)
 *             return -ENOMEM;
 *     *range = (struct range){ ... };
 *
 * The caller frees the pointer. Elements move when the array grows, so keep indexes, not pointers.
 */
#ifndef PFS_ARRAY_H
#define PFS_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Advises the kernel to take huge pages for large memory (fewer faults and TLB misses), and returns it. */
static inline void *pfs_advise_huge(void *memory, size_t size)
{
	const uintptr_t align = 1 << 16;
	uintptr_t start = ((uintptr_t)memory + align - 1) & -align;

	if (memory && size >= 4 << 20)
		madvise((void *)start, (uintptr_t)memory + size - start, MADV_HUGEPAGE);
	return memory;
}

/*
 * Reallocates the array for at least `wanted` elements, and at least twice as many as before: *max. NULL, with nothing
 * changed: no memory, or the size overflows.
 */
static inline void *pfs_array_grown(void *array, size_t *max, size_t wanted, size_t size)
{
	size_t room = *max ? *max : 8;
	void *larger;

	if (wanted <= *max)
		return array;
	while (room < wanted) {
		if (room > SIZE_MAX / 2)
			return NULL;
		room *= 2;
	}
	larger = room <= SIZE_MAX / size ? realloc(array, room * size) : NULL;
	if (larger)
		*max = room;
	return pfs_advise_huge(larger, room * size);
}

/* Makes room for `more` (at least one) elements behind the nr in use. False: no memory. */
#define pfs_array_reserve(array, nr, max, more)                                                        \
	({                                                                                             \
		size_t max_ = (max);                                                                   \
		void *grown_ = pfs_array_grown(array, &max_, (size_t)(nr) + (more), sizeof(*(array))); \
		if (grown_)                                                                            \
			(array) = grown_;                                                              \
		if (grown_ && (typeof(max))max_ == max_)                                               \
			(max) = max_;                                                                  \
		grown_ && (max) == max_;                                                               \
	})

/* Makes the array's room hold `wanted` elements or more, the new ones all zeroes: true, or false if there is no memory. */
#define pfs_array_extend(array, max, wanted)                                               \
	({                                                                                 \
		size_t before_ = (max), max_ = before_;                                    \
		void *grown_ = pfs_array_grown(array, &max_, wanted, sizeof(*(array)));    \
		if (grown_) {                                                              \
			(array) = grown_;                                                  \
			(max) = max_;                                                      \
			memset((array) + before_, 0, (max_ - before_) * sizeof(*(array))); \
		}                                                                          \
		grown_ != NULL;                                                            \
	})

/* A pointer to one more element at the end, counted in nr, its content undefined; NULL: no memory. */
#define pfs_array_add(array, nr, max) (pfs_array_reserve(array, nr, max, 1) ? &(array)[(nr)++] : NULL)

/* Of an array of pointers: one more, to a new element, zeroed, which stays where it is. That element; NULL: no memory. */
#define pfs_array_add_new(array, nr, max)                              \
	({                                                             \
		typeof(array) slot_ = pfs_array_add(array, nr, max);   \
		if (slot_ && !(*slot_ = calloc(1, sizeof(**slot_)))) { \
			(nr)--;                                        \
			slot_ = NULL;                                  \
		}                                                      \
		slot_ ? *slot_ : NULL;                                 \
	})

/*
 * pfs_array_add() without `max`: the array grows whenever nr is a power of two. nr may be decreased, but nothing else may resize
 * the array.
 */
#define pfs_array_append(array, nr)                                                                                  \
	({                                                                                                           \
		size_t nr_ = (nr);                                                                                   \
		void *grown_ = nr_ & (nr_ - 1) ? (array) : reallocarray(array, nr_ ? 2 * nr_ : 1, sizeof(*(array))); \
		if (grown_)                                                                                          \
			(array) = grown_, (nr)++;                                                                    \
		grown_ ? &(array)[nr_] : NULL;                                                                       \
	})

/*
 * An array with room on both sides (a struct pfs_sides; both begin as zeroes), so that an insertion or a removal moves the
 * elements of the shorter side only.
 */
struct pfs_sides {
	unsigned int before, after;
};

/* The array, with room for one more on either side. NULL, with nothing changed: no memory. */
static inline void *pfs_sides_reserve(void *array, size_t nr, struct pfs_sides *sides, size_t size)
{
	unsigned int room = nr / 2 + 8;
	char *larger;

	if (sides->before && sides->after)
		return array;
	larger = malloc((nr + 2 * (size_t)room) * size);
	if (!larger)
		return NULL;
	if (array) {
		memcpy(larger + room * size, array, nr * size);
		free((char *)array - sides->before * size);
	}
	*sides = (struct pfs_sides){ room, room };
	return larger + room * size;
}

/* Inserts an element at that index. False: no memory. */
#define pfs_sides_insert(array, nr, sides, at, element)                                          \
	({                                                                                       \
		size_t at_ = (at), above_ = (nr)-at_;                                            \
		typeof(array) array_ = pfs_sides_reserve(array, nr, &(sides), sizeof(*(array))); \
		if (array_ && at_ < above_) {                                                    \
			(sides).before--;                                                        \
			array_--;                                                                \
			memmove(array_, array_ + 1, at_ * sizeof(*array_));                      \
		} else if (array_) {                                                             \
			(sides).after--;                                                         \
			memmove(array_ + at_ + 1, array_ + at_, above_ * sizeof(*array_));       \
		}                                                                                \
		if (array_) {                                                                    \
			array_[at_] = (element);                                                 \
			(array) = array_;                                                        \
			(nr)++;                                                                  \
		}                                                                                \
		array_ != NULL;                                                                  \
	})

/* Removes the elements of [from, to). */
#define pfs_sides_remove(array, nr, sides, from, to)                                         \
	({                                                                                   \
		size_t from_ = (from), to_ = (to), above_ = (nr)-to_;                        \
		(nr) -= to_ - from_;                                                         \
		if (from_ < above_) {                                                        \
			memmove((array) + (to_ - from_), (array), from_ * sizeof(*(array))); \
			(array) += to_ - from_;                                              \
			(sides).before += to_ - from_;                                       \
		} else {                                                                     \
			memmove((array) + from_, (array) + to_, above_ * sizeof(*(array)));  \
			(sides).after += to_ - from_;                                        \
		}                                                                            \
	})

#define pfs_sides_free(array, sides) free((array) ? (array) - (sides).before : NULL)

/*
 * Binary search among the indexes 0 to nr - 1: returns the first index i for which `before`, an expression with i, is
 * false, or nr. The elements for which it is true come first.
 */
#define pfs_lower_bound(nr, i, before)                        \
	({                                                    \
		size_t low_ = 0, high_ = (nr);                \
		while (low_ < high_) {                        \
			size_t i = low_ + (high_ - low_) / 2; \
			if (before)                           \
				low_ = i + 1;                 \
			else                                  \
				high_ = i;                    \
		}                                             \
		low_;                                         \
	})

/* -1, 0 or 1, as functions for qsort() return it; several keys: pfs_order(x->a, y->a) ?: pfs_order(x->b, y->b) */
#define pfs_order(x, y) (((x) > (y)) - ((x) < (y)))

#endif
