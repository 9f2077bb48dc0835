/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See dwarf.h. Units are found by their own ranges, because not every compiler writes .debug_aranges.
 */
#include "symbol/dwarf.h"

#include "base/array.h"
#include "base/nested.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* clang-format off */
#define DW_FUNCTIONS(X)											\
	X(dwarf_begin) X(dwarf_end) X(dwarf_getelf) X(dwarf_nextcu) X(dwarf_offdie) X(dwarf_dieoffset)	\
	X(dwarf_tag) X(dwarf_child) X(dwarf_siblingof) X(dwarf_haspc) X(dwarf_ranges) X(dwarf_attr)	\
	X(dwarf_attr_integrate) X(dwarf_formstring) X(dwarf_formudata) X(dwarf_getsrcfiles)		\
	X(dwarf_filesrc) X(dwarf_getsrc_die) X(dwarf_linesrc) X(dwarf_lineno)
/* clang-format on */

enum { MAX_DEPTH = 256, MAX_INLINED = 64 };

struct range {
	uint64_t start, end;
	uint64_t die; /* offset of the unit, or of the function */
	uint64_t reach;
};

struct ranges {
	struct range *ranges; /* by start */
	size_t nr, max;
};

struct unit {
	uint64_t die;
	struct ranges functions;
};

struct pfs_dwarf {
	Dwarf *dwarf;
	struct ranges units;
	struct unit *read; /* whose functions were read */
	size_t nr_read, max_read;
#define X(name) typeof(name) *name;
	DW_FUNCTIONS(X)
#undef X
};

static int load(struct pfs_dwarf *d, struct pfs_err *err)
{
	void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_NODELETE);

	if (!library)
		return pfs_err_set(err, -ENOENT, "source lines need libdw (apt-get install libdw1)");
#define X(name)                                          \
	d->name = (typeof(name) *)dlsym(library, #name); \
	if (!d->name)                                    \
		return pfs_err_set(err, -ENOENT, "%s: not in libdw", #name);
	DW_FUNCTIONS(X)
#undef X
	return 0;
}

/* ---- ranges ---- */

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return pfs_order(x->start, y->start) ?: pfs_order(y->end, x->end) ?: pfs_order(x->die, y->die);
}

static void sort(struct ranges *ranges)
{
	pfs_nested_sort(ranges->ranges, ranges->nr, by_start);
}

/* The one that begins last of those which have the address. */
static const struct range *find(const struct ranges *ranges, uint64_t addr)
{
	return pfs_nested_find(ranges->ranges, ranges->nr, addr);
}

/* What lies at 0 was left out by the linker. */
static int add_ranges(struct pfs_dwarf *d, struct ranges *ranges, Dwarf_Die *die)
{
	uint64_t base, start, end;
	ptrdiff_t at = 0;

	while ((at = d->dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		struct range *range =
			start && end > start ? pfs_array_add(ranges->ranges, ranges->nr, ranges->max) : NULL;

		if (range)
			*range = (struct range){ start, end, d->dwarf_dieoffset(die), 0 };
		else if (start && end > start)
			return -ENOMEM;
	}
	return 0;
}

static int read_units(struct pfs_dwarf *d)
{
	uint64_t off = 0, next;
	size_t header;
	Dwarf_Die die;
	int err = 0;

	for (; !err && !d->dwarf_nextcu(d->dwarf, off, &next, &header, NULL, NULL, NULL); off = next)
		if (d->dwarf_offdie(d->dwarf, off + header, &die))
			err = add_ranges(d, &d->units, &die);
	sort(&d->units);
	return err;
}

struct pfs_dwarf *pfs_dwarf_open(int fd, struct pfs_err *err)
{
	struct pfs_dwarf *d = calloc(1, sizeof(*d));
	int ret = d ? load(d, err) : pfs_err_set(err, -ENOMEM, "no memory for source lines");

	if (!ret && !(d->dwarf = d->dwarf_begin(fd, DWARF_C_READ)))
		ret = pfs_err_set(err, -ENOENT, "no debuginfo in it");
	if (!ret && read_units(d))
		ret = pfs_err_set(err, -ENOMEM, "no memory for source lines");
	if (!ret)
		return d;
	pfs_dwarf_close(d);
	errno = -ret;
	return NULL;
}

void pfs_dwarf_close(struct pfs_dwarf *d)
{
	if (!d)
		return;
	if (d->dwarf)
		d->dwarf_end(d->dwarf);
	for (size_t i = 0; i < d->nr_read; i++)
		free(d->read[i].functions.ranges);
	free(d->read);
	free(d->units.ranges);
	free(d);
}

Elf *pfs_dwarf_elf(const struct pfs_dwarf *d)
{
	return d->dwarf_getelf(d->dwarf);
}

/* ---- functions ---- */

/* Of the children, and theirs: functions may be in namespaces, classes and other functions. */
static int add_functions(struct pfs_dwarf *d, struct ranges *functions, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;
	int err = 0;

	if (depth > MAX_DEPTH || d->dwarf_child(parent, &die))
		return 0;
	do {
		int tag = d->dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			err = add_ranges(d, functions, &die);
		if (!err && tag != DW_TAG_inlined_subroutine)
			err = add_functions(d, functions, &die, depth + 1);
	} while (!err && !d->dwarf_siblingof(&die, &die));
	return err;
}

/* The functions of a unit are read when the first of them is looked up. */
static const struct ranges *functions_of(struct pfs_dwarf *d, Dwarf_Die *unit_die, uint64_t die)
{
	size_t at = pfs_lower_bound(d->nr_read, i, d->read[i].die < die);
	struct unit *unit;

	if (at < d->nr_read && d->read[at].die == die)
		return &d->read[at].functions;
	if (!pfs_array_reserve(d->read, d->nr_read, d->max_read, 1))
		return NULL;
	unit = &d->read[at];
	memmove(unit + 1, unit, (d->nr_read++ - at) * sizeof(*unit));
	*unit = (struct unit){ .die = die };
	if (add_functions(d, &unit->functions, unit_die, 0))
		unit->functions.nr = 0;
	sort(&unit->functions);
	return &unit->functions;
}

/* The inlined function, or the block, of these children that has the address. */
static bool find_child(struct pfs_dwarf *d, Dwarf_Die *parent, uint64_t addr, Dwarf_Die *die)
{
	if (d->dwarf_child(parent, die))
		return false;
	do {
		int tag = d->dwarf_tag(die);

		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
		     tag == DW_TAG_catch_block) &&
		    d->dwarf_haspc(die, addr) > 0)
			return true;
	} while (!d->dwarf_siblingof(die, die));
	return false;
}

