/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of the probe module (stap/tapset/wire.h) as event lines.
 *
 *     stap_events FILE [KEY=VALUE]... >run.events
 *
 * FILE is what staprun wrote. Notes that pfscope would make (rusage=..., vsyscall=...) may be given.
 * What the decoder counted goes to standard error. Exit status: 0, 1 no such records, 2 wrong usage.
 */
#include "decode/decode.h"
#include "event/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int note(const struct pfs_sink *sink, char *text)
{
	char *equals = strchr(text, '=');
	struct pfs_event ev = { .kind = PFS_NOTE, .key = text, .have = PFS_HAS(PFS_F_KEY) | PFS_HAS(PFS_F_VALUE) };

	if (!equals)
		return -EINVAL;
	*equals = '\0';
	ev.value = equals + 1;
	return pfs_emit(sink, &ev);
}

static int read_all(FILE *f, struct pfs_decoder *decoder)
{
	struct pfs_rec rec;
	int ret = 0;

	while (!ret && fread(&rec, sizeof(rec), 1, f) == 1)
		ret = pfs_decoder_feed(decoder, &rec);
	return ret ? ret : pfs_decoder_finish(decoder);
}

int main(int argc, char **argv)
{
	char usual[][32] = { "clock=mono", "page_size=4096", "source=stap" };
	struct pfs_export *writer = pfs_export_new(stdout, PFS_EXPORT_LINES);
	struct pfs_sink sink = pfs_export_sink(writer);
	struct pfs_decoder *decoder = pfs_decoder_new(&sink);
	FILE *f = argc > 1 ? fopen(argv[1], "re") : NULL;
	const struct pfs_decode_stats *s = pfs_decoder_stats(decoder);
	int ret = 0;

	if (!f) {
		fprintf(stderr, "usage: stap_events FILE [KEY=VALUE]...\n");
		return 2;
	}
	for (unsigned int i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		ret = ret ? ret : note(&sink, usual[i]);
	for (int i = 2; i < argc && !ret; i++)
		ret = note(&sink, argv[i]);
	if (!ret)
		ret = read_all(f, decoder);
	if (!ret)
		ret = pfs_export_flush(writer);
	if (ret)
		fprintf(stderr, "stap_events: %s: %s\n", argv[1], strerror(-ret));
	fprintf(stderr,
		"records=%" PRIu64 " lost=%" PRIu64 " skipped=%" PRIu64 " damaged=%" PRIu64 " late=%" PRIu64
		" torn=%" PRIu64 " corrected=%" PRIu64 " no_page=%" PRIu64 " ready=%d ended=%d\n",
		s->records, s->lost, s->skipped, s->damaged, s->late, s->torn, s->corrected, s->no_page, s->ready,
		s->ended);
	pfs_decoder_free(decoder);
	pfs_export_free(writer);
	fclose(f);
	return ret ? 1 : 0;
}
