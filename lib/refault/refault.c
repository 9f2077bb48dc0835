/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper of re-reference sampling, and pfscope's side of it. See refault.h.
 */
#include "refault/refault.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/write_all.h"
#include "os/helper.h"
#include "os/process.h"
#include "refault/idle.h"
#include "refault/zram.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Targets of DAMON's to begin with. */
#define NR_TARGETS 64

/* Shared with the successor of a killed helper, which goes on with it, and with nobody else. */
struct memory {
	struct pfs_zram zram;
	struct pfs_damon damon;
	bool ready; /* it is set up and has sent its message */
	bool begun;
};

struct message {
	enum { READY, FAILED, TICK, NOTE, STAYED, DOWN } what;
	int code;
	struct pfs_fact fact; /* of a TICK only the tick */
	struct pfs_err err;
};

struct pfs_refault {
	int fd;
	struct pfs_refault_tick *ticks; /* received and not yet taken */
	unsigned int nr_ticks, max_ticks;
	bool down; /* it has sent its last message, or is gone */
	int code;  /* how that went */
	struct pfs_err err;
};

/* ---- the helper ---- */

struct work {
	struct pfs_refault_config config;
	char tids_file[PATH_MAX];
	struct memory *memory;
	struct pfs_idle *idle; /* NULL: pages are taken away */
	struct stayed *stayed;
	unsigned int nr_stayed, max_stayed, at_stayed; /* where the next one probably is */
};

/* Pages of a region that stayed in memory, as reported last. */
struct stayed {
	pid_t pid;
	uint64_t start, end, nr;
};

/* A process at the end of an interval. */
struct target {
	pid_t pid;
	uint64_t user_ns, faults;
};

struct targets {
	struct target *at;
	unsigned int nr, max;
};

static void send_message(const struct message *message)
{
	if (send(PFS_HELPER_FD, message, sizeof(*message), MSG_NOSIGNAL) < 0) { /* pfscope has ended */
	}
}

/*
 * Takes pfscope's one word. False: it has ended, or has sent something else. It runs as the user, who may have taken it over:
 * the worst that such a pfscope can do is to end the cycles.
 */
static bool is_told_to_go_on(int flags)
{
	char word[2];

	return TEMP_FAILURE_RETRY(recv(PFS_HELPER_FD, word, sizeof(word), flags)) == 1 && *word == 'g';
}

/*
 * Returns true if pfscope asks the helper to stop or has ended; waits for that until until_ns. Words to go on were for a
 * helper that was killed.
 */
static bool over(uint64_t until_ns)
{
	struct pollfd fd = { PFS_HELPER_FD, POLLIN | POLLRDHUP, 0 };

	do {
		uint64_t now = pfs_now_ns(), left = until_ns > now ? until_ns - now : 0;
		struct timespec rest = { left / 1000000000, left % 1000000000 };

		if (ppoll(&fd, 1, &rest, NULL) > 0 && !is_told_to_go_on(MSG_DONTWAIT))
			return true;
	} while (pfs_now_ns() < until_ns);
	return false;
}

static bool stop_asked(void *ctx)
{
	return over(0);
}

/* The process among them; NULL: it is not. */
static const struct target *target_of(const struct targets *targets, pid_t pid)
{
	for (unsigned int i = 0; i < targets->nr; i++)
		if (targets->at[i].pid == pid)
			return &targets->at[i];
	return NULL;
}

static int add_target(struct targets *targets, pid_t pid)
{
	struct target *target = pfs_array_add(targets->at, targets->nr, targets->max);
	uint64_t minor, major;

	if (!target)
		return -ENOMEM;
	pfs_process_faults(pid, &minor, &major);
	*target = (struct target){ pid, pfs_process_user_ns(pid), minor + major };
	return 0;
}

