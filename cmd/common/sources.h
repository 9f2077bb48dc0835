/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live sources that this program has, and their options: --source and what each source adds.
 */
#ifndef CMD_SOURCES_H
#define CMD_SOURCES_H

#include "event/source.h"

enum { NR_SOURCES = 2 };

struct source_args {
	const struct pfs_source *source; /* the chosen one */
	struct source_options {
		const struct pfs_source *source;
		void *options;	   /* of source->options_size */
		const char *given; /* the name of one that was given, or NULL */
	} of[NR_SOURCES];
};

extern const struct argp sources_argp; /* input: struct source_args */

/* The chosen source's own options. Options given for another source are an error: -EINVAL with err set. */
int source_args_check(const struct source_args *args, const void **options, struct pfs_err *err);
void source_args_fini(struct source_args *args);

/* The name of a source that can do it, for messages; or NULL. */
const char *source_that(enum pfs_source_can can);

#endif
