/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof's profile.proto (github.com/google/pprof, proto/profile.proto), compressed by gzip. Faults are added up by call path,
 * region, kind and name of the thread; the second value is what is
 * resident at the end of each process, or of the recording, by the paths that brought it.
 */
#include "export/proto.h"
#include "export/strings.h"
#include "export/sums.h"
#include "export/viewer_priv.h"

#include <errno.h>
#include <zlib.h>

/* Fields of profile.proto. */
enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING, DURATION = 10, COMMENT = 13, DEFAULT_TYPE };

struct pprof {
	struct viewer_sums faults;     /* by path, kind, region, thread name */
	struct viewer_sums pages;      /* by path, process, region */
	struct viewer_string *strings; /* 0 is "" */
	struct viewer_proto proto;
	z_stream z;
	bool deflating, failed;
};

static unsigned int kind_of(const struct viewer_fault *f)
{
	return f->access | f->class << 2 | f->how << 4 | f->label << 12;
}

static int put_fault(struct pfs_viewer *viewer, const struct viewer_fault *f)
{
	struct pprof *pprof = viewer->state;
	struct viewer_sum *sum =
		viewer_sum_at(&pprof->faults,
			      (struct viewer_sum_key){ f->call, kind_of(f), (uintptr_t)f->region, (uintptr_t)f->comm });

	if (!sum)
		return -ENOMEM;
	sum->faults++;
	return 0;
}

/* What a process has when it ends counts. */
static int put_page(struct pfs_viewer *viewer, const struct viewer_page *page)
{
	struct pprof *pprof = viewer->state;
	struct viewer_sum_key key = { page->call, page->proc, (uintptr_t)page->region, 0 };
	struct viewer_sum *sum = page->ended ? NULL : viewer_sum_at(&pprof->pages, key);

	if (!sum)
		return page->ended ? 0 : -ENOMEM;
	sum->pages += page->came ? 1 : -1;
	return 0;
}

/* ---- bytes ---- */

/* Compresses what was gathered. */
static void squeeze(struct pfs_viewer *viewer, int flush)
{
	struct pprof *pprof = viewer->state;
	uint8_t out[1 << 14];

	pprof->z.next_in = pprof->proto.bytes;
	pprof->z.avail_in = pprof->proto.nr;
	do {
		pprof->z.next_out = out;
		pprof->z.avail_out = sizeof(out);
		if (deflate(&pprof->z, flush) == Z_STREAM_ERROR)
			pprof->failed = true;
		fwrite(out, 1, sizeof(out) - pprof->z.avail_out, viewer->out);
	} while (!pprof->z.avail_out && !pprof->failed);
	pprof->proto.nr = 0;
}

static void went_on(struct pfs_viewer *viewer)
{
	struct pprof *pprof = viewer->state;

	if (pprof->proto.nr > 1 << 16)
		squeeze(viewer, Z_NO_FLUSH);
}

/* The number of a string, which lives as long as the viewer. */
static uint64_t string(struct pprof *pprof, const char *s)
{
	bool added;
	uint32_t nr = *s ? viewer_string_number(&pprof->strings, s, &added) : 0;

	pprof->failed |= *s && !nr;
	return nr;
}

/* ---- messages ---- */

static void put_type(struct pprof *pprof, const char *type, const char *unit)
{
	size_t at = proto_begin(&pprof->proto, SAMPLE_TYPE);

	proto_u64(&pprof->proto, 1, string(pprof, type));
	proto_u64(&pprof->proto, 2, string(pprof, unit));
	proto_end(&pprof->proto, at);
}

static void put_label(struct pprof *pprof, const char *key, const char *value)
{
	size_t at;

	if (!*value)
		return;
	at = proto_begin(&pprof->proto, 3);
	proto_u64(&pprof->proto, 1, string(pprof, key));
	proto_u64(&pprof->proto, 2, string(pprof, value));
	proto_end(&pprof->proto, at);
}

static void put_sample(struct pfs_viewer *viewer, const struct viewer_sum *sum)
{
	struct pprof *pprof = viewer->state;
	struct viewer_proto *p = &pprof->proto;
	bool is_pages = !sum->key.comm;
	unsigned int kind = is_pages ? 0 : sum->key.what, how = kind >> 4 & 0xff;
	const char *comm = is_pages ? viewer->procs[sum->key.what]->name : (const char *)(uintptr_t)sum->key.comm;
	size_t at;

	if (!sum->faults && !sum->pages)
		return;
	at = proto_begin(p, SAMPLE);
	for (uint32_t call = sum->key.call; call; call = viewer->calls.calls[call].parent)
		proto_u64(p, 1, viewer->calls.calls[call].place + 1);
	proto_u64(p, 2, sum->faults);
	proto_u64(p, 2, sum->pages << viewer->model->page_shift);
	put_label(pprof, "region", (const char *)(uintptr_t)sum->key.more);
	put_label(pprof, "class", viewer_word(PFS_F_CLASS, kind >> 2 & 3));
	put_label(pprof, "access", viewer_access[kind & 3]);
	put_label(pprof, "how", viewer_word(PFS_F_HOW, how));
	put_label(pprof, "fault_class", viewer_class(kind >> 12));
	put_label(pprof, "fault_class_witness", viewer_witness(kind >> 12, how));
	put_label(pprof, "comm", comm);
	proto_end(p, at);
	went_on(viewer);
}

