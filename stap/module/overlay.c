/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "module/overlay.h"

#include "base/number.h"
#include "base/write_all.h"
#include "module/cache.h"
#include "module/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TASK_WORK "stp_task_work.c"
#define OLD_NAME  "task_work_cancel"
#define NEW_NAME  "task_work_cancel_func"

/* A file of the runtime, and what comes before and after its text. A file that the runtime lacks becomes `before`. */
struct change {
	unsigned int of; /* PFS_OVERLAY_* */
	const char *file, *before, *after;
};

static const struct change changes[] = {
	/* The word is replaced in it. */
	{ PFS_OVERLAY_TASK_WORK, TASK_WORK, NULL, NULL },
	/* Macros by now, which tests for functions do not see; and a warning of the kernel about each flush. */
	{ PFS_OVERLAY_LINUX_6_10, "linux/alloc.c",
	  "#define __warn_flushing_systemwide_wq() do { } while (0)\n#define STAPCONF_VZALLOC 1\n#define STAPCONF_VMALLOC_NODE 1\n#define STAPCONF_VZALLOC_NODE 1\n#undef STAPCONF_KALLSYMS_ON_EACH_SYMBOL\n",
	  "" },
	/* Its way to look names up no longer exists; on PPC64 it leaves that to register_kprobe(). */
	{ PFS_OVERLAY_LINUX_6_10, "linux/kprobes.c",
	  "#include <linux/kallsyms.h>\n#include <linux/kprobes.h>\n#include <linux/module.h>\n#define CONFIG_PPC64 1\n#define kallsyms_on_each_symbol(fn, data) ((void) (fn))\n",
	  "#undef CONFIG_PPC64\n#undef kallsyms_on_each_symbol\n" },
	{ PFS_OVERLAY_LINUX_6_10, "linux/print.c",
	  "#include <linux/module.h>\n#define module_core mem[MOD_TEXT].base\n#define core_size mem[MOD_TEXT].size\n#define core_text_size mem[MOD_TEXT].size\n",
	  "" },
	{ PFS_OVERLAY_LINUX_6_10, "linux/namespaces.h",
	  "#undef do_each_thread\n#undef while_each_thread\n#define do_each_thread(g, t) for_each_process_thread(g, t)\n#define while_each_thread(g, t)\n",
	  "" },
	{ PFS_OVERLAY_LINUX_6_10, "linux/access_process_vm.h",
	  "#define STAPCONF_GET_USER_PAGES_REMOTE_NOTASK_STRUCT 1\n#define get_user_pages_remote(mm, addr, nr, flags, pages, vmas, locked) ({ \\\n	*(vmas) = find_vma(mm, addr); \\\n	get_user_pages_remote(mm, addr, nr, flags, pages, locked); })\n",
	  "#undef get_user_pages_remote\n" },
	{ PFS_OVERLAY_LINUX_6_10, "stp_string.c", "#define strlcpy(d, s, n) strscpy(d, s, n)\n", "" },
	{ PFS_OVERLAY_LINUX_6_10, "asm/unaligned.h", "#include <linux/unaligned.h>\n", "" },
};
#define NR_CHANGES (sizeof(changes) / sizeof(changes[0]))

/* SystemTap probes the kernel's features by compiling small pieces with -Werror; new warnings must not fail them. */
static const char *const options_6_10[] = {
	"-DSTAPCONF_UPROBE_REGISTER_EXPORTED", "-DSTAPCONF_UPROBE_UNREGISTER_EXPORTED",
	"-DSTAPCONF_UPROBE_GET_SWBP_ADDR_EXPORTED",
	"-BKCFLAGS=-Wno-missing-prototypes -Wno-missing-declarations -Wno-empty-body -Wno-old-style-declaration -Wno-attribute-warning",
	NULL
};

const char *const *pfs_overlay_options(unsigned int what)
{
	static const char *const none[] = { NULL };

	return what & PFS_OVERLAY_LINUX_6_10 ? options_6_10 : none;
}

unsigned int pfs_overlay_nr_files(unsigned int what)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < NR_CHANGES; i++)
		nr += !!(changes[i].of & what);
	return nr;
}

