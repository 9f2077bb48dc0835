/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --refault of a recording. See recording.h.
 */
#include "base/number.h"
#include "common/recording.h"

#include "base/units.h"
#include "common/command.h"
#include "refault/refault.h"
#include "user/thread_list.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

/* Two of sixteen intervals are skipped: enough to compare with, and few re-references missed. */
#define USUAL_QUIET 16

#define SHORTEST_NS 1000000

enum { OPT_REFAULT = 0x800, OPT_BY, OPT_QUIET, OPT_ZRAM };

static const struct argp_option options[] = {
	{ "refault", OPT_REFAULT, "INTERVAL", 0,
	  "Every INTERVAL (100ms, 1s) make the pages fault again, so that re-references are recorded; with --region only the pages of these regions",
	  0 },
	{ "refault-by", OPT_BY, "METHOD", 0,
	  "Method: `hide' (SystemTap's module takes their permissions), `pageout' (to swap, or back to their files), `numa' (the kernel's own hinting faults), `idle' (sample accessed bits, without faults), `soft-dirty' (writes only), or the first of the others that works (`auto', the default)",
	  0 },
	{ "refault-quiet", OPT_QUIET, "N", 0,
	  "Skip the last two of every N intervals, to measure the slowdown in the others (default 16; 0: skip none)",
	  0 },
	{ "zram", OPT_ZRAM, "SIZE", 0, "Set up swap in compressed memory during the recording (64M, 1G)", 0 },
	{ 0 },
};

static bool may_hide(enum pfs_refault_method method)
{
	return method == PFS_REFAULT_AUTO || method == PFS_REFAULT_HIDE;
}

bool refault_may_hide(const struct refault_args *args)
{
	return args->interval_ns && may_hide(args->method);
}

/* `auto' does if options of a module are given: a source that needs none should not load one unasked. */
bool refault_hides(const struct refault_args *args, bool given)
{
	return args->interval_ns &&
	       (args->method == PFS_REFAULT_HIDE || (args->method == PFS_REFAULT_AUTO && given && !args->zram_bytes));
}

