/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who read and wrote objects: what hardware watchpoints have seen of a few words at a time, and how much that is of all.
 *
 * Words are chosen anew again and again, each of a number of words with the same probability (objects/slots.h). So
 * what one choice of m words among S has seen, times S / m, is an unbiased estimate of all accesses meanwhile, and the
 * differences between its m words tell how far off it may be. Sums of these are the estimates; the variance of a sum is the
 * sum of the variances. Nothing is said of the time when no word is watched, as for a moment between two choices: then the
 * CPU is busy with that, and the rate of accesses another one.
 */
#ifndef PFS_ACCESSES_H
#define PFS_ACCESSES_H

#include "objects/objects.h"

/* All accesses by one instruction to objects of one cache. */
struct pfs_access_sum {
	uint32_t site, cache;
	uint64_t seen[2];   /* reads, writes */
	double estimate[2]; /* of all */
	double variance[2]; /* of that; 0: it is exact */
	double most[2];	    /* ... of the estimate that one watched word has added */
};

struct pfs_access_stats {
	const char *where; /* whose: "cache=filp", "site=alloc_pipe_info", "random"; the caller's */
	uint64_t interval_ns;
	uint64_t watched_ns; /* the time when words were watched: that of the estimates */
	uint64_t nr_words;   /* chosen, one after the other */
	uint64_t nr_spreads; /* of a word from the others of its choice: from so many the variances are estimated */
	uint64_t nr_objects; /* of that choice */
	uint64_t nr_watched; /* of these, for some time */
	double byte_ns, watched_byte_ns; /* their size times the time that they lived, and were watched */
	uint64_t strays;		 /* accesses to memory that no object of the recording had then */
	uint64_t lost;			 /* accesses that are missing */
	bool lost_unknown;
	bool partial;	 /* other words could have been chosen: the estimates are not exact */
	bool samples;	 /* no words were watched: these are data addresses that CPUs have sampled, of all objects */
	bool not_random; /* some words were not chosen at random: there are no estimates for these */
};

/* Of zeroes at first. */
struct pfs_accesses {
	struct pfs_access_stats stats;
	struct pfs_access_sum *sums;
	size_t nr_sums, max_sums;
	struct pfs_access_sum_nr *sum_nrs; /* by site and cache */
	struct pfs_access_word {
		uint64_t key, off, len;
		uint64_t words; /* it was chosen from; 0: not at random */
		uint64_t begun_ns, ended_ns;
		uint64_t since_ns; /* the object there has been watched since then; 0: there is none */
		uint32_t cache;
		struct pfs_access_count {
			uint32_t sum;
			uint64_t nr[2];
		} * counts;
		size_t nr_counts, max_counts;
	} words[8]; /* of one choice */
	unsigned int nr_words, nr_open;
	struct pfs_access_object *objects; /* watched ones that live, by key */
};

void pfs_accesses_fini(struct pfs_accesses *accesses);

/* The event of a word that is watched from now on, or no more (last); object: that lives there, or NULL. 0 or -ENOMEM. */
int pfs_accesses_watch(struct pfs_accesses *accesses, const struct pfs_event *ev, const struct pfs_object *object);

/* An access by that instruction and process to the object (NULL: no object). 0 or -ENOMEM. */
int pfs_accesses_access(struct pfs_accesses *accesses, const struct pfs_event *ev, uint32_t site, uint32_t who,
			const struct pfs_object *object);

/* A sampled access, to the object (NULL: no object). 0 or -ENOMEM. */
int pfs_accesses_sample(struct pfs_accesses *accesses, const struct pfs_event *ev, uint32_t site, uint32_t who,
			const struct pfs_object *object);

/* An object of the choice begins. 0 or -ENOMEM. */
int pfs_accesses_alloc(struct pfs_accesses *accesses, const struct pfs_object *object);

/* ... and ends: fills in its accesses. They are valid until the second call, which frees them. */
void pfs_accesses_end(struct pfs_accesses *accesses, const struct pfs_object *object, struct pfs_object_end *end);
void pfs_accesses_forget(struct pfs_accesses *accesses, const struct pfs_object *object);

/* Nothing is known any more of the words under watch: the recording is paused then. */
void pfs_accesses_stop(struct pfs_accesses *accesses, uint64_t ts_ns);

/* Forgets all that was seen. */
void pfs_accesses_clear(struct pfs_accesses *accesses);

/* After the last event: the estimates are complete. */
void pfs_accesses_finish(struct pfs_accesses *accesses);

/* Of fewer choices than these (nr_spreads) little is known. */
enum { PFS_ACCESS_FEW = 40 };

/*
 * The interval in which the count lies in 95 of 100 cases: of reads, or of writes. Of what was not seen at all only a census
 * tells how much there may have been: its upper end is INFINITY otherwise.
 */
void pfs_access_interval(const struct pfs_accesses *accesses, const struct pfs_access_sum *sum, bool write,
			 double interval[2]);

#endif
