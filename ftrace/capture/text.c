/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture through trace_pipe: lines of text instead of ring-buffer pages (`--via=text`).
 *
 * pfscope's own records become lines in the same form, inserted by their times. Both come in order of time, but not at
 * the same time, so the newest lines wait until the side-band has caught up.
 */
#include "capture/capture_priv.h"

#include "base/array.h"
#include "base/write_all.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lines that are read before some are passed on, while they come faster than that. */
#define BACKLOG (4 << 20)

int capture_text_open(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = c->text.pipe_fd = pfs_instance_open(c->instance, "trace_pipe", O_RDONLY | O_NONBLOCK, err);

	if (ret >= 0)
		ret = c->text.spool_fd = pfs_temp_open(err);
	if (ret < 0 || !c->assembler)
		return ret < 0 ? ret : 0;
	c->text.live = pfs_text_new(capture_live_event, c, NULL);
	return c->text.live ? 0 : pfs_err_set(err, -ENOMEM, "no memory for live decoding");
}

static int put_text(struct capture_text *t, const char *text, size_t len, struct pfs_err *err)
{
	int ret = pfs_temp_write(t->spool_fd, text, len, err);

	return ret || !t->live ? ret : pfs_text_feed(t->live, text, len);
}

struct own_lines {
	struct pfs_capture *c;
	struct pfs_err *err;
};

static int put_own(void *ctx, const struct raw_event *ev)
{
	struct own_lines *own = ctx;
	char *line = pfs_records_text(ev);
	int ret = line ? put_text(&own->c->text, line, strlen(line), own->err) : -ENOMEM;

	free(line);
	return ret;
}

static int append_own(void *ctx, const struct raw_event *ev)
{
	struct own_lines *own = ctx;

	return capture_own_comes(own->c, ev, put_own, own) ?: put_own(own, ev);
}

/* Does the line end a system call or an exec, whose changes of the layout come before it? */
static bool ends_call(const struct text_columns *columns, const char *end)
{
	static const char exec[] = "sched_process_exec:";
	const char *event = columns->event;

	if ((size_t)(end - event) >= sizeof(exec) && !memcmp(event, exec, sizeof(exec) - 1))
		return true;
	return memmem(event, end - event, " -> ", 4) != NULL;
}

/*
 * The own records that come before a line, whose time trace_pipe rounds to a microsecond. Of those within the
 * microsecond none comes before it (a row of the region tree precedes the mapping that explains it) unless the line ends
 * the call that they belong to.
 */
static int put_own_before(struct own_lines *own, const struct text_columns *columns, const char *end)
{
	struct pfs_sideband *sb = own->c->sideband;
	uint64_t ts_ns = columns->ts_ns;
	int ret = pfs_sideband_flush(sb, 0, ts_ns > 500 ? ts_ns - 500 : 0, append_own, own);

	if (!ret && ends_call(columns, end))
		ret = pfs_sideband_flush(sb, columns->tid, ts_ns + 500, append_own, own);
	return ret;
}

/* Passes on the lines that came before until_ns, each behind the own records that precede it. */
static int merge_lines(struct pfs_capture *c, uint64_t until_ns, struct pfs_err *err)
{
	struct capture_text *t = &c->text;
	struct own_lines own = { c, err };
	char *line = t->carry, *end = t->carry + t->carry_len, *next;
	int ret = 0;

	for (; !ret && line < end; line = next) {
		char *newline = memchr(line, '\n', end - line);
		struct text_columns columns;
		bool event;

		if (!newline)
			break;
		next = newline + 1;
		event = text_line_columns(line, newline, &columns);
		if (event && columns.ts_ns >= until_ns)
			break;
		if (event)
			ret = put_own_before(&own, &columns, newline);
		if (!ret)
			ret = put_text(t, line, next - line, err);
		if (ret)
			break;
	}
	t->carry_len = end - line;
	memmove(t->carry, line, t->carry_len);
	if (!ret)
		ret = pfs_sideband_flush(c->sideband, 0, until_ns, append_own, &own);
	return ret;
}

int capture_text_drain(struct pfs_capture *c, uint64_t until_ns, struct pfs_err *err)
{
	struct capture_text *t = &c->text;
	ssize_t got;
	int ret = -ENOMEM;

	do {
		if (!pfs_array_reserve(t->carry, t->carry_len, t->carry_max, 1 << 16))
			goto out;
		/* One byte stays free: the line parser may look at the byte behind a line. */
		got = read(t->pipe_fd, t->carry + t->carry_len, t->carry_max - t->carry_len - 1);
		t->carry_len += got > 0 ? got : 0;
	} while (got > 0 && t->carry_len <= BACKLOG);
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		return pfs_err_set(err, -errno, "trace_pipe: %s", strerror(errno));
	ret = pfs_sideband_drain(c->sideband) ?: merge_lines(c, until_ns, err);
	if (!ret && until_ns == UINT64_MAX && got > 0)
		return capture_text_drain(c, until_ns, err);
out:
	return ret == -ENOMEM ? pfs_err_set(err, ret, "no memory for the lines of trace_pipe") : ret;
}

int capture_text_replay(struct pfs_capture *c, raw_event_fn fn, void *ctx, struct pfs_err *err)
{
	struct pfs_text *text = pfs_text_new(fn, ctx, NULL);
	char buf[1 << 16];
	ssize_t got = 1;
	int ret = 0;

	if (!text)
		return pfs_err_set(err, -ENOMEM, "no memory to read the recording");
	for (off_t at = 0; !ret && got > 0; at += got) {
		got = pfs_read_all_at(c->text.spool_fd, buf, sizeof(buf), at);
		if (got < 0)
			ret = pfs_err_set(err, got, "cannot read back: %s", strerror(-got));
		else
			ret = pfs_text_feed(text, buf, got);
	}
	if (!ret)
		ret = pfs_text_finish(text);
	pfs_text_free(text);
	return ret;
}

int capture_text_write(struct pfs_capture *c, int fd, struct pfs_err *err)
{
	off_t len = lseek(c->text.spool_fd, 0, SEEK_END);
	int ret = len < 0 ? -errno : pfs_copy_file(fd, c->text.spool_fd, len);

	return ret ? pfs_err_set(err, ret, "cannot write the recording: %s", strerror(-ret)) : 0;
}
