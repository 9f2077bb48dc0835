/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "module/build.h"

#include "base/units.h"
#include "base/write_all.h"
#include "module/diagnose.h"
#include "module/overlay.h"
#include "os/helper.h"
#include "os/program.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Modules in the cache. */
#define KEEP 16

/* -g: embedded C. No time limits: many faults would end a session. MAXSTRINGLEN: of the list of processes. */
static const char *const flags[] = { "-g", "--suppress-time-limits", "-DMAXSTRINGLEN=512", NULL };

static __attribute__((format(printf, 2, 3))) void report(const struct pfs_build *b, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (b->config.report)
		b->config.report(b->config.ctx, line);
}

/* How probes are placed, as in the note `probes'. */
static const char *probes_by(const struct pfs_build *b)
{
	return b->dwarf ? "dwarf" : "symbols";
}

static const char *script_of(const struct pfs_build *b)
{
	return b->config.objects ? pfs_objects_script : pfs_script;
}

/* ---- what is installed ---- */

int pfs_build_programs(struct pfs_err *err)
{
	static const struct {
		const char *name, *what, *package;
	} programs[] = { { "stap", "stap", "systemtap" },
			 { "make", "make", "make" },
			 { "gcc", "a C compiler", "gcc" } };
	char path[PATH_MAX];
	int ret;

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		ret = pfs_program_find(programs[i].name, path, err);
		if (ret && !strcmp(programs[i].name, "gcc"))
			ret = pfs_program_find("cc", path, ret == -EPERM ? NULL : err) ? ret : 0;
		if (ret == -EPERM)
			return ret;
		if (ret)
			return pfs_err_set(
				err, -ENOENT,
				"%s, which --source=stap needs, is not installed: install %s, or build the module elsewhere (pfscope stap build) and load it with --module",
				programs[i].what, programs[i].package);
	}
	return 0;
}

/* The user's choice of a runtime, or NULL. */
static const char *chosen_runtime(void)
{
	const char *chosen = getenv("SYSTEMTAP_RUNTIME");

	return chosen && *chosen ? chosen : NULL;
}

/* At its place beside the program: PREFIX/bin/stap, PREFIX/share/systemtap/runtime. */
static void find_runtime(struct pfs_build *b)
{
	const char *chosen = chosen_runtime();
	char real[PATH_MAX], *slash;

	if (chosen) {
		snprintf(b->runtime, sizeof(b->runtime), "%s", chosen);
		return;
	}
	if (realpath(b->stap, real)) {
		for (int i = 0; i < 2 && (slash = strrchr(real, '/')); i++)
			*slash = '\0';
		snprintf(b->runtime, sizeof(b->runtime), "%.*s/share/systemtap/runtime", PATH_MAX - 32, real);
		if (!access(b->runtime, R_OK | X_OK))
			return;
	}
	snprintf(b->runtime, sizeof(b->runtime), "/usr/share/systemtap/runtime");
}

/* What no module can replace. */
static int check_config(const struct pfs_build *b, struct pfs_err *err)
{
	static const struct {
		const char *line, *what;
	} needed[] = {
		{ "CONFIG_MODULES=y", "loadable modules" },
		{ "CONFIG_KPROBES=y", "kprobes" },
		{ "CONFIG_TRACEPOINTS=y", "tracepoints" },
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!pfs_kernel_config_has(&b->kernel, needed[i].line))
			return pfs_err_set(
				err, -ENOTSUP,
				"kernel %s was built without %s (%s), and SystemTap needs them; --source=ftrace may work there",
				b->kernel.release, needed[i].what, needed[i].line);
	return 0;
}

/* On a locked-down kernel SystemTap insists on signing keys, unless root hides the lockdown from it. */
static int check_lockdown(const struct pfs_build *b, struct pfs_err *err)
{
	const struct pfs_kernel *k = &b->kernel;

	if (!k->lockdown[0] || !geteuid())
		return 0;
	return pfs_err_set(
		err, -EPERM,
		"this kernel is locked down (%s), where SystemTap demands signing keys even to compile a module; as root pfscope can compile without them",
		k->lockdown);
}

