/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope stap: runs one step of the SystemTap source: print, check or build.
 */
#include "module/build.h"
#include "base/atomic_file.h"
#include "base/table.h"
#include "base/units.h"
#include "base/write_all.h"
#include "common/command.h"
#include "module/module.h"
#include "module/overlay.h"

#include <argp.h>
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stap_cmd {
	const struct step *step;
	const char *release; /* -r, NULL: the running kernel */
	const char *file;    /* -o */
	bool no_dwarf, objects;
	int stop_fd;
};

/* A step of `pfscope stap'; run() returns the exit status. */
struct step {
	const char *name;
	int (*run)(struct stap_cmd *cmd);
};

/* ---- print ---- */

static int print_script(struct stap_cmd *cmd)
{
	printf("// pfscope " PFS_VERSION "; stap's argument is \"%s\"\n%s",
	       cmd->no_dwarf || cmd->objects ? "plain" : "dwarf", cmd->objects ? pfs_objects_script : pfs_script);
	if (!fflush(stdout))
		return EXIT_OK;
	message("standard output: %s", strerror(errno));
	return EXIT_FAILED;
}

/* ---- shared by check and build ---- */

static bool give_up(void *ctx)
{
	return stop_request(((struct stap_cmd *)ctx)->stop_fd);
}

static int init_build(struct stap_cmd *cmd, struct pfs_build *build, struct pfs_err *err)
{
	const struct pfs_build_config config = {
		.release = cmd->release,
		.no_dwarf = cmd->no_dwarf,
		.objects = cmd->objects,
		.give_up = give_up,
		.report = report_message,
		.ctx = cmd,
	};
	struct stop_before before;

	cmd->stop_fd = stop_open(&before);
	return pfs_build_init(build, &config, err);
}

/* ---- check ---- */

static const struct pfs_column columns[] = {
	{ "probe", "probe", PFS_COLUMN_LEFT },
	{ "state", "here", PFS_COLUMN_LEFT },
	{ "records", "records", PFS_COLUMN_LEFT },
	{ NULL, NULL, 0 },
};

static void put_build(const struct pfs_build *b)
{
	char text[24];

	printf("kernel %s, SystemTap %u.%u\n", b->kernel.release, b->version / 100, b->version % 100);
	if (b->dwarf)
		printf("probes are placed with debuginfo (%s)\n", b->kernel.vmlinux);
	else
		printf("probes are placed without debuginfo%s; what is recorded is the same\n",
		       b->config.no_dwarf || b->config.objects ? "" : " (none is installed for this kernel)");
	if (b->overlay)
		printf("SystemTap's runtime is used with %s changed, from %s\n",
		       pfs_plural(text, sizeof(text), pfs_overlay_nr_files(b->overlay), "file"), b->runtime);
	if (b->kernel.running && b->kernel.lockdown[0])
		printf("this kernel is locked down (%s) and accepts signed modules only\n", b->kernel.lockdown);
	putchar('\n');
}

/* Prints the table. Returns the number of missing required probes, or -ENOMEM. */
static int put_points(const struct pfs_point *points, unsigned int nr)
{
	struct pfs_table *table = pfs_table_new(columns);
	int missing = 0, ret;

	if (!table)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++) {
		const struct pfs_point *p = &points[i];
		char name[sizeof(p->name) + 16];

		stpcpy(stpcpy(name, p->name), p->at_return ? ", return" : "");
		pfs_table_word(table, name);
		pfs_table_word(table, p->state == PFS_POINT_YES	      ? "yes"
				      : p->state == PFS_POINT_UNKNOWN ? "not known"
				      : p->needed		      ? "no, needed"
								      : "no");
		pfs_table_word(table, p->records ? p->records : "");
		missing += p->needed && p->state == PFS_POINT_NO;
	}
	ret = pfs_table_error(table);
	if (!ret)
		pfs_table_text(table, stdout, NULL);
	pfs_table_free(table);
	return ret ? ret : missing;
}

static int check_points(struct stap_cmd *cmd)
{
	struct pfs_point points[PFS_POINTS_MAX];
	struct pfs_err err = { "" };
	struct pfs_build build;
	int ret = init_build(cmd, &build, &err), missing;

	if (!ret)
		ret = pfs_build_check(&build, points, &err);
	if (ret < 0)
		return status_of(ret, &err);
	put_build(&build);
	missing = put_points(points, ret);
	if (missing < 0)
		return status_of(pfs_err_set(&err, missing, "no memory for a table"), &err);
	if (missing)
		printf("\n%d required probe%s cannot be placed: --source=stap cannot record on this kernel\n", missing,
		       missing == 1 ? "" : "s");
	return missing ? EXIT_FAILED : EXIT_OK;
}

/* ---- build ---- */

