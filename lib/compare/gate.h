/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conditions on a comparison (--fail-if), for scripts:
 *
 *     GATE     ::= MEASURE [ '[' GLOB ']' ] OP [ SIGN ] NUMBER [ '%' ]
 *     MEASURE  ::= faults | major | pages | around | time
 *     OP       ::= '>' | '>=' | '<' | '<='
 *
 * With a sign it is about the change: what was gained without what was lost, in percent of the old median if `%' follows.
 * Without one it is about the new median. GLOB selects files by path or by its last component, or memory by its name or kind
 * (heap, stack, anon); without it the whole recordings count. NUMBER of a time is a duration (1.5s, 10ms).
 */
#ifndef PFS_COMPARE_GATE_H
#define PFS_COMPARE_GATE_H

#include "compare/compare.h"

struct pfs_gate {
	const char *text; /* as it was given; borrowed */
	enum pfs_measure measure;
	char glob[256]; /* "": everything */
	bool less, or_equal;
	int sign; /* -1, 1, or 0: the new median */
	bool percent;
	uint64_t number; /* of percent: millionths of one */
};

enum pfs_verdict { PFS_GATE_PASSED, PFS_GATE_MET, PFS_GATE_UNDECIDABLE };

/* "passed", "met", "undecidable" */
extern const char *const pfs_verdict_names[];

/* 0, or -EINVAL with err set. */
int pfs_gate_parse(struct pfs_gate *gate, const char *text, struct pfs_err *err);

/* why: the numbers, or what hinders a decision. */
enum pfs_verdict pfs_gate_judge(const struct pfs_gate *gate, const struct pfs_compare *compare, char *why, size_t size);

#endif
