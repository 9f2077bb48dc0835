// SPDX-License-Identifier: GPL-2.0-or-later
/* The trace.dat reader: it opens a file and feeds the data of all buffers to merge.c. */
#include "dat/dat_priv.h"

#include "base/bytes.h"
#include "base/write_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "\x17\x08\x44tracing"

bool pfs_dat_is_magic(const void *bytes, size_t len)
{
	return len >= PFS_DAT_MAGIC_LEN && !memcmp(bytes, MAGIC, PFS_DAT_MAGIC_LEN);
}

/* Magic, version, byte order, long size, page size: the same in all versions. */
static int initial_format(struct pfs_dat *dat, struct dat_cursor *c)
{
	const char *magic, *version;
	const uint8_t *machine;

	magic = dat->size < PFS_DAT_MAGIC_LEN ? NULL : dat_take(c, PFS_DAT_MAGIC_LEN, "magic");
	if (c->code)
		return c->code;
	if (!magic || !pfs_dat_is_magic(magic, PFS_DAT_MAGIC_LEN))
		return dat_fail(dat, c->err, -EBADMSG, 0, "this is no trace.dat file");
	version = dat_string(c, "version of the file");
	if (!version)
		return c->code;
	dat->info.version = strlen(version) == 1 ? *version - '0' : -1;
	if (dat->info.version != 6 && dat->info.version != 7)
		return dat_fail(dat, c->err, -ENOTSUP, PFS_DAT_MAGIC_LEN,
				"version \"%.16s\" of trace.dat, of which pfscope knows 6 and 7", version);
	machine = dat_take(c, 2, "byte order and long size");
	if (!machine)
		return c->code;
	if (machine[0] > 1 || (machine[1] != 4 && machine[1] != 8)) {
		c->pos -= 2;
		return dat_cursor_fail(c, "byte order and long size");
	}
	dat->swap = machine[0] != PFS_HOST_BIG_ENDIAN;
	dat->info.page_size = dat_u32(c, "page size");
	if (c->code)
		return c->code;
	dat->info.formats = pfs_formats_new(machine[0], machine[1]);
	if (dat->prints)
		dat->printer = pfs_printer_new(machine[0], machine[1]);
	return dat->info.formats && (dat->printer || !dat->prints) ? 0
								   : dat_fail(dat, c->err, -ENOMEM, 0, "out of memory");
}

static int open_all(struct pfs_dat *dat, struct pfs_err *err)
{
	struct dat_cursor c;
	struct stat st;
	int ret;

	if (!dat->name || fstat(dat->fd, &st) < 0)
		return dat_fail(dat, err, dat->name ? -errno : -ENOMEM, 0, "%s", strerror(errno));
	dat->size = st.st_size;
	dat->blocks_left = DAT_BLOCKS_MAX(dat->size);
	dat_cursor_file(&c, dat, 0, dat->size, err);
	ret = initial_format(dat, &c);
	if (!ret)
		ret = dat->info.version == 6 ? dat_v6_open(dat, &c) : dat_v7_open(dat, &c);
	dat_cursor_fini(&c);
	for (unsigned int i = 0; !ret && i < dat->nr_buffers; i++)
		ret = dat_check_buffer(dat, &dat->buffers[i], err);
	return ret;
}

struct pfs_dat *pfs_dat_open(int fd, const char *name, unsigned int flags, struct pfs_err *err)
{
	struct pfs_dat *dat = calloc(1, sizeof(*dat));
	struct pfs_err ignored;
	int ret;

	if (!dat) {
		pfs_err_set(err, -ENOMEM, "%s: out of memory", name);
		return NULL;
	}
	dat->fd = fd;
	dat->name = strdup(name);
	dat->salvage = flags & PFS_DAT_SALVAGE;
	dat->prints = flags & PFS_DAT_PRINT;
	ret = open_all(dat, err ? err : &ignored);
	if (ret < 0) {
		pfs_dat_close(dat);
		errno = -ret;
		return NULL;
	}
	dat->info.compressed = dat->codec != DAT_CODEC_NONE;
	dat->stats.damaged = dat->open_damage;
	dat->stats.first_damage = dat->first_damage;
	return dat;
}

