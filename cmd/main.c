/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope: which command is meant. What each does is in the file of its name.
 */
#include "common/command.h"
#include "common/message.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

static const struct command commands[] = {
	{ "run", "record a command and show its bars when it ends", cmd_run },
	{ "attach", "record running processes until they end or Ctrl-C", cmd_attach },
	{ "render", "show the bars of a recording", cmd_render },
	{ "events", "print the events of a recording, one a line", cmd_events },
	{ "maps", "print the layout at some moment, as /proc/PID/maps does", cmd_maps },
	{ "report", "tables by process, region and file; check against the kernel's counts", cmd_report },
	{ "tape", "the page reference string, for simulators and prefetchers", cmd_tape },
	{ "mrc", "what memory of each size would have missed, and working sets", cmd_mrc },
	{ "plot", "a picture of time by address: characters, SVG, PNG, PDF or HTML", cmd_plot },
	{ "clean", "remove what a killed pfscope left in the kernel", cmd_clean },
	{ "stap", "the SystemTap source: its script, its probes, a module to take along", cmd_stap },
};
#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int usage(FILE *out, int status)
{
	fputs("Usage: pfscope COMMAND [OPTION...] [ARG...]\n"
	      "Record the page faults and the memory regions of a process, and show region by region\n"
	      "which pages were touched, when, how and by whom.\n\n",
	      out);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].what);
	fputs("\n"
	      "Examples:\n"
	      "  sudo pfscope run -- python3 -c 'import json'   bars of a command\n"
	      "  sudo pfscope run -o py.dat -- python3 app.py   the same, and keep the recording\n"
	      "  sudo pfscope attach -d 5 1234                  five seconds of a running process\n"
	      "  pfscope render --at 0.25 py.dat                a quarter of a second in\n"
	      "\n"
	      "`pfscope COMMAND --help` has the options of each, `man pfscope` the rest.\n",
	      out);
	return status;
}

int main(int argc, char **argv)
{
	char name[64];

	argp_err_exit_status = EXIT_USAGE;
	argp_program_version = "pfscope " PFS_VERSION;
	if (argc < 2)
		return usage(stderr, EXIT_USAGE);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "-?"))
		return usage(stdout, EXIT_OK);
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
	message("%s: no such command; `pfscope --help` lists them", argv[1]);
	return EXIT_USAGE;
}
