/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The colours of plots as colour-blind readers see them: deuteranopia and protanopia simulated by the matrices of Machado,
 * Oliveira and Fernandes (2009), and grey. Distances are those of CIE Lab (1976), contrasts those of WCAG 2.
 */
#include "support/feed.h"
#include "plot/theme.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NORMAL, DEUTERANOPIA, PROTANOPIA, GREY, EYES };

/* Of linear red, green and blue. */
static const double eyes[EYES][3][3] = {
	[NORMAL] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
	[DEUTERANOPIA] = { { 0.367322, 0.860646, -0.227968 },
			   { 0.280085, 0.672501, 0.047413 },
			   { -0.011820, 0.042940, 0.968881 } },
	[PROTANOPIA] = { { 0.152286, 1.052583, -0.204868 },
			 { 0.114503, 0.786281, 0.099216 },
			 { -0.003882, -0.048116, 1.051998 } },
	[GREY] = { { 0.2126, 0.7152, 0.0722 }, { 0.2126, 0.7152, 0.0722 }, { 0.2126, 0.7152, 0.0722 } },
};

static double linear(unsigned int byte)
{
	double c = byte / 255.0;

	return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

/* "#rrggbb" */
static void rgb_of(const char *color, double rgb[3])
{
	unsigned long number = strtoul(color + 1, NULL, 16);

	assert_true(color[0] == '#' && strlen(color) == 7);
	for (int i = 0; i < 3; i++)
		rgb[i] = linear(number >> (16 - 8 * i) & 255);
}

/* Of the 256 of a terminal: its cube of 6 x 6 x 6. */
static const char *terminal_color(char buf[8], unsigned int nr)
{
	static const unsigned int steps[] = { 0, 95, 135, 175, 215, 255 };

	assert_in_range(nr, 16, 231);
	nr -= 16;
	snprintf(buf, 8, "#%02x%02x%02x", steps[nr / 36], steps[nr / 6 % 6], steps[nr % 6]);
	return buf;
}

static double luminance(const char *color)
{
	double rgb[3];

	rgb_of(color, rgb);
	return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
}

static double contrast(const char *a, const char *b)
{
	double x = luminance(a) + 0.05, y = luminance(b) + 0.05;

	return x > y ? x / y : y / x;
}

static double lab_part(double t)
{
	return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

static void lab_of(const char *color, int eye, double lab[3])
{
	double rgb[3], seen[3] = { 0 }, x, y, z;

	rgb_of(color, rgb);
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 3; k++)
			seen[i] += eyes[eye][i][k] * rgb[k];
		seen[i] = fmin(1, fmax(0, seen[i]));
	}
	x = lab_part((0.4124 * seen[0] + 0.3576 * seen[1] + 0.1805 * seen[2]) / 0.95047);
	y = lab_part(0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2]);
	z = lab_part((0.0193 * seen[0] + 0.1192 * seen[1] + 0.9505 * seen[2]) / 1.08883);
	lab[0] = 116 * y - 16;
	lab[1] = 500 * (x - y);
	lab[2] = 200 * (y - z);
}

static double distance(const char *a, const char *b, int eye)
{
	double x[3], y[3];

	lab_of(a, eye, x);
	lab_of(b, eye, y);
	return sqrt(pow(x[0] - y[0], 2) + pow(x[1] - y[1], 2) + pow(x[2] - y[2], 2));
}

static double lightness(const char *color, int eye)
{
	double lab[3];

	lab_of(color, eye, lab);
	return lab[0];
}

#define expect(what, ...)                         \
	do {                                      \
		if (!(what)) {                    \
			print_error(__VA_ARGS__); \
			fail();                   \
		}                                 \
	} while (0)

/* Two colours are apart to every eye; in grey they are known categories if they are. */
static void expect_apart(const char *a, const char *b, bool known)
{
	static const double least[EYES] = { 20, 15, 15, 6 };

	for (int eye = 0; eye < (known ? EYES : GREY); eye++)
		expect(distance(a, b, eye) >= least[eye], "%s and %s are %.1f apart to eye %d\n", a, b,
		       distance(a, b, eye), eye);
}

static void expect_seen(const char *color, const struct pfs_plot_theme *theme)
{
	expect(contrast(color, theme->ground) >= 3, "%s: contrast of %s is %.2f\n", theme->name, color,
	       contrast(color, theme->ground));
	/* and on the ground of every second band */
	expect(contrast(color, theme->odd) >= 2.7, "%s: contrast of %s to odd bands is %.2f\n", theme->name, color,
	       contrast(color, theme->odd));
}

/* Access and class: the first is what is not known. */
static void test_categories(void **state)
{
	for (int i = 0; i < PFS_PLOT_THEMES; i++) {
		const struct pfs_plot_theme *theme = &pfs_plot_themes[i];

		expect_seen(theme->sampled, theme);
		for (enum pfs_plot_by by = PFS_PLOT_BY_ACCESS; by <= PFS_PLOT_BY_CLASS; by++)
			for (uint32_t a = 0; a < 4; a++) {
				expect_seen(pfs_plot_color(theme, by, a), theme);
				for (uint32_t b = a + 1; b < 4; b++)
					expect_apart(pfs_plot_color(theme, by, a), pfs_plot_color(theme, by, b), a);
			}
	}
}

