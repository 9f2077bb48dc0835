/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a capture records beyond events: probes at the fault handler, the function tracer on the handlers, faults counted
 * inside the kernel. Each is set up by itself; what the kernel refuses is reported and noted, and the rest goes on.
 */
#include "capture/capture_priv.h"

#include "base/clock.h"
#include "base/write_all.h"
#include "record/handlers.h"
#include "tracefs/dynevents.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Entries of the kernel's tables of counted faults; the kernel allows at most 2^17. */
#define USER_ENTRIES   (1u << 17)
#define KERNEL_ENTRIES (1u << 14)

/* ---- probes ---- */

static int set_up_probes(struct pfs_capture *c, struct pfs_err *err)
{
	struct capture_tracers *t = &c->tracers;
	int ret;

	pfs_dynevents_group(pfs_instance_dir(c->instance), t->group, sizeof(t->group));
	ret = pfs_dynevents_create(t->group, c->options->probes, &t->probes_how, err)
		      ?: pfs_instance_enable(c->instance, t->group, PFS_HANDLER_EVENT, NULL, err)
		      ?: pfs_instance_enable(c->instance, t->group, PFS_HANDLER_END_EVENT, NULL, err);
	if (!ret) /* a kernel without the file does not count them */
		pfs_instance_hold(c->instance, PFS_DYNEVENTS_PROFILE, O_RDONLY, NULL);
	t->has_probes = !ret;
	return ret;
}

int capture_tracers_load_formats(struct pfs_capture *c)
{
	const char *tracing = pfs_tracing_dir(NULL);
	int ret = 0;

	if (c->tracers.has_probes) {
		ret = pfs_formats_load_event(c->formats, tracing, c->tracers.group, PFS_HANDLER_EVENT);
		if (ret >= 0)
			ret = pfs_formats_load_event(c->formats, tracing, c->tracers.group, PFS_HANDLER_END_EVENT);
	}
	c->formats->symbols = c->tracers.symbols;
	c->tracers.symbols = NULL;
	return ret < 0 ? ret : 0;
}

/* ---- the function tracer ---- */

/*
 * do_wp_page		a function of a module has "[name]" behind it: no handler is in one
 *
 * A function is chosen by its number in the list, which the kernel finds at once; for a name it would search.
 */
static int choose_functions(struct pfs_capture *c, struct pfs_err *err)
{
	char path[PATH_MAX], line[512], number[16];
	FILE *available;
	int ret = 0;

	snprintf(path, sizeof(path), "%s/available_filter_functions", pfs_tracing_dir(NULL));
	available = fopen(path, "re");
	if (!available)
		return errno == ENOENT ? pfs_err_set(err, -ENOENT, "this kernel has no function tracer")
				       : pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
	for (unsigned int nr = 1; ret >= 0 && fgets(line, sizeof(line), available); nr++) {
		if (pfs_handler_find(line, strcspn(line, "\n")) < 0)
			continue;
		snprintf(number, sizeof(number), "%u", nr);
		ret = pfs_instance_write(c->instance, "set_ftrace_filter", number, err);
	}
	fclose(available);
	return ret < 0 ? ret : 0;
}

/* The functions that the kernel traces now, in one line for the note. */
static int list_functions(struct pfs_capture *c, struct pfs_err *err)
{
	int fd = pfs_instance_open(c->instance, "set_ftrace_filter", O_RDONLY, err);
	char *text, *to, *save = NULL, *line;

	if (fd < 0)
		return fd;
	text = to = c->tracers.functions = pfs_read_whole(fd, NULL);
	close(fd);
	if (!text)
		return pfs_err_set(err, -ENOMEM, "no memory for a list of functions");
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		size_t len = strlen(line);

		if (pfs_handler_find(line, len) < 0)
			continue;
		if (to > text)
			*to++ = ' ';
		memmove(to, line, len);
		to += len;
	}
	*to = '\0';
	/* An empty filter would trace every function. */
	return *text ? 0 : pfs_err_set(err, -ENOTSUP, "this kernel lets no fault handler be traced");
}

static int set_up_functions(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = choose_functions(c, err) ?: list_functions(c, err);

	if (!ret && !c->options->text && !c->tracers.symbols) {
		c->tracers.symbols = pfs_symbols_load(err);
		ret = c->tracers.symbols ? 0 : -errno;
	}
	/* The tracer comes last: without a list of threads it traces all of them, but tracing is off. */
	if (!ret)
		ret = pfs_instance_write(c->instance, "options/function-fork", "1", err)
			      ?: pfs_instance_write(c->instance, "current_tracer", "function", err);
	c->tracers.has_functions = !ret;
	return ret;
}

int capture_tracers_add_tid(struct pfs_capture *c, pid_t tid, struct pfs_err *err)
{
	char text[16];

	if (!c->tracers.has_functions)
		return 0;
	snprintf(text, sizeof(text), "%d", tid);
	return pfs_instance_write(c->instance, "set_ftrace_pid", text, err);
}

