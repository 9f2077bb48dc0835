/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/header.h"

#include <sys/utsname.h>
#include <unistd.h>

int pfs_header_notes(const char *source, const char *vsyscall, pfs_note_fn *put, void *ctx)
{
	struct utsname uts;

	uname(&uts);
	const struct pfs_fact facts[] = {
		{ .key = PFS_NOTE_PFSCOPE, .text = PFS_VERSION },
		{ .key = PFS_NOTE_PAGE_SIZE, .count = sysconf(_SC_PAGESIZE) },
		{ .key = PFS_NOTE_MACHINE, .text = uts.machine },
		{ .key = PFS_NOTE_KERNEL, .text = uts.release },
		{ .key = PFS_NOTE_CLOCK, .text = "mono" },
		{ .key = PFS_NOTE_SOURCE, .text = source },
		{ .key = PFS_NOTE_VSYSCALL, .text = vsyscall },
	};
	int ret = 0;

	for (unsigned int i = 0; !ret && i < (*vsyscall ? 7 : 6); i++)
		ret = put(ctx, 0, &facts[i]);
	return ret;
}
