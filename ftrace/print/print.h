/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints records of any event as text, through libtraceevent.
 *
 * Format texts come from files, and libtraceevent crashes on some damaged ones. So it runs in a child process without
 * privileges, which receives records and returns text. If it dies or hangs, the event whose record it had is not printed
 * any more, and a new child prints the others. The trace.dat reader calls this for the events that pfscope itself does not
 * decode.
 */
#ifndef PFS_PRINT_H
#define PFS_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfs_printer;

/* For records of a machine of that byte order and size of long (4 or 8). NULL: no memory. */
struct pfs_printer *pfs_printer_new(bool big_endian, unsigned int long_size);
void pfs_printer_free(struct pfs_printer *printer);

/* Adds the format of an event, as in events/SYSTEM/NAME/format. Texts without a name or an ID are ignored. 0 or -ENOMEM. */
int pfs_printer_add(struct pfs_printer *printer, const char *system, const char *text, size_t len);

/* Adds the kernel's symbols, in the form of /proc/kallsyms. 0 or -ENOMEM. */
int pfs_printer_symbols(struct pfs_printer *printer, const char *text, size_t len);

/*
 * *name: "SYSTEM:EVENT", or NULL if no format was added for that record; *text: its fields, as trace-cmd report prints
 * them, or a reason in parentheses. Both are valid until the next call. 0, or -errno if no child can be started.
 */
int pfs_printer_print(struct pfs_printer *printer, unsigned int id, const void *record, uint32_t len, int32_t cpu,
		      uint64_t ts_ns, const char **name, const char **text);

#endif
