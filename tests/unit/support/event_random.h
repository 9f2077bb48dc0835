/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random events for the tests of text forms: any fields, extreme values, strings of any bytes.
 *
 * Strings point into the struct random_event, which has to outlive the event.
 */
#ifndef EVENT_RANDOM_H
#define EVENT_RANDOM_H

#include <stdlib.h>
#include <string.h>

#include "event/event.h"
#include "support/random.h"

struct random_event {
	struct pfs_event ev;
	char strings[PFS_NR_FIELDS][48];
};

/* Numbers of every length, and the greatest. */
static inline uint64_t random_value(uint64_t *state)
{
	uint64_t value = random_u64(state);

	if (value % 16 == 0)
		return value % 32 ? 0 : UINT64_MAX;
	return value >> (random_u64(state) % 64);
}

static inline void random_string(uint64_t *state, char *to, size_t size)
{
	static const char *const some[] = { "", "cat", "[heap]", "/usr/lib/libc.so.6", "a b=c~d" };
	size_t len = random_u64(state) % size;

	if (random_u64(state) % 2) {
		strcpy(to, some[random_u64(state) % 5]);
		return;
	}
	for (size_t i = 0; i < len; i++)
		to[i] = 1 + random_u64(state) % 255;
	to[len] = '\0';
}

static inline void random_field(uint64_t *state, struct random_event *random, unsigned int field)
{
	const struct pfs_field_info *f = &pfs_fields[field];
	void *to = (char *)&random->ev + f->offset;
	unsigned int nr = 0;

	switch (f->type) {
	case PFS_T_S32:
		*(int32_t *)to = (int32_t)random_value(state);
		break;
	case PFS_T_U64:
	case PFS_T_HEX:
		*(uint64_t *)to = random_value(state);
		break;
	case PFS_T_ENUM: /* named values, but not "unknown", which is the field's absence */
		while (f->names[nr])
			nr++;
		*(uint8_t *)to =
			strcmp(f->names[0], "unknown") ? random_u64(state) % nr : 1 + random_u64(state) % (nr - 1);
		break;
	case PFS_T_SET:
		while (f->names[nr])
			nr++;
		*(uint16_t *)to = random_u64(state) % (1 << nr);
		break;
	case PFS_T_PERMS:
		*(uint8_t *)to = random_u64(state) % 16;
		break;
	case PFS_T_DEV:
		*(uint32_t *)to = (uint32_t)random_value(state);
		break;
	case PFS_T_BOOL:
		*(uint8_t *)to = random_u64(state) % 2;
		break;
	case PFS_T_U8:
		*(uint8_t *)to = (uint8_t)random_u64(state);
		break;
	case PFS_T_STR:
		random_string(state, random->strings[field], sizeof(random->strings[field]));
		*(const char **)to = random->strings[field];
		break;
	}
}

/* Every field in a quarter of the events, few or half of them in the others. */
static inline void random_event(uint64_t *state, struct random_event *random)
{
	uint64_t all = PFS_HAS(PFS_NR_FIELDS) - 1;

	memset(random, 0, sizeof(*random));
	random->ev.kind = random_u64(state) % PFS_NR_KINDS;
	random->ev.ts_ns = random_value(state);
	random->ev.have = all;
	for (uint64_t nr = random_u64(state) % 4; nr; nr--)
		random->ev.have &= random_u64(state);
	random->ev.inferred = random->ev.have & random_u64(state) & random_u64(state);
	for (unsigned int i = 0; i < PFS_NR_FIELDS; i++)
		if (pfs_has(&random->ev, i))
			random_field(state, random, i);
}

#endif
