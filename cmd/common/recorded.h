/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recordings of run.c and attach.c, once the arguments are parsed: for them and for kmap.c. */
#ifndef CMD_RECORDED_H
#define CMD_RECORDED_H

#include "common/launch.h"
#include "common/recording.h"

struct run_args {
	struct recording_args recording;
	struct launch_without without;
	char **command;
};

struct attach_args {
	struct recording_args recording;
	uint64_t duration_ns; /* -d; 0: until the end */
	pid_t *pids;	      /* room for as many as there are arguments */
	unsigned int nr_pids;
};

/* From opening to closing, with recording_args_fini(). The exit status. */
int run_recorded(struct run_args *args);
int attach_recorded(struct attach_args *args);

#endif
