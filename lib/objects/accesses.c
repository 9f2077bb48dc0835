/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "objects/accesses.h"

#include "base/array.h"
#include "base/hash.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct pfs_access_sum_nr {
	uint64_t key; /* site << 32 | cache */
	uint32_t nr;
	UT_hash_handle hh;
};

/* A watched object that lives. */
struct pfs_access_object {
	uint64_t key;
	struct pfs_object_access *rows;
	size_t nr, max;
	UT_hash_handle hh;
};

static void free_object(struct pfs_access_object *object)
{
	free(object->rows);
	free(object);
}

void pfs_accesses_fini(struct pfs_accesses *a)
{
	struct pfs_access_object *object, *next;

	HASH_ITER (hh, a->objects, object, next) {
		HASH_DEL(a->objects, object);
		free_object(object);
	}
	for (size_t i = 0; i < sizeof(a->words) / sizeof(a->words[0]); i++)
		free(a->words[i].counts);
	PFS_HASH_FREE(a->sum_nrs);
	free(a->sums);
	*a = (struct pfs_accesses){ 0 };
}

/* ---- the estimates ---- */

static uint64_t count_of(const struct pfs_access_word *word, uint32_t sum, bool write)
{
	for (size_t i = 0; i < word->nr_counts; i++)
		if (word->counts[i].sum == sum)
			return word->counts[i].nr[write];
	return 0;
}

/* From what each word of the choice has seen. */
static void add_to_sum(struct pfs_accesses *a, uint32_t nr, bool write)
{
	struct pfs_access_sum *sum = &a->sums[nr];
	double all = a->words[0].words, m = a->nr_words, mean = 0, squares = 0;

	if (!a->words[0].words) /* not chosen at random */
		return;
	for (unsigned int i = 0; i < a->nr_words; i++) {
		double part = count_of(&a->words[i], nr, write) * all / m;

		mean += part;
		sum->most[write] = fmax(sum->most[write], part);
	}
	for (unsigned int i = 0; i < a->nr_words; i++) {
		double off = count_of(&a->words[i], nr, write) * all - mean;

		squares += off * off;
	}
	sum->estimate[write] += mean;
	if (m > 1)
		sum->variance[write] += squares / (m - 1) / m * (1 - m / all);
	else
		sum->variance[write] += mean * mean * (1 - m / all);
}

/* Each sum once: of the first word that has it. */
static bool is_first(const struct pfs_accesses *a, unsigned int word, uint32_t sum)
{
	for (unsigned int i = 0; i < word; i++)
		for (size_t k = 0; k < a->words[i].nr_counts; k++)
			if (a->words[i].counts[k].sum == sum)
				return false;
	return true;
}

/* The choice is over. */
static void settle(struct pfs_accesses *a)
{
	if (a->nr_words && a->words[0].words)
		a->stats.watched_ns += a->words[0].ended_ns - a->words[0].begun_ns;
	if (a->nr_words > 1 && a->words[0].words)
		a->stats.nr_spreads += a->nr_words - 1;
	a->stats.partial |= a->words[0].words > a->nr_words;
	for (unsigned int i = 0; i < a->nr_words; i++)
		for (size_t k = 0; k < a->words[i].nr_counts; k++)
			for (int write = 0; write < 2; write++)
				if (is_first(a, i, a->words[i].counts[k].sum))
					add_to_sum(a, a->words[i].counts[k].sum, write);
	for (unsigned int i = 0; i < a->nr_words; i++)
		a->words[i].nr_counts = 0;
	a->nr_words = 0;
}

/*
 * The quantile of a sum of hits, each of which counts for many: of the gamma distribution with that mean and variance, which is
 * as skew as few hits are. Of chi-square by Wilson and Hilferty. `normal` is the quantile of the normal distribution.
 */
static double quantile(double mean, double variance, double normal)
{
	double degrees = variance > 0 ? 2 * mean * mean / variance : 0, root;

	if (!(degrees > 0))
		return mean > 0 ? mean : 0;
	root = 1 - 2 / (9 * degrees) + normal * sqrt(2 / (9 * degrees));
	return root > 0 ? mean * root * root * root : 0;
}

/* Student's distribution, for the variance of few choices is known badly: Abramowitz and Stegun 26.7.5. */
static double student(double n)
{
	return n < 2 ? 12.71 : 1.96 + 2.372 / n + 2.823 / (n * n) + 2.556 / (n * n * n);
}

/*
 * Fay and Feuer (1997), of sums of few hits that weigh differently: the upper end as if one more hit had been seen, of the
 * most that one was. The lower end as if it was one less, for what is not seen at all is not among the sums.
 */
