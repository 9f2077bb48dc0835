/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/header.h"

#include "os/process.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

int pfs_header_notes(const char *source, int (*put)(void *ctx, const char *text), void *ctx)
{
	char notes[7][128], perms[5];
	struct utsname uts;
	int ret = 0;

	uname(&uts);
	pfs_vsyscall_perms(perms);
	snprintf(notes[0], sizeof(notes[0]), "pfscope=%s", PFS_VERSION);
	snprintf(notes[1], sizeof(notes[1]), "page_size=%ld", sysconf(_SC_PAGESIZE));
	snprintf(notes[2], sizeof(notes[2]), "machine=%s", uts.machine);
	snprintf(notes[3], sizeof(notes[3]), "kernel=%s", uts.release);
	snprintf(notes[4], sizeof(notes[4]), "clock=mono");
	snprintf(notes[5], sizeof(notes[5]), "source=%s", source);
	snprintf(notes[6], sizeof(notes[6]), "vsyscall=%s", perms);
	for (unsigned int i = 0; !ret && i < (perms[0] ? 7 : 6); i++)
		ret = put(ctx, notes[i]);
	return ret;
}
