/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plots: whatever happens to cells, bands and grids, what they count adds up to the events.
 */
#include "support/feed.h"
#include "plot/data_priv.h"
#include "plot/plot.h"
#include "support/random_event.h"

#include <stdio.h>

/* ---- cells ---- */

#define pfs_plot_cells_for_each(cell, cells_)                                                  \
	for ((cell) = (cells_)->cells; (cell) < (cells_)->cells + (cells_)->nr_used; (cell)++) \
		if ((cell)->count)

enum { GROUPS = 5, THREADS = 3 };

static uint64_t total(const struct pfs_plot_cells *cells, int group, int thread, int access)
{
	const struct pfs_plot_cell *cell;
	uint64_t sum = 0, nr = 0;

	pfs_plot_cells_for_each (cell, cells) {
		nr++;
		if ((group < 0 || (int)cell->group == group) && (thread < 0 || cell->thread == thread) &&
		    (access < 0 || cell->kind.access == access))
			sum += cell->count;
		assert_true(cell->bin >= cells->first_bin && cell->bin <= cells->last_bin);
	}
	assert_int_equal(nr, cells->nr);
	return sum;
}

static struct pfs_plot_cell random_touch(uint64_t *s, uint64_t now)
{
	return (struct pfs_plot_cell){
		.count = 1 + random_u64(s) % 3,
		.page = random_u64(s) % (random_u64(s) % 2 ? 64 : 100000),
		.ts_ns = now - random_u64(s) % 500,
		.group = random_u64(s) % GROUPS,
		.thread = random_u64(s) % THREADS,
		.kind = { .access = random_u64(s) % 4 },
	};
}

static void test_cells_add_up(void **state)
{
	for (uint64_t seed = 1; seed < 40; seed++) {
		struct pfs_plot_cells cells = { .max = 300 };
		uint64_t s = seed, now = 1000000, sums[GROUPS] = { 0 }, of[THREADS][4] = { { 0 } };

		for (unsigned int i = 0; i < 4000; i++) {
			struct pfs_plot_cell what = random_touch(&s, now);

			assert_int_equal(pfs_plot_cells_add(&cells, &what), 0);
			sums[what.group] += what.count;
			of[what.thread][what.kind.access] += what.count;
			now += random_u64(&s) % (seed % 4 ? 1000 : 100000000);
			assert_true(cells.nr <= cells.max);
			assert_true(cells.last_bin - cells.first_bin < PFS_PLOT_MAX_BINS);
		}
		for (int g = 0; g < GROUPS; g++)
			assert_int_equal(total(&cells, g, -1, -1), sums[g]);
		for (int t = 0; t < THREADS; t++)
			for (int a = 0; a < 4; a++)
				assert_int_equal(total(&cells, -1, t, a), of[t][a]);
		pfs_plot_cells_fini(&cells);
	}
}

/* Where nothing limits them, cells are as exact as they can be: all the time of it, in more than half of the bins. */
static void test_cells_double(void **state)
{
	struct pfs_plot_cells cells = { .max = 1 << 20 };

	for (uint64_t i = 0; i < 100000; i++) {
		struct pfs_plot_cell what = { .count = 1, .page = 7, .ts_ns = 5000 + i * 77 };

		assert_int_equal(pfs_plot_cells_add(&cells, &what), 0);
	}
	assert_int_equal(cells.page_shift, 0);
	assert_int_equal(cells.time_shift, 12); /* 7.7 ms in bins of 4.1 us */
	assert_int_equal(cells.first_bin, 5000 >> 12);
	assert_int_equal(cells.last_bin, (5000 + 99999 * 77) >> 12);
	assert_int_equal(total(&cells, -1, -1, -1), 100000);
	pfs_plot_cells_fini(&cells);
}

/* Cells that come and go while the table is nearly full do not rebuild it each time. */
static void test_cells_come_and_go(void **state)
{
	struct pfs_plot_cells cells = { .max = 1 << 20 };
	unsigned int nr_rebuilt = 0;

	for (uint64_t i = 0; i < 20000; i++) {
		struct pfs_plot_cell what = { .count = 1, .page = i, .ts_ns = 5000 };
		size_t used = cells.nr_used;

		assert_int_equal(pfs_plot_cells_add(&cells, &what), 0);
		if (i > 8000 && cells.nr >= cells.nr_index / 2 - 1)
			pfs_plot_cells_remove(&cells, &what);
		nr_rebuilt += cells.nr_used < used;
	}
	assert_true(nr_rebuilt < 100);
	pfs_plot_cells_fini(&cells);
}

