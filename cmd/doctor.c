/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope doctor: prints each facility that recordings use, whether it works here, why not, and the command that
 * changes that. It asks the code that recordings run, whose reasons are its own.
 */
#include "assemble/assemble.h"
#include "base/array.h"
#include "base/json.h"
#include "base/term.h"
#include "base/write_all.h"
#include "capture/capture.h"
#include "common/command.h"
#include "common/invoking_user.h"
#include "common/recording.h"
#include "module/build.h"
#include "os/frames.h"
#include "os/perf_event.h"
#include "os/program.h"
#include "refault/refault.h"
#include "refault/zram.h"
#include "session/session.h"
#include "tracefs/instance.h"
#include "tracefs/wprobes.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum state { OK, LACKS, FIX };
static const char *const state_words[] = { "ok", "--", "fix" };

struct facility {
	const char *name;
	enum state state;
	char text[sizeof(((struct pfs_err *)0)->msg)]; /* what it provides, or why it does not */
	char fix[128];				       /* the command of FIX; else "" */
};

struct doctor {
	const char *user; /* --user, or NULL */
	bool json, script;
	struct facility *facilities;
	unsigned int nr, max;
	const struct pfs_source *source; /* that run and attach would use, or NULL: */
	struct pfs_err why;
	bool ftrace_works; /* tracefs, and in this PID namespace */
	bool failed;	   /* no memory */
};

/* ---- facilities ---- */

static struct facility *add(struct doctor *d, const char *name, enum state state)
{
	static struct facility spare;
	struct facility *f = pfs_array_add(d->facilities, d->nr, d->max);

	if (!f) {
		d->failed = true;
		f = &spare;
	}
	*f = (struct facility){ .name = name, .state = state };
	return f;
}

static __attribute__((format(printf, 3, 4))) struct facility *put(struct doctor *d, struct facility *f, const char *fmt,
								  ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	return f;
}

/* Messages name a command that root can run as "...: as root, run `COMMAND`". */
static void split_fix(struct facility *f)
{
	static const char mark[] = ": as root, run `";
	char *at = strstr(f->text, mark), *end = at ? strrchr(f->text, '`') : NULL;

	if (!end || end < at + sizeof(mark) || (size_t)(end - at) - sizeof(mark) >= sizeof(f->fix))
		return;
	snprintf(f->fix, sizeof(f->fix), "%.*s", (int)(end - at - (sizeof(mark) - 1)), at + sizeof(mark) - 1);
	*at = '\0';
	f->state = FIX;
}

/* ret and err of what was tried; else what it provides. Returns true if it works. */
static __attribute__((format(printf, 5, 6))) bool add_tried(struct doctor *d, const char *name, int ret,
							    const struct pfs_err *err, const char *provides, ...)
{
	struct facility *f = add(d, name, ret ? LACKS : OK);
	va_list ap;

	if (ret) {
		put(d, f, "%s", err->msg);
		split_fix(f);
		return false;
	}
	va_start(ap, provides);
	vsnprintf(f->text, sizeof(f->text), provides, ap);
	va_end(ap);
	return true;
}

/* The packages that the last facility lacks. */
static void add_install(struct doctor *d, bool works, const char *packages)
{
	struct facility *f = &d->facilities[d->nr - 1];
	char path[PATH_MAX];

	if (works || d->failed || pfs_program_find("apt-get", path, NULL))
		return;
	snprintf(f->fix, sizeof(f->fix), "apt-get install %s", packages);
	f->state = FIX;
}

/* ---- ftrace ---- */

/* In the order of the table. what: the event, or the option, that the note `lacks` of a recording names. */
static const struct ftrace_part {
	const char *name, *what, *provides;
} ftrace_parts[] = {
	{ "region tree", "maple_tree:ma_write", "splits, merges and identity of regions" },
	{ "system calls", "syscalls:*", "what programs unmap, move and populate" },
	{ "fault-around", "filemap:mm_filemap_map_pages", "pages mapped by it" },
	{ "major faults", "filemap:mm_filemap_add_to_page_cache", "faults that read from disk" },
	{ "populated files", "filemap:mm_filemap_fault", "how much of a file was populated" },
	{ "signals", "signal:signal_generate", "faults that end in a signal" },
	{ "end of processes", "mmap:exit_mmap", "ends of address spaces" },
	{ "probes", "--probes", "--probes, --latency" },
	{ "function tracer", "--classify", "--classify" },
	{ "hist triggers", "--histogram", "--histogram" },
};

enum { NR_PARTS = sizeof(ftrace_parts) / sizeof(ftrace_parts[0]) };