static int find_targets(const struct work *work, struct targets *targets)
{
	char *tids = pfs_read_whole_file(work->tids_file, NULL);
	pid_t not = work->memory->damon.tid;
	const char *at = tids;
	uint64_t tid;
	int ret = 0;

	targets->nr = 0;
	if (!tids)
		return -errno;
	for (; !ret && pfs_take_dec(&at, INT32_MAX, &tid); at += strspn(at, "\n")) {
		pid_t pid = (pid_t)tid == not ? 0 : pfs_process_of(tid);

		if (pid && !target_of(targets, pid))
			ret = add_target(targets, pid);
	}
	free(tids);
	return ret;
}

/* Faults and time of the processes that lived at both ends of the interval. */
static void add_up(const struct targets *before, const struct targets *now, struct pfs_refault_tick *tick)
{
	tick->user_ns = tick->faults = 0;
	for (unsigned int i = 0; i < now->nr; i++) {
		const struct target *is = &now->at[i], *was = target_of(before, is->pid);

		if (!was || was->user_ns > is->user_ns || was->faults > is->faults)
			continue;
		tick->user_ns += is->user_ns - was->user_ns;
		tick->faults += is->faults - was->faults;
	}
}

/* Where it is in the list, or NULL. Regions come in the same order each time. */
static struct stayed *find_stayed(struct work *work, pid_t pid, uint64_t start)
{
	for (unsigned int i = 0; i < work->nr_stayed; i++) {
		struct stayed *s = &work->stayed[(work->at_stayed + i) % work->nr_stayed];

		if (s->pid == pid && s->start == start) {
			work->at_stayed = s - work->stayed + 1;
			return s;
		}
	}
	return NULL;
}

/* Only what has changed is worth a message. */
static void send_stayed(void *ctx, pid_t pid, uint64_t start, uint64_t end, uint64_t pages, uint64_t nr)
{
	struct work *work = ctx;
	struct message message = { .what = STAYED, .fact = { .key = PFS_NOTE_REFAULT_STAYED, .pid = pid } };
	struct stayed *last = find_stayed(work, pid, start);

	if (!last && !nr)
		return;
	if (last && last->nr == nr && last->end == end)
		return;
	last = last ?: pfs_array_add(work->stayed, work->nr_stayed, work->max_stayed);
	if (last)
		*last = (struct stayed){ pid, start, end, nr };
	message.fact.start = start;
	message.fact.end = end;
	message.fact.tick.pages.pages = pages;
	message.fact.count = nr;
	send_message(&message);
}

static int take_away(const struct pfs_pageout_want *want, const struct targets *targets, struct pfs_pageout *pages)
{
	int ret = 0;

	pfs_pageout_begin();
	for (unsigned int i = 0; !ret && i < targets->nr; i++)
		ret = pfs_pageout_process(targets->at[i].pid, want, pages);
	return ret;
}

static int send_note(void *ctx, const struct pfs_fact *fact)
{
	const struct message message = { .what = NOTE, .fact = *fact };

	send_message(&message);
	return is_told_to_go_on(0) ? 0 : -ECANCELED;
}

static int add_tid(void *ctx, pid_t tid)
{
	const struct work *work = ctx;
	int fd = open(work->tids_file, O_WRONLY | O_APPEND | O_CLOEXEC), ret = 0;

	if (fd < 0 || dprintf(fd, "%d", tid) < 0)
		ret = -errno;
	if (fd >= 0)
		close(fd);
	return ret;
}

/* No pages are paged out: accessed bits are checked. */
static int watch(struct work *work, const struct pfs_pageout_want *want, const struct targets *targets,
		 struct pfs_pageout *pages)
{
	const struct pfs_idle_to to = { send_note, add_tid, work };
	int ret = 0;

	for (unsigned int i = 0; !ret && i < targets->nr; i++)
		ret = pfs_idle_see(work->idle, targets->at[i].pid, want, pages);
	pfs_pageout_begin(); /* DAMON leaves the bits as they are of what is not on the kernel's lists yet */
	return ret ? ret : pfs_idle_watch(work->idle, want, &to);
}

