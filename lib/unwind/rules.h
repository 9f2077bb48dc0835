/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How to get from the registers of a function to those of its caller: a small program made of the call frame information
 * (DWARF 5, 6.4) of one instruction. It is checked while it runs, for it may come of a damaged file.
 */
#ifndef PFS_RULES_H
#define PFS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers have the numbers of DWARF; the last one is the instruction pointer. */
#if defined(__x86_64__)
enum { PFS_REG_SP = 7, PFS_REG_PC = 16, PFS_NR_REGS = 17 };
#else
enum { PFS_REG_SP = 31, PFS_REG_PC = 32, PFS_NR_REGS = 33 };
#endif

struct pfs_regs {
	uint64_t value[PFS_NR_REGS];
	uint64_t known; /* a bit of each */
};

/* The memory that is known: a part of the stack. */
struct pfs_dump {
	uint64_t start;
	const void *bytes;
	size_t len;
	bool unreadable; /* what is behind it */
};

/* Beside those of DWARF, which use a stack of values. They end an expression and take its value, but SAVED and UNDEFINED. */
enum {
	PFS_OP_CFA = 256, /* is the canonical frame address; the first of each program */
	PFS_OP_SAVED,	  /* the register is in memory, at the canonical frame address and number */
	PFS_OP_AT,	  /* ... in memory, at the value */
	PFS_OP_IS,	  /* ... the value */
	PFS_OP_UNDEFINED, /* ... is lost; of the return address: there is no caller */
};

struct pfs_rule_op {
	uint16_t atom; /* DW_OP_*, those of a register as DW_OP_bregx; or one of the above */
	uint16_t reg;
	uint64_t number;
};

enum { PFS_MAX_RULE_OPS = 256 };

struct pfs_rules {
	uint64_t start, end;	 /* offsets in the file of the instructions that they hold for */
	uint16_t nr_ops;	 /* 0: nothing is known there */
	uint8_t return_register; /* has the address to which the function returns */
	bool signal;		 /* the function was interrupted, its caller called nothing */
	struct pfs_rule_op ops[];
};

enum pfs_step {
	PFS_STEP_CALLER, /* the registers are those of the caller */
	PFS_STEP_END,	 /* it has none */
	PFS_STEP_UNKNOWN /* or no one knows: what it takes is not in the dump, or the rules are damaged */
};

enum pfs_step pfs_rules_step(const struct pfs_rules *rules, struct pfs_regs *regs, const struct pfs_dump *dump);

#endif
