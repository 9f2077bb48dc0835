// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The text reader on recorded files (tests/data/text, made by record.py there) and on much that is
 * made up: the same recording read by libtracecmd says the same, names of any look do not move the
 * columns, pieces of any size make no difference, and no bytes do harm.
 */
#include "support/random.h"
#include "support/dat_oracle.h"
#include "support/text_sink.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define DATA "tests/data/text/"
#ifndef MUTATIONS
#define MUTATIONS 20000
#endif
#define NAMES 20000

struct file {
	char *buf;
	size_t len;
};

static struct file load(const char *name)
{
	char path[128];
	struct file file = { 0 };
	FILE *f;

	snprintf(path, sizeof(path), DATA "%s", name);
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s: %s (run from the project's root)", path, strerror(errno));
	fseek(f, 0, SEEK_END);
	file.len = ftell(f);
	rewind(f);
	file.buf = malloc(file.len);
	assert_int_equal(fread(file.buf, 1, file.len, f), file.len);
	fclose(f);
	return file;
}

static struct pfs_text_stats read_file(struct text_sink *sink, const char *name)
{
	struct file file = load(name);
	struct pfs_text_stats stats;

	assert_int_equal(text_sink_read(sink, file.buf, file.len, &stats), 0);
	assert_int_equal(stats.unparsed, 0);
	assert_int_equal(stats.lines, stats.events + stats.other + stats.headers);
	assert_int_equal(sink->nr, stats.events + stats.other);
	assert_int_equal(pfs_text_probe(file.buf, file.len), 100);
	free(file.buf);
	return stats;
}

/* What differs between two views of one recording that are both right. */
struct view {
	const char *name;
	uint64_t ts_unit; /* ns; times are rounded to it */
	bool hashed;	  /* pointers are hashed */
	bool whole;	  /* every event is there, not a selection */
};

/* In hashed text the same pointers are the same and other ones are others; 0 is 0. */
static bool same_pointer(uint64_t real, uint64_t hash)
{
	static uint64_t reals[256], hashes[256];
	static size_t nr; /* of one file: only kernel.trace is hashed */

	if (!real || !hash)
		return !real && !hash;
	for (size_t i = 0; i < nr; i++)
		if (reals[i] == real || hashes[i] == hash)
			return reals[i] == real && hashes[i] == hash;
	assert_true(nr < 256);
	reals[nr] = real;
	hashes[nr++] = hash;
	return true;
}

static bool same_arg(const struct view *view, const struct raw_event *want, const struct raw_event *got, unsigned int i)
{
	/* a symbol in the text, an address in the record */
	if (want->kind == RAW_FAULT_KERNEL && i == 1)
		return want->arg[i] == got->arg[i] || got->arg[i] == RAW_ABSENT;
	/* names of flags in the text */
	if (want->kind == RAW_PAGE_ALLOC && i == 2)
		return want->arg[i] == got->arg[i] || got->arg[i] == RAW_ABSENT;
	if (want->kind == RAW_MA_WRITE && i == 2 && view->hashed)
		return same_pointer(want->arg[i], got->arg[i]);
	return want->arg[i] == got->arg[i];
}

static bool same_event(const struct view *view, const struct raw_event *want, const struct raw_event *got,
		       const char *str)
{
	uint64_t ts = (want->ts_ns + view->ts_unit / 2) / view->ts_unit * view->ts_unit;

	if (ts != got->ts_ns || want->cpu != got->cpu || want->tid != got->tid || want->kind != got->kind ||
	    want->nr != got->nr)
		return false;
	if (want->kind == RAW_OTHER)
		return true;
	for (unsigned int i = 0; i < RAW_MAX_ARGS; i++)
		if (!same_arg(view, want, got, i))
			return false;
	return !want->str == !str && (!str || !strcmp(want->str, str));
}

/* The events of the text are those of the recording, in its order. */
static void check_view(const struct view *view, const struct ev_list *want)
{
	struct text_sink sink = { 0 };
	size_t at = 0, skipped = 0;

	read_file(&sink, view->name);
	for (size_t i = 0; i < sink.nr; i++, at++) {
		for (; at < want->nr; at++, skipped++)
			if (same_event(view, &want->ev[at], &sink.got[i].ev, text_got_str(&sink, i)))
				break;
		if (at == want->nr || (view->whole && skipped))
			fail_msg("%s: event %zu is not in the recording", view->name, i);
	}
	if (view->whole)
		assert_int_equal(sink.nr, want->nr);
	else
		assert_true(sink.nr > 100);
	text_sink_fini(&sink);
}

static void test_same_as_libtracecmd(void **state)
{
	static const struct view views[] = {
		{ "report-t.txt", 1, false, true },	      { "kernel.trace", 1000, true, true },
		{ "report.txt", 1000, false, false },	      { "report-l.txt", 1000, false, false },
		{ "report-R.txt", 1000, false, false },	      { "report-diff.txt", 1000, false, false },
		{ "report-buffers.txt", 1000, false, false },
	};
	struct ev_list want = { 0 };
	bool seen[RAW_NR_KINDS] = { 0 };
	bool called[SYS_NR][2] = { 0 };

	assert_int_equal(ev_list_oracle(&want, open(DATA "small.dat", O_RDONLY | O_CLOEXEC)), 0);
	for (size_t i = 0; i < want.nr; i++) {
		seen[want.ev[i].kind] = true;
		called[want.ev[i].nr][want.ev[i].kind == RAW_SYS_EXIT] = true;
	}
	for (int kind = 0; kind < RAW_LOST; kind++)
		if (!seen[kind] && !raw_is_call(kind)) /* of all system calls: it has enough without */
			fail_msg("small.dat has no event of kind %d", kind);
	for (int nr = SYS_MMAP; nr < SYS_MSEAL; nr++) /* it is older than those from there on */
		/* a new image leaves execveat as execve (seen on 6.18) */
		if (!called[nr][0] || !called[nr == SYS_EXECVEAT ? SYS_EXECVE : nr][1])
			fail_msg("small.dat has no call %d", nr);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		check_view(&views[i], &want);
	ev_list_fini(&want);
}

/* What text does not have. */
static bool is_binary(const char *arg)
{
	return !strcmp(arg, "common_flags") || !strcmp(arg, "-");
}

/* May that argument be missing in a text that is right? */
static bool may_lack(const char *file, const struct raw_event *ev, int arg)
{
	/* a symbol */
	if (ev->kind == RAW_FAULT_KERNEL && arg == 1)
		return true;
	/* names of flags */
	if (ev->kind == RAW_PAGE_ALLOC && arg == 2)
		return true;
	/* all ones: the last address there is, no key */
	if ((ev->kind == RAW_MA_WRITE && arg == 1) || (ev->nr == SYS_PKEY_MPROTECT && arg == 3))
		return true;
	/* options/fields shows where it keeps a char *, not what it is */
	return strstr(file, "fields") && ev->kind == RAW_SYS_ENTER &&
	       (ev->nr == SYS_SHMAT || ev->nr == SYS_SHMDT || ev->nr == SYS_EXECVE || ev->nr == SYS_EXECVEAT);
}

/* Of other runs: which columns and which kinds there are, and that every argument was found. */
static void test_options(void **state)
{
	static const struct {
		const char *name;
		enum text_clock clock;
	} files[] = {
		{ "kernel-pipe.trace", TEXT_CLOCK_US },	   { "kernel-irq0.trace", TEXT_CLOCK_US },
		{ "kernel-latency.trace", TEXT_CLOCK_US }, { "kernel-fields.trace", TEXT_CLOCK_US },
		{ "kernel-verbose.trace", TEXT_CLOCK_US }, { "kernel-counter.trace", TEXT_CLOCK_PLAIN },
		{ "kernel-tsc.trace", TEXT_CLOCK_PLAIN },  { "kernel-stacks.trace", TEXT_CLOCK_US },
	};

	for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
		struct text_sink sink = { 0 };
		struct pfs_text_stats stats = read_file(&sink, files[f].name);
		bool seen[RAW_NR_KINDS] = { 0 };

		assert_int_equal(stats.clock, files[f].clock);
		for (size_t i = 0; i < sink.nr; i++) {
			const struct raw_event *ev = &sink.got[i].ev;
			const struct raw_desc *desc = raw_descs;

			while (desc->kind != ev->kind || desc->nr != ev->nr)
				if (++desc == raw_descs + nr_raw_descs)
					break;
			seen[ev->kind] = true;
			assert_true(i == 0 || ev->ts_ns >= sink.got[i - 1].ev.ts_ns);
			for (int a = 0; ev->kind && a < RAW_MAX_ARGS && desc->args[a]; a++)
				if (ev->arg[a] == RAW_ABSENT && !is_binary(desc->args[a]) &&
				    !may_lack(files[f].name, ev, a))
					fail_msg("%s: event %zu, kind %d, call %d: no argument %d", files[f].name, i,
						 ev->kind, ev->nr, a);
		}
		for (int kind = 0; kind < RAW_LOST; kind++)
			if (!seen[kind] && !raw_is_call(kind))
				fail_msg("%s has no event of kind %d", files[f].name, kind);
		text_sink_fini(&sink);
	}
}