static bool is_wanted(void *ctx, const struct pfs_smap *region)
{
	const struct work *work = ctx;

	return work->config.wanted(work->config.ctx, region);
}

/* "PROCESSES PAGES" is what the file has afterwards. */
static int hide(const struct work *work, struct pfs_pageout *pages)
{
	int fd = open(work->config.hide_file, O_RDWR | O_CLOEXEC), ret = 0;
	uint64_t nr_processes = 0;
	const char *at;
	char text[64];
	ssize_t got;

	if (fd < 0 || write(fd, "1", 1) < 0) {
		ret = -errno;
	} else {
		got = pread(fd, text, sizeof(text) - 1, 0);
		text[got < 0 ? 0 : got] = '\0';
		at = text;
		if (!pfs_take_dec(&at, UINT32_MAX, &nr_processes) || *at++ != ' ' ||
		    !pfs_take_dec(&at, UINT64_MAX, &pages->pages))
			ret = -EPROTO;
	}
	pages->nr_processes = nr_processes;
	pages->away = pages->pages;
	pfs_close(fd);
	return ret;
}

/* The kernel takes the write permission of all pages: the next write to each is a fault. */
static int mark_as_clean(const struct targets *targets, struct pfs_pageout *pages)
{
	int ret = 0;

	for (unsigned int i = 0; i < targets->nr && !ret; i++) {
		char path[64], text[128];
		const char *at = text;
		uint64_t size, resident;

		snprintf(path, sizeof(path), "/proc/%d/statm", targets->at[i].pid);
		if (pfs_read_file(path, text, sizeof(text)) > 0 && pfs_take_dec(&at, UINT64_MAX, &size) &&
		    *at++ == ' ' && pfs_take_dec(&at, UINT64_MAX, &resident))
			pages->pages += resident;
		snprintf(path, sizeof(path), "/proc/%d/clear_refs", targets->at[i].pid);
		ret = pfs_write_file(path, "4");
		pages->nr_processes += !ret;
		if (ret == -ENOENT || ret == -ESRCH) /* it has ended */
			ret = 0;
	}
	return ret;
}

static int cycle(struct work *work, const struct targets *targets, struct pfs_pageout *pages)
{
	const struct pfs_pageout_want want = {
		.wanted = work->config.wanted ? is_wanted : NULL,
		.stop = stop_asked,
		.stayed = work->idle ? NULL : send_stayed,
		.ctx = work,
		.files_only = work->config.files_only,
	};

	if (work->config.method == PFS_REFAULT_HIDE)
		return hide(work, pages);
	if (work->config.method == PFS_REFAULT_SOFT_DIRTY)
		return mark_as_clean(targets, pages);
	return work->idle ? watch(work, &want, targets, pages) : take_away(&want, targets, pages);
}

/* How the next interval begins. Right after a cycle pages still return, so the first interval without one is not compared. */
static enum pfs_refault_pace pace_of(const struct work *work, uint64_t nr)
{
	unsigned int quiet = work->config.quiet;
	uint64_t left = quiet ? quiet - 1 - nr % quiet : 0;

	if (work->idle || !quiet || left > 1)
		return PFS_PACE_CYCLED;
	return left ? PFS_PACE_REST : PFS_PACE_QUIET;
}

