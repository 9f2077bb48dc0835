// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The writer of trace.dat files: a header made in memory, then each processor's data on a page
 * boundary. dat_v6.c reads it back.
 */
#include "dat_write.h"

#include "bytes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* Options (trace-cmd.dat.v7(5) has their list). */
enum { OPT_CPUSTAT = 2, OPT_TRACECLOCK = 4, OPT_UNAME = 5, OPT_VERSION = 9 };

static void put16(FILE *out, uint16_t v)
{
	fwrite(&v, sizeof(v), 1, out);
}

static void put32(FILE *out, uint32_t v)
{
	fwrite(&v, sizeof(v), 1, out);
}

static void put64(FILE *out, uint64_t v)
{
	fwrite(&v, sizeof(v), 1, out);
}

/* A string with its NUL. */
static void put_str(FILE *out, const char *str)
{
	fwrite(str, 1, strlen(str) + 1, out);
}

/* Its length, then the text without a NUL; NULL: none. */
static void put_sized8(FILE *out, const char *text)
{
	put64(out, text ? strlen(text) : 0);
	if (text)
		fputs(text, out);
}

static void put_option(FILE *out, uint16_t id, const char *text)
{
	if (!text)
		return;
	put16(out, id);
	put32(out, strlen(text) + 1);
	put_str(out, text);
}

/* "CPU: 0\nentries: 1\n...": the number is not in the kernel's text. */
static void put_cpustat(FILE *out, unsigned int cpu, const char *stats)
{
	char number[32];

	if (!stats)
		return;
	snprintf(number, sizeof(number), "CPU: %u\n", cpu);
	put16(out, OPT_CPUSTAT);
	put32(out, strlen(number) + strlen(stats) + 1);
	fputs(number, out);
	put_str(out, stats);
}

static bool same_system(const struct pfs_formats *f, unsigned int i, unsigned int k)
{
	return !strcmp(f->texts[i].system, f->texts[k].system);
}

/* Whether texts[i] is the first of its system. */
static bool first_of_system(const struct pfs_formats *f, unsigned int i)
{
	for (unsigned int k = 1; k < i; k++)
		if (same_system(f, i, k))
			return false;
	return true;
}

/* Those of the kernel's own "ftrace" system have a place apart. */
static bool is_tracers(const struct pfs_formats *f, unsigned int i)
{
	return !strcmp(f->texts[i].system, "ftrace");
}

static void put_tracer_formats(FILE *out, const struct pfs_formats *f)
{
	uint32_t nr = 0;

	for (unsigned int i = 1; i < f->nr_rows; i++)
		nr += is_tracers(f, i);
	put32(out, nr);
	for (unsigned int i = 1; i < f->nr_rows; i++)
		if (is_tracers(f, i))
			put_sized8(out, f->texts[i].text);
}

static void put_formats(FILE *out, const struct pfs_formats *f)
{
	uint32_t nr_systems = 0;

	for (unsigned int i = 1; i < f->nr_rows; i++)
		nr_systems += !is_tracers(f, i) && first_of_system(f, i);
	put32(out, nr_systems);
	for (unsigned int i = 1; i < f->nr_rows; i++) {
		uint32_t nr_events = 0;

		if (is_tracers(f, i) || !first_of_system(f, i))
			continue;
		for (unsigned int k = i; k < f->nr_rows; k++)
			nr_events += same_system(f, i, k);
		put_str(out, f->texts[i].system);
		put32(out, nr_events);
		for (unsigned int k = i; k < f->nr_rows; k++)
			if (same_system(f, i, k))
				put_sized8(out, f->texts[k].text);
	}
}

/* "1234 bash\n" lines. NULL: no memory. */
static char *tasks_text(const struct pfs_dat_content *content)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	for (unsigned int i = 0; i < content->nr_tasks; i++) {
		const struct pfs_dat_task *task = &content->tasks[i];

		fprintf(out, "%d %.*s\n", task->tid, (int)strcspn(task->comm, "\n"), task->comm);
	}
	return fclose(out) ? (free(text), NULL) : text;
}

static void put_options(FILE *out, const struct pfs_dat_content *content, const char *clock)
{
	put_str(out, "options  ");
	put_option(out, OPT_TRACECLOCK, clock);
	put_option(out, OPT_UNAME, content->uname);
	put_option(out, OPT_VERSION, content->version);
	for (unsigned int i = 0; content->cpustats && i < content->nr_cpus; i++)
		put_cpustat(out, i, content->cpustats[i]);
	put16(out, 0);
}

static void put_symbols(FILE *out, const char *symbols)
{
	uint32_t len = symbols ? strlen(symbols) : 0;

	put32(out, len);
	if (len)
		fwrite(symbols, 1, len, out);
}

