/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks: "comm;outermost;...;innermost NUMBER", one line for each stack of functions, which flamegraph.pl, inferno
 * and others read. The number is that of its faults.
 */
#include "export/sums.h"
#include "export/viewer_priv.h"

#include <errno.h>
#include <inttypes.h>

struct folded {
	struct viewer_sums sums;
};

static int put_fault(struct pfs_viewer *viewer, const struct viewer_fault *fault)
{
	struct folded *folded = viewer->state;
	struct viewer_sum *sum = viewer_sum_at(
		&folded->sums, (struct viewer_sum_key){ .call = fault->call, .comm = (uintptr_t)fault->comm });

	if (!sum)
		return -ENOMEM;
	sum->faults++;
	return 0;
}

/* A semicolon separates frames. */
static void put_name(FILE *out, const char *name)
{
	for (const char *end; (end = strchr(name, ';')); name = end + 1) {
		fwrite_unlocked(name, 1, end - name, out);
		fputc_unlocked(':', out);
	}
	fputs_unlocked(name, out);
}

static void put_path(const struct pfs_viewer *viewer, uint32_t call)
{
	if (!call)
		return;
	put_path(viewer, viewer->calls.calls[call].parent);
	fputc_unlocked(';', viewer->out);
	put_name(viewer->out, viewer_place_of(viewer, call)->name);
}

static int put_lines(struct pfs_viewer *viewer, const struct viewer_sums *sums, struct viewer_sums *lines)
{
	uint32_t *same = viewer_same_names(&viewer->calls);
	int ret = same ? 0 : -ENOMEM;

	for (uint32_t i = 0; !ret && i < sums->nr; i++) {
		const struct viewer_sum *sum = &sums->sums[i];
		struct viewer_sum *line = viewer_sum_at(
			lines, (struct viewer_sum_key){ .call = same[sum->key.call], .comm = sum->key.comm });

		if (line)
			line->faults += sum->faults;
		else
			ret = -ENOMEM;
	}
	free(same);
	for (uint32_t i = 0; !ret && i < lines->nr; i++) {
		const struct viewer_sum *line = &lines->sums[i];

		put_name(viewer->out, (const char *)(uintptr_t)line->key.comm);
		put_path(viewer, line->key.call);
		fprintf(viewer->out, " %" PRIu64 "\n", line->faults);
	}
	return ret;
}

static int end(struct pfs_viewer *viewer)
{
	const struct folded *folded = viewer->state;
	struct viewer_sums lines = { 0 };
	int ret = put_lines(viewer, &folded->sums, &lines);

	viewer_sums_fini(&lines);
	return ret;
}

static void fini(struct pfs_viewer *viewer)
{
	struct folded *folded = viewer->state;

	viewer_sums_fini(&folded->sums);
}

const struct viewer_format viewer_folded = {
	.size = sizeof(struct folded),
	.fault = put_fault,
	.end = end,
	.fini = fini,
};
