/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts beside a plot: rates, times, sums and remarks. See plot/plot.h.
 */
#include "plot/plot.h"

#include "base/escape.h"
#include "base/units.h"
#include "event/refault_note.h"
#include "view/loss.h"
#include "view/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

char *pfs_plot_escape(char *buf, size_t size, const char *s)
{
	size_t left, nr;
	uint32_t code;

	pfs_escape(buf, size, s, 0);
	left = strlen(buf);
	for (char *at = buf; left; at += nr, left -= nr) {
		nr = pfs_utf8_decode(at, left, &code);
		if ((code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code < 0xfdf0))
			memset(at, '?', nr);
	}
	return buf;
}

/* Does the plot show one moment only? */
static bool is_moment(const struct pfs_plot *plot)
{
	return plot->to_ns - plot->from_ns <= 1;
}

const char *pfs_plot_rate_text(char buf[48], const struct pfs_plot *plot, uint64_t count, uint64_t ns)
{
	char number[32];
	double rate = (double)count * PFS_NS_PER_S / ns;

	if (is_moment(plot))
		snprintf(buf, 48, "%s at once", pfs_grouped_text(number, count));
	else
		snprintf(buf, 48, "%s/s",
			 rate < 10 || rate >= 1e7 ? pfs_decimal_text(number, rate) : pfs_grouped_text(number, rate));
	return buf;
}

uint64_t pfs_plot_tick(uint64_t span_ns, unsigned int most)
{
	static const unsigned int steps[] = { 1, 2, 5 };

	for (uint64_t power = 1;; power *= 10)
		for (unsigned int i = 0; i < 3; i++)
			if (span_ns / (steps[i] * power) < most || (i == 2 && power > UINT64_MAX / 20))
				return steps[i] * power;
}

uint64_t pfs_plot_tick_after(const struct pfs_plot *plot, uint64_t ns, uint64_t tick_ns)
{
	uint64_t base = pfs_model_base_ns(plot->data->model), at = base;

	if (ns > base)
		at += ((ns - base - 1) / tick_ns + 1) * tick_ns;
	return at < base || at < ns ? UINT64_MAX : at;
}

const char *pfs_plot_tick_text(char buf[32], const struct pfs_plot *plot, uint64_t ns, uint64_t tick_ns,
			       const struct pfs_plot_unit *unit)
{
	int digits = 0;

	for (uint64_t part = unit->ns; part > 1 && tick_ns % part; part /= 10)
		digits++;
	snprintf(buf, 32, "%.*f", digits, (double)(ns - pfs_model_base_ns(plot->data->model)) / unit->ns);
	return buf;
}

const struct pfs_plot_unit *pfs_plot_axis_unit(const struct pfs_plot *plot, uint64_t tick_ns)
{
	static const struct pfs_plot_unit units[] = { { "s", PFS_NS_PER_S }, { "ms", 1000000 }, { "us", 1000 } };
	const struct pfs_plot_unit *best = units;
	uint64_t after = plot->to_ns - pfs_model_base_ns(plot->data->model), last = plot->to_ns - after % tick_ns;
	size_t least = SIZE_MAX;
	char text[32];

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t length = strlen(pfs_plot_tick_text(text, plot, last, tick_ns, &units[i]));

		if (length < least) {
			best = &units[i];
			least = length;
		}
	}
	return best;
}

/* ---- sentences ---- */

/* "4,016,219 faults"; "" for none. Returns buf. */
static const char *count_text(char buf[128], uint64_t number, const char *one, const char *several)
{
	char digits[32];

	buf[0] = '\0';
	if (number)
		snprintf(buf, 128, "%s %s", pfs_grouped_text(digits, number), number == 1 ? one : several);
	return buf;
}

const char *pfs_plot_sum_text(const struct pfs_plot *plot, char buf[PFS_PLOT_TEXT_MAX])
{
	const struct pfs_plot_data *data = plot->data;
	char faults[128], sampled[128], outside[128], span[32];
	const char *in_region = "of them in no known region";

	if (!data->faults && !data->sampled)
		return strcpy(buf, "no faults");
	snprintf(buf, PFS_PLOT_TEXT_MAX, "%s%s%s%s%s%s%s", count_text(faults, data->faults, "fault", "faults"),
		 data->faults && data->sampled ? " and " : "",
		 count_text(sampled, data->sampled, "sampled access", "sampled accesses"),
		 is_moment(plot) ? "" : " in ",
		 is_moment(plot) ? "" : pfs_duration_text(span, plot->to_ns - plot->from_ns, 3),
		 data->outside ? ", " : "", count_text(outside, data->outside, in_region, in_region));
	return buf;
}

