/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes trace.dat files of kinds that no machine at hand writes: big endian, 32 bit, zlib, any
 * option, any damage. In memory (a memfd), the same events every time.
 *
 * Formats: trace-cmd.dat.v6(5), trace-cmd.dat.v7(5). libtracecmd reads them too, which is what
 * makes them more than our own opinion. Included by the tests of the trace.dat reader.
 */
#ifndef DAT_FORGE_H
#define DAT_FORGE_H

#include "base/bytes.h"
#include "record/ringpage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#ifndef FORGE_PAGE	  /* seeds for fuzzing are smaller */
#define FORGE_PAGE   4096 /* a page as libtracecmd can map it */
#define FORGE_EVENTS 500
#endif

struct forge_option {
	uint16_t id;
	const void *data;
	uint32_t len;
};

struct forge {
	int version; /* 6 or 7 */
	bool big_endian;
	unsigned int long_size;
	const char *codec;    /* v7: NULL is "none" */
	const char *instance; /* NULL: the data is in the top buffer */
	const char *text;     /* not NULL: instead of records */
	unsigned int nr_cpus;
	struct forge_option options[4];
	unsigned int nr_options;
	/* while it is made */
	FILE *out;
	bool swap;
	struct pfs_ring_layout ring;
};

static inline void fg16(struct forge *fg, uint16_t v)
{
	uint8_t b[2];

	pfs_store16(b, v, fg->swap);
	fwrite(b, 1, sizeof(b), fg->out);
}

static inline void fg32(struct forge *fg, uint32_t v)
{
	uint8_t b[4];

	pfs_store32(b, v, fg->swap);
	fwrite(b, 1, sizeof(b), fg->out);
}

static inline void fg64(struct forge *fg, uint64_t v)
{
	uint8_t b[8];

	pfs_store64(b, v, fg->swap);
	fwrite(b, 1, sizeof(b), fg->out);
}

static inline void fg_str(struct forge *fg, const char *str)
{
	fwrite(str, 1, strlen(str) + 1, fg->out);
}

static inline void fg_sized(struct forge *fg, const char *text)
{
	fg64(fg, strlen(text));
	fputs(text, fg->out);
}

#define FORGE_COMMON                                                                   \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

enum { FORGE_FAULT = 10, FORGE_EXEC, FORGE_NEWTASK, FORGE_EXIT_MMAP, FORGE_OTHER };

/* "name: ...": the format text of one of these, for the long size L. */
static inline char *forge_format(unsigned int id, unsigned int l)
{
	char *text;
	int ret = -1;

	switch (id) {
	case FORGE_FAULT:
		ret = asprintf(&text,
			       "name: page_fault_user\nID: %u\nformat:\n" FORGE_COMMON
			       "\tfield:unsigned long address;\toffset:8;\tsize:%u;\tsigned:0;\n"
			       "\tfield:unsigned long ip;\toffset:%u;\tsize:%u;\tsigned:0;\n"
			       "\tfield:unsigned long error_code;\toffset:%u;\tsize:%u;\tsigned:0;\n\n"
			       "print fmt: \"address=%%ps ip=%%ps error_code=0x%%lx\", "
			       "(void *)REC->address, (void *)REC->ip, REC->error_code\n",
			       id, l, 8 + l, l, 8 + 2 * l, l);
		break;
	case FORGE_EXEC:
		ret = asprintf(&text,
			       "name: sched_process_exec\nID: %u\nformat:\n" FORGE_COMMON
			       "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
			       "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
			       "\tfield:pid_t old_pid;\toffset:16;\tsize:4;\tsigned:1;\n\n"
			       "print fmt: \"filename=%%s\", __get_str(filename)\n",
			       id);
		break;
	case FORGE_NEWTASK:
		ret = asprintf(&text,
			       "name: task_newtask\nID: %u\nformat:\n" FORGE_COMMON
			       "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
			       "\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
			       "\tfield:unsigned long clone_flags;\toffset:%u;\tsize:%u;\tsigned:0;\n\n"
			       "print fmt: \"pid=%%d\", REC->pid\n",
			       id, l == 8 ? 32 : 28, l);
		break;
	case FORGE_EXIT_MMAP:
		ret = asprintf(&text,
			       "name: sys_exit_mmap\nID: %u\nformat:\n" FORGE_COMMON
			       "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
			       "\tfield:long ret;\toffset:%u;\tsize:%u;\tsigned:1;\n\n"
			       "print fmt: \"0x%%lx\", REC->ret\n",
			       id, l == 8 ? 16 : 12, l);
		break;
	default:
		ret = asprintf(&text,
			       "name: other\nID: %u\nformat:\n" FORGE_COMMON
			       "\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n\n"
			       "print fmt: \"%%d\", REC->x\n",
			       id);
	}
	return ret < 0 ? NULL : text;
}

