// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Divides bytes into lines, classifies each, and passes on its raw event.
 *
 * feed() reads a line in place if its buffer has all of it, and copies it if not. text/line.c finds the columns, text/args.c parses the event.
 */
#include "text/text.h"

#include "record/pfscope_records.h"
#include "text/args.h"
#include "text/quick.h"
#include "text/scan.h"

#include <stdlib.h>

#define TABLE_SIZE  512 /* a power of 2, several times as many as names */
#define COMM_ROOM   16
#define PROBE_LINES 256
#define MAX_CPUS    1024 /* on higher ones the beginning of a loss is unknown */

struct pfs_text {
	raw_event_fn fn;
	void *ctx;
	unsigned int page_shift;
	bool other;
	struct text_event table[TABLE_SIZE]; /* by hash_name(), free where name is NULL */
	struct pfs_text_stats stats;
	struct pfs_records_join join;
	struct fault_batch batch;
	struct text_quick quick;
	struct raw_event ev;
	bool lost_pending; /* lost waits for the time of the event after it */
	struct raw_event lost;
	uint64_t last_ns[MAX_CPUS]; /* of its last event; 0: none yet */
	bool dropping;		    /* in a line that is too long */
	size_t nr_kept;		    /* bytes of a line that has not ended yet */
	char comm[COMM_ROOM];
	char kept[PFS_TEXT_LINE_MAX + 1];
	char str[PFS_TEXT_LINE_MAX + 1];
};

/* Of a name of at least four bytes. */
static unsigned int hash_name(const char *name, size_t len)
{
	uint32_t head, middle, tail;

	memcpy(&head, name, 4);
	memcpy(&middle, name + (len - 4) / 2, 4);
	memcpy(&tail, name + len - 4, 4);
	head = (head ^ (uint32_t)len) * 0x9e3779b1u + middle;
	return ((head ^ head >> 15) * 0x85ebca77u + tail * 0xc2b2ae3du) >> 16;
}

/*
 * The place of that name, or the free one where it would be. call: the kind, if it is the name of a
 * system call; RAW_OTHER, if it is that of an event.
 */
static struct text_event *find_place(struct pfs_text *t, const char *name, size_t len, enum raw_kind call)
{
	unsigned int i = hash_name(name, len);
	struct text_event *te;

	for (;; i++) {
		te = &t->table[i % TABLE_SIZE];
		if (!te->name || (te->name_len == len && !memcmp(te->name, name, len) && te->call == call))
			return te;
	}
}

static const struct text_event *find_event(struct pfs_text *t, const char *name, size_t len, enum raw_kind call)
{
	const struct text_event *te = len < 4 ? NULL : find_place(t, name, len, call);

	return te && te->name ? te : NULL;
}

static void add_name(struct pfs_text *t, const char *name, const struct raw_desc *desc, enum raw_kind call)
{
	struct text_event *te = find_place(t, name, strlen(name), call);

	te->call = call;
	te->name = name;
	te->name_len = strlen(name);
	text_event_init(te, desc);
}

/* Every event by its name, and each system call also as "_mmap": the kernel's own text has "sys_mmap". */
static void fill_table(struct pfs_text *t)
{
	for (const struct raw_desc *desc = raw_descs; desc < raw_descs + nr_raw_descs; desc++) {
		add_name(t, desc->name, desc, RAW_OTHER);
		if (desc->kind == RAW_SYS_ENTER)
			add_name(t, desc->name + strlen("sys_enter"), desc, desc->kind);
		if (desc->kind == RAW_SYS_EXIT)
			add_name(t, desc->name + strlen("sys_exit"), desc, desc->kind);
	}
}

struct pfs_text *pfs_text_new(raw_event_fn fn, void *ctx, const struct pfs_text_options *opt)
{
	struct pfs_text *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->fn = fn;
	t->ctx = ctx;
	t->page_shift = opt && opt->page_shift ? opt->page_shift : 12;
	t->other = opt && opt->other;
	fill_table(t);
	return t;
}