int pfs_build_init(struct pfs_build *b, const struct pfs_build_config *config, struct pfs_err *err)
{
	int ret;

	memset(b, 0, sizeof(*b));
	b->config = *config;
	ret = pfs_kernel_check_modules(config->release, err)
		      ?: pfs_build_programs(err)
		      ?: pfs_kernel_find(&b->kernel, config->release, err)
		      ?: check_config(b, err)
		      ?: check_lockdown(b, err)
		      ?: pfs_cache_init(&b->cache, err);
	if (!ret)
		ret = pfs_program_find("stap", b->stap, err);
	find_runtime(b);
	b->dwarf = !config->no_dwarf && !config->objects && b->kernel.vmlinux[0];
	return ret;
}

/* ---- running stap ---- */

/* In a helper (os/helper.h): waits until pfscope has ended, and ends stap and the compilers that it started. */
static void end_stap(void *ctx, bool again)
{
	const struct timespec moment = { .tv_nsec = 10000000 };
	const pid_t *pid = ctx;
	char byte;

	(void)TEMP_FAILURE_RETRY(recv(PFS_HELPER_FD, &byte, 1, 0));
	for (int i = 0; i < 500 && *pid && !kill(-*pid, i ? 0 : SIGTERM); i++)
		nanosleep(&moment, NULL);
	if (*pid)
		kill(-*pid, SIGKILL);
}

