/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plot: time from left to right, addresses from bottom to top, untouched addresses folded.
 *
 *     plot/data.h    gathers touches from events, counted in cells
 *     plot/plot.h    lays them out in blocks (an image of a process each) of bands (a region each, or several small
 *                    ones), puts them into a grid of rows and columns, and writes it as text, picture or page;
 *                    names the instructions of a page
 *     plot/theme.h   colours and shapes, of flame graphs, too
 *     plot/page.h    how a page is written around its data and script, that of flame graphs, too
 *     plot/draw.h    draws pictures by cairo
 *
 * All formats show each touch exactly once: the spots of a grid add up to the cells, and these to the events.
 */
#ifndef PFS_PLOT_H
#define PFS_PLOT_H

#include "base/err.h"
#include "base/json.h"
#include "plot/data.h"
#include "plot/theme.h"

#include <stdio.h>
#include <time.h>

/* Touched pages side by side in one group, with small gaps. */
struct pfs_plot_segment {
	uint32_t group, band;
	uint64_t first, last; /* as cells have them: numbers of pages >> page_shift */
	double at, len;	      /* of its band, which is 1 from bottom to top */
};

enum { PFS_PLOT_THUMB = 32 };

struct pfs_plot_band {
	char *label;	  /* escaped; a file without its path */
	const char *name; /* not escaped; NULL: several regions */
	uint32_t block, side;
	uint64_t start, end; /* from its first touched page to its last; end 0: the top of memory */
	uint64_t faults, sampled;
	double pages; /* its height stands for these, in units of cells */
	uint32_t nr_folds;
	bool unknown; /* no known region */
	uint8_t thumb
		[PFS_PLOT_THUMB]; /* touched pages in each part of it, from its lowest address on: 0 to 8 eighths */
};

struct pfs_plot_block {
	char *label; /* escaped */
	uint64_t faults, sampled;
	uint64_t of_side[2]; /* touches */
};

/* "A " or "B " in front of what is of one of two recordings; "" where there is one only. */
const char *pfs_plot_side_text(const struct pfs_plot_data *data, uint32_t side);

/* A part of a band in which some pages may have been used unobserved for a time, because they stayed in memory (--refault). */
struct pfs_plot_unobserved {
	uint32_t band;
	double at, len; /* as a segment's */
	uint64_t from_ns, to_ns;
	bool quiet; /* no page of any process was taken away then */
};

/* Bands of a block; also the blocks, by faults. */
enum pfs_plot_sort { PFS_PLOT_BY_ADDRESS, PFS_PLOT_BY_FAULTS, PFS_PLOT_SORTS };
extern const char *const pfs_plot_sort_names[PFS_PLOT_SORTS];

struct pfs_plot {
	struct pfs_plot_data *data;
	struct pfs_plot_block *blocks; /* from top to bottom */
	struct pfs_plot_band *bands;   /* from bottom to top: each block's from the lowest address on, or by faults */
	struct pfs_plot_segment *segments; /* sorted by group and page */
	struct pfs_plot_unobserved *unobserved;
	uint32_t nr_blocks, nr_bands, nr_segments, nr_unobserved;
	enum pfs_plot_sort sort;
	uint64_t nr_bins;
	uint64_t from_ns, to_ns; /* beginning of the first bin, end of the last */
	unsigned int unit_shift; /* a unit of cells is 1 << unit_shift bytes */
};

/* Makes about max_bands bands at most. Sorts the cells. The data must not change while the plot lives. 0 or -ENOMEM. */
int pfs_plot_lay_out(struct pfs_plot *plot, struct pfs_plot_data *data, uint32_t max_bands, enum pfs_plot_sort sort);
void pfs_plot_fini(struct pfs_plot *plot);

/* The segment of a cell: `from`, which is plot->segments or the segment of a cell before this one, or a later one. */
const struct pfs_plot_segment *pfs_plot_find(const struct pfs_plot_segment *from, const struct pfs_plot_cell *cell);

/* The place in the band (0 to 1) of the middle of the cell's pages. */
double pfs_plot_place(const struct pfs_plot_segment *segment, const struct pfs_plot_cell *cell);

/* The index of the group's range that holds the beginning of the unit, else of the next one; nr_ranges: none. */
uint32_t pfs_plot_find_range(const struct pfs_plot *plot, uint32_t group, uint64_t page);

