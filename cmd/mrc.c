/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope mrc: prints the miss ratio curve of the references of a recording.
 */
#include "common/command.h"
#include "base/units.h"
#include "common/reading.h"
#include "simulate/curves.h"
#include "view/mrc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_SIZES = 0x700, OPT_POLICY, OPT_WINDOW };

/* An upper limit of each list. */
enum { MAX_LISTED = 1024 };

struct mrc_args {
	struct reading_args reading;
	struct pfs_refs_options refs;
	struct pfs_mrc_options mrc;
	struct pfs_mrc_size sizes[MAX_LISTED];
	unsigned int nr_sizes;
	uint64_t windows_ns[MAX_LISTED];
	unsigned int nr_windows;
};

static const struct argp_option options[] = {
	{ "sizes", OPT_SIZES, "LIST", 0, "Memory sizes: in pages, or in bytes with suffix K, M, G or T", 1 },
	{ "policy", OPT_POLICY, "LIST", 0, "Replacement policies: lru (the default), clock, clock0, opt", 1 },
	{ "window", OPT_WINDOW, "LIST", 0, "Print working sets for windows of these lengths (1.5s, 10ms, 20us, 100ns)",
	  1 },
	{ "series", OPTION_FLAG(struct mrc_args, mrc.series), NULL, 0, "Print the working set of each window over time",
	  1 },
	{ "each-process", OPTION_FLAG(struct mrc_args, mrc.each_process), NULL, 0,
	  "One curve per process, as if each had its own memory", 1 },
	{ "no-code", OPTION_FLAG(struct mrc_args, refs.no_code), NULL, 0, "Leave out executable regions", 1 },
	FORMAT_OPTIONS,
	{ 0 },
};

/* ---- lists ---- */

static bool parse_size(const char *word, void *to)
{
	struct pfs_mrc_size *size = to;
	bool in_bytes, ok = pfs_size_parse(word, &size->nr, &in_bytes);

	size->in_bytes = in_bytes;
	return ok;
}

static bool parse_window(const char *word, void *to)
{
	return pfs_duration_parse(word, to);
}

static bool parse_policy(const char *word, void *to)
{
	uint32_t *policies = to;

	for (int i = 0; i < PFS_NR_MRC_POLICIES; i++) {
		if (strcmp(word, pfs_mrc_policy_names[i]))
			continue;
		*policies |= UINT32_C(1) << i;
		return true;
	}
	return false;
}

/*
 * Each word of a list with commas; `what` it should have been is for the error. size: of an element of to[], of
 * which *nr are taken; 0: all go to the one.
 */
static void parse_list(struct argp_state *state, const char *option, const char *list, const char *what,
		       bool (*parse_word)(const char *, void *), void *to, size_t size, unsigned int *nr)
{
	char word[64];

	for (;;) {
		size_t len = strcspn(list, ",");

		if (size && *nr == MAX_LISTED)
			argp_error(state, "--%s: more than %d values", option, MAX_LISTED);
		snprintf(word, sizeof(word), "%.*s", (int)len, list);
		if (len >= sizeof(word) || !parse_word(word, (char *)to + (size ? *nr * size : 0)))
			argp_error(state, "--%s: %.*s: must be %s", option, (int)len, list, what);
		*nr += size != 0;
		if (!list[len])
			return;
		list += len + 1;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct mrc_args *args = state->input;
	unsigned int none = 0;

	switch (key) {
	case OPT_SIZES:
		parse_list(state, "sizes", arg, "pages (1000) or bytes (64K, 10M, 1G)", parse_size, args->sizes,
			   sizeof(args->sizes[0]), &args->nr_sizes);
		return 0;
	case OPT_POLICY:
		parse_list(state, "policy", arg, "lru, clock, clock0 or opt", parse_policy, &args->mrc.policies, 0,
			   &none);
		return 0;
	case OPT_WINDOW:
		parse_list(state, "window", arg, "a time (10ms, 0.5s)", parse_window, args->windows_ns,
			   sizeof(args->windows_ns[0]), &args->nr_windows);
		return 0;
	case ARGP_KEY_END:
		if (args->mrc.series && !args->nr_windows)
			argp_error(state, "--series: no window given (--window TIME)");
		if (!args->mrc.policies)
			args->mrc.policies = UINT32_C(1) << PFS_MRC_LRU;
		args->mrc.nr_windows = args->nr_windows;
		return 0;
	default:
		return reading_parse(key, arg, state);
	}
}

static const struct argp argp = READING_ARGP(
	options, parse, reading_children,
	"Print the miss ratio curve of the page references of a recording: exact under LRU for all memory sizes, and simulated under CLOCK and OPT for comparison. A reference is a fault that the kernel served, or a sampled access; accesses between two faults of a page are not recorded.\v"
	"Examples:\n"
	"  pfscope mrc py.dat\n"
	"  pfscope mrc --policy lru,clock,opt --sizes 1M,4M,16M py.dat\n"
	"  pfscope mrc --window 10ms,100ms --series py.dat    working sets over time\n"
	"  pfscope mrc --each-process --no-code --json py.dat");

static int draw(const struct mrc_args *args, struct pfs_mrc *mrc, const struct pfs_refs *refs, struct pfs_err *err)
{
	struct pfs_mrc_view view = {
		mrc, pfs_refs_stats(refs), args->nr_sizes ? args->sizes : NULL, args->nr_sizes, args->refs.no_code,
	};
	struct pfs_view_options how = {
		.out = stdout,
		.format = args->reading.view.format,
		.filter = &args->reading.view.filter,
		.terminal = isatty(STDOUT_FILENO),
		.width = pfs_term_width(STDOUT_FILENO),
		.color = pfs_term_color(STDOUT_FILENO, PFS_COLOR_AUTO),
	};
	int ret = pfs_mrc_end(mrc, err);

	return ret ? ret : pfs_view_mrc_draw(&view, &how, err);
}

static int read_and_draw(struct reading_args *reading, struct pipeline *p, struct pfs_err *err)
{
	struct mrc_args *args = (struct mrc_args *)reading;
	struct pfs_refs *refs;
	struct pfs_mrc mrc;
	int ret;

	pfs_mrc_init(&mrc, p->model, &args->mrc);
	refs = pfs_refs_new(p->model, &args->refs, pfs_mrc_refer, &mrc);
	if (!refs)
		return pfs_err_set(err, -ENOMEM, "no memory for the references");
	pipeline_observe(p, pfs_refs_observer(refs));
	ret = reading_read(&args->reading, p, err);
	if (!ret)
		ret = pfs_refs_end(refs);
	if (ret && ret != -ENODATA && !err->msg[0])
		pfs_err_set(err, ret, "the references: %s", strerror(-ret));
	if (ret && mrc.err.msg[0])
		*err = mrc.err;
	if (!ret)
		ret = draw(args, &mrc, refs, err);
	pfs_refs_free(refs);
	pfs_mrc_fini(&mrc);
	return ret;
}

int cmd_mrc(int argc, char **argv)
{
	struct mrc_args args = { 0 };

	args.refs.filter = &args.reading.view.filter;
	args.mrc.windows_ns = args.windows_ns;
	return reading_main(&args.reading, &argp, argc, argv, read_and_draw);
}
