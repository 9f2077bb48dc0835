/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See os/page_cache.h. */
#include "os/page_cache.h"

#include "base/array.h"
#include "base/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kernel-page-flags.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Mapped at once. */
#define PIECE_PAGES 16384

/* Fault-around's range by default. Where it is larger the probe only takes longer. */
#define AROUND_PAGES 16

/* /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst) */
#define PM_PRESENT  (UINT64_C(1) << 63)
#define PM_PFN_MASK ((UINT64_C(1) << 55) - 1)

#define FLAG(name) (UINT64_C(1) << KPF_##name)

/* Folios of files have at most that many pages, and begin at a multiple of their size. */
enum { MAX_ORDER = 9, FRAMES = 1 << MAX_ORDER };

struct probe {
	int fd, pagemap, kpageflags;
	uint64_t page_size;
	pfs_page_run_fn *fn;
	void *ctx;
	struct pfs_page_run run;	     /* that is not passed on yet */
	uint64_t first_frame, flags[FRAMES]; /* as in kpageflags, from that page frame on */
	size_t nr_frames;
	/* of one piece */
	unsigned char cached[PIECE_PAGES]; /* bit 0, see mincore(2) */
	bool read[PIECE_PAGES];		   /* by the probe itself */
	uint64_t map[PIECE_PAGES];	   /* as in pagemap */
};

static int put(struct probe *p, uint64_t end_off, enum pfs_page_state state, int order)
{
	struct pfs_page_run *run = &p->run;
	int ret = 0;

	if ((state != run->state || order != run->order) && run->end_off > run->off) {
		ret = p->fn(p->ctx, run);
		run->off = run->end_off;
	}
	run->state = state;
	run->order = order;
	run->end_off = end_off;
	return ret;
}

/* ---- reading pages of a file that may shrink ---- */

static sigjmp_buf gone;

static void on_sigbus(int sig)
{
	siglongjmp(gone, sig);
}

/* Reads a byte of each page that is cached and not mapped: one in each group, or all. */
static void read_pages(struct probe *p, const volatile char *piece, size_t nr, bool all)
{
	volatile size_t i = 0;
	size_t group = SIZE_MAX;

	if (sigsetjmp(gone, 1))
		return; /* the rest is not mapped, so it is absent */
	for (; i < nr; i++) {
		if (!(p->cached[i] & 1) || p->map[i] & PM_PRESENT || (!all && i / AROUND_PAGES == group))
			continue;
		group = i / AROUND_PAGES;
		p->read[i] = true;
		(void)piece[i * p->page_size];
	}
}

static int read_map(struct probe *p, const char *piece, size_t nr)
{
	off_t at = (uintptr_t)piece / p->page_size * sizeof(*p->map);
	ssize_t got = pread(p->pagemap, p->map, nr * sizeof(*p->map), at);

	return got == (ssize_t)(nr * sizeof(*p->map)) ? 0 : got < 0 ? -errno : -EIO;
}

static void read_flags(struct probe *p, uint64_t first_frame, size_t nr)
{
	ssize_t got = pread(p->kpageflags, p->flags, nr * sizeof(*p->flags), first_frame * sizeof(*p->flags));

	p->first_frame = first_frame;
	p->nr_frames = got > 0 ? got / sizeof(*p->flags) : 0;
}

/* The flags of a page frame; KPF_NOPAGE: unknown. */
static uint64_t flags_of(const struct probe *p, uint64_t pfn)
{
	return pfn && pfn - p->first_frame < p->nr_frames ? p->flags[pfn - p->first_frame] : FLAG(NOPAGE);
}

/* The folio of a page frame: its first frame, which has the flags of all, and its order; -1: unknown. */
static int folio_of(struct probe *p, uint64_t pfn, uint64_t *first)
{
	const uint64_t compound = FLAG(COMPOUND_HEAD) | FLAG(COMPOUND_TAIL), block = pfn & -(uint64_t)FRAMES;
	uint64_t end = pfn + 1, nr;

	*first = pfn;
	if (pfn - p->first_frame >= p->nr_frames)
		read_flags(p, pfn, 1);
	if (!(flags_of(p, pfn) & compound))
		return flags_of(p, pfn) & FLAG(NOPAGE) ? -1 : 0;
	if (p->nr_frames < FRAMES)
		read_flags(p, block, FRAMES);
	while (*first > block && flags_of(p, *first) & FLAG(COMPOUND_TAIL))
		--*first;
	while (end < block + FRAMES && flags_of(p, end) & FLAG(COMPOUND_TAIL))
		end++;
	nr = end - *first;
	return flags_of(p, *first) & FLAG(COMPOUND_HEAD) && !(nr & (nr - 1)) ? __builtin_ctzll(nr) : -1;
}

