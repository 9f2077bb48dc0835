/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live/: what `pfscope top` shows. A moment is a model with the rates of its faults; its lines are those of the report,
 * sorted and filtered; a screen is their text. Nothing here knows a terminal, a clock or a key.
 */
#ifndef PFS_LIVE_H
#define PFS_LIVE_H

#include "base/hash.h"
#include "base/units.h"
#include "model/model.h"
#include "view/rows.h"

#include <stdio.h>

/* ---- moments (moment.c): rates, counted while the model takes in events ---- */

enum { PFS_RATE_SLOTS = 10, PFS_MOMENT_SECONDS = 60 };

/* Faults of the last second, in tenths of one. */
struct pfs_rate {
	uint64_t slot; /* the newest, in tenths of a second of the recording's clock */
	uint64_t nr[PFS_RATE_SLOTS];
};

/* Of a region or a thread of the model, which may be gone: then another one may be at its place. */
struct pfs_counter {
	struct {
		uintptr_t of;
		uint64_t born_ns;
	} key;
	const struct pfs_proc *proc; /* of a thread, as are the next two */
	const char *comm;	     /* or NULL */
	int32_t tid;
	uint64_t faults, major;
	struct pfs_rate rate;
	UT_hash_handle hh;
};

struct pfs_moment {
	const struct pfs_model *model; /* borrowed */
	uint64_t now_ns;	       /* the moment, of the recording's clock */
	uint64_t faults, major;	       /* of the model when the last event came */
	struct pfs_rate rate, major_rate;
	uint64_t second; /* the newest of seconds[second % PFS_MOMENT_SECONDS], since the start of the recording */
	uint64_t seconds[PFS_MOMENT_SECONDS];
	struct pfs_counter *regions, *threads;
};

void pfs_moment_init(struct pfs_moment *moment, const struct pfs_model *model);
void pfs_moment_fini(struct pfs_moment *moment);

/* Goes behind the model. It takes single events. */
struct pfs_observer pfs_moment_observer(struct pfs_moment *moment);

/* Faults of the second that ends at now_ns. */
uint64_t pfs_rate_at(const struct pfs_rate *rate, uint64_t now_ns);

/* When that second began, in whole tenths. */
uint64_t pfs_rate_since(uint64_t now_ns);

/* The same of a region. */
uint64_t pfs_moment_region_rate(const struct pfs_moment *moment, const struct pfs_region *region);

/* Faults of that second since the start; 0 if it is not one of the last PFS_MOMENT_SECONDS. */
uint64_t pfs_moment_second(const struct pfs_moment *moment, uint64_t second);

/* ---- lines (lines.c) ---- */

enum pfs_live_by { PFS_LIVE_REGION, PFS_LIVE_FILE, PFS_LIVE_PROCESS, PFS_LIVE_THREAD, PFS_NR_LIVE_BY };
enum pfs_live_sort {
	PFS_LIVE_BY_RATE,
	PFS_LIVE_BY_FAULTS,
	PFS_LIVE_BY_MAJOR,
	PFS_LIVE_BY_TOUCHED,
	PFS_LIVE_BY_NAME,
	PFS_NR_LIVE_SORT,
};
extern const char *const pfs_live_by[PFS_NR_LIVE_BY], *const pfs_live_sort[PFS_NR_LIVE_SORT];

enum { PFS_LIVE_KEY = 96 };

struct pfs_live_line {
	char key[PFS_LIVE_KEY]; /* the same line of another moment has the same */
	char *name;		/* escaped */
	char who[48];		/* the process, escaped; "" of a file of several */
	uint64_t rate, faults, major;
	uint64_t touched, pages; /* pages 0: not known */
	bool has_row;		 /* of a region */
	struct pfs_row row;
};

struct pfs_live_lines {
	struct pfs_live_line *line;
	size_t nr, max;
	uint64_t resident; /* pages: those of struct pfs_plot's curve, as they are now */
	unsigned int nr_procs, nr_threads;
	struct pfs_tally tally; /* of all lines, filtered or not, by region */
};

/* The lines with faults or pages whose name or process has the text (NULL: all). filter: as of the report. 0 or -ENOMEM. */
int pfs_live_gather(struct pfs_live_lines *lines, const struct pfs_moment *moment, const struct pfs_filter *filter,
		    enum pfs_live_by by, enum pfs_live_sort sort, const char *text);
void pfs_live_free(struct pfs_live_lines *lines);

/* Its index, or -1. */
int pfs_live_find(const struct pfs_live_lines *lines, const char *key);

/* ---- screens (screen.c) ---- */

struct pfs_screen {
	unsigned int width, height;
	bool color, utf8;
	const char *title;   /* of the recording, if it does not know its command */
	const char *state;   /* "live", "frozen" */
	bool alarm;	     /* ... is something to notice */
	const char *text;    /* of the filter, or NULL */
	bool typing;	     /* ... which is being typed */
	const char *message; /* below, instead of the keys; or NULL */
	enum pfs_live_by by;
	enum pfs_live_sort sort;
	char selected[PFS_LIVE_KEY];
	size_t first; /* line that is shown on top */
	enum { PFS_SCREEN_LINES, PFS_SCREEN_PAGES, PFS_SCREEN_HELP } show;
	uint64_t first_page; /* address of the page that is shown on top */
	uint64_t last_page;  /* is filled in: of the one at the bottom */
};

/* How many lines are between the heading and the keys. */
unsigned int pfs_screen_room(const struct pfs_screen *screen);

/* Draws `height` lines of at most `width` columns, with colours as SGR sequences. May move `first` to show the selected. */
void pfs_screen_draw(FILE *out, struct pfs_screen *screen, const struct pfs_moment *moment,
		     const struct pfs_filter *filter, const struct pfs_live_lines *lines);

#endif
