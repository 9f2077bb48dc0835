/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which module is loaded, under which name, and staprun's arguments.
 *
 * Root and members of stapdev may load from anywhere, so they load a copy under a name of this recording's own:
 * several can record at once, and leftovers are recognized. A signed module, and any module of a user who is in
 * stapusr alone, is loaded in place, where the administrator has put it: one recording at a time.
 */
#include "session/session_priv.h"

#include "base/write_all.h"
#include "module/module.h"
#include "os/owner.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Without --buffer-size: of one CPU, and of all CPUs together. */
#define BUFFER_MB  16
#define BUFFERS_MB 1024

/* MAXSTRINGLEN of build.c, less the NUL. */
#define PIDS_MAX 511

/* ---- permissions ---- */

static bool in_group(const char *name)
{
	const struct group *group = getgrnam(name);
	gid_t groups[256];
	int nr = getgroups(256, groups);

	if (!group)
		return false;
	for (int i = 0; i < nr; i++)
		if (groups[i] == group->gr_gid)
			return true;
	return getegid() == group->gr_gid;
}

static int check_staprun(struct pfs_err *err)
{
	char path[PATH_MAX];
	int ret = pfs_program_find("staprun", path, err);

	if (!ret || ret == -EPERM)
		return ret;
	if (!access("/usr/bin/staprun", F_OK))
		return pfs_err_set(
			err, -EACCES,
			"you may not run staprun: loading a module needs root, or membership in the group stapusr (and in stapdev, to build them)");
	return pfs_err_set(err, -ENOENT,
			   "staprun, which --source=stap needs, is not installed: install systemtap-runtime");
}

/* The kernel's parser of module parameters has no escape for a quote. */
static int check_comm(const char *comm, struct pfs_err *err)
{
	if (strlen(comm) > 15)
		return pfs_err_set(err, -EINVAL, "%s: the kernel keeps only the first 15 bytes of a name: give those",
				   comm);
	if (strpbrk(comm, "*?[\\"))
		return pfs_err_set(
			err, -EINVAL,
			"%s: no patterns unless processes are given by number: the probes compare whole names", comm);
	for (const char *p = comm; *p; p++)
		if (*p == '"' || (unsigned char)*p < ' ')
			return pfs_err_set(err, -EINVAL, "%s: this name cannot be passed to a module", comm);
	return 0;
}

/* ---- which module ---- */

/* May the caller load a module that it builds? */
static int check_build(const struct pfs_kernel *kernel, struct pfs_err *err)
{
	if (geteuid() && !in_group("stapdev"))
		return pfs_err_set(
			err, -EPERM,
			"only root and members of stapdev may load a module that they have built: ask root to build one (pfscope stap build -o /lib/modules/%s/systemtap/NAME.ko) and use --module",
			kernel->release);
	if (kernel->lockdown[0])
		return pfs_err_set(
			err, -EKEYREJECTED,
			"this kernel is locked down (%s) and accepts signed modules only: sign one of `pfscope stap build' with a key that it trusts and use --module; --source=ftrace needs no module",
			kernel->lockdown);
	return 0;
}

int pfs_stap_may_load(struct pfs_err *err)
{
	struct pfs_kernel kernel;

	pfs_kernel_find(&kernel, NULL, NULL);
	return check_staprun(err) ?: check_build(&kernel, err);
}

int stap_usable(struct pfs_err *err)
{
	const struct pfs_build_config config = { .release = NULL };
	struct pfs_build build;

	return pfs_kernel_check_modules(NULL, err) ?: pfs_stap_may_load(err) ?: pfs_build_init(&build, &config, err);
}

int pfs_stap_may_hide(struct pfs_err *err)
{
	return stap_usable(err) ?: stap_can_hide(err);
}