/* Of a folio that the probe may have read itself, which has mapped it in any case. */
static enum pfs_page_state state_by_flags(struct probe *p, uint64_t first)
{
	const uint64_t busy = FLAG(LOCKED) | FLAG(DIRTY) | FLAG(WRITEBACK) | FLAG(HWPOISON) | FLAG(NOPAGE);
	uint64_t flags = flags_of(p, first);

	if (flags & FLAG(RECLAIM)) /* the same bit as PG_readahead */
		return flags & busy ? PFS_PAGE_STATE_UNKNOWN : PFS_PAGE_STATE_HELD;
	return flags & (busy & ~FLAG(DIRTY)) ? PFS_PAGE_STATE_UNKNOWN : PFS_PAGE_STATE_READY;
}

/* A page of a large folio may be mapped because another one of it was read. */
static enum pfs_page_state state_of(struct probe *p, size_t i, int *order)
{
	uint64_t first = 0;

	*order = -1;
	if (!(p->cached[i] & 1))
		return PFS_PAGE_STATE_ABSENT;
	if (!(p->map[i] & PM_PRESENT))
		return PFS_PAGE_STATE_UNKNOWN;
	*order = folio_of(p, p->map[i] & PM_PFN_MASK, &first);
	return p->read[i] || *order ? state_by_flags(p, first) : PFS_PAGE_STATE_READY;
}

static int probe_mapped(struct probe *p, char *piece, uint64_t off, size_t nr)
{
	int ret, order;

	memset(p->read, 0, sizeof(p->read));
	memset(p->map, 0, sizeof(p->map));
	if (madvise(piece, nr * p->page_size, MADV_RANDOM) || mincore(piece, nr * p->page_size, p->cached))
		return -errno;
	read_pages(p, piece, nr, false);
	ret = read_map(p, piece, nr);
	if (ret)
		return ret;
	read_pages(p, piece, nr, true);
	ret = read_map(p, piece, nr);
	p->nr_frames = 0;
	for (size_t i = 0; !ret && i < nr; i++) {
		enum pfs_page_state state = state_of(p, i, &order);

		ret = put(p, off + (i + 1) * p->page_size, state, order);
	}
	return ret;
}

static int probe_piece(struct probe *p, uint64_t off, size_t nr)
{
	char *piece = mmap(NULL, nr * p->page_size, PROT_READ, MAP_SHARED, p->fd, off);
	int ret;

	if (piece == MAP_FAILED)
		return -errno;
	ret = probe_mapped(p, piece, off, nr);
	munmap(piece, nr * p->page_size);
	return ret;
}

static int probe_pieces(struct probe *p, uint64_t end_off)
{
	uint64_t piece = PIECE_PAGES * p->page_size;
	int ret = 0;

	for (uint64_t off = p->run.off; !ret && off < end_off; off += piece) {
		uint64_t len = end_off - off < piece ? end_off - off : piece;

		ret = probe_piece(p, off, (len + p->page_size - 1) / p->page_size);
	}
	if (!ret && p->run.end_off > p->run.off)
		ret = p->fn(p->ctx, &p->run);
	return ret;
}

int pfs_page_cache_probe(int fd, uint64_t off, uint64_t end_off, pfs_page_run_fn *fn, void *ctx)
{
	const struct sigaction action = { .sa_handler = on_sigbus };
	struct probe *p = malloc(sizeof(*p));
	struct sigaction before;
	struct stat st;
	int ret;

	if (!p)
		return -ENOMEM;
	p->page_size = sysconf(_SC_PAGESIZE);
	p->fd = fd;
	p->fn = fn;
	p->ctx = ctx;
	p->run = (struct pfs_page_run){ .off = off - off % p->page_size };
	p->run.end_off = p->run.off;
	p->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	p->kpageflags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	ret = p->pagemap < 0 || fstat(fd, &st) ? -errno : 0;
	if (!ret && (uint64_t)st.st_size < end_off)
		end_off = st.st_size;
	if (!ret && sigaction(SIGBUS, &action, &before))
		ret = -errno;
	if (!ret) {
		ret = probe_pieces(p, end_off);
		sigaction(SIGBUS, &before, NULL);
	}
	pfs_close(p->pagemap);
	pfs_close(p->kpageflags);
	free(p);
	return ret;
}