static inline void fg_long(struct forge *fg, uint8_t *p, uint64_t v)
{
	if (fg->long_size == 8)
		pfs_store64(p, v, fg->swap);
	else
		pfs_store32(p, v, fg->swap);
}

/* The i'th record. Returns its length. */
static inline uint32_t forge_record(struct forge *fg, unsigned int i, uint8_t *rec)
{
	const unsigned int l = fg->long_size;
	unsigned int id = i % 11 == 3	? FORGE_EXEC
			  : i % 11 == 5 ? FORGE_NEWTASK
			  : i % 11 == 7 ? FORGE_EXIT_MMAP
			  : i % 11 == 9 ? FORGE_OTHER
					: FORGE_FAULT;
	char name[64];

	memset(rec, 0, 256);
	pfs_store16(rec, id, fg->swap);
	pfs_store32(rec + 4, 1000 + i % 3, fg->swap);
	switch (id) {
	case FORGE_FAULT:
		fg_long(fg, rec + 8, 0x7f0012345000 + i * 4096);
		fg_long(fg, rec + 8 + l, 0x400123 + i);
		fg_long(fg, rec + 8 + 2 * l, i % 8);
		return 8 + 3 * l;
	case FORGE_EXEC:
		snprintf(name, sizeof(name), "/usr/bin/%.*s-%u", (int)(i % 40),
			 "a long name of a program with spaces in it", i);
		pfs_store32(rec + 8, (uint32_t)(strlen(name) + 1) << 16 | 20, fg->swap);
		pfs_store32(rec + 12, i, fg->swap);
		pfs_store32(rec + 16, -1, fg->swap);
		strcpy((char *)rec + 20, name);
		return 20 + strlen(name) + 1;
	case FORGE_NEWTASK:
		pfs_store32(rec + 8, i, fg->swap);
		snprintf((char *)rec + 12, 16, "thread/%u", i);
		fg_long(fg, rec + (l == 8 ? 32 : 28), 0x3d0f00);
		return l == 8 ? 40 : 32;
	case FORGE_EXIT_MMAP:
		pfs_store32(rec + 8, 9, fg->swap);
		fg_long(fg, rec + (l == 8 ? 16 : 12), i % 2 ? -12ull : 0x7f000000 + i);
		return l == 8 ? 24 : 16;
	}
	pfs_store32(rec + 8, i, fg->swap);
	return 12;
}

/* The sub-buffers of one processor: what is in a trace_pipe_raw. The caller frees them. */
static inline uint8_t *forge_pages(struct forge *fg, unsigned int cpu, size_t *len)
{
	int fd = memfd_create("pages", MFD_CLOEXEC);
	struct pfs_ringwrite *w = pfs_ringwrite_new(fd, &fg->ring, FORGE_PAGE);
	uint8_t rec[256], *pages;

	for (unsigned int i = 0; i < FORGE_EVENTS; i++) {
		uint32_t n = forge_record(fg, i, rec);
		/* sometimes far apart, sometimes at the time of the other processor's */
		uint64_t ts = 5000000000 + i * 1000 + (i % 5 ? cpu : 0) + (i / 100) * (1ull << 30);

		if (i % fg->nr_cpus == cpu || i % 7 == 0)
			pfs_ringwrite_append(w, ts, rec, n);
	}
	pfs_ringwrite_flush(w);
	pfs_ringwrite_free(w);
	*len = lseek(fd, 0, SEEK_END);
	pages = malloc(*len);
	if (pread(fd, pages, *len, 0) < 0)
		*len = 0;
	close(fd);
	/* events were lost before the second one of the first processor: 77 of them */
	if (!cpu && *len > FORGE_PAGE) {
		uint8_t *page = pages + FORGE_PAGE;
		uint64_t commit = pfs_load_long(page + 8, fg->long_size, fg->swap);

		fg_long(fg, page + fg->ring.data_at + commit, 77);
		fg_long(fg, page + 8, commit | 3u << 30);
	}
	return pages;
}

