// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of functions of others, which libiberty demangles in a child: whatever becomes of that, there is a name.
 */
#include "fuzz.h"

#include "symbol/demangle.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pfs_demangler demangler;
	static char text[PFS_GUARD_MAX];
	char *name = malloc(size + 3);
	const char *got;

	if (!name)
		abort();
	memcpy(name, "_Z", 2);
	if (size && data[0] == 'R') { /* Rust's begin with _R */
		name[1] = 'R';
		data++;
		size--;
	}
	memcpy(name + 2, data, size);
	name[size + 2] = '\0';
	got = pfs_demangle(&demangler, name, text);
	if (got != name && (got != text || !*got || strlen(got) >= PFS_GUARD_MAX))
		abort();
	if (demangler.guard.broken) { /* a defect of libiberty, which costs names */
		pfs_demangler_fini(&demangler);
		demangler = (struct pfs_demangler){ 0 };
	}
	free(name);
	return 0;
}