/* No two cells are of the same, so each can be found. */
static void expect_distinct(const struct pfs_plot_cells *cells)
{
	const struct pfs_plot_cell *a, *b;

	pfs_plot_cells_for_each (a, cells)
		for (b = a + 1; b < cells->cells + cells->nr_used; b++)
			assert_false(b->count && a->page == b->page && a->bin == b->bin && a->group == b->group &&
				     a->thread == b->thread && a->kind.access == b->kind.access);
}

static void test_cells_change(void **state)
{
	struct pfs_plot_cells cells = { .max = 200 };
	struct pfs_plot_cell last[300];
	uint64_t s = 5, reads = 0;

	for (unsigned int i = 0; i < 3000; i++) {
		struct pfs_plot_cell *what = &last[i % 300];

		if (i >= 300 && what->kind.access != PFS_READ && i % 3) {
			assert_true(pfs_plot_cells_remove(&cells, what));
			what->kind.access = PFS_READ;
			assert_int_equal(pfs_plot_cells_add(&cells, what), 0);
			reads++;
		}
		*what = random_touch(&s, 1000000 + i * 50);
		what->count = 1;
		assert_int_equal(pfs_plot_cells_add(&cells, what), 0);
		reads += what->kind.access == PFS_READ;
		assert_int_equal(total(&cells, -1, -1, PFS_READ), reads);
		if (i % 50 == 0)
			expect_distinct(&cells);
	}
	assert_int_equal(total(&cells, -1, -1, -1), 3000);
	pfs_plot_cells_fini(&cells);
}

/* Ranges of a group against a naive array. */
static void test_ranges(void **state)
{
	for (uint64_t s = 1; s < 200; s += 2) {
		struct pfs_plot_group group = { 0 };
		bool there[300] = { false }, joined[300] = { false };
		uint64_t seed = s;

		for (unsigned int i = 0; i < 40; i++) {
			uint64_t start = random_u64(&seed) % 250, end = start + 1 + random_u64(&seed) % 9;
			unsigned int at = 0;

			assert_int_equal(plot_group_reach(&group, start, end), 0);
			for (uint64_t p = start; p < end; p++) {
				there[p] = true;
				joined[p] |= p > start; /* nothing between it and the one before */
			}
			joined[start] |= start && there[start - 1];
			joined[end] |= there[end];
			for (unsigned int p = 0; p < 299; p++) {
				if (!there[p])
					continue;
				assert_true(at < group.nr_ranges);
				assert_true(group.ranges[at].start <= p && p < group.ranges[at].end);
				at += !there[p + 1];
			}
			assert_int_equal(at, group.nr_ranges);
		}
		free(group.ranges);
	}
}

static void test_many_ranges(void **state)
{
	struct pfs_plot_group group = { 0 };

	for (uint64_t i = 0; i < 5 * PFS_PLOT_MAX_RANGES; i++) {
		uint64_t start = i * 7919 % 100003 * 2;

		assert_int_equal(plot_group_reach(&group, start, start + 1), 0);
		assert_true(group.nr_ranges <= PFS_PLOT_MAX_RANGES);
	}
	for (unsigned int i = 1; i < group.nr_ranges; i++)
		assert_true(group.ranges[i].start > group.ranges[i - 1].end);
	free(group.ranges);
}

/* ---- events ---- */

#define LIBC 0xfe00000, 77, "/lib/libc.so"

struct drawn {
	struct feed f;
	struct pfs_plot_data *data;
	struct pfs_plot plot;
};

static void begin(struct drawn *d)
{
	d->f = feed_new(10);
	d->data = pfs_plot_data_new(d->f.model, NULL);
	assert_non_null(d->data);
	d->f.behind = pfs_plot_data_observer(d->data);
	feed_note(&d->f, "snapshot", "first", true);
}

