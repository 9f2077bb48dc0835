// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The text of /proc/PID/maps, as the first look at a process that is attached to and a second one after it.
 */
#include "fuzz.h"

#include "sideband/snapshot.h"

#include <string.h>

static struct pfs_maps_text maps;

static void note(const char *text)
{
	maps.ev.kind = RAW_PFS_NOTE;
	maps.ev.str = text;
	maps.fn(maps.ctx, &maps.ev);
}

/* In pieces, as the kernel gives it. */
static void look(const char *text, size_t size)
{
	size_t room, piece = size / 3 + 1;
	int err = 0;

	while (!err && size) {
		char *to = pfs_maps_text_room(&maps, &room);

		room = room < piece ? room : piece;
		room = room < size ? room : size;
		if (!room)
			break;
		memcpy(to, text, room);
		maps.len += room;
		text += room;
		size -= room;
		err = pfs_maps_text_lines(&maps);
	}
	maps.len = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct pfs_sink sink;
	struct fuzz f;

	sink = fuzz_begin(&f, size);
	maps.ev = (struct raw_event){ .ts_ns = 1000, .cpu = -1, .tid = 7, .tgid = 7 };
	maps.fn = pfs_assembler_feed;
	maps.ctx = pfs_assembler_new(&sink);
	note("snapshot=first");
	look(text, size);
	note("snapshot=end");
	/* the second look finds half of it */
	maps.ev.ts_ns = 3000;
	note("snapshot=later 2000");
	look(text + size / 2, size - size / 2);
	note("snapshot=end");
	pfs_assembler_finish(maps.ctx);
	pfs_assembler_free(maps.ctx);
	fuzz_end(&f);
	return 0;
}
