/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user's wish to stop, as a descriptor to poll: signals, read one by one.
 */
#ifndef CMD_STOP_H
#define CMD_STOP_H

/* Blocks SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD and returns a descriptor for them, or -errno. */
int stop_open(void);

/* The next signal that came, 0 if there is none. */
int stop_next(int fd);

#endif
