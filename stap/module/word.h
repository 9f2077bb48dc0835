/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole words in C text: task_work_cancel is not in "task_work_cancel_func".
 */
#ifndef PFS_STAP_WORD_H
#define PFS_STAP_WORD_H

/* The first place at or after `from`, which lies in text; NULL: none. */
const char *pfs_word_find(const char *text, const char *from, const char *word);

/* The text with each such word replaced; the caller frees. NULL: no memory. */
char *pfs_word_replace(const char *text, const char *word, const char *by);

#endif
