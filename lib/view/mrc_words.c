/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/mrc.h"

#include "base/escape.h"
#include "base/table.h"
#include "base/units.h"
#include "view/labels.h"
#include "view/loss.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

const char *pfs_mrc_kind(const struct pfs_mrc_curve *curve, uint64_t unobserved)
{
	if (unobserved)
		return !curve->sampled		       ? "exact where observed"
		       : curve->sampled == curve->refs ? "sampled where observed"
						       : "exact and sampled where observed";
	return !curve->sampled ? "exact" : curve->sampled == curve->refs ? "sampled" : "exact and sampled";
}

/* ---- a string ---- */

const char *pfs_mrc_seen(char buf[PFS_MRC_WORDS_MAX], const struct pfs_mrc_curve *curve)
{
	uint32_t pages = pfs_stack_distance_pages(curve->distances);
	char refs[48], to[48], span[32], within[48] = "", unplaced[192] = "";
	size_t len;

	if (curve->interval_ns)
		snprintf(within, sizeof(within), "in the %s ", pfs_duration_text(span, curve->interval_ns, 10));
	if (curve->by_address)
		snprintf(unplaced, sizeof(unplaced),
			 "; %" PRIu64 " at unknown layout, where an address counts as one page throughout",
			 curve->by_address);
	len = snprintf(buf, PFS_MRC_WORDS_MAX, "%s to %s: %" PRIu32 " first touch%s, %" PRIu64 " repeated; ",
		       pfs_plural(refs, sizeof(refs), curve->refs, "reference"),
		       pfs_plural(to, sizeof(to), pages, "page"), pages, pages == 1 ? "" : "es", curve->refs - pages);
	if (!curve->sampled)
		snprintf(buf + len, PFS_MRC_WORDS_MAX - len, "all exact%s%s",
			 curve->unobserved ? " where observed" : "", unplaced);
	else
		snprintf(buf + len, PFS_MRC_WORDS_MAX - len,
			 "%" PRIu64 " exact, %" PRIu64 " sampled: each of these "
			 "occurred at some time %sbefore, in unknown order%s",
			 curve->refs - curve->sampled, curve->sampled, within, unplaced);
	return buf;
}

/* With N accessible pages (N - 1 others than the one that has faulted) a distance is that in the recording, give or take N - 1. */
static void put_microset(char *buf, size_t size, const struct pfs_model *model)
{
	struct pfs_fact fact;

	*buf = '\0';
	if (!pfs_model_fact(model, PFS_NOTE_MICROSET, &fact) || !fact.count)
		return;
	snprintf(buf, size,
		 "accesses to the last %" PRIu64
		 " pages of each %s, which were accessible (of one thread, in the regions that "
		 "were hidden, all accesses miss in M pages, from %" PRIu64 " on, under lru at most as often as the "
		 "references seen in M - %" PRIu64 ", and at least as often as in M + %" PRIu64 "); ",
		 fact.count, fact.what, 2 * fact.count - 1, fact.count - 1, fact.count - 1);
}

const char *pfs_mrc_unseen(char buf[PFS_MRC_WORDS_MAX], const struct pfs_mrc_curve *curve,
			   const struct pfs_refs_stats *stats, const struct pfs_model *model)
{
	bool exact = curve->sampled < curve->refs;
	bool again = curve->refs > pfs_stack_distance_pages(curve->distances);
	char pages[48], how[PFS_REFAULT_HOW_MAX], refault[PFS_REFAULT_HOW_MAX + 64] = "";
	char sampling[PFS_REFAULT_HOW_MAX + 64] = "", unasked[256] = "", huge[128] = "";
	char microset[384];

	if (stats->unasked_huge)
		snprintf(huge, sizeof(huge),
			 ", %" PRIu64 " of them in huge pages, each of which counts as the one page that "
			 "faulted",
			 stats->unasked_huge);
	if (stats->unasked)
		snprintf(unasked, sizeof(unasked),
			 "%s that the kernel mapped, or may have mapped, by itself%s, until they "
			 "fault%s; ",
			 pfs_plural(pages, sizeof(pages), stats->unasked, "page"),
			 curve->process ? " (in all processes)" : "", huge);
	if (exact && stats->refault.method && stats->refault.method != PFS_REFAULT_IDLE) {
		pfs_refault_how_text(how, &stats->refault);
		snprintf(refault, sizeof(refault), ", which pfscope caused %s", how);
	}
	if (curve->sampled && stats->refault.method == PFS_REFAULT_IDLE) {
		pfs_refault_how_text(how, &stats->refault);
		snprintf(sampling, sizeof(sampling), ", sampled %s", how);
	}
	put_microset(microset, sizeof(microset), model);
	snprintf(buf, PFS_MRC_WORDS_MAX,
		 "%s%s%s%s%s%s%s; %s%s%smisses and ratios are those of the references seen, not "
		 "of the program's accesses%s",
		 model->user_mode_only ? "faults in kernel mode; " : "",
		 pfs_model_polled(model) ? "removals and moves of regions between two reads of the layout, after which "
					   "other pages may count as the same ones; "
					 : "",
		 exact ? "accesses to a page between two of its faults" : "", refault,
		 exact && curve->sampled ? "; " : "",
		 curve->sampled ? "all accesses in a sample's interval but one" : "", sampling, microset,
		 unasked[0] ? "accesses to " : "", unasked,
		 again ? ""
		       : ". No page was seen referenced a second time: every miss is a first touch, which "
			 "does not show how much memory would suffice");
	return buf;
}

