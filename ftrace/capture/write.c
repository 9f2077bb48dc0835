/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture as a trace.dat: what dat/write.c is to write, and the names of the threads for it.
 */
#include "capture/capture_priv.h"

#include "base/hash.h"
#include "dat/dat.h"
#include "record/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

struct named {
	int32_t tid;
	char comm[17];
	UT_hash_handle hh;
};

static int name_thread(struct named **names, int32_t tid, const char *comm)
{
	struct named *n = PFS_HASH_GET(*names, tid, tid);

	if (!n)
		return -ENOMEM;
	snprintf(n->comm, sizeof(n->comm), "%s", comm);
	return 0;
}

/* A function of the kernel that a record names by address. */
struct symbol {
	uint64_t addr;
	const char *name;
	UT_hash_handle hh;
};

struct collected {
	const struct pfs_symbols *symbols;
	struct named *names;
	struct symbol *functions;
};

static int name_function(struct collected *all, uint64_t ip)
{
	struct symbol *s;
	uint64_t start;
	const char *name = pfs_symbols_find(all->symbols, ip, &start);

	if (!name)
		return 0;
	HASH_FIND(hh, all->functions, &start, sizeof(start), s);
	if (s)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->addr = start;
	s->name = name;
	HASH_ADD(hh, all->functions, addr, sizeof(s->addr), s);
	if (!HASH_ADD_FAILED(s))
		return 0;
	free(s);
	return -ENOMEM;
}

/* "ffffffff81234560 T do_wp_page" lines. NULL: no memory. */
static char *function_list(const struct symbol *functions)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	for (const struct symbol *s = functions; s; s = s->hh.next)
		fprintf(out, "%016" PRIx64 " T %s\n", s->addr, s->name);
	return fclose(out) ? (free(text), NULL) : text;
}

/* The last name that each thread had, as the kernel's own table of them would say; and functions. */
static int collect_name(void *ctx, const struct raw_event *raw)
{
	struct collected *all = ctx;
	int ret;

	switch (raw->kind) {
	case RAW_FORK:
		return raw->str ? name_thread(&all->names, raw->arg[1], raw->str) : 0;
	case RAW_NEWTASK:
	case RAW_RENAME:
	case RAW_PFS_TASK:
		return raw->str ? name_thread(&all->names, raw->arg[0], raw->str) : 0;
	case RAW_FUNCTION:
		ret = name_function(all, raw->arg[2]);
		return ret ? ret : name_function(all, raw->arg[3]);
	default:
		return 0;
	}
}

/* They name nobody. */
static int pass_over(void *ctx, struct pfs_fault_run *runs, unsigned int nr)
{
	return 0;
}

static struct pfs_dat_task *task_list(struct named *names)
{
	struct pfs_dat_task *tasks = calloc(HASH_COUNT(names) + 1, sizeof(*tasks));
	struct named *n, *next;
	unsigned int i = 0;

	if (!tasks)
		return NULL;
	HASH_ITER (hh, names, n, next)
		tasks[i++] = (struct pfs_dat_task){ n->tid, n->comm };
	return tasks;
}

static void forget(struct collected *all)
{
	struct named *n, *next;
	struct symbol *s, *next_s;

	HASH_ITER (hh, all->names, n, next) {
		HASH_DEL(all->names, n);
		free(n);
	}
	HASH_ITER (hh, all->functions, s, next_s) {
		HASH_DEL(all->functions, s);
		free(s);
	}
}

int pfs_capture_write(struct pfs_capture *c, int fd, struct pfs_err *err)
{
	struct collected all = { .symbols = c->formats ? c->formats->symbols : NULL };
	struct pfs_dat_content content = { 0 };
	struct pfs_dat_task *tasks = NULL;
	char **stats = NULL, uname_text[3 * 65 + 4], *symbols = NULL;
	int *fds = NULL, ret;
	struct utsname uts;

	if (c->config.text)
		return capture_text_write(c, fd, err);
	ret = pfs_capture_replay(c, collect_name, pass_over, &all, err);
	if (ret)
		goto out;
	ret = -ENOMEM;
	tasks = task_list(all.names);
	symbols = function_list(all.functions);
	fds = calloc(c->nr_cpus, sizeof(*fds));
	stats = calloc(c->nr_cpus, sizeof(*stats));
	if (!tasks || !symbols || !fds || !stats) {
		pfs_err_set(err, ret, "no memory to write the recording");
		goto out;
	}
	for (int i = 0; i < c->nr_cpus; i++) {
		fds[i] = c->cpus[i].spool_fd;
		stats[i] = capture_cpu_stats(c, i);
	}
	uname(&uts);
	snprintf(uname_text, sizeof(uname_text), "%s %s %s", uts.sysname, uts.release, uts.machine);
	content.formats = c->formats;
	content.page_size = c->page_size;
	content.spool_fds = fds;
	content.nr_cpus = c->nr_cpus;
	content.own_fd = c->own_fd;
	content.tasks = tasks;
	content.nr_tasks = HASH_COUNT(all.names);
	content.symbols = symbols;
	content.clock = "mono";
	content.uname = uname_text;
	content.version = "pfscope " PFS_VERSION;
	content.compress = c->config.compress;
	content.cpustats = (const char *const *)stats;
	ret = pfs_dat_write(fd, &content, err);
out:
	for (int i = 0; stats && i < c->nr_cpus; i++)
		free(stats[i]);
	free(stats);
	free(fds);
	free(tasks);
	free(symbols);
	forget(&all);
	return ret;
}