/* The function, and what is inlined there, the innermost last. Their number. */
static unsigned int find_chain(struct pfs_dwarf *d, Dwarf_Die *unit, uint64_t unit_off, uint64_t addr, Dwarf_Die *chain)
{
	const struct ranges *functions = functions_of(d, unit, unit_off);
	const struct range *function = functions ? find(functions, addr) : NULL;
	unsigned int nr = 1, depth = 0;
	Dwarf_Die at, child;

	if (!function || !d->dwarf_offdie(d->dwarf, function->die, &chain[0]))
		return 0;
	for (at = chain[0]; depth++ < MAX_DEPTH && nr < MAX_INLINED && find_child(d, &at, addr, &child); at = child)
		if (d->dwarf_tag(&child) == DW_TAG_inlined_subroutine)
			chain[nr++] = child;
	return nr;
}

/* ---- places ---- */

static const char *name_of(struct pfs_dwarf *d, Dwarf_Die *die)
{
	static const unsigned int names[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name };
	Dwarf_Attribute attribute;
	const char *name = NULL;

	for (unsigned int i = 0; !name && i < sizeof(names) / sizeof(names[0]); i++)
		if (d->dwarf_attr_integrate(die, names[i], &attribute))
			name = d->dwarf_formstring(&attribute);
	return name;
}

static uint64_t number_of(struct pfs_dwarf *d, Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	uint64_t number = 0;

	return d->dwarf_attr(die, name, &attribute) && !d->dwarf_formudata(&attribute, &number) ? number : 0;
}

/* From where an inlined function is called. */
static void set_call(struct pfs_dwarf *d, Dwarf_Die *unit, Dwarf_Die *inlined, struct pfs_dwarf_place *place)
{
	Dwarf_Files *files;
	size_t nr;

	place->line = number_of(d, inlined, DW_AT_call_line);
	if (place->line && !d->dwarf_getsrcfiles(unit, &files, &nr))
		place->source = d->dwarf_filesrc(files, number_of(d, inlined, DW_AT_call_file), NULL, NULL);
}

static void set_line(struct pfs_dwarf *d, Dwarf_Die *unit, uint64_t addr, struct pfs_dwarf_place *place)
{
	Dwarf_Line *line = d->dwarf_getsrc_die(unit, addr);
	int number;

	if (line && !d->dwarf_lineno(line, &number) && number > 0) {
		place->source = d->dwarf_linesrc(line, NULL, NULL);
		place->line = number;
	}
}

unsigned int pfs_dwarf_find(struct pfs_dwarf *d, uint64_t addr, struct pfs_dwarf_place *places, unsigned int max)
{
	const struct range *range = find(&d->units, addr);
	Dwarf_Die unit, chain[MAX_INLINED];
	unsigned int nr, used;

	if (!max || !range || !d->dwarf_offdie(d->dwarf, range->die, &unit))
		return 0;
	nr = max > 1 ? find_chain(d, &unit, range->die, addr, chain) : 0;
	places[0] = (struct pfs_dwarf_place){ nr ? name_of(d, &chain[nr - 1]) : NULL, NULL, 0 };
	set_line(d, &unit, addr, &places[0]);
	for (used = 1; used < nr && used < max; used++) {
		places[used] = (struct pfs_dwarf_place){ name_of(d, &chain[nr - 1 - used]), NULL, 0 };
		set_call(d, &unit, &chain[nr - used], &places[used]);
	}
	return used;
}
