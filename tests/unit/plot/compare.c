/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two recordings in one plot: counterparts are side by side at one scale, and nothing is lost or counted twice.
 */
#include "support/feed.h"
#include "plot/plot.h"
#include "support/random_event.h"

#include <stdio.h>

struct side {
	struct feed f;
	struct pfs_plot_data *data;
};

static struct side side_new(uint64_t base_ns)
{
	struct side s = { .f = feed_new(10) };

	s.f.now_ns = base_ns;
	s.data = pfs_plot_data_new(s.f.model, NULL);
	assert_non_null(s.data);
	s.f.behind = pfs_plot_data_observer(s.data);
	return s;
}

static void side_free(struct side *s)
{
	pfs_plot_data_free(s->data);
	feed_free(&s->f);
}

/* A program under address space randomization: its libraries are `slide` higher, one more is between them. */
static void play(struct side *s, int pid, uint64_t slide, bool more)
{
	feed_as(&s->f, pid, pid);
	feed_note(&s->f, "snapshot", "first", true);
	feed_comm(&s->f, "prog");
	feed_map(&s->f, 0x600000 + slide, 0x610000 + slide, RW, "[heap]");
	feed_faults(&s->f, 0x600000 + slide, 4, PFS_WRITE);
	feed_maps_line(&s->f, 0x700000 + 2 * slide, 0x710000 + 2 * slide, R, 0, 0xfe00000, 77, "/lib/libc.so");
	feed_fault(&s->f, 0x703000 + 2 * slide, PFS_READ);
	if (more)
		feed_maps_line(&s->f, 0x740000 + 2 * slide, 0x748000 + 2 * slide, R, 0, 0xfe00000, 78, "/lib/more.so");
	if (more)
		feed_fault(&s->f, 0x741000 + 2 * slide, PFS_READ);
	feed_map(&s->f, 0x800000 + 2 * slide, 0x808000 + 2 * slide, RW, "");
	feed_fault(&s->f, 0x802000 + 2 * slide, PFS_WRITE);
	feed_maps_line(&s->f, 0x900000 + 2 * slide, 0x910000 + 2 * slide, R, 0, 0xfe00000, 79, "/lib/last.so");
	if (!more) /* never touched in the other one */
		feed_fault(&s->f, 0x901000 + 2 * slide, PFS_READ);
}

/* "block: band faults" a line, from bottom to top. */
static void expect_bands(const struct pfs_plot *plot, const char *wanted)
{
	char text[2048] = "";

	for (uint32_t i = 0; i < plot->nr_bands; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s: %s %d\n",
			 plot->blocks[plot->bands[i].block].label, plot->bands[i].label, (int)plot->bands[i].faults);
	assert_string_equal(text, wanted);
}

#define BLOCK "A prog (pid 10), B prog (pid 20): "

static void test_counterparts(void **state)
{
	struct side a = side_new(1000000000), b = side_new(7000000000);
	struct pfs_plot plot;

	play(&a, 10, 0, false);
	play(&b, 20, 0x1234000, true);
	assert_int_equal(pfs_plot_data_join(a.data, b.data), 0);
	assert_int_equal(pfs_plot_lay_out(&plot, a.data, 40, PFS_PLOT_BY_ADDRESS), 0);
	expect_bands(&plot, BLOCK "B [heap] 4\n" BLOCK "A [heap] 4\n" BLOCK "B libc.so 1\n" BLOCK "A libc.so 1\n" BLOCK
				  "B more.so 1\n" BLOCK "B anon 2c68000 32K 1\n" BLOCK "A anon 800000 32K 1\n" BLOCK
				  "B last.so 0\n" BLOCK "A last.so 1\n");
	for (uint32_t i = 0; i < plot.nr_segments; i++)
		for (uint32_t k = 0; k < plot.nr_segments; k++)
			if (plot.data->groups[plot.segments[i].group].pair == plot.segments[k].group &&
			    plot.segments[i].first == plot.segments[k].first) {
				assert_true(plot.segments[i].last == plot.segments[k].last);
				assert_true(plot.segments[i].at == plot.segments[k].at);
				assert_true(plot.segments[i].len == plot.segments[k].len);
			}
	assert_int_equal(a.data->faults, 14);
	assert_true(plot.to_ns - plot.from_ns < 1000000); /* both from the start */
	pfs_plot_fini(&plot);

	assert_int_equal(pfs_plot_lay_out(&plot, a.data, 40, PFS_PLOT_BY_FAULTS), 0);
	assert_string_equal(plot.bands[plot.nr_bands - 1].label, "A [heap]");
	assert_string_equal(plot.bands[plot.nr_bands - 2].label, "B [heap]");
	pfs_plot_fini(&plot);

	/* counterparts share a small band with others of their side */
	assert_int_equal(pfs_plot_lay_out(&plot, a.data, 4, PFS_PLOT_BY_ADDRESS), 0);
	expect_bands(&plot, BLOCK "B [heap] 4\n" BLOCK "A [heap] 4\n" BLOCK "B 4 small regions 3\n" BLOCK
				  "A 3 small regions 3\n");
	pfs_plot_fini(&plot);
	side_free(&a);
	side_free(&b);
}

