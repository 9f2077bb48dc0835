/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "user/thread_list.h"

#include "sideband/snapshot.h"
#include "tracefs/instance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* It stays empty: the instance only holds the list of threads. */
#define BUFFER_KB 4

struct pfs_thread_list {
	struct pfs_instance *instance;
	struct pfs_tids tids;
};

struct pfs_thread_list *pfs_thread_list_new(uint64_t owner, struct pfs_err *err)
{
	struct pfs_thread_list *list = calloc(1, sizeof(*list));
	int ret;

	if (!list) {
		ret = pfs_err_set(err, -ENOMEM, "no memory for a list of threads");
	} else {
		list->instance = pfs_instance_create(owner, BUFFER_KB, NULL, err);
		ret = list->instance ? pfs_instance_settle(list->instance, err) : -errno;
	}
	if (!ret)
		return list;
	pfs_thread_list_free(list, NULL);
	errno = -ret;
	return NULL;
}

int pfs_thread_list_free(struct pfs_thread_list *list, struct pfs_err *err)
{
	int ret;

	if (!list)
		return 0;
	ret = pfs_instance_destroy(list->instance, err);
	free(list->tids.tids);
	free(list);
	return ret;
}

static int list_thread(void *ctx, const struct raw_event *ev)
{
	int added = pfs_tids_add(ctx, ev->tid);

	return added < 0 ? added : 0;
}

/* The next pass finds a thread that was started by one not yet entered. */
int pfs_thread_list_add(struct pfs_thread_list *list, pid_t pid, struct pfs_err *err)
{
	unsigned int before;
	int ret;

	do {
		before = list->tids.nr;
		ret = pfs_snapshot_tasks(pid, 0, list_thread, &list->tids, err)
			      ?: pfs_instance_add_tids(list->instance, &list->tids, before, err);
	} while (!ret && list->tids.nr > before);
	return ret;
}

void pfs_thread_list_file(const struct pfs_thread_list *list, char *path, size_t size)
{
	snprintf(path, size, "%s/set_event_pid", pfs_instance_dir(list->instance));
}
