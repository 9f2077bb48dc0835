/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tapes as text. Written of what is in them and nothing else, so that two that are the same are so byte for byte.
 */
#include "reference/tape_text.h"

#include "base/escape.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

static const char *plural(uint64_t nr)
{
	return nr == 1 ? "" : "s";
}

/* What is missing. Of tapes that are to be the same in every run only what makes them differ: lost events. */
static void write_gaps(const struct pfs_tapes *t, FILE *out)
{
	const struct pfs_tape_gaps *gaps = &t->gaps;
	const char *what = pfs_refault_what(gaps->refault.method);
	char how[PFS_REFAULT_HOW_MAX];

	if (gaps->lost)
		fprintf(out, "# NOT COMPLETE: %s%" PRIu64 " event%s lost\n", gaps->lost_unknown ? "at least " : "",
			gaps->lost, plural(gaps->lost));
	else if (gaps->lost_unknown)
		fputs("# NOT COMPLETE: events are lost, nobody knows how many\n", out);
	if (gaps->counted)
		fprintf(out,
			"# NOT COMPLETE: without %" PRIu64 " fault%s that %s only counted (--histogram): when and in "
			"which order is not known\n",
			gaps->counted, plural(gaps->counted), gaps->counted == 1 ? "was" : "were");
	if (t->options.stable && !t->options.times)
		return;
	fputs(gaps->refault.method == PFS_REFAULT_IDLE
		      ? "# A reference is a fault, or an access that was sampled; others are not seen.\n"
		      : "# A reference is a fault; accesses to a page between its faults are not seen.\n",
	      out);
	if (gaps->refault.method) {
		pfs_refault_how_text(how, &gaps->refault);
		fprintf(out, "# %c%s %s.\n", toupper(*what), what + 1, how);
	}
	if (gaps->sampled)
		fprintf(out, "# Sampled (~INTERVAL): %" PRIu64 ", each some time in the interval before.\n",
			gaps->sampled);
	if (gaps->unasked)
		fprintf(out, "# Not seen: accesses to %" PRIu64 " page%s that the kernel mapped by itself.\n",
			gaps->unasked, plural(gaps->unasked));
	if (gaps->unasked_huge)
		fprintf(out,
			"# Of these %" PRIu64 " are in huge pages, each of which is told as the one page that "
			"faulted.\n",
			gaps->unasked_huge);
	if (gaps->outside)
		fprintf(out, "# Left out: %" PRIu64 " fault%s where nothing was mapped.\n", gaps->outside,
			plural(gaps->outside));
}

void pfs_tape_write_head(const struct pfs_tapes *t, const char *what, FILE *out)
{
	fprintf(out, "# pfscope %s 1\n# page_size %" PRIu64 "\n# pages %s\n", what, UINT64_C(1) << t->page_shift,
		t->options.stable ? "of objects" : "by address");
	write_gaps(t, out);
}

void pfs_tape_write_who(const struct pfs_tapes *t, const struct pfs_tape *tape, const char *what, FILE *out)
{
	char comm[64];

	fputs(what, out);
	if (tape->process)
		fprintf(out, t->options.stable ? " process=%u" : " pid=%u", tape->process);
	if (tape->thread)
		fprintf(out, t->options.stable ? " thread=%u" : " tid=%u", tape->thread);
	if (!tape->process)
		fputs(" all", out);
	fprintf(out, " references=%" PRIu64, tape->nr_refs);
	if (tape->comm) {
		pfs_escape(comm, sizeof(comm), tape->comm, PFS_ESCAPE_BACKSLASH);
		fprintf(out, " comm=%s", comm);
	}
	putc('\n', out);
}

void pfs_tape_write_page(const struct pfs_tapes *t, const struct pfs_tape_entry *entry, FILE *out)
{
	char name[PFS_OBJECT_TEXT_MAX];

	if (t->options.stable)
		fprintf(out, "%" PRId64 " %s\n", entry->page,
			pfs_object_text(&t->objects[entry->object], name, sizeof(name)));
	else
		fprintf(out, "%" PRIx64 "\n", (uint64_t)entry->page << t->page_shift);
}

static void write_entry(const struct pfs_tapes *t, const struct pfs_tape_entry *entry, uint64_t before_ns, FILE *out)
{
	static const char letters[] = "rwx?";

	if (t->options.times)
		fprintf(out, "%" PRId64 " ", (int64_t)(entry->ts_ns - before_ns));
	for (int i = 0; i < 4; i++)
		if (entry->access >> i & 1)
			putc(letters[i], out);
	if (entry->sampled && entry->interval_ns)
		fprintf(out, "~%" PRIu64, entry->interval_ns);
	else if (entry->sampled)
		fputs("~?", out);
	fprintf(out, " %" PRIu64 " ", entry->count);
	pfs_tape_write_page(t, entry, out);
}

static int write_tape(const struct pfs_tapes *t, const struct pfs_tape *tape, FILE *out)
{
	struct pfs_tape_cursor cursor;
	struct pfs_tape_entry before = { 0 };
	int ret;

	pfs_tape_write_who(t, tape, "tape", out);
	for (pfs_tape_rewind(&cursor, t, tape); (ret = pfs_tape_next(&cursor)) > 0; before = cursor.last) {
		if (cursor.last.image != before.image)
			fprintf(out, "image %u\n", cursor.last.image);
		write_entry(t, &cursor.last, before.ts_ns, out);
	}
	return ret;
}

int pfs_tapes_write_text(const struct pfs_tapes *t, FILE *out)
{
	int ret = 0;

	pfs_tape_write_head(t, "tape", out);
	for (unsigned int i = 0; i < t->nr_tapes && !ret && !ferror(out); i++)
		ret = write_tape(t, &t->tapes[i], out);
	return ret ? ret : fflush(out) || ferror(out) ? -EIO : 0;
}
