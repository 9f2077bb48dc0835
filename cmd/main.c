/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope: finds the command in its table and calls it. Each command is in the file of its name.
 */
#include "base/nearest.h"
#include "common/command.h"
#include "common/pager.h"

#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name, *what; /* what: one line for `pfscope --help' */
	int (*main)(int argc, char **argv);
} commands[] = {
	{ "run", "record a command and draw its bars when it ends", cmd_run },
	{ "attach", "record running processes until they end or Ctrl-C", cmd_attach },
	{ "top", "show the faults of processes, or of a recording, on a full screen", cmd_top },
	{ "render", "draw the bars of a recording", cmd_render },
	{ "events", "print the events of a recording, one per line", cmd_events },
	{ "maps", "print the memory layout at a point in time, like /proc/PID/maps", cmd_maps },
	{ "pages", "print which pages are mapped at a point in time, like /proc/PID/pagemap", cmd_pages },
	{ "report", "print tables by process, region and file; compare with the kernel's counts", cmd_report },
	{ "diff", "compare recordings; fail by conditions on what changed", cmd_diff },
	{ "tape", "print the page reference string, for simulators and prefetchers", cmd_tape },
	{ "mrc", "print miss ratio curves and working sets", cmd_mrc },
	{ "plot", "plot touches by time and address as text, SVG, PNG, PDF or HTML", cmd_plot },
	{ "export", "write a recording for Firefox Profiler, Perfetto, pprof and other viewers", cmd_export },
	{ "archive", "pack the files that a recording's names come from, for another machine", cmd_archive },
	{ "kmap", "record kernel objects, and print who allocated and freed them", cmd_kmap },
	{ "clean", "remove what killed pfscopes left in the kernel", cmd_clean },
	{ "doctor", "check what can be recorded here, and how to enable the rest", cmd_doctor },
	{ "stap", "print the SystemTap script, check its probes, build its module", cmd_stap },
};
#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int usage(FILE *out, int status)
{
	fputs("Usage: pfscope [--no-pager] COMMAND [OPTION...] [ARG...]\n"
	      "Record the page faults and the memory regions of processes, and show for each region\n"
	      "which of its pages were touched, when, how and by which thread.\n\n",
	      out);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].what);
	fputs("\n"
	      "Examples:\n"
	      "  sudo pfscope run -- python3 -c 'import json'   draw the bars of a command\n"
	      "  sudo pfscope run -o py.dat -- python3 app.py   also keep the recording\n"
	      "  sudo pfscope attach -d 5 1234                  record a running process for 5 s\n"
	      "  pfscope render --at 0.25 py.dat                draw the state after 0.25 s\n"
	      "\n"
	      "See `pfscope COMMAND --help` for the options of a command, and `man pfscope`.\n",
	      out);
	return status;
}

static int table(void)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		printf("%s\t%s\n", commands[i].name, commands[i].what);
	return EXIT_OK;
}

/* A mapped recording or tape has lost the bytes that are being read. Output gets its name only at the end. */
static void bus_error(int signal)
{
	static const char text[] = "pfscope: a file was truncated while it was being read, or cannot be read\n";

	(void)signal;
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(EXIT_FAILED);
}

/* A limit on the size of files (ulimit -f) makes the write fail with EFBIG, which is reported like a full disk. */
static void size_limit(int signal)
{
	(void)signal;
}

/* The command inherits what is ignored, and not the handler. */
static void handle(int sig, void (*handler)(int))
{
	if (signal(sig, handler) == SIG_IGN)
		signal(sig, SIG_IGN);
}

int main(int argc, char **argv)
{
	struct pfs_nearest near;
	char name[64];

	handle(SIGBUS, bus_error);
	handle(SIGXFSZ, size_limit);
	argp_err_exit_status = EXIT_USAGE;
	argp_program_version = "pfscope " PFS_VERSION;
	if (argc > 1 && !strcmp(argv[1], "--no-pager")) {
		pager_never();
		argv[1] = argv[0];
		argv++;
		argc--;
	}
	if (argc < 2)
		return usage(stderr, EXIT_USAGE);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "-?"))
		return usage(stdout, EXIT_OK);
	if (!strcmp(argv[1], "--help=table")) /* for completion/generate */
		return table();
	if (!strcmp(argv[1], "help")) {
		if (argc == 2)
			return usage(stdout, EXIT_OK);
		argv[1] = argv[2];
		argv[2] = "--help";
		argc = 3;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts(argp_program_version);
		return EXIT_OK;
	}
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		snprintf(name, sizeof(name), "pfscope %s", commands[i].name);
		argv[1] = name;
		return commands[i].main(argc - 1, argv + 1);
	}
	near = (struct pfs_nearest){ .word = argv[1], .most = 2 };
	for (size_t i = 0; i < NR_COMMANDS; i++)
		pfs_nearest_try(&near, commands[i].name);
	if (near.name)
		message("%s: no such command; did you mean `%s`? (see `pfscope --help`)", argv[1], near.name);
	else
		message("%s: no such command (see `pfscope --help`)", argv[1]);
	return EXIT_USAGE;
}
