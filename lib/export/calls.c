/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/calls.h"

#include "base/array.h"
#include "base/escape.h"
#include "base/hash.h"
#include "jit/jit.h"
#include "symbol/symbolizer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Places that are one: the key of a number. */
struct place_slot {
	struct place_key {
		const char *name, *module, *source;
		uint64_t line;
	} key;
	uint32_t nr;
	UT_hash_handle hh;
};

struct text_slot {
	const char *key;
	const char *text;
	UT_hash_handle hh;
};

struct viewer_calls_private {
	struct place_slot *places;
	uint32_t *of_places; /* by the symbolizer's numbers: those of places, from 1; 0: not known yet */
	size_t max_of_places;
	struct pfs_index numbers; /* of calls */
	struct text_slot *texts;
	struct pfs_symbolizer *symbolizer;
	struct pfs_jit *jit;
	const struct pfs_model *model;
	unsigned int nr_notes; /* of the model, that the symbolizer knows */
};

int viewer_calls_init(struct viewer_calls *calls, const struct pfs_model *model,
		      const struct pfs_viewer_options *options)
{
	struct pfs_symbolizer_options symbols = { .lines = true, .inlines = true, .files = options->symbols };
	struct viewer_call *root;
	pthread_mutexattr_t twice;

	*calls = (struct viewer_calls){ .priv = calloc(1, sizeof(*calls->priv)) };
	pthread_mutexattr_init(&twice);
	pthread_mutexattr_settype(&twice, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&calls->lock, &twice);
	pthread_mutexattr_destroy(&twice);
	root = calls->priv ? pfs_array_add(calls->calls, calls->nr_calls, calls->max_calls) : NULL;
	if (!root)
		return -ENOMEM;
	*root = (struct viewer_call){ 0 };
	calls->priv->model = model;
	/* How long it took is not known yet: perf maps must be as new as its end. */
	pfs_symbolizer_of_recording(&symbols, options->recording, 0);
	calls->priv->jit = symbols.jit = pfs_jit_new();
	calls->priv->symbolizer = pfs_symbolizer_new(&symbols);
	if (!calls->priv->symbolizer || !symbols.jit ||
	    pfs_symbolizer_prepare_jit(symbols.jit, &options->symbols, options->notes))
		return -ENOMEM;
	return options->notes ? pfs_symbolizer_notes(calls->priv->symbolizer, options->notes) : 0;
}

void viewer_calls_fini(struct viewer_calls *calls)
{
	if (calls->priv) {
		PFS_HASH_FREE(calls->priv->places);
		free(calls->priv->of_places);
		free(calls->priv->numbers.slots);
		PFS_HASH_FREE(calls->priv->texts);
		pfs_symbolizer_free(calls->priv->symbolizer);
		pfs_jit_free(calls->priv->jit);
	}
	pthread_mutex_destroy(&calls->lock);
	free(calls->priv);
	free(calls->places);
	free(calls->calls);
	pfs_intern_free(calls->strings);
}

int viewer_calls_event(struct viewer_calls *calls, const struct pfs_event *ev, int32_t pid)
{
	return pfs_jit_event(calls->priv->jit, ev, pid);
}

int viewer_calls_epoch(struct viewer_calls *calls, int32_t pid, uint64_t ts_ns, uint64_t *epoch)
{
	return pfs_jit_epoch(calls->priv->jit, pid, ts_ns, epoch);
}

/* Nearly all strings need no escape. */
static bool is_plain(const char *s)
{
	for (; *s; s++)
		if (*s < ' ' || *s > '~' || *s == '\\')
			return false;
	return true;
}

static const char *find_text(struct viewer_calls *calls, const char *s)
{
	struct text_slot *slot;
	const char *key = pfs_intern(&calls->strings, s);

	if (!key || is_plain(key))
		return key;
	slot = PFS_HASH_GET(calls->priv->texts, key, key);
	if (slot && !slot->text) {
		size_t size = pfs_escape(NULL, 0, key, 0) + 1;
		char *text = malloc(size);

		if (text) {
			pfs_escape(text, size, key, 0);
			slot->text = pfs_intern(&calls->strings, text);
		}
		free(text);
	}
	return slot ? slot->text : NULL;
}

