/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/PID/maps, stat and task as raw events. See snapshot.h.
 */
#include "sideband/snapshot.h"

#include "base/clock.h"
#include "base/number.h"
#include "base/write_all.h"
#include "os/process.h"
#include "record/pfscope_records.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A program that is not in place by then may be on a file system that does not answer. */
#define EXEC_PATIENCE_MS 50

/* A file of /proc as a whole, the caller's to free. NULL with errno. */
static char *read_proc(pid_t pid, const char *file)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	return pfs_read_whole_file(path, NULL);
}

/* Field 47 is the start of the heap. */
static int emit_brk(const char *stat, uint64_t heap_end, const struct raw_event *ev, raw_event_fn fn, void *ctx)
{
	uint64_t start_brk = pfs_stat_field(stat, 47);

	if (!start_brk)
		return 0;
	return pfs_records_note(ev, PFS_FACT(BRK, .start = start_brk, .end = heap_end ? heap_end : start_brk), fn, ctx);
}

static int emit_step(struct pfs_maps_text *look, enum pfs_snapshot_op op, uint64_t look_ns)
{
	return pfs_records_note(&look->ev, PFS_FACT(SNAPSHOT, .op = op, .look_ns = look_ns), look->fn, look->ctx);
}

/* The end of a file that has nothing at its start either: its address space is no more. */
static bool is_gone(int fd)
{
	char byte;

	return pread(fd, &byte, 1, 0) != 1;
}

/* The text that was read, as far as there is any. */
static int emit_text(struct pfs_maps_text *look, const char *text)
{
	int err = 0;

	while (!err && *text) {
		size_t room, len;
		char *to = pfs_maps_text_room(look, &room);

		len = strnlen(text, room);
		memcpy(to, text, len);
		text += len;
		look->len += len;
		if (!len)
			return -EINVAL;
		err = pfs_maps_text_lines(look);
	}
	return err;
}

static int emit_first(struct pfs_maps_text *look, const struct pfs_snapshot *s)
{
	return emit_step(look, PFS_SNAPSHOT_FIRST, 0) ?: emit_text(look, s->maps)
		?: emit_step(look, PFS_SNAPSHOT_END, 0)
		?: emit_brk(s->stat, look->heap_end, &look->ev, look->fn, look->ctx);
}

/*
 * The kernel gives about fifty lines a read. Each piece is dated at its end, and has the time at which its read began:
 * the shorter the time, the less has changed in it.
 */
static int emit_pieces(struct pfs_maps_text *look, const struct pfs_snapshot *s)
{
	enum pfs_snapshot_op op = PFS_SNAPSHOT_LATER;
	int fd = s->maps_fd, err = 0;
	ssize_t got;

	if (fd < 0)
		return -ESRCH;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	do {
		uint64_t began = pfs_now_ns();
		bool whole = !look->len;
		size_t room;
		char *to = pfs_maps_text_room(look, &room);

		got = read(fd, to, room);
		if (got < 0)
			return -errno;
		if (!got && is_gone(fd))
			return -ESRCH;
		look->len += got;
		if (whole) {
			look->ev.ts_ns = pfs_now_ns();
			err = emit_step(look, op, began);
			op = PFS_SNAPSHOT_THEN;
		}
		if (!err)
			err = pfs_maps_text_lines(look);
	} while (!err && got > 0);
	return err ? err : emit_step(look, PFS_SNAPSHOT_END, 0);
}

/*
 * Has it an address space in which its next program is not in place yet? What is recorded of an exec is its end: to
 * in the model the regions before it are those of the program before. Field 26 is where code
 * begins, the last but one thing to be known; field 23 how large it all is, 0 for one that has ended.
 */
static bool is_amid_exec(const struct pfs_snapshot *s)
{
	return pfs_stat_field(s->stat, 23) && !pfs_stat_field(s->stat, 26);
}

static int open_once(struct pfs_snapshot *s, struct pfs_err *err)
{
	s->maps_fd = pfs_process_open(s->pid, "maps");
	if (s->maps_fd < 0)
		return pfs_err_set(err, errno == ENOENT ? -ESRCH : -errno, "/proc/%d/maps: %s", s->pid,
				   strerror(errno));
	s->stat = read_proc(s->pid, "stat");
	return 0;
}

int pfs_snapshot_open(struct pfs_snapshot *s, struct pfs_err *err)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	int ret = open_once(s, err);

	for (int i = 0; !ret && is_amid_exec(s) && i < EXEC_PATIENCE_MS; i++) {
		pfs_snapshot_close(s);
		nanosleep(&moment, NULL);
		ret = open_once(s, err);
	}
	return ret;
}

