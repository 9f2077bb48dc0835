/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/refault_session.h"

#include "common/command.h"
#include "common/recording.h"
#include "model/filter.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* In the helper: is the region one of --region? */
static bool wanted(void *ctx, const struct pfs_smap *smap)
{
	const struct pfs_filter *filter = ctx;
	struct pfs_region region = {
		.start = smap->start,
		.end = smap->end,
		.off = smap->off,
		.ino = smap->ino,
		.dev = smap->dev,
		.perms = smap->perms,
		.name = smap->name,
		.have = PFS_HAS(PFS_F_PERMS) | PFS_HAS(PFS_F_OFF) | PFS_HAS(PFS_F_DEV) | PFS_HAS(PFS_F_INO) |
			PFS_HAS(PFS_F_NAME),
	};

	return pfs_filter_memory(filter, &region, smap->name);
}

static void put_regions(const struct pfs_filter *filter, char *buf, size_t size)
{
	size_t len = 0;

	*buf = '\0';
	for (unsigned int i = 0; i < filter->nr_regions && len < size; i++)
		len += snprintf(buf + len, size - len, "%s%s", len ? "," : "", filter->regions[i]);
	for (unsigned int i = 0; i < filter->nr_files && len < size; i++)
		len += snprintf(buf + len, size - len, "%sfile:%s", len ? "," : "", filter->files[i]);
}

/* The method is noted, whatever it is; for numa there is nothing to be done. */
int refaulting_open(struct recording *r, struct pfs_err *err)
{
	const struct refault_args *args = &r->args->refault;
	const struct pfs_filter *filter = &r->args->view.filter;
	struct pfs_refault_config config = {
		.interval_ns = args->interval_ns,
		.method = args->method,
		.zram_bytes = args->zram_bytes,
		.quiet = args->quiet,
		.faults_only = !r->source->want_accesses,
		.files_only = filter->nr_files && !filter->nr_regions,
		.wanted = wanted,
		.ctx = (void *)filter,
	};
	struct pfs_refault_system system;
	char tids_file[PATH_MAX], where[256], note[PFS_REFAULT_TEXT_MAX];
	int ret;

	if (!args->interval_ns)
		return 0;
	pfs_refault_look("", &system);
	ret = pfs_refault_choose(&config, &system, &r->refaulting.method, err);
	if (ret)
		return ret;
	put_regions(filter, where, sizeof(where));
	pfs_refault_note_write(note, r->refaulting.method, args->interval_ns, where);
	if (recording_note(r, 0, PFS_REFAULT_NOTE "=%s", note))
		return pfs_err_set(err, -ENOMEM, "no memory for a note");
	if (r->refaulting.method == PFS_REFAULT_NUMA)
		return 0;
	config.method = r->refaulting.method;
	if (config.method == PFS_REFAULT_IDLE)
		r->source->want_accesses(r->capture);
	ret = r->source->tids_file(r->capture, tids_file, sizeof(tids_file), err);
	if (ret)
		return ret;
	r->refaulting.helper = pfs_refault_open(&config, tids_file, err);
	return r->refaulting.helper ? 0 : -errno;
}

void refaulting_begin(struct recording *r)
{
	if (r->refaulting.helper)
		pfs_refault_begin(r->refaulting.helper);
}

int refaulting_note(struct recording *r, struct pfs_err *err)
{
	struct refaulting *of = &r->refaulting;
	char text[PFS_REFAULT_TEXT_MAX], note[PFS_REFAULT_SAID_MAX];
	enum pfs_refault_told told;
	struct pfs_refault_tick tick;

	while (of->helper && (told = pfs_refault_next(of->helper, &tick, note))) {
		if (told == PFS_TOLD_NOTE) {
			if (recording_note(r, 0, "%s", note))
				return pfs_err_set(err, -ENOMEM, "no memory for a note");
			pfs_refault_noted(of->helper);
			continue;
		}
		pfs_refault_sum(&of->sums, &tick);
		pfs_refault_tick_write(text, &tick);
		if (recording_note(r, 0, PFS_REFAULT_TICK_NOTE "=%s", text))
			return pfs_err_set(err, -ENOMEM, "no memory for a note");
		if (tick.error)
			tell("--refault by %s: it cannot be done any more: %s; going on without",
			     pfs_refault_methods[of->method], strerror(-tick.error));
	}
	return 0;
}

int refaulting_fd(const struct recording *r)
{
	return r->refaulting.helper ? pfs_refault_fd(r->refaulting.helper) : -1;
}

int refaulting_stop(struct recording *r, struct pfs_err *err)
{
	if (!r->refaulting.helper)
		return 0;
	pfs_refault_stop(r->refaulting.helper);
	return refaulting_note(r, err);
}

void refaulting_tell(const struct recording *r)
{
	char text[PFS_REFAULT_TEXT_MAX];

	if (!r->refaulting.sums.nr_cycles)
		return;
	pfs_refault_cost_text(text, r->refaulting.method, &r->refaulting.sums);
	tell("--refault by %s: %s", pfs_refault_methods[r->refaulting.method], text);
	if (r->refaulting.sums.nr_full)
		tell("swap was full in %" PRIu64 " of %" PRIu64
		     " cycles: what found no room stayed in memory, and its use was "
		     "not seen; --zram SIZE sets up more",
		     r->refaulting.sums.nr_full, r->refaulting.sums.nr_cycles);
}

int refaulting_close(struct recording *r, struct pfs_err *err)
{
	int ret = pfs_refault_free(r->refaulting.helper, err);

	r->refaulting.helper = NULL;
	return ret;
}
