/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files trace.dat, by trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5). The room's only public header:
 *
 *	pfs_dat_open(), ...	reads versions 6 and 7, as trace-cmd of any version or pfscope write them: no compression,
 *				zlib or zstd, both byte orders, 32 and 64 bit, all buffers of the file in one pass, time
 *				stamps as `trace-cmd report` prints them
 *	pfs_dat_write()		writes a recording, for `trace-cmd report`, KernelShark and pfscope: of version 6 or,
 *				compressed, of version 7
 */
#ifndef PFS_DAT_H
#define PFS_DAT_H

#include "base/err.h"
#include "record/formats.h"
#include "record/merge.h"
#include "record/raw.h"

struct pfs_dat;

enum {
	PFS_DAT_SALVAGE = 1, /* open: read what can be read of a damaged file */
	PFS_DAT_OTHER = 2,   /* read: pass events of no use on too, as RAW_OTHER */
	PFS_DAT_PRINT = 4,   /* open: those then come with their name and text */
};

#define PFS_DAT_MAGIC_LEN 10

/* Whether a file that begins with these bytes is a trace.dat. */
bool pfs_dat_is_magic(const void *bytes, size_t len);

/*
 * A descriptor that can be read at any offset: fd itself or, for a pipe, an unnamed temporary file (in $TMPDIR or /tmp)
 * with all its bytes. `head` is what the caller has read from it already. -errno with err set; the caller closes a
 * descriptor that is not fd.
 */
int pfs_dat_spool(int fd, const char *name, const void *head, size_t head_len, struct pfs_err *err);

/*
 * Opens a file that can be read at any offset. fd stays the caller's and must outlive it; name is for messages. NULL
 * with errno and err set: EBADMSG for a damaged file, or one that is no trace.dat.
 */
struct pfs_dat *pfs_dat_open(int fd, const char *name, unsigned int flags, struct pfs_err *err);
void pfs_dat_close(struct pfs_dat *dat);

/* pfs_dat_read() reports its progress to fn; pages are of info's page_size bytes, compressed ones as well. */
void pfs_dat_watch(struct pfs_dat *dat, pfs_merge_watch_fn fn, void *ctx);

/* From now on pfs_dat_read() passes plain faults there, with its ctx, many at once. */
void pfs_dat_take_faults(struct pfs_dat *dat, raw_faults_fn faults);

/*
 * Passes all events to fn in order of time; may be called again. 0, what fn returned if that is not
 * 0, or -errno with err set: -EBADMSG for damage, unless it is to be salvaged.
 */
int pfs_dat_read(struct pfs_dat *dat, unsigned int flags, raw_event_fn fn, void *ctx, struct pfs_err *err);

/* Counts of the last pfs_dat_read(), and of damage since the open. */
const struct pfs_merge_stats *pfs_dat_stats(const struct pfs_dat *dat);

/*
 * Does the file hold the text of a `trace` file (latency tracers) instead of records? pfs_dat_read() fails then;
 * pfs_dat_text() returns a descriptor positioned at the start of that text, which the caller closes, or -errno with
 * err set.
 */
bool pfs_dat_is_text(const struct pfs_dat *dat);
int pfs_dat_text(struct pfs_dat *dat, struct pfs_err *err);

/* What the file records about itself. Strings are NULL where it does not; all is the file's until it is closed. */
struct pfs_dat_info {
	int version;	    /* of the format: 6 or 7 */
	uint32_t page_size; /* of the traced machine, or of its sub-buffers */
	bool compressed;
	char *clock;  /* "mono" */
	char *uname;  /* as of uname -srm */
	char *writer; /* the program that wrote it, with its version */
	struct pfs_formats *formats;
};
const struct pfs_dat_info *pfs_dat_info(const struct pfs_dat *dat);

/* The name of that thread in the file's table, or NULL. */
const char *pfs_dat_comm(const struct pfs_dat *dat, int32_t tid);

/* ---- writing: the kernel's sub-buffers as they are, copied inside the kernel or compressed ---- */

struct pfs_dat_task {
	int32_t tid;
	const char *comm;
};

/* The content of the file. All of it is borrowed for the call. */
struct pfs_dat_content {
	const struct pfs_formats *formats; /* of this machine; with pfs_records_init()'s, if any */
	uint32_t page_size;		   /* of a sub-buffer of the instance */
	const int *spool_fds;		   /* whole sub-buffers, by CPU; -1: none of this one */
	unsigned int nr_cpus;
	int own_fd; /* pfscope's own records, as a last CPU; -1: none */
	const struct pfs_dat_task *tasks;
	unsigned int nr_tasks;
	const char *symbols;	     /* of the kernel, lines as in kallsyms; NULL: none */
	const char *clock;	     /* "mono", or all of trace_clock: "local [mono] boot" */
	const char *uname;	     /* as of uname -srm; NULL: none, as those below */
	const char *version;	     /* of the program: "pfscope 0.1" */
	const char *const *cpustats; /* per_cpu/cpuN/stats by CPU */
	bool compress;		     /* with zstd */
};

/*
 * Writes from fd's position 0 on. fd is a regular file, stays the caller's, and its content is
 * undefined on failure: 0 or -errno with err set. An incomplete sub-buffer at the end of a spool is left out.
 */
int pfs_dat_write(int fd, const struct pfs_dat_content *content, struct pfs_err *err);

#endif
