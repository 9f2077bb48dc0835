/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a system has by which pages can be made to fault again. See refault.h.
 */
#include "refault/refault.h"

#include "refault/damon.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *const pfs_refault_methods[PFS_REFAULT_NR_METHODS] = {
	[PFS_REFAULT_AUTO] = "auto",
	[PFS_REFAULT_PAGEOUT] = "pageout",
	[PFS_REFAULT_NUMA] = "numa",
	[PFS_REFAULT_IDLE] = "idle",
};

/* ---- the system ---- */

static FILE *open_of(const char *root, const char *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", root, file);
	return fopen(path, "re");
}

/* Below the heading of /proc/swaps there is one. */
static bool has_swap(const char *root)
{
	FILE *f = open_of(root, "/proc/swaps");
	char line[1024];
	unsigned int nr = 0;

	while (f && fgets(line, sizeof(line), f))
		nr += !!strchr(line, '\n');
	if (f)
		fclose(f);
	return nr > 1;
}

/* "0", "0-1", "0,2-3". */
static unsigned int count_nodes(const char *root)
{
	FILE *f = open_of(root, "/sys/devices/system/node/online");
	unsigned int nr = 0, from, to;
	char comma;

	while (f && fscanf(f, "%u", &from) == 1) {
		to = from;
		if (fscanf(f, "-%u", &to) < 0)
			to = from;
		nr += to >= from ? to - from + 1 : 1;
		if (fscanf(f, "%c", &comma) != 1 || comma != ',')
			break;
	}
	if (f)
		fclose(f);
	return nr;
}

/* Of nobody, and so refused: if the kernel knows it, not for that reason. */
static bool has_pageout(void)
{
	return syscall(SYS_process_madvise, -1, NULL, 0, MADV_PAGEOUT, 0) < 0 && errno != ENOSYS;
}

/* Whether it knows address spaces, or physical memory alone, sysfs tells only once one is set up. */
static bool has_damon(const char *root)
{
	FILE *f = open_of(root, PFS_DAMON_DIR "/nr_kdamonds");
	char line[1024];
	bool has = false;

	if (!f)
		return false;
	fclose(f);
	f = open_of(root, "/proc/kallsyms");
	while (f && !has && fgets(line, sizeof(line), f))
		has = strstr(line, " damon_va_");
	if (f)
		fclose(f);
	return has;
}

void pfs_refault_look(const char *root, struct pfs_refault_system *system)
{
	FILE *f = open_of(root, "/proc/sys/kernel/numa_balancing");
	int on = 0;

	*system = (struct pfs_refault_system){
		.pageout = has_pageout(),
		.swap = has_swap(root),
		.nr_nodes = count_nodes(root),
		.numa = f,
		.damon = has_damon(root),
	};
	if (f) {
		system->numa_on = fscanf(f, "%d", &on) == 1 && on;
		fclose(f);
	}
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

int pfs_refault_choose(const struct pfs_refault_config *config, const struct pfs_refault_system *system,
		       enum pfs_refault_method *method, struct pfs_err *err)
{
	const char *pageout = against_pageout(config, system), *numa = against_numa(config, system);
	const char *idle = against_idle(config, system);

	*method = config->method;
	switch (config->method) {
	case PFS_REFAULT_PAGEOUT:
		return pageout ? pfs_err_set(err, -ENOTSUP, "--refault by pageout: %s", pageout) : 0;
	case PFS_REFAULT_NUMA:
		return numa ? pfs_err_set(err, -ENOTSUP, "--refault by numa: %s", numa) : 0;
	case PFS_REFAULT_IDLE:
		return idle ? pfs_err_set(err, -ENOTSUP, "--refault by idle: %s", idle) : 0;
	default:
		break;
	}
	*method = !pageout ? PFS_REFAULT_PAGEOUT : !numa ? PFS_REFAULT_NUMA : PFS_REFAULT_IDLE;
	if (!pageout || !numa || !idle)
		return 0;
	return pfs_err_set(err, -ENOTSUP, "--refault: no method works here. pageout: %s; numa: %s; idle: %s", pageout,
			   numa, idle);
}