/* One interval after the other, until the end. */
static void go_on(struct work *work)
{
	struct targets targets[2] = { 0 };
	uint64_t began_ns = pfs_now_ns(), next_ns = began_ns + work->config.interval_ns;
	struct message message = { .what = TICK,
				   .fact = { .key = PFS_NOTE_REFAULT_TICK, .tick.before = PFS_PACE_START } };
	struct pfs_refault_tick *tick = &message.fact.tick;

	find_targets(work, &targets[1]);
	for (uint64_t nr = 0; !tick->error; nr++) {
		struct targets *now = &targets[nr & 1];
		bool end = over(next_ns);
		uint64_t at_ns = pfs_now_ns(), late;

		tick->error = find_targets(work, now);
		tick->began_ns = at_ns;
		tick->wall_ns = at_ns - began_ns;
		add_up(&targets[!(nr & 1)], now, tick);
		tick->cycle = !end && pace_of(work, nr) == PFS_PACE_CYCLED;
		tick->pages = (struct pfs_pageout){ 0 };
		if (tick->cycle && !tick->error)
			tick->error = cycle(work, now, &tick->pages);
		tick->took_ns = pfs_now_ns() - at_ns;
		late = end ? 0 : (pfs_now_ns() - next_ns) / work->config.interval_ns;
		tick->skipped = work->idle ? 0 : late; /* DAMON looks at each, all the same */
		next_ns += (late + 1) * work->config.interval_ns;
		send_message(&message);
		if (end)
			break;
		tick->before = pace_of(work, nr);
		began_ns = at_ns;
	}
	free(targets[0].at);
	free(targets[1].at);
}

/* again: the helper before was killed during the set-up. */
static void set_up(struct work *work, bool again)
{
	struct message message = { .what = READY };

	if (again)
		message.code = pfs_err_set(&message.err, -EPIPE, "--refault: its helper was killed");
	else if (work->config.zram_bytes)
		message.code =
			pfs_zram_up(&work->memory->zram, work->config.zram_bytes, work->config.owner, &message.err);
	if (!message.code && work->config.method == PFS_REFAULT_IDLE)
		message.code = pfs_damon_up(&work->memory->damon, work->config.interval_ns, NR_TARGETS, &message.err);
	if (message.code)
		message.what = FAILED;
	else
		work->memory->ready = true;
	send_message(&message);
}

static void take_down(struct work *work)
{
	struct message message = { .what = DOWN };

	message.code =
		pfs_zram_down(&work->memory->zram, &message.err) ?: pfs_damon_down(&work->memory->damon, &message.err);
	send_message(&message);
}

/* The pages that a killed helper had DAMON watch are unknown. */
static int prepare(struct work *work, bool again)
{
	struct pfs_damon *damon = &work->memory->damon;
	int ret = 0;

	if (work->config.method != PFS_REFAULT_IDLE)
		return 0;
	if (again)
		ret = pfs_damon_down(damon, NULL) ?: pfs_damon_up(damon, work->config.interval_ns, NR_TARGETS, NULL);
	if (ret)
		return ret;
	work->idle = pfs_idle_new(damon, NR_TARGETS);
	return work->idle ? 0 : -ENOMEM;
}

static void refault(void *ctx, bool again)
{
	struct message failed = { .what = TICK, .fact.key = PFS_NOTE_REFAULT_TICK };
	struct work *work = ctx;

	if (!work->memory->ready)
		set_up(work, again);
	failed.fact.tick.error = work->memory->ready ? prepare(work, again) : 0;
	if (work->memory->ready && !work->memory->begun && is_told_to_go_on(0))
		work->memory->begun = true;
	if (work->memory->begun && failed.fact.tick.error)
		send_message(&failed);
	else if (work->memory->begun)
		go_on(work);
	free(work->idle);
	free(work->stayed);
	over(UINT64_MAX); /* after an error the swap device still has to be kept */
	take_down(work);
}

/* ---- pfscope's side ---- */

static int start_helper(struct pfs_refault *r, const struct pfs_refault_config *config, const char *tids_file,
			struct pfs_err *err)
{
	struct work work = { .config = *config };
	int fd = -1;

