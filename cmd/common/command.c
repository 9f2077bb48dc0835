/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/command.h"

#include "base/escape.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/units.h"
#include "common/invoking_user.h"
#include "view/loss.h"
#include "view/rows.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void message(const char *fmt, ...)
{
	char text[2048], safe[8192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	pfs_escape(safe, sizeof(safe), text, PFS_ESCAPE_AGAIN);
	fprintf(stderr, "pfscope: %s\n", safe);
}

void report_message(void *unused, const char *line)
{
	message("%s", line);
}

/* The options of a command whose names are tried. */
static void try_options(struct pfs_nearest *nearest, const struct argp *argp)
{
	for (const struct argp_option *option = argp->options; option && (option->name || option->key); option++)
		if (option->name && !(option->flags & OPTION_HIDDEN))
			pfs_nearest_try(nearest, option->name);
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		try_options(nearest, child->argp);
}

/* "pfscope run: unrecognized option '--regoin=x'": getopt's words of the C locale. */
static void print_nearest(const struct argp *argp, const char *line)
{
	static const char before[] = ": unrecognized option '--";
	struct pfs_nearest nearest = { .most = 2 };
	const char *name = strstr(line, before);
	char word[64];

	if (!name)
		return;
	name += strlen(before);
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(name, "='"), name);
	nearest.word = word;
	try_options(&nearest, argp);
	if (nearest.name)
		dprintf(STDERR_FILENO, "; did you mean --%s?", nearest.name);
}

/* Writes text to standard error, escaped line by line. */
static ssize_t write_escaped(void *argp, const char *text, size_t len)
{
	const char *end = text + len;
	char line[4096], safe[4 * sizeof(line)];

	while (text < end) {
		const char *newline = memchr(text, '\n', end - text);
		size_t size = (newline ? newline : end) - text;

		if (size >= sizeof(line))
			size = sizeof(line) - 1;
		memcpy(line, text, size);
		line[size] = '\0';
		pfs_escape(safe, sizeof(safe), line, PFS_ESCAPE_AGAIN);
		text += size;
		dprintf(STDERR_FILENO, "%s", safe);
		print_nearest(argp, line);
		if (newline == text)
			dprintf(STDERR_FILENO, "\n");
		text += newline == text;
	}
	return len;
}

/* argp prints arguments unescaped, so it gets a stream that escapes them. */
bool cannot_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input)
{
	const struct argp_child command[] = { { argp, 0, NULL, 0 }, { 0 } };
	const struct argp with_help = { help_options, help_parse, NULL, NULL, command, NULL, NULL };
	static const cookie_io_functions_t escaped = { .write = write_escaped };
	FILE *standard = stderr, *safe = fopencookie((void *)argp, "w", escaped);
	int ret;

	if (safe)
		stderr = safe;
	ret = argp_parse(&with_help, argc, argv, flags | ARGP_NO_HELP, NULL, input);
	stderr = standard;
	if (safe)
		fclose(safe);
	if (ret)
		message("cannot read the arguments: %s", strerror(ret));
	return ret;
}

error_t option_store(void *args, int key, const char *arg)
{
	char *member = (char *)args + (key & (OPTION_KEYS - 1));

	switch (key & ~(OPTION_KEYS - 1)) {
	case OPTION_KEYS:
		*(bool *)member = true;
		return 0;
	case 2 * OPTION_KEYS:
		*(const char **)member = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int option_word(struct argp_state *state, const char *option, const char *arg, const char *const *words, int nr,
		const char *wanted)
{
	for (int i = 0; i < nr; i++)
		if (!strcmp(arg, words[i]))
			return i;
	argp_error(state, "--%s: %s: must be %s", option, arg, wanted);
	return 0;
}

uint64_t duration_of_option(struct argp_state *state, const char *option, const char *arg, uint64_t least_ns)
{
	char least[32];
	uint64_t ns;

	if (pfs_duration_parse(arg, &ns) && ns >= least_ns)
		return ns;
	argp_error(state, "--%s: %s: must be a time%s%s (10, 1.5s, 100ms)", option, arg,
		   least_ns ? " of at least " : "", least_ns ? pfs_duration_text(least, least_ns, 1) : "");
	return 0;
}

pid_t pid_of_argument(struct argp_state *state, const char *arg)
{
	pid_t pid = pfs_pid_parse(arg);

	if (!pid)
		argp_error(state, "%s: not a process ID", arg);
	return pid;
}

uint32_t uid_of_option(struct argp_state *state, const char *option, const char *arg)
{
	uint32_t uid = 0;

	if (!invoking_user_find_uid(arg, &uid))
		argp_error(state, "--%s: %s: no such user", option, arg);
	return uid;
}

int strict_status(bool strict, const struct pfs_model *model, int status)
{
	char lost[PFS_LOST_TEXT_MAX];

	if (!strict || !pfs_lost_text(lost, pfs_gaps_shown(model, NULL)))
		return status;
	message("%s (--strict)", lost);
	return EXIT_LOST;
}

void warn_no_region(const struct pfs_model *model, const struct pfs_filter *filter)
{
	char text[1024];

	if (pfs_no_region(model, filter, text, sizeof(text)))
		message("%s", text);
}

int fail(const struct pfs_err *err)
{
	if (*err->msg)
		message("%s", err->msg);
	return EXIT_FAILED;
}

int status_of(int ret, const struct pfs_err *err)
{
	if (ret == -EINTR)
		return EXIT_INTERRUPTED;
	return ret ? fail(err) : EXIT_OK;
}
