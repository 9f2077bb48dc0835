/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the trace.dat reader share. From the top: read.c (open, read, close), v6.c and v7.c, options.c and
 * meta.c (formats, names), cursor.c (numbers out of the file, failures). Other rooms use dat/dat.h.
 */
#ifndef PFS_DAT_PRIV_H
#define PFS_DAT_PRIV_H

#include "dat/dat.h"
#include "print/print.h"
#include "record/merge.h"

#include <stdio.h>

/* Option ids (trace-cmd.dat.v7(5)); from 16 on also ids of sections. */
enum {
	DAT_OPT_DONE,
	DAT_OPT_DATE,
	DAT_OPT_CPUSTAT,
	DAT_OPT_BUFFER,
	DAT_OPT_TRACECLOCK,
	DAT_OPT_UNAME,
	DAT_OPT_HOOK,
	DAT_OPT_OFFSET,
	DAT_OPT_CPUCOUNT,
	DAT_OPT_VERSION,
	DAT_OPT_PROCMAPS,
	DAT_OPT_TRACEID,
	DAT_OPT_TIME_SHIFT,
	DAT_OPT_GUEST,
	DAT_OPT_TSC2NSEC,
	DAT_OPT_STRINGS,
	DAT_OPT_HEADER_INFO,
	DAT_OPT_FTRACE_EVENTS,
	DAT_OPT_EVENT_FORMATS,
	DAT_OPT_KALLSYMS,
	DAT_OPT_PRINTK,
	DAT_OPT_CMDLINES,
	DAT_OPT_BUFFER_TEXT,
	DAT_NR_OPTS,
};

/* ---- unzip.c: the compressed parts of a file, blocks and chunks of trace data ---- */

enum dat_codec { DAT_CODEC_NONE, DAT_CODEC_ZLIB, DAT_CODEC_ZSTD };

/* The codec of that name in the file's header, or -ENOTSUP. */
int dat_codec_find(const char *name);

/*
 * Limits of memory, of all blocks of the file, and of the chunks of all CPUs at once. A few bytes can uncompress to 128
 * KiB, so only the size of the file can limit memory: tables are text, which becomes ten times as long; of sub-buffers,
 * most of which may be empty, each CPU has but one chunk at a time.
 */
#define DAT_BLOCKS_MAX(file_size) ((4u << 20) + 256 * (file_size))
#define DAT_CHUNKS_MAX(file_size) ((64u << 20) + 1024 * (file_size))

/*
 * Uncompresses a block of in_len bytes that claims to be out_len uncompressed, and subtracts that from *left. The
 * caller frees the result. NULL with errno set: EBADMSG if the claim is wrong, or more than is left.
 */
void *dat_unzip_block(enum dat_codec codec, const void *in, size_t in_len, uint64_t out_len, uint64_t *left);

/*
 * The sub-buffers in the chunks of [start, end) of the file. fd and left, from which their memory is subtracted, stay
 * the caller's. NULL: no memory.
 */
struct pfs_page_source *dat_unzip_chunks(enum dat_codec codec, int fd, uint64_t start, uint64_t end, uint32_t page_size,
					 bool swap, uint64_t *left);

/* ---- the reader ---- */

/* The data of one CPU in one buffer. */
struct dat_cpu {
	uint32_t cpu;
	uint64_t offset, size; /* in the file */
	bool cut;	       /* there was more, which cannot be read */
};

struct dat_buffer {
	char *name;	 /* "" is the top one */
	uint64_t offset; /* of its section (v7) or of its part of the header (v6) */
	uint32_t page_size;
	bool text; /* a `trace` file instead of records */
	bool compressed;
	struct dat_cpu *cpus;
	uint32_t nr_cpus, max_cpus;
};

struct dat_comm {
	int32_t tid;
	const char *comm; /* in comm_text */
};

struct pfs_dat {
	int fd;
	raw_faults_fn faults;	  /* or NULL */
	pfs_merge_watch_fn watch; /* or NULL */
	void *watch_ctx;
	char *name;
	uint64_t size;
	bool salvage, prints;
	struct pfs_dat_info info;
	bool swap;
	uint32_t nr_cpus;
	enum dat_codec codec;
	struct pfs_printer *printer; /* of events of no use; NULL: they are not printed */
	struct dat_buffer *buffers;
	unsigned int nr_buffers, max_buffers;
	char *comm_text;
	struct dat_comm *comms;
	unsigned int nr_comms, max_comms;
	uint64_t sections[DAT_NR_OPTS]; /* v7: where each is; 0: none */
	struct pfs_ts_conv conv;
	struct pfs_sync *sync; /* by CPU */
	uint32_t nr_sync;
	uint64_t claimed;		   /* bytes of data of all CPUs so far */
	uint64_t claimed_headers;	   /* bytes of the headers of buffers, or sections of options */
	uint64_t blocks_left, chunks_left; /* memory for what is uncompressed, see dat/unzip.c */
	uint64_t open_damage;		   /* damaged parts that pfs_dat_open() left out */
	struct pfs_err first_damage;
	struct pfs_merge_stats stats; /* of the last read, with open_damage */
};

/* The flag of a section whose bytes are compressed. */
enum { DAT_COMPRESSED = 1 };

