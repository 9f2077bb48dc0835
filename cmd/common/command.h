/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands of the program: each is a file and a row in main.c's table. What they share, in this room:
 *
 *	message.h		messages, exit statuses, argp
 *	input.h, pipeline.h	recordings of any kind, and the way of their events: filter, model, writers
 *	reading.h, view_args.h	a command that reads a recording; the options of one that draws
 *	recording.h		what run and attach share; refault_session.h: its --refault; sources.h: its --source
 *	launch.h, stop.h	the recorded command; signals that ask to stop
 *	invoking_user.h		the user on whose behalf pfscope runs
 */
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
