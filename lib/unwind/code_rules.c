/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/code_rules.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POPS = 8, OTHER_OPS = 5 };

#if defined(__x86_64__)
/* The instruction: 0 is no such one. *used: bytes of the stack; *reg: it is taken from there, -1: nothing is. */
static size_t take(const uint8_t *code, size_t len, uint64_t *used, int *reg)
{
	static const uint8_t add_to_sp[] = { 0x48, 0x83, 0xc4 };
	static const int8_t numbers[] = { 0, 2, 1, 3, -1, 6, 4, 5 }; /* of rax, rcx ... in DWARF */
	size_t prefix = len > 1 && code[0] == 0x41;

	*reg = -1;
	*used = sizeof(uint64_t);
	if (len > sizeof(add_to_sp) && !memcmp(code, add_to_sp, sizeof(add_to_sp))) {
		*used = code[3];
		return code[3] < 0x80 ? sizeof(add_to_sp) + 1 : 0;
	}
	if ((code[prefix] & 0xf8) != 0x58) /* pop */
		return 0;
	*reg = prefix ? 8 + (code[1] & 7) : numbers[code[0] & 7];
	return *reg < 0 ? 0 : prefix + 1;
}

static bool is_return(uint8_t code)
{
	return code == 0xc3;
}
#else
static size_t take(const uint8_t *code, size_t len, uint64_t *used, int *reg)
{
	return 0;
}

static bool is_return(uint8_t code)
{
	return false;
}
#endif

struct pfs_rules *pfs_code_rules(const uint8_t *code, size_t len)
{
	struct pfs_rules *rules = calloc(1, sizeof(*rules) + (MAX_POPS + OTHER_OPS) * sizeof(rules->ops[0]));
	struct pfs_rule_op *op = rules ? rules->ops + 2 : NULL;
	uint64_t size = 0, used;
	size_t at = 0, step;
	int reg;

	for (; rules && at < len && !is_return(code[at]); at += step) {
		step = take(code + at, len - at, &used, &reg);
		if (!step || (reg >= 0 && op == rules->ops + 2 + MAX_POPS))
			break;
		if (reg >= 0)
			*op++ = (struct pfs_rule_op){ PFS_OP_SAVED, reg, size };
		size += used;
	}
	if (!rules || at >= len || !is_return(code[at])) {
		free(rules);
		return NULL;
	}
	size += sizeof(uint64_t); /* the address to return to */
	for (struct pfs_rule_op *saved = rules->ops + 2; saved < op; saved++)
		saved->number -= size;
	rules->ops[0] = (struct pfs_rule_op){ DW_OP_bregx, PFS_REG_SP, size };
	rules->ops[1] = (struct pfs_rule_op){ PFS_OP_CFA, 0, 0 };
	*op++ = (struct pfs_rule_op){ PFS_OP_SAVED, PFS_REG_PC, -sizeof(uint64_t) };
	*op++ = (struct pfs_rule_op){ DW_OP_call_frame_cfa, 0, 0 };
	*op++ = (struct pfs_rule_op){ PFS_OP_IS, PFS_REG_SP, 0 };
	rules->nr_ops = op - rules->ops;
	rules->return_register = PFS_REG_PC;
	return rules;
}
