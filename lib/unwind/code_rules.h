/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of code that has none, by what it does: of trampolines, which return when what they have called returns. */
#ifndef PFS_CODE_RULES_H
#define PFS_CODE_RULES_H

#include "unwind/rules.h"

/*
 * Of the instructions from where a call returns to the return, if these do nothing but take from the stack. NULL: they do, or
 * are of another machine than x86-64, or there is no memory. The caller frees it.
 */
struct pfs_rules *pfs_code_rules(const uint8_t *code, size_t len);

#endif
