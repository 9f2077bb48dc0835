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

/* Events that never reached the CPU's buffer, or were overwritten in it. */
static uint64_t not_delivered(struct pfs_capture *c, int cpu)
{
	static const char *const counters[] = { "\noverrun:", "\ncommit overrun:", "\ndropped events:" };
	char *text = capture_cpu_stats(c, cpu);
	uint64_t sum = 0, nr;

	for (size_t i = 0; text && i < sizeof(counters) / sizeof(counters[0]); i++) {
		sum += pfs_number_behind(text, counters[i], &nr) ? nr : 0;
	}
	free(text);
	return sum;
}

/* Pages report overwritten events too, but a page that is full to its end has no room for their number. */
int capture_note_losses(struct pfs_capture *c)
{
	int nr_cpus = sysconf(_SC_NPROCESSORS_CONF), ret = 0;

	for (int cpu = 0; cpu < nr_cpus && !ret; cpu++) {
		uint64_t lost = not_delivered(c, cpu);

		if (lost)
			ret = capture_note(c, 0, PFS_FACT(LOST, .count = lost, .cpu = cpu));
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
	int ret = c->cache ? pfs_cache_mapped(c->cache, ev) : 0;

	return ret || !c->accounts ? ret : pfs_accounts_task(c->accounts, ev, put, ctx);
}
