/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The build-ids of the files whose code recorded processes had mapped, and the content of what JIT compilers wrote for them, as
 * notes of the recording: they are read at its end, while the files are as they were.
 */
#ifndef PFS_BUILD_IDS_H
#define PFS_BUILD_IDS_H

#include "event/event.h"
#include "event/notes.h"

#include <time.h>

struct pfs_build_ids;

struct pfs_build_ids *pfs_build_ids_new(void); /* NULL: no memory */
void pfs_build_ids_free(struct pfs_build_ids *ids);

/* Takes the events of a recording: files that are mapped for execution, or made executable. */
struct pfs_sink pfs_build_ids_sink(struct pfs_build_ids *ids);

unsigned int pfs_build_ids_nr(const struct pfs_build_ids *ids); /* files */
const char *pfs_build_ids_path(const struct pfs_build_ids *ids, uint32_t dev,
			       uint64_t ino); /* NULL: none was mapped; 0, 0: "[vdso]" */

/*
 * Passes a note for the vdso, as device and inode 0; for each file that can be read here, is the recorded one and has a build-id, or is a jitdump; and for each
 * perf map of a recorded process that was written to last after that time. 0 or what put() returned.
 */
int pfs_build_ids_notes(struct pfs_build_ids *ids, struct timespec since, pfs_note_fn *put, void *ctx);

/* What such a note of a recording says: the file's device and inode (count), and its build-id (text). False: another note. */
struct pfs_note;
bool pfs_recorded_build_id(const struct pfs_note *note, struct pfs_fact *fact, uint32_t *dev);

#endif