static int build_module(struct pfs_stap *s, struct pfs_err *err)
{
	struct pfs_build_config config = {
		.no_dwarf = ((const struct stap_options *)s->config.options)->no_dwarf,
		.objects = s->config.objects,
		.give_up = s->config.give_up,
		.report = s->config.report,
		.ctx = s->config.ctx,
	};
	struct pfs_build build;

	return check_build(&s->kernel, err) ?: pfs_build_init(&build, &config, err)
		       ?: pfs_build_module(&build, s->path, sizeof(s->path), err);
}

/* Refuses files that are not modules of pfscope for the running kernel. */
static int check_module(const struct pfs_stap *s, const struct pfs_module *m, struct pfs_err *err)
{
	const char *magic = pfs_module_info(m, "vermagic");
	size_t len = strlen(s->kernel.release);

	if (!pfs_module_info(m, "pfscope"))
		return pfs_err_set(err, -EINVAL, "%s: not a module of pfscope: build one with `pfscope stap build%s'",
				   s->path, s->config.objects ? " --objects" : "");
	if (!pfs_module_info(m, "pfscope_objects") != !s->config.objects)
		return pfs_err_set(err, -EINVAL, "%s: records %s: build one with `pfscope stap build%s'", s->path,
				   s->config.objects ? "faults, not kernel objects" : "kernel objects, not faults",
				   s->config.objects ? " --objects" : "");
	if (magic && (strncmp(magic, s->kernel.release, len) || magic[len] != ' '))
		return pfs_err_set(err, -ENOEXEC,
				   "%s: built for kernel %.*s, but %s is running: pfscope stap build -r %s -o FILE",
				   s->path, (int)strcspn(magic, " "), magic, s->kernel.release, s->kernel.release);
	return 0;
}

static int note_module(struct pfs_stap *s, const struct pfs_module *m)
{
	const char *probes = pfs_module_info(m, "pfscope_probes");
	const char *by = pfs_module_info(m, "pfscope_systemtap");
	char version[64];
	int ret = 0;

	if (probes)
		ret = stap_note(&s->base, 0, PFS_FACT(PROBES, .text = probes));
	if (!ret && by) {
		snprintf(version, sizeof(version), "%.*s%s", (int)strcspn(by, "_"), by,
			 strchr(by, '_') ? " with a changed runtime" : "");
		ret = stap_note(&s->base, 0, PFS_FACT(SYSTEMTAP, .text = version));
	}
	return ret ? ret : stap_note_recording(s, PFS_FACT(MODULE, .text = s->path));
}

/* The loader knows the copy before it exists, so it is removed whichever process is killed. */
static int copy_module(struct pfs_stap *s, struct pfs_module *m, struct pfs_err *err)
{
	const char *dir = getenv("TMPDIR");

	pfs_owner_name(s->config.owner, '_', s->name);
	pfs_module_rename(m, s->name);
	if (!dir || !*dir)
		dir = "/tmp";
	if (pfs_cache_check_folder(dir, err))
		return -EPERM;
	snprintf(s->temp_dir, sizeof(s->temp_dir), "%s/%s", dir, s->name);
	snprintf(s->temp_file, sizeof(s->temp_file), "%s/%s.ko", s->temp_dir, s->name);
	pfs_loader_keep(&s->loader, s->temp_dir, s->temp_file);
	if (mkdir(s->temp_dir, 0700))
		return pfs_err_set(err, -errno, "cannot create %s: %s; TMPDIR chooses another folder", s->temp_dir,
				   strerror(errno));
	return pfs_module_write(m, s->temp_file, err);
}

