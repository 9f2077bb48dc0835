// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records of the SystemTap module (stap/tapset/wire.h). A module that somebody else built may write anything.
 */
#include "fuzz.h"

#include "decode/decode.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pfs_decoder *decoder;
	struct pfs_sink sink;
	struct pfs_rec rec;
	struct fuzz f;
	int err = 0;

	sink = fuzz_begin(&f, size);
	decoder = pfs_decoder_new(&sink);
	for (; !err && size >= sizeof(rec); data += sizeof(rec), size -= sizeof(rec)) {
		memcpy(&rec, data, sizeof(rec));
		if (size % 16) /* a number of 65535 makes a table that long, which takes its time */
			rec.cpu %= 8;
		err = pfs_decoder_feed(decoder, &rec);
		if (!err && rec.seq % 64 == 63) /* as a live view does */
			err = pfs_decoder_flush(decoder, rec.ts_ns);
	}
	if (!err)
		pfs_decoder_finish(decoder);
	pfs_decoder_free(decoder);
	fuzz_end(&f);
	return 0;
}
