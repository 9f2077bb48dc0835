/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture as a trace.dat: the content for dat/write.c, with the names of threads and functions.
 */
#include "capture/capture_priv.h"

#include "base/hash.h"
#include "dat/dat.h"
#include "record/handlers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* The name of a thread, or of a function by its address. */
struct named {
	uint64_t nr;
	char *name;
	UT_hash_handle hh;
};

enum { RECENT_SITES = 1024 };

struct collected {
	const struct pfs_symbols *symbols;
	uint64_t recent[RECENT_SITES]; /* call sites whose functions are listed, by address */
	struct named *threads, *functions;
};

/* The last name counts. */
static int put_name(struct named **names, uint64_t nr, const char *name)
{
	char *copy = name ? strdup(name) : NULL;
	struct named *n;

	if (!name)
		return 0;
	HASH_FIND(hh, *names, &nr, sizeof(nr), n);
	if (!n && (n = calloc(1, sizeof(*n)))) {
		n->nr = nr;
		HASH_ADD(hh, *names, nr, sizeof(nr), n);
		if (HASH_ADD_FAILED(n)) {
			free(n);
			n = NULL;
		}
	}
	if (n && copy) {
		free(n->name);
		n->name = copy;
		return 0;
	}
	free(copy);
	return -ENOMEM;
}

static int put_function(struct collected *all, uint64_t ip)
{
	uint64_t start;
	const char *name = pfs_symbols_find(all->symbols, ip, &start);

	return put_name(&all->functions, name ? start : 0, name);
}

static int put_site(struct collected *all, uint64_t site)
{
	uint64_t *recent = &all->recent[site / 4 % RECENT_SITES];

	if (*recent == site)
		return 0;
	*recent = site;
	return put_function(all, site);
}

static int put_stack(struct collected *all, const struct raw_event *raw)
{
	uint64_t addr;
	int ret = 0;

	for (uint64_t i = 0; !ret && i < raw->arg[0]; i++) {
		memcpy(&addr, (const uint8_t *)raw->record + i * sizeof(addr), sizeof(addr));
		ret = put_site(all, addr);
	}
	return ret;
}

static int collect_name(void *ctx, const struct raw_event *raw)
{
	struct collected *all = ctx;

	switch (raw->kind) {
	case RAW_FORK:
		return put_name(&all->threads, raw->arg[1], raw->str);
	case RAW_NEWTASK:
	case RAW_RENAME:
	case RAW_PFS_TASK:
		return put_name(&all->threads, raw->arg[0], raw->str);
	case RAW_KMALLOC:
	case RAW_CACHE_ALLOC:
	case RAW_CACHE_FREE:
	case RAW_WPROBE:
	case RAW_PFS_ACCESS:
		return put_site(all, raw->arg[0]);
	case RAW_STACK:
		return put_stack(all, raw);
	case RAW_FUNCTION:
		return put_function(all, raw->arg[2]) ?: put_function(all, raw->arg[3]);
	default:
		return 0;
	}
}

/* Faults name no thread. */
static int pass_over(void *ctx, struct pfs_fault_run *runs, unsigned int nr)
{
	return 0;
}

/* "ffffffff81234560 T do_wp_page" lines. NULL: no memory. */
static char *function_list(const struct named *functions)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	for (const struct named *n = functions; n; n = n->hh.next)
		fprintf(out, "%016" PRIx64 " T %s\n", n->nr, n->name);
	return fclose(out) ? (free(text), NULL) : text;
}

static struct pfs_dat_task *task_list(const struct named *threads)
{
	struct pfs_dat_task *tasks = calloc(HASH_COUNT(threads) + 1, sizeof(*tasks));
	unsigned int i = 0;

	for (const struct named *n = threads; tasks && n; n = n->hh.next)
		tasks[i++] = (struct pfs_dat_task){ n->nr, n->name };
	return tasks;
}

static void free_names(struct named **names)
{
	struct named *n, *next;

	HASH_ITER (hh, *names, n, next) {
		HASH_DEL(*names, n);
		free(n->name);
		free(n);
	}
}

static int write_dat(struct pfs_capture *c, int fd, struct pfs_err *err)
{
	int nr_cpus = c->drain.nr_cpus, *fds = calloc(nr_cpus + 1, sizeof(*fds)), ret;
	struct collected all = { .symbols = c->formats ? c->formats->symbols : NULL };
	char **stats = calloc(nr_cpus + 1, sizeof(*stats)), uname_text[3 * 65 + 4], *symbols = NULL;
	struct pfs_dat_task *tasks = NULL;
	struct utsname uts;

	ret = capture_read_back(c, collect_name, pass_over, &all, err);
	if (ret)
		goto out;
	tasks = task_list(all.threads);
	symbols = function_list(all.functions);
	if (!fds || !stats || !tasks || !symbols) {
		ret = pfs_err_set(err, -ENOMEM, "no memory to write the recording");
		goto out;
	}
	for (int i = 0; i < nr_cpus; i++) {
		fds[i] = c->drain.cpus[i].spool_fd;
		stats[i] = capture_cpu_stats(c, i);
	}
	uname(&uts);
	snprintf(uname_text, sizeof(uname_text), "%s %s %s", uts.sysname, uts.release, uts.machine);
	ret = pfs_dat_write(fd,
			    &(struct pfs_dat_content){
				    .formats = c->formats,
				    .page_size = c->drain.page_size,
				    .spool_fds = fds,
				    .nr_cpus = nr_cpus,
				    .own_fd = c->own.fd,
				    .tasks = tasks,
				    .nr_tasks = HASH_COUNT(all.threads),
				    .symbols = symbols,
				    .clock = "mono",
				    .uname = uname_text,
				    .version = "pfscope " PFS_VERSION,
				    .compress = c->options->compress,
				    .cpustats = (const char *const *)stats,
			    },
			    err);
out:
	for (int i = 0; stats && i < nr_cpus; i++)
		free(stats[i]);
	free(stats);
	free(fds);
	free(tasks);
	free(symbols);
	free_names(&all.threads);
	free_names(&all.functions);
	return ret;
}

int capture_write(struct pfs_live *live, int fd, struct pfs_err *err)
{
	struct pfs_capture *c = capture_of(live);

	return c->options->text ? capture_text_write(c, fd, err) : write_dat(c, fd, err);
}
