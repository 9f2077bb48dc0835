/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `run` and `attach` share: the options of a recording, its life cycle, its file and its bars.
 */
#ifndef CMD_RECORDING_H
#define CMD_RECORDING_H

#include "base/atomic_file.h"
#include "common/invoking_user.h"
#include "common/pipeline.h"
#include "common/view_args.h"
#include "event/refault_note.h"
#include "event/source.h"
#include "os/owner.h"
#include "os/vm_events.h"

#include <argp.h>

/* ---- live sources, and their options: --source and what each source adds ---- */

enum { NR_SOURCES = 3 };

struct source_args {
	const struct pfs_source *source; /* the chosen one; NULL before source_args_choose() */
	bool chosen;			 /* by pfscope, not by --source */
	const char *chosen_for;		 /* an option that needs it; NULL: it is what can record here */
	struct source_options {
		const struct pfs_source *source;
		void *options;	   /* of source->options_size */
		const char *given; /* the name of one that was given, or NULL */
	} of[NR_SOURCES];
};

extern const struct argp sources_argp; /* input: struct source_args */

/* Without sources_argp: the default source, without options. 0 or -ENOMEM. */
int source_args_init(struct source_args *args);

/* The source of --source, else one that is chosen; needs_root: something that only the first one does. */
const struct pfs_source *source_args_choose(struct source_args *args, bool needs_root);

/*
 * Changes to the first source that can do this, if pfscope has chosen the present one, which cannot; option: what needs it, borrowed.
 * False: no change, also if that source cannot record here.
 */
bool source_args_change(struct source_args *args, enum pfs_source_can can, const char *option);

/* Prints what the chosen source does not see, if pfscope chose it in place of the first one. */
void source_args_report(const struct source_args *args);

/*
 * The chosen source's own options. Options given for another source are an error (-EINVAL with err set), unless that is
 * `hider` (or NULL).
 */
int source_args_check(const struct source_args *args, const struct pfs_source *hider, const void **options,
		      struct pfs_err *err);

/* The one that can hide pages for the chosen source, which cannot, and its options; or NULL. */
const struct source_options *source_args_hider(const struct source_args *args);
void source_args_fini(struct source_args *args);

/*
 * Before any process is looked up: 0, or -ENOTSUP with err set where no number of a process is one of the source's.
 */
int source_check_place(const struct pfs_source *source, struct pfs_err *err);

/* The source that run and attach use without --source. NULL: none can record here; err has the reason of the first. */
const struct pfs_source *source_choose(struct pfs_err *err);

/* As --source takes it. NULL: none of that name. */
const struct pfs_source *source_named(const char *name);

/* Sets an option of the chosen source. 0 or -errno with err set: also if it has none of that name. */
int source_args_set(struct source_args *args, const char *name, const char *value, struct pfs_err *err);

/* The name of a source that can do it, for messages; or NULL. */
const char *source_that(enum pfs_source_can can);

/* Adds to err that doctor lists what the system lacks or refuses, if ret is such a failure. Returns ret. */
int see_doctor(int ret, struct pfs_err *err);

/* ---- re-reference sampling ---- */

/*
 * --refault: its options, the helper that makes pages fault again or samples accesses (lib/refault/refault.h), and the
 * notes that report what it did. Without the option all functions do nothing.
 */
struct refault_args {
	uint64_t interval_ns; /* 0: no re-reference sampling */
	enum pfs_refault_method method;
	unsigned int quiet;
	uint64_t zram_bytes;
};

extern const struct argp refault_argp; /* input: struct refault_args */

/* May the source have to hide pages? Is another one, of which options are given or not, to do it for it? */
bool refault_may_hide(const struct refault_args *args);
bool refault_hides(const struct refault_args *args, bool given);

struct refault_session {
	struct pfs_live *live;		 /* the recording's */
	struct pfs_refault *helper;	 /* NULL: no helper is needed */
	struct pfs_thread_list *threads; /* for a source without a list of its own, or NULL */
	enum pfs_refault_method method;
	struct pfs_refault_sums sums;
};

/*
 * Needs root's privileges. live and filter are borrowed; hider: of those pages that live records, may be live; owner: of what is
 * made in the kernel (os/owner.h). 0 or -errno with err set.
 */
int refault_session_open(struct refault_session *s, const struct refault_args *args, const struct pfs_filter *filter,
			 struct pfs_live *live, struct pfs_live *hider, uint64_t owner, struct pfs_err *err);

/* Before a process is added to the recording. 0 or -errno with err set. */
int refault_session_add(struct refault_session *s, pid_t pid, struct pfs_err *err);

/* Once the recording has started. */
void refault_session_begin(struct refault_session *s);

/* Records notes of what was done since the last call: now and then, and when the descriptor (-1: none) is readable. */
int refault_session_note(struct refault_session *s, struct pfs_err *err);
int refault_session_fd(const struct refault_session *s);

/* Before the recording stops. 0 or -errno with err set. */
int refault_session_stop(struct refault_session *s, struct pfs_err *err);

/* Prints what it cost. */
void refault_session_print(const struct refault_session *s);

