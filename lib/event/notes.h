/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notes: facts about the recording, as typed data.
 *
 * A note is an event with a key and a value; the table in notes.c lists each key with the fields of its value. One field
 * is written bare (`page_size` "4096"), several as pairs (`rusage` "minor=10 major=2"). Producers fill a struct pfs_fact
 * and call the writer, consumers call the reader, which also accepts the prose of version 1.
 */
#ifndef PFS_NOTES_H
#define PFS_NOTES_H

#include "base/err.h"
#include "event/refault_note.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pfs_note_key {
	PFS_NOTE_PFSCOPE,
	PFS_NOTE_PAGE_SIZE,
	PFS_NOTE_MACHINE,
	PFS_NOTE_KERNEL,
	PFS_NOTE_UNAME,
	PFS_NOTE_CLOCK,
	PFS_NOTE_SOURCE,
	PFS_NOTE_VSYSCALL,
	PFS_NOTE_COMMAND,
	PFS_NOTE_START,
	PFS_NOTE_END,
	PFS_NOTE_VM_EVENTS,
	PFS_NOTE_ARGS,
	PFS_NOTE_LAUNCH,
	PFS_NOTE_ATTACH,
	PFS_NOTE_ONLY,
	PFS_NOTE_SNAPSHOT,
	PFS_NOTE_BRK,
	PFS_NOTE_SIDEBAND,
	PFS_NOTE_EXIT_MMAP,
	PFS_NOTE_CALLS32,
	PFS_NOTE_FILE_FAULTS,
	PFS_NOTE_STACK,
	PFS_NOTE_DUMPS_LOST,
	PFS_NOTE_LACKS,
	PFS_NOTE_PROBES,
	PFS_NOTE_CLASSIFY,
	PFS_NOTE_HISTOGRAM,
	PFS_NOTE_PROBES_MISSED,
	PFS_NOTE_HISTOGRAM_LOST,
	PFS_NOTE_SIDEBAND_LOST,
	PFS_NOTE_LOST,
	PFS_NOTE_BUFFER_FOUND,
	PFS_NOTE_COUNTERS,
	PFS_NOTE_RUSAGE,
	PFS_NOTE_COUNTED_BEFORE,
	PFS_NOTE_COUNTED,
	PFS_NOTE_USER,
	PFS_NOTE_WATCH,
	PFS_NOTE_JOINED,
	PFS_NOTE_MISSED,
	PFS_NOTE_LEFT_OUT,
	PFS_NOTE_REFAULT,
	PFS_NOTE_REFAULT_TICK,
	PFS_NOTE_REFAULT_STAYED,
	PFS_NOTE_MICROSET,
	PFS_NOTE_ACCESS_BY,
	PFS_NOTE_ACCESS_TARGETS,
	PFS_NOTE_PROBE,
	PFS_NOTE_SYSTEMTAP,
	PFS_NOTE_MODULE,
	PFS_NOTE_HUGE_PAGES,
	PFS_NOTE_ZERO_PAGE,
	PFS_NOTE_OBJECTS,
	PFS_NOTE_WATCHPOINTS,
	PFS_NOTE_PAUSED,
	PFS_NOTE_RESUMED,
	PFS_NOTE_CLEARED,
	PFS_NOTE_MERGED,
	PFS_NOTE_BUILD_ID,
	PFS_NOTE_JIT_FILE,
	PFS_NOTE_MEMORY,
	PFS_NOTE_WARNING,
	PFS_NR_NOTES,
};

/* Steps of a snapshot of a process's layout. */
enum pfs_snapshot_op {
	PFS_SNAPSHOT_FIRST, /* the lines that follow are its layout; recorded changes apply to it */
	PFS_SNAPSHOT_LATER, /* a second look, read from look_ns on: corrects what has not changed since */
	PFS_SNAPSHOT_THEN,  /* the lines that follow were read from look_ns on */
	PFS_SNAPSHOT_END,
	PFS_SNAPSHOT_START, /* the events before this one describe the whole layout */
};

enum pfs_watch_by { PFS_WATCH_CONNECTOR, PFS_WATCH_PROC, PFS_WATCH_OVER };

/*
 * A note. Members that the key does not use are 0. Strings are borrowed; after a read they point into the value
 * or into `room`, so a copy of the struct must not outlive it.
 */
struct pfs_fact {
	enum pfs_note_key key;
	int32_t pid, cpu;
	uint64_t count, since_ns;
	uint64_t faults, minor, major, running;
	uint64_t start, end;
	uint64_t first, last;
	uint64_t percent, kb;
	uint64_t scanned, swapped, collapsed;
	uint64_t whole_ns, look_ns;
	enum pfs_snapshot_op op;
	enum pfs_watch_by watch;
	enum pfs_refault_method method;
	uint64_t interval_ns;
	struct pfs_refault_tick tick;
	const char *what, *tells;
	const char *text; /* the value, or the end of it that is for people */
	const char *rest; /* read: where the next group begins, of a key that repeats; else "" */
	char room[256];
};

/* The text of WATCHPOINTS: whose accesses are seen. Both NULL: of any object. Borrowed from the text. */
struct pfs_watch_choice {
	const char *cache; /* a glob for the names of caches */
	const char *site;  /* the function that allocates */
};

/*
 * "cache=GLOB", "site=FUNCTION", "random". 0, or -EINVAL with err set: none of these, or nothing behind it, or what the kernel's
 * filters cannot hold.
 */
int pfs_watch_choice_read(struct pfs_watch_choice *choice, const char *text, struct pfs_err *err);

/* A pointer to a fact: PFS_FACT(LOST, .count = 3, .cpu = 1). */
#define PFS_FACT(KEY, ...) (&(struct pfs_fact){ .key = PFS_NOTE_##KEY, __VA_ARGS__ })

/* Takes a note about process tid (0: the whole recording). 0 or -errno. */
typedef int pfs_note_fn(void *ctx, int32_t tid, const struct pfs_fact *fact);

const char *pfs_note_key(enum pfs_note_key key);

/* The key of that name, or -ENOENT. */
int pfs_note_find(const char *name);

/* The value as text, cut off at size. Returns the length of all of it, like snprintf(). */
size_t pfs_note_write(const struct pfs_fact *fact, char *buf, size_t size);

/* "KEY=VALUE", or NULL without memory. The caller frees. */
char *pfs_note_text(const struct pfs_fact *fact);

/* False: the key is unknown, or the value is none of this key. */
bool pfs_note_read(struct pfs_fact *fact, const char *key, const char *value);

/* A device in a note, "fe:01": major << 20 | minor. False: it is none; text may be NULL. */
enum { PFS_NOTE_DEVICE_SIZE = 24 };
bool pfs_note_device(const char *text, uint32_t *dev);
void pfs_note_put_device(char text[PFS_NOTE_DEVICE_SIZE], uint32_t dev);

/* The value in the form of this version: `value` itself, or in buf if it was prose of version 1. */
const char *pfs_note_renew(const char *key, const char *value, char *buf, size_t size);

/*
 * Passes the notes that every recording begins with to put(): pfscope, the machine and its kernel, the source's name,
 * and the permissions of [vsyscall] ("": none). 0 or what put() returned.
 */
int pfs_header_notes(const char *source, const char *vsyscall, pfs_note_fn *put, void *ctx);

/* Whether a kernel release like "6.1.0-56-cloud-amd64" is older than major.minor. False if unreadable. */
bool pfs_kernel_before(const char *release, unsigned int major, unsigned int minor);

#endif