void pfs_text_take_faults(struct pfs_text *text, raw_faults_fn faults)
{
	text->batch.fn = faults;
}

void pfs_text_free(struct pfs_text *text)
{
	if (!text)
		return;
	pfs_records_join_free(&text->join);
	free(text);
}

/* "do_wp_page <-__handle_mm_fault", the kernel's own way with the function tracer. p: behind the name. */
static bool is_function(const char *p)
{
	/* "do_fault.isra.0", and with options/sym-offset "do_wp_page+0x4/0x1a0" */
	while (pfs_is_word(*p) || *p == '.' || *p == '+' || *p == '/')
		p++;
	return p[0] == ' ' && p[1] == '<' && p[2] == '-';
}

/*
 * Which event it is and where the rest starts: "page_fault_user: ...", or the kernel's own way with system calls,
 * "sys_mmap(addr: 0, ...)" and "sys_mmap -> 0x7fa3d076b000", and with functions. NULL: none of ours.
 */
static const struct text_event *name_event(struct pfs_text *t, const char *name, const char **rest)
{
	static const char user_stack[] = "<user stack trace>";
	const char *p = name;

	if (*p == '<' &&
	    !strncmp(p, user_stack, sizeof(user_stack) - 1)) { /* its frames, on lines of their own, are not read */
		*rest = p + sizeof(user_stack) - 1;
		return find_event(t, "user_stack", 10, RAW_OTHER);
	}
	while (pfs_is_word(*p))
		p++;
	if (!strncmp(p, ": pfs_hidden", 12)) { /* "0x7f1234567123: pfs_hidden", behind "print:" in trace-cmd report */
		*rest = name;
		return find_event(t, "print", 5, RAW_OTHER);
	}
	*rest = p + 1;
	if (*p == ':')
		return find_event(t, name, p - name, RAW_OTHER);
	if (is_function(p)) {
		*rest = name;
		return find_event(t, "function", 8, RAW_OTHER);
	}
	if (p - name < 5 || memcmp(name, "sys_", 4))
		return NULL;
	if (*p == '(')
		return find_event(t, name + 3, p - name - 3, RAW_SYS_ENTER);
	*rest = p + 4;
	if (p[0] == ' ' && p[1] == '-' && p[2] == '>' && p[3] == ' ')
		return find_event(t, name + 3, p - name - 3, RAW_SYS_EXIT);
	return NULL;
}

static void take_comm(struct pfs_text *t, const struct text_columns *c, const char *end)
{
	t->ev.comm = NULL;
	if (!c->comm)
		return;
	if (end - c->comm >= COMM_ROOM)
		memcpy(t->comm, c->comm, COMM_ROOM); /* faster than the length that is needed */
	else
		memcpy(t->comm, c->comm, c->comm_len);
	t->comm[c->comm_len] = 0;
	t->ev.comm = t->comm;
}

/* The events that were lost are before the one that follows, and have its time. */
static int emit_lost(struct pfs_text *t, uint64_t ts_ns)
{
	t->lost_pending = false;
	t->lost.ts_ns = ts_ns;
	return t->fn(t->ctx, &t->lost);
}

/* Stores the time of t->ev as that of the last event on its CPU. */
static void note_time(struct pfs_text *t, int32_t cpu)
{
	if (cpu >= 0 && cpu < MAX_CPUS)
		t->last_ns[cpu] = t->ev.ts_ns;
}

static int emit(struct pfs_text *t)
{
	int ret = t->lost_pending ? emit_lost(t, t->ev.ts_ns) : 0;

	if (ret)
		return ret;
	note_time(t, t->ev.cpu);
	if (t->ev.kind >= RAW_PFS_MAP) {
		t->ev.cpu = -1;
		ret = pfs_records_join(&t->join, &t->ev);
		if (ret <= 0)
			return ret;
	}
	return t->fn(t->ctx, &t->ev);
}

