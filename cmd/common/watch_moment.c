/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events become the present moment, as they come or at the speed of a replay. A moment of the past is made of the same
 * lines by the reader of every recording, as `--at` does it.
 */
#include "common/watch_priv.h"

#include "base/clock.h"
#include "base/units.h"
#include "base/write_all.h"
#include "common/reading.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS	   UINT64_C(1000000)
#define FEED_NS	   (50 * MS)   /* the longest that events are taken in before keys are looked at */
#define PATIENT_NS (1000 * MS) /* a key ends the making of a past moment that takes longer */

/* ---- states ---- */

void watch_state_free(struct state *s)
{
	if (!s)
		return;
	pfs_moment_fini(&s->moment);
	pipeline_fini(&s->pipeline);
	free(s);
}

struct state *watch_state_new(const struct pfs_time *at)
{
	struct state *s = calloc(1, sizeof(*s));
	struct pfs_err err;

	if (!s)
		return NULL;
	if (at)
		s->filter.at = *at;
	if (pipeline_init(&s->pipeline, &s->filter, PFS_EXPORT_NONE, NULL, &err)) {
		free(s);
		return NULL;
	}
	pfs_moment_init(&s->moment, s->pipeline.model);
	pipeline_observe(&s->pipeline, pfs_moment_observer(&s->moment));
	return s;
}

struct state *watch_shown(const struct watch *w)
{
	return w->past ? w->past : w->now;
}

bool watch_stands(const struct watch *w)
{
	return w->frozen || w->past;
}

/* ---- the present ---- */

/* The time at the beginning of a line "6431.215 fault ..."; 0: it has none. */
static uint64_t time_of(const char *line)
{
	char word[32];
	size_t len = strcspn(line, " \n");
	uint64_t ns;

	snprintf(word, sizeof(word), "%.*s", (int)(len < sizeof(word) ? len : 0), line);
	return isdigit((unsigned char)*word) && pfs_seconds_parse(word, &ns) ? ns : 0;
}

/* How much of the block a replay has come to: whole lines. */
static size_t played(struct watch *w, const char *block, size_t len)
{
	size_t at = 0;

	while (at < len) {
		uint64_t ns = time_of(block + at);

		if (ns && !w->first_ns)
			w->first_ns = ns;
		if (ns > w->first_ns + w->played_ns)
			break;
		at += (const char *)memchr(block + at, '\n', len - at) + 1 - (block + at);
	}
	return at;
}

/* Takes in a block of lines. Returns whether there are more already, or -errno. */
static int feed_block(struct watch *w)
{
	ssize_t got = pfs_read_all_at(w->config->lines_fd, w->block, WATCH_BLOCK, w->read);
	const char *end = got > 0 ? memrchr(w->block, '\n', got) : NULL;
	size_t len = end ? end + 1 - w->block : 0, nr;
	int err;

	if (got < 0)
		return got;
	w->block[len] = '\0';
	nr = w->config->speed ? played(w, w->block, len) : len;
	err = pfs_line_reader_feed(w->reader, w->block, nr);
	w->read += nr;
	w->changed |= nr;
	w->complete = w->ended && nr == len && got < WATCH_BLOCK;
	return err ? err : nr && nr == len && got == WATCH_BLOCK;
}

int watch_feed(struct watch *w)
{
	uint64_t start = pfs_now_ns();
	int more = 1;

	if (watch_stands(w) || w->complete)
		return 0;
	while (more > 0 && pfs_now_ns() - start < FEED_NS)
		more = feed_block(w);
	return more;
}

void watch_play(struct watch *w)
{
	uint64_t now = pfs_now_ns();
	double ns = w->clock_ns ? (now - w->clock_ns) * w->config->speed : 0;

	w->clock_ns = now;
	if (!watch_stands(w) && ns < 1e18 && w->played_ns < UINT64_C(1) << 61)
		w->played_ns += ns;
}

void watch_clock(struct watch *w)
{
	struct pfs_moment *m = &w->now->moment;
	uint64_t now = w->complete ? 0 : w->config->speed ? w->first_ns + w->played_ns : pfs_now_ns();

	if (!watch_stands(w) && w->now->pipeline.model->nr_events && now > m->now_ns)
		m->now_ns = now;
}

/* ---- the past ---- */

struct past_reading {
	struct watch *watch;
	struct pfs_sink to;
	uint64_t start_ns;
	unsigned int nr;
};

static int past_event(void *ctx, const struct pfs_event *ev)
{
	struct past_reading *r = ctx;
	struct pollfd fds[] = { { r->watch->signal_fd, POLLIN, 0 }, { r->watch->terminal.in, POLLIN, 0 } };

	if (!(++r->nr & 0xfff) && poll(fds, pfs_now_ns() - r->start_ns > PATIENT_NS ? 2 : 1, 0) > 0)
		return -EINTR;
	return pfs_emit(&r->to, ev);
}

int watch_past(struct watch *w, uint64_t at_ns)
{
	const struct input_options options = { 0 };
	struct pfs_time at = { .ns = at_ns, .set = true };
	struct state *past = watch_state_new(&at);
	struct past_reading reading = { .watch = w, .start_ns = pfs_now_ns() };
	struct pfs_sink sink = { .fn = past_event, .ctx = &reading };
	FILE *messages = stderr, *none = fopen("/dev/null", "w");
	struct pfs_err err = { "" };
	int ret = past && none ? 0 : -ENOMEM;

	if (!ret) {
		reading.to = pipeline_sink(&past->pipeline);
		lseek(STDIN_FILENO, 0, SEEK_SET);
		stderr = none;
		ret = input_read(NULL, &options, &sink, &err);
		stderr = messages;
	}
	if (none)
		fclose(none);
	if (ret < 0) {
		watch_state_free(past);
		return ret;
	}
	past->moment.now_ns = pfs_model_base_ns(past->pipeline.model) + at_ns;
	watch_state_free(w->past);
	w->past = past;
	w->past_ns = at_ns;
	return 0;
}

uint64_t watch_since_start(const struct watch *w)
{
	uint64_t base = pfs_model_base_ns(w->now->pipeline.model);

	return w->now->moment.now_ns > base ? w->now->moment.now_ns - base : 0;
}

void watch_leave_past(struct watch *w)
{
	watch_state_free(w->past);
	w->past = NULL;
}
