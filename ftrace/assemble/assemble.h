/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From raw events to pfscope events: pairs system calls, follows fork and exec, attributes changes of the region tree
 * to processes.
 *
 * The one consumer of both readers (binary and text), so that the same run looks the same through either. It keeps no
 * layout: it passes facts on, and the model adds them up. The room has no other public header.
 */
#ifndef PFS_ASSEMBLE_H
#define PFS_ASSEMBLE_H

#include "event/event.h"
#include "record/raw.h"

struct pfs_assembler;

struct pfs_assembler_stats {
	uint64_t raw;		 /* raw events taken in */
	uint64_t other;		 /* of kinds that pfscope does not use */
	uint64_t foreign_rows;	 /* region-tree rows of unknown processes */
	uint64_t unpaired_exits; /* system calls whose beginning is not in the recording */
};

/*
 * Events go to `sink` in the order of the raw events. Where handlers are watched, a fault is passed on when its
 * handler has returned, so that only the order within its thread stays. NULL: no memory.
 */
struct pfs_assembler *pfs_assembler_new(const struct pfs_sink *sink);
void pfs_assembler_free(struct pfs_assembler *assembler);

/* Takes one raw event; a raw_event_fn (ctx is the assembler). 0 or what the sink returned. */
int pfs_assembler_feed(void *assembler, const struct raw_event *raw);

/* Takes runs of page faults, as a raw_faults_fn does; equivalent to feeding them one by one. */
int pfs_assembler_faults(void *assembler, struct pfs_fault_run *runs, unsigned int nr);

/* The stream has ended: passes on the pending faults. 0 or what the sink returned. */
int pfs_assembler_finish(struct pfs_assembler *assembler);

/*
 * A header fact of the recording from outside the stream ("machine", "clock", ...): taken in,
 * and passed on as a note before the first event. 0 or -ENOMEM.
 */
int pfs_assembler_header(struct pfs_assembler *assembler, const char *key, const char *value);

/*
 * Where to look up the name of a thread that no record has named, once per thread. name() returns NULL for unknown
 * ones; the string is borrowed for the call.
 */
void pfs_assembler_set_names(struct pfs_assembler *assembler, const char *(*name)(void *ctx, int32_t tid), void *ctx);

/*
 * Where to look up the function of a call site of a kernel object, once per site; without it they have no names. NULL:
 * unknown; *start: the function's first address.
 */
void pfs_assembler_set_functions(struct pfs_assembler *assembler,
				 const char *(*function)(const void *ctx, uint64_t addr, uint64_t *start),
				 const void *ctx);

/*
 * The recording may have the user's stack behind each event: the first fault waits for what comes next. Recordings of
 * pfscope's own say whether they have. 0 or -ENOMEM.
 */
int pfs_assembler_may_have_stacks(struct pfs_assembler *assembler);

/* Names the process of a thread from outside the stream (a table in the file), before its first event. 0 or -ENOMEM. */
int pfs_assembler_thread(struct pfs_assembler *assembler, int32_t tid, int32_t pid);

/* Does a fault's error code report read, write and execute on that machine (uname -m)? */
bool pfs_machine_has_access(const char *machine);

const struct pfs_assembler_stats *pfs_assembler_stats(const struct pfs_assembler *assembler);

#endif