static void lay_out(struct drawn *d)
{
	assert_int_equal(pfs_plot_lay_out(&d->plot, d->data, 20, PFS_PLOT_BY_ADDRESS), 0);
}

static void end(struct drawn *d)
{
	pfs_plot_fini(&d->plot);
	pfs_plot_data_free(d->data);
	feed_free(&d->f);
}

/* "block: band faults+sampled" a line. */
static void expect_bands(const struct drawn *d, const char *wanted)
{
	char text[2048] = "";

	for (uint32_t i = 0; i < d->plot.nr_bands; i++) {
		const struct pfs_plot_band *band = &d->plot.bands[i];

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s: %s %d+%d\n",
			 d->plot.blocks[band->block].label, band->label, (int)band->faults, (int)band->sampled);
	}
	assert_string_equal(text, wanted);
}

static void test_bands(void **state)
{
	struct drawn d;

	begin(&d);
	feed_comm(&d.f, "prog");
	feed_brk(&d.f, 0x600000, 0x602000);
	feed_map(&d.f, 0x600000, 0x602000, RW, "[heap]");
	feed_faults(&d.f, 0x600000, 2, PFS_WRITE);
	feed_brk(&d.f, 0x600000, 0x610000);
	feed_map(&d.f, 0x600000, 0x610000, RW, "[heap]"); /* it grows, and stays one band */
	feed_faults(&d.f, 0x602000, 6, PFS_WRITE);
	feed_maps_line(&d.f, 0x700000, 0x710000, R, 0, LIBC);
	feed_maps_line(&d.f, 0x710000, 0x720000, R, 0x10000, LIBC); /* never touched, but between the others */
	feed_maps_line(&d.f, 0x720000, 0x730000, RW, 0x20000, LIBC);
	feed_fault(&d.f, 0x701000, PFS_READ);
	feed_fault(&d.f, 0x721000, PFS_WRITE);
	feed_map(&d.f, 0x800000, 0x810000, RW, "");
	feed_map(&d.f, 0x900000, 0x910000, RW, ""); /* another one, never touched */
	feed_fault(&d.f, 0x800000, PFS_WRITE);
	feed_fault(&d.f, 0xa00000, PFS_READ); /* nothing is known there */
	lay_out(&d);
	expect_bands(&d, "prog (pid 10): [heap] 8+0\n"
			 "prog (pid 10): libc.so 2+0\n"
			 "prog (pid 10): anon 800000 64K 1+0\n"
			 "prog (pid 10): (no known region) 1+0\n");
	assert_int_equal(d.data->outside, 1);
	assert_true(d.plot.bands[3].unknown);
	end(&d);
}

/* A fault by which the stack grows is one of the stack, which is there a moment later. */
/* Where a unit is many pages: by their own addresses, not by whose number is lower. */
static void test_bands_in_a_unit(void **state)
{
	struct drawn d;

	begin(&d);
	feed_comm(&d.f, "prog");
	feed_map(&d.f, 0x701000, 0x702000, RW, "[upper]");
	feed_fault(&d.f, 0x701000, PFS_WRITE);
	feed_map(&d.f, 0x700000, 0x701000, RW, "[lower]");
	feed_fault(&d.f, 0x700000, PFS_WRITE);
	while (!d.data->cells.page_shift)
		assert_int_equal(pfs_plot_cells_shrink(&d.data->cells, d.data->cells.nr - 1), 0);
	lay_out(&d);
	expect_bands(&d, "prog (pid 10): [lower] 1+0\n"
			 "prog (pid 10): [upper] 1+0\n");
	end(&d);
}

static void feed_growth(struct feed *f, uint64_t addr)
{
	feed_fault(f, addr, PFS_WRITE);
	feed_map(f, addr & ~UINT64_C(0xfff), 0x7f0000, RW, "[stack]");
}

