/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a session, for session*.c alone.
 */
#ifndef PFS_STAP_SESSION_PRIV_H
#define PFS_STAP_SESSION_PRIV_H

#include "session/session.h"

#include "decode/decode.h"
#include "module/build.h"
#include "module/diagnose.h"
#include "module/loader.h"
#include "module/module.h"
#include "os/program.h"
#include "session/spool.h"

#include <stdint.h>

/* What pfscope itself has to say, to go between the events by its time. */
struct stap_note {
	uint64_t ts_ns;
	pid_t tid;
	char *key; /* NUL after it; the value behind that is in the same allocation */
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
	unsigned int next; /* note to be said */
	struct pfs_decoder *decoder;
	uint64_t at; /* in the spool */
};

struct pfs_stap {
	struct pfs_stap_config config;
	struct pfs_kernel kernel;			   /* release and lockdown of the one that runs */
	char path[PATH_MAX];				   /* of the module: in the cache, or the user's */
	bool in_place;					   /* the file itself is loaded, under its own name */
	char name[PFS_MODULE_NAME_MAX + 1];		   /* in the kernel */
	char temp_dir[PATH_MAX], temp_file[PATH_MAX + 64]; /* the copy that is loaded, or "" */
	char *pids;					   /* "12,345", NULL: none */
	struct pfs_loader loader;
	struct pfs_spool spool;
	struct pfs_output errors; /* what staprun wrote on standard error */
	struct stap_notes notes;
	struct stap_outlet live; /* decoder NULL: nobody wants them as they come */
	uint64_t looked;	 /* how far of the spool was looked for READY */
	bool hello, ready;	 /* these records came */
	bool over;		 /* the pipe is at its end */
	struct pollfd *poll_fds;
	unsigned int max_poll;
};

/* session/notes.c */
void stap_notes_free(struct stap_notes *notes);

/* A sink that passes events on with the notes between them. decoder is made with it. 0 or -ENOMEM. */
int stap_outlet_init(struct stap_outlet *outlet, const struct stap_notes *notes, const struct pfs_sink *sink);
void stap_outlet_fini(struct stap_outlet *outlet);

/* The notes that are left. 0 or what the sink returned. */
int stap_outlet_finish(struct stap_outlet *outlet);

/* session/load.c: which module, under which name; -EINTR and the rest as pfs_stap_new(). */
int stap_choose_module(struct pfs_stap *s, struct pfs_err *err);

/* Starts staprun with it. 0 or -errno with err set. */
int stap_load(struct pfs_stap *s, struct pfs_err *err);

#endif
