/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace.dat read twice, by pfscope and by libtracecmd, to the same list of raw events.
 *
 * libtracecmd is the oracle of the tests only; the program does not link it. Fields are taken by
 * name from libtraceevent's own reading of each record, not by pfscope's table of offsets.
 * Included by the tests of ftrace/ and by tests/tools/dat_dump.c.
 */
#ifndef DAT_ORACLE_H
#define DAT_ORACLE_H

#include "dat/dat.h"
#include "record/pfscope_records.h"
#include "record/raw.h"
#include "record/ringpage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace-cmd.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
/* libtracecmd 3.1.6 forgets the names of clocks that it has read with sscanf(). */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:vsscanf";
}
#endif

struct ev_list {
	struct raw_event *ev;
	size_t nr, max;
	struct pfs_records_join join;
};

static inline void ev_list_fini(struct ev_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free((char *)list->ev[i].str);
	free(list->ev);
	pfs_records_join_free(&list->join);
	*list = (struct ev_list){ 0 };
}

/* A raw_event_fn: keeps a copy. */
static inline int ev_list_add(void *ctx, const struct raw_event *ev)
{
	struct ev_list *list = ctx;

	if (list->nr == list->max) {
		list->max = list->max ? list->max * 2 : 256;
		list->ev = realloc(list->ev, list->max * sizeof(*list->ev));
		if (!list->ev)
			return -ENOMEM;
	}
	list->ev[list->nr] = *ev;
	if (ev->kind == RAW_OTHER) { /* nothing else of it is said */
		list->ev[list->nr].nr = SYS_OTHER;
		list->ev[list->nr].str = NULL;
		memset(list->ev[list->nr].arg, 0, sizeof(ev->arg));
	} else if (ev->str) {
		list->ev[list->nr].str = strdup(ev->str);
	}
	list->nr++;
	return 0;
}

/* pfscope's view. 0 or -errno. */
static inline int ev_list_pfs(struct ev_list *list, int fd, unsigned int flags, struct pfs_err *err)
{
	struct pfs_dat *dat = pfs_dat_open(fd, "file", flags, err);
	int ret;

	if (!dat)
		return -errno;
	ret = pfs_dat_read(dat, flags & PFS_DAT_OTHER, ev_list_add, list, err);
	pfs_dat_close(dat);
	return ret;
}

static inline uint64_t oracle_arg(struct tep_event *event, const char *names, struct tep_record *record)
{
	char copy[128], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", names);
	for (char *name = strtok_r(copy, "|", &save); name; name = strtok_r(NULL, "|", &save)) {
		struct tep_format_field *field = tep_find_field(event, name);
		unsigned long long v;

		if (!field || tep_read_number_field(field, record->data, &v))
			continue;
		if (!(field->flags & TEP_FIELD_IS_SIGNED))
			return v;
		return field->size == 4	  ? (uint64_t)(int64_t)(int32_t)v
		       : field->size == 2 ? (uint64_t)(int64_t)(int16_t)v
		       : field->size == 1 ? (uint64_t)(int64_t)(int8_t)v
					  : v;
	}
	return RAW_ABSENT;
}

static inline int oracle_event(struct tracecmd_input *handle, struct tep_record *record, int cpu, void *ctx)
{
	struct tep_event *event = tep_find_event_by_record(tracecmd_get_tep(handle), record);
	const struct raw_desc *desc = event ? raw_desc_find(event->system, event->name) : NULL;
	struct ev_list *list = ctx;
	struct raw_event ev = { .ts_ns = record->ts, .cpu = record->cpu, .tgid = -1 };
	int len;

	for (int i = 0; i < RAW_MAX_ARGS; i++)
		ev.arg[i] = RAW_ABSENT;
	if (record->missed_events) {
		struct raw_event lost = ev;

		lost.kind = RAW_LOST;
		lost.tid = -1;
		lost.arg[0] = record->missed_events < 0 ? PFS_LOST_UNKNOWN : (uint64_t)record->missed_events;
		for (size_t i = list->nr; i-- > 0 && lost.arg[1] == RAW_ABSENT;)
			if (list->ev[i].cpu == record->cpu)
				lost.arg[1] = list->ev[i].ts_ns;
		ev_list_add(list, &lost);
	}
	ev.tid = tep_data_pid(tracecmd_get_tep(handle), record);
	ev.kind = desc ? desc->kind : RAW_OTHER;
	ev.nr = desc ? desc->nr : SYS_OTHER;
	for (int i = 0; desc && i < RAW_MAX_ARGS && desc->args[i]; i++)
		ev.arg[i] = oracle_arg(event, desc->args[i], record);
	if (desc && desc->str)
		ev.str = tep_get_field_raw(NULL, event, desc->str, record, &len, 0);
	if (ev.kind >= RAW_PFS_MAP) {
		ev.cpu = -1;
		if (pfs_records_join(&list->join, &ev) <= 0)
			return 0;
	}
	return ev_list_add(list, &ev);
}

/* libtracecmd's view. Closes fd. 0, or -1 if it cannot read the file. */
static inline int ev_list_oracle(struct ev_list *list, int fd)
{
	struct tracecmd_input *handles[64];
	int nr = 0, ret;

	tracecmd_set_loglevel(TEP_LOG_NONE);
	tep_set_loglevel(TEP_LOG_NONE);
	handles[0] = tracecmd_open_fd(fd, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!handles[0])
		return -1;
	list->join = (struct pfs_records_join){ 0 };
	for (nr = 1; nr <= tracecmd_buffer_instances(handles[0]) && nr < 64; nr++)
		handles[nr] = tracecmd_buffer_instance_handle(handles[0], nr - 1);
	ret = tracecmd_iterate_events_multi(handles, nr, oracle_event, list);
	while (nr--)
		tracecmd_close(handles[nr]);
	return ret;
}

/* One line of text an event, the same for both views. */
static inline void ev_print(FILE *out, const struct raw_event *ev)
{
	fprintf(out, "%llu cpu=%d tid=%d kind=%d nr=%d", (unsigned long long)ev->ts_ns, ev->cpu, ev->tid, ev->kind,
		ev->nr);
	for (int i = 0; i < RAW_MAX_ARGS; i++)
		if (ev->arg[i] != RAW_ABSENT)
			fprintf(out, " %d=%llx", i, (unsigned long long)ev->arg[i]);
	fprintf(out, "%s%s\n", ev->str ? " str=" : "", ev->str ? ev->str : "");
}

#endif
