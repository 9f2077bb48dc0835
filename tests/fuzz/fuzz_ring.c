// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sub-buffers of the ring buffer, as records of a kernel whose event formats are known: the part of a trace.dat
 * that fuzz_dat.c reaches only through all of the file's tables, and of which there is most.
 *
 * The input is two processors' sub-buffers and pfscope's own; its first two bytes say where it is cut. seeds.c
 * makes such input of recordings.
 */
#include "fuzz.h"

#include "record/merge.h"
#include "ring_formats.h"

struct memory_source {
	struct pfs_page_source src;
	const uint8_t *at, *end;
};

static int memory_next(struct pfs_page_source *src, const uint8_t **page, uint32_t *size, struct pfs_err *err)
{
	struct memory_source *m = (struct memory_source *)src;

	if (m->at == m->end)
		return 0;
	*page = m->at;
	*size = m->end - m->at < RING_PAGE ? m->end - m->at : RING_PAGE;
	m->at += *size;
	return 1;
}

static void memory_free(struct pfs_page_source *src)
{
	free(src);
}

static void add(struct pfs_merge *m, int cpu, const uint8_t *bytes, size_t len)
{
	struct memory_source *source = calloc(1, sizeof(*source));

	source->src.next = memory_next;
	source->src.free = memory_free;
	source->at = bytes;
	source->end = bytes + len;
	pfs_merge_add(m, cpu, &source->src, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct pfs_formats *formats;
	size_t own, first, rest;
	struct pfs_assembler *a;
	struct pfs_sink sink;
	struct pfs_merge *m;
	struct pfs_err err;
	uint8_t *bytes;
	struct fuzz f;

	if (size < 2)
		return -1;
	if (!formats)
		formats = ring_formats();
	own = data[0] * RING_CUT < size - 2 ? data[0] * RING_CUT : size - 2;
	rest = size - 2 - own;
	first = data[1] * RING_CUT < rest ? data[1] * RING_CUT : rest;
	bytes = malloc(size - 2); /* of its own length, so that no byte behind it is read unseen */
	memcpy(bytes, data + 2, size - 2);
	sink = fuzz_begin(&f, size);
	a = pfs_assembler_new(&sink);
	if (!a || pfs_assembler_may_have_stacks(a))
		abort();
	m = pfs_merge_new(formats, size % 4 ? PFS_MERGE_SALVAGE : 0);
	pfs_merge_take_faults(m, pfs_assembler_faults);
	add(m, 2, bytes, own);
	add(m, 0, bytes + own, first);
	add(m, 1, bytes + own + first, rest - first);
	pfs_merge_run(m, UINT64_MAX, pfs_assembler_feed, a, &err);
	pfs_assembler_finish(a);
	pfs_merge_free(m);
	pfs_assembler_free(a);
	free(bytes);
	fuzz_end(&f);
	return 0;
}
