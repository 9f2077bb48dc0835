/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * speedscope's own format (its src/lib/file-format-spec.ts): a profile for each thread, its samples in the order of time.
 * Faults with the same call path, one after another, are one sample with their number as its weight.
 */
#include "export/spool.h"
#include "export/viewer_priv.h"

#include <errno.h>

struct sample {
	uint32_t call, weight;
};

struct speedscope {
	struct viewer_spool spool;
	struct sample *last; /* of each thread, which goes on */
	uint32_t nr_last;
};

static int begin(struct pfs_viewer *viewer)
{
	struct speedscope *s = viewer->state;

	return viewer_spool_init(&s->spool, &viewer->err);
}

static int put_fault(struct pfs_viewer *viewer, const struct viewer_fault *fault)
{
	struct speedscope *s = viewer->state;
	struct sample *last;
	int ret = 0;

	if (fault->thread >= s->nr_last) {
		size_t max = s->nr_last;

		if (!pfs_array_extend(s->last, max, fault->thread + 1))
			return -ENOMEM;
		s->nr_last = max;
	}
	last = &s->last[fault->thread];
	if (last->weight && (last->call != fault->call || last->weight == UINT32_MAX)) {
		ret = viewer_spool_add(&s->spool, fault->thread, last, sizeof(*last), &viewer->err);
		last->weight = 0;
	}
	last->call = fault->call;
	last->weight++;
	return ret;
}

static void put_path(struct pfs_viewer *viewer, uint32_t call)
{
	if (!call)
		return;
	put_path(viewer, viewer->calls.calls[call].parent);
	pfs_json_u64(&viewer->json, NULL, viewer->calls.calls[call].place);
}

static int put_stacks(void *ctx, const void *bytes, size_t nr)
{
	struct pfs_viewer *viewer = ctx;
	const struct sample *samples = bytes;

	for (size_t i = 0; i < nr / sizeof(*samples); i++) {
		pfs_json_begin(&viewer->json, NULL, "[");
		put_path(viewer, samples[i].call);
		pfs_json_end(&viewer->json, "]");
	}
	return 0;
}

static int put_weights(void *ctx, const void *bytes, size_t nr)
{
	struct pfs_viewer *viewer = ctx;
	const struct sample *samples = bytes;

	for (size_t i = 0; i < nr / sizeof(*samples); i++)
		pfs_json_u64(&viewer->json, NULL, samples[i].weight);
	return 0;
}

static int put_thread(struct pfs_viewer *viewer, uint32_t nr)
{
	struct speedscope *s = viewer->state;
	const struct viewer_thread *thread = &viewer->threads[nr];
	struct pfs_json *json = &viewer->json;
	char name[256];
	int ret =
		s->last[nr].weight ? viewer_spool_add(&s->spool, nr, &s->last[nr], sizeof(*s->last), &viewer->err) : 0;

	snprintf(name, sizeof(name), "%s (%d, thread %d)", thread->comm, thread->pid, thread->tid);
	pfs_json_line(json, "\n");
	pfs_json_begin(json, NULL, "{");
	pfs_json_word(json, "type", "sampled");
	pfs_json_string(json, "name", name);
	pfs_json_word(json, "unit", "none");
	pfs_json_u64(json, "startValue", 0);
	pfs_json_u64(json, "endValue", thread->nr_faults);
	pfs_json_begin(json, "samples", "[");
	if (!ret)
		ret = viewer_spool_each(&s->spool, nr, put_stacks, viewer, &viewer->err);
	pfs_json_end(json, "]");
	pfs_json_begin(json, "weights", "[");
	if (!ret)
		ret = viewer_spool_each(&s->spool, nr, put_weights, viewer, &viewer->err);
	pfs_json_end(json, "]");
	pfs_json_end(json, "}");
	return ret;
}

static void put_frames(struct pfs_viewer *viewer)
{
	struct pfs_json *json = &viewer->json;

	pfs_json_begin(json, "shared", "{");
	pfs_json_begin(json, "frames", "[");
	for (uint32_t i = 0; i < viewer->calls.nr_places; i++) {
		const struct viewer_place *place = &viewer->calls.places[i];
		const char *file = *place->source ? place->source : viewer_file(place);

		pfs_json_line(json, "\n");
		pfs_json_begin(json, NULL, "{");
		pfs_json_string(json, "name", place->name);
		if (*file)
			pfs_json_string(json, "file", file);
		if (place->line)
			pfs_json_u64(json, "line", place->line);
		pfs_json_end(json, "}");
	}
	pfs_json_end(json, "]");
	pfs_json_end(json, "}");
}

static int end(struct pfs_viewer *viewer)
{
	struct pfs_json *json = &viewer->json;
	int ret = 0;

	pfs_json_begin(json, NULL, "{");
	pfs_json_word(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	pfs_json_word(json, "exporter", "pfscope " PFS_VERSION);
	pfs_json_string(json, "name", viewer_title(viewer));
	pfs_json_u64(json, "activeProfileIndex", 0);
	pfs_json_begin(json, "profiles", "[");
	for (uint32_t i = 0; !ret && i < viewer->nr_threads; i++)
		if (viewer->threads[i].nr_faults)
			ret = put_thread(viewer, i);
	pfs_json_end(json, "]");
	put_frames(viewer);
	pfs_json_end(json, "}");
	pfs_json_drain(&viewer->json);
	fputc('\n', viewer->out);
	return ret;
}

static void fini(struct pfs_viewer *viewer)
{
	struct speedscope *s = viewer->state;

	viewer_spool_fini(&s->spool);
	free(s->last);
}

const struct viewer_format viewer_speedscope = {
	.size = sizeof(struct speedscope),
	.begin = begin,
	.fault = put_fault,
	.end = end,
	.fini = fini,
};