static inline char *forge_header_page(const struct forge *fg)
{
	char *text;

	if (asprintf(&text,
		     "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		     "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		     "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		     "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n",
		     fg->long_size, 8 + fg->long_size, FORGE_PAGE - 8 - fg->long_size) < 0)
		abort();
	return text;
}

static inline void forge_header_info(struct forge *fg)
{
	char *text = forge_header_page(fg);

	fg_str(fg, "header_page");
	fg_sized(fg, text);
	free(text);
	fg_str(fg, "header_event");
	fg_sized(fg, "# compressed entry header\n");
}

static inline void forge_formats(struct forge *fg)
{
	static const char *const systems[] = { "exceptions", "sched", "task", "syscalls", "odd" };

	fg32(fg, 5);
	for (unsigned int i = 0; i < 5; i++) {
		char *text = forge_format(FORGE_FAULT + i, fg->long_size);

		fg_str(fg, systems[i]);
		fg32(fg, 1);
		fg_sized(fg, text);
		free(text);
	}
}

static inline void forge_option(struct forge *fg, uint16_t id, const void *data, uint32_t len)
{
	fg16(fg, id);
	fg32(fg, len);
	fwrite(data, 1, len, fg->out);
}

static inline void forge_options(struct forge *fg)
{
	forge_option(fg, 5, "Linux forge 1.0", 16);
	forge_option(fg, 4, "local global [mono] boot", 25);
	for (unsigned int i = 0; i < fg->nr_options; i++)
		forge_option(fg, fg->options[i].id, fg->options[i].data, fg->options[i].len);
}

static inline void forge_align(struct forge *fg)
{
	while (ftell(fg->out) % FORGE_PAGE)
		fputc(0, fg->out);
}

#define FORGE_COMMS "1000 first name\n1002 <third>\n"

/* "flyrecord" with the data or without, and the clock behind it; the data follows. */
static inline void forge_flyrecord(struct forge *fg, bool empty)
{
	uint64_t at = ftell(fg->out) + 10 + 16 * fg->nr_cpus + 8 + 6;
	uint8_t *pages[16] = { NULL };
	size_t len[16] = { 0 };

	fg_str(fg, "flyrecord");
	for (unsigned int i = 0; i < fg->nr_cpus; i++) {
		if (!empty)
			pages[i] = forge_pages(fg, i, &len[i]);
		at = (at + FORGE_PAGE - 1) / FORGE_PAGE * FORGE_PAGE;
		fg64(fg, at);
		fg64(fg, len[i]);
		at += len[i];
	}
	fg64(fg, 6);
	fputs("[mono]", fg->out);
	for (unsigned int i = 0; i < fg->nr_cpus; i++) {
		if (len[i])
			forge_align(fg);
		fwrite(pages[i] ? pages[i] : (uint8_t *)"", 1, len[i], fg->out);
		free(pages[i]);
	}
}

static inline void forge_v6(struct forge *fg)
{
	long option = 0, at;

	forge_header_info(fg);
	fg32(fg, 0);
	forge_formats(fg);
	fg32(fg, 0);
	fg32(fg, 0);
	fg_sized(fg, FORGE_COMMS);
	fg32(fg, fg->nr_cpus);
	fg_str(fg, "options  ");
	forge_options(fg);
	if (fg->instance) {
		fg16(fg, 3);
		fg32(fg, 8 + strlen(fg->instance) + 1);
		option = ftell(fg->out);
		fg64(fg, 0);
		fg_str(fg, fg->instance);
	}
	fg16(fg, 0);
	if (fg->text) {
		fg_str(fg, "latency  ");
		fputs(fg->text, fg->out);
		return;
	}
	forge_flyrecord(fg, fg->instance);
	if (!fg->instance)
		return;
	at = ftell(fg->out);
	forge_flyrecord(fg, false);
	fseek(fg->out, option, SEEK_SET);
	fg64(fg, at);
}

