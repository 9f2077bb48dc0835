/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rates of faults. What an event has added to the model's counts is counted for its region and its thread, so no rule of
 * the model stands here again.
 */
#include "live/live.h"

#include <errno.h>
#include <string.h>

enum { SLOT_NS = 100000000 };

static void rate_advance(struct pfs_rate *rate, uint64_t slot)
{
	uint64_t behind = slot > rate->slot ? slot - rate->slot : 0;

	for (uint64_t i = 0; i < behind && i < PFS_RATE_SLOTS; i++)
		rate->nr[(slot - i) % PFS_RATE_SLOTS] = 0;
	rate->slot += behind;
}

static void rate_add(struct pfs_rate *rate, uint64_t now_ns, uint64_t nr)
{
	rate_advance(rate, now_ns / SLOT_NS);
	rate->nr[rate->slot % PFS_RATE_SLOTS] += nr;
}

uint64_t pfs_rate_since(uint64_t now_ns)
{
	uint64_t slot = now_ns / SLOT_NS;

	return slot < PFS_RATE_SLOTS ? 0 : (slot + 1 - PFS_RATE_SLOTS) * SLOT_NS;
}

uint64_t pfs_rate_at(const struct pfs_rate *rate, uint64_t now_ns)
{
	struct pfs_rate at = *rate;
	uint64_t sum = 0;

	rate_advance(&at, now_ns / SLOT_NS);
	for (int i = 0; i < PFS_RATE_SLOTS; i++)
		sum += at.nr[i];
	return sum;
}

/* NULL: no memory. */
static struct pfs_counter *count(struct pfs_counter **table, const void *of, uint64_t born_ns, uint64_t now_ns,
				 uint64_t faults, uint64_t major)
{
	typeof((*table)->key) key = { (uintptr_t)of, born_ns };
	struct pfs_counter *counter = PFS_HASH_GET(*table, key, key);

	if (!counter)
		return NULL;
	counter->faults += faults;
	counter->major += major;
	rate_add(&counter->rate, now_ns, faults);
	return counter;
}

static int count_thread(struct pfs_moment *m, const struct pfs_thread *thread, uint64_t faults, uint64_t major)
{
	struct pfs_counter *counter = count(&m->threads, thread, thread->born_ns, m->now_ns, faults, major);

	if (!counter)
		return -ENOMEM;
	counter->proc = thread->proc;
	counter->comm = thread->comm;
	counter->tid = thread->tid;
	return 0;
}

static void count_second(struct pfs_moment *m, uint64_t now_ns, uint64_t faults)
{
	uint64_t base = pfs_model_base_ns(m->model), second = now_ns > base ? (now_ns - base) / PFS_NS_PER_S : 0;

	for (; m->second < second; m->second++)
		m->seconds[(m->second + 1) % PFS_MOMENT_SECONDS] = 0;
	m->seconds[m->second % PFS_MOMENT_SECONDS] += faults;
}

uint64_t pfs_moment_second(const struct pfs_moment *m, uint64_t second)
{
	if (second > m->second || second + PFS_MOMENT_SECONDS <= m->second)
		return 0;
	return m->seconds[second % PFS_MOMENT_SECONDS];
}

/* A `major` is about a fault that was counted before. */
static int observe(void *ctx, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	struct pfs_moment *m = ctx;
	uint64_t faults = m->model->counts.faults - m->faults, major = m->model->counts.major - m->major;

	m->now_ns = ev->ts_ns > m->now_ns ? ev->ts_ns : m->now_ns;
	if (!faults && !major)
		return 0;
	m->faults += faults;
	m->major += major;
	rate_add(&m->rate, m->now_ns, faults);
	rate_add(&m->major_rate, m->now_ns, major);
	count_second(m, m->now_ns, faults);
	if (outcome->region && faults &&
	    !count(&m->regions, outcome->region, outcome->region->born_ns, m->now_ns, faults, major))
		return -ENOMEM;
	return outcome->thread ? count_thread(m, outcome->thread, faults, major) : 0;
}

struct pfs_observer pfs_moment_observer(struct pfs_moment *moment)
{
	return (struct pfs_observer){ .event = observe, .ctx = moment };
}

void pfs_moment_init(struct pfs_moment *moment, const struct pfs_model *model)
{
	*moment = (struct pfs_moment){ .model = model };
}

void pfs_moment_fini(struct pfs_moment *moment)
{
	PFS_HASH_FREE(moment->regions);
	PFS_HASH_FREE(moment->threads);
}

uint64_t pfs_moment_region_rate(const struct pfs_moment *m, const struct pfs_region *region)
{
	typeof(m->regions->key) key = { (uintptr_t)region, region->born_ns };
	struct pfs_counter *counter;

	HASH_FIND(hh, m->regions, &key, sizeof(key), counter);
	return counter ? pfs_rate_at(&counter->rate, m->now_ns) : 0;
}