void pfs_snapshot_close(struct pfs_snapshot *s)
{
	pfs_close(s->maps_fd);
	free(s->stat);
	free(s->maps);
	*s = (struct pfs_snapshot){ .pid = s->pid, .maps_fd = -1 };
}

int pfs_snapshot_take(struct pfs_snapshot *s, int fd, uint64_t ts_ns, struct pfs_err *err)
{
	free(s->maps);
	s->maps = lseek(fd, 0, SEEK_SET) ? NULL : pfs_read_whole(fd, NULL);
	s->taken_ns = ts_ns;
	if (!s->maps)
		return pfs_err_set(err, -errno, "/proc/%d/maps: %s", s->pid, strerror(errno));
	if (*s->maps)
		return 0;
	free(s->maps);
	s->maps = NULL;
	return pfs_err_set(err, -ESRCH, "process %d: no such process", s->pid);
}

int pfs_snapshot_renew(struct pfs_snapshot *s, struct pfs_err *err)
{
	struct pfs_snapshot now = { .pid = s->pid, .maps_fd = -1 };
	int ret;

	if (s->maps_fd >= 0 && !is_gone(s->maps_fd))
		return 0;
	ret = pfs_snapshot_open(&now, err);
	if (s->maps) { /* that was of the memory before, and so is what goes with it */
		free(now.stat);
		now.stat = s->stat;
		now.maps = s->maps;
		now.taken_ns = s->taken_ns;
		s->stat = s->maps = NULL;
	}
	pfs_snapshot_close(s);
	*s = now;
	return ret;
}

int pfs_snapshot_args(const struct pfs_snapshot *s, raw_event_fn fn, void *ctx)
{
	struct raw_event ev = raw_event_own(RAW_PFS_NOTE, pfs_now_ns(), s->pid);
	char *args = s->maps_fd < 0 ? NULL : pfs_process_args(s->pid);
	int ret = 0;

	if (args && !is_gone(s->maps_fd))
		ret = pfs_records_note(&ev, PFS_FACT(ARGS, .text = args), fn, ctx);
	free(args);
	return ret;
}

static int emit(const struct pfs_snapshot *s, uint64_t ts_ns,
		int (*how)(struct pfs_maps_text *look, const struct pfs_snapshot *s), raw_event_fn fn, void *ctx,
		struct pfs_err *err)
{
	struct pfs_maps_text *look = calloc(1, sizeof(*look));
	int ret;

	if (!look)
		return pfs_err_set(err, -ENOMEM, "no memory to read a layout");
	look->ev = raw_event_own(RAW_PFS_MAP, ts_ns, s->pid);
	look->fn = fn;
	look->ctx = ctx;
	ret = how(look, s);
	if (ret)
		pfs_err_set(err, ret, "/proc/%d/maps: %s", s->pid, strerror(-ret));
	free(look);
	return ret;
}

int pfs_snapshot_first(const struct pfs_snapshot *s, raw_event_fn fn, void *ctx, struct pfs_err *err)
{
	return s->maps ? emit(s, s->taken_ns, emit_first, fn, ctx, err) : 0;
}

int pfs_snapshot_later(const struct pfs_snapshot *s, raw_event_fn fn, void *ctx, struct pfs_err *err)
{
	return emit(s, pfs_now_ns(), emit_pieces, fn, ctx, err);
}

int pfs_snapshot_tasks(pid_t pid, uint64_t ts_ns, raw_event_fn fn, void *ctx, struct pfs_err *err)
{
	struct raw_event ev = raw_event_own(RAW_PFS_TASK, ts_ns, pid);
	char path[64], file[64];
	struct dirent *entry;
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return pfs_err_set(err, -ESRCH, "process %d: no such process", pid);
	while (!ret && (entry = readdir(dir))) {
		pid_t tid = pfs_pid_parse(entry->d_name);
		char *comm;

		if (!tid)
			continue;
		snprintf(file, sizeof(file), "task/%d/comm", tid);
		comm = read_proc(pid, file);
		if (!comm)
			continue; /* it ended meanwhile */
		comm[strcspn(comm, "\n")] = '\0';
		ev.tid = tid;
		ev.arg[0] = tid;
		ev.arg[1] = pid;
		ev.str = comm;
		ret = fn(ctx, &ev);
		free(comm);
	}
	closedir(dir);
	return ret;
}
