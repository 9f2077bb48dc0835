/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --help: what argp prints, but of the groups of options only their names, so that it fits on a screen. --help=all is all
 * of it. argp_error() names --help and --usage.
 */
#include "common/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_USAGE = -4 };

/* A line such as " Filters (repeat ...):". */
static bool is_group(const char *line)
{
	size_t len = strlen(line);

	return line[0] == ' ' && line[1] != ' ' && len && line[len - 1] == ':';
}

/* "Filters: --at --comm"; an option is "  -o, --output=FILE  ..." or "      --all  ...", and anything else continues one. */
static void put_group(FILE *out, const char *head, char **text)
{
	const char *line = strsep(text, "\n");
	size_t end = strcspn(head, "(,:");
	int column = fprintf(out, "  %.*s:", (int)(end - 1 - (head[end - 1] == ' ')), head + 1);

	for (; line && *line; line = strsep(text, "\n")) {
		int len;

		if (strlen(line) < 8 || strncmp(line + 6, "--", 2))
			continue;
		len = strcspn(line + 6, "[= ");
		if (column + len + 1 > 79)
			column = fprintf(out, "\n   ") - 1;
		column += fprintf(out, " %.*s", len, line + 6);
	}
	fputc('\n', out);
}

/* Without the paragraph on short options, and from the exit status on. An empty line is printed before what follows it. */
static void put_short(FILE *out, char *text)
{
	bool grouped = false, empty = false;
	char *line;

	while ((line = strsep(&text, "\n")) && strncmp(line, "Exit status", 11)) {
		if (!*line) {
			empty = true;
		} else if (!strncmp(line, "Mandatory", 9)) {
			strsep(&text, "\n");
		} else if (is_group(line)) {
			fputs(grouped ? "" : "\nMore options (--help=all):\n", out);
			put_group(out, line, &text);
			grouped = empty = true;
		} else {
			fprintf(out, "%s%s\n", empty ? "\n" : "", line);
			empty = false;
		}
	}
}

/* A line for each option: long name, short name, name of its value ("[...]": optional), explanation; between them tabs. */
static void put_table(const struct argp *argp)
{
	for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++) {
		const char *optional = o->flags & OPTION_ARG_OPTIONAL ? "[" : "";
		bool is_short = o->key > ' ' && o->key <= '~' && o->key != '?';

		if (o->name && !(o->flags & (OPTION_HIDDEN | OPTION_DOC)))
			printf("%s\t%.*s\t%s%s\t%s\n", o->name, is_short, (const char[]){ is_short ? o->key : 0, 0 },
			       o->arg ? optional : "", o->arg ?: "", o->doc ?: "");
	}
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		put_table(child->argp);
}

/* For completion/generate: first what the command takes besides options. */
static void print_table(const struct argp *argp)
{
	const char *args = NULL; /* its first form is enough */

	for (const struct argp *at = argp; at && !args; at = at->children ? at->children->argp : NULL)
		args = at->args_doc;
	printf("\t\t%.*s\t\n", args ? (int)strcspn(args, "\n") : 0, args);
	put_table(argp);
	exit(EXIT_OK);
}

static void print_help(const struct argp_state *state, const char *arg)
{
	char *text = NULL, name[64];
	size_t size = 0;
	FILE *out;

	if (arg && !strcmp(arg, "table"))
		print_table(state->root_argp);
	out = open_memstream(&text, &size);
	if (arg && strcmp(arg, "all"))
		argp_error(state, "--help: %s: must be all", arg);
	if (arg || !out)
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	snprintf(name, sizeof(name), "%s", state->name);
	argp_help(state->root_argp, out, ARGP_HELP_STD_HELP, name);
	if (fclose(out))
		exit(EXIT_FAILED);
	put_short(stdout, text);
	free(text);
	exit(EXIT_OK);
}

error_t help_parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->input;
		return 0;
	case 'h':
	case '?':
		print_help(state, arg);
		return 0;
	case OPT_USAGE:
		argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		return 0;
	case 'V':
		puts(argp_program_version);
		exit(EXIT_OK);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp_option help_options[] = {
	{ "help", '?', "all", OPTION_ARG_OPTIONAL, "Print this help, or all of it", -1 },
	{ NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1 },
	{ "usage", OPT_USAGE, NULL, 0, "Print a short usage message", -1 },
	{ "version", 'V', NULL, 0, "Print the version of pfscope", -1 },
	{ 0 },
};
