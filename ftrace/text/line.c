// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the columns of a line by their structure, since the task's name in front of them may hold
 * anything: spaces, brackets, digits, even what looks like columns itself.
 *
 *     "%16s-%-7d (%7d) [%03d] d..1. %5lu.%06lu: "	trace, trace_pipe (kernel/trace/trace_output.c)
 *     "%8.8s-%-7d %3dd..1. %4lldus+: "			the same with latency-format
 *     "%16s-%-5d [%03d] d..1. %5llu.%06llu: "		trace-cmd report, "name: " before it all
 *     "%8.8s-%-5d %3dd..1. %5llu.%06llu: "		trace-cmd report -l
 * The group in () is there with record-tgid, the flags with irq-info; trace-cmd has neither or one.
 */
#include "text/text.h"

#include "text/scan.h"

#define COMM_MAX      15 /* TASK_COMM_LEN without its NUL */
#define COMM_WIDTH    16
#define LATENCY_WIDTH 8
/*
 * What stands between the dash and the colon of the time is longer than this in every form above,
 * and a name is at most 15 bytes: columns that long cannot be part of a name.
 */
#define MIN_COLUMNS 16

/* "(   4818)" or "(-------)". NULL: something else. */
static const char *parse_tgid(const char *s, int32_t *tgid)
{
	uint64_t v;
	const char *p;

	s = text_skip_spaces(s + 1);
	if (*s == '-') {
		while (*s == '-')
			s++;
		return *s == ')' ? s + 1 : NULL;
	}
	p = pfs_dec(s, &v);
	if (p == s || *p != ')' || v > INT32_MAX)
		return NULL;
	*tgid = v;
	return p + 1;
}

/* Flags ("d..1.", "....", trace-cmd -R: "-0x1") after the cpu, if any. NULL: something else. */
static const char *skip_flags(const char *s)
{
	const char *p = text_skip_spaces(s);

	if (s[0] == '-' && s[1] == '0' && s[2] == 'x') {
		for (s += 3; pfs_hex_digit(*s) < 16; s++)
			;
		return s;
	}
	if (pfs_is_digit(*p))
		return p;
	for (s = p; *p == '.' || pfs_is_word(*p); p++)
		;
	return p - s >= 3 ? p : NULL;
}

/* "[001] d..1.", or "1d..1." of the latency format. NULL: something else. */
static const char *parse_cpu(const char *s, struct text_columns *c, bool *latency)
{
	const bool bracket = *s == '[';
	const char *p;
	uint64_t v;

	s += bracket;
	p = pfs_dec(s, &v);
	if (p == s || v > INT32_MAX)
		return NULL;
	c->cpu = v;
	*latency = !bracket;
	if (bracket)
		return *p == ']' ? skip_flags(p + 1) : NULL;
	return *p == '.' || pfs_is_word(*p) ? skip_flags(p) : NULL;
}

/* The digits after the point, at most 9. NULL: something else. */
static const char *parse_fraction(const char *s, struct text_columns *c, uint64_t seconds)
{
	uint64_t ns = 0;
	int digits = 0;

	if (seconds > UINT64_MAX / 1000000000)
		return NULL;
	for (; pfs_is_digit(*s) && digits < 9; s++, digits++)
		ns = ns * 10 + (*s - '0');
	if (!digits || pfs_is_digit(*s))
		return NULL;
	c->clock = digits > 6 ? TEXT_CLOCK_NS : TEXT_CLOCK_US;
	if (digits == 6)
		ns *= 1000;
	else
		for (; digits < 9; digits++)
			ns *= 10;
	c->ts_ns = seconds * 1000000000 + ns;
	return s;
}

/* "1281.049542:", "1281049542us+:", "3414584783418:". Returns what follows the colon, or NULL. */
static const char *parse_time(const char *s, struct text_columns *c)
{
	const char *p;
	uint64_t v;

	s = text_skip_spaces(s);
	p = pfs_dec(s, &v);
	if (p == s)
		return NULL;
	if (*p == '.') {
		p = parse_fraction(p + 1, c, v);
	} else if (p[0] == 'u' && p[1] == 's') {
		c->clock = TEXT_CLOCK_US;
		c->ts_ns = v * 1000;
		/* the mark of a delay before the next event */
		p += 2 + (p[2] && strchr("$@*#!+ ", p[2]));
	} else {
		c->clock = TEXT_CLOCK_PLAIN;
		c->ts_ns = v;
	}
	return p && *p == ':' ? p + 1 : NULL;
}

/* Everything after the dash before the tid. Returns what follows the time's colon, or NULL. */
static const char *parse_columns(const char *s, struct text_columns *c, bool *latency)
{
	const char *p;
	uint64_t v;

	p = pfs_dec(s, &v);
	if (p == s || v > INT32_MAX || (*p != ' ' && *p != '\t'))
		return NULL;
	c->tid = v;
	c->tgid = -1;
	p = text_skip_spaces(p);
	if (*p == '(') {
		p = parse_tgid(p, &c->tgid);
		if (!p)
			return NULL;
		p = text_skip_spaces(p);
	}
	p = parse_cpu(p, c, latency);
	return p ? parse_time(p, c) : NULL;
}

