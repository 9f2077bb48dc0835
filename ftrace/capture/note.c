/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The notes of a capture: facts with the time of now, and what this kernel does not offer.
 */
#include "capture/capture_priv.h"

#include "base/clock.h"
#include "base/write_all.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int pfs_capture_note(struct pfs_capture *c, pid_t tid, const struct pfs_fact *fact)
{
	struct raw_event ev = { .ts_ns = pfs_now_ns(), .cpu = -1, .tid = tid, .tgid = tid ? tid : -1 };

	return pfs_records_note(&ev, fact, (raw_event_fn)pfs_sideband_put, c->sideband);
}

void capture_add_lack(struct pfs_capture *c, const char *system, const char *name, const char *tells)
{
	struct capture_lack *lack = &c->lacks[c->nr_lacks];

	if (!tells || c->nr_lacks == MAX_LACKS)
		return;
	snprintf(lack->what, sizeof(lack->what), "%s%s%s", system, *system ? ":" : "", name);
	lack->tells = *tells ? tells : NULL;
	c->nr_lacks++;
}

int capture_note_lack(struct pfs_capture *c, const struct capture_lack *lack)
{
	return pfs_capture_note(c, 0, PFS_FACT(LACKS, .what = lack->what, .tells = lack->tells));
}

char *capture_cpu_stats(struct pfs_capture *c, int cpu)
{
	char file[64], *text;
	int fd;

	snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", cpu);
	fd = pfs_instance_open(c->instance, file, O_RDONLY, NULL);
	text = fd < 0 ? strdup("") : pfs_read_whole(fd, NULL);
	if (fd >= 0)
		close(fd);
	return text;
}
