/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of the kernel's functions to their names, from the lines of /proc/kallsyms or of a copy.
 */
#ifndef PFS_KALLSYMS_H
#define PFS_KALLSYMS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfs_symbols;

/*
 * Takes "ffffffff81234560 T do_wp_page" lines; what is no line, no function, or at address 0
 * (hidden from unprivileged readers) is passed over. NULL: no memory.
 */
struct pfs_symbols *pfs_symbols_parse(const char *text, size_t len);

/* Of the running kernel. NULL with errno and err set: unreadable, or all hidden. */
struct pfs_symbols *pfs_symbols_load(struct pfs_err *err);
void pfs_symbols_free(struct pfs_symbols *symbols);

/* The function that addr lies in: its name, and where it begins (if start is not NULL); or NULL. */
const char *pfs_symbols_find(const struct pfs_symbols *symbols, uint64_t addr, uint64_t *start);

/*
 * The addresses [*start, *end) of the next function of that name from *end on, which is 0 at first. False: there is none (any
 * more).
 */
bool pfs_symbols_next(const struct pfs_symbols *symbols, const char *name, uint64_t *start, uint64_t *end);

/*
 * A call chain as text, the functions of the kernel by name: "do_wp_page+0x10;0x55e0c0123456", with ";..." if it is cut. It is in
 * *text, which grows and is the caller's. symbols may be NULL. NULL: no memory.
 */
const char *pfs_symbols_chain(const struct pfs_symbols *symbols, const uint64_t *frames, size_t nr, bool cut,
			      char **text, size_t *max);

#endif
