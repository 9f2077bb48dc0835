/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One table of all known failures. A row: the stages, the texts to look for in the output (all of them, "|" between),
 * the error, the message. In a message %M is the module, %R the kernel's release, %L why it may refuse modules,
 * %Q the line with the first text, %E the first error in the output, %S the probe concerned.
 *
 * The texts are SystemTap's (4.x to 5.x) and strerror's, which it appends.
 */
#include "module/diagnose.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ANY    (PFS_STAGE_BUILD | PFS_STAGE_LOAD | PFS_STAGE_RUN)
#define LOADED (PFS_STAGE_LOAD | PFS_STAGE_RUN)

static const struct row {
	unsigned int stages;
	const char *texts;
	int err;
	const char *message;
} rows[] = {
	/* ---- building ---- */
	{ PFS_STAGE_BUILD, "build/.config|failed with error", -ENOENT,
	  "the headers of kernel %R, which SystemTap needs, are not installed: install linux-headers-%R, or build the module on another machine and use --module" },
	{ PFS_STAGE_BUILD, "machine owner key", -EKEYREJECTED,
	  "this kernel accepts signed modules only (lockdown or secure boot), and SystemTap has no signing key (%Q): enroll one (stap-server, mokutil), or boot with secure boot off" },
	{ PFS_STAGE_BUILD, "MOK", -EKEYREJECTED,
	  "this kernel accepts signed modules only (lockdown or secure boot), and SystemTap has no signing key (%Q): enroll one (stap-server, mokutil), or boot with secure boot off" },
	{ PFS_STAGE_BUILD, "task_work_cancel", -ENOTSUP,
	  "this SystemTap is older than kernel %R and does not compile against it (task_work_cancel): a SystemTap from 5.2 on does" },
	{ PFS_STAGE_BUILD, "Linux has since 6.1", -ENOTSUP,
	  "kernel %R is too old for pfscope's probes, which need Linux 6.1; --source=ftrace works there" },
	{ PFS_STAGE_BUILD, "No space left on device", -ENOSPC,
	  "no space left to build the module: %Q; TMPDIR and PFSCOPE_CACHE choose another folder" },
	{ PFS_STAGE_BUILD, "Pass 4: compilation failed", -ENOEXEC,
	  "the probe module does not compile for kernel %R: %E; a newer SystemTap may, or --source=ftrace" },
	{ PFS_STAGE_BUILD, "cannot find module kernel debuginfo|Pass 2: analysis failed", -ENOENT,
	  "no debuginfo of kernel %R is installed: use --no-dwarf" },
	{ PFS_STAGE_BUILD, "Pass 2: analysis failed", -ENOTSUP,
	  "kernel %R has no place for %S; `pfscope stap check' lists the probes that it has" },

	/* ---- loading ---- */
	{ LOADED, "can only use unsigned modules within", -EPERM,
	  "you may load modules only from /lib/modules/%R/systemtap: ask root to put one there (pfscope stap build -r %R -o FILE) and name it with --module, or become a member of stapdev" },
	{ LOADED, "trying to run systemtap as a normal user", -EPERM,
	  "loading a module needs root, or membership in the groups stapusr and stapdev" },
	{ LOADED, "effective user ID of staprun must be set to the root", -EPERM,
	  "staprun is not set up to be run by users (setuid root): try sudo" },
	{ LOADED, "Couldn't insert module|Function not implemented", -ENOSYS,
	  "this kernel was built without loadable modules: SystemTap cannot work on it; --source=ftrace records without" },
	{ LOADED, "Couldn't insert module|File exists", -EEXIST,
	  "%M is already loaded: another recording uses it (staprun -d removes one that was left behind); a copy of the file under another name can be loaded beside it" },
	{ LOADED, "Couldn't insert module|Required key not available", -EKEYREJECTED,
	  "this kernel accepts signed modules only (%Q): sign %M with a key that it trusts, or boot without module.sig_enforce and secure boot" },
	{ LOADED, "Couldn't insert module|Key was rejected", -EKEYREJECTED,
	  "this kernel accepts signed modules only (%Q): sign %M with a key that it trusts, or boot without module.sig_enforce and secure boot" },
	{ LOADED, "Couldn't insert module|Operation not permitted", -EPERM, "%L; --source=ftrace needs no module" },
	{ LOADED, "Couldn't insert module|Invalid module format", -ENOEXEC,
	  "%M was not built for the kernel that runs (%R): build it again, pfscope stap build -r %R" },
	{ LOADED, "Couldn't insert module|wrong symbol version", -ENOEXEC,
	  "%M was not built for the kernel that runs (%R): build it again, pfscope stap build -r %R" },
	{ LOADED, "Couldn't insert module|Unknown symbol", -ENOEXEC,
	  "%M needs what this kernel (%R) does not have: build it again for it, pfscope stap build -r %R" },
	{ LOADED, "Couldn't insert module|Cannot allocate memory", -ENOMEM,
	  "the kernel has no memory for the module and its buffer: use a smaller --buffer-size" },
	{ LOADED, "Couldn't insert module|Invalid parameters", -EINVAL,
	  "%M does not take pfscope's parameters: it was built by another version; build it again" },
	{ LOADED, "Build-id mismatch", -ENOEXEC,
	  "%M was built with the debuginfo of another build of kernel %R: install the one that fits, or use --no-dwarf" },
	{ LOADED, "Couldn't mount", -ENOENT, "debugfs, which SystemTap sends its data through, cannot be mounted: %Q" },
	{ LOADED, "registration error", -ENOTSUP,
	  "the kernel refused a probe (%Q): was it built without kprobes, or are they switched off (/sys/kernel/debug/kprobes/enabled)?" },
	{ LOADED, "--watch: ", -ENODEV, "%Q" },
	{ LOADED, "probe overhead|exceeded threshold", -EBUSY,
	  "SystemTap ended the recording because its probes took too much time; build the module again (this one has a time limit)" },
	{ LOADED, "Skipped too many probes", -EBUSY,
	  "SystemTap ended the recording because it had skipped too many probes; build the module again (this one has such a limit)" },
	{ LOADED, "Unexpected EOF in read", -EPIPE, "the module was removed while it ran" },
	{ LOADED, "control channel", -ENODEV,
	  "the module is loaded but staprun does not find it (%Q): is debugfs mounted on /sys/kernel/debug?" },
};