/* Text in pieces of any size gives the same. */
static void test_pieces(void **state)
{
	static const size_t sizes[] = { 1, 2, 3, 7, 61, 4096, 5000 };
	struct text_sink whole = { 0 };
	struct file file = load("kernel.trace");

	text_sink_read(&whole, file.buf, file.len, NULL);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		struct text_sink sink = { 0 };
		struct pfs_text *text = pfs_text_new(text_sink_fn, &sink, NULL);

		for (size_t at = 0; at < file.len; at += sizes[s]) {
			size_t len = file.len - at < sizes[s] ? file.len - at : sizes[s];
			char *piece = malloc(len); /* its end is the end */

			memcpy(piece, file.buf + at, len);
			assert_int_equal(pfs_text_feed(text, piece, len), 0);
			free(piece);
		}
		assert_int_equal(pfs_text_finish(text), 0);
		pfs_text_free(text);
		assert_int_equal(sink.nr, whole.nr);
		for (size_t i = 0; i < sink.nr; i++) {
			struct text_got *a = &sink.got[i], *b = &whole.got[i];

			assert_string_equal(a->comm, b->comm);
			assert_string_equal(a->str, b->str);
			a->ev.comm = b->ev.comm = a->ev.str = b->ev.str = NULL;
			assert_memory_equal(&a->ev, &b->ev, sizeof(a->ev));
		}
		text_sink_fini(&sink);
	}
	text_sink_fini(&whole);
	free(file.buf);
}