void pfs_dat_close(struct pfs_dat *dat)
{
	if (!dat)
		return;
	for (unsigned int i = 0; i < dat->nr_buffers; i++) {
		free(dat->buffers[i].name);
		free(dat->buffers[i].cpus);
	}
	for (uint32_t i = 0; dat->sync && i < dat->nr_sync; i++)
		free(dat->sync[i].samples);
	free(dat->sync);
	free(dat->buffers);
	free(dat->comms);
	free(dat->comm_text);
	free(dat->info.clock);
	free(dat->info.uname);
	free(dat->info.writer);
	pfs_formats_free(dat->info.formats);
	pfs_printer_free(dat->printer);
	free(dat->name);
	free(dat);
}

static struct pfs_page_source *open_source(struct pfs_dat *dat, const struct dat_buffer *buffer,
					   const struct dat_cpu *cpu, uint32_t page_size)
{
	if (!cpu->size)
		return pfs_page_source_file(dat->fd, 0, 0, page_size);
	/* trace-cmd 3.1 leaves the count of chunks, 4 bytes, out of the size */
	if (buffer->compressed)
		return dat_unzip_chunks(dat->codec, dat->fd, cpu->offset,
					cpu->size + 4 < dat->size - cpu->offset ? cpu->offset + cpu->size + 4
										: dat->size,
					page_size, dat->swap, &dat->chunks_left);
	/* for a short sub-buffer, take no more memory than it has bytes */
	if (page_size > cpu->size)
		page_size = cpu->size;
	return pfs_page_source_file(dat->fd, cpu->offset, cpu->size, page_size);
}

static int add_cpu(struct pfs_dat *dat, struct pfs_merge *m, const struct dat_buffer *buffer, const struct dat_cpu *cpu)
{
	struct pfs_ts_conv conv = dat->conv;
	int ret;

	if (!cpu->size && !cpu->cut)
		return 0;
	/* trace-cmd applies a guest's time shift to its top buffer only */
	if (!*buffer->name && cpu->cpu < dat->nr_sync)
		conv.sync = &dat->sync[cpu->cpu];
	ret = pfs_merge_add(m, cpu->cpu, open_source(dat, buffer, cpu, buffer->page_size), &conv);
	if (!ret && cpu->cut)
		pfs_merge_cut(m);
	return ret;
}

static int add_buffer(struct pfs_dat *dat, struct pfs_merge *m, const struct dat_buffer *buffer)
{
	unsigned int nr = buffer->text ? 0 : buffer->nr_cpus;
	int ret = 0;

	/* pfscope's own records, its last CPU, go first where times are equal, as live */
	if (nr && pfs_formats_find(dat->info.formats, "pfscope", "pfs_note"))
		ret = add_cpu(dat, m, buffer, &buffer->cpus[--nr]);
	for (unsigned int i = 0; !ret && i < nr; i++)
		ret = add_cpu(dat, m, buffer, &buffer->cpus[i]);
	return ret;
}

/* Between the merge and the caller of pfs_dat_read(), where records of other events are printed. */
struct others {
	struct pfs_dat *dat;
	raw_event_fn fn;
	void *ctx;
};

static int print_other(void *ctx, const struct raw_event *raw)
{
	const struct others *others = ctx;
	const struct pfs_formats *f = others->dat->info.formats;
	struct raw_event printed = *raw;
	unsigned int id = 0;
	int err;

	if (raw->kind != RAW_OTHER)
		return others->fn(others->ctx, raw);
	if (raw->record_len >= f->type_at + 2u)
		id = pfs_load16((const uint8_t *)raw->record + f->type_at, f->ring.swap);
	err = pfs_printer_print(others->dat->printer, id, raw->record, raw->record_len, raw->cpu, raw->ts_ns,
				&printed.str, &printed.text);
	return err || !printed.str ? err : others->fn(others->ctx, &printed);
}

