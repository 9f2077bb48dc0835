/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hand-made raw events for the tests of the assembler, and what came out of it as lines of text.
 *
 * The lines are event/line.h's, less the time and less "pid=100 tid=100": unless told otherwise,
 * everything happens in the one thread of process 100, a microsecond apart, on a cpu not known.
 */
#ifndef PFS_TEST_RAW_FEED_H
#define PFS_TEST_RAW_FEED_H

#include "assemble/assemble.h"
#include "event/line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

struct raw_feed {
	struct pfs_assembler *a;
	uint64_t now_ns, last_ns; /* last: time of the newest event */
	int32_t tid, tgid, cpu;	  /* of what follows */
	const char *comm, *str;	  /* of the next raw event only */
	int ret;		  /* what the sink returns */
	char got[8192];
	size_t len;
};

static inline int raw_feed_sink(void *ctx, const struct pfs_event *ev)
{
	static const char usual[] = " pid=100 tid=100";
	struct raw_feed *f = ctx;
	char line[6000], *kind, *said;
	ssize_t len = pfs_line_write(ev, line, sizeof(line) - 1);

	assert_true(len > 0);
	line[len] = '\0';
	kind = strchr(line, ' ') + 1;
	said = strstr(kind, usual);
	if (said && strchr(" \n", said[sizeof(usual) - 1]))
		memmove(said, said + sizeof(usual) - 1, strlen(said + sizeof(usual) - 1) + 1);
	assert_true(f->len + strlen(kind) < sizeof(f->got));
	f->len += strlen(strcpy(f->got + f->len, kind));
	f->last_ns = ev->ts_ns;
	return f->ret;
}

static inline void raw_feed_init(struct raw_feed *f)
{
	struct pfs_sink sink = { .fn = raw_feed_sink, .ctx = f };

	*f = (struct raw_feed){ .now_ns = 1000, .tid = 100, .tgid = -1, .cpu = -1 };
	f->a = pfs_assembler_new(&sink);
	assert_non_null(f->a);
	assert_int_equal(pfs_assembler_thread(f->a, 100, 100), 0);
	assert_int_equal(pfs_assembler_thread(f->a, 101, 100), 0);
}

static inline void raw_feed_fini(struct raw_feed *f)
{
	pfs_assembler_free(f->a);
}

/* Not inline: gcc 12 for arm64 does not survive that. */
static __attribute__((noinline, unused)) int raw_feed_event(struct raw_feed *f, enum raw_kind kind, enum raw_sys nr,
							    const uint64_t *args, size_t nr_args)
{
	struct raw_event raw = { .ts_ns = f->now_ns,
				 .kind = kind,
				 .nr = nr,
				 .cpu = f->cpu,
				 .tid = f->tid,
				 .tgid = f->tgid,
				 .comm = f->comm,
				 .str = f->str };

	f->now_ns += 1000;
	f->comm = f->str = NULL;
	for (size_t i = 0; i < RAW_MAX_ARGS; i++)
		raw.arg[i] = i < nr_args ? args[i] : RAW_ABSENT;
	return pfs_assembler_feed(f->a, &raw);
}

#define RAW_ARGS(...) (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)
/* Arguments not given are absent. */
#define RAW(f, kind, ...)    assert_int_equal(raw_feed_event(f, kind, SYS_OTHER, RAW_ARGS(__VA_ARGS__)), 0)
#define ENTER(f, nr, ...)    assert_int_equal(raw_feed_event(f, RAW_SYS_ENTER, nr, RAW_ARGS(__VA_ARGS__)), 0)
#define LEAVE(f, nr, result) assert_int_equal(raw_feed_event(f, RAW_SYS_EXIT, nr, RAW_ARGS((uint64_t)(result))), 0)
/* A row of the region tree; id 0: nothing is there. */
#define ROW(f, start, end, id) RAW(f, RAW_MA_WRITE, start, (uint64_t)(end)-1, id)
/* Checks a raw event that carries a string. */
#define RAW_STR(f, string, kind, ...)      \
	do {                               \
		(f)->str = string;         \
		RAW(f, kind, __VA_ARGS__); \
	} while (0)
#define NOTE(f, text) RAW_STR(f, text, RAW_PFS_NOTE)

/* These lines have come since the last time. */
static inline void expect(struct raw_feed *f, const char *lines)
{
	assert_string_equal(f->got, lines);
	f->got[0] = '\0';
	f->len = 0;
}

/* What has come since is of no interest. */
static inline void forget(struct raw_feed *f)
{
	f->got[0] = '\0';
	f->len = 0;
}

enum { RW = PROT_READ | PROT_WRITE, ANON = MAP_PRIVATE | MAP_ANONYMOUS };

/* Private anonymous memory as the side-band and as a snapshot describe it. */
#define BAND(f, start, end)	RAW_STR(f, "//anon", RAW_PFS_MAP, start, end, 0, 0, 0, RW, ANON, PFS_MAP_SIDEBAND)
#define SNAPSHOT(f, start, end) RAW_STR(f, "", RAW_PFS_MAP, start, end, 0, 0, 0, RW, ANON, PFS_MAP_SNAPSHOT)
#define DESCRIBED		" perms=rw-p off=0 dev=00:00 ino=0 name=\"\"\n"

/* A page of anonymous memory at 10000, by row and side-band; what the return adds, is left. */
static inline void mmap_with(struct raw_feed *f, int flags)
{
	ENTER(f, SYS_MMAP, 0, 0x1000, RW, ANON | flags, -1, 0);
	ROW(f, 0x10000, 0x11000, 0xa000);
	BAND(f, 0x10000, 0x11000);
	forget(f);
	LEAVE(f, SYS_MMAP, 0x10000);
}

#endif