/* pfs_program_run(), and whatever ends pfscope meanwhile ends stap. */
static int run_kept(struct pfs_program *program, struct pfs_program_result *result, struct pfs_err *err)
{
	pid_t *pid = mmap(NULL, sizeof(*pid), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const struct pfs_helper helper = { "pfscope-builder", (int[]){ -1 }, 1, end_stap, pid };
	int fd, ret;

	if (pid == MAP_FAILED)
		return pfs_err_set(err, -ENOMEM, "no memory to run stap");
	ret = fd = pfs_helper_connect(&helper, err);
	if (fd >= 0) {
		program->pid = pid;
		ret = pfs_program_run(program, result, err);
		close(fd);
	}
	munmap(pid, sizeof(*pid));
	return ret;
}

struct stap_run {
	const char *pass;      /* "-p4" */
	const char *dir;       /* of the script; the working directory */
	const char *module;    /* its name in messages */
	const char *words[12]; /* further arguments, before the script; NULL ends them */
};

/* 0 if it succeeded, else -errno with err set to the cause and the remedy. */
static int run_stap(struct pfs_build *b, const struct stap_run *run, struct pfs_program_result *result,
		    struct pfs_err *err)
{
	const struct pfs_diagnosis d = { run->module, b->kernel.release, b->kernel.lockdown, false };
	char dir[PATH_MAX], runtime[PATH_MAX + 32];
	const char *env[] = { "LC_ALL=C", dir, runtime, NULL };
	const char *argv[48];
	struct pfs_program program = {
		.argv = argv,
		.env = env,
		.dir = run->dir,
		.hide_security = b->kernel.lockdown[0],
		.dies_with_parent = true,
		.give_up = b->config.give_up,
		.give_up_ctx = b->config.ctx,
	};
	unsigned int nr = 0;
	int ret;

	snprintf(dir, sizeof(dir), "SYSTEMTAP_DIR=%s/systemtap", b->cache.dir);
	snprintf(runtime, sizeof(runtime), "SYSTEMTAP_RUNTIME=%s", b->runtime);
	argv[nr++] = b->stap;
	for (unsigned int i = 0; flags[i]; i++)
		argv[nr++] = flags[i];
	argv[nr++] = "-r";
	argv[nr++] = b->tree[0] ? b->tree : b->kernel.release;
	argv[nr++] = run->pass;
	for (unsigned int i = 0; run->words[i]; i++)
		argv[nr++] = run->words[i];
	for (const char *const *option = pfs_overlay_options(b->overlay); *option; option++)
		argv[nr++] = *option;
	argv[nr++] = "probe.stp";
	argv[nr++] = b->dwarf ? "dwarf" : "plain";
	argv[nr] = NULL;
	ret = run_kept(&program, result, err);
	if (!ret && WIFSIGNALED(result->status))
		ret = pfs_err_set(err, -EIO, "stap was killed by signal %d while it built %s", WTERMSIG(result->status),
				  run->module);
	else if (!ret && !pfs_program_succeeded(result))
		ret = pfs_diagnose(PFS_STAGE_BUILD, pfs_output_text(&result->error), &d, err);
	return ret;
}

static int find_version(struct pfs_build *b, struct pfs_err *err)
{
	const char *const argv[] = { b->stap, "-V", NULL };
	const struct pfs_program program = { .argv = argv };
	struct pfs_program_result result = { 0 };
	int ret = pfs_program_run(&program, &result, err);

	if (!ret) { /* the stream differs by version */
		b->version = pfs_stap_version(pfs_output_text(&result.out));
		if (!b->version)
			b->version = pfs_stap_version(pfs_output_text(&result.error));
		if (!b->version)
			ret = pfs_err_set(err, -EINVAL, "%s: stap -V prints no version", b->stap);
	}
	pfs_program_result_free(&result);
	return ret;
}

static int choose_runtime(struct pfs_build *b, struct pfs_err *err)
{
	char overlay[PATH_MAX];
	unsigned int changes;
	char files[24];
	int ret = find_version(b, err);

	if (ret || chosen_runtime())
		return ret;
	changes = pfs_overlay_needed(b->version, b->runtime, &b->kernel);
	if (!changes)
		return 0;
	ret = pfs_overlay_make(b->cache.dir, b->version, b->runtime, changes, overlay, sizeof(overlay), err);
	if (ret)
		return ret;
	snprintf(b->runtime, sizeof(b->runtime), "%s", overlay);
	b->overlay = changes;
	report(b,
	       "SystemTap %u.%u does not compile against kernel %s as it is: its runtime is used with %s changed, from %s",
	       b->version / 100, b->version % 100, b->kernel.release,
	       pfs_plural(files, sizeof(files), pfs_overlay_nr_files(changes), "file"), overlay);
	return 0;
}

/* ---- the cache ---- */

static uint64_t hash_of_all(const struct pfs_build *b)
{
	uint64_t hash = pfs_kernel_identity(&b->kernel, b->dwarf);
	struct stat st;

	hash = pfs_hash(hash, script_of(b), strlen(script_of(b)));
	for (unsigned int i = 0; flags[i]; i++)
		hash = pfs_hash(hash, flags[i], strlen(flags[i]) + 1);
	hash = pfs_hash(hash, b->dwarf ? "dwarf" : "plain", 6);
	hash = pfs_hash(hash, b->runtime, strlen(b->runtime) + 1);
	hash = pfs_hash(hash, (const int[]){ PFS_OVERLAY_VERSION }, sizeof(int));
	if (!stat(b->stap, &st)) {
		hash = pfs_hash(hash, &st.st_size, sizeof(st.st_size));
		hash = pfs_hash(hash, &st.st_mtim.tv_sec, sizeof(st.st_mtim.tv_sec));
	}
	return hash;
}

/* Without debuginfo SystemTap needs a list of the kernel's functions. */
static int make_tree(struct pfs_build *b, const char *script, struct pfs_err *err)
{
	char dir[PATH_MAX];
	bool unchecked;
	int ret;

	if (b->dwarf || pfs_kernel_map_real(&b->kernel))
		return 0;
	snprintf(dir, sizeof(dir), "%s/tree-%s", b->cache.dir, b->kernel.release);
	ret = pfs_tree_make(dir, &b->kernel, script, b->tree, sizeof(b->tree), &unchecked, err);
	if (!ret && unchecked)
		report(b,
		       "no list of the functions of kernel %s is installed (/boot/System.map-%s is a stub): a probe that the kernel lacks fails only when the module is loaded",
		       b->kernel.release, b->kernel.release);
	return ret;
}

/* A folder of our own (the cache is locked), always the same one for the sake of stap's own cache. */
static int make_work_dir(struct pfs_build *b, const char *dir, const char *script, struct pfs_err *err)
{
	char path[PATH_MAX + 64];
	FILE *f = NULL;
	int ret = pfs_cache_remove_tree(dir);

	if (ret)
		return pfs_err_set(err, ret, "cannot remove %s: %s", dir, strerror(-ret));
	snprintf(path, sizeof(path), "%s/probe.stp", dir);
	if (mkdir(dir, 0700) || !(f = fopen(path, "we")) || fputs(script, f) < 0 || fflush(f))
		ret = pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
	else
		ret = make_tree(b, script, err);
	if (f)
		fclose(f);
	return ret;
}

/* modinfo describes the module to the pfscope that loads it, perhaps on another machine. */
static int compile(struct pfs_build *b, const char *dir, void *ctx, struct pfs_err *err)
{
	const char *path = ctx;
	char probes[64], by[64], made[PATH_MAX];
	const struct stap_run run = { "-p4",
				      dir,
				      path,
				      { "-m", "pfscope", "--modinfo", "pfscope=" PFS_VERSION, "--modinfo", probes,
					"--modinfo", by, b->config.objects ? "--modinfo" : NULL, "pfscope_objects=yes",
					NULL } };
	struct pfs_program_result result = { 0 };
	int ret;

	snprintf(probes, sizeof(probes), "pfscope_probes=%s", probes_by(b));
	snprintf(by, sizeof(by), "pfscope_systemtap=%u.%u%s", b->version / 100, b->version % 100,
		 b->overlay ? "_overlay" : "");
	report(b, "compiling the probe module for kernel %s, %s; this takes a while and is done once",
	       b->kernel.release, b->dwarf ? "with its debuginfo" : "without debuginfo");
	ret = run_stap(b, &run, &result, err);
	snprintf(made, sizeof(made), "%s/pfscope.ko", dir);
	if (!ret && chmod(made, 0600))
		ret = pfs_err_set(err, -errno, "%s: %s", made, strerror(errno));
	if (!ret && rename(made, path))
		ret = pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
	pfs_program_result_free(&result);
	return ret;
}

static bool is_made(const char *made)
{
	int fd = made ? pfs_cache_open_module(made, O_NOFOLLOW, NULL) : -1;

	pfs_close(fd);
	return fd >= 0;
}

/*
 * Locks the cache against other builds for this kernel with the same kind of probes. Unless `made` (may be NULL) was
 * built in the meantime, fn() gets a folder with the script in it, which is removed afterwards.
 */
static int with_script(struct pfs_build *b, const char *script, const char *made,
		       int (*fn)(struct pfs_build *b, const char *dir, void *ctx, struct pfs_err *err), void *ctx,
		       struct pfs_err *err)
{
	char what[192], dir[PATH_MAX];
	int ret = pfs_cache_make(&b->cache, err);

	snprintf(what, sizeof(what), "%s-%s", b->kernel.release, probes_by(b));
	snprintf(dir, sizeof(dir), "%s/build-%s", b->cache.dir, what);
	if (!ret)
		ret = pfs_cache_lock(&b->cache, what, b->config.give_up, b->config.report, b->config.ctx, err);
	if (!ret && !is_made(made)) {
		ret = choose_runtime(b, err) ?: make_work_dir(b, dir, script, err) ?: fn(b, dir, ctx, err);
		pfs_cache_remove_tree(dir);
	}
	pfs_cache_unlock(&b->cache);
	return ret;
}

int pfs_build_module(struct pfs_build *b, char *buf, size_t size, struct pfs_err *err)
{
	int ret;

	snprintf(buf, size, "%s/pfscope-%s-%s-%016" PRIx64 ".ko", b->cache.dir, b->kernel.release, probes_by(b),
		 hash_of_all(b));
	ret = pfs_cache_open_module(buf, O_NOFOLLOW, err);
	if (ret != -ENOENT)
		return ret;
	ret = with_script(b, script_of(b), buf, compile, buf, err);
	if (ret)
		return ret;
	pfs_cache_trim(&b->cache, KEEP);
	return pfs_cache_open_module(buf, O_NOFOLLOW, err);
}

static int resolve(struct pfs_build *b, const char *dir, void *ctx, struct pfs_err *err)
{
	const struct stap_run run = { "-p2", dir, "the module", { "-v", NULL } };
	unsigned int nr = pfs_points_of(script_of(b), ctx);
	struct pfs_program_result result = { 0 };
	int ret = run_stap(b, &run, &result, err);

	if (!ret) {
		FILE *symbols = pfs_kernel_symbols(&b->kernel);

		pfs_points_find(ctx, nr, pfs_output_text(&result.out));
		pfs_points_look_up(ctx, nr, symbols);
		if (symbols)
			fclose(symbols);
	}
	pfs_program_result_free(&result);
	return ret ? ret : (int)nr;
}

int pfs_build_check(struct pfs_build *b, struct pfs_point points[PFS_POINTS_MAX], struct pfs_err *err)
{
	char *optional = pfs_script_optional(script_of(b));
	int ret = optional ? with_script(b, optional, NULL, resolve, points, err)
			   : pfs_err_set(err, -ENOMEM, "no memory for the script");

	free(optional);
	return ret;
}
