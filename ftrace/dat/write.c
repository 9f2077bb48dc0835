/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer of trace.dat files, and version 6: a header made in memory, then each CPU's data on a page
 * boundary. dat/v6.c reads it back.
 */
#include "dat/dat_priv.h"

#include "base/write_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Everything up to the word "flyrecord". */
static void put_head(FILE *out, const struct pfs_dat_content *content, unsigned int nr_cpus, const char *clock)
{
	dat_put_magic(out, content, '6');
	for (unsigned int i = 0; i < DAT_NR_PARTS; i++)
		dat_parts[i].put(out, content);
	dat_put32(out, nr_cpus);
	dat_put_str(out, "options  ");
	dat_put_options(out, content, clock);
	dat_put16(out, DAT_OPT_DONE);
}

/* The spools and their sizes; the last one holds pfscope's own records. NULL with errno set. */
static struct dat_data *measure(const struct pfs_dat_content *content, unsigned int *nr)
{
	struct dat_data *data = calloc(content->nr_cpus + 1, sizeof(*data));
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
static char *make_head(const struct pfs_dat_content *content, struct dat_data *data, unsigned int nr, size_t *len)
{
	char *head = NULL, *clock = dat_clock_text(content->clock);
	FILE *out = clock ? open_memstream(&head, len) : NULL;
	uint64_t pos;

	if (!out)
		goto out;
	put_head(out, content, nr, clock);
	dat_put_str(out, "flyrecord");
	pos = ftell(out) + 16 * nr + 8 + strlen(clock);
	for (unsigned int i = 0; i < nr; i++) {
		pos += content->page_size - 1;
		pos -= pos % content->page_size;
		data[i].offset = pos;
		dat_put64(out, data[i].offset);
		dat_put64(out, data[i].size);
		pos += data[i].size;
	}
	dat_put_sized8(out, clock);
	if (fclose(out)) {
		free(head);
		head = NULL;
	}
out:
	free(clock);
	return head;
}

static int write_v6(int fd, const struct pfs_dat_content *content, struct dat_data *data, unsigned int nr)
{
	size_t len = 0;
	char *head = make_head(content, data, nr, &len);
	int ret = head ? pfs_write_all(fd, head, len) : -ENOMEM;

	for (unsigned int i = 0; !ret && i < nr; i++)
		if (data[i].size)
			ret = lseek(fd, data[i].offset, SEEK_SET) < 0 ? -errno
								      : pfs_copy_file(fd, data[i].fd, data[i].size);
	free(head);
	return ret;
}

int pfs_dat_write(int fd, const struct pfs_dat_content *content, struct pfs_err *err)
{
	unsigned int nr;
	struct dat_data *data = measure(content, &nr);
	int ret;

	if (!data)
		return pfs_err_set(err, -errno, "cannot look at a spool file: %s", strerror(errno));
	if (lseek(fd, 0, SEEK_SET) < 0)
		ret = -errno;
	else if (content->compress)
		ret = dat_write_v7(fd, content, data, nr);
	else
		ret = write_v6(fd, content, data, nr);
	free(data);
	if (ret < 0)
		pfs_err_set(err, ret, "cannot write the recording: %s", strerror(-ret));
	return ret;
}
