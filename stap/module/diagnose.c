/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row: in which stage, the words to look for (all of them, "|" between), the error, the message. In a
 * message %M is the module, %R the kernel's release, %L why it may refuse modules, %Q the line of the program
 * in which the first words stand, %E its first error, %S the probe that it is about.
 *
 * Words are SystemTap's (4.x to 5.x) and strerror's, which it appends.
 */
#include "module/diagnose.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ANY    (PFS_STAGE_BUILD | PFS_STAGE_LOAD | PFS_STAGE_RUN)
#define LOADED (PFS_STAGE_LOAD | PFS_STAGE_RUN)

static const struct row {
	unsigned int stages;
	const char *words;
	int err;
	const char *message;
} rows[] = {
	/* ---- building ---- */
	{ PFS_STAGE_BUILD, "build/.config|failed with error", -ENOENT,
	  "the headers of kernel %R are not here, and SystemTap compiles against them: install "
	  "linux-headers-%R, or build on another machine and use --module" },
	{ PFS_STAGE_BUILD, "machine owner key", -EKEYREJECTED,
	  "this kernel takes signed modules only (lockdown or secure boot), and SystemTap has no "
	  "key to sign with (%Q): enroll one (stap-server, mokutil), or boot with secure boot "
	  "off" },
	{ PFS_STAGE_BUILD, "MOK", -EKEYREJECTED,
	  "this kernel takes signed modules only (lockdown or secure boot), and SystemTap has no "
	  "key to sign with (%Q): enroll one (stap-server, mokutil), or boot with secure boot "
	  "off" },
	{ PFS_STAGE_BUILD, "task_work_cancel", -ENOTSUP,
	  "this SystemTap is older than kernel %R and does not compile against it "
	  "(task_work_cancel): a SystemTap from 5.2 on does" },
	{ PFS_STAGE_BUILD, "Linux has since 6.1", -ENOTSUP,
	  "kernel %R is too old for pfscope's probes, they need Linux 6.1; --source=ftrace works "
	  "there" },
	{ PFS_STAGE_BUILD, "No space left on device", -ENOSPC,
	  "there is no room to build the module: %Q; TMPDIR and PFSCOPE_CACHE choose where" },
	{ PFS_STAGE_BUILD, "Pass 4: compilation failed", -ENOEXEC,
	  "the probe module does not compile for kernel %R: %E; a newer SystemTap may, or "
	  "--source=ftrace" },
	{ PFS_STAGE_BUILD, "cannot find module kernel debuginfo|Pass 2: analysis failed", -ENOENT,
	  "kernel %R has no debuginfo here: --no-dwarf does without" },
	{ PFS_STAGE_BUILD, "Pass 2: analysis failed", -ENOTSUP,
	  "kernel %R has no place for %S; `pfscope stap check' says which probes it has" },

	/* ---- loading ---- */
	{ LOADED, "can only use unsigned modules within", -EPERM,
	  "you may load modules only from /lib/modules/%R/systemtap: let root put one there "
	  "(pfscope stap build -r %R -o FILE) and name it with --module, or become a member of "
	  "stapdev" },
	{ LOADED, "trying to run systemtap as a normal user", -EPERM,
	  "loading a module needs root, or membership in the groups stapusr and stapdev" },
	{ LOADED, "effective user ID of staprun must be set to the root", -EPERM,
	  "staprun is not set up to be run by users (setuid root): try sudo" },
	{ LOADED, "Couldn't insert module|Function not implemented", -ENOSYS,
	  "this kernel was built without loadable modules: SystemTap cannot work on it; "
	  "--source=ftrace can" },
	{ LOADED, "Couldn't insert module|File exists", -EEXIST,
	  "%M is loaded already: another recording uses it (staprun -d removes one that is left "
	  "over); a copy of the file under another name can be loaded beside it" },
	{ LOADED, "Couldn't insert module|Required key not available", -EKEYREJECTED,
	  "this kernel takes signed modules only (%Q): sign %M with a key that it knows, or boot "
	  "without module.sig_enforce and secure boot" },
	{ LOADED, "Couldn't insert module|Key was rejected", -EKEYREJECTED,
	  "this kernel takes signed modules only (%Q): sign %M with a key that it knows, or boot "
	  "without module.sig_enforce and secure boot" },
	{ LOADED, "Couldn't insert module|Operation not permitted", -EPERM, "%L; --source=ftrace needs no module" },
	{ LOADED, "Couldn't insert module|Invalid module format", -ENOEXEC,
	  "%M was not built for the kernel that runs (%R): build it again, pfscope stap build -r "
	  "%R" },
	{ LOADED, "Couldn't insert module|wrong symbol version", -ENOEXEC,
	  "%M was not built for the kernel that runs (%R): build it again, pfscope stap build -r "
	  "%R" },
	{ LOADED, "Couldn't insert module|Unknown symbol", -ENOEXEC,
	  "%M needs what this kernel (%R) does not have: build it again for it, pfscope stap build "
	  "-r %R" },
	{ LOADED, "Couldn't insert module|Cannot allocate memory", -ENOMEM,
	  "the kernel has no memory for the module and its buffer: a smaller --buffer-size" },
	{ LOADED, "Couldn't insert module|Invalid parameters", -EINVAL,
	  "%M does not take pfscope's parameters: it was built by another version; build it "
	  "again" },
	{ LOADED, "Build-id mismatch", -ENOEXEC,
	  "%M was built with the debuginfo of another build of kernel %R: install the one that "
	  "fits, or use --no-dwarf" },
	{ LOADED, "Couldn't mount", -ENOENT, "debugfs cannot be mounted, and SystemTap's data comes through it: %Q" },
	{ LOADED, "registration error", -ENOTSUP,
	  "the kernel did not let a probe be placed (%Q): is it built without kprobes, or are they "
	  "switched off (/sys/kernel/debug/kprobes/enabled)?" },
	{ LOADED, "probe overhead|exceeded threshold", -EBUSY,
	  "SystemTap ended the recording because its probes took too much time; build the module "
	  "again (this one has a time limit)" },
	{ LOADED, "Skipped too many probes", -EBUSY,
	  "SystemTap ended the recording because it had skipped too many probes; build the module "
	  "again (this one has such a limit)" },
	{ LOADED, "Unexpected EOF in read", -EPIPE, "the module went away while it ran: somebody removed it" },
	{ LOADED, "control channel", -ENODEV,
	  "the module is loaded but staprun does not find it (%Q): is debugfs mounted on "
	  "/sys/kernel/debug?" },
};

