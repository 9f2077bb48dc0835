// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Event lines: what a pipe, a file or somebody's own program gives to `pfscope render`.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct pfs_line_reader *reader;
	struct pfs_sink sink;
	struct fuzz f;

	pfs_line_probe(text, size);
	sink = fuzz_begin(&f, size);
	reader = pfs_line_reader_new(&sink);
	if (!pfs_line_reader_feed(reader, text, size / 3) &&
	    !pfs_line_reader_feed(reader, text + size / 3, size - size / 3))
		pfs_line_reader_end(reader);
	pfs_line_reader_free(reader);
	fuzz_end(&f);
	return 0;
}