static void test_stack_grows(void **state)
{
	struct drawn d;

	begin(&d);
	feed_comm(&d.f, "prog");
	feed_map(&d.f, 0x300000, 0x301000, RW, "[heap]");
	feed_map(&d.f, 0x7d0000, 0x7f0000, RW, "[stack]");
	feed_fault(&d.f, 0x7ef000, PFS_WRITE); /* already in it */
	feed_map(&d.f, 0x7cf000, 0x7f0000, RW, "[stack]");
	for (uint64_t addr = 0x7ceff0; addr > 0x7c0000; addr -= 0x1800)
		feed_growth(&d.f, addr);
	feed_fault(&d.f, 0x7bf000, PFS_WRITE); /* refused, and something else put there */
	feed_signal(&d.f, 11);
	feed_map(&d.f, 0x7bf000, 0x7c0000, RW, "");
	feed_fault(&d.f, 0x301000, PFS_WRITE); /* no stack is above the heap, */
	feed_map(&d.f, 0x302000, 0x303000, RW, "");
	feed_fault(&d.f, 0x301000, PFS_WRITE);
	feed_map(&d.f, 0x300000, 0x302000, RW, "[heap]"); /* and a heap does not grow by faults */
	lay_out(&d);
	expect_bands(&d, "prog (pid 10): (no known region) 3+0\n"
			 "prog (pid 10): [stack] 11+0\n");
	assert_int_equal(d.data->outside, 3);
	assert_int_equal(d.data->faults, 14);
	assert_int_equal(d.data->images[0].count, 14);
	end(&d);
}

/* With --region the same are those of the stack, and of no known region they are not. */
static void test_stack_grows_filtered(void **state)
{
	static const char *const globs[] = { "stack", "(no known region)" };

	for (unsigned int i = 0; i < 2; i++) {
		struct pfs_filter filter = { 0 };
		struct drawn d;

		assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_REGION, globs[i], NULL), 0);
		begin(&d);
		d.data->filter = &filter;
		feed_map(&d.f, 0x7d0000, 0x7f0000, RW, "[stack]");
		feed_fault(&d.f, 0x100000, PFS_WRITE);
		feed_growth(&d.f, 0x7cf008);
		feed_growth(&d.f, 0x7ce008);
		lay_out(&d);
		assert_int_equal(d.data->faults, i ? 1 : 2);
		assert_int_equal(d.data->left_out, i ? 2 : 1);
		assert_int_equal(d.data->outside, i);
		assert_int_equal(d.plot.nr_bands, 1);
		end(&d);
		pfs_filter_fini(&filter);
	}
}

/* Small gaps are drawn, large ones folded; what is beyond a fold is still above what is below. */
static void test_folds(void **state)
{
	struct pfs_plot_cell low = { .page = 0x705 }, high = { .page = 0x705 + 5000 };
	struct drawn d;
	const struct pfs_plot_segment *below, *above;

	begin(&d);
	feed_map(&d.f, 0x700000, 0x700000 + 100000 * (uint64_t)PAGE, RW, "");
	feed_faults(&d.f, 0x700000, 6, PFS_WRITE);
	feed_faults(&d.f, 0x700000 + 16 * PAGE, 4, PFS_WRITE); /* 10 pages further on */
	feed_faults(&d.f, 0x705000 + 5000 * PAGE, 10, PFS_WRITE);
	lay_out(&d);
	assert_int_equal(d.plot.nr_bands, 1);
	assert_int_equal(d.plot.nr_segments, 2);
	assert_int_equal(d.plot.bands[0].nr_folds, 1);
	assert_true(d.plot.bands[0].pages > 30 && d.plot.bands[0].pages < 35);
	below = pfs_plot_find(d.plot.segments, &low);
	above = pfs_plot_find(below, &high);
	assert_ptr_equal(below, &d.plot.segments[0]);
	assert_ptr_equal(above, &d.plot.segments[1]);
	assert_true(pfs_plot_place(below, &low) > 0 && pfs_plot_place(below, &low) < 0.3);
	assert_true(pfs_plot_place(above, &high) > 0.6 && pfs_plot_place(above, &high) < 1);
	assert_true(d.plot.segments[1].at > d.plot.segments[0].len + 0.02); /* the fold itself */
	assert_true(d.plot.segments[1].at + d.plot.segments[1].len > 1 - 1e-9);
	end(&d);
}