/* 0, or -errno with err set: something is left behind. */
int refault_session_close(struct refault_session *s, struct pfs_err *err);

/* ---- recording ---- */

struct recording_args {
	const char *file;		 /* -o, or NULL */
	const char *user;		 /* -u of run, or NULL */
	struct pfs_source_config config; /* for the source; complete once the arguments are parsed */
	struct source_args sources;	 /* --source, and the options of each source */
	struct refault_args refault;
	const struct source_options
		*hider;		       /* hides pages for the source; NULL: that does it itself, or none are hidden */
	const struct stack_how *stack; /* --stack; NULL: none */
	bool stack_chosen;	       /* ... by pfscope */
	bool by_trait;		       /* attach: no PIDs, but all processes of a name or a user */
	enum pfs_export_form events;   /* --events */
	bool no_bars;
	/* what is printed at the end instead of the bars, or NULL. 0 or -errno with err set */
	int (*draw)(const struct recording_args *args, struct pfs_live *live, struct pfs_err *err);
	bool strict; /* lost events are a failure */
	struct view_args view;
};

/* The values of -o and --buffer-size. A wrong one is wrong usage. */
const char *file_of_option(const char *arg);
unsigned int buffer_of_option(const char *arg, struct argp_state *state);

/* --stack without a word: chooses how stacks are recorded by what this program has, and prints that. */
void recording_choose_stack(struct recording_args *args, const char *program);

void recording_args_fini(struct recording_args *args);

/* The only child of such a command's argp; its input is a struct recording_args. */
extern const struct argp_child recording_children[];

struct recording {
	const struct recording_args *args;
	struct pfs_live *live;	/* NULL: not opened, or given up */
	struct pfs_live *hider; /* hides pages for it, or NULL */
	char marks[64];		/* ... and marks the faults on them there */
	struct pfs_owner owner; /* of what is made in the kernel */
	struct invoking_user user;
	struct pfs_sink print;	 /* takes the events as they come ... */
	struct pipeline printer; /* ... and prints them: --events */
	bool prints;
	bool print_over; /* nothing more is to be printed ... */
	int print_err;	 /* ... for this reason, if any */
	bool lost;	 /* --strict: events were lost */
	struct refault_session refault;
	struct pfs_vm_events vm_before;
	bool vm_known;
	struct timespec since;	     /* older perf maps are of other processes */
	struct pollfd *fds;	     /* for poll() */
	int control_fd;		     /* control.h; -1: nobody can ask */
	struct pfs_atomic_file file; /* -o */
	int stop_fd;		     /* of stop_open(): a signal during set-up aborts that */
	bool finishing;		     /* what aborts that: stop_at_once() */
};

/*
 * Opens the source and the file. 0 or -errno with err set; -EINTR: the user interrupted it.
 * recording_close() must follow in any case.
 */
int recording_open(struct recording *r, const struct recording_args *args, int stop_fd, struct pfs_err *err);

/* launch() (waits: for its exec) or attach() of struct pfs_source. */
int recording_add(struct recording *r, pid_t pid, bool waits, struct pfs_err *err);

/*
 * As in struct pfs_source; afterwards pfscope runs permanently as the invoking user. What needs root is done by
 * helpers (lib/os/helper.h).
 */
int recording_start(struct recording *r, struct pfs_err *err);

/* The source's wait(); also prints new events and records refault notes. */
int recording_wait(struct recording *r, struct pollfd *fds, unsigned int nr_fds, int timeout_ms, struct pfs_err *err);

/* Prints the error and ends the tracing; the traced processes continue. Only recording_close() may follow. */
void recording_failed(struct recording *r, const struct pfs_err *err);

/* Stops, writes the file, draws the bars. 0 or -errno with err set; -EINTR: the user interrupted it. */
int recording_finish(struct recording *r, struct pfs_err *err);

/* Discards what was not finished and removes the instance. 0 or -errno with err set. */
int recording_close(struct recording *r, struct pfs_err *err);

/*
 * ---- what is asked of a recorder of objects while it records: `kmap pause|resume|clear|stats PID` (control.c) ----
 *
 * A request is one datagram to a socket whose name, which is in no file system, has the PID of the recorder; the answer is
 * another one. The kernel says who sends: the recorder answers its own user and root, and the asker believes that PID only.
 * Neither holds anything for the other, so that either may be killed at any time. First the recorder's part:
 */

/* A descriptor to poll; -1, after a message, if there is none: then nobody can ask. */
int control_open(void);

/* Does what is asked by now, and answers. 0, or -errno with err set: the recording is not to be trusted any more. */
int control_serve(int fd, struct pfs_live *live, struct pfs_err *err);

/* Refuses what is asked by now. *fd is -1 then, and may be before. */
void control_close(int *fd);

/* What may be asked: indices are enum pfs_control; NULL ends them. */
extern const char *const control_words[];

/* Asks and waits. The answer is for people, one line. 0, or -errno with err set: not done, for that reason. */
int control_ask(pid_t pid, enum pfs_control what, char *answer, size_t size, struct pfs_err *err);

#endif