static uint32_t rnd(uint64_t *seed, uint32_t below)
{
	return next_random(seed) % below;
}

/* A name of 1 to max bytes that does its best to look like its surroundings. */
static void make_name(uint64_t *seed, char *name, size_t max)
{
	static const char *const parts[] = {
		"-1",
		"-",
		"-12 ",
		" [0]",
		"[000]",
		" (2)",
		"(---)",
		" 1.2:",
		" 3:",
		": ",
		" ",
		"d..1.",
		"0d..1.",
		"us",
		"x",
		"a: b",
		" pid=1",
		"pid=",
		" comm=",
		"=",
		" prio=1",
		"\xff\xfe",
		"#",
		" child_pid=2",
		" clone_flags=1",
		" group_dead=1",
		" old_pid=3",
		" child_comm=",
		"CPU:1 ",
		"<...>",
		"sys_",
		"(+1)",
		"]-0x1",
		"-0x1 ",
		"  ",
	};
	size_t want = 1 + rnd(seed, max);

	for (*name = 0; strlen(name) < want;)
		strncat(name, parts[rnd(seed, sizeof(parts) / sizeof(parts[0]))], want - strlen(name));
}

static const struct layout {
	const char *format; /* takes the name, the tid and the cpu */
	enum { NORMAL, LATENCY, SQUEEZED } kind;
} layouts[] = {
	{ "%16s-%-7d [%03d] .....  1281.049542: ", NORMAL },
	{ "%16s-%-7d (   4818) [%03d] d..1.  1281.049542: ", NORMAL },
	{ "%16s-%-7d (-------) [%03d] dNs21 81281.049542: ", NORMAL },
	{ "%16s-%-5d (-----) [%03d] ....  1281.049542: ", NORMAL },
	{ "%16s-%-7d [%03d]  1281.049542: ", NORMAL },
	{ "%16s-%-7d [%03d] .....            2: ", NORMAL },
	{ "%16s-%-7d [%03d]            2: ", NORMAL },
	{ "%16s-%-5d [%03d]  1281.049542317: ", NORMAL },
	{ "%16s-%-5d [%03d]-0x1  1281.049542: ", NORMAL },
	{ "%16s-%-5d [%03d]  1281.049542: (+12)    ", NORMAL },
	{ "trace.dat: %16s-%-5d [%03d]  1281.049542: ", NORMAL },
	{ "in-1 [000] 1.2: x: %16s-%-5d [%03d]  1281.049542: ", NORMAL },
	{ "                   %16s-%-5d [%03d]  1281.049542: ", NORMAL },
	{ "%8.8s-%-7d %3dd..1. 1281049542us+: ", LATENCY },
	{ "%8.8s-%-7d %3d.....  281049542us : ", LATENCY },
	{ "%8.8s-%-5d %3dd.s1.  1281.049542: ", LATENCY },
	{ "%s-%d [%03d] 1281.049542: ", SQUEEZED },
	{ "%s-%d (4818) [%03d] d..1. 1281.049542: ", SQUEEZED },
};

