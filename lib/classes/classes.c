/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds faults up by class. What an event tells of an earlier fault moves that to another sum. */
#include "classes/classes_priv.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const pfs_class_names[PFS_NR_CLASSES] = {
	[PFS_CLASS_ANON] = "anonymous page",
	[PFS_CLASS_ZERO] = "zero page",
	[PFS_CLASS_COW_ZERO] = "copy of the zero page",
	[PFS_CLASS_COW_FILE] = "copy of a file's page",
	[PFS_CLASS_COW_FORK] = "copy after fork",
	[PFS_CLASS_FILE_READ] = "read of a file's page",
	[PFS_CLASS_FILE_WRITE] = "write to a shared file",
	[PFS_CLASS_SHARED] = "shared memory",
	[PFS_CLASS_SWAP] = "swap-in",
	[PFS_CLASS_NUMA] = "NUMA hint",
	[PFS_CLASS_HUGE] = "huge page",
	[PFS_CLASS_USERFAULTFD] = "userfaultfd",
	[PFS_CLASS_HIDDEN] = "hidden by pfscope",
	[PFS_CLASS_KERNEL] = "page of the kernel ([vdso], ...)",
	[PFS_CLASS_SIGNAL] = "no access (signal or EFAULT)",
	[PFS_CLASS_RETRIED] = "refused, then tried again",
	[PFS_CLASS_TAKEN] = "unknown: was mapped before",
	[PFS_CLASS_PROTECTED] = "unknown: write to a mapped page",
	[PFS_CLASS_SPURIOUS] = "unknown: read of a mapped page",
	[PFS_CLASS_CODE] = "unknown: no error code",
	[PFS_CLASS_REGION] = "unknown: region not known",
};

/* The last fault of a thread: later events may tell more of it. */
struct class_last_fault {
	int32_t tid;
	UT_hash_handle hh;
	struct pfs_class_sum *sum; /* that counts it; NULL: none */
	struct pfs_class_sum one;  /* it alone */
	const struct pfs_space *space;
	uint64_t addr;
	uint64_t nr; /* in the order of reading */
	bool write;
	bool below; /* no region was known there, and it may be below a stack that has grown */
};

struct pfs_classes *pfs_classes_new(const struct pfs_model *model, const struct pfs_filter *filter)
{
	struct pfs_classes *classes = calloc(1, sizeof(*classes));

	if (classes)
		*classes = (struct pfs_classes){ .model = model, .filter = filter };
	return classes;
}

void pfs_classes_free(struct pfs_classes *classes)
{
	if (!classes)
		return;
	PFS_HASH_FREE(classes->sums);
	PFS_HASH_FREE(classes->last);
	PFS_HASH_FREE(classes->histories);
	PFS_HASH_FREE(classes->written);
	free(classes);
}

void class_add(struct pfs_class_sum *to, const struct pfs_class_sum *sum, int sign)
{
	to->faults += sign * sum->faults;
	to->reported += sign * sum->reported;
	to->major += sign * sum->major;
	to->kernel += sign * sum->kernel;
	to->nr_timed += sign * sum->nr_timed;
	to->latency_ns += sign * sum->latency_ns;
}

static struct pfs_labels *labels_of(const struct pfs_classes *classes)
{
	return classes->filter ? classes->filter->labelled : NULL;
}

/* Counts the thread's last fault as one of that class. 0 or -ENOMEM. */
static int count(struct pfs_classes *classes, struct class_last_fault *fault, struct pfs_class_sum of)
{
	struct pfs_class_sum *sum = PFS_HASH_GET(classes->sums, key, of.key);

	if (!sum)
		return -ENOMEM;
	if (fault->sum)
		class_add(fault->sum, &fault->one, -1);
	fault->sum = sum;
	class_add(sum, &fault->one, 1);
	return labels_of(classes) ? pfs_labels_set(labels_of(classes), fault->nr, pfs_class_label(of.key.class)) : 0;
}

