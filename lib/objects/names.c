/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "objects/names.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/intern.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct pfs_number {
	uint64_t key;
	uint32_t nr;
	UT_hash_handle hh;
};

struct pfs_name_thread {
	int32_t key; /* tid */
	int32_t pid; /* 0: unknown */
	const char *comm;
	uint32_t who; /* + 1; 0: not known yet */
	UT_hash_handle hh;
};

/* A process that was chosen, or descends from one. */
struct pfs_name_target {
	int32_t key; /* pid */
	UT_hash_handle hh;
};

/* By its pid; of a thread whose process is unknown by its tid << 32. */
struct pfs_name_process {
	uint64_t key;
	uint32_t who; /* the first one + 1; 0: none yet */
	UT_hash_handle hh;
};

/* ---- numbers ---- */

/* Of a key that is not the hot one of its place. */
static __attribute__((noinline)) int64_t find_number(struct pfs_numbers *numbers, uint64_t key,
						     struct pfs_number_hot *hot, bool *is_new)
{
	struct pfs_number *number;

	HASH_FIND(hh, numbers->all, &key, sizeof(key), number);
	if (!number) {
		number = PFS_HASH_GET(numbers->all, key, key);
		if (!number)
			return -ENOMEM;
		number->nr = numbers->nr++;
		*is_new = true;
	}
	*hot = (struct pfs_number_hot){ key, number->nr + 1 };
	return number->nr;
}

