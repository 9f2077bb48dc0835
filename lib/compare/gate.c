/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses and decides conditions: see compare/gate.h for the grammar.
 *
 *     faults>+5%    major>0    pages[libfoo*]>+10    time[heap]>=+1ms
 */
#include "compare/gate.h"

#include "base/number.h"
#include "base/units.h"
#include "view/labels.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

const char *const pfs_verdict_names[] = { "passed", "met", "undecidable" };

#define MILLION 1000000

/* ---- parsing ---- */

static const char *take_measure(struct pfs_gate *gate, const char *at)
{
	for (int m = 0; m < PFS_NR_MEASURES; m++) {
		size_t len = strlen(pfs_measure_names[m]);

		if (strncmp(at, pfs_measure_names[m], len))
			continue;
		gate->measure = m;
		return at + len;
	}
	return NULL;
}

/* "[libfoo*]", up to the last bracket. */
static const char *take_glob(struct pfs_gate *gate, const char *at)
{
	const char *end;

	if (*at != '[')
		return at;
	end = strrchr(at, ']');
	if (!end || end == at + 1 || (size_t)(end - at) > sizeof(gate->glob))
		return NULL;
	snprintf(gate->glob, sizeof(gate->glob), "%.*s", (int)(end - at - 1), at + 1);
	return end + 1;
}

/* "5", "0.5": in millionths. */
static bool parse_percent(const char *word, uint64_t *millionths)
{
	uint64_t ns;

	if (!pfs_is_digit(*word) || !pfs_is_digit(word[strlen(word) - 1]) || !pfs_seconds_parse(word, &ns))
		return false;
	*millionths = ns / 1000;
	return *millionths <= UINT64_C(1000000) * MILLION;
}

static bool take_number(struct pfs_gate *gate, const char *at)
{
	char word[64];
	size_t len;

	gate->sign = *at == '+' ? 1 : *at == '-' ? -1 : 0;
	at += gate->sign != 0;
	len = strlen(at);
	gate->percent = len && at[len - 1] == '%';
	if (snprintf(word, sizeof(word), "%.*s", (int)(len - gate->percent), at) >= (int)sizeof(word))
		return false;
	if (gate->percent)
		return gate->sign && parse_percent(word, &gate->number);
	if (gate->measure == PFS_M_TIME_NS)
		return pfs_seconds_parse(word, &gate->number);
	return pfs_number_parse(word, 0, UINT64_MAX >> 8, &gate->number);
}

int pfs_gate_parse(struct pfs_gate *gate, const char *text, struct pfs_err *err)
{
	const char *at;

	*gate = (struct pfs_gate){ .text = text };
	at = take_measure(gate, text);
	if (!at)
		return pfs_err_set(err, -EINVAL, "%s: must begin with faults, major, pages, around or time", text);
	at = take_glob(gate, at);
	if (!at)
		return pfs_err_set(err, -EINVAL, "%s: [GLOB] is empty or has no end", text);
	if (*at != '>' && *at != '<')
		return pfs_err_set(err, -EINVAL, "%s: no >, >=, < or <= before the number", text);
	gate->less = *at++ == '<';
	gate->or_equal = *at == '=';
	if (!take_number(gate, at + gate->or_equal))
		return pfs_err_set(err, -EINVAL, "%s: the number must be like +5%%, -5%%, +10, -10 or 10%s", text,
				   gate->measure == PFS_M_TIME_NS ? ", with a unit (+1.5ms)" : "");
	return 0;
}

/* ---- deciding ---- */

/* The sums of what the gate selects. */
struct sums {
	int64_t change, doubt; /* doubt: a difference that may be a change */
	uint64_t old, new;
	bool any, known;
};

static void add(struct sums *sums, const struct pfs_change *change)
{
	int64_t difference = (int64_t)change->median[1] - (int64_t)change->median[0];
	int64_t sure = (int64_t)change->gained - (int64_t)change->lost;

	sums->any = true;
	sums->known &= change->known;
	sums->old += change->median[0];
	sums->new += change->median[1];
	sums->change += sure;
	if (change->why == PFS_UNKNOWN)
		sums->doubt += difference - sure;
}

