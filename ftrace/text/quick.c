/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fast path for lines of faults: see text/quick.h. */
#include "text/quick.h"

#include "text/scan.h"

enum { DASH = 16 }; /* where the kernel's own columns begin, and trace-cmd's */

/* By what comes behind the dash: the thread's number. Lines are longer than that. */
static unsigned int form_of(const char *line)
{
	uint64_t columns;

	memcpy(&columns, line + DASH, sizeof(columns));
	return columns * UINT64_C(0x9e3779b97f4a7c15) >> 60;
}

/* Where the time of those columns begins; *colon is behind it. NULL: it is not of the usual form. */
static const char *find_time(const char *line, const struct text_columns *c, const char **colon)
{
	const char *p = c->event;

	while (p > line && p[-1] == ' ')
		p--;
	if (p == line || *--p != ':')
		return NULL;
	*colon = p;
	while (p > line && (pfs_is_digit(p[-1]) || p[-1] == '.'))
		p--;
	return p;
}

/* Behind the "address=0x" of a fault's text, which begins at p. NULL: the text has another form. */
static const char *find_address(const char *p, const char *end)
{
	static const char name[] = "address=0x";

	while (pfs_is_word(*p))
		p++;
	if (*p != ':')
		return NULL;
	p = text_skip_spaces(p + 1);
	if (end - p <= (ptrdiff_t)sizeof(name) || memcmp(p, name, sizeof(name) - 1))
		return NULL;
	return p + sizeof(name) - 1;
}

void text_quick_learn(struct text_quick *quick, const char *line, const char *end, const struct text_columns *c,
		      const struct raw_event *ev)
{
	const char *colon = NULL, *time = find_time(line, c, &colon), *point;
	const char *address = find_address(c->event, end);
	struct text_form *form;

	/* as text_line_columns() takes them first of all, whatever the name of the thread */
	if (!time || !address || line[0] != ' ' || line[DASH] != '-' || time - (line + DASH) < DASH)
		return;
	point = memchr(time, '.', colon - time);
	if (!point || (colon - point != 7 && colon - point != 10) || point + 1 - line > QUICK_HEAD ||
	    address - colon > QUICK_MIDDLE)
		return;
	form = &quick->form[form_of(line)];
	*form = (struct text_form){
		.head_len = point + 1 - line,
		.digits = colon - point - 1,
		.middle_len = address - colon,
		.mode = fault_mode(ev->kind),
		.cpu = c->cpu,
		.tid = c->tid,
		.seconds_ns = c->ts_ns - c->ts_ns % 1000000000,
	};
	memcpy(form->head, line, form->head_len);
	memcpy(form->middle, colon, form->middle_len);
}

void text_quick_forget(struct text_quick *quick)
{
	for (unsigned int i = 0; i < QUICK_FORMS; i++)
		quick->form[i].head_len = 0;
}

bool text_quick_read(const struct text_quick *quick, const char *line, const char *end, struct fault_batch *batch)
{
	const struct text_form *form = quick->form + (end - line > 2 * DASH ? form_of(line) : 0);
	struct pfs_fault_run like = { .cpu = form->cpu, .tid = form->tid, .mode = form->mode };
	const char *p = line + form->head_len;
	uint64_t ns = 0, v[3];

	if (!form->head_len || end - line < form->head_len + form->digits + form->middle_len ||
	    memcmp(line, form->head, form->head_len))
		return false;
	for (unsigned int i = 0; i < form->digits; i++, p++) {
		if (!pfs_is_digit(*p))
			return false;
		ns = ns * 10 + (*p - '0');
	}
	if (memcmp(p, form->middle, form->middle_len) || !text_fault(p + form->middle_len, end, v))
		return false;
	like.code = v[2];
	if (!fault_is_plain(&like, v[1]))
		return false;
	ns = form->seconds_ns + (form->digits == 6 ? ns * 1000 : ns);
	fault_batch_run(batch, &like, ns)->nr++;
	batch->ts_ns[batch->nr] = ns;
	batch->addr[batch->nr] = v[0];
	batch->ip[batch->nr++] = v[1];
	return true;
}
