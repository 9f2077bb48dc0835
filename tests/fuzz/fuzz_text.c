// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text of trace_pipe, of the `trace` file and of `trace-cmd report`.
 */
#include "fuzz.h"

#include "text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	struct pfs_assembler *a;
	struct pfs_text *text;
	struct pfs_sink sink;
	struct fuzz f;

	pfs_text_probe(bytes, size);
	sink = fuzz_begin(&f, size);
	a = pfs_assembler_new(&sink);
	text = pfs_text_new(pfs_assembler_feed, a, NULL);
	if (!pfs_text_feed(text, bytes, size / 3) && !pfs_text_feed(text, bytes + size / 3, size - size / 3) &&
	    !pfs_text_finish(text))
		pfs_assembler_finish(a);
	pfs_text_free(text);
	pfs_assembler_free(a);
	fuzz_end(&f);
	return 0;
}