static void check(const struct refault_args *args, bool quiet_given, struct argp_state *state)
{
	if (!args->interval_ns && (args->method || args->zram_bytes || quiet_given))
		argp_error(state, "%s: no interval given (--refault INTERVAL)",
			   args->method	      ? "--refault-by"
			   : args->zram_bytes ? "--zram"
					      : "--refault-quiet");
	if (args->method && args->method != PFS_REFAULT_PAGEOUT && args->zram_bytes)
		argp_error(state, "--zram: only with --refault-by=pageout");
	if ((args->method == PFS_REFAULT_NUMA || args->method == PFS_REFAULT_IDLE) && quiet_given)
		argp_error(state, "--refault-quiet: only with --refault-by=hide, pageout or soft-dirty");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct refault_args *args = state->input;
	uint64_t quiet;
	bool unit;

	switch (key) {
	case ARGP_KEY_INIT:
		args->quiet = USUAL_QUIET;
		return 0;
	case OPT_REFAULT:
		args->interval_ns = duration_of_option(state, "refault", arg, SHORTEST_NS);
		return 0;
	case OPT_BY:
		args->method = option_word(state, "refault-by", arg, pfs_refault_methods, PFS_REFAULT_NR_METHODS,
					   "hide, pageout, numa, idle, soft-dirty or auto");
		return 0;
	case OPT_QUIET:
		if (!pfs_number_parse(arg, 0, 1000000, &quiet) || quiet == 1 || quiet == 2)
			argp_error(state, "--refault-quiet: %s: must be 0, or between 3 and 1000000", arg);
		args->quiet = quiet;
		state->hook = args; /* it was given */
		return 0;
	case OPT_ZRAM:
		if (!pfs_size_parse(arg, &args->zram_bytes, &unit) || !unit || args->zram_bytes < 1 << 20)
			argp_error(state, "--zram: %s: must be a size of at least 1M (64M, 1G)", arg);
		return 0;
	case ARGP_KEY_END:
		check(args, state->hook, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp refault_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };

/* ---- the session ---- */

/* Is the region one of --region? Called in the helper. */
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

/* Where the traced threads are listed: by the source, or in a list of our own. */
static int find_tids_file(struct refault_session *s, uint64_t owner, char *path, size_t size, struct pfs_err *err)
{
	if (s->live->source->tids_file) {
		s->live->source->tids_file(s->live, path, size);
		return 0;
	}
	s->threads = pfs_thread_list_new(owner, err);
	if (!s->threads)
		return -errno;
	pfs_thread_list_file(s->threads, path, size);
	return 0;
}

/* Asks the source, unless that was not asked for. */
static void look_for_hiding(struct pfs_refault_config *config, const struct pfs_filter *filter, struct pfs_live *hider,
			    struct pfs_hiding *hiding, struct pfs_err *why)
{
	if (!may_hide(config->method) || !hider->source->want_hiding) {
		if (hider->source->marks)
			config->why_not_hide =
				"it loads a module: only if it is named (--refault-by=hide, --module=FILE)";
		return;
	}
	if (config->some_regions)
		config->why_not_hide = "its regions are those of --microset-region, not of --region";
	else if (config->zram_bytes)
		config->why_not_hide = "--zram is for pageout";
	else if (hider->source->want_hiding(hider, hiding, why))
		config->why_not_hide = why->msg;
	else
		config->hide_file = hiding->file;
}

/* The method is recorded in any case; for numa there is nothing else to do. */
int refault_session_open(struct refault_session *s, const struct refault_args *args, const struct pfs_filter *filter,
			 struct pfs_live *live, struct pfs_live *hider, uint64_t owner, struct pfs_err *err)
{
	struct pfs_refault_config config = {
		.interval_ns = args->interval_ns,
		.method = args->method,
		.zram_bytes = args->zram_bytes,
		.owner = owner,
		.quiet = args->quiet,
		.faults_only = !live->source->want_accesses,
		.files_only = filter->nr_files && !filter->nr_regions,
		.some_regions = pfs_filter_has_regions(filter),
		.wanted = wanted,
		.ctx = (void *)filter,
	};
	struct pfs_refault_system system;
	char tids_file[PATH_MAX], where[256];
	struct pfs_fact fact = { .key = PFS_NOTE_REFAULT };
	struct pfs_hiding hiding = { .regions = NULL };
	struct pfs_err why;
	int ret;

	*s = (struct refault_session){ .live = live };
	if (!args->interval_ns)
		return 0;
	pfs_refault_look("", &system);
	look_for_hiding(&config, filter, hider, &hiding, &why);
	ret = pfs_refault_choose(&config, &system, &s->method, err);
	if (ret)
		return ret;
	put_regions(filter, where, sizeof(where));
	fact.method = s->method;
	if (fact.method != PFS_REFAULT_NUMA) {
		fact.interval_ns = args->interval_ns;
		fact.text = s->method == PFS_REFAULT_HIDE ? hiding.regions : *where ? where : NULL;
	}
	if (live->source->note(live, 0, &fact))
		return pfs_err_set(err, -ENOMEM, "no memory for a note");
	if (s->method == PFS_REFAULT_NUMA)
		return 0;
	config.method = s->method;
	if (config.method == PFS_REFAULT_IDLE)
		live->source->want_accesses(live);
	ret = find_tids_file(s, owner, tids_file, sizeof(tids_file), err);
	if (ret)
		return ret;
	s->helper = pfs_refault_open(&config, tids_file, err);
	return s->helper ? 0 : -errno;
}

int refault_session_add(struct refault_session *s, pid_t pid, struct pfs_err *err)
{
	return s->threads ? pfs_thread_list_add(s->threads, pid, err) : 0;
}

void refault_session_begin(struct refault_session *s)
{
	if (s->helper)
		pfs_refault_go_on(s->helper);
}

int refault_session_note(struct refault_session *s, struct pfs_err *err)
{
	enum pfs_refault_message kind;
	struct pfs_fact fact;

	while (s->helper && (kind = pfs_refault_next(s->helper, &fact))) {
		if (s->live->source->note(s->live, 0, &fact))
			return pfs_err_set(err, -ENOMEM, "no memory for a note");
		if (kind == PFS_REFAULT_NOTE) {
			pfs_refault_go_on(s->helper);
			continue;
		}
		if (kind == PFS_REFAULT_STAYED)
			continue;
		pfs_refault_sum(&s->sums, &fact.tick);
		if (fact.tick.error)
			message("--refault by %s: failed: %s; continuing without", pfs_refault_methods[s->method],
				strerror(-fact.tick.error));
	}
	return 0;
}

int refault_session_fd(const struct refault_session *s)
{
	return s->helper ? pfs_refault_fd(s->helper) : -1;
}

int refault_session_stop(struct refault_session *s, struct pfs_err *err)
{
	if (!s->helper)
		return 0;
	pfs_refault_stop(s->helper);
	return refault_session_note(s, err);
}

void refault_session_print(const struct refault_session *s)
{
	char text[PFS_REFAULT_TEXT_MAX];

	if (!s->sums.nr_cycles)
		return;
	pfs_refault_cost_text(text, s->method, &s->sums);
	message("--refault by %s:", pfs_refault_methods[s->method]);
	fputs(text, stderr);
	if (s->sums.nr_full)
		message("swap was full in %" PRIu64 " of %" PRIu64
			" cycles: the pages that did not fit stayed in memory, so their use was not recorded (--zram SIZE "
			"sets up more)",
			s->sums.nr_full, s->sums.nr_cycles);
}

int refault_session_close(struct refault_session *s, struct pfs_err *err)
{
	int ret = pfs_refault_free(s->helper, err), freed = pfs_thread_list_free(s->threads, ret ? NULL : err);

	s->helper = NULL;
	s->threads = NULL;
	return ret ? ret : freed;
}
