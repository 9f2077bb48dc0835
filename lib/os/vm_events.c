/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/vm_events.h"

#include "base/number.h"
#include "base/write_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	size_t offset;
} counters[] = {
	{ "pgscan_anon ", offsetof(struct pfs_vm_events, scanned) }, /* of control groups, too */
	{ "pgscan_file ", offsetof(struct pfs_vm_events, scanned) },
	{ "pswpout ", offsetof(struct pfs_vm_events, swapped) },
	{ "zswpout ", offsetof(struct pfs_vm_events, swapped) },
	{ "swpout_zero ", offsetof(struct pfs_vm_events, swapped) },
	{ "thp_collapse_alloc ", offsetof(struct pfs_vm_events, collapsed) },
};

static void add(struct pfs_vm_events *events, const char *line)
{
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		size_t len = strlen(counters[i].name);
		uint64_t nr = 0;

		if (!strncmp(line, counters[i].name, len) && pfs_dec(line + len, &nr))
			*(uint64_t *)((char *)events + counters[i].offset) += nr;
	}
}

int pfs_vm_events(struct pfs_vm_events *events)
{
	char *text = pfs_read_whole_file("/proc/vmstat", NULL), *line;

	if (!text)
		return -errno;
	*events = (struct pfs_vm_events){ 0 };
	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		add(events, line);
	}
	free(text);
	return 0;
}