static void put_mapping(struct pprof *pprof, const struct viewer_place *place, uint32_t nr)
{
	size_t at = proto_begin(&pprof->proto, MAPPING);

	proto_u64(&pprof->proto, 1, nr);
	proto_u64(&pprof->proto, 5, string(pprof, viewer_file(place)));
	proto_u64(&pprof->proto, 6, string(pprof, place->build_id));
	proto_u64(&pprof->proto, 7, 1); /* functions are known */
	proto_end(&pprof->proto, at);
}

/* A location and a function, both with that number. */
static void put_place(struct pprof *pprof, const struct viewer_place *place, uint32_t nr, uint32_t mapping)
{
	struct viewer_proto *p = &pprof->proto;
	size_t at = proto_begin(p, LOCATION), line;

	proto_u64(p, 1, nr);
	if (mapping)
		proto_u64(p, 2, mapping);
	proto_u64(p, 3, place->off);
	line = proto_begin(p, 4);
	proto_u64(p, 1, nr);
	proto_u64(p, 2, place->line);
	proto_end(p, line);
	proto_end(p, at);
	at = proto_begin(p, FUNCTION);
	proto_u64(p, 1, nr);
	proto_u64(p, 2, string(pprof, place->name));
	proto_u64(p, 4, string(pprof, place->source));
	proto_end(p, at);
}

/* A mapping stands for each file, with the number of the first place in it. */
static int put_places(struct pfs_viewer *viewer)
{
	struct pprof *pprof = viewer->state;
	uint32_t *mappings = calloc(viewer->calls.nr_places + 1, sizeof(*mappings));
	int ret = mappings ? viewer_calls_files(&viewer->calls, mappings) : -ENOMEM;

	for (uint32_t i = 0; !ret && i < viewer->calls.nr_places; i++) {
		if (mappings[i] == i + 1)
			put_mapping(pprof, &viewer->calls.places[i], i + 1);
		put_place(pprof, &viewer->calls.places[i], i + 1, mappings[i]);
		went_on(viewer);
	}
	free(mappings);
	return ret;
}

static int end(struct pfs_viewer *viewer)
{
	struct pprof *pprof = viewer->state;
	struct viewer_proto *p = &pprof->proto;
	int ret;

	if (deflateInit2(&pprof->z, Z_BEST_SPEED, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	pprof->deflating = true;
	put_type(pprof, "faults", "count");
	put_type(pprof, "resident", "bytes");
	for (uint32_t i = 0; i < pprof->faults.nr; i++)
		put_sample(viewer, &pprof->faults.sums[i]);
	for (uint32_t i = 0; i < pprof->pages.nr; i++)
		put_sample(viewer, &pprof->pages.sums[i]);
	ret = put_places(viewer);
	if (ret)
		return ret;
	proto_u64(p, DURATION, viewer->end_ns > viewer->base_ns ? viewer->end_ns - viewer->base_ns : 0);
	proto_u64(p, COMMENT, string(pprof, viewer_title(viewer)));
	proto_u64(p, DEFAULT_TYPE, string(pprof, "faults"));
	proto_string(p, STRING, "");
	for (const struct viewer_string *s = pprof->strings; s; s = s->hh.next) {
		proto_string(p, STRING, s->key);
		went_on(viewer);
	}
	squeeze(viewer, Z_FINISH);
	return pprof->failed || p->failed ? -ENOMEM : 0;
}

static void fini(struct pfs_viewer *viewer)
{
	struct pprof *pprof = viewer->state;

	if (pprof->deflating)
		deflateEnd(&pprof->z);
	viewer_sums_fini(&pprof->faults);
	viewer_sums_fini(&pprof->pages);
	PFS_HASH_FREE(pprof->strings);
	free(pprof->proto.bytes);
}

const struct viewer_format viewer_pprof = {
	.size = sizeof(struct pprof),
	.binary = true,
	.fault = put_fault,
	.page = put_page,
	.end = end,
	.fini = fini,
};