/* What can be known of that name in that layout; NULL: nothing. */
static const char *known_name(const char *name, const struct layout *layout)
{
	while (*name == ' ')
		name++;
	if (!*name || !strcmp(name, "<...>") || (layout->kind == LATENCY && strlen(name) >= 8))
		return NULL;
	return name;
}

static void test_names_in_columns(void **state)
{
	static const char *const bodies[] = {
		"page_fault_user: address=0x1 ip=0x2 error_code=0x6",
		"sched_wakeup: comm=x-1 [000] d..1.  1.234567: y: z pid=3 prio=120",
		"sys_mmap(addr: 0, len: 0x801000)",
		"x-1 [000]     1.234567: ",
		"-1 [0] 1: a: b",
	};
	struct text_sink sink = { 0 };
	char name[16], line[256];
	uint64_t seed = 1;

	for (unsigned int i = 0; i < NAMES; i++) {
		const struct layout *layout = &layouts[i % (sizeof(layouts) / sizeof(layouts[0]))];
		int tid = rnd(&seed, 2) ? rnd(&seed, 4194304) : rnd(&seed, 100), cpu = rnd(&seed, 200);
		const char *want;
		int len;

		make_name(&seed, name, 15);
		/* how many spaces a name starts with is lost, a squeezed line's # makes a comment */
		if ((layout->kind == LATENCY && *name == ' ') ||
		    (layout->kind == SQUEEZED && (*name == '#' || *name == ' ')))
			continue;
		want = known_name(name, layout);
		len = snprintf(line, sizeof(line), layout->format, name, tid, cpu);
		snprintf(line + len, sizeof(line) - len, "%s\n", bodies[rnd(&seed, 5)]);
		sink.nr = 0;
		text_sink_read(&sink, line, strlen(line), NULL);
		if (sink.nr != 1 || sink.got[0].ev.tid != tid || sink.got[0].ev.cpu != cpu)
			fail_msg("columns of name '%s': %s", name, line);
		if (!want != !sink.got[0].ev.comm || (want && strcmp(want, sink.got[0].comm)))
			fail_msg("name '%s' of '%s': %s", sink.got[0].comm, name, line);
	}
	text_sink_fini(&sink);
}