struct found {
	const char *line;
	int len;
};

/* The line around p, without what every line begins with. */
static struct found line_of(const char *said, const char *p)
{
	const char *start = p;

	while (start > said && start[-1] != '\n')
		start--;
	if (!strncmp(start, "ERROR: ", 7))
		start += 7;
	else if (!strncmp(start, "WARNING: ", 9))
		start += 9;
	return (struct found){ start, strcspn(start, "\n") };
}

/* Are all the words there? The first one's place. */
static const char *words_in(const char *said, const char *words)
{
	const char *first = NULL;

	while (*words) {
		size_t len = strcspn(words, "|");
		const char *p = memmem(said, strlen(said), words, len);

		if (!p)
			return NULL;
		if (!first)
			first = p;
		words += len + (words[len] == '|');
	}
	return first;
}

/* The first line that says what is wrong: not where, and not a warning. */
static struct found first_error(const char *said)
{
	static const char *const marks[] = {
		"ERROR: ", " error: ", "semantic error: ", "parse error: ", "rror: ",
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const char *p = strstr(said, marks[i]);

		if (p)
			return line_of(said, p);
	}
	said += strspn(said, "\n ");
	return (struct found){ said, strcspn(said, "\n") };
}

/* "Not permitted" is also what SystemTap's modules return when they cannot begin. */
static const char *refusal(const struct pfs_diagnosis *d, char *buf, size_t size)
{
	if (d->disabled)
		return "this kernel takes no modules any more (kernel.modules_disabled is 1, until "
		       "it is booted again)";
	if (!d->lockdown || !*d->lockdown)
		return "the kernel refused the module, or this could not begin: dmesg may say why "
		       "(too large a --buffer-size? a container?)";
	snprintf(buf, size,
		 "this kernel is locked down (%s) and takes signed modules "
		 "only",
		 d->lockdown);
	return buf;
}

/* "        source: probe kernel.function("x") { ... }": the probe, without what it does. */
static struct found source_of(const char *said)
{
	const char *p = strstr(said, "source: probe ");
	int len;

	if (!p)
		return first_error(said);
	p += 8;
	len = strcspn(p, "{\n");
	while (len > 0 && p[len - 1] == ' ')
		len--;
	return (struct found){ p, len };
}

static struct found whole(const char *s)
{
	return (struct found){ s, strlen(s) };
}

static void expand(const char *message, const char *said, const char *at, const struct pfs_diagnosis *d,
		   struct pfs_err *err)
{
	char lockdown[128], text[sizeof(err->msg)];
	struct found quote = { "", 0 };
	size_t len = 0;

	for (const char *p = message; *p && len < sizeof(text); p++) {
		if (*p != '%') {
			text[len++] = *p;
			continue;
		}
		switch (*++p) {
		case 'M':
			quote = whole(d->module ? d->module : "the module");
			break;
		case 'R':
			quote = whole(d->release ? d->release : "");
			break;
		case 'L':
			quote = whole(refusal(d, lockdown, sizeof(lockdown)));
			break;
		case 'Q':
			quote = line_of(said, at);
			break;
		case 'E':
			quote = first_error(said);
			break;
		case 'S':
			quote = source_of(said);
			break;
		}
		len += snprintf(text + len, sizeof(text) - len, "%.*s", quote.len, quote.line);
	}
	if (len >= sizeof(text))
		len = sizeof(text) - 1;
	text[len] = '\0';
	pfs_err_set(err, 0, "%s", text);
}

int pfs_diagnose(enum pfs_stage stage, const char *said, const struct pfs_diagnosis *d, struct pfs_err *err)
{
	static const char *const who[] = {
		[PFS_STAGE_BUILD] = "stap", [PFS_STAGE_LOAD] = "staprun", [PFS_STAGE_RUN] = "staprun"
	};
	struct found error;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *at = rows[i].stages & stage ? words_in(said, rows[i].words) : NULL;

		if (!at)
			continue;
		expand(rows[i].message, said, at, d, err);
		return rows[i].err;
	}
	error = first_error(said);
	if (!error.len)
		return pfs_err_set(err, -EIO, "%s failed without a word", who[stage]);
	return pfs_err_set(err, -EIO, "%s: %.*s", who[stage], error.len, error.line);
}

const char *pfs_warning_next(const char *said, char *line, int size)
{
	const char *p = strstr(said, "WARNING: ");
	int len;

	if (!p)
		return NULL;
	p += 9;
	len = strcspn(p, "\n");
	snprintf(line, size, "%.*s", len, p);
	return p + len;
}