	work.memory = mmap(NULL, sizeof(*work.memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (work.memory == MAP_FAILED)
		return pfs_err_set(err, -ENOMEM, "no memory to make pages fault again");
	snprintf(work.tids_file, sizeof(work.tids_file), "%s", tids_file);
	r->fd = pfs_helper_connect(
		&(struct pfs_helper){
			.name = "pfscope-refault", .fds = &fd, .nr_fds = 1, .run = refault, .ctx = &work },
		err);
	munmap(work.memory, sizeof(*work.memory)); /* this process becomes the user's, who must not steer the helper */
	return r->fd < 0 ? r->fd : 0;
}

/* One message; waits for it unless flags have MSG_DONTWAIT. False: there is none. */
static bool take_message(struct pfs_refault *r, int flags, struct message *message)
{
	ssize_t got;

	if (r->down)
		return false;
	got = TEMP_FAILURE_RETRY(recv(r->fd, message, sizeof(*message), flags));
	if (got < 0 && errno == EAGAIN)
		return false;
	if (got != sizeof(*message)) {
		r->down = true; /* killed for good: lib/os/helper.h */
		r->code = pfs_err_set(&r->err, -EPIPE, "--refault: its helper is gone");
		return false;
	}
	if (message->what == DOWN) {
		r->down = true;
		r->code = message->code;
		r->err = message->err;
	}
	return true;
}

struct pfs_refault *pfs_refault_open(const struct pfs_refault_config *config, const char *tids_file,
				     struct pfs_err *err)
{
	struct pfs_refault *r = calloc(1, sizeof(*r));
	struct message message = { .what = FAILED };
	int ret;

	if (!r) {
		pfs_err_set(err, -ENOMEM, "no memory to make pages fault again");
		return NULL;
	}
	r->fd = -1;
	ret = start_helper(r, config, tids_file, err);
	if (!ret && take_message(r, 0, &message) && message.what == READY)
		return r;
	if (!ret)
		ret = pfs_err_set(err, message.code ? message.code : -EPIPE, "%s",
				  message.code ? message.err.msg : r->err.msg);
	pfs_refault_free(r, NULL);
	errno = -ret;
	return NULL;
}

/* The helper waits for it once at the beginning, and after each note. */
void pfs_refault_go_on(struct pfs_refault *r)
{
	if (send(r->fd, "g", 1, MSG_NOSIGNAL) < 0) { /* the helper is dead: pfs_refault_free() reports it */
	}
}

enum pfs_refault_message pfs_refault_next(struct pfs_refault *r, struct pfs_fact *fact)
{
	struct message message;

	if (r->nr_ticks) {
		*fact = (struct pfs_fact){ .key = PFS_NOTE_REFAULT_TICK, .tick = r->ticks[0] };
		memmove(r->ticks, r->ticks + 1, --r->nr_ticks * sizeof(*r->ticks));
		return PFS_REFAULT_TICK;
	}
	if (!take_message(r, MSG_DONTWAIT, &message))
		return PFS_REFAULT_NONE;
	*fact = message.fact;
	switch (message.what) {
	case TICK:
		return PFS_REFAULT_TICK;
	case NOTE:
		return PFS_REFAULT_NOTE;
	case STAYED:
		return PFS_REFAULT_STAYED;
	default:
		return PFS_REFAULT_NONE;
	}
}

int pfs_refault_fd(const struct pfs_refault *r)
{
	return r->down ? -1 : r->fd;
}

void pfs_refault_stop(struct pfs_refault *r)
{
	struct message message;

	shutdown(r->fd, SHUT_WR);
	while (take_message(r, 0, &message)) {
		struct pfs_refault_tick *kept;

		if (message.what != TICK)
			continue;
		kept = pfs_array_add(r->ticks, r->nr_ticks, r->max_ticks);
		if (kept)
			*kept = message.fact.tick;
		else
			r->code = pfs_err_set(&r->err, -ENOMEM, "no memory for what --refault did");
	}
}

int pfs_refault_free(struct pfs_refault *r, struct pfs_err *err)
{
	int ret = 0;

	if (!r)
		return 0;
	if (r->fd >= 0) {
		pfs_refault_stop(r);
		ret = r->code ? pfs_err_set(err, r->code, "%s", r->err.msg) : 0;
		close(r->fd);
	}
	free(r->ticks);
	free(r);
	return ret;
}
