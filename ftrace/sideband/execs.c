/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sideband/execs.h"

#include "base/array.h"
#include "base/clock.h"
#include "os/process.h"
#include "record/pfscope_records.h"

#include <errno.h>
#include <stdlib.h>

/* An exec takes no longer, unless its file system does not answer. */
#define PATIENCE_NS UINT64_C(2000000000)

/* Of all: more than any machine starts between two readings. */
#define MAX_EXECS 4096

void pfs_execs_fini(struct pfs_execs *execs)
{
	pfs_execs_forget(execs);
	free(execs->execs);
}

/* The row becomes the last one, whose place is free. */
static void drop(struct pfs_execs *execs, size_t i)
{
	free(execs->execs[i].args);
	execs->execs[i] = execs->execs[--execs->nr];
}

void pfs_execs_forget(struct pfs_execs *execs)
{
	while (execs->nr)
		drop(execs, 0);
}

static struct pfs_exec *find(struct pfs_execs *execs, pid_t pid)
{
	for (size_t i = 0; i < execs->nr; i++)
		if (execs->execs[i].pid == pid)
			return &execs->execs[i];
	return NULL;
}

int pfs_execs_add(struct pfs_execs *execs, pid_t pid, uint64_t exec_ns, bool over)
{
	struct pfs_exec *exec = find(execs, pid);

	if (exec && exec->exec_ns > exec_ns)
		return 0;
	if (!exec && execs->nr == MAX_EXECS)
		pfs_execs_forget(execs);
	if (exec)
		free(exec->args);
	else
		exec = pfs_array_add(execs->execs, execs->nr, execs->max);
	if (!exec)
		return -ENOMEM;
	*exec = (struct pfs_exec){ .pid = pid, .exec_ns = exec_ns, .over = over };
	return 0;
}

/*
 * Whether the row has had its time. An end stays for one more reading: the rings of the CPUs are drained one after the
 * other, so an exec before it may come after it.
 */
static bool is_stale(const struct pfs_exec *exec, uint64_t now_ns)
{
	return exec->over ? exec->read_ns : now_ns > exec->exec_ns + PATIENCE_NS;
}

bool pfs_execs_read(struct pfs_execs *execs)
{
	bool any = false;

	for (size_t i = execs->nr; i-- > 0;) {
		struct pfs_exec *exec = &execs->execs[i];

		uint64_t now_ns = pfs_now_ns();

		if (is_stale(exec, now_ns)) {
			drop(execs, i);
			continue;
		}
		exec->read_ns = now_ns;
		exec->args = exec->over ? NULL : pfs_process_args(exec->pid);
		any = any || exec->args;
	}
	return any;
}

int pfs_execs_put(struct pfs_execs *execs, raw_event_fn fn, void *ctx)
{
	int err = 0;

	for (size_t i = execs->nr; !err && i-- > 0;) {
		struct pfs_exec *exec = &execs->execs[i];
		struct raw_event ev = raw_event_own(RAW_PFS_NOTE, exec->read_ns, exec->pid);

		if (!exec->args)
			continue;
		err = pfs_records_note(&ev, PFS_FACT(ARGS, .since_ns = exec->exec_ns, .text = exec->args), fn, ctx);
		drop(execs, i);
	}
	return err;
}