int pfs_dat_read(struct pfs_dat *dat, unsigned int flags, raw_event_fn fn, void *ctx, struct pfs_err *err)
{
	struct others others = { dat, fn, ctx };
	struct pfs_err why = { "" };
	struct pfs_merge *m;
	int ret = 0;

	if (pfs_dat_is_text(dat))
		return pfs_err_set(err, -EINVAL, "%s: it holds the text of a latency tracer, no records", dat->name);
	m = pfs_merge_new(dat->info.formats,
			  (dat->salvage ? PFS_MERGE_SALVAGE : 0) | (flags & PFS_DAT_OTHER ? PFS_MERGE_OTHER : 0));
	if (!m)
		return pfs_err_set(err, -ENOMEM, "%s: out of memory", dat->name);
	dat->chunks_left = DAT_CHUNKS_MAX(dat->size);
	pfs_merge_take_faults(m, dat->printer ? NULL : dat->faults);
	pfs_merge_watch(m, dat->watch, dat->watch_ctx);
	for (unsigned int i = 0; !ret && i < dat->nr_buffers; i++)
		ret = add_buffer(dat, m, &dat->buffers[i]);
	if (ret < 0)
		pfs_err_set(&why, ret, "out of memory");
	else
		ret = dat->printer ? pfs_merge_run(m, UINT64_MAX, print_other, &others, &why)
				   : pfs_merge_run(m, UINT64_MAX, fn, ctx, &why);
	if (*why.msg)
		pfs_err_set(err, ret, "%.100s: %.400s", dat->name, why.msg);
	dat->stats = *pfs_merge_stats(m);
	if (!dat->stats.damaged || dat->open_damage)
		dat->stats.first_damage = dat->first_damage;
	dat->stats.damaged += dat->open_damage;
	pfs_merge_free(m);
	return ret;
}

void pfs_dat_watch(struct pfs_dat *dat, pfs_merge_watch_fn fn, void *ctx)
{
	dat->watch = fn;
	dat->watch_ctx = ctx;
}

void pfs_dat_take_faults(struct pfs_dat *dat, raw_faults_fn faults)
{
	dat->faults = faults;
}

const struct pfs_merge_stats *pfs_dat_stats(const struct pfs_dat *dat)
{
	return &dat->stats;
}

bool pfs_dat_is_text(const struct pfs_dat *dat)
{
	bool text = false;

	for (unsigned int i = 0; i < dat->nr_buffers; i++) {
		if (dat->buffers[i].text)
			text = true;
		else if (dat->buffers[i].nr_cpus)
			return false;
	}
	return text;
}

/* Copies one buffer's text to the end of out. */
static int copy_text(struct pfs_dat *dat, const struct dat_buffer *buffer, int out, struct pfs_err *err)
{
	struct pfs_page_source *src;
	const uint8_t *piece;
	uint32_t size;
	int ret;

	if (!buffer->text || !buffer->nr_cpus || !buffer->cpus[0].size)
		return 0;
	src = open_source(dat, buffer, &buffer->cpus[0], 1 << 16);
	if (!src)
		return pfs_err_set(err, -ENOMEM, "out of memory");
	while ((ret = src->next(src, &piece, &size, err)) > 0) {
		ret = pfs_temp_write(out, piece, size, err);
		if (ret < 0)
			break;
	}
	pfs_page_source_free(src);
	return ret;
}

int pfs_dat_text(struct pfs_dat *dat, struct pfs_err *err)
{
	int out = pfs_temp_open(err), ret = out;

	dat->chunks_left = DAT_CHUNKS_MAX(dat->size);
	for (unsigned int i = 0; ret >= 0 && i < dat->nr_buffers; i++)
		ret = copy_text(dat, &dat->buffers[i], out, err);
	if (ret >= 0 && lseek(out, 0, SEEK_SET) < 0)
		ret = -errno;
	if (ret < 0 && out >= 0)
		close(out);
	return ret < 0 ? ret : out;
}

int pfs_dat_spool(int fd, const char *name, const void *head, size_t head_len, struct pfs_err *err)
{
	char buf[1 << 16];
	struct stat st;
	ssize_t n = 0;
	int out, ret;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	out = ret = pfs_temp_open(err);
	if (ret >= 0)
		ret = pfs_temp_write(out, head, head_len, err);
	while (ret >= 0 && (n = read(fd, buf, sizeof(buf)))) {
		if (n > 0)
			ret = pfs_temp_write(out, buf, n, err);
		else if (errno != EINTR)
			ret = pfs_err_set(err, -errno, "%s: %s", name, strerror(errno));
	}
	if (ret < 0 && out >= 0)
		close(out);
	return ret < 0 ? ret : out;
}

const struct pfs_dat_info *pfs_dat_info(const struct pfs_dat *dat)
{
	return &dat->info;
}