static int note_write(struct pfs_classes *classes, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	struct class_written *written, key = class_written_key(classes, outcome->space, ev->addr);

	if (!pfs_has(ev, PFS_F_ACCESS) || ev->access != PFS_WRITE || outcome->before & PFS_PAGE_WRITE ||
	    !(outcome->before & (PFS_PAGE_READ | PFS_PAGE_EXEC)))
		return 0;
	written = PFS_HASH_GET(classes->written, key, key.key);
	if (!written)
		return -ENOMEM;
	written->first_ns = ev->ts_ns;
	return 0;
}

static int take_fault(struct pfs_classes *classes, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	struct class_last_fault *fault = PFS_HASH_GET(classes->last, tid, ev->tid);
	int err;

	if (!fault)
		return -ENOMEM;
	fault->sum = NULL;
	fault->below = !outcome->region && !outcome->unwanted;
	fault->space = outcome->space;
	fault->addr = ev->addr;
	fault->nr = labels_of(classes) ? labels_of(classes)->read - 1 : 0;
	fault->write = pfs_has(ev, PFS_F_ACCESS) && ev->access == PFS_WRITE;
	fault->one = (struct pfs_class_sum){
		.faults = 1,
		.reported = pfs_has(ev, PFS_F_HOW) && ev->how,
		.major = pfs_has(ev, PFS_F_CLASS) && ev->class == PFS_MAJOR_CLASS,
		.kernel = pfs_has(ev, PFS_F_MODE) && ev->mode == PFS_KERNEL,
		.nr_timed = pfs_has(ev, PFS_F_LATENCY),
		.latency_ns = pfs_has(ev, PFS_F_LATENCY) ? ev->latency_ns : 0,
	};
	err = note_write(classes, ev, outcome);
	if (err || outcome->unwanted || !pfs_filter_outcome(classes->filter, outcome))
		return err;
	return count(classes, fault, class_decide(classes, ev, outcome));
}

/* What an event tells of the thread's last fault. */
static int take_outcome(struct pfs_classes *classes, const struct pfs_event *ev)
{
	unsigned int huge_order = classes->model->page_shift - 3;
	struct class_last_fault *fault;

	HASH_FIND(hh, classes->last, &ev->tid, sizeof(ev->tid), fault);
	if (!fault || !fault->sum)
		return 0;
	if (ev->kind == PFS_MAJOR && !fault->one.major) {
		fault->one.major = 1;
		fault->sum->major++;
	} else if (ev->kind == PFS_SIGNAL) {
		return count(classes, fault, class_key(PFS_CLASS_SIGNAL, 0));
	} else if (ev->kind == PFS_HUGE && ev->order >= huge_order && !pfs_has(ev, PFS_F_START)) {
		return count(classes, fault, class_key(PFS_CLASS_HUGE, 0));
	}
	return 0;
}

/* The thread's last fault was below its stack, which has grown. */
static int take_growth(struct pfs_classes *classes, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	struct class_last_fault *fault;

	HASH_FIND(hh, classes->last, &ev->tid, sizeof(ev->tid), fault);
	if (!fault || !fault->below || !pfs_filter_outcome(classes->filter, outcome))
		return 0;
	fault->below = false;
	return count(classes, fault, class_key(class_of_anonymous(classes, fault->write), 0));
}

/* Pages that another thread has filled: who waited for them? */
static int take_filled(struct pfs_classes *classes, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	const struct pfs_space *space = outcome->thread ? pfs_proc_space(outcome->thread->proc) : NULL;
	struct class_last_fault *fault, *next;
	int err = 0;

	HASH_ITER (hh, classes->last, fault, next)
		if (!err && fault->sum && fault->space == space && fault->addr >= ev->start && fault->addr < ev->end)
			err = count(classes, fault, class_key(PFS_CLASS_USERFAULTFD, 0));
	return err;
}

