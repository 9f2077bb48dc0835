// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's type information (BTF), and the questions that are asked of it.
 */
#include "fuzz.h"

#include "tracefs/btf.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t *bytes = malloc(size + 1); /* aligned, as what is read from the kernel's file */
	struct pfs_btf *btf;
	struct pfs_err err;

	memcpy(bytes, data, size);
	btf = pfs_btf_parse(bytes, size, &err);
	if (btf) {
		pfs_btf_member(btf, "vm_area_struct", "vm_start");
		pfs_btf_member(btf, "vm_area_struct", "none");
		pfs_btf_param(btf, "handle_mm_fault", "address");
	}
	pfs_btf_free(btf);
	free(bytes);
	return 0;
}