/* "cc1 (pid 4711)", or "sh (pid 4711, image 2)" if several have that name; escaped. Allocated; NULL: no memory. */
char *pfs_plot_image_label(const struct pfs_plot_data *data, uint32_t nr);

/* ---- the grid ---- */

/* Rare faults, which are drawn larger and on top, as faults are that are coloured by class: these are its colours. */
enum pfs_plot_mark { PFS_PLOT_PLAIN, PFS_PLOT_MAJOR = PFS_MAJOR_CLASS, PFS_PLOT_SIGNAL, PFS_PLOT_MARKS };

enum pfs_plot_mark pfs_plot_mark(struct pfs_plot_kind kind);

/* Touches of one colour in one place of the grid. */
struct pfs_plot_spot {
	uint32_t band, row, column;
	uint8_t color, mark;
	uint64_t count;
};

struct pfs_plot_grid {
	uint32_t columns; /* at most max_columns */
	uint64_t bins;	  /* in a column */
	uint64_t column_ns;
	struct pfs_plot_spot *spots; /* sorted by band, row, column; the most frequent colour last */
	uint32_t nr_spots;
	uint64_t most, most_sampled;	    /* faults and sampled accesses in one place */
	uint64_t by_color[PFS_PLOT_COLORS]; /* touches */
	uint64_t by_mark[PFS_PLOT_MARKS];
	uint64_t *faults[2];		     /* of each side by column */
	uint64_t *resident[2];		     /* pages by column, the most at any time of it; see plot/resident.c */
	uint64_t most_faults, most_resident; /* in one column */
	uint32_t threads[PFS_PLOT_OTHERS];   /* with a colour each, the busiest first */
	uint32_t nr_threads;
	uint8_t labels[PFS_PLOT_OTHERS]; /* of classes with a colour each, those with the most faults first */
	uint32_t nr_labels;
	enum pfs_plot_by by;
};

/* The colour of the thread when faults are coloured by thread. */
uint32_t pfs_plot_thread_color(const struct pfs_plot_grid *grid, uint32_t thread);

/* The colour of the faults with that label when they are coloured by what the kernel had to do, and the name of the class. */
uint32_t pfs_plot_label_color(const struct pfs_plot_grid *grid, unsigned int label);
const char *pfs_plot_label_text(unsigned int label);

/* rows: of each band; NULL: one each. 0 or -ENOMEM. */
int pfs_plot_grid_make(struct pfs_plot_grid *grid, const struct pfs_plot *plot, uint32_t max_columns,
		       const uint32_t *rows, enum pfs_plot_by by);
void pfs_plot_grid_fini(struct pfs_plot_grid *grid);

/* "written"; of a thread "worker 4711", escaped; NULL: the colour is not in the picture. Returns buf. */
const char *pfs_plot_color_text(const struct pfs_plot *plot, const struct pfs_plot_grid *grid, uint32_t color,
				char *buf, size_t size);

extern const char *const pfs_plot_by_names[PFS_PLOT_BYS]; /* by enum pfs_plot_by */
extern const char *const pfs_plot_access_texts[4];	  /* by enum pfs_access */
extern const char *const pfs_plot_class_texts[4];	  /* by enum pfs_class; the last: ended in a signal */

/* "worker 4711", escaped. Returns buf. */
const char *pfs_plot_thread_text(const struct pfs_plot *plot, uint32_t thread, char *buf, size_t size);

/* pages[i]: the most pages of the side that were resident at a time of column i, of `bins` bins each. 0 or -ENOMEM. */
int pfs_plot_resident(const struct pfs_plot *plot, uint32_t side, uint32_t columns, uint64_t bins, uint64_t *pages);

/* The space of the image, if a process still has it and --refault could not take all of its pages away; or NULL. */
const struct pfs_space *pfs_plot_unobserved_space(const struct pfs_plot_data *data, uint32_t image);

/* The group of the region's name in that image; nr_groups: none. */
uint32_t pfs_plot_group_of(const struct pfs_plot_data *data, uint32_t image, const struct pfs_space *space,
			   const struct pfs_region *region);

