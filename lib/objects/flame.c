/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks. An object whose stack is not known is added to its call site, a stack of one function, so that the sum of
 * all lines is that of the tables.
 */
#include "objects/flame.h"

#include "base/array.h"
#include "base/escape.h"
#include "base/hash.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct pfs_flame_sum {
	uint64_t key; /* number of the stack << 1; or of the call site << 1 | 1 */
	uint64_t sum;
	UT_hash_handle hh;
};

static int take_end(void *ctx, const struct pfs_object *o, const struct pfs_object_end *end)
{
	struct pfs_flame *flame = ctx;
	struct pfs_flame_sum *sum =
		PFS_HASH_GET(flame->sums, key, o->stack ? (uint64_t)o->stack << 1 : (uint64_t)o->site << 1 | 1);

	if (!sum)
		return -ENOMEM;
	flame->nr_without += !o->stack;
	if (flame->by == PFS_FLAME_ALLOCS)
		sum->sum++;
	else if (flame->by == PFS_FLAME_BYTES || pfs_object_counts_as_alive(end))
		sum->sum += o->allocated;
	return 0;
}

struct pfs_object_sink pfs_flame_sink(struct pfs_flame *flame)
{
	return (struct pfs_object_sink){ .end = take_end, .ctx = flame };
}

void pfs_flame_fini(struct pfs_flame *flame)
{
	PFS_HASH_FREE(flame->sums);
	flame->sums = NULL;
}

/* What the tracer adds at the inner end. */
static bool is_tracers(const char *frame)
{
	static const char *const names[] = { "trace_event_raw_event_", "__traceiter_", "trace_event_buffer_commit",
					     "event_triggers_post_call", "stacktrace_trigger" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(frame, names[i], strlen(names[i])))
			return true;
	return false;
}

/* "alloc_pipe_info+0x88", up to the semicolon: without the offset. */
static void put_frame(FILE *out, const char *frame)
{
	char name[512], text[2048];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(frame, ";+"), frame);
	pfs_escape(text, sizeof(text), name, 0);
	for (char *p = text; (p = strchr(p, ' ')); p++)
		*p = '_';
	fputs(text, out);
}

static void put_frames(FILE *out, const char *frames)
{
	const char *end = frames + strlen(frames), *frame;

	while (is_tracers(frames) && strchr(frames, ';'))
		frames = strchr(frames, ';') + 1;
	while (end > frames) {
		for (frame = end; frame > frames && frame[-1] != ';'; frame--)
			;
		put_frame(out, frame);
		end = frame > frames ? frame - 1 : frames;
		if (frame > frames)
			fputc(';', out);
	}
}

static void put_site(FILE *out, const struct pfs_object_site *site)
{
	if (site->func)
		put_frame(out, site->func);
	else
		fprintf(out, site->addr ? "0x%" PRIx64 : "unknown", site->addr);
}

/* "outermost;...;innermost", the caller's; NULL: no memory. */
static char *folded(const struct pfs_flame *flame, uint64_t key)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	if (key & 1)
		put_site(out, pfs_objects_site(flame->objects, key >> 1));
	else
		put_frames(out, pfs_objects_stack(flame->objects, key >> 1));
	return fclose(out) ? (free(text), NULL) : text;
}

struct line {
	char *text;
	uint64_t sum;
};

static int by_text(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return strcmp(x->text, y->text);
}

/* Stacks that differ in offsets only are one line. */
static void put_lines(FILE *out, struct line *lines, size_t nr)
{
	qsort(lines, nr, sizeof(*lines), by_text);
	for (size_t i = 0; i < nr; i++) {
		if (i + 1 < nr && !strcmp(lines[i].text, lines[i + 1].text))
			lines[i + 1].sum += lines[i].sum;
		else
			fprintf(out, "%s %" PRIu64 "\n", lines[i].text, lines[i].sum);
	}
}

int pfs_flame_print(const struct pfs_flame *flame, FILE *out)
{
	struct line *lines = calloc(HASH_COUNT(flame->sums) + 1, sizeof(*lines));
	size_t nr = 0;
	int ret = lines ? 0 : -ENOMEM;

	for (const struct pfs_flame_sum *s = flame->sums; !ret && s; s = s->hh.next) {
		if (!s->sum)
			continue;
		lines[nr] = (struct line){ folded(flame, s->key), s->sum };
		if (lines[nr].text)
			nr++;
		else
			ret = -ENOMEM;
	}
	if (!ret)
		put_lines(out, lines, nr);
	for (size_t i = 0; i < nr; i++)
		free(lines[i].text);
	free(lines);
	return ret;
}
