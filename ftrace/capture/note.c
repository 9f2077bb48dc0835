/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The notes of a capture, dated now, and the kernel's counts of lost events; raw events to the live sink.
 */
#include "base/number.h"
#include "capture/capture_priv.h"

#include "base/clock.h"
#include "base/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int capture_note(void *capture, int32_t tid, const struct pfs_fact *fact)
{
	struct pfs_capture *c = capture;
	struct raw_event ev = raw_event_own(RAW_PFS_NOTE, pfs_now_ns(), tid);

	return pfs_records_note(&ev, fact, pfs_sideband_put, c->sideband);
}

int capture_fact(struct pfs_capture *c, const struct pfs_fact *fact, struct pfs_err *err)
{
	int ret = capture_note(c, 0, fact);

	return ret ? pfs_err_set(err, ret, "no memory for a note") : 0;
}

int capture_note_sideband_lack(struct pfs_capture *c, const char *tells)
{
	if (c->sideband_lack_noted)
		return 0;
	c->sideband_lack_noted = true;
	return capture_note(c, 0, PFS_FACT(LACKS, .what = "perf_event_open", .tells = tells));
}

char *capture_cpu_stats(struct pfs_capture *c, int cpu)
{
	char file[64], *text;
	int fd;

	snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", cpu);
	fd = pfs_instance_open(c->instance, file, O_RDONLY, NULL);
	text = fd < 0 ? strdup("") : pfs_read_whole(fd, NULL);
	pfs_close(fd);
	return text;
}

static uint64_t sum_behind(const char *text, const char *const *keys, unsigned int nr_keys)
{
	uint64_t sum = 0, nr;

	for (unsigned int i = 0; i < nr_keys; i++)
		sum += pfs_number_behind(text, keys[i], &nr) ? nr : 0;
	return sum;
}

int capture_count(struct pfs_capture *c, int cpu, struct capture_counts *counts)
{
	/* Not delivered: they never reached the CPU's buffer, or were overwritten in it. */
	static const char *const lost[] = { "\noverrun:", "\ncommit overrun:", "\ndropped events:" };
	static const char *const events[] = { "entries:", "\nread events:" }, *const bytes[] = { "\nbytes:" };
	char *text = capture_cpu_stats(c, cpu);

	if (!text)
		return -ENOMEM;
	*counts = (struct capture_counts){ sum_behind(text, events, 2), sum_behind(text, bytes, 1),
					   sum_behind(text, lost, 3) };
	free(text);
	return 0;
}

static int note_lost_dumps(struct pfs_capture *c)
{
	uint64_t lost = c->dumps ? pfs_dumps_lost(c->dumps) : 0;

	return lost ? capture_note(c, 0, PFS_FACT(DUMPS_LOST, .count = lost)) : 0;
}

/* Pages report overwritten events too, but a page that is full to its end has no room for their number. */
int capture_note_losses(struct pfs_capture *c)
{
	int nr_cpus = sysconf(_SC_NPROCESSORS_CONF), ret = note_lost_dumps(c);

	for (int cpu = 0; cpu < nr_cpus && !ret; cpu++) {
		struct capture_counts counts;

		ret = capture_count(c, cpu, &counts);
		if (!ret && c->drain.cpus) /* not with --via=text */
			counts.lost -= c->drain.cpus[cpu].lost_before;
		if (!ret && counts.lost)
			ret = capture_note(c, 0, PFS_FACT(LOST, .count = counts.lost, .cpu = cpu));
	}
	return ret;
}

int capture_live_event(void *capture, const struct raw_event *raw)
{
	struct pfs_capture *c = capture;
	int ret = c->assembler ? pfs_assembler_feed(c->assembler, raw) : 0;

	if (ret != -ECANCELED)
		return ret;
	pfs_assembler_free(c->assembler);
	c->assembler = NULL;
	return 0;
}

int capture_own_comes(struct pfs_capture *c, const struct raw_event *ev, raw_event_fn put, void *ctx)
{
	int ret = c->dumps ? pfs_dumps_own(c->dumps, ev, put, ctx) : 0;

	if (!ret && c->cache)
		ret = pfs_cache_mapped(c->cache, ev);
	return ret || !c->accounts ? ret : pfs_accounts_task(c->accounts, ev, put, ctx);
}
