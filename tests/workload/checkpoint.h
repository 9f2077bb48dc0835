/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A checkpoint: the whole of /proc/self/maps in a file of its own, with the time right before and
 * right after it was read. The truth that a reconstructed layout is held against.
 *
 *     # t0=81234567890 t1=81234601234 pid=4711 tid=4712
 *     55d0c0a00000-55d0c0a01000 r--p 00000000 fe:00 1234     /tmp/layout
 *
 * Only system calls on memory that is mapped and touched: taking one changes no layout. Nothing
 * else may run in the address space meanwhile; the caller sees to that.
 */
#ifndef CHECKPOINT_H
#define CHECKPOINT_H

#include "snapshot.h"

/* One process's series of checkpoints: PREFIX.PID.0.maps, PREFIX.PID.1.maps, ... */
struct checkpoints {
	const char *prefix;
	unsigned int nr;	/* taken so far */
	int verbose;		/* a line of output each */
	int shared;		/* this process has its memory from a parent that waits in vfork */
	struct snapshot *pages; /* its buffers; NULL: no pages are saved */
	char path[4096];	/* of the last one */
	char text[1 << 20];
};

/* Touches what a checkpoint will use. `nr` is not 0 in a process that had an image before this. */
static void checkpoints_init(struct checkpoints *cps, const char *prefix, unsigned int nr)
{
	memset(cps, 0, sizeof(*cps));
	cps->prefix = prefix;
	cps->nr = nr;
}

/* They save the state of all pages, too. Touches what that takes. */
static WL_UNUSED void checkpoints_with_pages(struct checkpoints *cps)
{
	static struct page_run runs[32768];
	static struct snapshot snapshot;

	memset(runs, 1, sizeof(runs));
	memset(&snapshot, 0, sizeof(snapshot));
	snapshot.text = cps->text;
	snapshot.max_text = sizeof(cps->text);
	snapshot.runs = runs;
	snapshot.max_runs = sizeof(runs) / sizeof(*runs);
	snapshot.zero_pfn = snapshot_zero_pfn();
	cps->pages = &snapshot;
}

/* All of it, or -1. */
static int checkpoint_write(const char *path, const struct iovec *iov)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ssize_t len = iov[0].iov_len + iov[1].iov_len;
	int err;

	if (fd < 0)
		return -1;
	err = writev(fd, iov, 2) == len ? 0 : -1;
	close(fd);
	return err;
}

/* The length of what was read, or -1. */
static ssize_t checkpoint_read(char *text, size_t max, uint64_t *t0, uint64_t *t1)
{
	ssize_t len;

	*t0 = wl_now_ns();
	len = snapshot_maps("/proc/self/maps", text, max);
	*t1 = wl_now_ns();
	return len;
}

/* The state of all pages, to PREFIX.PID.N.pages. */
static void checkpoint_pages(struct checkpoints *cps, int pid, int tid)
{
	char head[128], path[sizeof(cps->path)];

	if (snapshot_take(cps->pages, pid))
		wl_die("cannot read /proc/self/pagemap");
	snprintf(head, sizeof(head), "pid=%d tid=%d why=checkpoint%s", pid, tid, cps->shared ? " shared=1" : "");
	snprintf(path, sizeof(path), "%s.%d.%u.pages", cps->prefix, pid, cps->nr);
	if (snapshot_write(cps->pages, path, head))
		wl_die("cannot write %s", path);
}

/* Takes one. 0, or the end of the program: a test that misses a checkpoint is no test. */
static int checkpoint(struct checkpoints *cps)
{
	int pid = syscall(SYS_getpid), tid = syscall(SYS_gettid);
	struct iovec iov[2];
	uint64_t t0, t1;
	char head[128];
	ssize_t len;

	len = checkpoint_read(cps->text, sizeof(cps->text), &t0, &t1);
	if (len < 0)
		wl_die("cannot read /proc/self/maps");
	iov[0].iov_base = head;
	iov[0].iov_len = snprintf(head, sizeof(head), "# t0=%llu t1=%llu pid=%d tid=%d\n", (unsigned long long)t0,
				  (unsigned long long)t1, pid, tid);
	iov[1].iov_base = cps->text;
	iov[1].iov_len = len;
	snprintf(cps->path, sizeof(cps->path), "%s.%d.%u.maps", cps->prefix, pid, cps->nr);
	if (checkpoint_write(cps->path, iov))
		wl_die("cannot write %s", cps->path);
	if (cps->pages)
		checkpoint_pages(cps, pid, tid);
	if (cps->verbose)
		dprintf(STDOUT_FILENO, "checkpoint %s pid=%d tid=%d t0=%llu bytes=%zd\n", cps->path, pid, tid,
			(unsigned long long)t0, len);
	cps->nr++;
	return 0;
}

#endif
