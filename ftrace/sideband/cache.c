/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See sideband/cache.h: the helper, and pfscope's side of it. */
#include "sideband/cache.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/write_all.h"
#include "os/helper.h"
#include "os/page_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

/* A file is probed as a whole up to that offset, beyond it by the mapping: programs map their files piece by piece. */
#define MAX_WHOLE (UINT64_C(1) << 28)

/* Of a mapping, more is not probed. */
#define MAX_PROBED (UINT64_C(1) << 30)

/* A file that is mapped again is probed again only after that time. */
#define AGAIN_NS UINT64_C(2000000000)

struct request {
	uint64_t dev, ino, off, end_off;
	uint64_t start, end; /* of a mapping of it */
	int32_t pid;	     /* that has it, 0: only the name tells where the file is */
	char name[PATH_MAX];
};

/* Runs of one file, a part of them in each message. */
enum { MAX_RUNS = 256 };

struct answer {
	uint64_t dev, ino, begun_ns;
	uint32_t nr;
	bool last, failed; /* failed: there are no runs */
	struct run {
		uint64_t off, end_off;
		int16_t state, order; /* enum pfs_cached; -1: unknown */
	} run[MAX_RUNS];
};

/* ---- the helper ---- */

/* Reading those starts no process, network or device. */
static bool is_local(int fd)
{
	static const long magics[] = { EXT4_SUPER_MAGIC,     XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,
				       EROFS_SUPER_MAGIC_V1, SQUASHFS_MAGIC,  ISOFS_SUPER_MAGIC };
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if ((uint32_t)fs.f_type == (uint32_t)magics[i])
			return true;
	return false;
}

static bool is_meant(const struct request *r, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_ino == r->ino &&
	       (major(st.st_dev) << 20 | minor(st.st_dev)) == r->dev && is_local(fd);
}

/* What the path names is looked at before it is opened. */
static int open_path(const struct request *r, const char *path, int flags)
{
	int place = open(path, O_PATH | O_CLOEXEC | flags), fd = -1;
	char link[32];

	if (place < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	if (is_meant(r, place))
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOATIME | O_NOCTTY);
	close(place);
	return fd;
}

static int open_file(const struct request *r)
{
	char link[80];
	int fd = -1;

	snprintf(link, sizeof(link), "/proc/%d/map_files/%llx-%llx", r->pid, (unsigned long long)r->start,
		 (unsigned long long)r->end);
	if (r->pid)
		fd = open_path(r, link, 0);
	return fd < 0 && *r->name == '/' ? open_path(r, r->name, O_NOFOLLOW) : fd;
}

static int send_answer(struct answer *answer)
{
	size_t len = offsetof(struct answer, run) + answer->nr * sizeof(*answer->run);

	if (send(PFS_HELPER_FD, answer, len, MSG_NOSIGNAL) < 0)
		return -errno; /* pfscope has ended */
	answer->nr = 0;
	return 0;
}

static int add_run(void *ctx, const struct pfs_page_run *run)
{
	static const uint8_t states[] = {
		[PFS_PAGE_STATE_UNKNOWN] = 0,
		[PFS_PAGE_STATE_READY] = PFS_CACHE_READY,
		[PFS_PAGE_STATE_HELD] = PFS_CACHE_HELD,
		[PFS_PAGE_STATE_ABSENT] = PFS_CACHE_ABSENT,
	};
	struct answer *answer = ctx;
	int ret = answer->nr == MAX_RUNS ? send_answer(answer) : 0;

	answer->run[answer->nr++] = (struct run){ run->off, run->end_off, states[run->state], run->order };
	return ret;
}

static int probe(const struct request *r)
{
	struct answer answer = { .dev = r->dev, .ino = r->ino, .begun_ns = pfs_now_ns() };
	int fd = open_file(r);

	answer.failed = fd < 0 || pfs_page_cache_probe(fd, r->off, r->end_off, add_run, &answer);
	pfs_close(fd);
	answer.last = true;
	return send_answer(&answer);
}

/* An empty request asks for an empty answer. */
static void run_helper(void *ctx, bool again)
{
	struct request request;
	ssize_t got;

	setpriority(PRIO_PROCESS, 0, 19);
	while ((got = recv(PFS_HELPER_FD, &request, sizeof(request), 0)) > 0) {
		struct answer empty = { .last = true, .failed = true };

		request.name[PATH_MAX - 1] = '\0';
		if (got < (ssize_t)offsetof(struct request, name) || !request.ino ? send_answer(&empty)
										  : probe(&request))
			break;
	}
}

/* ---- pfscope's side ---- */

/* A file that was asked for. */
struct asked {
	struct {
		uint64_t dev, ino;
	} key;
	struct request request; /* the newest */
	uint64_t ns;
	UT_hash_handle hh;
};

struct pfs_cache {
	int fd;
	bool ended; /* the empty answer has come */
	struct asked *files;
};

struct pfs_cache *pfs_cache_open(struct pfs_err *err)
{
	struct pfs_cache *cache = calloc(1, sizeof(*cache));
	int fds[] = { -1 };
	const struct pfs_helper helper = { .name = "pfscope-cache", .fds = fds, .nr_fds = 1, .run = run_helper };
	int ret = cache ? pfs_helper_connect(&helper, err) : pfs_err_set(err, -ENOMEM, "no memory");