/* staprun derives the module's name from the file's. A loaded module without a reader is a leftover. */
static int use_in_place(struct pfs_stap *s, const struct pfs_module *m, struct pfs_err *err)
{
	char copy[PATH_MAX], *base;

	if (!geteuid() && (!realpath(s->path, copy) || !pfs_only_root_writes(copy)))
		return pfs_err_set(
			err, -EPERM,
			"%s: staprun opens a signed module by its name: it must be in a folder that only root can exchange",
			s->path);
	snprintf(copy, sizeof(copy), "%s", s->path);
	base = basename(copy);
	base[strcspn(base, ".")] = '\0';
	if (strcmp(base, m->name))
		return pfs_err_set(
			err, -EINVAL,
			"%s: the module in it is called %s, and staprun expects a file of that name: rename it to %s.ko",
			s->path, m->name, m->name);
	snprintf(s->name, sizeof(s->name), "%s", m->name);
	s->in_place = true;
	if (!pfs_module_loaded(s->name))
		return 0;
	if (pfs_module_reader(s->name) || pfs_module_remove(s->name, NULL))
		return pfs_err_set(
			err, -EEXIST,
			"%s is already loaded: another recording uses it; a copy built under another name can be loaded beside it",
			s->path);
	return 0;
}

int stap_choose_module(struct pfs_stap *s, struct pfs_err *err)
{
	const char *file = ((const struct stap_options *)s->config.options)->module;
	struct pfs_module m = { 0 };
	int fd = -1, ret = (s->config.comm ? check_comm(s->config.comm, err) : 0) ?: pfs_kernel_check_modules(NULL, err)
			  ?: check_staprun(err);

	if (!ret && file) {
		snprintf(s->path, sizeof(s->path), "%s", file);
		ret = fd = pfs_cache_open_module(s->path, 0, err);
	} else if (!ret) {
		ret = fd = build_module(s, err);
	}
	if (ret >= 0)
		ret = pfs_module_read(&m, fd, s->path, err) ?: check_module(s, &m, err);
	if (!ret && note_module(s, &m))
		ret = pfs_err_set(err, -ENOMEM, "no memory for a note");
	if (!ret)
		ret = pfs_loader_start(&s->loader, err);
	if (!ret && (pfs_module_signed(&m) || (geteuid() && !in_group("stapdev"))))
		ret = use_in_place(s, &m, err);
	else if (!ret)
		ret = copy_module(s, &m, err);
	pfs_module_free(&m);
	pfs_close(fd);
	return ret;
}

/* ---- staprun's arguments ---- */

/* Of each CPU; staprun accepts 1 to 4095. */
static unsigned int buffer_mb(const struct pfs_stap *s)
{
	unsigned int mb = s->config.buffer_kb / 1024 + !!(s->config.buffer_kb % 1024);
	long nr_cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (!mb)
		mb = nr_cpus > BUFFERS_MB / BUFFER_MB ? BUFFERS_MB / nr_cpus : BUFFER_MB;
	return mb < 1 ? 1 : mb > 4095 ? 4095 : mb;
}

/* MAXSTRINGLEN of build.c, and a name before it. */
#define WORD_MAX (PIDS_MAX + 32)

/* "ffffffffc0001000-ffffffffc0001080,..."; false: too long for a module. */
static bool write_sites(const struct pfs_symbols *symbols, const char *name, char *text, size_t size)
{
	uint64_t start, end = 0;
	size_t len = 0;

	while (len < size && pfs_symbols_next(symbols, name, &start, &end))
		len += snprintf(text + len, size - len, "%s%" PRIx64 "-%" PRIx64, len ? "," : "", start, end);
	return len < size;
}

/* Whose accesses are watched; room for 2. Returns their number, or -errno with err set. */
static int watch_arguments(const struct pfs_stap *s, char words[][WORD_MAX], struct pfs_err *err)
{
	const struct pfs_object_choice *o = s->config.objects;
	struct pfs_watch_choice choice;
	char sites[PIDS_MAX + 1] = "";

	pfs_watch_choice_read(&choice, o->watch, NULL); /* check() has */
	if (choice.site && !s->symbols)
		return pfs_err_set(err, -EPERM,
				   "--watch: the kernel hides the addresses of its functions (/proc/kallsyms)");
	if (choice.site && !write_sites(s->symbols, choice.site, sites, sizeof(sites)))
		return pfs_err_set(err, -E2BIG, "--watch: site=%s: too many functions of that name", choice.site);
	if (choice.site && !*sites)
		return pfs_err_set(err, -ENOENT, "--watch: site=%s: the kernel has no such function", choice.site);
	if (choice.cache && strlen(choice.cache) > PIDS_MAX)
		return pfs_err_set(err, -E2BIG, "--watch: a name of more than %d bytes", PIDS_MAX);
	snprintf(words[0], WORD_MAX, "pfs_watch=%" PRIu64, o->watch_ns);
	if (choice.site)
		snprintf(words[1], WORD_MAX, "pfs_watch_sites=\"%s\"", sites);
	else if (choice.cache)
		snprintf(words[1], WORD_MAX, "pfs_watch_cache=\"%s\"", choice.cache);
	return 1 + (choice.site || choice.cache);
}

