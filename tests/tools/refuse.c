/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refuse NAME COMMAND [ARG...]: runs a command for which perf_event_open(2) fails with the error of that name, as a
 * container's filter or kernel.perf_event_paranoid makes it fail.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int nr;
	} errors[] = { { "EACCES", EACCES }, { "EPERM", EPERM }, { "ENOSYS", ENOSYS } };
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { .len = sizeof(code) / sizeof(code[0]), .filter = code };
	unsigned int i = 0;

	while (argc > 2 && i < 3 && strcmp(errors[i].name, argv[1]))
		i++;
	if (argc < 3 || i == 3) {
		fprintf(stderr, "usage: refuse EACCES|EPERM|ENOSYS COMMAND [ARG...]\n");
		return 2;
	}
	code[2].k |= errors[i].nr;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
		perror("seccomp");
		return 125;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
