/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture through trace_pipe: lines of text instead of ring-buffer pages (`--via text`).
 *
 * pfscope's own records become lines in the same form, put where their time says. Both come in order
 * of time, but not at the same time, so the newest lines wait until the side-band has caught up.
 */
#include "capture/capture_priv.h"

#include "base/temp_file.h"
#include "base/write_all.h"
#include "text/line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int capture_text_open(struct pfs_capture *c, struct pfs_err *err)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/trace_pipe", pfs_instance_dir(c->instance));
	c->pipe_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (c->pipe_fd < 0)
		return pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
	c->text_fd = pfs_temp_open(err);
	if (c->text_fd < 0)
		return c->text_fd;
	if (c->config.live) {
		c->live_text = pfs_text_new(c->config.live, c->config.live_ctx, NULL);
		if (!c->live_text)
			return pfs_err_set(err, -ENOMEM, "no memory for live decoding");
	}
	return 0;
}

void capture_text_close(struct pfs_capture *c)
{
	if (c->pipe_fd >= 0)
		close(c->pipe_fd);
	if (c->text_fd >= 0)
		close(c->text_fd);
	pfs_text_free(c->live_text);
	free(c->carry);
}

static int put_text(struct pfs_capture *c, const char *text, size_t len, struct pfs_err *err)
{
	int ret = pfs_temp_write(c->text_fd, text, len, err);

	if (!ret && c->live_text)
		ret = pfs_text_feed(c->live_text, text, len);
	return ret;
}

struct own_lines {
	struct pfs_capture *c;
	struct pfs_err *err;
};

static int put_own(void *ctx, const struct raw_event *ev)
{
	struct own_lines *own = ctx;
	char *line = pfs_records_text(ev);
	int ret;

	if (!line)
		return -ENOMEM;
	ret = put_text(own->c, line, strlen(line), own->err);
	free(line);
	return ret;
}

/* What a call did to a layout, it did before this line. */
static bool ends_call(const struct text_columns *columns, const char *end)
{
	static const char exec[] = "sched_process_exec:";
	const char *event = columns->event;

	if ((size_t)(end - event) >= sizeof(exec) && !memcmp(event, exec, sizeof(exec) - 1))
		return true;
	return memmem(event, end - event, " -> ", 4) != NULL;
}

/*
 * The own records that come before a line. Its time is rounded to a microsecond, which is all that
 * trace_pipe shows: of those that may be as old, none goes before it (a row of the region tree comes
 * before the mapping that explains it) unless the line ends the call that they tell of.
 */
static int put_own_before(struct own_lines *own, const struct text_columns *columns, const char *end)
{
	struct pfs_sideband *sb = own->c->sideband;
	uint64_t ts_ns = columns->ts_ns;
	int ret = pfs_sideband_flush(sb, ts_ns > 500 ? ts_ns - 500 : 0, put_own, own);

	if (!ret && ends_call(columns, end))
		ret = pfs_sideband_flush_thread(sb, columns->tid, ts_ns + 500, put_own, own);
	return ret;
}

/* Passes on the lines that came before until_ns, each behind the own records that precede it. */
static int merge_lines(struct pfs_capture *c, uint64_t until_ns, struct pfs_err *err)
{
	struct own_lines own = { c, err };
	char *line = c->carry, *end = c->carry + c->carry_len, *next;
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
			ret = put_text(c, line, next - line, err);
		if (ret)
			break;
	}
	c->carry_len = end - line;
	memmove(c->carry, line, c->carry_len);
	if (!ret)
		ret = pfs_sideband_flush(c->sideband, until_ns, put_own, &own);
	return ret;
}

static int carry_reserve(struct pfs_capture *c)
{
	size_t want = c->carry_max ? c->carry_max * 2 : 1 << 20;
	char *bigger;

	if (c->carry_max - c->carry_len > 1 << 16)
		return 0;
	bigger = realloc(c->carry, want);
	if (!bigger)
		return -ENOMEM;
	c->carry = bigger;
	c->carry_max = want;
	return 0;
}

int capture_text_drain(struct pfs_capture *c, uint64_t until_ns, struct pfs_err *err)
{
	ssize_t got = 1;
	int ret = 0;

	while (!ret && got > 0) {
		ret = carry_reserve(c);
		if (ret)
			break;
		/* One byte stays free: the line parser may look at the byte behind a line. */
		got = read(c->pipe_fd, c->carry + c->carry_len, c->carry_max - c->carry_len - 1);
		if (got > 0)
			c->carry_len += got;
		if (got > 0 && c->carry_len > 4 << 20) /* the backlog of a burst */
			break;
	}
	if (!ret && got < 0 && errno != EAGAIN && errno != EINTR)
		return pfs_err_set(err, -errno, "trace_pipe: %s", strerror(errno));
	if (!ret)
		ret = pfs_sideband_drain(c->sideband);
	if (!ret)
		ret = merge_lines(c, until_ns, err);
	if (ret == -ENOMEM)
		pfs_err_set(err, ret, "no memory for the lines of trace_pipe");
	if (!ret && until_ns == UINT64_MAX && got > 0)
		return capture_text_drain(c, until_ns, err);
	return ret;
}

static int each_block(struct pfs_capture *c, int (*fn)(void *ctx, const char *buf, size_t len), void *ctx,
		      struct pfs_err *err)
{
	char *buf = malloc(1 << 18);
	off_t at = 0;
	ssize_t got;
	int ret = 0;

	if (!buf)
		return pfs_err_set(err, -ENOMEM, "no memory to read the recording");
	while (!ret && (got = pread(c->text_fd, buf, 1 << 18, at)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			ret = pfs_err_set(err, -errno, "cannot read back: %s", strerror(errno));
		else
			ret = fn(ctx, buf, got);
		at += got;
	}
	free(buf);
	return ret;
}

static int feed_block(void *ctx, const char *buf, size_t len)
{
	return pfs_text_feed(ctx, buf, len);
}

int capture_text_replay(struct pfs_capture *c, raw_event_fn fn, void *ctx, struct pfs_err *err)
{
	struct pfs_text *text = pfs_text_new(fn, ctx, NULL);
	int ret;

	if (!text)
		return pfs_err_set(err, -ENOMEM, "no memory to read the recording");
	ret = each_block(c, feed_block, text, err);
	if (!ret)
		ret = pfs_text_finish(text);
	pfs_text_free(text);
	return ret;
}

struct to_file {
	int fd;
	struct pfs_err *err;
};

static int write_block(void *ctx, const char *buf, size_t len)
{
	struct to_file *to = ctx;
	int ret = pfs_write_all(to->fd, buf, len);

	return ret ? pfs_err_set(to->err, ret, "cannot write the recording: %s", strerror(-ret)) : 0;
}

int capture_text_write(struct pfs_capture *c, int fd, struct pfs_err *err)
{
	struct to_file to = { fd, err };

	return each_block(c, write_block, &to, err);
}
