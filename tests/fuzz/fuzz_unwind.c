/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: rules of call frame information, as the helper that reads foreign files may send them, on registers and a stack
 * of any content; and what perf events report of these.
 */
#include "fuzz.h"

#include "unwind/rules.h"
#include "unwind/user_regs.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 100 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t nr_ops = size ? data[0] : 0, ops_bytes = nr_ops * sizeof(struct pfs_rule_op);
	struct pfs_rules *rules = malloc(sizeof(*rules) + ops_bytes);
	uint64_t *words = malloc(size + sizeof(*words));
	const uint64_t *at = words;
	struct pfs_regs regs = { 0 };
	struct pfs_dump dump = { 0 };

	if (rules && words && size > ops_bytes + 2) {
		*rules = (struct pfs_rules){ .nr_ops = nr_ops, .return_register = data[1] };
		memcpy(rules->ops, data + 2, ops_bytes);
		memcpy(words, data + 2 + ops_bytes, size - 2 - ops_bytes);
		if (pfs_user_regs_read(&at, words + (size - 2 - ops_bytes) / sizeof(*words), &regs, &dump))
			for (int i = 0; i < MAX_STEPS && pfs_rules_step(rules, &regs, &dump) == PFS_STEP_CALLER; i++)
				;
	}
	free(rules);
	free(words);
	return 0;
}
