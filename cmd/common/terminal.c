/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/terminal.h"

#include "base/array.h"
#include "base/write_all.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A key that begins with ESC comes at once; the key ESC comes alone. */
#define ESCAPE_MS 25

static const char enter[] = "\033[?1049h\033[?25l\033[?7l\033[2J", leave[] = "\033[0m\033[?7h\033[?25h\033[?1049l";

int terminal_init(struct terminal *t, int in, int out)
{
	*t = (struct terminal){ .in = in, .out = out };
	return tcgetattr(in, &t->before) ? -errno : 0;
}

static void forget(struct terminal *t)
{
	for (unsigned int i = 0; i < t->nr_lines; i++)
		free(t->lines[i]);
	free(t->lines);
	t->lines = NULL;
	t->nr_lines = 0;
}

/* Ctrl-C and Ctrl-Z stay signals. */
void terminal_enter(struct terminal *t)
{
	struct termios raw = t->before;

	raw.c_lflag &= ~(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	tcsetattr(t->in, TCSADRAIN, &raw);
	pfs_write_all(t->out, enter, sizeof(enter) - 1);
	forget(t);
	t->on = true;
}

void terminal_leave(struct terminal *t)
{
	if (!t->on)
		return;
	t->on = false;
	pfs_write_all(t->out, leave, sizeof(leave) - 1);
	tcsetattr(t->in, TCSAFLUSH, &t->before);
}

/* Its settings come back last. */
bool terminal_is_entered(const struct terminal *t)
{
	struct termios now;

	return !tcgetattr(t->in, &now) && now.c_lflag != t->before.c_lflag;
}

void terminal_fini(struct terminal *t)
{
	terminal_leave(t);
	forget(t);
}

static bool is_shown(const struct terminal *t, unsigned int nr, const char *line, size_t len)
{
	return nr < t->nr_lines && t->lines[nr] && strlen(t->lines[nr]) == len && !memcmp(t->lines[nr], line, len);
}

static void remember(struct terminal *t, unsigned int nr, const char *line, size_t len)
{
	if (nr >= t->nr_lines) {
		char **longer = reallocarray(t->lines, nr + 1, sizeof(*longer));

		if (!longer)
			return;
		t->lines = longer;
		while (t->nr_lines <= nr)
			t->lines[t->nr_lines++] = NULL;
	}
	free(t->lines[nr]);
	t->lines[nr] = strndup(line, len); /* NULL: it is drawn again */
}

void terminal_show(struct terminal *t, const char *text, bool redraw)
{
	char *bytes = NULL;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);

	if (!out)
		return;
	if (redraw) {
		forget(t);
		fputs("\033[0m\033[2J", out);
	}
	for (unsigned int nr = 0; *text; nr++) {
		size_t len = strcspn(text, "\n");

		if (!is_shown(t, nr, text, len))
			fprintf(out, "\033[%u;1H\033[0m\033[K%.*s\033[0m", nr + 1, (int)len, text);
		remember(t, nr, text, len);
		text += len + !!text[len];
	}
	if (!fclose(out))
		pfs_write_all(t->out, bytes, size);
	free(bytes);
}

/* ---- keys ---- */

static const struct {
	const char *bytes;
	int key;
} sequences[] = {
	{ "\033[A", KEY_UP },	    { "\033[B", KEY_DOWN },	  { "\033[C", KEY_RIGHT }, { "\033[D", KEY_LEFT },
	{ "\033OA", KEY_UP },	    { "\033OB", KEY_DOWN },	  { "\033OC", KEY_RIGHT }, { "\033OD", KEY_LEFT },
	{ "\033[H", KEY_HOME },	    { "\033[F", KEY_END },	  { "\033[1~", KEY_HOME }, { "\033[4~", KEY_END },
	{ "\033[5~", KEY_PAGE_UP }, { "\033[6~", KEY_PAGE_DOWN }, { "\033[7~", KEY_HOME }, { "\033[8~", KEY_END },
	{ "\033OH", KEY_HOME },	    { "\033OF", KEY_END },
};

static int fill(struct terminal *t)
{
	ssize_t got = read(t->in, t->keys + t->nr_keys, sizeof(t->keys) - t->nr_keys);

	if (got < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	t->nr_keys += got;
	return got;
}

static void take(struct terminal *t, size_t nr)
{
	t->nr_keys -= nr;
	memmove(t->keys, t->keys + nr, t->nr_keys);
}

/* How many bytes the sequence at the beginning has: ESC [ 1 ; 5 A, ESC O A. 0: it is not whole. */
static size_t sequence_len(const struct terminal *t)
{
	size_t i = 2;

	if (t->nr_keys < 3)
		return 0;
	if (t->keys[1] == '[')
		while (i < t->nr_keys && (t->keys[i] < 0x40 || t->keys[i] > 0x7e))
			i++;
	return i < t->nr_keys ? i + 1 : t->nr_keys == sizeof(t->keys) ? t->nr_keys : 0;
}

static int sequence(struct terminal *t)
{
	struct pollfd fd = { t->in, POLLIN, 0 };
	int key = KEY_OTHER;
	size_t len;

	while (!sequence_len(t) && poll(&fd, 1, ESCAPE_MS) > 0 && fill(t) > 0)
		if (t->keys[1] != '[' && t->keys[1] != 'O')
			break;
	len = t->nr_keys > 1 && (t->keys[1] == '[' || t->keys[1] == 'O') ? sequence_len(t) : 0;
	if (!len) {
		take(t, 1);
		return KEY_ESCAPE;
	}
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++)
		if (strlen(sequences[i].bytes) == len && !memcmp(t->keys, sequences[i].bytes, len))
			key = sequences[i].key;
	take(t, len);
	return key;
}

int terminal_key(struct terminal *t)
{
	int key, ret = t->nr_keys ? 1 : fill(t);

	if (ret <= 0)
		return ret;
	if (t->keys[0] == '\033')
		return sequence(t);
	key = (unsigned char)t->keys[0];
	take(t, 1);
	return key == '\r' ? KEY_ENTER : key == '\b' ? KEY_BACKSPACE : key;
}