static void test_exec_and_threads(void **state)
{
	struct drawn d;

	begin(&d);
	feed_comm(&d.f, "sh");
	feed_map(&d.f, 0x700000, 0x710000, RW, "");
	feed_faults(&d.f, 0x700000, 3, PFS_WRITE);
	d.f.space = PFS_SPACE_EXEC;
	feed_map(&d.f, 0x700000, 0x710000, RW, "");
	d.f.space = 0;
	feed_exec(&d.f, "/bin/cc", "cc");
	feed_faults(&d.f, 0x700000, 5, PFS_WRITE);
	feed_thread(&d.f, 11);
	feed_as(&d.f, 10, 11);
	feed_faults(&d.f, 0x705000, 4, PFS_READ);
	lay_out(&d);
	expect_bands(&d, "sh (pid 10): anon 700000 64K 3+0\ncc (pid 10): anon 700000 64K 9+0\n");
	assert_int_equal(d.data->nr_threads, 2);
	assert_int_equal(d.data->threads[0].count, 8);
	assert_int_equal(d.data->threads[1].count, 4);
	end(&d);
}

static struct pfs_event sampled(struct feed *f, uint64_t addr)
{
	struct pfs_event ev = feed_event(f, PFS_ACCESS, HAS(ADDR) | HAS(INTERVAL));

	ev.addr = addr;
	ev.interval_ns = 100;
	return ev;
}

static uint64_t color_sum(struct drawn *d, enum pfs_plot_by by, uint32_t color)
{
	uint32_t rows[32];
	struct pfs_plot_grid grid;
	uint64_t sum;

	for (int i = 0; i < 32; i++)
		rows[i] = 3;
	assert_int_equal(pfs_plot_grid_make(&grid, &d->plot, 50, rows, by), 0);
	sum = grid.by_color[color];
	pfs_plot_grid_fini(&grid);
	return sum;
}

/* What is learned of a fault afterwards, and what is no fault at all. */
static void test_colors(void **state)
{
	struct drawn d;
	struct pfs_event ev;

	begin(&d);
	feed_maps_line(&d.f, 0x700000, 0x710000, RW, 0, LIBC);
	feed_fault(&d.f, 0x700000, PFS_READ);
	feed_major(&d.f, 0xfe00000, 77, 0);
	feed_fault(&d.f, 0x701000, PFS_READ);
	feed_major(&d.f, 0xfe00000, 77, 0x9000); /* another page was read */
	feed_fault(&d.f, 0x702000, PFS_WRITE);
	feed_signal(&d.f, 11);
	feed_fault(&d.f, 0x703000, PFS_EXECUTE);
	ev = sampled(&d.f, 0x704000);
	feed_apply(&d.f, &ev);
	lay_out(&d);
	assert_int_equal(d.data->faults, 4);
	assert_int_equal(d.data->sampled, 1);
	assert_int_equal(color_sum(&d, PFS_PLOT_BY_ACCESS, PFS_READ), 2);
	assert_int_equal(color_sum(&d, PFS_PLOT_BY_ACCESS, PFS_WRITE), 1);
	assert_int_equal(color_sum(&d, PFS_PLOT_BY_ACCESS, PFS_EXECUTE), 1);
	assert_int_equal(color_sum(&d, PFS_PLOT_BY_ACCESS, PFS_PLOT_SAMPLED), 1);
	assert_int_equal(color_sum(&d, PFS_PLOT_BY_CLASS, PFS_MAJOR_CLASS), 1);
	assert_int_equal(color_sum(&d, PFS_PLOT_BY_CLASS, 3), 1);
	assert_int_equal(color_sum(&d, PFS_PLOT_BY_CLASS, 0), 2);
	assert_int_equal(color_sum(&d, PFS_PLOT_BY_THREAD, 0), 4);
	assert_int_equal(color_sum(&d, PFS_PLOT_BY_NOTHING, 0), 4);
	assert_int_equal(color_sum(&d, PFS_PLOT_BY_NOTHING, PFS_PLOT_SAMPLED), 1);
	end(&d);
}

