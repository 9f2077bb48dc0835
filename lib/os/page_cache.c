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

struct probe {
	int fd, pagemap, kpageflags;
	uint64_t page_size;
	pfs_page_state_fn *fn;
	void *ctx;
	/* the run that is not passed on yet */
	uint64_t off, end_off;
	enum pfs_page_state state;
	/* of one piece */
	unsigned char cached[PIECE_PAGES]; /* bit 0, see mincore(2) */
	bool read[PIECE_PAGES];		   /* by the probe itself */
	uint64_t map[PIECE_PAGES];	   /* as in pagemap */
};

static int put(struct probe *p, uint64_t end_off, enum pfs_page_state state)
{
	int ret = 0;

	if (state != p->state && p->end_off > p->off) {
		ret = p->fn(p->ctx, p->off, p->end_off, p->state);
		p->off = p->end_off;
	}
	p->state = state;
	p->end_off = end_off;
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

/* Of a page that the probe read itself, which has mapped it in any case. */
static enum pfs_page_state state_by_flags(const struct probe *p, uint64_t pfn)
{
	const uint64_t busy = FLAG(LOCKED) | FLAG(DIRTY) | FLAG(WRITEBACK) | FLAG(HWPOISON) | FLAG(NOPAGE);
	uint64_t flags = FLAG(NOPAGE);

	do /* a large folio has its flags in its first page */
		if (!pfn || pread(p->kpageflags, &flags, sizeof(flags), pfn * sizeof(flags)) != sizeof(flags))
			return PFS_PAGE_STATE_UNKNOWN;
	while (flags & FLAG(COMPOUND_TAIL) && pfn--);
	if (flags & FLAG(RECLAIM)) /* the same bit as PG_readahead */
		return flags & busy ? PFS_PAGE_STATE_UNKNOWN : PFS_PAGE_STATE_HELD;
	return flags & (busy & ~FLAG(DIRTY)) ? PFS_PAGE_STATE_UNKNOWN : PFS_PAGE_STATE_READY;
}

static enum pfs_page_state state_of(const struct probe *p, size_t i)
{
	if (!(p->cached[i] & 1))
		return PFS_PAGE_STATE_ABSENT;
	if (!(p->map[i] & PM_PRESENT))
		return PFS_PAGE_STATE_UNKNOWN;
	return p->read[i] ? state_by_flags(p, p->map[i] & PM_PFN_MASK) : PFS_PAGE_STATE_READY;
}

static int probe_mapped(struct probe *p, char *piece, uint64_t off, size_t nr)
{
	int ret;

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
	for (size_t i = 0; !ret && i < nr; i++)
		ret = put(p, off + (i + 1) * p->page_size, state_of(p, i));
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

	for (uint64_t off = p->off; !ret && off < end_off; off += piece) {
		uint64_t len = end_off - off < piece ? end_off - off : piece;

		ret = probe_piece(p, off, (len + p->page_size - 1) / p->page_size);
	}
	if (!ret && p->end_off > p->off)
		ret = p->fn(p->ctx, p->off, p->end_off, p->state);
	return ret;
}

int pfs_page_cache_probe(int fd, uint64_t off, uint64_t end_off, pfs_page_state_fn *fn, void *ctx)
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
	p->off = p->end_off = off - off % p->page_size;
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
