/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal as a full screen: its other buffer, single keys, only the lines that have changed. Colours are SGR sequences
 * as everywhere; what it needs beyond them every terminal of today has (ECMA-48, and xterm's other buffer).
 */
#ifndef CMD_TERMINAL_H
#define CMD_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct terminal {
	int in, out;
	struct termios before;
	char **lines; /* as they are on the screen */
	unsigned int nr_lines;
	char keys[32]; /* read and not yet taken */
	size_t nr_keys;
	bool on;
};

enum terminal_key {
	KEY_NONE = 0, /* other keys are characters */
	KEY_ENTER = '\n',
	KEY_ESCAPE = '\033',
	KEY_BACKSPACE = 127,
	KEY_UP = 256,
	KEY_DOWN,
	KEY_RIGHT,
	KEY_LEFT,
	KEY_HOME,
	KEY_END,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_OTHER,
};

/* Remembers how the terminal is. 0, or -errno: it is none. */
int terminal_init(struct terminal *t, int in, int out);

/* Switches to the full screen, and back: the terminal is as before. Both may be called again. */
void terminal_enter(struct terminal *t);
void terminal_leave(struct terminal *t);
void terminal_fini(struct terminal *t);

/* Whether somebody who has entered it, another process, has not left it. */
bool terminal_is_entered(const struct terminal *t);

/* Shows the lines of the text from the top on; redraw: all of them. */
void terminal_show(struct terminal *t, const char *text, bool redraw);

/* The next key, or KEY_NONE: none was pressed. -errno: the terminal is gone. */
int terminal_key(struct terminal *t);

#endif
