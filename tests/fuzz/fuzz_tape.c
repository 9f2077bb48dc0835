// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Binary tapes, to text and to rules for prefetching; and what is a tape is the same one when it is written and read
 * again.
 */
#include "fuzz.h"

#include <string.h>

static void again(const struct pfs_tapes *tapes)
{
	struct pfs_tapes *other;
	struct pfs_err err;
	char *bytes;
	size_t len;
	int ret;
	FILE *out = open_memstream(&bytes, &len);

	if (!out || pfs_tapes_write_binary(tapes, out) || fclose(out))
		abort();
	other = pfs_tapes_read(bytes, len, &ret, &err);
	if (!other || other->nr_tapes != tapes->nr_tapes || other->nr_objects != tapes->nr_objects)
		abort();
	pfs_tapes_free(other);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pfs_prefetch_options options = { .window_ns = size % 3 * 1000000, .ahead = size % 7 };
	struct pfs_tapes *tapes;
	struct pfs_err err;
	int ret;

	tapes = pfs_tapes_read(data, size, &ret, &err);
	if (!tapes)
		return 0;
	if (pfs_tapes_write_text(tapes, fuzz_nowhere()) || pfs_tapes_write_prefetch(tapes, &options, fuzz_nowhere()))
		abort();
	again(tapes);
	pfs_tapes_free(tapes);
	return 0;
}