const char *pfs_plot_unit_text(const struct pfs_plot *plot)
{
	return !plot->data->sampled ? "faults" : plot->data->faults ? "touches" : "accesses";
}

const char *pfs_plot_notes_text(const struct pfs_plot *plot, char buf[PFS_PLOT_TEXT_MAX])
{
	const struct pfs_plot_data *data = plot->data;
	const struct pfs_filter *filter = data->filter;
	bool threads = filter && (filter->nr_tids || filter->nr_comms), from = filter && filter->from.set;
	char lost[PFS_LOST_TEXT_MAX], timeless[128], left_out[128], again[PFS_REFAULT_HOW_MAX];
	bool any_lost = pfs_lost_text(lost, pfs_gaps_shown(data->model, filter));
	struct pfs_unobserved unobserved;
	struct pfs_refault_how how;
	size_t len;

	len = snprintf(buf, PFS_PLOT_TEXT_MAX, "%s%s%s%s", any_lost ? lost : "", any_lost ? "\n" : "",
		       count_text(timeless, data->timeless, "fault was counted without its time: not in the plot\n",
				  "faults were counted without their times: not in the plot\n"),
		       count_text(left_out, data->left_out, "touch of another region is excluded\n",
				  "touches of other regions are excluded\n"));
	/* Touches that the filter hides from the model do not count as resident. */
	if (threads || from)
		len += snprintf(buf + len, PFS_PLOT_TEXT_MAX - len,
				"Only touches%s%s are shown; resident pages count these only\n",
				threads ? " of the chosen threads" : "", from ? " from the chosen time on" : "");
	if (pfs_model_refault(data->model, &how)) {
		pfs_refault_how_text(again, &how);
		snprintf(buf + len, PFS_PLOT_TEXT_MAX - len, "%s %s%s\n", pfs_refault_what(how.method), again,
			 how.method == PFS_REFAULT_IDLE ? "" : ": resident pages are shown as if they had stayed");
		len = strlen(buf);
		if (!pfs_unobserved_find(&unobserved, data->model, filter, 0, false) && unobserved.pages)
			snprintf(buf + len, PFS_PLOT_TEXT_MAX - len,
				 "not observed: up to %" PRIu64 " of %" PRIu64
				 " pages in memory, which stayed there all the "
				 "same and may have been used at any time\n",
				 unobserved.pages, unobserved.of);
		pfs_unobserved_fini(&unobserved);
	}
	return buf;
}

const char *pfs_plot_scale_text(const struct pfs_plot *plot, const struct pfs_plot_grid *grid,
				char buf[PFS_PLOT_TEXT_MAX])
{
	char span[32], size[8], places[64] = "";

	if (plot->unit_shift > plot->data->model->page_shift)
		snprintf(places, sizeof(places), " places are of %s bytes or more;",
			 pfs_short_number(size, UINT64_C(1) << plot->unit_shift));
	snprintf(buf, PFS_PLOT_TEXT_MAX, "A column is %s;%s addresses grow upwards%s, gaps are folded",
		 pfs_duration_text(span, grid->column_ns, 3), places,
		 plot->sort == PFS_PLOT_BY_FAULTS ? " in each region" : "");
	return buf;
}

const char *pfs_plot_title(const struct pfs_plot *plot, const struct pfs_plot_style *style, char buf[PFS_PLOT_TEXT_MAX])
{
	const char *command = pfs_model_note(plot->data->model, "command"), *title = style->title;

	if (!title)
		title = command ? command : style->file ? style->file : "";
	return pfs_plot_escape(buf, PFS_PLOT_TEXT_MAX, title);
}

bool pfs_plot_lost(const struct pfs_plot *plot, uint64_t from_ns, uint64_t to_ns)
{
	const struct pfs_model *model = plot->data->model;

	for (unsigned int i = 0; i < model->nr_losses; i++)
		if (model->losses[i].from_ns < to_ns && model->losses[i].to_ns >= from_ns)
			return true;
	return false;
}

/* ---- heat ---- */

unsigned int pfs_plot_level(uint64_t count, uint64_t most, unsigned int levels)
{
	unsigned int level = 0;

	while (level + 1 < levels && count >= pfs_plot_level_from(level + 1, most, levels))
		level++;
	return level;
}

uint64_t pfs_plot_level_from(unsigned int level, uint64_t most, unsigned int levels)
{
	uint64_t from = ceil(pow(most, (double)level / (levels - 1)) - 1e-9);

	/* Where there are fewer counts than levels, the first of them have one each. */
	return from > level ? from : level + 1;
}