/* Which kernel objects; room for 6. Returns their number, or -errno with err set. */
static int object_arguments(const struct pfs_stap *s, char words[][WORD_MAX], struct pfs_err *err)
{
	const struct pfs_object_choice *o = s->config.objects;
	int nr = 0, watch;

	if (o->cache)
		snprintf(words[nr++], WORD_MAX, "pfs_cache=\"%s\"", o->cache);
	if (o->min)
		snprintf(words[nr++], WORD_MAX, "pfs_min=%" PRIu64, o->min);
	if (o->max)
		snprintf(words[nr++], WORD_MAX, "pfs_max=%" PRIu64, o->max);
	if (o->pages)
		snprintf(words[nr++], WORD_MAX, "pfs_pages=1");
	watch = o->watch ? watch_arguments(s, words + nr, err) : 0;
	return watch < 0 ? watch : nr + watch;
}

/* What is hidden; room for 4. Returns their number. */
static int hide_arguments(const struct pfs_stap *s, char words[][WORD_MAX])
{
	const struct stap_microset *m = &((const struct stap_options *)s->config.options)->microset;
	int nr = 0;

	if (!m->pages && !s->hides)
		return 0;
	snprintf(words[nr++], WORD_MAX, "pfs_hide=\"%s\"", stap_microset_regions(m));
	if (m->pages)
		snprintf(words[nr++], WORD_MAX, "pfs_microset=%u", m->pages);
	else
		snprintf(words[nr++], WORD_MAX, "pfs_refault=1");
	if (m->by_process)
		snprintf(words[nr++], WORD_MAX, "pfs_by_process=1");
	if (s->config.marks)
		snprintf(words[nr++], WORD_MAX, "pfs_mark=\"%s\"", s->config.marks);
	return nr;
}

int stap_load(struct pfs_stap *s, struct pfs_err *err)
{
	char buffer[16], pids[WORD_MAX], comm[64], uid[32], words[6][WORD_MAX];
	const char *argv[24] = { "staprun", "-C", "never", "-b", buffer };
	unsigned int nr = 5;
	int more;

	if (s->pids && strlen(s->pids) > PIDS_MAX)
		return pfs_err_set(err, -E2BIG, "too many processes given by number; use --comm or --user instead");
	snprintf(buffer, sizeof(buffer), "%u", buffer_mb(s));
	argv[nr++] = s->in_place ? s->path : s->temp_file;
	if (s->pids) {
		snprintf(pids, sizeof(pids), "pfs_pids=%s", s->pids);
		argv[nr++] = pids;
	}
	if (s->config.comm) {
		snprintf(comm, sizeof(comm), "pfs_comm=\"%s\"", s->config.comm);
		argv[nr++] = comm;
	}
	if (s->config.all_of_user) {
		snprintf(uid, sizeof(uid), "pfs_uid=%u", s->config.uid);
		argv[nr++] = uid;
	}
	if (s->config.no_follow)
		argv[nr++] = "pfs_follow=0";
	more = s->config.objects ? object_arguments(s, words, err) : hide_arguments(s, words);
	for (int i = 0; i < more; i++)
		argv[nr++] = words[i];
	return more < 0 ? more : pfs_loader_load(&s->loader, argv, s->name, err);
}