/* Name and fields of an event of no use: "sched_wakeup: comm=sh pid=12". */
static void copy_other(struct pfs_text *t, const char *name, const char *end)
{
	const char *rest = name;
	size_t len;

	while (pfs_is_word(*rest))
		rest++;
	len = rest - name;
	if (!len)
		return;
	memcpy(t->str, name, end - name);
	t->str[len] = 0;
	t->str[end - name] = 0;
	for (rest = t->str + len + (name + len < end); *rest == ' ' || *rest == ':';)
		rest++;
	t->ev.str = t->str;
	t->ev.text = rest;
}

static int emit_other(struct pfs_text *t, const char *name, const char *end)
{
	int ret;

	t->ev.kind = RAW_OTHER;
	t->ev.nr = SYS_OTHER;
	if (t->other)
		copy_other(t, name, end);
	ret = emit(t);
	t->ev.str = NULL;
	return ret;
}

/* my - [task] 12--4818    (   4818) [000] d....  1281.049571: page_fault_user: address=0x7f ... */
static int read_event(struct pfs_text *t, const char *line, const struct text_columns *c, const char *end)
{
	const char *rest;
	const struct text_event *te = name_event(t, c->event, &rest);
	struct raw_event *ev = &t->ev;
	int ret = 0;

	ev->ts_ns = c->ts_ns;
	ev->cpu = c->cpu;
	ev->tid = c->tid;
	ev->tgid = c->tgid;
	ev->str = NULL;
	memset(ev->arg, 0xff, sizeof(ev->arg)); /* RAW_ABSENT */
	take_comm(t, c, end);
	if (c->clock > t->stats.clock)
		t->stats.clock = c->clock;
	if (!raw_seen_faults(&t->stats.seen))
		raw_seen_add(&t->stats.seen, te ? te->desc->kind : RAW_OTHER, NULL, te ? te->desc->name : c->event);
	if (te && t->other && raw_is_call(te->desc->kind))
		ret = emit_other(t, c->event, end);
	if (ret)
		return ret;
	if (te) {
		ev->kind = te->desc->kind;
		ev->nr = te->desc->nr;
		text_args(te, rest < end ? rest : end, end, t->page_shift, t->str, ev);
		if (ev->kind == RAW_HIDDEN && !raw_hidden_take(ev))
			te = NULL;
	}
	if (te) {
		t->stats.events++;
		if (fault_mode(ev->kind))
			text_quick_learn(&t->quick, line, end, c, ev);
		else if (te->desc->str) /* it may name a thread, or begin or end one */
			text_quick_forget(&t->quick);
		return emit(t);
	}
	t->stats.other++;
	return emit_other(t, c->event, end);
}

/* CPU:1 [LOST 5 EVENTS] */
static int hold_lost(struct pfs_text *t, int32_t cpu, uint64_t nr_lost)
{
	int ret = t->lost_pending ? emit_lost(t, t->ev.ts_ns) : 0;

	t->stats.lost++;
	t->lost_pending = true;
	raw_event_lost(&t->lost, cpu, nr_lost, cpu >= 0 && cpu < MAX_CPUS ? t->last_ns[cpu] : 0);
	return ret;
}

static void count_unparsed(struct pfs_text *t, uint64_t *why)
{
	if (why)
		++*why;
	if (!t->stats.unparsed++)
		t->stats.first_unparsed = t->stats.lines;
}

/* Takes the fast path if the line is a plain fault like one before. */
static bool is_quick(struct pfs_text *t, const char *line, const char *end)
{
	struct fault_batch *b = &t->batch;

	if (!b->fn || t->lost_pending || !text_quick_read(&t->quick, line, end, b))
		return false;
	t->stats.events++;
	t->ev.ts_ns = b->ts_ns[b->nr - 1];
	note_time(t, b->runs[b->nr_runs - 1].cpu);
	return true;
}