/* Everything up to the word "flyrecord". */
static void put_head(FILE *out, const struct pfs_dat_content *content, unsigned int nr_cpus,
		     const char *tasks, const char *clock)
{
	const struct pfs_formats *f = content->formats;

	fwrite("\x17\x08\x44tracing", 1, 10, out);
	put_str(out, "6");
	fputc(f->ring.big_endian, out);
	fputc(f->ring.long_size, out);
	put32(out, content->page_size);
	put_str(out, "header_page");
	put_sized8(out, f->header_page);
	put_str(out, "header_event");
	put_sized8(out, f->header_event);
	put_tracer_formats(out, f);
	put_formats(out, f);
	put_symbols(out, content->symbols);
	put32(out, 0);		/* printk formats */
	put_sized8(out, tasks);
	put32(out, nr_cpus);
	put_options(out, content, clock);
}

/* The clock in use, in brackets: "mono" becomes "[mono]", "local [mono]" stays. NULL: no memory. */
static char *clock_text(const char *clock)
{
	char *text;

	if (strchr(clock, '['))
		return strdup(clock);
	return asprintf(&text, "[%s]", clock) < 0 ? NULL : text;
}

struct data {
	int fd;
	uint64_t offset, size;
};

/* The spools and how much of each; the last one is pfscope's own. NULL: see errno. */
static struct data *measure(const struct pfs_dat_content *content, unsigned int *nr)
{
	struct data *data = calloc(content->nr_cpus + 1, sizeof(*data));
	struct stat st;

	*nr = content->nr_cpus + (content->own_fd >= 0);
	for (unsigned int i = 0; data && i < *nr; i++) {
		data[i].fd = i < content->nr_cpus ? content->spool_fds[i] : content->own_fd;
		if (data[i].fd < 0)
			continue;
		if (fstat(data[i].fd, &st) < 0) {
			free(data);
			return NULL;
		}
		data[i].size = st.st_size - st.st_size % content->page_size;
	}
	return data;
}

/*
 * The header up to its end, in memory. The clock's name comes once more behind the table, where old
 * versions look for it. NULL: no memory.
 */
static char *make_head(const struct pfs_dat_content *content, struct data *data, unsigned int nr,
		       size_t *len)
{
	char *head = NULL, *tasks = tasks_text(content), *clock = clock_text(content->clock);
	FILE *out = tasks && clock ? open_memstream(&head, len) : NULL;
	uint64_t pos;

	if (!out)
		goto out;
	put_head(out, content, nr, tasks, clock);
	put_str(out, "flyrecord");
	pos = ftell(out) + 16 * nr + 8 + strlen(clock);
	for (unsigned int i = 0; i < nr; i++) {
		pos += content->page_size - 1;
		pos -= pos % content->page_size;
		data[i].offset = pos;
		put64(out, data[i].offset);
		put64(out, data[i].size);
		pos += data[i].size;
	}
	put_sized8(out, clock);
	if (fclose(out)) {
		free(head);
		head = NULL;
	}
out:
	free(tasks);
	free(clock);
	return head;
}

static int write_all(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		len -= n;
	}
	return 0;
}

static ssize_t copy_by_hand(int out, int in, off_t *pos, size_t len)
{
	char buf[1 << 16];
	ssize_t n = pread(in, buf, len < sizeof(buf) ? len : sizeof(buf), *pos);
	int ret;

	if (n <= 0)
		return n;
	ret = write_all(out, buf, n);
	if (ret < 0) {
		errno = -ret;
		return -1;
	}
	*pos += n;
	return n;
}

static ssize_t copy_range(int out, int in, off_t *pos, size_t len)
{
	return copy_file_range(in, pos, out, NULL, len, 0);
}

/* A full or failing disk: another way of copying will not help. */
static bool final(int error)
{
	return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO;
}

/* Copies a spool to out's position, by the first way that works between these two files. */
static int copy_data(int out, const struct data *data)
{
	ssize_t (*const ways[])(int out, int in, off_t *pos, size_t len) = {
		copy_range, sendfile, copy_by_hand,
	};
	const unsigned int last = sizeof(ways) / sizeof(ways[0]) - 1;
	unsigned int way = 0;
	off_t pos = 0;

	if (data->size && lseek(out, data->offset, SEEK_SET) < 0)
		return -errno;
	while ((uint64_t)pos < data->size) {
		uint64_t left = data->size - pos;
		ssize_t n = ways[way](out, data->fd, &pos, left < 1 << 30 ? left : 1 << 30);

		if (n > 0 || (n < 0 && errno == EINTR))
			continue;
		if (way < last && (!n || !final(errno)))
			way++;
		else
			return n ? -errno : -EIO;
	}
	return 0;
}

int pfs_dat_write(int fd, const struct pfs_dat_content *content, struct pfs_err *err)
{
	unsigned int nr;
	struct data *data = measure(content, &nr);
	char *head = NULL;
	size_t len = 0;
	int ret = 0;

	if (!data)
		return pfs_err_set(err, -errno, "cannot look at a spool file: %s", strerror(errno));
	head = make_head(content, data, nr, &len);
	if (!head)
		ret = -ENOMEM;
	else if (lseek(fd, 0, SEEK_SET) < 0)
		ret = -errno;
	else
		ret = write_all(fd, head, len);
	for (unsigned int i = 0; !ret && i < nr; i++)
		ret = copy_data(fd, &data[i]);
	free(head);
	free(data);
	if (ret < 0)
		pfs_err_set(err, ret, "cannot write the recording: %s", strerror(-ret));
	return ret;
}