/* Names inside events: each form takes a name, and has these two arguments and it as str. */
static void test_names_in_events(void **state)
{
	static const struct {
		const char *format;
		size_t max;
		int arg[3]; /* -1: absent */
		bool str;
	} forms[] = {
		{ "sched_process_exec: filename=%s pid=11 old_pid=12", 60, { 11, 12, -1 }, true },
		{ "sched_process_exec: filename=%s pid=0xb (11) old_pid=0xc (12)", 60, { 11, 12, -1 }, true },
		{ "sched_process_fork: comm=%1$s pid=11 child_comm=%1$s child_pid=12", 15, { 11, 12, -1 }, true },
		{ "task_newtask: pid=11 comm=%s clone_flags=c oom_score_adj=-500", 15, { 11, 12, -1 }, true },
		{ "sched_process_exit: comm=%s pid=11 prio=120 group_dead=true", 15, { 11, 1, -1 }, true },
		{ "sched_process_exit: comm=%s pid=11 prio=120", 15, { 11, -1, -1 }, true },
		{ "task_rename: pid=11 oldcomm=%s newcomm=%1$s oom_score_adj=0", 15, { 11, -1, -1 }, true },
		{ "signal_generate: sig=11 errno=0 code=-6 comm=%s pid=12 grp=0 res=0", 15, { 11, -6, 12 }, false },
		{ "pfs_task: tid=11 pid=12 ended=1 comm=%s", 15, { 11, 12, 1 }, true },
	};
	struct text_sink sink = { 0 };
	char name[64], line[512], body[256];
	uint64_t seed = 2;

	for (unsigned int i = 0; i < NAMES; i++) {
		unsigned int f = i % (sizeof(forms) / sizeof(forms[0]));
		char format[128];

		make_name(&seed, name, forms[f].max);
		/* all are positional, so that one can be named twice */
		snprintf(format, sizeof(format), "%s", forms[f].format);
		if (strstr(format, "=%s"))
			memmove(strstr(format, "=%s") + 4, strstr(format, "=%s") + 2,
				strlen(strstr(format, "=%s")) - 1),
				memcpy(strstr(format, "=%"), "=%1$", 4);
		snprintf(body, sizeof(body), format, name);
		snprintf(line, sizeof(line), "            task-7       [001] d..1.    1.000000: %s\n", body);
		sink.nr = 0;
		text_sink_read(&sink, line, strlen(line), NULL);
		for (int a = 0; a < 3; a++)
			if (sink.got[0].ev.arg[a] != (uint64_t)forms[f].arg[a])
				fail_msg("argument %d with name '%s': %s", a, name, line);
		/* a name at the line's end may lose nothing either: own names have no spaces there */
		if (forms[f].str && strcmp(text_got_str(&sink, 0), name + strspn(name, f == 8 ? " " : "")))
			fail_msg("'%s' is not '%s': %s", text_got_str(&sink, 0), name, line);
	}
	text_sink_fini(&sink);
}

/* Changes some bytes of a line, or its length. Returns the new length, at most room. */
static size_t mutate(uint64_t *seed, char *line, size_t len, size_t room)
{
	static const char bytes[] = "-[]():= .0123456789abcdefx#\t\n\r\0\xff,\"%usARRAY";

	for (unsigned int n = rnd(seed, 4) + 1; n; n--) {
		size_t at = rnd(seed, len), span = rnd(seed, 20);

		if (at + span > len)
			span = len - at;
		switch (rnd(seed, 4)) {
		case 0:
			line[at] = bytes[rnd(seed, sizeof(bytes))];
			break;
		case 1: /* remove */
			if (len - span < 1)
				break;
			memmove(line + at, line + at + span, len - at - span);
			len -= span;
			break;
		case 2: /* repeat */
			if (len + span > room)
				break;
			memmove(line + at + span, line + at, len - at);
			len += span;
			break;
		case 3:
			len = at ? at : 1;
		}
	}
	return len;
}

static int count_fn(void *ctx, const struct raw_event *ev)
{
	*(size_t *)ctx += strlen(ev->comm ? ev->comm : "") + strlen(ev->str ? ev->str : "");
	return 0;
}