/* Addresses of the second recording are found again. */
static void test_addresses(void **state)
{
	struct side a = side_new(1000000000), b = side_new(500);
	uint64_t sum = 0;

	play(&a, 10, 0, false);
	play(&b, 20, 0x1234000, true);
	assert_int_equal(pfs_plot_data_join(a.data, b.data), 0);
	for (size_t i = 0; i < a.data->cells.nr_used; i++) {
		const struct pfs_plot_cell *cell = &a.data->cells.cells[i];
		const struct pfs_plot_group *group = &a.data->groups[cell->group];
		uint32_t range = 0;

		if (!cell->count || !a.data->images[group->image].side)
			continue;
		while (range < group->nr_ranges && group->ranges[range].end <= cell->addr)
			range++;
		assert_true(range < group->nr_ranges);
		sum += (cell->addr - group->ranges[range].shift) >> 12;
	}
	/* heap 0x1834 to 0x1837, libc 0x2b6b, more 0x2ba9, anon 0x2c6a */
	assert_int_equal(sum, 4 * 0x1834 + 6 + 0x2b6b + 0x2ba9 + 0x2c6a);
	side_free(&a);
	side_free(&b);
}

/* A heap that grew further in one of them is one region in both, at one scale. */
static void test_sizes(void **state)
{
	for (int larger = 0; larger < 2; larger++) {
		struct side sides[2] = { side_new(1000), side_new(5000) };
		struct pfs_plot plot;

		for (int i = 0; i < 2; i++) {
			uint64_t base = 0x600000 + i * 0x123000, pages = i == larger ? 40 : 8;

			feed_note(&sides[i].f, "snapshot", "first", true);
			feed_comm(&sides[i].f, "prog");
			feed_map(&sides[i].f, base, base + pages * PAGE, RW, "[heap]");
			feed_faults(&sides[i].f, base, pages, PFS_WRITE);
			feed_map(&sides[i].f, 0x800000, 0x800000 + pages * PAGE, RW, "");
			feed_fault(&sides[i].f, 0x800000, PFS_WRITE);
		}
		assert_int_equal(pfs_plot_data_join(sides[0].data, sides[1].data), 0);
		assert_int_equal(pfs_plot_lay_out(&plot, sides[0].data, 40, PFS_PLOT_BY_ADDRESS), 0);
		expect_bands(&plot, larger ? "A prog (pid 10), B prog (pid 10): B [heap] 40\n"
					     "A prog (pid 10), B prog (pid 10): A [heap] 8\n"
					     "A prog (pid 10), B prog (pid 10): B anon 800000 160K 1\n"
					     "A prog (pid 10), B prog (pid 10): A anon 800000 32K 1\n"
					   : "A prog (pid 10), B prog (pid 10): B [heap] 8\n"
					     "A prog (pid 10), B prog (pid 10): A [heap] 40\n"
					     "A prog (pid 10), B prog (pid 10): B anon 800000 32K 1\n"
					     "A prog (pid 10), B prog (pid 10): A anon 800000 160K 1\n");
		assert_true(plot.bands[0].pages == plot.bands[1].pages && plot.bands[0].pages == 40);
		pfs_plot_fini(&plot);
		side_free(&sides[0]);
		side_free(&sides[1]);
	}
}

/* Another process has no counterpart. */
static void test_alone(void **state)
{
	struct side a = side_new(1000), b = side_new(5000);
	struct pfs_plot plot;

	play(&a, 10, 0, false);
	play(&b, 20, 0x1000, false);
	feed_as(&b.f, 30, 30);
	feed_comm(&b.f, "other");
	feed_map(&b.f, 0x600000, 0x610000, RW, "[heap]");
	feed_fault(&b.f, 0x600000, PFS_WRITE);
	assert_int_equal(pfs_plot_data_join(a.data, b.data), 0);
	assert_int_equal(pfs_plot_lay_out(&plot, a.data, 40, PFS_PLOT_BY_ADDRESS), 0);
	assert_string_equal(plot.blocks[1].label, "only B other (pid 30)");
	assert_string_equal(plot.bands[plot.nr_bands - 1].label, "B [heap]");
	pfs_plot_fini(&plot);
	side_free(&a);
	side_free(&b);
}

/* Whatever comes, all of both is in the plot. */
static void test_anything_adds_up(void **state)
{
	for (uint64_t seed = 1; seed <= 120; seed++) {
		struct side a = side_new(1000), b = side_new(seed % 3 * 1000000);
		uint64_t s = seed, faults, sampled, by_side[2] = { 0 };
		struct pfs_plot_grid grid;
		struct pfs_plot plot;
		struct pfs_event ev;

		a.data->cells.max = 20 + random_u64(&s) % 200;
		b.data->cells.max = 20 + random_u64(&s) % 200;
		for (unsigned int i = 0; i < 1200; i++) {
			random_event(&ev, &s, true);
			feed_apply(i % 2 ? &a.f : &b.f, &ev);
		}
		faults = a.data->faults + b.data->faults;
		sampled = a.data->sampled + b.data->sampled;
		assert_int_equal(pfs_plot_data_join(a.data, b.data), 0);
		assert_int_equal(a.data->faults, faults);
		assert_int_equal(pfs_plot_lay_out(&plot, a.data, 2 + random_u64(&s) % 30, seed % 2), 0);
		for (uint32_t i = 0; i < plot.nr_bands; i++) {
			by_side[plot.bands[i].side] += plot.bands[i].faults;
			sampled -= plot.bands[i].sampled;
		}
		assert_int_equal(by_side[0], a.data->side[0].faults);
		assert_int_equal(by_side[1], a.data->side[1].faults);
		assert_int_equal(sampled, 0);
		assert_int_equal(pfs_plot_grid_make(&grid, &plot, 1 + random_u64(&s) % 300, NULL, random_u64(&s) % 4),
				 0);
		for (uint32_t side = 0; side < 2; side++)
			for (uint32_t i = 0; i < grid.columns; i++)
				faults -= grid.faults[side][i];
		assert_int_equal(faults, 0);
		pfs_plot_grid_fini(&grid);
		pfs_plot_fini(&plot);
		side_free(&a);
		side_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counterparts),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_anything_adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
