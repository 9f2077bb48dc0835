/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of the program: each is a file and a row in main.c's table. */
#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

struct command {
	const char *name;
	const char *what;		    /* one line for `pfscope --help` */
	int (*main)(int argc, char **argv); /* argv[0] is "pfscope NAME"; the exit status */
};

int cmd_run(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_render(int argc, char **argv);
int cmd_events(int argc, char **argv);
int cmd_maps(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_tape(int argc, char **argv);
int cmd_mrc(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_clean(int argc, char **argv);
int cmd_stap(int argc, char **argv);

#endif
