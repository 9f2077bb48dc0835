/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit/: names of code that JIT compilers made.
 *
 *     jit.h       of the jitdump files that recorded processes had mapped
 *     dump.h      such a file
 *     perf_map.h  of /tmp/perf-PID.map
 *     content.h   how these files are recognized
 *
 * A compiler maps its jit-PID.dump for execution, only to tell the name. It is read if it is that file still: of the recorded
 * device and inode; or one from elsewhere with the content that the recording noted.
 */
#ifndef PFS_JIT_H
#define PFS_JIT_H

#include "event/event.h"
#include "event/notes.h"
#include "jit/content.h"
#include "jit/dump.h"

struct pfs_jit;

struct pfs_jit *pfs_jit_new(void); /* NULL: no memory */
void pfs_jit_free(struct pfs_jit *jit);

/* A descriptor of a file that may have that content (its id), which the caller closes; -1: there is none. */
typedef int pfs_jit_elsewhere_fn(void *ctx, const char *id);
/* Where jitdumps are if they are not in their places. Before the first event. */
void pfs_jit_set_elsewhere(struct pfs_jit *jit, pfs_jit_elsewhere_fn *open, void *ctx);

/* ".../jit-4711.dump" */
bool pfs_is_jitdump(const char *path);

/* The note JIT_FILE says: *pid is 0 for a jitdump, else dev and ino are 0. False: it is another note. */
struct pfs_jit_file {
	struct pfs_jit_content content;
	int32_t pid;  /* of a perf map */
	uint32_t dev; /* of a jitdump */
	uint64_t ino;
};
bool pfs_jit_file_read(struct pfs_jit_file *file, const char *key, const char *value);
/* Passes that note. What put() returned. */
int pfs_jit_file_note(const struct pfs_jit_file *file, pfs_note_fn *put, void *ctx);

/* Receives each event but faults; pid: of its process, 0 unknown. 0 or -ENOMEM. */
int pfs_jit_event(struct pfs_jit *jit, const struct pfs_event *ev, int32_t pid);

/*
 * A number that changes with time when an address of the process has another name from then on. Files are read when it is asked
 * for first. 0 or -ENOMEM.
 */
int pfs_jit_epoch(struct pfs_jit *jit, int32_t pid, uint64_t ts_ns, uint64_t *epoch);

/* All events were received: files that have grown since they were read are read again. */
void pfs_jit_refresh(struct pfs_jit *jit);

/* What was at that address at that time; place->func is NULL if that is unknown. 0 or -ENOMEM. */
int pfs_jit_find(struct pfs_jit *jit, int32_t pid, uint64_t addr, uint64_t ts_ns, struct pfs_jit_place *place);

/* As pfs_symbolizer_problem(). */
bool pfs_jit_problem(const struct pfs_jit *jit, unsigned int *at, char *buf, size_t size);

#endif
