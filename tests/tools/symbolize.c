/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the code at offsets of a file, one a line of standard input in hexadecimal, for tests that compare it with other
 * tools. Each place is a line "FUNCTION+0xOFFSET|SOURCE:LINE", an inlined one with a space in front.
 *
 *     symbolize FILE [BUILD_ID [DEBUG_DIR [ARCHIVE]]]
 */
#include "symbol/symbolizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static void put(const struct pfs_place *place)
{
	printf("%s%s", place->inlined ? " " : "", place->func ? place->func : place->why);
	if (place->func && !place->inlined)
		printf("+0x%" PRIx64, place->behind);
	printf("|%s:%u\n", place->source ? place->source : "??", place->line);
}

enum { MAX_FRAMES = 100 };

/* As many as are there, and at most MAX_FRAMES: those of `file`. */
static uint32_t read_frames(struct pfs_frame *frames, const struct pfs_frame *file)
{
	uint32_t nr = 0;

	for (; nr < MAX_FRAMES; nr++) {
		frames[nr] = *file;
		if (scanf("%" SCNx64, &frames[nr].off) != 1)
			break;
	}
	return nr;
}

/* False: no memory. */
static bool put_frames(struct pfs_symbolizer *s, const struct pfs_frame *frames, uint32_t nr_frames)
{
	const struct pfs_frame *all[MAX_FRAMES];
	uint32_t nr;

	for (uint32_t i = 0; i < nr_frames; i++)
		all[i] = &frames[i];
	if (pfs_symbolizer_ahead(s, all, nr_frames, 0))
		return false;
	for (uint32_t i = 0; i < nr_frames; i++) {
		const struct pfs_place *places = pfs_symbolizer_frame(s, &frames[i], 0, &nr);

		for (uint32_t k = 0; places && k < nr; k++)
			put(&places[k]);
		if (!places)
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct pfs_symbolizer_options options = { .lines = true, .inlines = true };
	struct pfs_frame frame = { .name = argv[1] }, frames[MAX_FRAMES];
	struct pfs_symbolizer *s;
	unsigned int at = 0;
	char line[4200];
	struct stat st;
	uint32_t nr;

	options.files.dir = argc > 3 ? argv[3] : NULL;
	options.files.archive = argc > 4 ? argv[4] : NULL;
	s = pfs_symbolizer_new(&options);
	if (argc < 2 || !s)
		return 1;
	if (!stat(argv[1], &st)) {
		frame.dev = major(st.st_dev) << 20 | minor(st.st_dev);
		frame.ino = st.st_ino;
	}
	if (argc > 2 && *argv[2] && pfs_symbolizer_build_id(s, frame.dev, frame.ino, argv[2]))
		return 1;
	while ((nr = read_frames(frames, &frame)))
		if (!put_frames(s, frames, nr))
			return 1;
	while (pfs_symbolizer_problem(s, &at, line, sizeof(line)))
		printf("problem: %s\n", line);
	pfs_symbolizer_free(s);
	return 0;
}
