/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int pfs_live_note(struct pfs_live *live, pid_t tid, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (ret < 0)
		return -ENOMEM;
	ret = live->source->note(live, tid, text);
	free(text);
	return ret;
}