/* Colours of threads come twice, with another shape. */
static void test_threads(void **state)
{
	for (int i = 0; i < PFS_PLOT_THEMES; i++) {
		const struct pfs_plot_theme *theme = &pfs_plot_themes[i];

		for (uint32_t a = 0; a < PFS_PLOT_OTHERS; a++) {
			expect_seen(theme->thread[a], theme);
			for (uint32_t b = a + 1; b < PFS_PLOT_OTHERS; b++)
				if (strcmp(theme->thread[a], theme->thread[b]))
					expect_apart(theme->thread[a], theme->thread[b], false);
		}
		expect_seen(theme->thread[PFS_PLOT_OTHERS], theme);
	}
}

/* No meaning by colour alone. */
/* Any two may be neighbours where those between them have no bytes. */
static void test_areas(void **state)
{
	for (int i = 0; i < PFS_PLOT_THEMES; i++) {
		const struct pfs_plot_theme *theme = &pfs_plot_themes[i];

		for (uint32_t a = 0; a <= PFS_PLOT_AREAS; a++)
			for (uint32_t b = a + 1; b <= PFS_PLOT_AREAS; b++)
				expect_apart(theme->area[a], theme->area[b], false);
	}
}

static void test_shapes(void **state)
{
	static const uint32_t nr[] = { [PFS_PLOT_BY_ACCESS] = 4,
				       [PFS_PLOT_BY_CLASS] = 4,
				       [PFS_PLOT_BY_THREAD] = PFS_PLOT_OTHERS + 1,
				       [PFS_PLOT_BY_FAULT_CLASS] = PFS_PLOT_OTHERS + 1 };

	for (enum pfs_plot_by by = PFS_PLOT_BY_ACCESS; by < PFS_PLOT_BYS; by++) {
		bool used[PFS_PLOT_SHAPES] = { false };

		used[pfs_plot_shape(by, PFS_PLOT_SAMPLED)] = true;
		for (uint32_t i = 0; i < nr[by]; i++) {
			enum pfs_plot_shapes shape = pfs_plot_shape(by, i);

			expect(!used[shape], "%d: shape %d is used twice\n", by, shape);
			used[shape] = true;
		}
	}
	for (int i = 0; i < PFS_PLOT_SHAPES; i++)
		for (unsigned int k = 0; k < 2U * pfs_plot_shapes[i].nr; k++)
			assert_in_range(pfs_plot_shapes[i].at[k] + 120, 0, 240);
}

/* Steps are even enough to be told apart, and lightness rises or falls all the way, also in grey. */
static void expect_scale(const char *const colors[PFS_PLOT_LEVELS], const struct pfs_plot_theme *theme)
{
	for (int i = 0; i < PFS_PLOT_LEVELS; i++)
		expect_seen(colors[i], theme);
	for (int eye = 0; eye < EYES; eye++)
		for (int i = 1; i < PFS_PLOT_LEVELS; i++) {
			double step = lightness(colors[i], eye) - lightness(colors[i - 1], eye);

			expect((theme == &pfs_plot_themes[PFS_PLOT_DARK] ? step : -step) >= 3,
			       "%s: %s to %s is a step of %.1f to eye %d\n", theme->name, colors[i - 1], colors[i],
			       step, eye);
		}
}

static void test_scales(void **state)
{
	for (int i = 0; i < PFS_PLOT_THEMES; i++) {
		expect_scale(pfs_plot_themes[i].hot, &pfs_plot_themes[i]);
		expect_scale(pfs_plot_themes[i].seen, &pfs_plot_themes[i]);
	}
}

/* On black and on white. */
static void test_terminal(void **state)
{
	const uint8_t *const scales[] = { pfs_plot_terminal_hot, pfs_plot_terminal_seen };
	char color[8], before[8];

	for (int k = 0; k < 2; k++)
		for (int i = 0; i < PFS_PLOT_LEVELS; i++) {
			terminal_color(color, scales[k][i]);
			expect(contrast(color, "#000000") >= 1.7 && contrast(color, "#ffffff") >= 1.7,
			       "%d: contrast %.2f and %.2f\n", scales[k][i], contrast(color, "#000000"),
			       contrast(color, "#ffffff"));
			for (int eye = 0; eye < EYES && i; eye++)
				expect(distance(color, terminal_color(before, scales[k][i - 1]), eye) >= 2.5,
				       "%d and %d are %.1f apart to eye %d\n", scales[k][i - 1], scales[k][i],
				       distance(color, before, eye), eye);
		}
}

static void test_texts(void **state)
{
	for (int i = 0; i < PFS_PLOT_THEMES; i++) {
		const struct pfs_plot_theme *theme = &pfs_plot_themes[i];
		const char *const grounds[] = { theme->ground, theme->odd, theme->head };

		for (int k = 0; k < 3; k++) {
			expect(contrast(theme->ink, grounds[k]) >= 7, "%s: text on %s\n", theme->name, grounds[k]);
			expect(contrast(theme->dim, grounds[k]) >= 4.5, "%s: dim text on %s\n", theme->name,
			       grounds[k]);
		}
		assert_true(contrast(theme->note, theme->ground) >= 4.5);
		expect_seen(theme->rate, theme);
		expect_seen(theme->resident, theme);
		expect_seen(theme->lost, theme);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_categories), cmocka_unit_test(test_threads), cmocka_unit_test(test_areas),
		cmocka_unit_test(test_shapes),	   cmocka_unit_test(test_scales),  cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
