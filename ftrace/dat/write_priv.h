/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the writers of a trace.dat share: write.c (the entrance, and version 6), write_v7.c, write_meta.c below both.
 */
#ifndef PFS_DAT_WRITE_PRIV_H
#define PFS_DAT_WRITE_PRIV_H

#include "dat/write.h"

#include <stdio.h>

/* one CPU's sub-buffers, and where they go. */
struct dat_data {
	int fd;		       /* -1: none */
	uint64_t offset, size; /* in the trace.dat; size first in the spool */
};

/* Numbers in the machine's own byte order, a string with its NUL, a text behind its length (NULL: none). */
void dat_put16(FILE *out, uint16_t v);
void dat_put32(FILE *out, uint32_t v);
void dat_put64(FILE *out, uint64_t v);
void dat_put_str(FILE *out, const char *str);
void dat_put_sized8(FILE *out, const char *text);

/* What comes first in every version, with a number of one digit. */
void dat_put_magic(FILE *out, const struct pfs_dat_content *content, char version);

/* The parts that both versions have, in the order of version 6. */
enum { DAT_NR_PARTS = 6 };
extern const struct dat_part {
	unsigned int id; /* of the section in version 7 */
	const char *name;
	void (*put)(FILE *out, const struct pfs_dat_content *content);
} dat_parts[DAT_NR_PARTS];

/* Those of the content, each behind its number and its length. */
void dat_put_options(FILE *out, const struct pfs_dat_content *content, const char *clock);

/* "mono" as "[mono]". The caller's. NULL: no memory. */
char *dat_clock_text(const char *clock);

/* dat/write_v7.c: everything, compressed, from position 0 on; data as measured. 0 or -errno. */
int dat_write_v7(int fd, const struct pfs_dat_content *content, struct dat_data *data, unsigned int nr);

#endif
