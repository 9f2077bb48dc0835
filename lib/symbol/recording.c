/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recording's file tells the symbolizer: it got its name when it was complete, so that is when its contents were
 * written last.
 */
#include "symbol/symbolizer.h"

#include "jit/jit.h"
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
		const struct pfs_note *note = &model->notes[i];
		struct pfs_jit_file file;
		struct pfs_fact fact;
		uint32_t dev;

		if (pfs_recorded_build_id(note, &fact, &dev))
			err = pfs_symbolizer_build_id(s, dev, fact.count, fact.text);
		else if (pfs_jit_file_read(&file, note->key, note->value) && file.pid)
			err = pfs_symbolizer_perf_map(s, file.pid, &file.content);
	}
	return err;
}

int pfs_symbolizer_prepare_jit(struct pfs_jit *jit, const struct pfs_debug_files *files, const struct pfs_model *notes)
{
	int err = 0;

	pfs_jit_set_elsewhere(jit, pfs_debug_jit_open, (void *)files);
	for (unsigned int i = 0; !err && notes && i < notes->nr_notes; i++) {
		struct pfs_event ev = { .kind = PFS_NOTE };

		PFS_SET(&ev, key, KEY, notes->notes[i].key);
		PFS_SET(&ev, value, VALUE, notes->notes[i].value);
		err = pfs_jit_event(jit, &ev, 0);
	}
	return err;
}