void pfs_access_interval(const struct pfs_accesses *a, const struct pfs_access_sum *sum, bool write, double interval[2])
{
	double estimate = sum->estimate[write], most = sum->most[write];
	double wider = student(a->stats.nr_spreads) / 1.96, variance = sum->variance[write] * wider * wider;

	interval[0] = interval[1] = estimate;
	if (!a->stats.partial)
		return;
	interval[0] = fmax(sum->seen[write], quantile(estimate - most, variance - most * most, -1.96));
	interval[1] = most > 0 ? quantile(estimate + most, variance + most * most, 1.96) : INFINITY;
}

/* ---- what is watched ---- */

static bool is_in(const struct pfs_object *object, uint64_t off)
{
	return off < (object->allocated > object->size ? object->allocated : object->size);
}

static int object_begins(struct pfs_accesses *a, struct pfs_access_word *word, const struct pfs_object *object,
			 uint64_t ts_ns)
{
	struct pfs_access_object *known;

	if (!is_in(object, word->off))
		return 0;
	HASH_FIND(hh, a->objects, &object->key, sizeof(object->key), known);
	a->stats.nr_watched += !known;
	word->since_ns = ts_ns;
	return PFS_HASH_GET(a->objects, key, object->key) ? 0 : -ENOMEM;
}

static void object_ends(struct pfs_accesses *a, struct pfs_access_word *word, uint64_t ts_ns)
{
	if (word->since_ns && ts_ns > word->since_ns)
		a->stats.watched_byte_ns += (double)word->len * (ts_ns - word->since_ns);
	word->since_ns = 0;
}

/* The next word of the object at key that is watched. */
static struct pfs_access_word *next_word(struct pfs_accesses *a, uint64_t key, struct pfs_access_word *after)
{
	for (struct pfs_access_word *w = after ? after + 1 : a->words; w < a->words + a->nr_words; w++)
		if (w->key == key && !w->ended_ns)
			return w;
	return NULL;
}

static struct pfs_access_word *word_at(struct pfs_accesses *a, uint64_t key, uint64_t off)
{
	struct pfs_access_word *word = next_word(a, key, NULL);

	while (word && word->off != off)
		word = next_word(a, key, word);
	return word;
}

static int begin(struct pfs_accesses *a, const struct pfs_event *ev, const struct pfs_object *object)
{
	struct pfs_access_word *word;
	struct pfs_access_count *counts;
	size_t max;

	if (!a->nr_open)
		settle(a);
	word = &a->words[a->nr_words];
	if (!pfs_has(ev, PFS_F_COUNT)) /* they begin and end one by one */
		for (word = a->words; word < a->words + a->nr_words && !word->ended_ns;)
			word++;
	if (word == a->words + sizeof(a->words) / sizeof(a->words[0]))
		return 0;
	a->nr_words += word == a->words + a->nr_words;
	counts = word->counts;
	max = word->max_counts;
	*word = (struct pfs_access_word){
		.key = ev->ptr & ~UINT64_C(1),
		.off = ev->off,
		.len = ev->len,
		.words = !pfs_has(ev, PFS_F_COUNT) ? 0
			 : ev->count		   ? ev->count
						   : 1,
		.begun_ns = ev->ts_ns,
		.counts = counts,
		.max_counts = max,
	};
	a->nr_open++;
	a->stats.nr_words++;
	a->stats.not_random |= !word->words;
	return object ? object_begins(a, word, object, ev->ts_ns) : 0;
}

int pfs_accesses_watch(struct pfs_accesses *a, const struct pfs_event *ev, const struct pfs_object *object)
{
	struct pfs_access_word *word = word_at(a, ev->ptr & ~UINT64_C(1), ev->off);

	if (!pfs_has(ev, PFS_F_LAST))
		return word ? 0 : begin(a, ev, object);
	if (!word)
		return 0;
	object_ends(a, word, ev->ts_ns);
	word->ended_ns = ev->ts_ns > word->begun_ns ? ev->ts_ns : word->begun_ns + 1;
	a->nr_open--;
	a->stats.lost += pfs_has(ev, PFS_F_COUNT) ? ev->count : 0;
	a->stats.lost_unknown |= !pfs_has(ev, PFS_F_COUNT);
	return 0;
}

void pfs_accesses_stop(struct pfs_accesses *a, uint64_t ts_ns)
{
	for (struct pfs_access_word *w = a->words; w < a->words + a->nr_words; w++) {
		if (w->ended_ns)
			continue;
		object_ends(a, w, ts_ns);
		w->ended_ns = ts_ns > w->begun_ns ? ts_ns : w->begun_ns + 1;
	}
	a->nr_open = 0;
}

void pfs_accesses_clear(struct pfs_accesses *a)
{
	const struct pfs_access_stats stats = { .where = a->stats.where, .interval_ns = a->stats.interval_ns };

	pfs_accesses_fini(a);
	a->stats = stats;
}

/* ---- accesses ---- */

