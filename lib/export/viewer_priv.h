/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the walk tells a format: see viewer.h. All strings are UTF-8 without control characters and live as long as the
 * viewer; times are of the recording's clock.
 */
#ifndef PFS_EXPORT_VIEWER_PRIV_H
#define PFS_EXPORT_VIEWER_PRIV_H

#include "base/json.h"
#include "classes/classes.h"
#include "event/event.h"
#include "export/calls.h"
#include "export/viewer.h"

#include <inttypes.h>

enum { VIEWER_BINS = 1024 };

/* A process that has faults or regions. */
struct viewer_proc {
	int32_t pid; /* that of a thread if it is not known */
	const char *name;
	uint64_t first_ns, last_ns; /* of its faults and pages */
	uint32_t main;		    /* its first thread + 1; 0: none */
	uint32_t again;		    /* processes before it that had the same pid */
	uint64_t died_ns;	    /* UINT64_MAX while it lives */
	struct viewer_bin {
		uint32_t faults;
		int32_t pages; /* that became resident, less those that went */
	} bins[VIEWER_BINS];
};

struct viewer_thread {
	int32_t pid, tid;
	uint32_t proc;
	const char *comm;
	uint64_t nr_faults;
	uint64_t born_ns, died_ns; /* died: UINT64_MAX while it lives */
};

struct viewer_fault {
	uint64_t ts_ns;
	uint64_t addr, ip;   /* ip 0: unknown */
	uint64_t off;	     /* of addr in the file, if has_off */
	uint64_t latency_ns; /* 0: unknown */
	uint64_t pfn;	     /* the page frame; 0: unknown */
	const char *region;  /* its name: "/usr/lib/libc.so.6", "[heap]", "anon", "(no known region)" */
	const char *comm;    /* of the thread then */
	uint32_t thread;     /* its number */
	uint32_t call;
	uint32_t space; /* number of its address space */
	int32_t sig;	/* it ended in that signal; 0: it did not */
	uint8_t access, mode, class, how;
	uint8_t label; /* of what the kernel had to do (pfs_class_label()); 0: unknown */
	bool has_off;
	bool came; /* its page became resident by it */
};

/* A page became resident, or went. */
struct viewer_page {
	uint64_t ts_ns;
	uint64_t addr;
	const char *region; /* where it came */
	uint32_t proc;
	uint32_t thread;
	uint32_t call; /* by which it came */
	uint32_t space;
	bool came;
	bool by_fault; /* ... by one of its own, which has been passed on just before */
	bool ended;    /* it went with its address space: by an exit or an exec */
};

struct viewer_region {
	uint64_t start, end;
	uint64_t born_ns, died_ns; /* clipped to the recording */
	uint64_t off, ino, faults;
	uint32_t dev;
	uint32_t proc;
	bool has_off, in_file;
	char perms[8];
	const char *name;
};

struct pfs_viewer {
	const struct pfs_model *model;
	struct pfs_viewer_options options;
	const struct viewer_format *format;
	struct viewer_walk *walk;
	void *state; /* of the format, zeroed at first */
	FILE *out;
	struct pfs_json json; /* into out */
	struct viewer_calls calls;
	struct viewer_thread *threads;
	struct viewer_proc **procs;
	uint32_t nr_threads, max_threads, nr_procs, max_procs;
	uint64_t base_ns;	      /* the recording's time 0 */
	unsigned int page_shift;      /* the model's, since the first fault or page */
	uint64_t first_ns, end_ns;    /* what is shown; set before region() */
	unsigned int bin_shift;	      /* log2 of the ns of a bin */
	uint64_t nr_faults, nr_pages; /* written; resident at the end */
	struct pfs_err err;	      /* a format's own message */
};

/*
 * A format's functions, in the order in which they are called; NULL: not wanted. fault() and page() come in the order of
 * time, in a thread of their own, which sees the viewer's tables but changes none; all others after the last of them. 0 or
 * -errno; what fails to be written is noticed when the file is closed.
 */
