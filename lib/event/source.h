/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A live source of events: what `run` and `attach` need of one, as a table of operations.
 *
 * ftrace/capture/source.c, stap/session/session.c and perf/faults/source.c are the three; cmd/common/sources.c lists
 * them. A source owns its options and declares its capabilities, so no command and no other source names it. All
 * operations that return int return 0, or -errno with err set.
 */
#ifndef PFS_SOURCE_H
#define PFS_SOURCE_H

#include "base/err.h"
#include "event/event.h"
#include "event/notes.h"

#include <argp.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What not every source can do. Each is a bit. */
enum pfs_source_can {
	PFS_CAN_COUNT = 1,	/* have the kernel count the faults of a launched process, too */
	PFS_CAN_USER = 2,	/* record all processes of a user */
	PFS_CAN_COMM = 4,	/* record all processes of a name */
	PFS_CAN_OBJECTS = 8,	/* record kernel objects instead of faults */
	PFS_CAN_FP = 32,	/* record stacks: by frame pointers */
	PFS_CAN_DWARF = 64,	/* ... from dumps of the stack */
	PFS_IS_FOR_DWARF = 128, /* ... and is chosen for that */
	PFS_CAN_SPACE = 16,	/* be used inside a PID namespace: its process numbers are those of there */
};

/* The kernel objects that are recorded instead of faults. Frees, by whatever process, are recorded always. */
struct pfs_object_choice {
	bool all;	   /* of all processes: those that are added are not noted */
	bool pages;	   /* pages, too */
	bool stacks;	   /* from where they are allocated, too */
	const char *cache; /* a glob for the names of caches; NULL: any, and kmalloc() */
	uint64_t min, max; /* bytes requested; max 0: no limit */
	const char *watch; /* whose accesses to see: "cache=GLOB", "site=FUNCTION" or "random"; NULL: none */
	uint64_t watch_ns; /* how long one choice is watched */
	bool watch_every;  /* ... as the user wants it */
};

/* What may be asked of a recording of objects while it runs. */
enum pfs_control { PFS_CONTROL_STATS, PFS_CONTROL_PAUSE, PFS_CONTROL_RESUME, PFS_CONTROL_CLEAR };

/* What came of it, and what is recorded so far. */
struct pfs_control_result {
	bool changed; /* else it was paused or not already */
	bool paused;
	uint64_t events, bytes, lost;
	uint64_t whole_ns, paused_ns; /* since the start, or since it was cleared; of which it was paused */
	uint64_t pause_ns;	      /* resume: the pause that is over */
	uint64_t dropped;	      /* clear: events */
	unsigned int nr_pauses;
};

/* How the stacks of faults are recorded. */
enum pfs_stack_how { PFS_STACK_NONE, PFS_STACK_FP, PFS_STACK_DWARF };

/* What every source is asked for. What it points at is borrowed until the source is closed. */
struct pfs_source_config {
	const void *options;	     /* the source's own, see set_option() */
	const struct pfs_sink *live; /* receives the events as they come, until it returns -ECANCELED; or NULL */
	unsigned int buffer_kb;	     /* of a CPU's buffer; 0: the source's default */
	bool to_file;		     /* write() will be called */
	enum pfs_stack_how stack;    /* of each fault, if the source can (PFS_CAN_FP, PFS_CAN_DWARF) */
	bool no_follow;		     /* the processes that are added, not their children */
	bool count;		     /* the kernel's own count of faults, too (PFS_CAN_COUNT) */
	bool all_of_user;	     /* every process of uid, also those that start later (PFS_CAN_USER) */
	uid_t uid;
	const struct pfs_object_choice *objects; /* PFS_CAN_OBJECTS; NULL: faults */
	bool may_hide;				 /* want_hiding() may be called */
	struct pfs_live *hides_for;		 /* records, while this one only hides pages (hides()); or NULL */
	const char *marks;			 /* then: of hides_for, where faults on hidden pages are marked */
	bool is_32bit;				 /* the program that is launched is a 32-bit one */
	const char *comm;			 /* every process of that name (PFS_CAN_COMM); or NULL */
	uint64_t owner;				 /* of what is made in the kernel, see os/owner.h */

	bool (*give_up)(void *ctx);		     /* polled during long work: does the user want to stop? */
	void (*report)(void *ctx, const char *line); /* progress and refusals, a line each */
	void *ctx;				     /* of both */
	void (*leftovers)(void); /* removes what dead pfscopes left beside the source; called once it runs, if ever */
};

