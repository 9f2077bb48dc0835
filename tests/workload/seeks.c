/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Uses one open file at known times: seeks SECONDS LOG
 *
 * Each line of LOG: CLOCK_MONOTONIC in ns before and after an lseek() that moves the position.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MAX = 1000000 };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

int main(int argc, char **argv)
{
	static uint64_t times[MAX][2];
	uint64_t end_ns;
	unsigned int nr = 0;
	FILE *log;
	int fd;

	if (argc != 3)
		return 2;
	fd = open("/etc/passwd", O_RDONLY);
	if (fd < 0)
		return 1;
	end_ns = now_ns() + strtod(argv[1], NULL) * 1e9;
	for (; nr < MAX && now_ns() < end_ns; nr++) {
		times[nr][0] = now_ns();
		lseek(fd, 1 + nr % 100, SEEK_SET);
		times[nr][1] = now_ns();
		usleep(300);
	}
	log = fopen(argv[2], "w");
	if (!log)
		return 1;
	for (unsigned int i = 0; i < nr; i++)
		fprintf(log, "%lu %lu\n", (unsigned long)times[i][0], (unsigned long)times[i][1]);
	return fclose(log) ? 1 : 0;
}