const char *viewer_text(struct viewer_calls *calls, const char *s)
{
	const char *text;

	viewer_calls_lock(calls);
	text = find_text(calls, s);
	calls->failed |= !text;
	viewer_calls_unlock(calls);
	return text;
}

static int place_number(struct viewer_calls *calls, const struct viewer_place *place, uint32_t *nr)
{
	struct place_key key = { place->name, place->module, place->source, place->line };
	struct place_slot *slot = PFS_HASH_GET(calls->priv->places, key, key);
	struct viewer_place *added;

	if (!slot)
		return -ENOMEM;
	if (!slot->nr) { /* plus 1 */
		added = pfs_array_add(calls->places, calls->nr_places, calls->max_places);
		if (!added)
			return -ENOMEM;
		*added = *place;
		slot->nr = calls->nr_places;
	}
	*nr = slot->nr - 1;
	return 0;
}

static bool is_call(const void *ctx, uint32_t nr, const void *key)
{
	const struct viewer_calls *calls = ctx;
	const struct viewer_call *a = &calls->calls[nr], *b = key;

	return a->parent == b->parent && a->place == b->place && a->inlined == b->inlined;
}

static int call_number(struct viewer_calls *calls, uint32_t parent, uint32_t place, bool inlined, uint32_t *nr)
{
	struct viewer_call call = { parent, place, calls->calls[parent].depth + 1, inlined }, *added;
	uint64_t hash = pfs_index_hash(0, (uint64_t)parent << 32 ^ (uint64_t)place << 1 ^ inlined);
	uint32_t *known = pfs_index_find(&calls->priv->numbers, hash, is_call, calls, &call);

	if (!known)
		return -ENOMEM;
	if (!*known) {
		added = calls->nr_calls < UINT32_MAX ? pfs_array_add(calls->calls, calls->nr_calls, calls->max_calls)
						     : NULL;
		if (!added)
			return -ENOMEM;
		*added = call;
		*known = calls->nr_calls - 1;
	}
	*nr = *known;
	return 0;
}

/* ---- what a frame is called ---- */

static bool is_kernel(const struct pfs_frame *frame)
{
	return frame->func || frame->addr >> 63;
}

/* What stands for the function: the offset in its file, or the address. */
static void put_address(char *buf, size_t size, const struct pfs_frame *frame, const char *module)
{
	bool in_file = pfs_is_file(frame->dev, frame->ino);

	if (frame->func)
		snprintf(buf, size, "%s", frame->func);
	else
		snprintf(buf, size, "%s%s0x%" PRIx64, module ? module : "",
			 module && in_file ? "+" : (module ? " " : ""), in_file ? frame->off : frame->addr);
}

static int find_place(struct viewer_calls *calls, const struct pfs_frame *frame, const struct pfs_place *from,
		      uint32_t *nr)
{
	const char *module = from->module ? from->module : (is_kernel(frame) ? "[kernel]" : NULL);
	char name[512];
	struct viewer_place place = {
		.off = pfs_is_file(frame->dev, frame->ino) ? frame->off : frame->addr,
		.line = from->line,
		.kernel = is_kernel(frame),
		.module = viewer_text(calls, module ? module : ""),
		.path = viewer_text(calls, from->path ? from->path : ""),
		.build_id = viewer_text(calls, from->build_id ? from->build_id : ""),
		.source = viewer_text(calls, from->source ? from->source : ""),
	};

	put_address(name, sizeof(name), frame, module);
	place.name = viewer_text(calls, from->func ? from->func : name);
	if (!place.name || !place.module || !place.path || !place.build_id || !place.source)
		return -ENOMEM;
	return place_number(calls, &place, nr);
}