/* By path, by the last component, or of [heap] by heap, because brackets are a set in a glob. */
static bool is_selected(const struct pfs_gate *gate, const struct pfs_change_line *line)
{
	const char *name = line->name;
	char inner[64] = "";

	if (name[0] == '[')
		snprintf(inner, sizeof(inner), "%.*s", (int)strcspn(name + 1, "]"), name + 1);
	return !fnmatch(gate->glob, name, 0) || !fnmatch(gate->glob, pfs_label_base(name), 0) ||
	       (inner[0] && !fnmatch(gate->glob, inner, 0));
}

/* Whether `value` (of the whole `old`) meets the condition. */
static bool meets(const struct pfs_gate *gate, int64_t value, uint64_t old)
{
	__int128 left = value, right = gate->number;

	if (gate->percent) {
		left *= 100 * (__int128)MILLION;
		right *= old;
	}
	if (gate->sign < 0)
		right = -right;
	if (left == right)
		return gate->or_equal && !(gate->percent && !old && !value && gate->number);
	return gate->less ? left < right : left > right;
}

static void amount_text(char buf[32], enum pfs_measure measure, uint64_t amount)
{
	if (measure == PFS_M_TIME_NS)
		pfs_duration_text(buf, amount, 3);
	else
		pfs_grouped_text(buf, amount);
}

static void describe(const struct pfs_gate *gate, const struct sums *sums, char *why, size_t size)
{
	uint64_t amount = sums->change < 0 ? -sums->change : sums->change;
	char old[32], new[32], change[32];

	amount_text(old, gate->measure, sums->old);
	amount_text(new, gate->measure, sums->new);
	amount_text(change, gate->measure, amount);
	if (!gate->sign)
		snprintf(why, size, "%s", new);
	else if (!gate->percent || !sums->old)
		snprintf(why, size, "%s%s", sums->change < 0 ? "-" : "+", change);
	else
		snprintf(why, size, "%s%s of %s: %s%.1f %%", sums->change < 0 ? "-" : "+", change, old,
			 sums->change < 0 ? "-" : "+", 100.0 * amount / sums->old);
}

enum pfs_verdict pfs_gate_judge(const struct pfs_gate *gate, const struct pfs_compare *compare, char *why, size_t size)
{
	const struct pfs_change_lines *files = &compare->files;
	struct sums sums = { .known = true };
	bool met;

	for (size_t i = 0; gate->glob[0] && i < files->nr; i++)
		if (is_selected(gate, &files->line[i]))
			add(&sums, &files->line[i].change[gate->measure]);
	if (!gate->glob[0])
		add(&sums, &compare->total.change[gate->measure]);
	if (!sums.any) {
		snprintf(why, size, "no file or region is called %s", gate->glob);
		return PFS_GATE_UNDECIDABLE;
	}
	if (!sums.known) {
		snprintf(why, size, "not every recording contains it%s",
			 gate->measure == PFS_M_TIME_NS ? " (record with --latency)" : "");
		return PFS_GATE_UNDECIDABLE;
	}
	if (compare->lost[0] || compare->lost[1]) {
		snprintf(why, size, "events were lost");
		return PFS_GATE_UNDECIDABLE;
	}
	met = meets(gate, gate->sign ? sums.change : (int64_t)sums.new, sums.old);
	if (gate->sign && meets(gate, sums.change + sums.doubt, sums.old) != met) {
		snprintf(why, size, "it is not known whether what differs has changed%s",
			 gate->measure == PFS_M_TIME_NS ? " (compare several runs)" : "");
		return PFS_GATE_UNDECIDABLE;
	}
	describe(gate, &sums, why, size);
	return met ? PFS_GATE_MET : PFS_GATE_PASSED;
}
