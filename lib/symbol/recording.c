/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recording's file tells the symbolizer: it got its name when it was complete, so that is when its contents were
 * written last.
 */
#include "symbol/symbolizer.h"

#include "model/model.h"
#include "symbol/build_ids.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* At most between the end of a recording and its file being complete. */
enum { WRITING_SECONDS = 120, NS_PER_S = 1000000000 };

void pfs_symbolizer_of_recording(struct pfs_symbolizer_options *options, const char *path, uint64_t took_ns)
{
	struct stat st;

	if ((path && strcmp(path, "-") ? stat(path, &st) : fstat(STDIN_FILENO, &st)) || !S_ISREG(st.st_mode))
		return;
	options->until = st.st_mtim;
	options->since.tv_sec = st.st_mtim.tv_sec - (time_t)(took_ns / NS_PER_S) - WRITING_SECONDS;
}

int pfs_symbolizer_notes(struct pfs_symbolizer *s, const struct pfs_model *model)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < model->nr_notes; i++) {
		struct pfs_fact fact;
		uint32_t dev;

		if (pfs_recorded_build_id(&model->notes[i], &fact, &dev))
			err = pfs_symbolizer_build_id(s, dev, fact.count, fact.text);
	}
	return err;
}
