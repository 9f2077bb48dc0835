/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds hardware watchpoints of all CPUs until its standard input ends: watchpoints NR [SECONDS]
 *
 * Prints a line when it has them; tries so long. `watchpoints try` exits with 0 if one of them reports writes.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t word;

static bool hold(struct perf_event_attr *attr, int nr)
{
	int fds[4096], nr_fds = 0, fd;

	for (int i = 0; i < sysconf(_SC_NPROCESSORS_ONLN) * nr && nr_fds < 4096; i++) {
		fd = syscall(SYS_perf_event_open, attr, -1, i / nr, -1, 0);
		if (fd >= 0) {
			fds[nr_fds++] = fd;
			continue;
		}
		fd = errno;
		while (nr_fds)
			close(fds[--nr_fds]);
		errno = fd;
		return false;
	}
	return true;
}

static bool reports(struct perf_event_attr *attr)
{
	int fd = syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
	uint64_t count = 0;

	word = 1;
	return fd >= 0 && read(fd, &count, sizeof(count)) == sizeof(count) && count;
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&word,
		.bp_len = HW_BREAKPOINT_LEN_8,
		.pinned = 1,
	};
	const char *how = argc > 1 ? argv[1] : "4";
	time_t end = time(NULL) + atoi(argc > 2 ? argv[2] : "0");
	bool held;
	char byte;

	if (!strcmp(how, "try"))
		return !reports(&attr);
	do
		held = hold(&attr, atoi(how));
	while (!held && time(NULL) < end);
	if (!held) {
		perror("perf_event_open");
		return 1;
	}
	puts("held");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}
