/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * subreaper PROGRAM [ARG...]: executes the program as a subreaper, which an exec leaves on: orphans among its descendants
 * become its children.
 */
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 2 || prctl(PR_SET_CHILD_SUBREAPER, 1)) {
		perror("subreaper");
		return 1;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