/* word: it was seen there; NULL: in no word that is watched */
static int count_sum(struct pfs_accesses *a, struct pfs_access_word *word, uint32_t site, uint32_t cache, bool write)
{
	struct pfs_access_sum_nr *nr = PFS_HASH_GET(a->sum_nrs, key, (uint64_t)site << 32 | cache);
	struct pfs_access_count *count;
	struct pfs_access_sum *sum;
	size_t i = 0;

	if (!nr)
		return -ENOMEM;
	if (!nr->nr) {
		sum = pfs_array_add(a->sums, a->nr_sums, a->max_sums);
		if (!sum)
			return -ENOMEM;
		*sum = (struct pfs_access_sum){ .site = site, .cache = cache };
		nr->nr = a->nr_sums; /* + 1 */
	}
	a->sums[nr->nr - 1].seen[write]++;
	if (!word)
		return 0;
	while (i < word->nr_counts && word->counts[i].sum != nr->nr - 1)
		i++;
	if (i == word->nr_counts) {
		count = pfs_array_add(word->counts, word->nr_counts, word->max_counts);
		if (!count)
			return -ENOMEM;
		*count = (struct pfs_access_count){ .sum = nr->nr - 1 };
	}
	word->counts[i].nr[write]++;
	return 0;
}

static int count_object(struct pfs_access_object *object, uint32_t site, uint32_t who, bool write)
{
	struct pfs_object_access *row = object->rows;
	size_t i = 0;

	while (i < object->nr && (row[i].site != site || row[i].who != who))
		i++;
	if (i == object->nr) {
		row = pfs_array_add(object->rows, object->nr, object->max);
		if (!row)
			return -ENOMEM;
		*row = (struct pfs_object_access){ .site = site, .who = who };
	}
	object->rows[i].reads += !write;
	object->rows[i].writes += write;
	return 0;
}

static bool is_write(const struct pfs_event *ev)
{
	return pfs_has(ev, PFS_F_ACCESS) && ev->access == PFS_WRITE;
}

int pfs_accesses_sample(struct pfs_accesses *a, const struct pfs_event *ev, uint32_t site, uint32_t who,
			const struct pfs_object *object)
{
	struct pfs_access_object *known;

	a->stats.samples = a->stats.not_random = true;
	if (!object) {
		a->stats.strays++;
		return 0;
	}
	known = PFS_HASH_GET(a->objects, key, object->key);
	if (!known)
		return -ENOMEM;
	a->stats.nr_watched += !known->nr;
	return count_sum(a, NULL, site, object->cache, is_write(ev)) ?: count_object(known, site, who, is_write(ev));
}

int pfs_accesses_access(struct pfs_accesses *a, const struct pfs_event *ev, uint32_t site, uint32_t who,
			const struct pfs_object *object)
{
	struct pfs_access_word *word = word_at(a, ev->ptr & ~UINT64_C(1), ev->off);
	bool write = is_write(ev);
	struct pfs_access_object *known = NULL;

	if (object)
		HASH_FIND(hh, a->objects, &object->key, sizeof(object->key), known);
	if (!word || !known || !word->since_ns) {
		a->stats.strays++;
		return 0;
	}
	return count_sum(a, word, site, object->cache, write) ?: count_object(known, site, who, write);
}

/* ---- objects ---- */

int pfs_accesses_alloc(struct pfs_accesses *a, const struct pfs_object *object)
{
	struct pfs_access_word *word = next_word(a, object->key, NULL);
	int ret = 0;

	for (; word && !ret; word = next_word(a, object->key, word))
		ret = object_begins(a, word, object, object->alloc_ns);
	return ret;
}

static struct pfs_access_object *find_object(const struct pfs_accesses *a, uint64_t key)
{
	struct pfs_access_object *object = NULL;

	if (a->objects)
		HASH_FIND(hh, a->objects, &key, sizeof(key), object);
	return object;
}

void pfs_accesses_end(struct pfs_accesses *a, const struct pfs_object *object, struct pfs_object_end *end)
{
	struct pfs_access_word *word = next_word(a, object->key, NULL);
	const struct pfs_access_object *known = find_object(a, object->key);

	a->stats.nr_objects++;
	a->stats.byte_ns += (double)object->allocated * (end->ts_ns - object->alloc_ns);
	for (; word; word = next_word(a, object->key, word))
		object_ends(a, word, end->ts_ns);
	if (!known)
		return;
	end->accesses = known->rows;
	end->nr_accesses = known->nr;
}

void pfs_accesses_forget(struct pfs_accesses *a, const struct pfs_object *object)
{
	struct pfs_access_object *known = find_object(a, object->key);

	if (!known)
		return;
	HASH_DEL(a->objects, known);
	free_object(known);
}

void pfs_accesses_finish(struct pfs_accesses *a)
{
	for (unsigned int i = 0; i < a->nr_words; i++)
		if (!a->words[i].ended_ns) { /* the recording ends before it */
			a->words[i].ended_ns = a->words[i].begun_ns + 1;
			a->stats.lost_unknown = true;
		}
	settle(a);
}