/* How pages are hidden: a write to the file does it; then it has the number of processes and of pages that were accessible. */
struct pfs_hiding {
	char file[128];	     /* root's; it exists from start() on */
	const char *regions; /* whose pages these are */
};

/* An open source; each source's own struct begins with one. */
struct pfs_live {
	const struct pfs_source *source;
};

struct pfs_source {
	const char *name; /* as --source takes it */

	const struct argp_option *options; /* ends with a row of zeroes */
	size_t options_size;		   /* of the struct that set_option() fills in; zeroes at first */

	unsigned int can; /* enum pfs_source_can */

	/* One option. err holds only what is wrong with arg ("must be ..."); the caller names both. */
	int (*set_option)(void *options, int key, const char *arg, struct pfs_err *err);

	/* Refuses options that contradict each other or the rest. Called before open(). */
	int (*check)(const struct pfs_source_config *config, struct pfs_err *err);

	/* Could the caller record here? Leaves nothing behind. 0, or -errno with err set to why not and what to do. */
	int (*usable)(struct pfs_err *err);

	/* NULL with errno and err set. */
	struct pfs_live *(*open)(const struct pfs_source_config *config, struct pfs_err *err);

	/* Removes what was set up and forgets the recording. NULL is fine. */
	int (*close)(struct pfs_live *live, struct pfs_err *err);

	/* Adds a process that waits for its exec; a running process. Both before start(). */
	int (*launch)(struct pfs_live *live, pid_t pid, struct pfs_err *err);
	int (*attach)(struct pfs_live *live, pid_t pid, struct pfs_err *err);

	/* Records a note, dated now; ctx is the pfs_live, tid 0: about the whole recording. 0 or -ENOMEM. */
	pfs_note_fn *note;

	/*
	 * The file that lists the traced threads at any time, one number a line. Writing a number to it adds that
	 * thread. NULL: the source has no such file.
	 */
	void (*tids_file)(struct pfs_live *live, char *path, size_t size);

	/*
	 * Also records damon:damon_aggregated of a DAMON thread that is added to tids_file. Called before launch()
	 * and attach(). NULL: the source records faults only.
	 */
	void (*want_accesses)(struct pfs_live *live);

	/*
	 * A source that cannot hide pages, but records the marks of another one that hides them for it: fills in where these
	 * go. The other one is opened next, and its operations are called beside those of this one. NULL: the source cannot.
	 */
	int (*marks)(struct pfs_live *live, char *where, size_t size, struct pfs_err *err);

	/* Do its options have pages hidden, whichever source records? NULL: it cannot hide any. */
	bool (*hides)(const void *options);

	/*
	 * All present pages of the recorded processes are to be hidden again and again: fills in how that is done. Called
	 * before start(). NULL: the source cannot.
	 */
	int (*want_hiding)(struct pfs_live *live, struct pfs_hiding *hiding, struct pfs_err *err);

	/*
	 * From its return on everything that the processes do is recorded. The operations below need no
	 * privilege; they are called as the user on whose behalf pfscope records.
	 */
	int (*start)(struct pfs_live *live, struct pfs_err *err);

	/* Reads the layouts of processes that were running before start(). NULL: there is nothing to read. */
	int (*look)(struct pfs_live *live, struct pfs_err *err);

	/* Returns when there is something to drain, one of fds is ready, timeout_ms (-1: never) is over or a signal came. */
	int (*wait)(struct pfs_live *live, struct pollfd *fds, unsigned int nr_fds, int timeout_ms,
		    struct pfs_err *err);

	/*
	 * Between wait()s. A pause stops the recording of objects, not that of processes, so that these are known when it
	 * is resumed; each is noted. Clear drops the objects so far, and keeps a pause. NULL: the source can do neither.
	 */
	int (*control)(struct pfs_live *live, enum pfs_control what, struct pfs_control_result *result,
		       struct pfs_err *err);

	int (*stop)(struct pfs_live *live, struct pfs_err *err);

	/* Takes in the notes that were made after stop(). NULL: none may be made then. */
	int (*stopped_notes)(struct pfs_live *live, struct pfs_err *err);

	/* After stop(): passes on all events in order; writes the recording in the source's own file format. */
	int (*replay)(struct pfs_live *live, const struct pfs_sink *sink, struct pfs_err *err);
	int (*write)(struct pfs_live *live, int fd, struct pfs_err *err);
};

#endif