/* ---- faults counted in the kernel ---- */

static int set_up_histogram(struct pfs_capture *c, struct pfs_err *err)
{
	unsigned long page = sysconf(_SC_PAGESIZE);
	unsigned int entries = USER_ENTRIES;
	int ret;

	do
		ret = pfs_hist_create(&c->tracers.hist[0], c->instance, "page_fault_user", page, entries, err);
	while (ret == -ENOMEM && (entries /= 2) >= KERNEL_ENTRIES);
	if (!ret)
		ret = pfs_hist_create(&c->tracers.hist[1], c->instance, "page_fault_kernel", page, KERNEL_ENTRIES, err);
	c->tracers.has_hist = !ret;
	return ret;
}

/* A launched command is counted from its exec on: the faults before are pfscope's own, at similar addresses. */
int capture_tracers_start(struct pfs_capture *c, struct pfs_err *err)
{
	int ret = 0;

	c->tracers.start_ns = pfs_now_ns();
	for (unsigned int i = 0; c->tracers.has_hist && !ret && i < NR_HIST; i++) {
		if (c->launched)
			ret = pfs_hist_count_from_exec(&c->tracers.hist[i], c->instance, c->launched, err);
		if (ret || !c->launched)
			ret = pfs_hist_count(&c->tracers.hist[i], c->instance, true, err);
	}
	return ret;
}

struct counting {
	struct pfs_capture *c;
	uint64_t now_ns, kernel;
};

static int put_entry(void *ctx, const struct pfs_hist_entry *entry)
{
	struct counting *n = ctx;
	struct raw_event ev = {
		.ts_ns = n->now_ns,
		.kind = RAW_PFS_HIST,
		.cpu = -1,
		.tid = entry->tid,
		.tgid = -1,
		.arg = { entry->page, entry->code, entry->count, n->kernel, n->now_ns - n->c->tracers.start_ns },
	};

	return pfs_sideband_put(n->c->sideband, &ev);
}

static int note_missed(struct pfs_capture *c)
{
	int fd = c->tracers.has_probes ? pfs_instance_open(c->instance, PFS_DYNEVENTS_PROFILE, O_RDONLY, NULL) : -1;
	unsigned long long missed = fd >= 0 ? pfs_dynevents_missed(fd) : 0;

	return missed ? capture_note(c, 0, PFS_FACT(PROBES_MISSED, .count = missed)) : 0;
}

int capture_tracers_stop(struct pfs_capture *c, struct pfs_err *err)
{
	struct counting n = { .c = c, .now_ns = pfs_now_ns() };
	uint64_t dropped, sum = 0;
	int ret = 0;

	for (unsigned int i = 0; c->tracers.has_hist && !ret && i < NR_HIST; i++) {
		n.kernel = i;
		ret = pfs_hist_count(&c->tracers.hist[i], c->instance, false, err)
			      ?: pfs_hist_read(&c->tracers.hist[i], c->instance, put_entry, &n, &dropped, err);
		if (ret == -ENOMEM)
			pfs_err_set(err, ret, "no memory for the counted faults");
		sum += ret ? 0 : dropped;
	}
	if (ret)
		return ret;
	if ((sum && capture_note(c, 0, PFS_FACT(HISTOGRAM_LOST, .count = sum))) || note_missed(c))
		ret = pfs_err_set(err, -ENOMEM, "no memory for a note");
	return ret;
}

/* ---- all of them ---- */

int capture_tracers_set_up(struct pfs_capture *c)
{
	const struct ftrace_options *o = c->options;
	const struct {
		const char *option;
		bool wanted;
		int (*set_up)(struct pfs_capture *c, struct pfs_err *err);
	} all[] = {
		{ "--histogram", o->histogram, set_up_histogram },
		{ o->probes ? "--probes" : "--latency", o->probes || o->latency, set_up_probes },
		{ "--classify", o->classify, set_up_functions },
	};
	const struct capture_tracers *t = &c->tracers;
	struct pfs_err why, line;
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(all) / sizeof(all[0]); i++) {
		if (!all[i].wanted || !all[i].set_up(c, &why))
			continue;
		pfs_err_set(&line, 0, "%s: %s; continuing without", all[i].option, why.msg);
		c->config.report(c->config.ctx, line.msg);
		ret = capture_note(c, 0, PFS_FACT(LACKS, .what = all[i].option, .text = why.msg));
	}
	if (!ret && t->has_probes)
		ret = capture_note(c, 0, PFS_FACT(PROBES, .text = t->probes_how));
	if (!ret && t->has_functions)
		ret = capture_note(c, 0, PFS_FACT(CLASSIFY, .text = t->functions));
	if (!ret && t->has_hist)
		ret = capture_note(c, 0, PFS_FACT(HISTOGRAM, .count = sysconf(_SC_PAGESIZE)));
	return ret;
}