struct ftrace_lacks {
	struct {
		bool lacks;
		char tells[160], why[200];
	} part[NR_PARTS];
};

static int take_lack(void *ctx, const struct pfs_fact *lack)
{
	struct ftrace_lacks *l = ctx;

	for (int i = 0; i < NR_PARTS; i++) {
		if (strcmp(ftrace_parts[i].what, lack->what))
			continue;
		l->part[i].lacks = true;
		snprintf(l->part[i].tells, sizeof(l->part[i].tells), "%s", lack->tells ? lack->tells : "");
		snprintf(l->part[i].why, sizeof(l->part[i].why), "%s", lack->text ? lack->text : "");
	}
	return 0;
}

/* Some events exist and do not report all that they are recorded for. */
static bool has_event(const char *what)
{
	const char *dir = pfs_tracing_dir(NULL), *colon = strchr(what, ':');
	char path[PATH_MAX];

	if (!dir || !colon)
		return false;
	snprintf(path, sizeof(path), "%s/events/%.*s/%s", dir, (int)(colon - what), what, colon + 1);
	return !access(path, F_OK);
}

static void look_at_ftrace(struct doctor *d)
{
	struct ftrace_lacks l = { 0 };
	struct pfs_err err = { "" }, why = { "" };
	int ret = pfs_ftrace_source.usable(&why);

	pfs_err_set(
		&err, ret,
		ret == -EACCES && geteuid()
			? "%.300s; the members of a group (mount -o remount,gid=GROUP) could read what others trace, but record nothing"
			: "%s",
		why.msg);
	d->ftrace_works = add_tried(d, "tracefs", ret, &err, "%s, private instances", pfs_tracing_dir(NULL));
	if (!d->ftrace_works)
		return;
	ret = pfs_capture_lacks(take_lack, &l, &err);
	if (!add_tried(d, "page-fault tracepoints", ret, &err, "faults in user and kernel mode"))
		return;
	for (int i = 0; i < NR_PARTS; i++) {
		const struct ftrace_part *part = &ftrace_parts[i];
		bool partly = l.part[i].lacks && has_event(part->what);
		struct facility *f = add(d, part->name, l.part[i].lacks && !partly ? LACKS : OK);

		if (partly)
			put(d, f, "%s, but not: %s", part->provides, l.part[i].tells);
		else if (!l.part[i].lacks)
			put(d, f, "%s", part->provides);
		else if (*l.part[i].why)
			put(d, f, "%s: no %s", l.part[i].why, part->provides);
		else
			put(d, f, "this kernel has no %s: %s: unknown", part->what, part->provides);
	}
}

/* ---- kernel objects ---- */

/* Does that file of tracefs have the word? */
static bool tracefs_has(const char *file, const char *word)
{
	char path[PATH_MAX], *text;
	bool has;

	snprintf(path, sizeof(path), "%s/%s", pfs_tracing_dir(NULL), file);
	text = pfs_read_whole_file(path, NULL);
	has = text && strstr(text, word);
	free(text);
	return has;
}

/* Devices of perf that sample the addresses of data: PEBS has an event for it, IBS is one. */
static bool samples_addresses(void)
{
	return !access("/sys/bus/event_source/devices/cpu/events/mem-loads", F_OK) ||
	       !access("/sys/bus/event_source/devices/cpu_core/events/mem-loads", F_OK) ||
	       !access("/sys/bus/event_source/devices/ibs_op", F_OK);
}

static void look_at_objects(struct doctor *d)
{
	struct pfs_err err = { "" };
	int ret;

	if (!has_event("kmem:kfree"))
		put(d, add(d, "kernel objects", LACKS), "this kernel has no kmem events: no kmap record");
	else
		put(d, add(d, "kernel objects", OK), "kmap record%s",
		    tracefs_has("events/kmem/kmem_cache_alloc/format", "char[] name;")
			    ? ""
			    : "; objects get the names of their caches when they are freed");
	ret = pfs_capture_can_watch(&err);
	add_tried(d, "hardware watchpoints", ret, &err, "kmap record --watch");
	if (pfs_wprobes_work()) /* in no release yet */
		put(d, add(d, "wprobe events", OK), "kmap record --all --watch, of caches and sites");
	else
		put(d, add(d, "wprobe events", LACKS),
		    "this kernel has none; not needed: kmap uses perf's watchpoints");
	put(d, add(d, "memory samples", LACKS),
	    samples_addresses() ? "this CPU has them (PEBS or IBS): kmap joins what perf records of them to objects"
				: "this CPU reports no addresses of data (no PEBS, no IBS); not needed");
}