unsigned int pfs_stap_version(const char *output)
{
	const char *p = strstr(output, "version ");
	uint64_t major, minor;

	p += p ? strlen("version ") : 0;
	if (!p || !pfs_take_dec(&p, 999, &major) || *p++ != '.' || !pfs_take_dec(&p, 99, &minor))
		return 0;
	return major * 100 + minor;
}

/* A distribution may have fixed it already. */
static bool task_work_is_old(const char *runtime)
{
	char path[PATH_MAX], *text;
	bool old;

	snprintf(path, sizeof(path), "%s/" TASK_WORK, runtime);
	text = pfs_read_whole_file(path, NULL);
	old = text && pfs_word_find(text, text, OLD_NAME) && !strstr(text, NEW_NAME);
	free(text);
	return old;
}

unsigned int pfs_overlay_needed(unsigned int version, const char *runtime, const struct pfs_kernel *kernel)
{
	unsigned int what = 0;

	if (version >= 400 && version < 502 && task_work_is_old(runtime) &&
	    pfs_kernel_header_has(kernel, "linux/task_work.h", NEW_NAME))
		what |= PFS_OVERLAY_TASK_WORK;
	/* What other versions would need is not known. */
	if (version == 408 && pfs_kernel_header_has(kernel, "linux/vmalloc.h", "vzalloc_noprof"))
		what |= PFS_OVERLAY_LINUX_6_10;
	return what;
}

char *pfs_word_replace(const char *text, const char *word, const char *by)
{
	const char *from = text, *p;
	char *result = NULL;
	size_t size;
	FILE *out = open_memstream(&result, &size);

	if (!out)
		return NULL;
	for (; (p = pfs_word_find(text, from, word)); from = p + strlen(word))
		fprintf(out, "%.*s%s", (int)(p - from), from, by);
	fputs(from, out);
	if (!fclose(out))
		return result;
	free(result);
	return NULL;
}

/* The new text of a file; the caller frees. NULL with errno. */
static char *changed_text(const char *runtime, const struct change *change)
{
	char path[PATH_MAX + 64], *text, *changed = NULL;

	snprintf(path, sizeof(path), "%s/%s", runtime, change->file);
	if (!change->before) {
		text = pfs_read_whole_file(path, NULL);
		changed = text ? pfs_word_replace(text, OLD_NAME, NEW_NAME) : NULL;
		free(text);
	} else if (access(path, R_OK)) {
		changed = strdup(change->before);
	} else if (asprintf(&changed, "%s#include \"%s\"\n%s", change->before, path, change->after) < 0) {
		changed = NULL;
	}
	return changed;
}

static int change_file(const char *runtime, const char *copy, const struct change *change, struct pfs_err *err)
{
	char to[PATH_MAX + 64], *slash, *text = changed_text(runtime, change);
	int fd, ret;

	if (!text)
		return pfs_err_set(err, -EIO, "%s/%s: cannot be read", runtime, change->file);
	snprintf(to, sizeof(to), "%s/%s", copy, change->file);
	slash = strrchr(to, '/');
	*slash = '\0';
	mkdir(to, 0755);
	*slash = '/';
	unlink(to);
	fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	ret = fd < 0 ? pfs_err_set(err, -errno, "%s: %s", to, strerror(errno))
		     : pfs_temp_write(fd, text, strlen(text), err);
	pfs_close(fd);
	free(text);
	return ret;
}

/* The copy, under a temporary name. */
static int make_copy(const char *temp, const char *runtime, unsigned int what, struct pfs_err *err)
{
	int ret = pfs_cache_link_tree(runtime, temp, true, NULL);

	if (ret)
		return pfs_err_set(err, ret, "%s: cannot copy %s: %s", temp, runtime, strerror(-ret));
	for (size_t i = 0; !ret && i < NR_CHANGES; i++)
		if (changes[i].of & what)
			ret = change_file(runtime, temp, &changes[i], err);
	return ret;
}

/* Changes with the files that the copy would be made of: a newer SystemTap gets a new copy. */
static uint64_t hash_of(const char *runtime, unsigned int what)
{
	uint64_t hash = pfs_hash(PFS_HASH_START, runtime, strlen(runtime));
	char path[PATH_MAX + 64];

	for (size_t i = 0; i < NR_CHANGES; i++) {
		if (!(changes[i].of & what))
			continue;
		snprintf(path, sizeof(path), "%s/%s", runtime, changes[i].file);
		hash = pfs_hash_file(hash, path);
	}
	return pfs_hash(hash, &what, sizeof(what));
}