/* The name that ends at the dash: right-aligned in its column, cut there in the latency format. */
static void take_comm(const char *line, const char *dash, bool latency, struct text_columns *c)
{
	const char *from = line;
	ptrdiff_t width = latency ? LATENCY_WIDTH : COMM_MAX;

	if (dash - from > width)
		from = dash - width;
	while (from < dash && *from == ' ')
		from++;
	c->comm = from;
	c->comm_len = dash - from;
	/* a name that fills the latency format's column may go on: only a part is no name */
	if (!c->comm_len || (latency && c->comm_len == LATENCY_WIDTH) ||
	    (c->comm_len == 5 && !memcmp(from, "<...>", 5)))
		c->comm = NULL;
}

/* What `--ts-diff` puts before the event: "(+12)    ". */
static const char *skip_ts_diff(const char *s)
{
	const char *p = s + 2;

	if (s[0] != '(' || s[1] != '+')
		return s;
	while (pfs_is_digit(*p))
		p++;
	return *p == ')' ? text_skip_spaces(p + 1) : s;
}

/* Takes the columns after `dash` if there are some. Returns their length, 0 if not. */
static ptrdiff_t try_dash(const char *line, const char *end, const char *dash, struct text_columns *c)
{
	struct text_columns found;
	const char *p;
	bool latency;

	if (!pfs_is_digit(dash[1]))
		return 0;
	p = parse_columns(dash + 1, &found, &latency);
	if (!p)
		return 0;
	found.event = skip_ts_diff(text_skip_spaces(p));
	if (found.event >= end)
		return 0;
	take_comm(line, dash, latency, &found);
	*c = found;
	return p - dash;
}

/*
 * The first columns that are too long to be part of a name are the ones; what follows them may
 * look the same (a name in the event's text), what comes before cannot. Reformatted text may have only
 * short columns: then the last within a name's length from the first.
 */
static int search_dash(const char *line, const char *end, struct text_columns *c)
{
	const char *dash = line, *first = NULL;
	struct text_columns found;
	ptrdiff_t len;

	for (; (dash = memchr(dash, '-', end - dash)); dash++) {
		len = try_dash(line, end, dash, &found);
		if (!len)
			continue;
		if (len >= MIN_COLUMNS || !first || dash - first <= COMM_MAX)
			*c = found;
		if (len >= MIN_COLUMNS)
			return 1;
		if (!first)
			first = dash;
	}
	return first != NULL;
}

int text_line_columns(const char *line, const char *end, struct text_columns *c)
{
	const ptrdiff_t len = end - line;

	/* in all formats but the lines of an instance in trace-cmd report */
	if (len > COMM_WIDTH && line[0] == ' ' && line[COMM_WIDTH] == '-' &&
	    try_dash(line, end, line + COMM_WIDTH, c) >= MIN_COLUMNS)
		return 1;
	/* a comment may quote a line; a name that starts with # is at the start of one only here */
	if (len && *line == '#' && (len <= LATENCY_WIDTH || line[LATENCY_WIDTH] != '-'))
		return 0;
	return search_dash(line, end, c);
}

static bool starts_with(const char *s, const char *end, const char *what)
{
	const size_t len = strlen(what);

	return (size_t)(end - s) >= len && !memcmp(s, what, len);
}

/* Is [s, end) a number between these two texts? */
static bool is_number(const char *s, const char *end, const char *before, const char *after, uint64_t *v)
{
	const char *digits = s + strlen(before), *p;

	if (!starts_with(s, end, before))
		return false;
	p = pfs_dec(digits, v);
	return p > digits && starts_with(p, end, after) && p + strlen(after) == end;
}

/* What comes after the name of a buffer or of a file, "name: ", that trace-cmd puts first. */
static const char *after_name(const char *line, const char *end, const char *what)
{
	const char *p = memmem(line, end - line, what, strlen(what));

	return p && (p == line || p[-1] == ' ') ? p : NULL;
}

int text_line_lost(const char *line, const char *end, int32_t *cpu, uint64_t *lost)
{
	const char *p = after_name(line, end, "CPU:"), *digits;
	uint64_t v = 0;

	*cpu = -1;
	if (p) {
		digits = p + 4;
		p = pfs_dec(digits, &v);
		if (p == digits || v > INT32_MAX || *p != ' ')
			return 0;
		*cpu = v;
	}
	p = text_skip_spaces(p ? p : line);
	if (is_number(p, end, "[LOST ", " EVENTS]", lost) || is_number(p, end, "[", " EVENTS DROPPED]", lost))
		return 1;
	*lost = UINT64_MAX;
	return (end - p == 13 && starts_with(p, end, "[LOST EVENTS]")) ||
	       (end - p == 16 && starts_with(p, end, "[EVENTS DROPPED]"));
}

/* After comments, empty lines and frames of stacks: "CPU 1 is empty", "version = 6", "cpus=2", the start of a page. */
int text_line_header(const char *line, const char *end)
{
	const char *s = line, *cpus = after_name(line, end, "cpus="), *cpu = after_name(line, end, "CPU:");
	uint64_t v;

	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	return *line == '#' || s == end || starts_with(s, end, "=> ") || is_number(s, end, "CPU ", " is empty", &v) ||
	       is_number(s, end, "version = ", "", &v) || (cpus && is_number(cpus, end, "cpus=", "", &v)) ||
	       (cpu && memmem(cpu, end - cpu, " [SUBBUFFER START]", 18));
}