/* Every grid adds up to the model, and the bands to the grid. */
static void check_grid(struct drawn *d, uint64_t *s)
{
	uint32_t *rows = calloc(d->plot.nr_bands + 1, sizeof(*rows));
	uint64_t faults = 0, seen = 0, by_column = 0;
	struct pfs_plot_grid grid;

	for (uint32_t i = 0; i < d->plot.nr_bands; i++) {
		rows[i] = 1 + random_u64(s) % 20;
		faults += d->plot.bands[i].faults;
		seen += d->plot.bands[i].sampled;
	}
	assert_int_equal(faults, d->data->faults);
	assert_int_equal(seen, d->data->sampled);
	assert_int_equal(pfs_plot_grid_make(&grid, &d->plot, 1 + random_u64(s) % 300, rows, random_u64(s) % 4), 0);
	faults = seen = 0;
	for (uint32_t i = 0; i < grid.nr_spots; i++) {
		const struct pfs_plot_spot *spot = &grid.spots[i];

		*(spot->color == PFS_PLOT_SAMPLED ? &seen : &faults) += spot->count;
		assert_true(spot->row < rows[spot->band] && spot->column < grid.columns);
		assert_true(spot->color == PFS_PLOT_SAMPLED ? spot->count <= grid.most_sampled
							    : spot->count <= grid.most);
	}
	for (uint32_t i = 0; i < grid.columns; i++)
		by_column += grid.faults[0][i];
	assert_int_equal(faults, d->data->faults);
	assert_int_equal(by_column, d->data->faults);
	assert_int_equal(seen, d->data->sampled);
	pfs_plot_grid_fini(&grid);
	free(rows);
}

static void test_anything_adds_up(void **state)
{
	for (uint64_t seed = 1; seed <= 150; seed++) {
		struct drawn d;
		uint64_t s = seed;

		begin(&d);
		d.data->cells.max = 20 + random_u64(&s) % 200;
		for (unsigned int i = 0; i < 1500; i++) {
			struct pfs_event ev;

			random_event(&ev, &s, true);
			feed_apply(&d.f, &ev);
		}
		assert_int_equal(d.data->faults + d.data->timeless, d.f.model->counts.faults);
		assert_int_equal(pfs_plot_lay_out(&d.plot, d.data, 1 + random_u64(&s) % 30, PFS_PLOT_BY_ADDRESS), 0);
		check_grid(&d, &s);
		end(&d);
	}
}

/* More processes and regions than a picture can have bands for. */
static void test_many_of_all(void **state)
{
	struct drawn d;
	uint64_t s = 9;

	begin(&d);
	for (int pid = 100; pid < 100 + PFS_PLOT_MAX_IMAGES + 50; pid++) {
		feed_as(&d.f, pid, pid);
		for (uint64_t r = 0; r < 12; r++) {
			char name[32];

			snprintf(name, sizeof(name), "/lib/%u", (unsigned int)r);
			feed_map(&d.f, 0x100000 * (r + 1), 0x100000 * (r + 1) + 0x10000, RW, name);
			feed_faults(&d.f, 0x100000 * (r + 1), 1 + pid % 3, PFS_WRITE);
		}
	}
	assert_int_equal(d.data->nr_images, PFS_PLOT_MAX_IMAGES);
	assert_int_equal(d.data->nr_threads, PFS_PLOT_MAX_THREADS);
	assert_int_equal(d.data->nr_groups, PFS_PLOT_MAX_GROUPS);
	lay_out(&d);
	assert_true(d.plot.nr_bands <= 40);
	assert_int_equal(d.data->faults, d.f.model->counts.faults);
	check_grid(&d, &s);
	end(&d);
}

/* ---- resident pages ---- */

static void test_resident(void **state)
{
	struct drawn d;
	uint64_t pages[4096] = { 0 };
	uint32_t columns;

	begin(&d);
	feed_map(&d.f, 0x700000, 0x800000, RW, "");
	feed_map(&d.f, 0x900000, 0xa00000, RW, "");
	feed_faults(&d.f, 0x700000, 10, PFS_WRITE);
	feed_populate(&d.f, 0x900000, 0x964000); /* 100 pages */
	feed_fault(&d.f, 0x700000, PFS_READ);	 /* again: it is there already */
	feed_unmap(&d.f, 0x900000, 0xa00000);
	feed_fault(&d.f, 0x70b000, PFS_WRITE);
	lay_out(&d);
	columns = d.plot.nr_bins;
	assert_int_equal(pfs_plot_resident(&d.plot, 0, columns, 1, pages), 0);
	assert_int_equal(pages[0], 1);
	assert_int_equal(pages[columns - 1], 11);
	assert_int_equal(pages[columns * 11 / 13], 110);
	end(&d);
}