/* One line, without its newline, which is at *end. */
static int read_line(struct pfs_text *t, const char *line, const char *end)
{
	struct text_columns c;
	uint64_t nr_lost;
	int32_t cpu;
	int ret;

	t->stats.lines++;
	if (is_quick(t, line, end))
		return t->batch.nr == FAULT_BATCH ? fault_batch_pass(&t->batch, t->ctx) : 0;
	ret = fault_batch_pass(&t->batch, t->ctx);
	if (ret)
		return ret;
	if (end - line > PFS_TEXT_LINE_MAX) {
		count_unparsed(t, &t->stats.too_long);
		return 0;
	}
	if (end > line && end[-1] == '\r')
		end--;
	if (text_line_columns(line, end, &c))
		return read_event(t, line, &c, end);
	if (text_line_lost(line, end, &cpu, &nr_lost))
		return hold_lost(t, cpu, nr_lost);
	if (text_line_header(line, end))
		t->stats.headers++;
	else
		count_unparsed(t, NULL);
	return 0;
}

/* Stores the bytes of an incomplete line. */
static void keep(struct pfs_text *t, const char *buf, size_t len)
{
	if (len > PFS_TEXT_LINE_MAX - t->nr_kept)
		t->dropping = true;
	if (t->dropping)
		return;
	memcpy(t->kept + t->nr_kept, buf, len);
	t->nr_kept += len;
}

/* The kept line has ended. */
static int read_kept(struct pfs_text *t)
{
	const size_t len = t->nr_kept;

	t->nr_kept = 0;
	if (t->dropping) {
		t->dropping = false;
		t->stats.lines++;
		count_unparsed(t, &t->stats.too_long);
		return 0;
	}
	t->kept[len] = '\n';
	return read_line(t, t->kept, t->kept + len);
}

int pfs_text_feed(void *ctx, const char *buf, size_t len)
{
	struct pfs_text *text = ctx;
	const char *end = buf + len, *newline;
	int ret = 0;

	for (; !ret && buf < end; buf = newline + 1) {
		newline = memchr(buf, '\n', end - buf);
		if (!newline) {
			keep(text, buf, end - buf);
			break;
		}
		if (!text->nr_kept && !text->dropping) {
			ret = read_line(text, buf, newline);
			continue;
		}
		keep(text, buf, newline - buf);
		ret = read_kept(text);
	}
	return ret ? ret : fault_batch_pass(&text->batch, text->ctx);
}

int pfs_text_finish(struct pfs_text *text)
{
	if (text->nr_kept || text->dropping) {
		text->stats.lines++;
		count_unparsed(text, text->dropping ? &text->stats.too_long : &text->stats.cut);
		text->nr_kept = 0;
		text->dropping = false;
	}
	return text->lost_pending ? emit_lost(text, text->ev.ts_ns) : 0;
}

const struct pfs_text_stats *pfs_text_stats(const struct pfs_text *text)
{
	return &text->stats;
}

/* Adds a line's vote for or against: +1, -1, or 0. *sure: nothing else writes such a line. */
static int probe_line(const char *line, const char *end, bool *sure)
{
	struct text_columns c;
	uint64_t nr_lost;
	int32_t cpu;

	if (end - line >= 10 && !memcmp(line, "# tracer: ", 10))
		*sure = true;
	if (text_line_columns(line, end, &c) || text_line_lost(line, end, &cpu, &nr_lost))
		return 1;
	/* comments and empty lines are anybody's, "cpus=2" is not */
	if (text_line_header(line, end))
		return end - line > 5 && !memcmp(line, "cpus=", 5);
	return -1;
}

int pfs_text_probe(const char *buf, size_t len)
{
	const char *end = buf + len, *newline;
	unsigned int votes = 0, against = 0;
	bool sure = false;
	int vote;

	for (int i = 0; i < PROBE_LINES && buf < end; i++, buf = newline + 1) {
		newline = memchr(buf, '\n', end - buf);
		if (!newline)
			break;
		vote = probe_line(buf, newline, &sure);
		votes += vote > 0;
		against += vote < 0;
	}
	if (votes)
		return 100 * votes / (votes + against);
	return sure && !against ? 90 : 0;
}
