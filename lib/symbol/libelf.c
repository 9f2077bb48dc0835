/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/libelf.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

/* The dynamic linker reports its reason as text only. */
static int cannot_load(void)
{
	const char *why = dlerror();

	return why && strstr(why, "memory") ? -ENOMEM : -ENOENT;
}

int pfs_libelf_load(struct pfs_libelf *libelf)
{
	void *library = dlopen("libelf.so.1", RTLD_NOW | RTLD_NODELETE);

	if (!library)
		return cannot_load();
#define X(name)                                               \
	libelf->name = (typeof(name) *)dlsym(library, #name); \
	if (!libelf->name)                                    \
		return cannot_load();
	PFS_ELF_FUNCTIONS(X)
#undef X
	libelf->elf_version(EV_CURRENT);
	return 0;
}
