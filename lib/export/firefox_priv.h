/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of Firefox Profiler's format share: its strings, and how values are written. */
#ifndef PFS_FIREFOX_PRIV_H
#define PFS_FIREFOX_PRIV_H

#include "export/spool.h"
#include "export/strings.h"
#include "export/viewer_priv.h"

/* Numbers of the categories, by which the viewer colours. */
enum { OTHER, USER, KERNEL, MINOR, MAJOR, REGION, LOST };

struct firefox {
	struct viewer_spool faults, pages, regions; /* columns of tables, by thread or process */
	struct viewer_string *strings;
	struct {
		const char *s;
		uint32_t nr;
	} recent[64]; /* strings, by their addresses: few are asked for again and again */
	struct loss {
		uint64_t from_ns, to_ns;
		const struct pfs_loss *loss;
	} * losses;
	uint32_t nr_losses, max_losses;
	uint32_t *main_index; /* of each process: number of its first thread in the file; UINT32_MAX: none */
	bool failed;	      /* a string was not added */
};

/* The number of the string in the file. */
uint32_t firefox_string(struct pfs_viewer *viewer, const char *s);

/* firefox_tables.c: what the file is, and the tables that all threads share. */
void firefox_meta(struct pfs_viewer *viewer);

/* lib_of: the number of each place's library, *nr are different. 0 or -ENOMEM. */
int firefox_libs(struct pfs_viewer *viewer, uint32_t *lib_of, uint32_t *nr);

/* func_of: the first place of each place's function. 0 or -ENOMEM. */
int firefox_functions(const struct viewer_calls *calls, uint32_t *func_of);
void firefox_shared(struct pfs_viewer *viewer, const uint32_t *lib_of, uint32_t nr_libs, const uint32_t *func_of);

/* Right after the last event: the charts end then. */
static inline uint64_t firefox_end_ns(const struct pfs_viewer *viewer)
{
	return viewer_ns(viewer, viewer->end_ns) + 1;
}

/* ---- values ---- */

/* Milliseconds, exact. */
static inline void put_ms(struct pfs_json *json, const char *key, uint64_t ns)
{
	char *p = put_dec(pfs_json_next(json, key), ns / 1000000);

	if (ns % 1000000) {
		*p++ = '.';
		p = put_digits(p, ns % 1000000, 6);
	}
	pfs_json_done(json, p);
}

/* "0x7ffff7fbf000". As text: of a number the viewer's format "hexadecimal" shows the lower 32 bits. */
static inline void put_address(struct pfs_json *json, const char *key, uint64_t address)
{
	char *p = put_hex(put_text(pfs_json_next(json, key), "\"0x"), address);

	*p++ = '"';
	pfs_json_done(json, p);
}

static inline void put_null(struct pfs_json *json, const char *key)
{
	pfs_json_raw(json, key, "null");
}

/* The path's number in the stack table; path 0 is none. */
static inline void put_stack(struct pfs_json *json, const char *key, uint32_t call)
{
	if (call)
		pfs_json_u64(json, key, call - 1);
	else
		put_null(json, key);
}

static inline void put_unknown(struct pfs_viewer *viewer, struct pfs_json *json, const char *key, const char *word)
{
	if (*word)
		pfs_json_u64(json, key, firefox_string(viewer, word));
}

/* An array of the expression for each i below nr. */
#define PUT_ARRAY(json, key, nr, put)              \
	({                                         \
		uint32_t nr_ = (nr);               \
                                                   \
		pfs_json_line(json, "\n");         \
		pfs_json_begin(json, key, "[");    \
		for (uint32_t i = 0; i < nr_; i++) \
			put;                       \
		pfs_json_end(json, "]");           \
	})

#endif