/* Writes the line around p to out, without "ERROR: " or "WARNING: ". */
static void put_line(FILE *out, const char *output, const char *p)
{
	while (p > output && p[-1] != '\n')
		p--;
	if (!strncmp(p, "ERROR: ", 7))
		p += 7;
	else if (!strncmp(p, "WARNING: ", 9))
		p += 9;
	fprintf(out, "%.*s", (int)strcspn(p, "\n"), p);
}

/* Where the first of the texts is, if all of them are there; else NULL. */
static const char *find_texts(const char *output, const char *texts)
{
	const char *first = NULL;

	while (*texts) {
		size_t len = strcspn(texts, "|");
		const char *p = memmem(output, strlen(output), texts, len);

		if (!p)
			return NULL;
		if (!first)
			first = p;
		texts += len + (texts[len] == '|');
	}
	return first;
}

/* The line with the first error, not a warning; else the first line. */
static const char *first_error(const char *output)
{
	static const char *const marks[] = {
		"ERROR: ", " error: ", "semantic error: ", "parse error: ", "rror: ",
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const char *p = strstr(output, marks[i]);

		if (p)
			return p;
	}
	return output + strspn(output, "\n ");
}

/* SystemTap's modules also return EPERM when they cannot start. */
static void put_refusal(FILE *out, const struct pfs_diagnosis *d)
{
	if (d->disabled)
		fputs("this kernel accepts no more modules until it is rebooted (kernel.modules_disabled is 1)", out);
	else if (!d->lockdown || !*d->lockdown)
		fputs("the kernel refused the module, or the module could not start: see dmesg (--buffer-size too large? a container?)",
		      out);
	else
		fprintf(out, "this kernel is locked down (%s) and accepts signed modules only", d->lockdown);
}

/* "        source: probe kernel.function("x") { ... }": the probe point alone. */
static void put_probe(FILE *out, const char *output)
{
	const char *p = strstr(output, "source: probe ");
	int len;

	if (!p) {
		put_line(out, output, first_error(output));
		return;
	}
	p += strlen("source: ");
	len = strcspn(p, "{\n");
	while (len > 0 && p[len - 1] == ' ')
		len--;
	fprintf(out, "%.*s", len, p);
}

static void expand(const char *message, const char *output, const char *at, const struct pfs_diagnosis *d,
		   struct pfs_err *err)
{
	char text[sizeof(err->msg) + 1] = "";
	FILE *out = fmemopen(text, sizeof(text) - 1, "w");

	for (const char *p = message; out && *p; p++) {
		if (*p != '%')
			fputc(*p, out);
		else if (*++p == 'M')
			fputs(d->module ? d->module : "the module", out);
		else if (*p == 'R')
			fputs(d->release ? d->release : "", out);
		else if (*p == 'L')
			put_refusal(out, d);
		else if (*p == 'S')
			put_probe(out, output);
		else
			put_line(out, output, *p == 'Q' ? at : first_error(output));
	}
	if (out)
		fclose(out);
	pfs_err_set(err, 0, "%s", text);
}

int pfs_diagnose(enum pfs_stage stage, const char *output, const struct pfs_diagnosis *d, struct pfs_err *err)
{
	const char *program = stage == PFS_STAGE_BUILD ? "stap" : "staprun";
	struct pfs_err quoted;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *at = rows[i].stages & stage ? find_texts(output, rows[i].texts) : NULL;

		if (!at)
			continue;
		expand(rows[i].message, output, at, d, err);
		return rows[i].err;
	}
	if (!*first_error(output))
		return pfs_err_set(err, -EIO, "%s failed without an error message", program);
	expand("%E", output, NULL, d, &quoted);
	return pfs_err_set(err, -EIO, "%s: %s", program, quoted.msg);
}

const char *pfs_warning_next(const char *output, char *line, int size)
{
	const char *p = strstr(output, "WARNING: ");
	int len;

	if (!p)
		return NULL;
	p += 9;
	len = strcspn(p, "\n");
	snprintf(line, size, "%.*s", len, p);
	return p + len;
}