/* Finds plot->unobserved; pfs_plot_lay_out() calls it. 0 or -ENOMEM. */
int pfs_plot_find_unobserved(struct pfs_plot *plot);

/*
 * The columns in which nothing was observed of the area at some time, for a quiet one at most times. False: there are
 * none.
 */
bool pfs_plot_unobserved_columns(const struct pfs_plot *plot, const struct pfs_plot_grid *grid,
				 const struct pfs_plot_unobserved *area, uint32_t *first, uint32_t *end);

#define PFS_PLOT_UNOBSERVED_TEXT "not observed: pages stayed in memory"

/* ---- texts beside the picture ---- */

enum { PFS_PLOT_TEXT_MAX = 1536 };

/* As pfs_escape(); noncharacters (U+FFFE and the like), which XML and cairo reject, become "?". Returns buf. */
char *pfs_plot_escape(char *buf, size_t size, const char *s);

/* "14,441/s"; "1 at once" where the picture has only one moment. Returns buf. */
const char *pfs_plot_rate_text(char buf[48], const struct pfs_plot *plot, uint64_t count, uint64_t ns);

/* A round number of nanoseconds so that no more than `most` of them are in span_ns. */
uint64_t pfs_plot_tick(uint64_t span_ns, unsigned int most);

/* Of times: "s", "ms" or "us". */
struct pfs_plot_unit {
	const char *name;
	uint64_t ns;
};

/* The unit in which the times of ticks are shortest. */
const struct pfs_plot_unit *pfs_plot_axis_unit(const struct pfs_plot *plot, uint64_t tick_ns);

/* The time of a tick, with as many digits as its distance needs. Returns buf. */
const char *pfs_plot_tick_text(char buf[32], const struct pfs_plot *plot, uint64_t ns, uint64_t tick_ns,
			       const struct pfs_plot_unit *unit);

/* The first tick at or after ns. UINT64_MAX: there is none. */
uint64_t pfs_plot_tick_after(const struct pfs_plot *plot, uint64_t ns, uint64_t tick_ns);

/* "no faults", "4,016,219 faults, 12 of them in no known region, in 1.5 s". Returns buf. */
const char *pfs_plot_sum_text(const struct pfs_plot *plot, char buf[PFS_PLOT_TEXT_MAX]);

/* Remarks on the recording, one a line, or "". Returns buf. */
const char *pfs_plot_notes_text(const struct pfs_plot *plot, char buf[PFS_PLOT_TEXT_MAX]);

/* "A column is 250 us; addresses grow upwards, gaps are folded". Returns buf. */
const char *pfs_plot_scale_text(const struct pfs_plot *plot, const struct pfs_plot_grid *grid,
				char buf[PFS_PLOT_TEXT_MAX]);

/* The title: as the style has it, else the recorded command or the file; escaped. "" if there is none. Returns buf. */
struct pfs_plot_style;
const char *pfs_plot_title(const struct pfs_plot *plot, const struct pfs_plot_style *style,
			   char buf[PFS_PLOT_TEXT_MAX]);

/* May events of that side be missing in that time? */
bool pfs_plot_lost(const struct pfs_plot *plot, uint32_t side, uint64_t from_ns, uint64_t to_ns);

/* The level of a count, from 0 (one touch) to levels - 1 (the most), by the logarithm. */
unsigned int pfs_plot_level(uint64_t count, uint64_t most, unsigned int levels);

/* The least count of that level. */
uint64_t pfs_plot_level_from(unsigned int level, uint64_t most, unsigned int levels);

/* What the numbers beside bands count: "faults", "accesses" or "touches". */
const char *pfs_plot_unit_text(const struct pfs_plot *plot);

/* "1,966 faults"; of two recordings "A 1,966, B 1,922 faults". Returns buf. */
const char *pfs_plot_block_text(char buf[96], const struct pfs_plot *plot, const struct pfs_plot_block *block);

#define PFS_PLOT_RESIDENT_TEXT "Resident pages (estimate: touched, fault-around, populated, until unmapped)"

/* ---- formats ---- */

