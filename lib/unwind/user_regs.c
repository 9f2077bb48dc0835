/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/user_regs.h"

#include <asm/perf_regs.h>

/* perf's numbers of the registers, by those of DWARF. */
#if defined(__x86_64__)
static const uint8_t perf_regs[PFS_NR_REGS] = {
	PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,	PERF_REG_X86_SI,  PERF_REG_X86_DI,
	PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,  PERF_REG_X86_R9,	PERF_REG_X86_R10, PERF_REG_X86_R11,
	PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15, PERF_REG_X86_IP,
};
#else
static const uint8_t perf_regs[PFS_NR_REGS] = {
	0,  1,	2,  3,	4,  5,	6,  7,	8,  9,	10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, /* to x29, lr, sp, pc */
};
#endif

#define ALL_REGS ((UINT64_C(1) << PFS_NR_REGS) - 1)

static uint64_t mask(void)
{
	uint64_t bits = 0;

	for (int i = 0; i < PFS_NR_REGS; i++)
		bits |= UINT64_C(1) << perf_regs[i];
	return bits;
}

void pfs_user_regs_want(struct perf_event_attr *attr, unsigned int stack_bytes)
{
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = mask();
	attr->sample_stack_user = stack_bytes;
}

/* They are in the order of perf's numbers. */
static void read_regs(const uint64_t *values, struct pfs_regs *regs)
{
	const uint64_t wanted = mask();

	for (int i = 0; i < PFS_NR_REGS; i++)
		regs->value[i] = values[__builtin_popcountll(wanted & ((UINT64_C(1) << perf_regs[i]) - 1))];
}

bool pfs_user_regs_read(const uint64_t **at, const uint64_t *end, struct pfs_regs *regs, struct pfs_dump *dump)
{
	const uint64_t *p = *at;
	uint64_t abi, size;

	*regs = (struct pfs_regs){ 0 };
	*dump = (struct pfs_dump){ 0 };
	if (end - p < 1)
		return false;
	abi = *p++;
	if (abi != PERF_SAMPLE_REGS_ABI_NONE) {
		if (end - p < PFS_NR_REGS)
			return false;
		read_regs(p, regs);
		regs->known = abi == PERF_SAMPLE_REGS_ABI_64 ? ALL_REGS : 0;
		p += PFS_NR_REGS;
	}
	if (end - p < 1)
		return false;
	size = *p++;
	if (size / 8 > (size_t)(end - p))
		return false;
	if (size) { /* then how much of it there is */
		if ((size_t)(end - p) < size / 8 + 1 || p[size / 8] > size)
			return false;
		*dump = (struct pfs_dump){ regs->value[PFS_REG_SP], p, p[size / 8], p[size / 8] < size };
		p += size / 8 + 1;
	}
	*at = p;
	return true;
}
