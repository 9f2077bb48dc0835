/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of call sites in the kernel, each looked up once. */
#include "assemble/assemble_priv.h"

#include <inttypes.h>
#include <stdio.h>

struct asm_site {
	uint64_t key; /* the address */
	UT_hash_handle hh;
	char func[100]; /* "": not known */
};

void asm_sites_free(struct pfs_assembler *a)
{
	PFS_HASH_FREE(a->sites);
	a->sites = NULL;
}

/* "alloc_pipe_info+0x88" */
const char *asm_function_at(struct pfs_assembler *a, uint64_t site)
{
	struct asm_site **hot = &a->hot_sites[site / 4 % HOT_SITES], *s = *hot;
	const char *name;
	uint64_t start;

	if (s && s->key == site)
		return s->func;
	HASH_FIND(hh, a->sites, &site, sizeof(site), s);
	if (!s) {
		s = PFS_HASH_GET(a->sites, key, site);
		if (!s)
			return NULL;
		name = a->function(a->function_ctx, site, &start);
		if (name)
			snprintf(s->func, sizeof(s->func), "%s+0x%" PRIx64, name, site - start);
	}
	*hot = s;
	return s->func;
}

void pfs_assembler_set_functions(struct pfs_assembler *a,
				 const char *(*function)(const void *ctx, uint64_t addr, uint64_t *start),
				 const void *ctx)
{
	a->function = function;
	a->function_ctx = ctx;
}
