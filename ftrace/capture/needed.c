/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of trace-cmd that records what pfscope can read: the events of setup.c.
 */
#include "capture/capture_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Words of a command, on lines of less than 80 columns. */
struct words {
	FILE *out;
	int column;
};

static void __attribute__((format(printf, 2, 3))) add(struct words *words, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (words->column && words->column + len > 76)
		words->column = fprintf(words->out, " \\\n   ") - 3;
	words->column += fprintf(words->out, "%s%s", words->column ? " " : "", text);
}

/* dir: of tracefs; NULL: it cannot be read. Then every event counts as there. */
static bool is_there(const char *dir, const struct raw_desc *desc)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/events/%s/%s", dir ? dir : "", desc->system, desc->name);
	return !dir || !access(path, F_OK);
}

/* Entry and exit of a system call are next to each other in the table, and one glob. */
static bool is_call(const struct raw_desc *desc, enum raw_kind kind)
{
	char filter[512];

	return desc->kind == kind && !capture_filter_of(desc, filter, sizeof(filter));
}

int pfs_capture_needed(FILE *out, struct pfs_err *err)
{
	static const struct pfs_capture any;
	const char *dir = pfs_tracing_dir(NULL);
	struct words words = { out, 0 };
	char filter[512];
	int ret = capture_usable(err);

	if (ret == -ENOTSUP) /* what else hinders may not hinder where trace-cmd runs */
		return ret;
	err->msg[0] = '\0';
	fputs("# In place of `-c -F COMMAND': `-c -P PID' for a process, `-a sleep 10' for all.\n"
	      "# trace-cmd records no names of files; `pfscope run -o FILE' does.\n",
	      out);
	add(&words, "trace-cmd record -B pfscope");
	for (unsigned int i = 0; i < nr_raw_descs; i++) {
		const struct raw_desc *desc = &raw_descs[i];

		if (!capture_wants(&any, desc) || !is_there(dir, desc) ||
		    (is_call(desc, RAW_SYS_EXIT) && is_call(desc - 1, RAW_SYS_ENTER)))
			continue;
		if (is_call(desc, RAW_SYS_ENTER)) {
			add(&words, "-e 'syscalls:sys_*_%s'", desc->name + strlen("sys_enter_"));
			continue;
		}
		add(&words, "-e %s:%s", desc->system, desc->name);
		if (capture_filter_of(desc, filter, sizeof(filter)))
			add(&words, "-f '%s'", capture_filter_of(desc, filter, sizeof(filter)));
	}
	add(&words, "-c -F COMMAND\n");
	return 0;
}