struct viewer_format {
	size_t size; /* of its state */
	bool binary;
	int (*begin)(struct pfs_viewer *viewer);
	int (*fault)(struct pfs_viewer *viewer, const struct viewer_fault *fault);
	int (*page)(struct pfs_viewer *viewer, const struct viewer_page *page); /* those of fault->came included */
	int (*region)(struct pfs_viewer *viewer, const struct viewer_region *region); /* in the order of their births */
	int (*lost)(struct pfs_viewer *viewer, const struct pfs_loss *loss, uint64_t from_ns, uint64_t to_ns);
	int (*end)(struct pfs_viewer *viewer);
	void (*fini)(struct pfs_viewer *viewer);
};

extern const struct viewer_format viewer_folded, viewer_speedscope, viewer_pprof, viewer_sqlite, viewer_firefox,
	viewer_perfetto, viewer_chrome, viewer_html;

/* Words for what a fault was; "" is unknown. Accesses are not those of the event language, where "exec" is the third. */
extern const char *const viewer_access[4];

static inline const char *viewer_word(enum pfs_field field, unsigned int value)
{
	return value ? pfs_fields[field].names[value] : "";
}

/* What the kernel had to do, as report --by class calls it, and how that is known. "": unknown. */
static inline const char *viewer_class(uint8_t label)
{
	return label ? pfs_class_names[label - 1] : "";
}

static inline const char *viewer_witness(uint8_t label, uint8_t how)
{
	if (!label || (!how && pfs_class_is_unknown(label - 1)))
		return "";
	return how ? "reported" : "concluded";
}

/* The walk (walk.c). */
struct viewer_walk *viewer_walk_new(struct pfs_viewer *viewer);
void viewer_walk_free(struct viewer_walk *walk);
int viewer_walk_event(void *ctx, const struct pfs_event *ev, const struct pfs_outcome *outcome);
int viewer_walk_faults(void *ctx, const struct pfs_fault_run *run, const struct pfs_outcome *outcome);
int viewer_walk_end(struct viewer_walk *walk);

/* Nothing is passed on to the format any more. */
void viewer_walk_stop(struct viewer_walk *walk);

static inline const struct viewer_place *viewer_place_of(const struct pfs_viewer *viewer, uint32_t call)
{
	return &viewer->calls.places[viewer->calls.calls[call].place];
}

/* Since the recording's start: never negative. */
static inline uint64_t viewer_ns(const struct pfs_viewer *viewer, uint64_t ts_ns)
{
	return ts_ns > viewer->base_ns ? ts_ns - viewer->base_ns : 0;
}

/* "1234"; of a later process with that number "1234.1". */
enum { VIEWER_PID_MAX = 24 };
static inline const char *viewer_pid(char text[VIEWER_PID_MAX], const struct viewer_proc *proc)
{
	snprintf(text, VIEWER_PID_MAX, proc->again ? "%d.%u" : "%d", proc->pid, proc->again);
	return text;
}

/* "7f0000-7f8000". */
enum { VIEWER_RANGE_MAX = 40 };
static inline const char *viewer_range(char text[VIEWER_RANGE_MAX], const struct viewer_region *region)
{
	snprintf(text, VIEWER_RANGE_MAX, "%" PRIx64 "-%" PRIx64, region->start, region->end);
	return text;
}

/* The value of a note, for people; NULL: there is none, or no memory, with calls.failed set. */
static inline const char *viewer_note(struct pfs_viewer *viewer, const char *key)
{
	const char *value = pfs_model_note(viewer->model, key);

	return value ? viewer_text(&viewer->calls, value) : NULL;
}

/* A process's charts: one bin of them. */
struct viewer_moment {
	uint64_t ts_ns;
	int64_t resident;	     /* bytes, at its end */
	uint64_t rate;		     /* faults a second in it */
	bool new_resident, new_rate; /* they differ from those of the bin before */
	uint32_t next;
};

/* After the last fault: the next bin at which one changes; *moment begins as zeroes. False: no more. */
bool viewer_moment_next(const struct pfs_viewer *viewer, const struct viewer_proc *proc, struct viewer_moment *moment);

/* What was recorded, for a title. */
const char *viewer_title(struct pfs_viewer *viewer);

#endif
