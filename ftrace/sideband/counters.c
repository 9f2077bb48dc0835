/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sideband/sideband.h"

#include "base/write_all.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int pfs_counters_open(struct pfs_counters *counters, pid_t pid)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .inherit = 1 };
	static const uint64_t configs[] = {
		PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_PAGE_FAULTS_MIN,
		PERF_COUNT_SW_PAGE_FAULTS_MAJ,
	};
	int ret = 0;

	memset(counters->fds, -1, sizeof(counters->fds));
	for (int i = 0; !ret && i < 3; i++) {
		attr.config = configs[i];
		counters->fds[i] = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
		ret = counters->fds[i] < 0 ? -errno : 0;
	}
	if (ret)
		pfs_counters_close(counters);
	return ret;
}

int pfs_counters_read(const struct pfs_counters *counters, struct pfs_counts_read *counts)
{
	uint64_t *const into[] = { &counts->faults, &counts->minor, &counts->major };

	for (int i = 0; i < 3; i++)
		if (read(counters->fds[i], into[i], sizeof(uint64_t)) != sizeof(uint64_t))
			return counters->fds[i] < 0 ? -ENOENT : -EIO;
	return 0;
}

void pfs_counters_close(struct pfs_counters *counters)
{
	for (int i = 0; i < 3; i++)
		pfs_close(counters->fds[i]);
	memset(counters->fds, -1, sizeof(counters->fds));
}
