/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a running process looks like: its threads, its break and its /proc/PID/maps, as raw events.
 *
 * It runs on meanwhile. So it is looked at several times: before anything of it is recorded (what is unmapped from
 * then on is known as it was), and afterwards, which mends what was changed unseen before the recording began.
 */
#ifndef PFS_SNAPSHOT_H
#define PFS_SNAPSHOT_H

#include "base/err.h"
#include "record/raw.h"

#include <stdint.h>
#include <sys/types.h>

/* A process to be looked at; { .pid = pid, .maps_fd = -1 } before pfs_snapshot_open(). */
struct pfs_snapshot {
	pid_t pid;
	int maps_fd;
	char *stat;	   /* the text of /proc/PID/stat */
	char *maps;	   /* of /proc/PID/maps, as it was taken; NULL: not yet */
	uint64_t taken_ns; /* when that reading began */
};

/*
 * Opens what there is to be read, while it is allowed. A process that goes over to another program after that
 * is gone for this snapshot; one that is amid that is waited for, a moment. 0, -ESRCH, or -errno with err set.
 */
int pfs_snapshot_open(struct pfs_snapshot *snapshot, struct pfs_err *err);
void pfs_snapshot_close(struct pfs_snapshot *snapshot);

/*
 * If the process has not the memory any more that was opened, what it has now is opened instead; what was taken
 * before stays. 0, -ESRCH, or -errno with err set.
 */
int pfs_snapshot_renew(struct pfs_snapshot *snapshot, struct pfs_err *err);

/*
 * Takes the text of maps, as it is from ts_ns on: from maps_fd, or from a copy (which stays the caller's). 0, -ESRCH
 * if there is none, or -errno with err set.
 */
int pfs_snapshot_take(struct pfs_snapshot *snapshot, int fd, uint64_t ts_ns, struct pfs_err *err);

/*
 * Passes the process's command line to fn, dated now, if it can be read and the memory is the one that was opened. 0 or
 * what fn returned.
 */
int pfs_snapshot_args(const struct pfs_snapshot *snapshot, raw_event_fn fn, void *ctx);

/*
 * Passes the layout to fn: the first one as it was taken, if it was, and dated then (later changes are replayed
 * over it); a later one as it is now, each piece dated at its end. 0, -ESRCH if the memory is gone, or -errno with
 * err set.
 */
int pfs_snapshot_first(const struct pfs_snapshot *snapshot, raw_event_fn fn, void *ctx, struct pfs_err *err);
int pfs_snapshot_later(const struct pfs_snapshot *snapshot, raw_event_fn fn, void *ctx, struct pfs_err *err);

/* Passes the number and the name of each thread to fn, dated ts_ns. 0, -ESRCH, or -errno with err set. */
int pfs_snapshot_tasks(pid_t pid, uint64_t ts_ns, raw_event_fn fn, void *ctx, struct pfs_err *err);

/* ---- maps_text.c: the text of /proc/PID/maps, in any pieces, as a RAW_PFS_MAP a line ---- */

/* A line is longer than any path, so a text that fills this without a newline is none of the kernel's. */
#define PFS_MAPS_TEXT_MAX (1 << 16)

struct pfs_maps_text {
	struct raw_event ev; /* of the process, dated: what the lines do not have */
	raw_event_fn fn;
	void *ctx;
	uint64_t heap_end; /* of [heap], 0 if there was none yet */
	char text[PFS_MAPS_TEXT_MAX];
	size_t len; /* of a line that is not whole yet */
};

/* Where the next bytes go, and (*room) how many may: 0 if a line is too long. Add what came to len. */
static inline char *pfs_maps_text_room(struct pfs_maps_text *maps, size_t *room)
{
	*room = sizeof(maps->text) - 1 - maps->len;
	return maps->text + maps->len;
}

/*
 * Passes on the whole lines of the text, and keeps the rest. What is no line of a region, and [vsyscall], which
 * is in no process's region tree, is passed over. 0 or what fn returned.
 */
int pfs_maps_text_lines(struct pfs_maps_text *maps);

#endif