/* Build-ids that were noted meanwhile. 0 or -ENOMEM. */
static int learn_notes(struct viewer_calls_private *priv)
{
	if (priv->nr_notes == priv->model->nr_notes)
		return 0;
	priv->nr_notes = priv->model->nr_notes;
	return pfs_symbolizer_notes(priv->symbolizer, priv->model);
}

/* A place without a function or a file is called by its address, which may be another one in each process ([vdso]). */
static int find_known_place(struct viewer_calls *calls, const struct pfs_frame *frame, const struct pfs_place *from,
			    uint32_t *nr)
{
	struct viewer_calls_private *priv = calls->priv;
	int err = 0;

	if (!from->func && !pfs_is_file(frame->dev, frame->ino))
		return find_place(calls, frame, from, nr);
	if (!pfs_array_extend(priv->of_places, priv->max_of_places, (size_t)from->nr + 1))
		return -ENOMEM;
	if (!priv->of_places[from->nr]) {
		err = find_place(calls, frame, from, nr);
		priv->of_places[from->nr] = err ? 0 : *nr + 1;
	}
	*nr = priv->of_places[from->nr] - 1;
	return err;
}

/* *call: the path of the frame behind *call. 0 or -ENOMEM. */
static int add_frame(struct viewer_calls *calls, const struct pfs_frame *frame, uint64_t ts_ns, uint32_t *call)
{
	uint32_t nr = 0, place;
	const struct pfs_place *places = pfs_symbolizer_frame(calls->priv->symbolizer, frame, ts_ns, &nr);
	int err = places ? 0 : -ENOMEM;

	while (!err && nr--)
		err = find_known_place(calls, frame, &places[nr], &place)
			      ?: call_number(calls, *call, place, places[nr].inlined, call);
	return err;
}

int viewer_calls_ahead(struct viewer_calls *calls, const struct pfs_frame *const *frames, uint32_t nr, uint64_t ts_ns)
{
	return learn_notes(calls->priv) ?: pfs_symbolizer_ahead(calls->priv->symbolizer, frames, nr, ts_ns);
}

/* Without the lock: an answer may take long. 0 or -ENOMEM. */
static int get_answers(struct viewer_calls *calls, const struct pfs_frame *const *frames, uint32_t nr, uint64_t ts_ns)
{
	int err = learn_notes(calls->priv);
	uint32_t places;

	return err || !nr || pfs_symbolizer_frame(calls->priv->symbolizer, frames[0], ts_ns, &places) ? err : -ENOMEM;
}

int viewer_calls_find(struct viewer_calls *calls, const struct pfs_frame *const *frames, uint32_t nr, uint64_t ts_ns,
		      uint32_t *call)
{
	int err = get_answers(calls, frames, nr, ts_ns);

	*call = 0;
	viewer_calls_lock(calls);
	while (!err && nr--)
		err = add_frame(calls, frames[nr], ts_ns, call);
	viewer_calls_unlock(calls);
	return err;
}

int viewer_calls_files(const struct viewer_calls *calls, uint32_t *first)
{
	struct file_slot {
		const char *key;
		uint32_t first;
		UT_hash_handle hh;
	} *slots = NULL;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < calls->nr_places; i++) {
		const char *file = viewer_file(&calls->places[i]);
		struct file_slot *slot = *file ? PFS_HASH_GET(slots, key, file) : NULL;

		if (slot && !slot->first)
			slot->first = i + 1;
		first[i] = slot ? slot->first : 0;
		ret = *file && !slot ? -ENOMEM : 0;
	}
	PFS_HASH_FREE(slots);
	return ret;
}

int viewer_calls_named(struct viewer_calls *calls, const char *name, uint32_t *call)
{
	struct viewer_place place = {
		.name = viewer_text(calls, name),
		.module = viewer_text(calls, ""),
	};
	uint32_t nr;
	int err;

	if (!place.name || !place.module)
		return -ENOMEM;
	place.path = place.build_id = place.source = place.module;
	viewer_calls_lock(calls);
	err = place_number(calls, &place, &nr) ?: call_number(calls, 0, nr, false, call);
	viewer_calls_unlock(calls);
	return err;
}