/* ---- perf ---- */

static const char *describe_perf(int kernel)
{
	return kernel ? "faults in user mode, none in kernel mode (kernel.perf_event_paranoid=1 would let every account see the kernel's, too)"
		      : "faults in user and kernel mode";
}

struct perf_tried {
	int user, kernel;
	struct pfs_err err;
};

static void try_perf(struct perf_tried *t)
{
	struct pfs_err why;

	t->user = pfs_perf_may_record(false, &t->err);
	t->kernel = pfs_perf_may_record(true, &why);
}

/* In a child that becomes the user. */
static int try_perf_as(const struct invoking_user *user, struct perf_tried *result)
{
	struct perf_tried *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (t == MAP_FAILED)
		return -ENOMEM;
	t->user = t->kernel = -ECHILD;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (!invoking_user_become(user))
			try_perf(t);
		_exit(0);
	}
	if (pid > 0)
		pfs_program_wait(pid);
	*result = *t;
	munmap(t, sizeof(*t));
	return pid < 0 ? -errno : 0;
}

/* What the account gets that would record without root. */
static void look_at_perf(struct doctor *d)
{
	struct perf_tried t = { 0 };
	struct invoking_user user;
	struct pfs_err err = { "" };
	int ret;

	try_perf(&t);
	add_tried(d, "perf events", t.user, &t.err, "names and permissions of regions");
	ret = invoking_user_find(&user, d->user, &err);
	if (!ret && !user.uid)
		ret = invoking_user_find(&user, "nobody", &err);
	if (!ret && user.differs)
		ret = try_perf_as(&user, &t);
	if (ret)
		return;
	add_tried(d, "without root", t.user, &t.err, "%s: %s", *user.name ? user.name : "this account",
		  describe_perf(t.kernel));
}

/* Those of others, by this account. Process 1 is one of them, but in a container of this account's. */
static void look_at_others(struct doctor *d)
{
	char self[PATH_MAX] = "pfscope";
	struct stat owner;
	int ret = pfs_perf_may_watch(1);

	if (geteuid() && (stat("/proc/1", &owner) || owner.st_uid == geteuid()))
		return;
	if (!ret)
		put(d, add(d, "other accounts", OK), "their processes can be recorded, too");
	else if (readlink("/proc/self/exe", self, sizeof(self) - 1) > 0)
		put(d, add(d, "other accounts", LACKS),
		    "their processes need sudo, or CAP_PERFMON and CAP_SYS_PTRACE; `setcap cap_perfmon,cap_sys_ptrace=ep %.300s' as root lets every account record every process",
		    self);
}

/* ---- SystemTap ---- */

static void look_at_stap(struct doctor *d)
{
	struct pfs_kernel kernel;
	struct pfs_err err = { "" };
	char packages[2 * sizeof(kernel.release)];
	int ret = pfs_kernel_check_modules(NULL, &err);

	if (ret) {
		add_tried(d, "SystemTap", ret, &err, "%s", "");
		return;
	}
	ret = pfs_build_programs(&err);
	add_install(d, add_tried(d, "SystemTap", ret, &err, "stap, make and a compiler"),
		    "systemtap systemtap-runtime gcc make");
	ret = pfs_kernel_find(&kernel, NULL, &err);
	snprintf(packages, sizeof(packages), "linux-headers-%s", kernel.release);
	add_install(d, add_tried(d, "kernel headers", ret, &err, "%s", kernel.build), packages);
	if (*kernel.vmlinux)
		put(d, add(d, "kernel debuginfo", OK), "%s", kernel.vmlinux);
	else
		put(d, add(d, "kernel debuginfo", LACKS),
		    "not installed (linux-image-%s-dbg); not needed: the recording is the same", kernel.release);
	ret = pfs_stap_may_load(&err);
	add_tried(d, "module loading", ret, &err, "modules that this account has built");
}

/* ---- re-reference sampling ---- */