/* *is_new: it is the next one. -ENOMEM. */
static inline int64_t number_of(struct pfs_numbers *numbers, uint64_t key, bool *is_new)
{
	struct pfs_number_hot *hot = &numbers->hot[(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % PFS_NAMES_HOT];

	*is_new = false;
	return hot->nr && hot->key == key ? hot->nr - 1 : find_number(numbers, key, hot, is_new);
}

/* Eight bytes at a time: the name of a cache is hashed with each event. */
static inline uint64_t text_key(const char *text)
{
	size_t len = strlen(text);
	uint64_t key = PFS_HASH_START ^ len, part;

	for (; len >= sizeof(part); len -= sizeof(part), text += sizeof(part)) {
		memcpy(&part, text, sizeof(part));
		key = (key ^ part) * UINT64_C(0x9e3779b97f4a7c15);
		key ^= key >> 32;
	}
	return pfs_hash(key, text, len);
}

/* Sites without an address are told apart by their function. */
int64_t pfs_names_site(struct pfs_names *n, const struct pfs_event *ev)
{
	bool has_addr = pfs_has(ev, PFS_F_SITE), has_func = pfs_has(ev, PFS_F_FUNC), is_new;
	int64_t nr = number_of(&n->site_numbers, has_addr ? ev->site : has_func ? text_key(ev->func) : 0, &is_new);
	struct pfs_object_site *site;

	if (nr < 0 || !is_new)
		return nr;
	site = pfs_array_add(n->sites, n->nr_sites, n->max_sites);
	if (!site)
		return -ENOMEM;
	*site = (struct pfs_object_site){ has_addr ? ev->site : 0, NULL };
	if (has_func && !(site->func = pfs_intern(&n->strings, ev->func)))
		return -ENOMEM;
	return nr;
}

/*
 * The event of kmalloc() has no cache: then it is the size class. Before 6.18 other allocations do not name theirs, either:
 * a cache has objects of one size, so those of different sizes are of different caches.
 */
int64_t pfs_names_cache(struct pfs_names *n, const struct pfs_event *ev)
{
	bool pages = pfs_has(ev, PFS_F_PFN), named = pages || pfs_has(ev, PFS_F_CACHE), sized, is_kmalloc, is_new;
	const char *name = pages ? "pages" : named ? ev->cache : "?";
	uint64_t key = text_key(name);
	struct pfs_object_cache *cache;
	char text[32];
	int64_t nr;

	is_kmalloc = key == n->kmalloc_key;
	sized = (is_kmalloc || !named) && pfs_has(ev, PFS_F_ALLOCATED);
	nr = number_of(&n->cache_numbers, sized ? ev->allocated << 1 | is_kmalloc : key, &is_new);
	if (nr < 0 || !is_new)
		return nr;
	cache = pfs_array_add(n->caches, n->nr_caches, n->max_caches);
	if (!cache)
		return -ENOMEM;
	if (sized)
		snprintf(text, sizeof(text), "%s %" PRIu64, name, ev->allocated);
	*cache = (struct pfs_object_cache){ .name = pfs_intern(&n->strings, sized ? text : name), .named = named };
	if (!cache->name)
		return -ENOMEM;
	cache->wanted = !n->filter->cache || !fnmatch(n->filter->cache, cache->name, 0);
	return nr;
}

/* ---- processes ---- */

static bool is_wanted_process(const struct pfs_names *n, const struct pfs_name_thread *t)
{
	const struct pfs_object_filter *f = n->filter;
	struct pfs_name_target *target;
	unsigned int i = 0;

	HASH_FIND_INT(n->targets, &t->pid, target);
	if (n->has_targets && !target)
		return false;
	while (i < f->nr_pids && f->pids[i] != t->pid)
		i++;
	if (f->nr_pids && i == f->nr_pids)
		return false;
	return !f->comm || (t->comm && !fnmatch(f->comm, t->comm, 0));
}

static __attribute__((noinline)) struct pfs_name_thread *find_thread(struct pfs_names *n, int32_t tid)
{
	return PFS_HASH_GET(n->threads, key, tid);
}

static inline struct pfs_name_thread *thread_of(struct pfs_names *n, int32_t tid)
{
	struct pfs_name_thread **hot = &n->hot_threads[(uint32_t)tid % PFS_NAMES_HOT];

	if (!*hot || (*hot)->key != tid)
		*hot = find_thread(n, tid);
	return *hot;
}

static int64_t number_who(struct pfs_names *n, struct pfs_name_thread *t)
{
	bool wanted = is_wanted_process(n, t), is_new;
	const int32_t ids[] = { t->pid, t->pid ? 0 : t->key, wanted };
	uint64_t key = pfs_hash(t->comm ? text_key(t->comm) : PFS_HASH_START, ids, sizeof(ids));
	int64_t nr = number_of(&n->who_numbers, key, &is_new);
	struct pfs_name_process *process;
	struct pfs_object_who *who;

	if (nr < 0)
		return nr;
	t->who = nr + 1;
	if (!is_new)
		return nr;
	process = PFS_HASH_GET(n->processes, key, t->pid ? (uint32_t)t->pid : (uint64_t)(uint32_t)t->key << 32);
	who = pfs_array_add(n->whos, n->nr_whos, n->max_whos);
	if (!process || !who)
		return -ENOMEM;
	process->who = process->who ? process->who : nr + 1;
	*who = (struct pfs_object_who){ t->pid, t->pid ? 0 : t->key, t->comm, wanted, process->who - 1 };
	return nr;
}

int64_t pfs_names_who(struct pfs_names *n, const struct pfs_event *ev)
{
	struct pfs_name_thread *t = thread_of(n, pfs_has(ev, PFS_F_TID) ? ev->tid : -1);

	if (!t)
		return -ENOMEM;
	if (pfs_has(ev, PFS_F_PID) && t->pid != ev->pid) {
		t->pid = ev->pid;
		t->who = 0;
	}
	return t->who ? t->who - 1 : number_who(n, t);
}

static int name_thread(struct pfs_names *n, int32_t tid, int32_t pid, const char *comm)
{
	struct pfs_name_thread *t = thread_of(n, tid);

	if (!t)
		return -ENOMEM;
	t->who = 0;
	t->pid = pid ? pid : t->pid;
	if (comm && !(t->comm = pfs_intern(&n->strings, comm)))
		return -ENOMEM;
	return 0;
}

int pfs_names_target(struct pfs_names *n, int32_t pid)
{
	struct pfs_name_target *target = PFS_HASH_GET(n->targets, key, pid);
	struct pfs_name_thread *t;

	for (t = n->threads; t; t = t->hh.next)
		if (t->pid == pid)
			t->who = 0;
	n->has_targets = true;
	return target ? 0 : -ENOMEM;
}

/* A number may have been another process's. */
static int inherit_target(struct pfs_names *n, int32_t pid, int32_t child)
{
	struct pfs_name_target *target, *old;

	HASH_FIND_INT(n->targets, &pid, target);
	HASH_FIND_INT(n->targets, &child, old);
	if (target)
		return PFS_HASH_GET(n->targets, key, child) ? 0 : -ENOMEM;
	if (old) {
		HASH_DEL(n->targets, old);
		free(old);
	}
	return 0;
}

int pfs_names_process(struct pfs_names *n, const struct pfs_event *ev)
{
	struct pfs_name_thread *parent;
	int32_t pid = pfs_has(ev, PFS_F_PID) ? ev->pid : 0;

	if (!pfs_has(ev, PFS_F_TID))
		return 0;
	switch (ev->kind) {
	case PFS_COMM:
		return name_thread(n, ev->tid, pid, ev->comm);
	case PFS_FORK:
	case PFS_THREAD:
		if (!pfs_has(ev, PFS_F_CHILD))
			return 0;
		parent = thread_of(n, ev->tid);
		if (!parent)
			return -ENOMEM;
		if (ev->kind == PFS_THREAD)
			return name_thread(n, ev->child, pid, parent->comm);
		return inherit_target(n, pid, ev->child) ?: name_thread(n, ev->child, ev->child, parent->comm);
	default:
		return 0;
	}
}

/* ---- stacks, and caches that are one ---- */

/* From 1 on; or -ENOMEM. */
int64_t pfs_names_stack(struct pfs_names *n, const char *frames)
{
	bool is_new;
	int64_t nr = number_of(&n->stack_numbers, text_key(frames), &is_new);
	const char **stack;

	if (nr < 0 || !is_new)
		return nr < 0 ? nr : nr + 1;
	stack = pfs_array_add(n->stacks, n->nr_stacks, n->max_stacks);
	if (!stack || !(*stack = pfs_intern(&n->strings, frames)))
		return -ENOMEM;
	return nr + 1;
}

int pfs_names_add_merged(struct pfs_names *n, const char *names)
{
	const char **merged = pfs_array_append(n->merged, n->nr_merged);

	return merged && (*merged = pfs_intern(&n->strings, names)) ? 0 : -ENOMEM;
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; (at = strstr(at, word)); at += len)
		if ((at == words || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

const char *pfs_names_merged(const struct pfs_names *n, uint32_t cache)
{
	const char *name = n->caches[cache].name;

	for (size_t i = 0; *name && i < n->nr_merged; i++)
		if (has_word(n->merged[i], name))
			return n->merged[i];
	return NULL;
}

/* ---- the whole ---- */

void pfs_names_init(struct pfs_names *n, const struct pfs_object_filter *filter)
{
	*n = (struct pfs_names){ .filter = filter, .kmalloc_key = text_key("kmalloc") };
}

void pfs_names_fini(struct pfs_names *n)
{
	PFS_HASH_FREE(n->site_numbers.all);
	PFS_HASH_FREE(n->cache_numbers.all);
	PFS_HASH_FREE(n->who_numbers.all);
	PFS_HASH_FREE(n->stack_numbers.all);
	PFS_HASH_FREE(n->threads);
	PFS_HASH_FREE(n->targets);
	PFS_HASH_FREE(n->processes);
	free(n->sites);
	free(n->caches);
	free(n->whos);
	free(n->stacks);
	free(n->merged);
	pfs_intern_free(n->strings);
}
