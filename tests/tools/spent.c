/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a command takes: appends a line "SECONDS CPU-SECONDS PEAK-KIB" to FILE, for the benchmark and for tests of
 * how much memory something needs. Exit status: the command's, or 127.
 *
 *     spent FILE COMMAND [ARG...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static double seconds(struct timeval tv)
{
	return tv.tv_sec + tv.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	double start = now();
	int status;
	FILE *out;
	pid_t pid;

	if (argc < 3)
		return 127;
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0)
		return 127;
	out = fopen(argv[1], "a");
	if (!out) {
		perror(argv[1]);
		return 127;
	}
	fprintf(out, "%.6f %.6f %ld\n", now() - start, seconds(usage.ru_utime) + seconds(usage.ru_stime),
		usage.ru_maxrss);
	fclose(out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}
