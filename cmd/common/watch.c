/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop of the screen: events, signals, keys. See watch_priv.h. */
#include "common/watch_priv.h"

#include "base/clock.h"
#include "base/units.h"
#include "common/command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void pause_here(struct watch *w)
{
	terminal_leave(&w->terminal);
	raise(SIGSTOP);
	terminal_enter(&w->terminal);
	w->clock_ns = 0;
}

static void on_signals(struct watch *w)
{
	struct signalfd_siginfo info;

	while (read(w->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		w->redraw = true;
		w->next_draw_ns = 0;
		if (info.ssi_signo == SIGTSTP)
			pause_here(w);
		if (info.ssi_signo == SIGTSTP || info.ssi_signo == SIGCONT || info.ssi_signo == SIGWINCH)
			continue;
		w->quit = true;
		w->status = 128 + info.ssi_signo;
	}
}

static int open_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Until when nothing is to do unless something comes. */
static int timeout_ms(const struct watch *w, int more)
{
	uint64_t now = pfs_now_ns();

	if (more)
		return 0;
	if (w->changed && w->next_draw_ns <= now)
		return 0;
	return watch_stands(w) || w->complete ? (w->changed ? 20 : 500) : 50;
}

static int look(struct watch *w, int more)
{
	struct pollfd fds[] = {
		{ w->terminal.in, POLLIN, 0 },
		{ w->signal_fd, POLLIN, 0 },
		{ w->ended ? -1 : w->config->ended_fd, POLLIN, 0 },
	};
	int key;

	if (poll(fds, 3, timeout_ms(w, more)) < 0 && errno != EINTR)
		return -errno;
	on_signals(w);
	w->ended |= fds[2].revents;
	w->changed |= fds[2].revents;
	if (fds[0].revents & (POLLHUP | POLLERR))
		w->quit = true;
	while (!w->quit && (key = terminal_key(&w->terminal))) {
		if (key < 0)
			return key;
		watch_key(w, key);
	}
	return 0;
}

/* What came before nothing more could come is there to be seen until the user leaves; where nothing came, nothing is. */
static bool nothing_came(const struct watch *w)
{
	return w->complete && !w->now->pipeline.model->nr_events;
}

static int loop(struct watch *w)
{
	int more = 0, err = 0;
	bool was_complete;

	while (!err && !w->quit) {
		watch_play(w);
		was_complete = w->complete;
		more = watch_feed(w);
		if (more < 0 || nothing_came(w))
			return more;
		w->changed |= w->complete != was_complete || (!watch_stands(w) && !w->complete);
		if (w->redraw || (w->changed && w->next_draw_ns <= pfs_now_ns()) || (w->complete && !was_complete))
			err = watch_draw(w);
		if (!err)
			err = look(w, more);
	}
	return err;
}

static bool has_utf8(void)
{
	const char *locale = getenv("LC_ALL");

	if (!locale || !*locale)
		locale = getenv("LC_CTYPE");
	if (!locale || !*locale)
		locale = getenv("LANG");
	return locale && (strcasestr(locale, "utf-8") || strcasestr(locale, "utf8"));
}

static int open_all(struct watch *w)
{
	int in = dup(STDIN_FILENO);
	struct pfs_sink sink;

	w->now = watch_state_new(NULL);
	w->block = malloc(WATCH_BLOCK + 1);
	if (!w->now || !w->block)
		return -ENOMEM;
	sink = pipeline_sink(&w->now->pipeline);
	w->reader = pfs_line_reader_new(&sink);
	if (!w->reader)
		return -ENOMEM;
	if (in < 0 || w->signal_fd < 0 || dup2(w->config->past_fd, STDIN_FILENO) < 0)
		return -errno;
	return terminal_init(&w->terminal, in, STDOUT_FILENO);
}

int watch(const struct watch_config *config)
{
	struct watch w = { .config = config, .step_ns = PFS_NS_PER_S, .redraw = true };
	int err;

	w.signal_fd = open_signals();
	w.screen.title = config->title;
	w.screen.color = pfs_term_color(STDOUT_FILENO, config->color);
	w.screen.utf8 = has_utf8();
	err = open_all(&w);
	if (!err) {
		terminal_enter(&w.terminal);
		err = loop(&w);
		terminal_fini(&w.terminal);
	}
	if (err)
		message("the screen ended: %s", strerror(-err));
	pfs_line_reader_free(w.reader);
	pfs_live_free(&w.lines);
	watch_state_free(w.past);
	watch_state_free(w.now);
	free(w.block);
	return err ? EXIT_FAILED : w.status;
}