static void look_at_refault(struct doctor *d)
{
	static const struct {
		enum pfs_refault_method method;
		const char *row, *does;
	} all[] = {
		{ PFS_REFAULT_HIDE, "hidden pages", "--refault by hide and --microset, with a module" },
		{ PFS_REFAULT_PAGEOUT, "process_madvise", "--refault by pageout" },
		{ PFS_REFAULT_NUMA, "NUMA balancing", "--refault by numa" },
		{ PFS_REFAULT_IDLE, "DAMON", "--refault by idle" },
		{ PFS_REFAULT_SOFT_DIRTY, "soft-dirty", "--refault by soft-dirty, which sees writes" },
	};
	struct pfs_refault_config config = { .interval_ns = 1 };
	struct pfs_refault_system system;
	struct pfs_err err = { "" }, why;
	int zram = pfs_zram_possible(&err);

	add_tried(d, "zram", zram, &err, "--zram: swap in memory for the recording");
	pfs_refault_look("", &system);
	config.zram_bytes = !zram;
	if (pfs_stap_may_hide(&why))
		config.why_not_hide = why.msg;
	else
		config.hide_file = "the module's";
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		bool no_swap = all[i].method == PFS_REFAULT_PAGEOUT && !system.swap;
		enum pfs_refault_method method;
		int ret;

		config.method = all[i].method;
		ret = pfs_refault_choose(&config, &system, &method, &err);
		add_tried(d, all[i].row, ret, &err, "%s%s", all[i].does,
			  no_swap ? "; for anonymous memory with --zram, as there is no swap" : "");
	}
}

/* ---- all of them ---- */

/* What run --stack=fp follows. */
static void look_at_frames(struct doctor *d)
{
	unsigned int of, with = pfs_libc_frames(&of);

	if (with * 2 > of)
		put(d, add(d, "frame pointers", OK), "%u of %u functions of the C library have one", with, of);
	else if (of)
		put(d, add(d, "frame pointers", LACKS),
		    "%u of %u functions of the C library have one: run --stack=fp ends where they are missing", with,
		    of);
}

static void look_at_machine(struct doctor *d)
{
	struct pfs_err err = { "" };
	struct utsname uts;

	uname(&uts);
	if (pfs_machine_has_access(uts.machine))
		put(d, add(d, "architecture", OK), "%s: read, write and execute", uts.machine);
	else
		put(d, add(d, "architecture", LACKS), "%s: the access of a fault is unknown", uts.machine);
	look_at_frames(d);
	d->ftrace_works &=
		add_tried(d, "PID namespace", source_check_place(&pfs_ftrace_source, &err), &err, "the initial one");
}

static void look(struct doctor *d)
{
	look_at_ftrace(d);
	if (!d->facilities[0].state)
		look_at_objects(d);
	look_at_perf(d);
	look_at_others(d);
	look_at_stap(d);
	look_at_refault(d);
	look_at_machine(d);
	d->source = source_choose(&d->why);
}

/* ---- output ---- */

enum { NAME_AT = 6, TEXT_AT = 30 };

/* Words, from a column on; a command is one word. */
struct paragraph {
	unsigned int width, column;
};

static void put_word(struct paragraph *p, const char *word, size_t len, const char *space)
{
	size_t before = p->column > TEXT_AT ? strlen(space) : 0;

	if (p->column > TEXT_AT && p->column + before + len > p->width) {
		printf("\n%*s", TEXT_AT, "");
		p->column = TEXT_AT;
		before = 0;
	}
	p->column += printf("%s%.*s", before ? space : "", (int)len, word);
}

static void put_facility(const struct facility *f, unsigned int width)
{
	struct paragraph p = { width, TEXT_AT };

	printf("%-*s%-*s", NAME_AT, state_words[f->state], TEXT_AT - NAME_AT, f->name);
	for (const char *word = f->text + strspn(f->text, " "); *word;) {
		size_t len = strcspn(word, " ");

		put_word(&p, word, len, " ");
		word += len + strspn(word + len, " ");
	}
	if (*f->fix) {
		putchar(':');
		p.column++;
		put_word(&p, f->fix, strlen(f->fix), "  ");
	}
	putchar('\n');
}

/* Whether they record through ftrace alone, if --source names no other. */
static const struct recording_command {
	const char *name;
	bool only_ftrace;
} recording_commands[] = {
	{ "run", false },	 { "attach", false },	    { "top", false },	     { "attach --user", true },
	{ "run --count", true }, { "run --refault", true }, { "kmap record", true },
};

enum { NR_COMMANDS = sizeof(recording_commands) / sizeof(recording_commands[0]) };

static const struct pfs_source *source_of(const struct doctor *d, const struct recording_command *command)
{
	return !command->only_ftrace ? d->source : d->ftrace_works ? &pfs_ftrace_source : NULL;
}

/* "run, attach, top would use: ftrace" */
static void put_commands(const struct doctor *d, bool only_ftrace)
{
	const struct pfs_source *source = NULL;
	const char *separator = "";

	for (int i = 0; i < NR_COMMANDS; i++) {
		if (recording_commands[i].only_ftrace != only_ftrace)
			continue;
		printf("%s%s", separator, recording_commands[i].name);
		separator = ", ";
		source = source_of(d, &recording_commands[i]);
	}
	if (source)
		printf(" would use: %s\n", source->name);
	else
		printf(" cannot record here%s%s\n", d->source ? "" : ": ", d->source ? "" : d->why.msg);
}

