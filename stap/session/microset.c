/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --microset: of each thread or process only the last pages stay accessible. Here are its options, and what hiding pages
 * needs; the module hides (tapset/hide.stp).
 */
#include "session/session_priv.h"

#include "base/number.h"
#include "base/write_all.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAGES_MAX   4096
#define REGIONS_MAX 255 /* hide_pages.stp: bytes of the list ... */
#define WORDS_MAX   16	/* ... and words in it */

/*
 * The pages that one instruction may need at once, or it would fault for ever: two operands in memory, each across the
 * edge of a page; and its own code, across another.
 */
#define INSTRUCTION_PAGES 4
#define CODE_PAGES	  2

static const char data_regions[] = "heap,anon,stack,file", all_regions[] = "heap,anon,stack,file,code";

int stap_microset_parse(struct stap_microset *m, const char *arg, struct pfs_err *err)
{
	size_t len = strcspn(arg, ",");
	char number[16];
	uint64_t pages;

	m->by_process = !strcmp(arg + len, ",process");
	snprintf(number, sizeof(number), "%.*s", (int)len, arg);
	if (len >= sizeof(number) || !pfs_number_parse(number, INSTRUCTION_PAGES, PAGES_MAX, &pages) ||
	    (arg[len] && !m->by_process && strcmp(arg + len, ",thread") != 0))
		return pfs_err_set(
			err, -EINVAL,
			"must be N, `N,thread' or `N,process', with N between %d (an instruction may need %d pages at once) and %d",
			INSTRUCTION_PAGES, INSTRUCTION_PAGES, PAGES_MAX);
	m->pages = pages;
	return 0;
}

/* "7f0000000000-7f0000010000" */
static bool is_range(const char *word, size_t len)
{
	size_t digits = strspn(word, "0123456789abcdef");
	size_t more = word[digits] == '-' ? strspn(word + digits + 1, "0123456789abcdef") : 0;

	return digits && digits <= 16 && more && more <= 16 && digits + 1 + more == len;
}

static bool is_region(const char *word, size_t len)
{
	static const char *const words[] = { "heap", "anon", "stack", "file", "code" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == len && !memcmp(word, words[i], len))
			return true;
	return (len > 5 && !memcmp(word, "file:", 5)) || is_range(word, len);
}

int stap_microset_regions_parse(struct stap_microset *m, const char *arg, struct pfs_err *err)
{
	const char *word = arg;
	unsigned int nr = 0;
	size_t len;

	do {
		len = strcspn(word, ",");
		if (!is_region(word, len) || ++nr > WORDS_MAX)
			return pfs_err_set(
				err, -EINVAL,
				"must be a list of heap, anon, stack, file, file:GLOB, code, or START-END (hexadecimal), at most %d",
				WORDS_MAX);
		word += len;
	} while (*word++);
	if (strlen(arg) > REGIONS_MAX || strpbrk(arg, "\"\n"))
		return pfs_err_set(err, -EINVAL, "cannot be passed to a module: longer than %d bytes, or with a quote",
				   REGIONS_MAX);
	m->regions = arg;
	return 0;
}

const char *stap_microset_regions(const struct stap_microset *m)
{
	if (m->regions)
		return m->regions;
	return m->pages ? data_regions : all_regions;
}

/* Is the word in the list? */
static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == len && !memcmp(list, word, len))
			return true;
	return false;
}

int stap_microset_check(const struct stap_microset *m, bool others, struct pfs_err *err)
{
	unsigned int needed = INSTRUCTION_PAGES + (has_word(stap_microset_regions(m), "code") ? CODE_PAGES : 0);

	if (!m->pages)
		return m->regions && !others
			       ? pfs_err_set(
					 err, -EINVAL,
					 "--microset-region: nothing is hidden (--microset N, or --refault-by=hide)")
			       : 0;
	if (m->pages < needed)
		return pfs_err_set(
			err, -EINVAL,
			"--microset: at least %u with code: an instruction may need %d pages of data and %d of code at once",
			needed, INSTRUCTION_PAGES, CODE_PAGES);
	if (m->by_process && m->pages < needed * sysconf(_SC_NPROCESSORS_CONF))
		return pfs_err_set(
			err, -EINVAL,
			"--microset: at least %ld by process: an instruction may need %u pages at once, on each CPU here",
			needed * sysconf(_SC_NPROCESSORS_CONF), needed);
	return 0;
}

int stap_can_hide(struct pfs_err *err)
{
	char on[4] = "";

	if (pfs_read_file("/proc/sys/kernel/numa_balancing", on, sizeof(on)) < 0)
		return pfs_err_set(
			err, -ENOTSUP,
			"this kernel has no NUMA balancing (CONFIG_NUMA_BALANCING), whose fault handler brings hidden pages back");
	if (*on != '0')
		return pfs_err_set(
			err, -ENOTSUP,
			"NUMA balancing hides pages at its own pace: switch it off (sysctl kernel.numa_balancing=0)");
	return 0;
}
