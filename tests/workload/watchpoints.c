/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds hardware watchpoints of all CPUs until its standard input ends: watchpoints NR
 *
 * Prints a line when it has them.
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t word;

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
	char byte;

	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		for (int nr = atoi(argc > 1 ? argv[1] : "4"); nr > 0; nr--)
			if (syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0) < 0) {
				perror("perf_event_open");
				return 1;
			}
	puts("held");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}
