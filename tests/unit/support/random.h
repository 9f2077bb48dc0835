/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The random numbers of all unit tests: the same ones in every run, from a seed. */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdint.h>

/* 64 bits of a linear congruential generator, its best ones in the low half. */
static inline uint64_t random_u64(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33 ^ *state << 31;
}

/* 31 bits. */
static inline uint64_t next_random(uint64_t *state)
{
	return random_u64(state) & INT32_MAX;
}

#endif
