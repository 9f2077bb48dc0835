/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/perf_event.h"

#include "base/number.h"
#include "base/write_all.h"
#include "os/process.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int pfs_perf_open(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	int fd = syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* kernel.perf_event_paranoid; 0 where it is not positive, or unknown. */
static unsigned int paranoid(void)
{
	char text[16];
	const char *at = text;
	uint64_t level = 0;

	if (pfs_read_file("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text)) > 0)
		pfs_take_dec(&at, 1 << 10, &level);
	return level;
}

/* Has the caller a filter of system calls, as programs in containers have? */
static bool has_seccomp(void)
{
	char status[4096];
	uint64_t mode = 0;

	return pfs_process_read(getpid(), "status", status, sizeof(status)) &&
	       pfs_number_behind(status, "\nSeccomp:", &mode) && mode;
}

int pfs_perf_refused(int ret, struct pfs_err *err)
{
	unsigned int level = paranoid();

	if (ret == -EACCES && level > 2)
		return pfs_err_set(
			err, ret,
			"kernel.perf_event_paranoid is %u: only root gets perf events: as root, run `sysctl kernel.perf_event_paranoid=2`",
			level);
	if (ret == -EACCES && level && !has_seccomp())
		return pfs_err_set(
			err, ret,
			"kernel.perf_event_paranoid is %u: no faults in kernel mode without root: as root, run `sysctl kernel.perf_event_paranoid=1`",
			level);
	if ((ret == -EACCES || ret == -EPERM || ret == -ENOSYS) && has_seccomp())
		return pfs_err_set(
			err, ret,
			"a seccomp filter, as containers have, refuses perf_event_open (%s): start the container with --cap-add=PERFMON or --security-opt seccomp=unconfined",
			strerror(-ret));
	if (ret == -ENOSYS)
		return pfs_err_set(err, ret, "this kernel has no perf events (CONFIG_PERF_EVENTS)");
	return pfs_err_set(err, ret, "perf_event_open: %s", strerror(-ret));
}

int pfs_perf_may_record(bool kernel, struct pfs_err *err)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR,
		.disabled = 1,
		.exclude_kernel = !kernel,
	};
	int fd = pfs_perf_open(&attr, 0, -1);

	if (fd < 0)
		return pfs_perf_refused(fd, err);
	close(fd);
	return 0;
}
