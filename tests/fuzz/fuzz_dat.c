// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace.dat of versions 6 and 7, whole: tables, options, compression, sub-buffers, merge, assembler, model, a view.
 *
 * The offsets in such a file are absolute, so bytes put in or taken out break most of it: three times in four, a
 * stretch of it is changed in place instead.
 */
#include "fuzz.h"

#include "dat/dat.h"
#include "text/text.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file in memory with these bytes; the same one each time. */
static int file_of(const uint8_t *data, size_t size)
{
	static int fd = -1;
	static size_t len;

	if (fd < 0)
		fd = memfd_create("fuzz.dat", MFD_CLOEXEC);
	if (len != size && ftruncate(fd, size))
		abort();
	len = size;
	if (pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return fd;
}

static const char *name_of(void *ctx, int32_t tid)
{
	return pfs_dat_comm(ctx, tid);
}

/* A latency tracer's file: its text is read again, as text. */
static void read_text(struct pfs_dat *dat, struct pfs_assembler *a)
{
	struct pfs_text *text = pfs_text_new(pfs_assembler_feed, a, NULL);
	struct pfs_err err;
	char buf[4096];
	ssize_t got;
	int fd = pfs_dat_text(dat, &err);

	while (fd >= 0 && (got = read(fd, buf, sizeof(buf))) > 0 && !pfs_text_feed(text, buf, got))
		;
	pfs_text_finish(text);
	pfs_text_free(text);
	if (fd >= 0)
		close(fd);
}

static void read_all(struct pfs_dat *dat, struct pfs_assembler *a)
{
	struct pfs_err err;

	pfs_assembler_set_names(a, name_of, dat);
	if (pfs_dat_info(dat)->uname)
		pfs_assembler_header(a, "uname", pfs_dat_info(dat)->uname);
	if (pfs_dat_info(dat)->clock)
		pfs_assembler_header(a, "clock", pfs_dat_info(dat)->clock);
	if (pfs_dat_is_text(dat)) {
		read_text(dat, a);
	} else {
		pfs_dat_take_faults(dat, pfs_assembler_faults);
		pfs_dat_read(dat, 0, pfs_assembler_feed, a, &err);
	}
	pfs_assembler_finish(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int flags = size % 4 ? PFS_DAT_SALVAGE : 0;
	struct pfs_assembler *a;
	struct pfs_sink sink;
	struct pfs_dat *dat;
	struct pfs_err err;
	struct fuzz f;

	if (!pfs_dat_is_magic(data, size)) /* of what begins otherwise, nobody thinks that it is one */
		return -1;
	dat = pfs_dat_open(file_of(data, size), "fuzz.dat", flags, &err);
	if (!dat)
		return 0;
	sink = fuzz_begin(&f, size);
	a = pfs_assembler_new(&sink);
	if (!a || pfs_assembler_may_have_stacks(a))
		abort();
	read_all(dat, a);
	pfs_assembler_free(a);
	pfs_dat_close(dat);
	fuzz_end(&f);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	uint8_t stretch[256];
	size_t at, len;

	if (seed % 4 == 0 || size < PFS_DAT_MAGIC_LEN + 2)
		return LLVMFuzzerMutate(data, size, max);
	seed /= 4;
	at = PFS_DAT_MAGIC_LEN + seed / 8 % (size - PFS_DAT_MAGIC_LEN);
	len = 1 + seed % (seed % 8 ? 32 : sizeof(stretch));
	if (len > size - at)
		len = size - at;
	memcpy(stretch, data + at, len);
	LLVMFuzzerMutate(stretch, len, len);
	memcpy(data + at, stretch, len);
	return size;
}