/* "NAME: offset N: why"; returns code. */
int dat_fail(const struct pfs_dat *dat, struct pfs_err *err, int code, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Damage described by err. Returns 0 if the reader may go on (--salvage), else code. */
int dat_damage(struct pfs_dat *dat, int code, const struct pfs_err *err);

/*
 * Counts [start, end) of the file as a header of which there may be several. False: all of them together are longer
 * than the file, so they lead back to the same ones, and would take memory without end.
 */
static inline bool dat_claim_header(struct pfs_dat *dat, uint64_t start, uint64_t end)
{
	dat->claimed_headers += end - start;
	return dat->claimed_headers <= dat->size;
}

/*
 * A position in the file, or in an uncompressed section, that reads move forward. The first failure sticks: later reads
 * return 0 or NULL, and `code` is the result.
 */
struct dat_cursor {
	const struct pfs_dat *dat;
	struct pfs_err *err;
	int code;
	uint64_t pos, end;  /* in the file, or in mem */
	const uint8_t *mem; /* not NULL: all of it is here */
	uint64_t base;	    /* of mem: its offset in the file */
	uint8_t *window;    /* the part of the file read last */
	uint64_t window_pos;
	size_t window_len, window_room;
};

void dat_cursor_file(struct dat_cursor *c, const struct pfs_dat *dat, uint64_t pos, uint64_t end, struct pfs_err *err);
void dat_cursor_mem(struct dat_cursor *c, const struct pfs_dat *dat, const void *mem, size_t len, uint64_t base,
		    struct pfs_err *err);
void dat_cursor_fini(struct dat_cursor *c);

/* The next len bytes, valid until the next read, or NULL. `what` names them in the message. */
const void *dat_take(struct dat_cursor *c, uint64_t len, const char *what);
void dat_skip(struct dat_cursor *c, uint64_t len, const char *what);
uint16_t dat_u16(struct dat_cursor *c, const char *what);
uint32_t dat_u32(struct dat_cursor *c, const char *what);
uint64_t dat_u64(struct dat_cursor *c, const char *what);

/* A string up to its NUL, of at most 4095 bytes, as dat_take(). */
const char *dat_string(struct dat_cursor *c, const char *what);

/* Fails at the cursor's position: the file is damaged; or (-ENOMEM, ...) with that code. */
int dat_cursor_fail(struct dat_cursor *c, const char *what);
int dat_cursor_error(struct dat_cursor *c, int code);

/* The parts that both versions have, in the order of version 6. read() returns 0 or -errno. */
enum { DAT_NR_METAS = 6 };
extern const struct dat_meta {
	unsigned int id; /* of the section in version 7 */
	int (*read)(struct pfs_dat *dat, struct dat_cursor *c);
} dat_metas[DAT_NR_METAS];

/*
 * Reads options up to the last one. next: where the offset of the next section of options goes, 0 if there is none;
 * NULL in version 6, which has one section. 0 or -errno.
 */
int dat_options(struct pfs_dat *dat, struct dat_cursor *c, uint64_t *next);

/* A new buffer of that name, owned by dat. NULL: no memory. */
struct dat_buffer *dat_add_buffer(struct pfs_dat *dat, const char *name);
int dat_add_cpu(struct dat_buffer *buffer, uint32_t cpu, uint64_t offset, uint64_t size);

/*
 * Checks what the header claims of a buffer's data against the file; no byte may belong to two CPUs, or a file could
 * make pfscope read, and take memory for, far more than it is. 0 or -errno.
 */
int dat_check_buffer(struct pfs_dat *dat, struct dat_buffer *buffer, struct pfs_err *err);

/* Read all that follows the initial format. 0 or -errno. */
int dat_v6_open(struct pfs_dat *dat, struct dat_cursor *c);
int dat_v7_open(struct pfs_dat *dat, struct dat_cursor *c);

/* ---- the writer: write.c (the entrance, and version 6), write_v7.c, write_meta.c below both ---- */

/* One CPU's sub-buffers, and where they go. */
struct dat_data {
	int fd;		       /* -1: none */
	uint64_t offset, size; /* in the trace.dat; size first in the spool */
};

/* Numbers in the machine's own byte order, a string with its NUL, a text behind its length (NULL: none). */
#define dat_put16(out, v) fwrite(&(uint16_t){ v }, sizeof(uint16_t), 1, out)
#define dat_put32(out, v) fwrite(&(uint32_t){ v }, sizeof(uint32_t), 1, out)
#define dat_put64(out, v) fwrite(&(uint64_t){ v }, sizeof(uint64_t), 1, out)
void dat_put_str(FILE *out, const char *str);
void dat_put_sized8(FILE *out, const char *text);

/* What comes first in every version, with a number of one digit. */
void dat_put_magic(FILE *out, const struct pfs_dat_content *content, char version);

/* The parts that both versions have, in the order of version 6. */
enum { DAT_NR_PARTS = 6 };
extern const struct dat_part {
	unsigned int id; /* of the section in version 7 */
	const char *name;
	void (*put)(FILE *out, const struct pfs_dat_content *content);
} dat_parts[DAT_NR_PARTS];

/* Those of the content, each behind its number and its length. */
void dat_put_options(FILE *out, const struct pfs_dat_content *content, const char *clock);

/* "mono" as "[mono]". The caller's. NULL: no memory. */
char *dat_clock_text(const char *clock);

/* dat/write_v7.c: everything, compressed, from position 0 on; data as measured. 0 or -errno. */
int dat_write_v7(int fd, const struct pfs_dat_content *content, struct dat_data *data, unsigned int nr);

#endif
