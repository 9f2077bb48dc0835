// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records one command into a trace.dat with nothing but ftrace/formats, ringwrite, own_events and
 * dat_write: to see that trace-cmd accepts what they make, and to make fixtures. Needs root.
 *
 * Buffers are emptied only when the command has ended, so it is for short commands.
 *
 *     dat_record OUT BUFFER_KB EVENT,EVENT... COMMAND [ARG...]
 *
 * "all" is every event of raw_desc.c.
 */
#include "dat/dat.h"
#include "base/write_all.h"
#include "record/merge.h"
#include "record/pfscope_records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRACING "/sys/kernel/tracing"

static char instance[256];

static void die(const char *what)
{
	fprintf(stderr, "dat_record: %s: %s\n", what, strerror(errno));
	rmdir(instance);
	exit(1);
}

static int put(const char *text, const char *fmt, ...)
{
	char path[512], file[128];
	va_list ap;
	int fd, ret;

	va_start(ap, fmt);
	vsnprintf(file, sizeof(file), fmt, ap);
	va_end(ap);
	snprintf(path, sizeof(path), "%s/%s", instance, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ret = fd < 0 ? -1 : (int)write(fd, text, strlen(text));
	if (fd >= 0)
		close(fd);
	return ret;
}

static int drain(int cpu, uint32_t page_size)
{
	char path[512], page[1 << 16];
	struct pfs_err err;
	int spool = pfs_temp_open(&err), fd;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/trace_pipe_raw", instance, cpu);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		die(path);
	while ((n = read(fd, page, page_size)) > 0)
		if (pfs_temp_write(spool, page, n, &err) < 0)
			die(err.msg);
	close(fd);
	return spool;
}

static void note(struct pfs_records *own, struct pfs_ringwrite *w, const char *text)
{
	struct raw_event ev = { .kind = RAW_PFS_NOTE, .tid = getpid(), .str = text };
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ev.ts_ns = ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
	if (pfs_records_write(own, w, &ev) < 0)
		die("own record");
}

static void enable(const char *events)
{
	for (unsigned int i = 0; i < nr_raw_descs; i++)
		if (!strcmp(events, "all") || strstr(events, raw_descs[i].name))
			put("1", "events/%s/%s/enable", raw_descs[i].system, raw_descs[i].name);
}

static void run(char **argv)
{
	int go[2];
	pid_t pid;
	char text[32];

	if (pipe2(go, O_CLOEXEC) < 0)
		die("pipe");
	pid = fork();
	if (!pid) {
		if (read(go[0], text, 1) < 0)
			_exit(126);
		execvp(argv[0], argv);
		_exit(127);
	}
	snprintf(text, sizeof(text), "%d", pid);
	put(text, "set_event_pid");
	put("1", "options/event-fork");
	put("1", "tracing_on");
	if (write(go[1], "x", 1) < 0)
		die("pipe");
	waitpid(pid, NULL, 0);
	put("0", "tracing_on");
}

int main(int argc, char **argv)
{
	struct pfs_formats *f = pfs_formats_new_host();
	int cpus = sysconf(_SC_NPROCESSORS_CONF), out, ret;
	struct pfs_dat_content content = {
		.formats = f, .page_size = 4096, .nr_cpus = cpus, .clock = "mono", .version = "dat_record"
	};
	struct pfs_dat_task task = { getpid(), "dat_record" };
	int *spools = calloc(cpus, sizeof(*spools));
	struct pfs_err err = { "" };
	struct pfs_ringwrite *w;
	struct pfs_records own;

	if (argc < 5)
		return 2;
	snprintf(instance, sizeof(instance), TRACING "/instances/dat-record-%d", getpid());
	if (mkdir(instance, 0700) < 0)
		die(instance);
	put("0", "tracing_on");
	put("mono", "trace_clock");
	put(argv[2], "buffer_size_kb");
	if (pfs_formats_load_events(f, instance, NULL, NULL, &err) || pfs_formats_load_headers(f, instance, &err) ||
	    pfs_records_init(&own, f) < 0)
		die(err.msg);
	content.own_fd = pfs_temp_open(&err);
	w = pfs_ringwrite_new(content.own_fd, &f->ring, content.page_size);
	enable(argv[3]);
	note(&own, w, "source=dat_record");
	run(argv + 4);
	note(&own, w, "end=a\\b\n c");
	pfs_ringwrite_flush(w);
	pfs_ringwrite_free(w);
	for (int i = 0; i < cpus; i++)
		spools[i] = drain(i, content.page_size);
	content.spool_fds = spools;
	content.tasks = &task;
	content.nr_tasks = 1;
	out = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ret = out < 0 ? -errno : pfs_dat_write(out, &content, &err);
	if (ret < 0)
		fprintf(stderr, "dat_record: %s\n", out < 0 ? strerror(errno) : err.msg);
	pfs_formats_free(f);
	free(spools);
	rmdir(instance);
	return ret < 0;
}
