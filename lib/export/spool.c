/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/spool.h"

#include "base/array.h"
#include "base/write_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of bytes; an owner's block grows until it has that size. */
enum { FIRST_BLOCK = 1 << 9, BLOCK = 1 << 14 };

struct viewer_spool_owner {
	char *block; /* what is not in the file yet */
	size_t nr, size;
	uint64_t *written; /* blocks of the file, each full */
	size_t nr_written, max_written;
	uint64_t count;
};

int viewer_spool_init(struct viewer_spool *spool, struct pfs_err *err)
{
	*spool = (struct viewer_spool){ .fd = pfs_temp_open(err) };
	spool->opened = spool->fd >= 0;
	return spool->opened ? 0 : spool->fd;
}

void viewer_spool_fini(struct viewer_spool *spool)
{
	for (size_t i = 0; i < spool->nr_owners; i++) {
		free(spool->owners[i].block);
		free(spool->owners[i].written);
	}
	free(spool->owners);
	if (spool->opened)
		pfs_close(spool->fd);
}

static int no_memory(struct pfs_err *err)
{
	return pfs_err_set(err, -ENOMEM, "no memory for the export");
}

/* The owner's block is full. */
static int make_room(struct viewer_spool *spool, struct viewer_spool_owner *owner, struct pfs_err *err)
{
	size_t size = owner->size ? 2 * owner->size : FIRST_BLOCK;
	uint64_t *block;
	char *larger;
	int ret;

	if (owner->size < BLOCK) {
		larger = realloc(owner->block, size);
		if (!larger)
			return no_memory(err);
		owner->block = larger;
		owner->size = size;
		return 0;
	}
	ret = pfs_temp_write(spool->fd, owner->block, BLOCK, err);
	block = ret ? NULL : pfs_array_add(owner->written, owner->nr_written, owner->max_written);
	if (!block)
		return ret ? ret : no_memory(err);
	*block = spool->nr_blocks++;
	owner->nr = 0;
	return 0;
}

int viewer_spool_add(struct viewer_spool *spool, uint32_t nr_owner, const void *bytes, size_t nr, struct pfs_err *err)
{
	struct viewer_spool_owner *owner;
	const char *from = bytes;
	int ret = 0;

	if (nr_owner >= spool->nr_owners && !pfs_array_extend(spool->owners, spool->nr_owners, (size_t)nr_owner + 1))
		return no_memory(err);
	owner = &spool->owners[nr_owner];
	owner->count++;
	while (!ret && nr) {
		size_t room = owner->size - owner->nr, part = nr < room ? nr : room;

		if (!room) {
			ret = make_room(spool, owner, err);
			continue;
		}
		memcpy(owner->block + owner->nr, from, part);
		owner->nr += part;
		from += part;
		nr -= part;
	}
	return ret;
}

int viewer_spool_each(struct viewer_spool *spool, uint32_t nr, int (*fn)(void *ctx, const void *bytes, size_t nr),
		      void *ctx, struct pfs_err *err)
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

		ret = got == BLOCK ? fn(ctx, block, BLOCK)
				   : pfs_err_set(err, got < 0 ? (int)got : -EIO, "cannot read a temporary file");
	}
	free(block);
	return ret || !owner->nr ? ret : fn(ctx, owner->block, owner->nr);
}

uint64_t viewer_spool_count(const struct viewer_spool *spool, uint32_t nr)
{
	return nr < spool->nr_owners ? spool->owners[nr].count : 0;
}