struct pfs_debug_files;
struct pfs_plot_style {
	const char *title;		       /* NULL: the recording's command */
	const char *file;		       /* its name, if no command is known; NULL: it has none */
	const char *other;		       /* the name of the second recording */
	struct timespec recorded;	       /* when the recording was complete; 0: unknown */
	const struct pfs_debug_files *symbols; /* where a page finds names, too; NULL: the usual places */
	const struct pfs_model *notes; /* if that is elsewhere, the build-ids of the recording, which are at its end */
	bool heat;
	enum pfs_plot_by by;		    /* unless it is a heat map */
	const struct pfs_plot_theme *theme; /* NULL: light; a page follows the browser */
	unsigned int width, height;	    /* columns of text, or pixels; 0: the format's default */
	bool color;			    /* text */
	bool blocks;			    /* text: half blocks in colours instead of ASCII */
};

/* Of a picture in pixels. */
enum { PFS_PLOT_LEAST_WIDTH = 400, PFS_PLOT_LEAST_HEIGHT = 300, PFS_PLOT_MOST_PIXELS = 4000 };

enum pfs_plot_format { PFS_PLOT_TEXT, PFS_PLOT_SVG, PFS_PLOT_PNG, PFS_PLOT_PDF, PFS_PLOT_HTML, PFS_PLOT_FORMATS };

/* The max_bands of pfs_plot_lay_out() for that format. */
uint32_t pfs_plot_bands(const struct pfs_plot_style *style, enum pfs_plot_format format);

/* The format of that name ("svg"), or of a file's suffix. -ENOENT: unknown. */
int pfs_plot_format_find(const char *name);
int pfs_plot_format_of_file(const char *file);

/* 0 or -ENOMEM, -EIO (writing failed) or -ENOENT (no cairo here) with err set. */
int pfs_plot_write(const struct pfs_plot *plot, const struct pfs_plot_style *style, enum pfs_plot_format format,
		   FILE *out, struct pfs_err *err);

/*
 * Draws the live bytes of kernel objects by call site over time; not as text or page. The tally of the same objects, sorted,
 * knows which sites may leak. style: theme, title and file only. -ENODATA with err set: there are no objects.
 */
struct pfs_series;
struct pfs_tally;
int pfs_plot_write_alive(const struct pfs_series *series, const struct pfs_tally *tally,
			 const struct pfs_plot_style *style, enum pfs_plot_format format, FILE *out,
			 struct pfs_err *err);

/* The numbers of the picture for programs: the next value of the JSON, with `key` or (NULL) without. */
void pfs_plot_write_summary(const struct pfs_plot *plot, const struct pfs_plot_grid *grid, struct pfs_json *json,
			    const char *key);

/* pfs_plot_write() calls these. */
int pfs_plot_write_html(const struct pfs_plot *plot, const struct pfs_plot_style *style, FILE *out,
			struct pfs_err *err);
int pfs_plot_write_text(const struct pfs_plot *plot, const struct pfs_plot_style *style, FILE *out,
			struct pfs_err *err);

/* ---- the instructions of a page's points: file, function and offset (plot/sites.c) ---- */

struct pfs_plot_page_site {
	const struct pfs_plot_site *site;
	uint32_t file;	/* number in `files` */
	int32_t symbol; /* number in `symbols`; 0: none; -1: left out, there are too many */
	uint64_t off;	/* behind the symbol, if there is one */
};

struct pfs_plot_page_file {
	char *name;	     /* escaped, without its path */
	const char *between; /* name and offset */
	const char *why;     /* an instruction has no symbol; "": no reason to show */
};

struct pfs_plot_sites {
	uint32_t *number;		  /* in `sites`, by the number that cells have */
	struct pfs_plot_page_site *sites; /* the first is not known */
	struct pfs_plot_page_file *files;
	char **symbols; /* escaped; their numbers begin with 1 */
	uint32_t nr_sites, nr_files, nr_symbols, max_symbols;
	size_t bytes; /* of symbols */
};

/*
 * Finds the instructions of all cells, with symbols of the recorded files. 0 or -ENOMEM; the caller calls
 * pfs_plot_sites_fini() in any case.
 */
int pfs_plot_sites_find(struct pfs_plot_sites *sites, const struct pfs_plot *plot, const struct pfs_plot_style *style);
void pfs_plot_sites_fini(struct pfs_plot_sites *sites);

/* As members of the page's JSON: "files", "symbols", "sites". */
void pfs_plot_sites_write(const struct pfs_plot_sites *sites, struct pfs_json *json);

#endif
