/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/rules.h"

#include <dwarf.h>
#include <string.h>

#define BIT(reg) (UINT64_C(1) << (reg))

enum { MAX_VALUES = 32 };

/* A run of the program. What is wrong sets failed and gives 0. */
struct run {
	const struct pfs_regs *regs;
	const struct pfs_dump *dump;
	uint64_t values[MAX_VALUES];
	unsigned int nr;
	uint64_t cfa;
	bool failed;
};

static uint64_t fail(struct run *run)
{
	run->failed = true;
	return 0;
}

static void push(struct run *run, uint64_t value)
{
	if (run->nr == MAX_VALUES)
		fail(run);
	else
		run->values[run->nr++] = value;
}

static uint64_t pop(struct run *run)
{
	return run->nr ? run->values[--run->nr] : fail(run);
}

static uint64_t reg_value(struct run *run, unsigned int reg)
{
	return reg < PFS_NR_REGS && run->regs->known & BIT(reg) ? run->regs->value[reg] : fail(run);
}

static uint64_t load(struct run *run, uint64_t addr, unsigned int size)
{
	const struct pfs_dump *dump = run->dump;
	uint64_t value = 0, at = addr - dump->start;

	if (size > sizeof(value) || at >= dump->len || dump->len - at < size)
		return fail(run);
	memcpy(&value, (const char *)dump->bytes + at, size);
	return value;
}

/* The n-th from the top stays where it is. */
static uint64_t pick(struct run *run, uint64_t n)
{
	return n < run->nr ? run->values[run->nr - 1 - n] : fail(run);
}

static void swap(struct run *run)
{
	uint64_t top = pop(run), below = pop(run);

	push(run, top);
	push(run, below);
}

static void rotate(struct run *run)
{
	uint64_t top = pop(run), second = pop(run), third = pop(run);

	push(run, top);
	push(run, third);
	push(run, second);
}

static uint64_t binary(struct run *run, unsigned int atom)
{
	uint64_t b = pop(run), a = pop(run);
	int64_t sa = a, sb = b;

	switch (atom) {
	case DW_OP_and:
		return a & b;
	case DW_OP_or:
		return a | b;
	case DW_OP_xor:
		return a ^ b;
	case DW_OP_minus:
		return a - b;
	case DW_OP_mul:
		return a * b;
	case DW_OP_plus:
		return a + b;
	case DW_OP_div:
		return !b ? fail(run) : b == UINT64_MAX ? -a : (uint64_t)(sa / sb);
	case DW_OP_mod:
		return b ? a % b : fail(run);
	case DW_OP_shl:
		return b < 64 ? a << b : 0;
	case DW_OP_shr:
		return b < 64 ? a >> b : 0;
	case DW_OP_shra:
		return sa >> (b < 64 ? b : 63);
	case DW_OP_eq:
		return a == b;
	case DW_OP_ne:
		return a != b;
	case DW_OP_ge:
		return sa >= sb;
	case DW_OP_gt:
		return sa > sb;
	case DW_OP_le:
		return sa <= sb;
	case DW_OP_lt:
		return sa < sb;
	default:
		return fail(run);
	}
}

/* One operation of an expression. Branches do not occur in call frame information. */
static void compute(struct run *run, const struct pfs_rule_op *op)
{
	uint64_t value;

	switch (op->atom) {
	case DW_OP_lit0 ... DW_OP_lit31:
		push(run, op->atom - DW_OP_lit0);
		break;
	case DW_OP_bregx:
		push(run, reg_value(run, op->reg) + op->number);
		break;
	case DW_OP_call_frame_cfa:
		push(run, run->cfa);
		break;
	case DW_OP_const1u ... DW_OP_consts: /* of any size */
		push(run, op->number);
		break;
	case DW_OP_plus_uconst:
		push(run, pop(run) + op->number);
		break;
	case DW_OP_deref:
		push(run, load(run, pop(run), sizeof(uint64_t)));
		break;
	case DW_OP_deref_size:
		push(run, load(run, pop(run), op->number));
		break;
	case DW_OP_dup:
		push(run, pick(run, 0));
		break;
	case DW_OP_over:
		push(run, pick(run, 1));
		break;
	case DW_OP_pick:
		push(run, pick(run, op->number));
		break;
	case DW_OP_drop:
		pop(run);
		break;
	case DW_OP_swap:
		swap(run);
		break;
	case DW_OP_rot:
		rotate(run);
		break;
	case DW_OP_neg:
		push(run, -pop(run));
		break;
	case DW_OP_not:
		push(run, ~pop(run));
		break;
	case DW_OP_abs:
		value = pop(run);
		push(run, (int64_t)value < 0 ? -value : value);
		break;
	case DW_OP_nop:
		break;
	default:
		push(run, binary(run, op->atom));
	}
}

/* Registers that are only in memory which the dump does not have are lost, as some that nobody needs mostly are. */
static void restore(struct run *run, const struct pfs_rule_op *op, struct pfs_regs *regs)
{
	uint64_t value = 0;

	if (op->reg >= PFS_NR_REGS) /* of floating point and the like */
		return;
	if (op->atom == PFS_OP_SAVED)
		value = load(run, run->cfa + op->number, sizeof(value));
	else if (op->atom == PFS_OP_AT)
		value = load(run, pop(run), sizeof(value));
	else if (op->atom == PFS_OP_IS)
		value = pop(run);
	if (op->atom == PFS_OP_UNDEFINED || run->failed) {
		regs->known &= ~BIT(op->reg);
		return;
	}
	regs->value[op->reg] = value;
	regs->known |= BIT(op->reg);
}

static bool ends(const struct pfs_rules *rules)
{
	for (unsigned int i = 0; i < rules->nr_ops; i++)
		if (rules->ops[i].atom == PFS_OP_UNDEFINED && rules->ops[i].reg == rules->return_register)
			return true;
	return false;
}

enum pfs_step pfs_rules_step(const struct pfs_rules *rules, struct pfs_regs *regs, const struct pfs_dump *dump)
{
	struct pfs_regs caller = *regs;
	struct run run = { .regs = regs, .dump = dump };
	bool has_cfa = false;

	for (unsigned int i = 0; i < rules->nr_ops; i++) {
		const struct pfs_rule_op *op = &rules->ops[i];

		if (op->atom < PFS_OP_CFA) {
			compute(&run, op);
			continue;
		}
		if (op->atom == PFS_OP_CFA) {
			run.cfa = pop(&run);
			has_cfa = !run.failed;
		} else {
			restore(&run, op, &caller);
		}
		if (!has_cfa)
			break;
		run.nr = 0;
		run.failed = false;
	}
	if (ends(rules))
		return PFS_STEP_END;
	if (!has_cfa || rules->return_register >= PFS_NR_REGS || !(caller.known & BIT(rules->return_register)))
		return PFS_STEP_UNKNOWN;
	caller.value[PFS_REG_PC] = caller.value[rules->return_register];
	caller.known |= BIT(PFS_REG_PC);
	if (caller.value[PFS_REG_PC] == regs->value[PFS_REG_PC] && caller.value[PFS_REG_SP] == regs->value[PFS_REG_SP])
		return PFS_STEP_UNKNOWN;
	*regs = caller;
	return PFS_STEP_CALLER;
}
