/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a recording as a trace.dat, for `trace-cmd report`, KernelShark and pfscope: of version 6, or
 * compressed, which is version 7.
 *
 * The data goes in as the kernel gave it, sub-buffer by sub-buffer, copied inside the kernel or compressed. The
 * capture calls it at its end; format: trace-cmd.dat.v6(5), trace-cmd.dat.v7(5).
 */
#ifndef PFS_DAT_WRITE_H
#define PFS_DAT_WRITE_H

#include "base/err.h"
#include "record/formats.h"

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