int pfs_overlay_make(const char *dir, unsigned int version, const char *runtime, unsigned int what, char *overlay,
		     size_t size, struct pfs_err *err)
{
	uint64_t hash = hash_of(runtime, what);
	char temp[PATH_MAX];
	int ret;

	snprintf(overlay, size, "%s/runtime-%u.%u-%d-%08x", dir, version / 100, version % 100, PFS_OVERLAY_VERSION,
		 (unsigned int)(hash ^ hash >> 32));
	if (!access(overlay, R_OK | X_OK))
		return 0;
	snprintf(temp, sizeof(temp), "%s/runtime.%d", dir, getpid());
	pfs_cache_remove_tree(temp);
	ret = make_copy(temp, runtime, what, err);
	if (!ret && rename(temp, overlay) && errno != EEXIST && errno != ENOTEMPTY)
		ret = pfs_err_set(err, -errno, "%s: %s", overlay, strerror(errno));
	pfs_cache_remove_tree(temp); /* another pfscope was faster, or it failed */
	return ret;
}

/* ---- the headers ---- */

/* The first of the points that is a function of this name, or NULL. */
static const struct pfs_point *find_function(const struct pfs_point *points, unsigned int nr, const char *name)
{
	for (unsigned int i = 0; i < nr; i++)
		if (!points[i].tracepoint && !strcmp(points[i].name, name))
			return &points[i];
	return NULL;
}

static void put_symbol(FILE *out, unsigned int *nr, const char *name)
{
	fprintf(out, "ffffffff81%06x T %s\n", ++*nr * 16, name);
}

static int write_table(const char *path, const struct pfs_kernel *kernel, const char *script, bool *unchecked,
		       struct pfs_err *err)
{
	struct pfs_point points[PFS_POINTS_MAX];
	unsigned int nr = pfs_points_of(script, points), nr_put = 0;
	FILE *out = fopen(path, "we"), *symbols = pfs_kernel_symbols(kernel);
	char name[PFS_SYMBOL_MAX];
	int ret = 0;

	*unchecked = !symbols;
	while (out && symbols && pfs_kernel_symbol_next(symbols, name))
		if (find_function(points, nr, name))
			put_symbol(out, &nr_put, name);
	for (unsigned int i = 0; out && !symbols && i < nr; i++)
		if (find_function(points, nr, points[i].name) == &points[i])
			put_symbol(out, &nr_put, points[i].name);
	if (!out || fclose(out))
		ret = pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
	if (symbols)
		fclose(symbols);
	return ret;
}

/* stap's cache of what it derived from the headers is valid as long as this file has the same date and size. */
static void date_table(const char *path, const struct pfs_kernel *kernel)
{
	char config[PATH_MAX + 16];
	struct timespec times[2];
	struct stat st;

	snprintf(config, sizeof(config), "%s/.config", kernel->build);
	if (stat(config, &st))
		return;
	times[0] = times[1] = st.st_mtim;
	utimensat(AT_FDCWD, path, times, 0);
}

/* "build" and "source" side by side, as in /lib/modules: stap looks for the latter there. */
int pfs_tree_make(const char *dir, const struct pfs_kernel *kernel, const char *script, char *build, size_t size,
		  bool *unchecked, struct pfs_err *err)
{
	char source[PATH_MAX], path[PATH_MAX], link[PATH_MAX];
	int ret;

	snprintf(build, size, "%s/build", dir);
	ret = pfs_cache_remove_tree(dir);
	if (!ret && mkdir(dir, 0755))
		ret = -errno;
	if (!ret)
		ret = pfs_cache_link_tree(kernel->build, build, false, "System.map");
	snprintf(path, sizeof(path), "/lib/modules/%s/source", kernel->release);
	snprintf(link, sizeof(link), "%s/source", dir);
	if (!ret && realpath(path, source) && symlink(source, link))
		ret = -errno;
	if (ret)
		return pfs_err_set(err, ret, "%s: cannot copy %s: %s", dir, kernel->build, strerror(-ret));
	snprintf(path, sizeof(path), "%s/System.map", build);
	ret = write_table(path, kernel, script, unchecked, err);
	date_table(path, kernel);
	return ret;
}
