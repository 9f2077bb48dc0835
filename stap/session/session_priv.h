/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of a session share. From the bottom: notes.c (notes and where events go), load.c (which module, and
 * staprun's arguments), session.c (the source's operations).
 */
#ifndef PFS_STAP_SESSION_PRIV_H
#define PFS_STAP_SESSION_PRIV_H

#include "session/session.h"

#include "decode/decode.h"
#include "module/build.h"
#include "module/diagnose.h"
#include "module/loader.h"
#include "module/module.h"
#include "os/kallsyms.h"
#include "os/program.h"
#include "tapset/objects.h"

#include <stdint.h>

/* spool.c: records on their way from staprun's pipe, unread, into a file without a name, and out of it again. */
struct pfs_spool {
	int fd;
	uint64_t len; /* bytes in it */
};

/* 0 or -errno with err set. */
int pfs_spool_init(struct pfs_spool *spool, struct pfs_err *err);
void pfs_spool_fini(struct pfs_spool *spool);

/* Takes what is in the pipe now. 1: it is open still, 0: end of file, or -errno with err set. */
int pfs_spool_fill(struct pfs_spool *spool, int pipe_fd, struct pfs_err *err);

/*
 * Passes the whole records from *at on to fn, and leaves *at behind the last one that fn took. 0, what
 * fn returned, or -errno with err set.
 */
int pfs_spool_each(const struct pfs_spool *spool, uint64_t *at, int (*fn)(void *ctx, const struct pfs_rec *rec),
		   void *ctx, struct pfs_err *err);

/* One of pfscope's own notes, put between the events by its time. */
struct stap_note {
	uint64_t ts_ns;
	pid_t tid;
	char *key; /* in one allocation with the value */
	const char *value;
};

struct stap_notes {
	struct stap_note *notes;
	unsigned int nr, max;
};

/* Events of the decoder and notes, on their way to a sink. */
struct stap_outlet {
	const struct stap_notes *notes;
	struct pfs_sink sink;
	unsigned int next; /* note to pass on */
	struct pfs_decoder *decoder;
	uint64_t at; /* in the spool */
};

struct stap_options {
	const char *module; /* --module, or NULL */
	bool no_dwarf;
	struct stap_microset {
		unsigned int pages;  /* --microset; 0: nothing is hidden */
		bool by_process;     /* else by thread */
		const char *regions; /* --microset-region, or NULL */
	} microset;
};

struct pfs_stap {
	struct pfs_live base;
	struct pfs_source_config config;
	struct pfs_kernel kernel;			   /* the running one; only release and lockdown are sure */
	char path[PATH_MAX];				   /* of the module: in the cache, or the user's */
	bool in_place;					   /* the file itself is loaded, under its own name */
	char name[PFS_MODULE_NAME_MAX + 1];		   /* in the kernel */
	char temp_dir[PATH_MAX], temp_file[PATH_MAX + 64]; /* the copy that is loaded, or "" */
	char *pids;					   /* "12,345", NULL: none */
	struct pfs_loader loader;
	struct pfs_spool spool;
	struct pfs_output errors; /* what staprun wrote on standard error */
	struct stap_notes notes;
	struct pfs_symbols *symbols; /* of the kernel, for call sites of objects; or NULL */
	struct stap_outlet live;     /* decoder NULL: no live events are wanted */
	uint64_t looked;	     /* offset in the spool: searched for READY up to there */
	bool hides;		     /* all pages, on request */
	bool hello, ready;	     /* these records came */
	bool over;		     /* the pipe is at its end */
	struct pollfd *poll_fds;
	unsigned int max_poll;
};

/* session/notes.c. note(): dated now; tid 0: about the whole recording. 0 or -ENOMEM. */
pfs_note_fn stap_note;
void stap_notes_free(struct stap_notes *notes);

/* A note about the whole recording, to the source that has it: this one, or the one that it hides pages for. */
int stap_note_recording(struct pfs_stap *s, const struct pfs_fact *fact);

/* A sink that puts the notes between the events, and its decoder. 0 or -ENOMEM. */
int stap_outlet_init(struct stap_outlet *outlet, const struct pfs_stap *s, const struct pfs_sink *sink);
void stap_outlet_fini(struct stap_outlet *outlet);

/* Passes on what is left. 0 or what the sink returned. */
int stap_outlet_finish(struct stap_outlet *outlet);

/* session/microset.c. The values of the options; 0 or -errno with err set to what is wrong with arg. */
int stap_microset_parse(struct stap_microset *m, const char *arg, struct pfs_err *err);
int stap_microset_regions_parse(struct stap_microset *m, const char *arg, struct pfs_err *err);

/* Do the options fit together, and are the pages enough? others: all pages may be hidden. No option is fine. */
int stap_microset_check(const struct stap_microset *m, bool others, struct pfs_err *err);

/* Can this kernel hide pages? 0 or -errno with err set. */
int stap_can_hide(struct pfs_err *err);

/* The regions whose pages are hidden, as the module takes them. */
const char *stap_microset_regions(const struct stap_microset *m);

/* session/load.c: usable() of struct pfs_source. */
int stap_usable(struct pfs_err *err);

/* Chooses or builds the module. 0, -EINTR (given up) or -errno with err set. */
int stap_choose_module(struct pfs_stap *s, struct pfs_err *err);

/* Starts staprun with it. 0 or -errno with err set. */
int stap_load(struct pfs_stap *s, struct pfs_err *err);

#endif
