/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where events go: into the recording, and to who wants them as they come. */
#include "faults/faults_priv.h"

#include "event/export.h"

#include <errno.h>

int perf_emit(struct perf_session *s, const struct pfs_event *ev)
{
	struct pfs_sink sink = pfs_export_sink(s->writer);
	int ret = s->numbers && ev->kind != PFS_FAULT ? pfs_stack_numbers_event(s->numbers, ev) : 0;

	ret = ret ?: perf_dump_event(s, ev) ?: pfs_emit(&sink, ev);

	if (ret || !s->config.live)
		return ret;
	ret = pfs_emit(s->config.live, ev);
	if (ret != -ECANCELED)
		return ret;
	s->config.live = NULL; /* it wants no more */
	return 0;
}