/* staprun derives the module's name from the file's, and the kernel accepts only short plain names. */
static int module_name(const char *file, char *name, size_t size, struct pfs_err *err)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
	size_t len = strlen(base);

	if (len > 3 && !strcmp(base + len - 3, ".ko"))
		len -= 3;
	else
		len = 0;
	if (!len || len > PFS_MODULE_NAME_MAX || len >= size ||
	    strspn(base, "abcdefghijklmnopqrstuvwxyz0123456789_") != len)
		return pfs_err_set(err, -EINVAL, "%s: a module name must be 1 to %d of a-z, 0-9 and _, with suffix .ko",
				   file, PFS_MODULE_NAME_MAX);
	snprintf(name, size, "%.*s", (int)len, base);
	return 0;
}

/* Under a name of its own beside the final one. */
static int put_module(int fd, const char *path, const char *name, const char *file, struct pfs_err *err)
{
	struct pfs_atomic_file out;
	struct pfs_module module;
	int ret = pfs_module_read(&module, fd, path, err);

	if (ret)
		return ret;
	pfs_module_rename(&module, name);
	ret = pfs_atomic_file_open(&out, file, PFS_ATOMIC_FILE_PRIVATE, err);
	if (!ret) {
		ret = pfs_write_all(out.fd, module.bytes, module.len);
		if (ret)
			pfs_err_set(err, ret, "%s: cannot write: %s", file, strerror(-ret));
		else
			ret = pfs_atomic_file_keep(&out, err);
		pfs_atomic_file_drop(&out);
	}
	pfs_module_free(&module);
	return ret;
}

static int build_module(struct stap_cmd *cmd)
{
	char path[PATH_MAX], name[PFS_MODULE_NAME_MAX + 1];
	struct pfs_err err = { "" };
	struct pfs_build build;
	int fd = -1, ret = module_name(cmd->file, name, sizeof(name), &err);

	if (!ret)
		ret = init_build(cmd, &build, &err);
	if (!ret)
		ret = fd = pfs_build_module(&build, path, sizeof(path), &err);
	if (ret >= 0)
		ret = put_module(fd, path, name, cmd->file, &err);
	pfs_close(fd);
	return status_of(ret, &err);
}

/* ---- the command line ---- */

static const struct step steps[] = {
	{ "print", print_script },
	{ "check", check_points },
	{ "build", build_module },
};

static const struct argp_option options[] = {
	{ "release", 'r', "RELEASE", 0, "Kernel release (default: the running kernel)", 0 },
	{ "output-file", 'o', "FILE", 0, "build: write the module to FILE (NAME.ko)", 0 },
	{ "objects", OPTION_FLAG(struct stap_cmd, objects), NULL, 0,
	  "The script and the module of `pfscope kmap record', which records kernel objects instead of faults", 0 },
	{ "no-dwarf", OPTION_FLAG(struct stap_cmd, no_dwarf), NULL, 0,
	  "Place probes without debuginfo even if it is installed", 0 },
	{ 0 },
};

static void choose(struct stap_cmd *cmd, const char *name, struct argp_state *state)
{
	if (cmd->step)
		argp_error(state, "%s: only one step can be given", name);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (!strcmp(steps[i].name, name))
			cmd->step = &steps[i];
	if (!cmd->step)
		argp_error(state, "%s: must be print, check or build", name);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stap_cmd *cmd = state->input;

	switch (key) {
	case 'r':
		cmd->release = arg;
		return 0;
	case 'o':
		cmd->file = arg;
		return 0;
	case ARGP_KEY_ARG:
		choose(cmd, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (!cmd->step)
			argp_error(state, "no step given (print, check or build)");
		if (cmd->step->run == build_module && !cmd->file)
			argp_error(state, "build: no file given (-o FILE)");
		if (cmd->step->run != build_module && cmd->file)
			argp_error(state, "-o: only with build");
		return 0;
	default:
		return option_store(cmd, key, arg);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "print|check|build",
	.doc = "Run one step of --source=stap. `print' prints the SystemTap script. `check' lists which of its probes this kernel has, and what each records. `build' builds a module for --module, for a machine without compiler or debuginfo, or for members of the group stapusr.\vExamples:\n"
	       "  pfscope stap check\n"
	       "  pfscope stap build -r 6.1.0-56-cloud-amd64 -o pfscope.ko\n"
	       "  pfscope stap print | less\n"
	       "\n"
	       "Exit status: 0; 1 on failure, or if a required probe cannot be placed; 2 for wrong usage.",
};

int cmd_stap(int argc, char **argv)
{
	struct stap_cmd cmd = { .stop_fd = -1 };

	if (cannot_parse(&argp, argc, argv, 0, &cmd))
		return EXIT_FAILED;
	return cmd.step->run(&cmd);
}
