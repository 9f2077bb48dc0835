/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tapes as text. The output depends on the tape only, so equal tapes give equal files.
 */
#include "reference/tape_text.h"

#include "base/escape.h"
#include "base/put.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
		fputs("# NOT COMPLETE: events are lost, an unknown number of them\n", out);
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
		fprintf(out,
			"# Not seen: accesses to %" PRIu64
			" page%s that the kernel mapped, or may have mapped, by itself.\n",
			gaps->unasked, plural(gaps->unasked));
	if (gaps->unasked_huge)
		fprintf(out,
			"# Of these %" PRIu64 " are in huge pages, each of which is written as the one page that "
			"faulted.\n",
			gaps->unasked_huge);
	if (gaps->outside)
		fprintf(out, "# Left out: %" PRIu64 " fault%s where nothing was mapped.\n", gaps->outside,
			plural(gaps->outside));
}

static void free_names(struct pfs_tape_lines *lines)
{
	for (unsigned int i = 0; lines->names && i < lines->tapes->nr_objects; i++)
		free(lines->names[i]);
	free(lines->names);
}

int pfs_tape_lines_begin(struct pfs_tape_lines *lines, const struct pfs_tapes *t, const char *what, FILE *out)
{
	char name[PFS_OBJECT_TEXT_MAX];
	int ret;

	lines->tapes = t;
	lines->out = out;
	lines->end = lines->buf;
	lines->names = calloc(t->nr_objects + 1, sizeof(*lines->names));
	ret = lines->names ? 0 : -ENOMEM;
	for (unsigned int i = 0; i < t->nr_objects && !ret; i++) {
		lines->names[i] = strdup(pfs_object_text(&t->objects[i], name, sizeof(name)));
		ret = lines->names[i] ? 0 : -ENOMEM;
	}
	if (ret) {
		free_names(lines);
		return ret;
	}
	fprintf(out, "# pfscope %s 1\n# page_size %" PRIu64 "\n# pages %s\n", what, UINT64_C(1) << t->page_shift,
		t->options.stable ? "of objects" : "by address");
	write_gaps(t, out);
	return 0;
}

void pfs_tape_lines_flush(struct pfs_tape_lines *lines)
{
	fwrite(lines->buf, 1, lines->end - lines->buf, lines->out);
	lines->end = lines->buf;
}

int pfs_tape_lines_end(struct pfs_tape_lines *lines)
{
	pfs_tape_lines_flush(lines);
	free_names(lines);
	return fflush(lines->out) || ferror(lines->out) ? -EIO : 0;
}

void pfs_tape_write_who(struct pfs_tape_lines *lines, const struct pfs_tape *tape)
{
	bool stable = lines->tapes->options.stable;
	FILE *out = lines->out;
	char comm[64];

	pfs_tape_lines_flush(lines);
	fputs("tape", out);
	if (tape->process)
		fprintf(out, stable ? " process=%u" : " pid=%u", tape->process);
	if (tape->thread)
		fprintf(out, stable ? " thread=%u" : " tid=%u", tape->thread);
	if (!tape->process)
		fputs(" all", out);
	fprintf(out, " references=%" PRIu64, tape->nr_refs);
	if (tape->comm) {
		pfs_escape(comm, sizeof(comm), tape->comm, 0);
		fprintf(out, " comm=%s", comm);
	}
	putc('\n', out);
}

void pfs_tape_write_image(struct pfs_tape_lines *lines, uint32_t image)
{
	char *p = put_dec(put_text(pfs_tape_line(lines), "image "), image);

	*p++ = '\n';
	lines->end = p;
}

void pfs_tape_end_line(struct pfs_tape_lines *lines, char *p, const struct pfs_tape_entry *entry)
{
	if (lines->tapes->options.stable) {
		p = put_signed(p, entry->page);
		*p++ = ' ';
		p = put_text(p, lines->names[entry->object]);
	} else {
		p = put_hex(p, (uint64_t)entry->page << lines->tapes->page_shift);
	}
	*p++ = '\n';
	lines->end = p;
}

static void write_entry(struct pfs_tape_lines *lines, const struct pfs_tape_entry *entry, uint64_t before_ns)
{
	static const char letters[] = "rwx?";
	char *p = pfs_tape_line(lines);

	if (lines->tapes->options.times) {
		p = put_signed(p, entry->ts_ns - before_ns);
		*p++ = ' ';
	}
	for (int i = 0; i < 4; i++)
		if (entry->access >> i & 1)
			*p++ = letters[i];
	if (entry->sampled) {
		*p++ = '~';
		p = entry->interval_ns ? put_dec(p, entry->interval_ns) : put_text(p, "?");
	}
	*p++ = ' ';
	p = put_dec(p, entry->count);
	*p++ = ' ';
	pfs_tape_end_line(lines, p, entry);
}

static int write_tape(struct pfs_tape_lines *lines, const struct pfs_tape *tape)
{
	struct pfs_tape_cursor cursor;
	uint64_t before_ns = 0;
	uint32_t image = 0;
	int ret;

	pfs_tape_write_who(lines, tape);
	for (pfs_tape_rewind(&cursor, lines->tapes, tape); (ret = pfs_tape_next(&cursor)) > 0;) {
		if (cursor.last.image != image)
			pfs_tape_write_image(lines, image = cursor.last.image);
		write_entry(lines, &cursor.last, before_ns);
		before_ns = cursor.last.ts_ns;
	}
	return ret;
}

int pfs_tapes_write_text(const struct pfs_tapes *t, FILE *out)
{
	struct pfs_tape_lines lines;
	int ret = pfs_tape_lines_begin(&lines, t, "tape", out), end;

	if (ret)
		return ret;
	for (unsigned int i = 0; i < t->nr_tapes && !ret && !ferror(out); i++)
		ret = write_tape(&lines, &t->tapes[i]);
	end = pfs_tape_lines_end(&lines);
	return ret ? ret : end;
}