/* Compressed as the file says; *len becomes the new length. The caller frees it. */
static inline uint8_t *forge_zip(struct forge *fg, const void *in, size_t *len)
{
	uLongf zlen = compressBound(*len);
	uint8_t *out = malloc(zlen > ZSTD_compressBound(*len) ? zlen : ZSTD_compressBound(*len));

	if (!strcmp(fg->codec, "zlib")) {
		compress(out, &zlen, in, *len);
		*len = zlen;
	} else {
		*len = ZSTD_compress(out, ZSTD_compressBound(*len), in, *len, 1);
	}
	return out;
}

static inline void forge_section(struct forge *fg, uint16_t id, const char *bytes, size_t len)
{
	fg16(fg, id);
	fg16(fg, fg->codec ? 1 : 0);
	fg32(fg, -1);
	if (fg->codec) {
		size_t zlen = len;
		uint8_t *zip = forge_zip(fg, bytes, &zlen);

		fg64(fg, zlen + 8);
		fg32(fg, zlen);
		fg32(fg, len);
		fwrite(zip, 1, zlen, fg->out);
		free(zip);
	} else {
		fg64(fg, len);
		fwrite(bytes, 1, len, fg->out);
	}
}

/* A section that fn makes, into a buffer since it may be compressed. Returns where it is. */
static inline uint64_t forge_section_of(struct forge *fg, uint16_t id, void (*fn)(struct forge *fg))
{
	FILE *out = fg->out;
	char *bytes;
	size_t len;
	long at;

	fg->out = open_memstream(&bytes, &len);
	fn(fg);
	fclose(fg->out);
	fg->out = out;
	at = ftell(out);
	forge_section(fg, id, bytes, len);
	free(bytes);
	return at;
}

static inline void forge_none(struct forge *fg)
{
	fg32(fg, 0);
}

static inline void forge_comms(struct forge *fg)
{
	fg_sized(fg, FORGE_COMMS);
}

/* The data of one processor in chunks of two sub-buffers. */
static inline size_t forge_chunks(struct forge *fg, const uint8_t *pages, size_t len)
{
	long start = ftell(fg->out);

	if (!fg->codec) {
		fwrite(pages, 1, len, fg->out);
		return len;
	}
	fg32(fg, (len + 2 * FORGE_PAGE - 1) / (2 * FORGE_PAGE));
	for (size_t at = 0; at < len; at += 2 * FORGE_PAGE) {
		size_t n = len - at < 2 * FORGE_PAGE ? len - at : 2 * FORGE_PAGE, zlen = n;
		uint8_t *zip = forge_zip(fg, pages + at, &zlen);

		fg32(fg, zlen);
		fg32(fg, n);
		fwrite(zip, 1, zlen, fg->out);
		free(zip);
	}
	return ftell(fg->out) - start;
}

/* The buffer's section, and into *option what the option BUFFER says of it. */
static inline void forge_buffer(struct forge *fg, bool empty, char **option, size_t *option_len)
{
	FILE *out = fg->out, *opt = open_memstream(option, option_len);
	uint64_t section = ftell(out);

	fg16(fg, 3);
	fg16(fg, fg->codec ? 1 : 0);
	fg32(fg, -1);
	fg64(fg, 0);
	fg->out = opt;
	fg64(fg, section);
	fg_str(fg, empty || !fg->instance ? "" : fg->instance);
	fg_str(fg, "mono");
	fg32(fg, FORGE_PAGE);
	fg32(fg, empty ? 0 : fg->nr_cpus);
	for (unsigned int i = 0; i < (empty ? 0 : fg->nr_cpus); i++) {
		size_t len;
		uint8_t *pages = forge_pages(fg, i, &len);
		uint64_t at;

		fg->out = out;
		forge_align(fg);
		at = ftell(out);
		len = forge_chunks(fg, pages, len);
		fg->out = opt;
		fg32(fg, i);
		fg64(fg, at);
		fg64(fg, len);
		free(pages);
	}
	fclose(opt);
	fg->out = out;
}

static inline void forge_text(struct forge *fg, char **option, size_t *option_len)
{
	FILE *out = fg->out;
	uint64_t section = ftell(out);
	size_t len;

	fg16(fg, 22);
	fg16(fg, fg->codec ? 1 : 0);
	fg32(fg, -1);
	fg64(fg, 0);
	len = forge_chunks(fg, (const uint8_t *)fg->text, strlen(fg->text));
	fseek(out, section + 8, SEEK_SET);
	fg64(fg, len);
	fseek(out, 0, SEEK_END);
	fg->out = open_memstream(option, option_len);
	fg64(fg, section);
	fg_str(fg, "");
	fg_str(fg, "mono");
	fclose(fg->out);
	fg->out = out;
}