/* What the thread does to its space, or to all of it. */
static int take_history(struct pfs_classes *classes, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	struct class_history *history;
	const struct pfs_space *space;

	if (!outcome->thread || (ev->kind == PFS_ADVISE && ev->advice != PFS_ADVICE_PAGEOUT))
		return 0;
	space = pfs_proc_space(outcome->thread->proc);
	history = PFS_HASH_GET(classes->histories, space, space);
	if (!history)
		return -ENOMEM;
	if (ev->kind == PFS_FORK)
		history->forked_ns = ev->ts_ns;
	else
		history->paged_out = true;
	return 0;
}

static int take(void *ctx, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	switch (ev->kind) {
	case PFS_FAULT:
		return outcome->space && !outcome->space->launcher ? take_fault(ctx, ev, outcome) : 0;
	case PFS_MAJOR:
	case PFS_SIGNAL:
	case PFS_HUGE:
		return outcome->muted ? 0 : take_outcome(ctx, ev);
	case PFS_MAP:
		return outcome->space && outcome->region ? take_growth(ctx, ev, outcome) : 0;
	case PFS_POPULATE:
		return pfs_has(ev, PFS_F_BY) && ev->by == PFS_BY_USERFAULTFD ? take_filled(ctx, ev, outcome) : 0;
	case PFS_FORK:
	case PFS_ADVISE:
		return take_history(ctx, ev, outcome);
	default:
		return 0;
	}
}

struct pfs_observer pfs_classes_observer(struct pfs_classes *classes)
{
	return (struct pfs_observer){ take, NULL, classes };
}

static int compare(const void *a, const void *b)
{
	const struct pfs_class_sum *x = *(struct pfs_class_sum *const *)a, *y = *(struct pfs_class_sum *const *)b;
	bool unknown_x = pfs_class_is_unknown(x->key.class), unknown_y = pfs_class_is_unknown(y->key.class);

	if (unknown_x != unknown_y)
		return unknown_x ? 1 : -1;
	if (x->faults != y->faults)
		return x->faults < y->faults ? 1 : -1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

const struct pfs_class_sum **pfs_classes_sorted(const struct pfs_classes *classes, size_t *nr)
{
	const struct pfs_class_sum **sorted = calloc(HASH_COUNT(classes->sums) + 1, sizeof(*sorted));
	const struct pfs_class_sum *sum, *next;
	uint32_t labels = classes->filter ? classes->filter->labels : 0;

	*nr = 0;
	if (!sorted)
		return NULL;
	HASH_ITER (hh, classes->sums, sum, next)
		if (sum->faults && (!labels || labels >> pfs_class_label(sum->key.class) & 1))
			sorted[(*nr)++] = sum;
	qsort(sorted, *nr, sizeof(*sorted), compare);
	return sorted;
}

static bool is_named(const char *name, const char *word)
{
	return !fnmatch(word, name, FNM_CASEFOLD) || !strncasecmp(word, name, strlen(word));
}

/* The labels of the classes with that name; 0: there are none. */
static uint32_t labels_named(const char *word)
{
	uint32_t labels = 0;

	for (int i = 0; i < PFS_NR_CLASSES; i++) {
		if (!strcasecmp(word, pfs_class_names[i]))
			return UINT32_C(1) << pfs_class_label(i);
		if (*word && is_named(pfs_class_names[i], word))
			labels |= UINT32_C(1) << pfs_class_label(i);
	}
	return labels;
}

bool pfs_classes_parse(const char *list, uint32_t *labels)
{
	uint32_t all = labels_named(list), some = 1;
	char word[128];

	for (const char *p = list, *end; !all && some && p; p = *end ? end + 1 : NULL) {
		end = p + strcspn(p, ",");
		snprintf(word, sizeof(word), "%.*s", (int)(end - p), p);
		some = labels_named(word);
		*labels |= some;
	}
	*labels |= all;
	return some;
}