	if (ret < 0) {
		free(cache);
		errno = -ret;
		return NULL;
	}
	cache->fd = ret;
	return cache;
}

void pfs_cache_free(struct pfs_cache *cache)
{
	if (!cache)
		return;
	PFS_HASH_FREE(cache->files);
	pfs_close(cache->fd);
	free(cache);
}

int pfs_cache_fd(const struct pfs_cache *cache)
{
	return cache->fd;
}

/* A request that the helper has no room for is dropped: then less is known. */
static void ask(struct pfs_cache *cache, const struct request *r)
{
	size_t len = offsetof(struct request, name) + strlen(r->name) + 1;

	if (cache->fd >= 0 && send(cache->fd, r, len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno != EAGAIN) {
		close(cache->fd);
		cache->fd = -1;
	}
}

/* The entry of the mapping's file, created if there is none. NULL: no memory. */
static struct asked *asked_of(struct pfs_cache *cache, uint64_t dev, uint64_t ino)
{
	struct asked *file, new = { .key = { dev, ino } };

	HASH_FIND(hh, cache->files, &new.key, sizeof(new.key), file);
	if (file || !(file = malloc(sizeof(*file))))
		return file;
	*file = new;
	HASH_ADD(hh, cache->files, key, sizeof(file->key), file);
	if (!HASH_ADD_FAILED(file))
		return file;
	free(file);
	return NULL;
}

int pfs_cache_mapped(struct pfs_cache *cache, const struct raw_event *map)
{
	uint64_t len = map->arg[1] - map->arg[0], dev = map->arg[3], ino = map->arg[4], now = pfs_now_ns();
	uint64_t off = map->arg[2], end_off = off + (len < MAX_PROBED ? len : MAX_PROBED);
	struct asked *file;

	/* Anonymous and System V memory, and files on no device, have no such page cache. */
	if (map->kind != RAW_PFS_MAP || !(dev >> 20) || !ino || !map->str || *map->str != '/' ||
	    !(map->arg[5] & (PROT_READ | PROT_EXEC)) || strlen(map->str) >= PATH_MAX)
		return 0;
	file = asked_of(cache, dev, ino);
	if (!file)
		return -ENOMEM;
	if (end_off <= MAX_WHOLE) {
		off = 0;
		end_off = MAX_WHOLE;
	}
	if (file->ns && now < file->ns + AGAIN_NS && off >= file->request.off && end_off <= file->request.end_off)
		return 0;
	file->ns = now;
	file->request = (struct request){ .dev = dev,
					  .ino = ino,
					  .off = off,
					  .end_off = end_off,
					  .start = map->arg[0],
					  .end = map->arg[1],
					  .pid = map->tgid };
	strcpy(file->request.name, map->str);
	ask(cache, &file->request);
	return 0;
}

static int take_answer(struct pfs_cache *cache, const struct answer *answer, raw_event_fn fn, void *ctx)
{
	struct raw_event ev = raw_event_own(RAW_PFS_CACHED, pfs_now_ns(), 0);
	int ret = 0;

	cache->ended |= !answer->ino;
	for (uint32_t i = 0; !ret && !answer->failed && i < answer->nr; i++) {
		const struct run *run = &answer->run[i];
		const uint64_t arg[RAW_MAX_ARGS] = { answer->dev,
						     answer->ino,
						     run->off,
						     run->end_off,
						     run->state,
						     ev.ts_ns - answer->begun_ns,
						     answer->last && i + 1 == answer->nr,
						     run->order };

		/* Between two others, what is none is absent. */
		if (run->state == PFS_CACHE_ABSENT && i && i + 1 < answer->nr)
			continue;
		memcpy(ev.arg, arg, sizeof(arg));
		ret = fn(ctx, &ev);
	}
	return ret;
}

int pfs_cache_take(struct pfs_cache *cache, raw_event_fn fn, void *ctx)
{
	struct answer answer;
	ssize_t got;
	int ret = 0;

	while (!ret && cache->fd >= 0 && (got = recv(cache->fd, &answer, sizeof(answer), MSG_DONTWAIT)) >= 0) {
		if (got < (ssize_t)offsetof(struct answer, run) ||
		    answer.nr * sizeof(*answer.run) > got - offsetof(struct answer, run)) {
			close(cache->fd);
			cache->fd = -1;
			break;
		}
		ret = take_answer(cache, &answer, fn, ctx);
	}
	return ret;
}

int pfs_cache_finish(struct pfs_cache *cache, uint64_t stopped_ns, unsigned int patience_ms, raw_event_fn fn, void *ctx)
{
	uint64_t now = pfs_now_ns(), until = now + patience_ms * UINT64_C(1000000);
	static const struct request end;
	struct asked *file, *next;
	int ret = 0;

	HASH_ITER (hh, cache->files, file, next) {
		if (!ret && file->ns < stopped_ns) {
			ask(cache, &file->request);
			ret = pfs_cache_take(cache, fn, ctx);
		}
	}
	ask(cache, &end);
	while (!ret && !cache->ended && cache->fd >= 0 && (now = pfs_now_ns()) < until) {
		struct pollfd poll_fd = { cache->fd, POLLIN, 0 };

		poll(&poll_fd, 1, (until - now) / 1000000 + 1);
		ret = pfs_cache_take(cache, fn, ctx);
	}
	return ret;
}
