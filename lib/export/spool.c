/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/spool.h"

#include "base/array.h"
#include "base/write_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 14 };

struct viewer_spool_owner {
	char *block;	   /* the records that are not in the file yet */
	size_t nr;	   /* of them */
	uint64_t *written; /* blocks of the file, each full */
	size_t nr_written, max_written;
};

int viewer_spool_init(struct viewer_spool *spool, size_t record, struct pfs_err *err)
{
	*spool = (struct viewer_spool){ .record = record, .fd = pfs_temp_open(err) };
	return spool->fd < 0 ? spool->fd : 0;
}

void viewer_spool_fini(struct viewer_spool *spool)
{
	for (size_t i = 0; i < spool->nr_owners; i++) {
		free(spool->owners[i].block);
		free(spool->owners[i].written);
	}
	free(spool->owners);
	if (spool->record)
		pfs_close(spool->fd);
}

static size_t block_records(const struct viewer_spool *spool)
{
	return BLOCK / spool->record;
}

static int no_memory(struct pfs_err *err)
{
	return pfs_err_set(err, -ENOMEM, "no memory for the export");
}

int viewer_spool_add(struct viewer_spool *spool, uint32_t nr, const void *record, struct pfs_err *err)
{
	struct viewer_spool_owner *owner;
	size_t max = spool->nr_owners;
	uint64_t *block;

	if (nr >= spool->nr_owners) {
		if (!pfs_array_extend(spool->owners, max, nr + 1))
			return no_memory(err);
		spool->nr_owners = max;
	}
	owner = &spool->owners[nr];
	if (!owner->block && !(owner->block = malloc(BLOCK)))
		return no_memory(err);
	if (owner->nr == block_records(spool)) {
		int ret = pfs_temp_write(spool->fd, owner->block, BLOCK, err);

		block = ret ? NULL : pfs_array_add(owner->written, owner->nr_written, owner->max_written);
		if (!block)
			return ret ? ret : no_memory(err);
		*block = spool->nr_blocks++;
		owner->nr = 0;
	}
	memcpy(owner->block + owner->nr++ * spool->record, record, spool->record);
	return 0;
}

static int each_of(const struct viewer_spool *spool, const char *records, size_t nr,
		   int (*fn)(void *ctx, const void *record), void *ctx)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < nr; i++)
		ret = fn(ctx, records + i * spool->record);
	return ret;
}

int viewer_spool_each(struct viewer_spool *spool, uint32_t nr, int (*fn)(void *ctx, const void *record), void *ctx,
		      struct pfs_err *err)
{
	const struct viewer_spool_owner *owner = nr < spool->nr_owners ? &spool->owners[nr] : NULL;
	char *block = owner ? malloc(BLOCK) : NULL;
	int ret = 0;

	if (!owner)
		return 0;
	if (!block)
		return no_memory(err);
	for (size_t i = 0; !ret && i < owner->nr_written; i++) {
		ssize_t got = pfs_read_all_at(spool->fd, block, BLOCK, owner->written[i] * BLOCK);

		ret = got == BLOCK ? each_of(spool, block, block_records(spool), fn, ctx)
				   : pfs_err_set(err, got < 0 ? (int)got : -EIO, "cannot read a temporary file");
	}
	free(block);
	return ret ? ret : each_of(spool, owner->block, owner->nr, fn, ctx);
}

uint64_t viewer_spool_count(const struct viewer_spool *spool, uint32_t nr)
{
	const struct viewer_spool_owner *owner = nr < spool->nr_owners ? &spool->owners[nr] : NULL;

	return owner ? owner->nr_written * block_records(spool) + owner->nr : 0;
}
