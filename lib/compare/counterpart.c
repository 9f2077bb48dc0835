/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys of images and rows: see compare/counterpart.h.
 */
#include "compare/counterpart.h"

#include "view/labels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { KEY_MAX = PFS_LABEL_MAX + 256, MAX_ANCESTORS = 16 };

static int set_key(struct pfs_match_item *item, int level, struct pfs_intern **pool, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int set_key(struct pfs_match_item *item, int level, struct pfs_intern **pool, const char *fmt, ...)
{
	char key[KEY_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(key, sizeof(key), fmt, args);
	va_end(args);
	item->key[level] = pfs_intern(pool, key);
	return item->key[level] ? 0 : -ENOMEM;
}

/* "sh>make>cc1": the names of the process and its ancestors, of which the newest is last. */
static void ancestry(char *buf, size_t size, const struct pfs_epochs *at, const char *comm)
{
	const char *names[MAX_ANCESTORS];
	const struct pfs_proc *proc = at->proc;
	unsigned int nr = 0;
	size_t len = 0;

	while (nr < MAX_ANCESTORS && proc->ppid && (proc = pfs_model_proc(at->model, proc->ppid)) && proc != at->proc)
		names[nr++] = proc->comm ? proc->comm : "?";
	while (nr && len < size)
		len += snprintf(buf + len, size - len, "%s>", names[--nr]);
	if (len < size)
		snprintf(buf + len, size - len, "%s", comm);
}

int pfs_image_keys(struct pfs_match_item *item, const struct pfs_epochs *at, bool first, struct pfs_intern **pool)
{
	const char *comm = pfs_epoch_comm(at), *exe = at->epoch->space->exe;
	char chain[MAX_ANCESTORS * 64 + 256];
	int err;

	*item = (struct pfs_match_item){ 0 };
	ancestry(chain, sizeof(chain), at, comm ? comm : "?");
	err = set_key(item, 0, pool, "%s", chain) ?: set_key(item, 1, pool, "%s", comm ? comm : "?");
	if (!err && exe)
		err = set_key(item, 2, pool, "%s", pfs_label_base(exe));
	if (!err && first)
		err = set_key(item, 3, pool, "first");
	return err;
}

static int file_keys(struct pfs_match_item *item, const struct pfs_row *row, size_t image, struct pfs_intern **pool)
{
	const char *base = pfs_label_base(row->name);
	uint64_t off = row->region->off;
	char perms[5];

	pfs_perms_text(perms, row->region);
	if (row->region->have & PFS_HAS(PFS_F_OFF) &&
	    (set_key(item, 0, pool, "%zu %" PRIx64 " %s", image, off, row->name) ||
	     set_key(item, 1, pool, "%zu %" PRIx64 " %s", image, off, base)))
		return -ENOMEM;
	return set_key(item, 2, pool, "%zu %s %s", image, perms, row->name)
		       ?: set_key(item, 3, pool, "%zu %s %s", image, perms, base);
}

static bool is_path(const struct pfs_row *row)
{
	return row->region && row->name && row->name[0] == '/';
}

/* The file that is mapped right below, as below .bss; or "". */
static const char *file_below(const struct pfs_rows *rows, unsigned int i)
{
	const struct pfs_row *row = &rows->row[i], *below = i ? row - 1 : NULL;

	return below && is_path(below) && below->end == row->start && !below->gone ? pfs_label_base(below->name) : "";
}

static int memory_keys(struct pfs_match_item *item, const struct pfs_row *row, const char *below, size_t image,
		       uint64_t pages, struct pfs_intern **pool)
{
	const char *kind = pfs_label_kind(row);
	char perms[5];
	int err;

	pfs_perms_text(perms, row->region);
	err = set_key(item, 0, pool, "%zu %s %s %" PRIu64 " %s", image, kind, perms, pages, below);
	if (!err && below[0])
		err = set_key(item, 2, pool, "%zu %s %s > %s", image, kind, perms, below);
	if (!err && !below[0])
		err = set_key(item, 2, pool, "%zu %s %s", image, kind, perms);
	return err;
}

int pfs_row_keys(struct pfs_match_item *item, const struct pfs_epochs *at, const struct pfs_rows *rows, unsigned int i,
		 size_t image, struct pfs_intern **pool)
{
	const struct pfs_row *row = &rows->row[i];
	const char *kind = pfs_label_kind(row);

	*item = (struct pfs_match_item){ 0 };
	if (is_path(row))
		return file_keys(item, row, image, pool);
	if (!row->region || !kind)
		return set_key(item, 0, pool, "%zu %s", image, kind ? kind : row->name);
	return memory_keys(item, row, file_below(rows, i), image, pfs_row_pages(row, at->model), pool);
}