/* Whatever is done to lines, reading them stays inside them. */
static void test_mutations(void **state)
{
	static const char *const names[] = { "kernel.trace", "kernel-fields.trace", "report-R.txt",
					     "report-buffers.txt", "kernel-latency.trace" };
	uint64_t seed = 3;
	size_t bytes = 0;
	struct pfs_text *text = pfs_text_new(count_fn, &bytes, NULL);

	for (size_t f = 0; f < sizeof(names) / sizeof(names[0]); f++) {
		struct file file = load(names[f]);

		for (unsigned int i = 0; i < MUTATIONS / 5; i++) {
			size_t at = rnd(&seed, file.len), len;
			char *start = memchr(file.buf + at, '\n', file.len - at);
			char line[1024], *newline, *copy;

			if (!start || start + 1 == file.buf + file.len)
				continue;
			start++;
			newline = memchr(start, '\n', file.buf + file.len - start);
			len = newline - start < 500 ? newline - start : 500;
			memcpy(line, start, len);
			len = mutate(&seed, line, len ? len : 1, sizeof(line) - 1);
			line[len++] = '\n';
			copy = malloc(len); /* its end is the end */
			memcpy(copy, line, len);
			assert_int_equal(pfs_text_feed(text, copy, len), 0);
			pfs_text_probe(copy, len - rnd(&seed, 2));
			free(copy);
		}
		free(file.buf);
	}
	assert_int_equal(pfs_text_finish(text), 0);
	assert_true(pfs_text_stats(text)->lines > MUTATIONS / 2);
	pfs_text_free(text);
}

/* Each line that says so is taken for events lost, of that cpu, and is counted. */
static void test_lost_files(void **state)
{
	static const char *const names[] = { "kernel-lost.trace", "report-lost.txt" };

	for (int f = 0; f < 2; f++) {
		struct text_sink sink = { 0 };
		struct file file = load(names[f]);
		struct pfs_text_stats stats;
		size_t lines = 0, lost = 0;

		for (size_t i = 0; i + 4 < file.len; i++)
			lines += !memcmp(file.buf + i, "CPU:", 4);
		text_sink_read(&sink, file.buf, file.len, &stats);
		for (size_t i = 0; i < sink.nr; i++)
			lost += sink.got[i].ev.kind == RAW_LOST && sink.got[i].ev.cpu >= 0 && sink.got[i].ev.ts_ns > 0;
		assert_true(lines > 0);
		assert_int_equal(lost, lines);
		assert_int_equal(stats.lost, lines);
		assert_int_equal(stats.unparsed, 0);
		text_sink_fini(&sink);
		free(file.buf);
	}
}

#define LINE "            task-7       [001] d..1.    12.345678: "

static int probe(const char *text)
{
	return pfs_text_probe(text, strlen(text));
}

static void test_probe(void **state)
{
	assert_int_equal(probe(""), 0);
	assert_int_equal(probe("\n\n"), 0);
	assert_int_equal(probe("# a comment\n"), 0);
	assert_int_equal(probe("# tracer: nop\n#\n"), 90);
	assert_int_equal(probe("cpus=2\n"), 100);
	assert_int_equal(probe(LINE "a: b\n"), 100);
	assert_int_equal(probe("CPU:1 [LOST 5 EVENTS]\n" LINE "a: b\n" LINE "cut off: "), 100);
	assert_in_range(probe("hello\n" LINE "a: b\n" LINE "a: b\n"), 50, 80);
	assert_int_equal(probe("# pfscope events 1\n12.5 fault cpu=0 pid=1 addr=0x1000\n"), 0);
	assert_int_equal(probe("kid  1234 [000]  1281.049542: page-faults: \n"), 0);
	assert_int_equal(pfs_text_probe("\x17\x08\x44tracing6\0\n\0\n", 16), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_as_libtracecmd),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_names_in_columns),
		cmocka_unit_test(test_names_in_events),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_lost_files),
		cmocka_unit_test(test_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
