/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope's own notes, and the outlet that puts them between the decoder's events.
 */
#include "session/session_priv.h"

#include "base/array.h"
#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int stap_note(void *live, int32_t tid, const struct pfs_fact *fact)
{
	struct stap_notes *notes = &((struct pfs_stap *)live)->notes;
	char *text = pfs_note_text(fact), *equals;
	struct stap_note *note = text ? pfs_array_add(notes->notes, notes->nr, notes->max) : NULL;

	if (!note) {
		free(text);
		return -ENOMEM;
	}
	*note = (struct stap_note){ pfs_now_ns(), tid, text, "" };
	equals = strchr(text, '=');
	if (equals) {
		*equals = '\0';
		note->value = equals + 1;
	}
	return 0;
}

int stap_note_recording(struct pfs_stap *s, const struct pfs_fact *fact)
{
	struct pfs_live *live = s->config.hides_for ? s->config.hides_for : &s->base;

	return live->source->note(live, 0, fact);
}

void stap_notes_free(struct stap_notes *notes)
{
	for (unsigned int i = 0; i < notes->nr; i++)
		free(notes->notes[i].key);
	free(notes->notes);
	memset(notes, 0, sizeof(*notes));
}

static int emit_note(struct stap_outlet *outlet)
{
	const struct stap_note *note = &outlet->notes->notes[outlet->next++];
	struct pfs_event ev = {
		.ts_ns = note->ts_ns,
		.kind = PFS_NOTE,
		.key = note->key,
		.value = note->value,
		.have = PFS_HAS(PFS_F_KEY) | PFS_HAS(PFS_F_VALUE),
	};

	if (note->tid) {
		ev.pid = ev.tid = note->tid;
		ev.have |= PFS_HAS(PFS_F_PID) | PFS_HAS(PFS_F_TID);
	}
	return pfs_emit(&outlet->sink, &ev);
}

/* A note precedes events of the same time, which it may explain. */
static int pass_on(void *ctx, const struct pfs_event *ev)
{
	struct stap_outlet *outlet = ctx;
	int ret = 0;

	while (!ret && outlet->next < outlet->notes->nr && outlet->notes->notes[outlet->next].ts_ns <= ev->ts_ns)
		ret = emit_note(outlet);
	return ret ? ret : pfs_emit(&outlet->sink, ev);
}

static const char *function_name(const void *symbols, uint64_t addr, uint64_t *start)
{
	return pfs_symbols_find(symbols, addr, start);
}

int stap_outlet_init(struct stap_outlet *outlet, const struct pfs_stap *s, const struct pfs_sink *sink)
{
	const struct pfs_sink self = { .fn = pass_on, .ctx = outlet };

	*outlet = (struct stap_outlet){ .notes = &s->notes, .sink = *sink };
	outlet->decoder = pfs_decoder_new(&self);
	if (!outlet->decoder)
		return -ENOMEM;
	pfs_decoder_set_functions(outlet->decoder, function_name, s->symbols);
	return 0;
}

void stap_outlet_fini(struct stap_outlet *outlet)
{
	pfs_decoder_free(outlet->decoder);
	outlet->decoder = NULL;
}

int stap_outlet_finish(struct stap_outlet *outlet)
{
	int ret = pfs_decoder_finish(outlet->decoder);

	while (!ret && outlet->next < outlet->notes->nr)
		ret = emit_note(outlet);
	return ret;
}
