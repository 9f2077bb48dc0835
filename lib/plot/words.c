/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is written beside a plot: numbers, times, and what has to be known to read it. See plot.h.
 */
#include "plot/plot.h"

#include "base/escape.h"
#include "base/units.h"
#include "event/refault_note.h"
#include "view/loss.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
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

/* Has it no extent in time? */
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

static uint64_t base_ns(const struct pfs_plot *plot)
{
	const struct pfs_model *model = plot->data->model;

	return model->start_ns ? model->start_ns : model->first_ns;
}

uint64_t pfs_plot_tick_after(const struct pfs_plot *plot, uint64_t ns, uint64_t tick_ns)
{
	uint64_t base = base_ns(plot), at = base;

	if (ns > base)
		at += ((ns - base - 1) / tick_ns + 1) * tick_ns;
	return at < base || at < ns ? UINT64_MAX : at;
}

const char *pfs_plot_tick_text(char buf[32], const struct pfs_plot *plot, uint64_t ns, uint64_t tick_ns)
{
	int digits = 0;

	for (uint64_t unit = PFS_NS_PER_S; unit > 1 && tick_ns % unit; unit /= 10)
		digits++;
	snprintf(buf, 32, "%.*f", digits, (double)(ns - base_ns(plot)) / PFS_NS_PER_S);
	return buf;
}

/* ---- sentences ---- */

struct text {
	char *buf;
	size_t len;
};

static void say(struct text *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(struct text *text, const char *fmt, ...)
{
	va_list ap;

	if (text->len + 1 >= PFS_PLOT_TEXT_MAX)
		return;
	va_start(ap, fmt);
	text->len += vsnprintf(text->buf + text->len, PFS_PLOT_TEXT_MAX - text->len, fmt, ap);
	va_end(ap);
	if (text->len >= PFS_PLOT_TEXT_MAX)
		text->len = PFS_PLOT_TEXT_MAX - 1;
}

static void say_number(struct text *text, uint64_t number, const char *noun)
{
	char digits[32];

	say(text, "%s %s", pfs_grouped_text(digits, number), noun);
}

const char *pfs_plot_sum_text(const struct pfs_plot *plot, char buf[PFS_PLOT_TEXT_MAX])
{
	const struct pfs_plot_data *data = plot->data;
	struct text text = { buf, 0 };
	char span[32];

	buf[0] = '\0';
	if (!data->faults && !data->sampled) {
		say(&text, "no faults");
		return buf;
	}
	if (data->faults)
		say_number(&text, data->faults, data->faults == 1 ? "fault" : "faults");
	if (data->faults && data->sampled)
		say(&text, " and ");
	if (data->sampled)
		say_number(&text, data->sampled, data->sampled == 1 ? "sampled access" : "sampled accesses");
	if (!is_moment(plot))
		say(&text, " in %s", pfs_duration_text(span, plot->to_ns - plot->from_ns, 3));
	if (data->outside) {
		say(&text, ", ");
		say_number(&text, data->outside, "of them in no known region");
	}
	return buf;
}

/* Touches that the filter keeps from the model are in no page of it either. */
static void say_filter(struct text *text, const struct pfs_filter *filter)
{
	bool threads = filter && (filter->nr_tids || filter->nr_comms), from = filter && filter->from.set;

	if (threads || from)
		say(text, "Only touches%s%s are shown; resident pages count these only\n",
		    threads ? " of the chosen threads" : "", from ? " from the chosen time on" : "");
}

const char *pfs_plot_notes_text(const struct pfs_plot *plot, char buf[PFS_PLOT_TEXT_MAX])
{
	const struct pfs_plot_data *data = plot->data;
	struct pfs_gaps gaps = pfs_gaps_shown(data->model, data->filter);
	struct text text = { buf, 0 };
	char lost[PFS_LOST_TEXT_MAX], again[PFS_REFAULT_HOW_MAX];
	struct pfs_refault_how how;

	buf[0] = '\0';
	if (pfs_lost_text(lost, &gaps))
		say(&text, "%s\n", lost);
	if (data->timeless)
		say_number(&text, data->timeless,
			   data->timeless == 1 ? "fault was counted without its time: not in the plot\n"
					       : "faults were counted without their times: not in the plot\n");
	if (data->left_out)
		say_number(&text, data->left_out,
			   data->left_out == 1 ? "touch of another region is excluded\n"
					       : "touches of other regions are excluded\n");
	say_filter(&text, data->filter);
	if (pfs_model_refault(plot->data->model, &how)) {
		pfs_refault_how_text(again, &how);
		say(&text, "%s %s%s\n", pfs_refault_what(how.method), again,
		    how.method == PFS_REFAULT_IDLE ? "" : ": resident pages are shown as if they had stayed");
	}
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