const char *pfs_mrc_unobserved(char buf[PFS_MRC_WORDS_MAX], const struct pfs_mrc_curve *curve)
{
	*buf = '\0';
	if (curve->unobserved)
		snprintf(
			buf, PFS_MRC_WORDS_MAX,
			"up to %" PRIu64 " of %" PRIu64
			" pages in memory (%.1f %%) stayed there between %.3f and %.3f s when pfscope took pages "
			"away: other processes have them mapped, too, or they are locked, dirty, or were used at once. "
			"Whether they were used is not known, and they are not in the curve: the program used at least "
			"the memory below, and may have used that of these pages as well",
			curve->unobserved, curve->in_memory, 100.0 * curve->unobserved / curve->in_memory,
			curve->unobserved_ns[0] / 1e9, curve->unobserved_ns[1] / 1e9);
	return buf;
}

/* A paragraph, its lines broken at spaces. */
static void put_wrapped(const struct pfs_view_options *options, const char *head, const char *text)
{
	struct pfs_list list = {
		.out = options->out, .width = options->width ? options->width : 80, .indent = 2, .separator = " "
	};

	pfs_list_add(&list, "%s", head);
	while (*text) {
		int len = strcspn(text, " ");

		pfs_list_add(&list, "%.*s", len, text);
		text += len + (text[len] == ' ');
	}
	pfs_list_end(&list);
}

void pfs_mrc_put_words(const struct pfs_view_options *options, const struct pfs_mrc_curve *curve,
		       const struct pfs_refs_stats *stats, const struct pfs_model *model, bool behind)
{
	char words[PFS_MRC_WORDS_MAX], comm[256] = "";

	fputs(behind ? "\n" : "", options->out);
	if (curve->process) {
		if (curve->comm)
			pfs_escape(comm, sizeof(comm), curve->comm, 0);
		fprintf(options->out, "%spid %d %s%s\n", options->color ? "\033[1m" : "", curve->pid, comm,
			options->color ? "\033[0m" : "");
	}
	put_wrapped(options, "Seen:", pfs_mrc_seen(words, curve));
	put_wrapped(options, "Not seen:", pfs_mrc_unseen(words, curve, stats, model));
	if (curve->unobserved)
		put_wrapped(options, "Not observed:", pfs_mrc_unobserved(words, curve));
}

/* ---- events that are no references ---- */

static void put_left_out_text(const struct pfs_view_options *options, const struct pfs_refs_stats *stats,
			      struct pfs_gaps gaps)
{
	const struct {
		uint64_t nr;
		const char *what;
	} kinds[] = {
		{ stats->outside, "where nothing was mapped" },
		{ stats->refused, "forbidden or ended in a signal" },
		{ stats->tried_again, "retried faults" },
		{ stats->counted, "only counted (--histogram), at unknown times" },
		{ stats->left_out, "excluded by the options" },
	};
	char lost[PFS_LOST_TEXT_MAX];
	struct pfs_list list = {
		.out = options->out, .width = options->width ? options->width : 80, .indent = 2, .separator = ", "
	};

	fputc('\n', options->out);
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!kinds[i].nr)
			continue;
		pfs_list_add(&list, "%s%" PRIu64 " %s",
			     list.column ? "" : "Faults that are not references: ", kinds[i].nr, kinds[i].what);
	}
	if (list.column)
		pfs_list_end(&list);
	if (pfs_lost_text(lost, gaps))
		put_wrapped(options, lost, "(references may be among them)");
	else
		fputs("no events lost\n", options->out);
}

static const struct pfs_column left_out_columns[] = {
	{ "page_size", "", 0 },
	{ "refs", "", 0 },
	{ "sampled", "", 0 },
	{ "mapped_by_kernel", "", 0 },
	{ "outside", "", 0 },
	{ "refused", "", 0 },
	{ "tried_again", "", 0 },
	{ "left_out", "", 0 },
	{ "lost", "", 0 },
	{ "lost_unknown_times", "", 0 },
	{ "mapped_in_huge_pages", "", 0 },
	{ "counted", "", 0 },
	{ NULL, NULL, 0 },
};

int pfs_mrc_put_left_out(const struct pfs_view_options *options, struct pfs_json *json, const struct pfs_model *model,
			 const struct pfs_refs_stats *stats)
{
	struct pfs_gaps gaps = pfs_gaps_shown(model, options->filter);
	struct pfs_missing missing = pfs_gaps_sum(gaps);
	struct pfs_table *table;

	if (options->format == PFS_VIEW_TEXT) {
		put_left_out_text(options, stats, gaps);
		return 0;
	}
	table = pfs_table_new(left_out_columns);
	if (table)
		pfs_table_numbers(table, UINT64_C(1) << model->page_shift, stats->refs, stats->sampled, stats->unasked,
				  stats->outside, stats->refused, stats->tried_again, stats->left_out, missing.count,
				  missing.unknown, stats->unasked_huge, stats->counted);
	if (options->format == PFS_VIEW_JSON)
		pfs_json_begin(json, NULL, "{");
	return pfs_output_row(options, json, table, "recording");
}
