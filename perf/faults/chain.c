/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call chains of perf's samples to stacks. */
#include "faults/faults_priv.h"

#include <errno.h>

/* Is it one of PERF_CONTEXT_*? They are at the end of all addresses. */
static bool is_context(uint64_t ip)
{
	return ip >= (uint64_t)PERF_CONTEXT_MAX;
}

/* The frames of the chain, without what is between the contexts. *cut: there are more, or may be. Returns how many. */
static size_t choose(const struct perf_session *s, const struct perf_chain *chain, bool only_kernel, uint64_t *frames,
		     bool *cut)
{
	uint64_t context = 0;
	size_t nr = 0, nr_all = 0;

	for (uint64_t i = 0; i < chain->nr; i++) {
		uint64_t ip = chain->ip[i];

		if (is_context(ip)) {
			context = ip;
			continue;
		}
		nr_all++;
		if (context != (uint64_t)PERF_CONTEXT_KERNEL && context != (uint64_t)PERF_CONTEXT_USER)
			continue;
		if (context == (uint64_t)PERF_CONTEXT_USER && (only_kernel || pfs_stack_is_over(ip)))
			break;
		frames[nr++] = ip;
	}
	*cut = (*cut && !only_kernel) || (nr_all >= s->max_frames && nr == nr_all);
	return nr;
}

static int define(struct perf_session *s, const struct pfs_event *ev, const char *text)
{
	struct pfs_event frames = pfs_stack_definition(ev);

	if (!text)
		return -ENOMEM;
	PFS_SET(&frames, frames, FRAMES, text);
	return perf_emit(s, &frames);
}

int perf_chain(struct perf_session *s, struct pfs_event *ev, const struct perf_chain *chain, bool only_kernel, bool cut)
{
	uint64_t *frames = malloc((chain->nr + 1) * sizeof(*frames)), nr_stack;
	bool first;
	size_t nr;
	int ret = 0;

	if (!frames)
		return -ENOMEM;
	nr = choose(s, chain, only_kernel, frames, &cut);
	if (nr) {
		uint64_t hash = pfs_hash(pfs_hash(PFS_HASH_START, frames, nr * sizeof(*frames)), &cut, sizeof(cut));

		nr_stack = pfs_stack_number(s->numbers, ev, hash, &first);
		ret = nr_stack ? 0 : -ENOMEM;
		PFS_SET(ev, stack, STACK, nr_stack);
		if (!ret && first)
			ret = define(s, ev,
				     pfs_symbols_chain(s->symbols, frames, nr, cut, &s->frames, &s->max_frames_text));
	}
	free(frames);
	return ret;
}
