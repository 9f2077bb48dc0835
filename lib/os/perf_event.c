/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/perf_event.h"

#include "base/number.h"
#include "base/write_all.h"
#include "os/process.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
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
			"a seccomp filter, as containers have, refuses perf_event_open (%s): start the container with --security-opt seccomp=unconfined (Docker: --cap-add=PERFMON is enough)",
			strerror(-ret));
	if (ret == -ENOSYS)
		return pfs_err_set(err, ret, "this kernel has no perf events (CONFIG_PERF_EVENTS)");
	return pfs_err_set(err, ret, "perf_event_open: %s", strerror(-ret));
}

static int try_faults(pid_t tid, bool kernel)
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
	int fd = pfs_perf_open(&attr, tid, -1);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

int pfs_perf_may_record(bool kernel, struct pfs_err *err)
{
	int ret = try_faults(0, kernel);

	return ret ? pfs_perf_refused(ret, err) : 0;
}

int pfs_perf_may_watch(pid_t pid)
{
	return try_faults(pid, false);
}

/* ---- the ring of a CPU ---- */

/* header.size has 16 bits. */
#define RECORD_MAX (1 << 16)

int pfs_perf_ring_join(struct pfs_perf_ring *ring, int fd, unsigned int nr_pages)
{
	size_t page_size = sysconf(_SC_PAGESIZE);
	void *meta;

	if (ring->meta)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) ? -errno : 0;
	if (!ring->scratch)
		ring->scratch = malloc(RECORD_MAX);
	if (!ring->scratch)
		return -ENOMEM;
	meta = mmap(NULL, (nr_pages + 1) * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (meta == MAP_FAILED)
		return -errno;
	ring->meta = meta;
	ring->page_size = page_size;
	ring->bytes = nr_pages * page_size;
	ring->fd = fd;
	return 0;
}

int pfs_perf_ring_drain(struct pfs_perf_ring *ring, pfs_perf_fn fn, void *ctx)
{
	uint64_t head, tail;
	char *data;
	int err = 0;

	if (!ring->meta)
		return 0;
	data = (char *)ring->meta + ring->page_size;
	head = atomic_load_explicit((_Atomic uint64_t *)&ring->meta->data_head, memory_order_acquire);
	tail = ring->meta->data_tail;
	while (!err && tail < head) {
		size_t at = tail % ring->bytes, till_end = ring->bytes - at;
		const struct perf_event_header *header = (const void *)(data + at);

		if (header->size > till_end) {
			memcpy(ring->scratch, data + at, till_end);
			memcpy(ring->scratch + till_end, data, header->size - till_end);
			header = (const void *)ring->scratch;
		}
		tail += header->size;
		err = fn(ctx, header);
	}
	atomic_store_explicit((_Atomic uint64_t *)&ring->meta->data_tail, tail, memory_order_release);
	return err;
}

void pfs_perf_ring_fini(struct pfs_perf_ring *ring)
{
	if (ring->meta)
		munmap(ring->meta, ring->page_size + ring->bytes);
	free(ring->scratch);
	*ring = (struct pfs_perf_ring){ .fd = -1 };
}
