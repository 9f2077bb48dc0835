/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a system has by which pages can be made to fault again. See refault.h.
 */
#include "refault/refault.h"

#include "base/number.h"
#include "base/write_all.h"
#include "refault/damon.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the system ---- */

/* Reads a small file. False: it cannot be read, or is empty. */
static bool read_of(const char *root, const char *file, char *buf, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", root, file);
	return pfs_read_file(path, buf, size) > 0;
}

/* Has /proc/swaps a line after its heading? */
static bool has_swap(const char *root)
{
	char text[4096];
	const char *heading;

	heading = read_of(root, "/proc/swaps", text, sizeof(text)) ? strchr(text, '\n') : NULL;
	return heading && heading[1];
}

/* "0", "0-1", "0,2-3". */
static unsigned int count_nodes(const char *root)
{
	char text[256];
	const char *at = text;
	unsigned int nr = 0;
	uint64_t from, to;

	if (!read_of(root, "/sys/devices/system/node/online", text, sizeof(text)))
		return 0;
	for (; pfs_take_dec(&at, 1 << 16, &from); at += *at == ',') {
		to = from;
		if (*at == '-')
			at++, pfs_take_dec(&at, 1 << 16, &to);
		nr += to >= from ? to - from + 1 : 1;
	}
	return nr;
}

/* The call for no process is refused: with ENOSYS if the kernel does not have it. */
static bool has_pageout(void)
{
	return syscall(SYS_process_madvise, -1, NULL, 0, MADV_PAGEOUT, 0) < 0 && errno != ENOSYS;
}

/* Address spaces, not only physical memory: sysfs shows that only after a kdamond is set up, kallsyms always. */
static bool has_damon(const char *root)
{
	char line[PATH_MAX];
	bool has = false;
	FILE *f;

	if (!read_of(root, PFS_DAMON_DIR "/nr_kdamonds", line, sizeof(line)))
		return false;
	snprintf(line, sizeof(line), "%s/proc/kallsyms", root);
	f = fopen(line, "re");
	while (f && !has && fgets(line, sizeof(line), f))
		has = strstr(line, " damon_va_");
	if (f)
		fclose(f);
	return has;
}

/* A new region is soft-dirty, as smaps tells. */
static bool has_soft_dirty(const char *root)
{
	char text[4096];
	const char *flags = read_of(root, "/proc/self/smaps", text, sizeof(text)) ? strstr(text, "VmFlags:") : NULL;

	return flags && memmem(flags, strcspn(flags, "\n"), " sd", 3);
}

void pfs_refault_look(const char *root, struct pfs_refault_system *system)
{
	char on[16];
	uint64_t numa_on = 0;
	bool numa = read_of(root, "/proc/sys/kernel/numa_balancing", on, sizeof(on));

	if (numa)
		pfs_dec(on, &numa_on);
	*system = (struct pfs_refault_system){
		.pageout = has_pageout(),
		.swap = has_swap(root),
		.nr_nodes = count_nodes(root),
		.numa = numa,
		.numa_on = numa_on,
		.damon = has_damon(root),
		.soft_dirty = has_soft_dirty(root),
	};
}

/* ---- the choice ---- */

/* NULL: nothing. */
static const char *against_pageout(const struct pfs_refault_config *config, const struct pfs_refault_system *system)
{
	if (!system->pageout)
		return "this kernel has no process_madvise (Linux 5.10)";
	if (!system->swap && !config->zram_bytes && !config->files_only)
		return "there is no swap for anonymous memory (--zram SIZE sets some up for the recording, in "
		       "memory; for files alone: --region='file:*')";
	return NULL;
}

static const char *against_numa(const struct pfs_refault_config *config, const struct pfs_refault_system *system)
{
	if (!system->numa)
		return "this kernel has no NUMA balancing (CONFIG_NUMA_BALANCING)";
	if (system->nr_nodes < 2)
		return "this machine is one NUMA node";
	if (!system->numa_on)
		return "NUMA balancing is off (sysctl kernel.numa_balancing=1 switches it on, for the whole system)";
	return NULL;
}

static const char *against_idle(const struct pfs_refault_config *config, const struct pfs_refault_system *system)
{
	if (config->faults_only)
		return "accesses without a fault are recorded with --source=ftrace only";
	return system->damon ? NULL
			     : "this kernel has no DAMON for address spaces (CONFIG_DAMON_VADDR, CONFIG_DAMON_SYSFS)";
}

static const char *against_hide(const struct pfs_refault_config *config, const struct pfs_refault_system *system)
{
	if (config->hide_file)
		return NULL;
	return config->why_not_hide ? config->why_not_hide : "only with --source=stap or ftrace";
}

static const char *against_soft_dirty(const struct pfs_refault_config *config, const struct pfs_refault_system *system)
{
	if (!system->soft_dirty)
		return "this kernel has no soft-dirty bits (CONFIG_MEM_SOFT_DIRTY)";
	return config->some_regions ? "it is for all memory of a process: without --region" : NULL;
}

int pfs_refault_choose(const struct pfs_refault_config *config, const struct pfs_refault_system *system,
		       enum pfs_refault_method *method, struct pfs_err *err)
{
	static const struct {
		enum pfs_refault_method method;
		const char *(*against)(const struct pfs_refault_config *, const struct pfs_refault_system *);
		bool writes_only; /* `auto' does not choose it */
	} all[] = {
		{ PFS_REFAULT_HIDE, against_hide, false }, /* exact, the one that needs nothing else */
		{ PFS_REFAULT_PAGEOUT, against_pageout, false }, { PFS_REFAULT_NUMA, against_numa, false },
		{ PFS_REFAULT_IDLE, against_idle, false },	 { PFS_REFAULT_SOFT_DIRTY, against_soft_dirty, true },
	};
	const char *why[5] = { NULL };

	for (int i = 0; i < 5; i++) {
		if (config->method ? config->method != all[i].method : all[i].writes_only)
			continue;
		*method = all[i].method;
		why[i] = all[i].against(config, system);
		if (!why[i])
			return 0;
		if (config->method != PFS_REFAULT_AUTO)
			return pfs_err_set(err, -ENOTSUP, "--refault by %s: %s", pfs_refault_methods[*method], why[i]);
	}
	return pfs_err_set(err, -ENOTSUP, "--refault: no method works here. hide: %s; pageout: %s; numa: %s; idle: %s",
			   why[0], why[1], why[2], why[3]);
}
