/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pager, as git has it: $PFSCOPE_PAGER, $PAGER, or less, if standard output is a terminal. less quits at once if the
 * output fits.
 */
#ifndef CMD_PAGER_H
#define CMD_PAGER_H

#include <stdio.h>

/* --no-pager */
void pager_never(void);

/* From here on standard output goes through the pager, if it is a terminal and there is one. */
void pager_start(void);

/* Waits until its user has read enough. Without a pager it does nothing. */
void pager_end(void);

/* The descriptor that tells what `out` is: its own, or that of the terminal behind the pager. */
int pager_terminal(FILE *out);

#endif