static inline void forge_v7(struct forge *fg)
{
	uint64_t at[6], first, size;
	char *buffer, *top = NULL;
	size_t len, top_len = 0;
	long start, size_at;

	fg_str(fg, fg->codec ? fg->codec : "none");
	fg_str(fg, fg->codec ? "1" : "");
	start = ftell(fg->out);
	fg64(fg, 0);
	at[0] = forge_section_of(fg, 16, forge_header_info);
	at[1] = forge_section_of(fg, 17, forge_none);
	at[2] = forge_section_of(fg, 18, forge_formats);
	at[3] = forge_section_of(fg, 19, forge_none);
	at[4] = forge_section_of(fg, 20, forge_none);
	at[5] = forge_section_of(fg, 21, forge_comms);
	if (fg->instance)
		forge_buffer(fg, true, &top, &top_len);
	if (fg->text)
		forge_text(fg, &buffer, &len);
	else
		forge_buffer(fg, false, &buffer, &len);
	/* options in two sections, one after the other */
	first = ftell(fg->out);
	fg16(fg, 0);
	fg16(fg, 0);
	fg32(fg, -1);
	size_at = ftell(fg->out);
	fg64(fg, 0);
	for (unsigned int i = 0; i < 6; i++) {
		fg16(fg, 16 + i);
		fg32(fg, 8);
		fg64(fg, at[i]);
	}
	fg16(fg, 0);
	fg32(fg, 8);
	fg64(fg, ftell(fg->out) + 8);
	size = ftell(fg->out) - size_at - 8;
	fg16(fg, 0);
	fg16(fg, 0);
	fg32(fg, -1);
	fg64(fg, 1 << 20); /* more than there is: readers go by the option DONE */
	forge_options(fg);
	if (top)
		forge_option(fg, 3, top, top_len);
	forge_option(fg, fg->text ? 22 : 3, buffer, len);
	fg16(fg, 0);
	fg32(fg, 8);
	fg64(fg, 0);
	free(buffer);
	free(top);
	fseek(fg->out, size_at, SEEK_SET);
	fg64(fg, size);
	fseek(fg->out, start, SEEK_SET);
	fg64(fg, first);
}

/* The whole file in memory. The caller frees it. */
static inline char *forge_bytes(const struct forge *kind, size_t *len)
{
	struct forge fg = *kind;
	char *bytes = NULL, *copy;
	long end;

	fg.nr_cpus = fg.nr_cpus ? fg.nr_cpus : 2;
	fg.long_size = fg.long_size ? fg.long_size : 8;
	fg.swap = fg.big_endian != PFS_HOST_BIG_ENDIAN;
	fg.ring = (struct pfs_ring_layout){ .big_endian = fg.big_endian,
					    .swap = fg.swap,
					    .long_size = fg.long_size,
					    .commit_at = 8,
					    .data_at = 8 + fg.long_size };
	fg.out = tmpfile();
	fwrite("\x17\x08\x44tracing", 1, 10, fg.out);
	fg_str(&fg, fg.version == 7 ? "7" : "6");
	fputc(fg.big_endian, fg.out);
	fputc(fg.long_size, fg.out);
	fg32(&fg, FORGE_PAGE);
	if (fg.version == 7)
		forge_v7(&fg);
	else
		forge_v6(&fg);
	fseek(fg.out, 0, SEEK_END);
	end = ftell(fg.out);
	bytes = malloc(end);
	rewind(fg.out);
	*len = fread(bytes, 1, end, fg.out);
	fclose(fg.out);
	copy = realloc(bytes, *len);
	return copy ? copy : bytes;
}

static inline int forge_fd(const void *bytes, size_t len)
{
	int fd = memfd_create("forged.dat", MFD_CLOEXEC);

	if (write(fd, bytes, len) != (ssize_t)len)
		abort();
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static inline int forge_file(const struct forge *kind)
{
	size_t len;
	char *bytes = forge_bytes(kind, &len);
	int fd = forge_fd(bytes, len);

	free(bytes);
	return fd;
}

#endif
