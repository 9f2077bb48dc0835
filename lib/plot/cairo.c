/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plot/cairo.h"

#include <dlfcn.h>
#include <errno.h>

int pfs_cairo_load(struct pfs_cairo *cairo, struct pfs_err *err)
{
	cairo->library = dlopen("libcairo.so.2", RTLD_NOW | RTLD_NODELETE);
	if (!cairo->library)
		return pfs_err_set(err, -ENOENT, "libcairo cannot be loaded (Debian: apt install libcairo2): %s",
				   dlerror());
#define X(name)                                                                   \
	cairo->name = (typeof(cairo->name))dlsym(cairo->library, "cairo_" #name); \
	if (!cairo->name)                                                         \
		return pfs_err_set(err, -ENOENT, "libcairo has no cairo_" #name);
	PFS_CAIRO_FUNCTIONS(X)
#undef X
	return 0;
}