static void put_table(const struct doctor *d)
{
	bool fixes = false;

	for (unsigned int i = 0; i < d->nr; i++) {
		put_facility(&d->facilities[i], pfs_term_width(STDOUT_FILENO));
		fixes |= d->facilities[i].state == FIX;
	}
	put_commands(d, false);
	if (d->source)
		put_commands(d, true);
	if (fixes)
		puts("pfscope doctor --fix prints these commands as a script for root");
}

static void put_json(const struct doctor *d)
{
	struct pfs_json json;

	pfs_json_init(&json, stdout);
	pfs_json_begin(&json, NULL, "{");
	pfs_json_begin(&json, "facilities", "[");
	for (unsigned int i = 0; i < d->nr; i++) {
		const struct facility *f = &d->facilities[i];

		pfs_json_line(&json, "\n");
		pfs_json_begin(&json, NULL, "{");
		pfs_json_string(&json, "name", f->name);
		pfs_json_word(&json, "state", f->state == LACKS ? "lacks" : state_words[f->state]);
		pfs_json_string(&json, "text", f->text);
		if (*f->fix)
			pfs_json_string(&json, "fix", f->fix);
		pfs_json_end(&json, "}");
	}
	pfs_json_end(&json, "\n]");
	if (d->source)
		pfs_json_string(&json, "source", d->source->name);
	else
		pfs_json_string(&json, "why", d->why.msg);
	pfs_json_begin(&json, "commands", "{");
	for (int i = 0; i < NR_COMMANDS; i++) {
		const struct pfs_source *source = source_of(d, &recording_commands[i]);

		if (source)
			pfs_json_string(&json, recording_commands[i].name, source->name);
		else
			pfs_json_raw(&json, recording_commands[i].name, "null");
	}
	pfs_json_end(&json, "}");
	pfs_json_end(&json, "}\n");
}

static void put_script(const struct doctor *d)
{
	unsigned int nr = 0;

	puts("#!/bin/sh\n# What `pfscope doctor' would change here. Read it, then run it as root.");
	for (unsigned int i = 0; i < d->nr; i++)
		if (d->facilities[i].state == FIX && ++nr)
			printf("\n# %s: %s\n%s\n", d->facilities[i].name, d->facilities[i].text, d->facilities[i].fix);
	if (!nr)
		puts("# Nothing: no command changes what is missing.");
}

/* ---- the command line ---- */

static const struct argp_option options[] = {
	{ "fix", OPTION_FLAG(struct doctor, script), NULL, 0, "Print the commands as a shell script; run nothing", 0 },
	{ "json", OPTION_FLAG(struct doctor, json), NULL, 0, "Print JSON", 0 },
	{ "user", 'u', "USER", 0,
	  "The account to check for recording without root (default: who invoked sudo, else nobody)", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct doctor *d = state->input;

	switch (key) {
	case 'u':
		d->user = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "%s: unexpected argument", arg);
		return 0;
	case ARGP_KEY_END:
		if (d->json && d->script)
			argp_error(state, "--json and --fix: only one of them");
		return 0;
	default:
		return option_store(d, key, arg);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Print each facility that pfscope records through, whether it works here, why not, and the command that changes that. Nothing is changed.\v"
	       "Examples:\n"
	       "  pfscope doctor\n"
	       "  sudo pfscope doctor\n"
	       "  sudo pfscope doctor --user www-data\n"
	       "  pfscope doctor --fix >fix.sh\n"
	       "\n"
	       "Exit status: 0 if run and attach can record here; 1 if not; 2 for wrong usage.",
};

int cmd_doctor(int argc, char **argv)
{
	struct doctor d = { 0 };
	struct invoking_user user;
	struct pfs_err err;

	if (cannot_parse(&argp, argc, argv, 0, &d))
		return EXIT_FAILED;
	if (d.user && invoking_user_find(&user, d.user, &err))
		return fail(&err);
	look(&d);
	if (d.failed)
		message("no memory for the table");
	else if (d.json)
		put_json(&d);
	else if (d.script)
		put_script(&d);
	else
		put_table(&d);
	free(d.facilities);
	if (fflush(stdout)) {
		message("standard output: %s", strerror(errno));
		return EXIT_FAILED;
	}
	return d.failed || !d.source ? EXIT_FAILED : EXIT_OK;
}