/* What comes and goes within a bin is in it, and so is what is gone at its end. */
static void test_resident_in_a_bin(void **state)
{
	struct drawn d;
	uint64_t pages[4096] = { 0 }, bin;

	begin(&d);
	feed_map(&d.f, 0x700000, 0x800000, RW, "");
	feed_faults(&d.f, 0x700000, 10, PFS_WRITE);
	d.f.now_ns += 10000000000;
	bin = d.f.now_ns;
	feed_map(&d.f, 0x900000, 0xa00000, RW, "");
	feed_faults(&d.f, 0x900000, 100, PFS_WRITE);
	feed_unmap(&d.f, 0x900000, 0xa00000);
	feed_map(&d.f, 0x900000, 0xa00000, RW, "");
	feed_faults(&d.f, 0x900000, 50, PFS_WRITE);
	feed_unmap(&d.f, 0x900000, 0xa00000);
	d.f.now_ns += 10000000000;
	feed_fault(&d.f, 0x70b000, PFS_WRITE);
	lay_out(&d);
	assert_int_equal(pfs_plot_resident(&d.plot, 0, d.plot.nr_bins, 1, pages), 0);
	bin = (bin - d.plot.from_ns) >> d.data->cells.time_shift;
	assert_int_equal(pages[0], 10);
	assert_int_equal(pages[bin - 1], 10);
	assert_int_equal(pages[bin], 110);
	assert_int_equal(pages[bin + 1], 10);
	assert_int_equal(pages[d.plot.nr_bins - 1], 11);
	memset(pages, 0, sizeof(pages));
	assert_int_equal(pfs_plot_resident(&d.plot, 0, 1, d.plot.nr_bins, pages), 0);
	assert_int_equal(pages[0], 110);
	end(&d);
}

/* ---- words ---- */

static void test_words(void **state)
{
	struct drawn d;
	char text[PFS_PLOT_TEXT_MAX];

	assert_int_equal(pfs_plot_tick(1000000000, 6), 200000000);
	assert_true(pfs_plot_tick(UINT64_MAX, 4) > UINT64_MAX / 5);
	begin(&d);
	feed_map(&d.f, 0x700000, 0x800000, RW, "");
	feed_faults(&d.f, 0x700000, 2, PFS_WRITE);
	feed_fault(&d.f, 0x900000, PFS_WRITE);
	lay_out(&d);
	assert_string_equal(pfs_plot_sum_text(&d.plot, text), "3 faults in 2 us, 1 of them in no known region");
	assert_string_equal(pfs_plot_notes_text(&d.plot, text), "");
	end(&d);
}

static void test_levels(void **state)
{
	for (uint64_t most = 1; most < 5000; most = most * 3 / 2 + 1) {
		for (unsigned int level = 0; level < 9; level++) {
			uint64_t from = pfs_plot_level_from(level, most, 9);

			assert_true(!level || from > pfs_plot_level_from(level - 1, most, 9));
			assert_int_equal(pfs_plot_level(from, most, 9), level);
		}
		assert_int_equal(pfs_plot_level(most, most, 9), most < 9 ? most - 1 : 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells_add_up),
		cmocka_unit_test(test_cells_double),
		cmocka_unit_test(test_cells_come_and_go),
		cmocka_unit_test(test_cells_change),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_many_ranges),
		cmocka_unit_test(test_bands),
		cmocka_unit_test(test_bands_in_a_unit),
		cmocka_unit_test(test_stack_grows),
		cmocka_unit_test(test_stack_grows_filtered),
		cmocka_unit_test(test_folds),
		cmocka_unit_test(test_exec_and_threads),
		cmocka_unit_test(test_colors),
		cmocka_unit_test(test_anything_adds_up),
		cmocka_unit_test(test_many_of_all),
		cmocka_unit_test(test_resident),
		cmocka_unit_test(test_resident_in_a_bin),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
