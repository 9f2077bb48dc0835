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

const char *pfs_plot_side_text(const struct pfs_plot_data *data, uint32_t side)
{
	return data->nr_sides == 1 ? "" : side ? "B " : "A ";
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

/* A recording of several, or all there is. */
static struct pfs_plot_side part_of(const struct pfs_plot *plot, uint32_t side)
{
	const struct pfs_plot_data *data = plot->data;

	if (data->nr_sides > 1)
		return data->side[side];
	return (struct pfs_plot_side){ data->model,
				       0,
				       plot->to_ns - plot->from_ns,
				       data->faults,
				       data->sampled,
				       data->outside,
				       data->timeless,
				       data->left_out };
}

/* Of one recording. */
static size_t put_sum(char *buf, size_t size, const struct pfs_plot_side *part)
{
	char faults[128], sampled[128], outside[128], span[32];
	const char *in_region = "of them in no known region";
	bool moment = part->span_ns <= 1;
	int len;

	if (!part->faults && !part->sampled)
		return snprintf(buf, size, "no faults");
	len = snprintf(buf, size, "%s%s%s%s%s%s%s", count_text(faults, part->faults, "fault", "faults"),
		       part->faults && part->sampled ? " and " : "",
		       count_text(sampled, part->sampled, "sampled access", "sampled accesses"), moment ? "" : " in ",
		       moment ? "" : pfs_duration_text(span, part->span_ns, 3), part->outside ? ", " : "",
		       count_text(outside, part->outside, in_region, in_region));
	return len;
}

const char *pfs_plot_sum_text(const struct pfs_plot *plot, char buf[PFS_PLOT_TEXT_MAX])
{
	size_t len = 0;

	for (uint32_t side = 0; side < plot->data->nr_sides; side++) {
		struct pfs_plot_side part = part_of(plot, side);

		len += snprintf(buf + len, PFS_PLOT_TEXT_MAX - len, "%s%s", side ? "; " : "",
				pfs_plot_side_text(plot->data, side));
		len += put_sum(buf + len, PFS_PLOT_TEXT_MAX - len, &part);
	}
	return buf;
}

const char *pfs_plot_unit_text(const struct pfs_plot *plot)
{
	return !plot->data->sampled ? "faults" : plot->data->faults ? "touches" : "accesses";
}

/* Remarks on one recording, one a line, each behind its name. */
static void put_notes(FILE *out, const struct pfs_plot *plot, uint32_t side)
{
	const struct pfs_filter *filter = plot->data->filter;
	const char *name = pfs_plot_side_text(plot->data, side);
	struct pfs_plot_side part = part_of(plot, side);
	char lost[PFS_LOST_TEXT_MAX], count[128], again[PFS_REFAULT_HOW_MAX];
	struct pfs_unobserved unobserved;
	struct pfs_refault_how how;

	if (pfs_lost_text(lost, pfs_gaps_shown(part.model, filter)))
		fprintf(out, "%s%s\n", name, lost);
	if (pfs_model_polled(part.model))
		fprintf(out, "%slayouts were read now and then: touches may be in the wrong region\n", name);
	if (part.model->user_mode_only)
		fprintf(out, "%sfaults in kernel mode were not seen\n", name);
	if (part.timeless)
		fprintf(out, "%s%s\n", name,
			count_text(count, part.timeless, "fault was counted without its time: not in the plot",
				   "faults were counted without their times: not in the plot"));
	if (part.left_out)
		fprintf(out, "%s%s\n", name,
			count_text(count, part.left_out, "touch of another region is excluded",
				   "touches of other regions are excluded"));
	if (!pfs_model_refault(part.model, &how))
		return;
	pfs_refault_how_text(again, &how);
	fprintf(out, "%s%s %s%s\n", name, pfs_refault_what(how.method), again,
		how.method == PFS_REFAULT_PAGEOUT ? ": resident pages are shown as if they had stayed" : "");
	if (!pfs_unobserved_find(&unobserved, part.model, filter, 0, false) && unobserved.pages)
		fprintf(out,
			"%snot observed: up to %" PRIu64 " of %" PRIu64 " pages in memory, which stayed there all the "
			"same and may have been used at any time\n",
			name, unobserved.pages, unobserved.of);
	pfs_unobserved_fini(&unobserved);
}

const char *pfs_plot_block_text(char buf[96], const struct pfs_plot *plot, const struct pfs_plot_block *block)
{
	char a[32], b[32];

	if (plot->data->nr_sides > 1)
		snprintf(buf, 96, "A %s, B %s %s", pfs_grouped_text(a, block->of_side[0]),
			 pfs_grouped_text(b, block->of_side[1]), pfs_plot_unit_text(plot));
	else
		snprintf(buf, 96, "%s %s", pfs_grouped_text(a, block->faults + block->sampled),
			 pfs_plot_unit_text(plot));
	return buf;
}

const char *pfs_plot_notes_text(const struct pfs_plot *plot, char buf[PFS_PLOT_TEXT_MAX])
{
	const struct pfs_filter *filter = plot->data->filter;
	bool threads = filter && (filter->nr_tids || filter->nr_comms), from = filter && filter->from.set;
	FILE *out = fmemopen(buf, PFS_PLOT_TEXT_MAX, "w");

	buf[0] = '\0';
	if (!out)
		return buf;
	for (uint32_t side = 0; side < plot->data->nr_sides; side++)
		put_notes(out, plot, side);
	/* Touches that the filter hides from the model do not count as resident. */
	if (threads || from)
		fprintf(out, "Only touches%s%s are shown; resident pages count these only\n",
			threads ? " of the chosen threads" : "", from ? " from the chosen time on" : "");
	fclose(out);
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
	char both[512];

	if (!title && style->other) {
		snprintf(both, sizeof(both), "A %s, B %s", style->file ? style->file : "(standard input)",
			 style->other);
		title = both;
	}
	if (!title)
		title = command ? command : style->file ? style->file : "";
	return pfs_plot_escape(buf, PFS_PLOT_TEXT_MAX, title);
}

bool pfs_plot_lost(const struct pfs_plot *plot, uint32_t side, uint64_t from_ns, uint64_t to_ns)
{
	const struct pfs_model *model = plot->data->side[side].model;
	uint64_t shift_ns = plot->data->side[side].shift_ns;

	for (unsigned int i = 0; i < model->nr_losses; i++) {
		uint64_t from = model->losses[i].from_ns + (model->losses[i].from_ns ? shift_ns : 0);
		uint64_t to = model->losses[i].to_ns + (model->losses[i].to_ns == UINT64_MAX ? 0 : shift_ns);

		if (from < to_ns && to >= from_ns)
			return true;
	}
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
