/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See progress.h. */
#include "common/progress.h"

#include "base/clock.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
enum { FIRST_MS = 500, EVERY_MS = 200 };

void progress_start(struct progress *p, bool wanted, uint64_t total)
{
	const char *term = getenv("TERM");

	*p = (struct progress){ .total = total };
	p->on = wanted && isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
	if (!p->on)
		return;
	p->start_ns = pfs_now_ns();
	p->next_ns = p->start_ns + FIRST_MS * MS;
}

void progress_at(struct progress *p, uint64_t bytes, uint64_t events)
{
	char read[16], all[40] = "", left[48] = "";
	double seconds;
	uint64_t now;

	if (!p->on)
		return;
	now = pfs_now_ns();
	if (now < p->next_ns)
		return;
	p->next_ns = now + EVERY_MS * MS;
	p->shown = true;
	seconds = (now - p->start_ns) / 1e9;
	if (p->total && bytes && bytes <= p->total) {
		snprintf(all, sizeof(all), "%2.0f %% of ", 100.0 * bytes / p->total);
		strcat(all, pfs_bytes_text(read, p->total));
		snprintf(left, sizeof(left), ", %.0f s left", seconds * (p->total - bytes) / bytes);
	}
	fprintf(stderr, "\r%s, %.1f M events, %.1f M events/s%s\033[K", *all ? all : pfs_bytes_text(read, bytes),
		events / 1e6, events / seconds / 1e6, left);
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = p->on = false;
}
