/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reference/tape_code.h"

#include <errno.h>

uint8_t *pfs_leb_put(uint8_t *out, uint64_t value)
{
	for (; value > 127; value >>= 7)
		*out++ = value | 128;
	*out++ = value;
	return out;
}

bool pfs_leb_get(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	*value = 0;
	for (unsigned int shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		if (shift == 63 && byte > 1)
			return false;
		*value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return true;
	}
	return false;
}

/* Small numbers of either sign as small ones: 0 -1 1 -2 2. */
static uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ (value & 1 ? UINT64_MAX : 0);
}

size_t pfs_tape_encode(uint8_t out[PFS_TAPE_ENTRY_MAX], const struct pfs_tape_options *options,
		       const struct pfs_tape_entry *entry, const struct pfs_tape_entry *before)
{
	bool other = options->stable && entry->object != before->object;
	uint8_t *at = out + 1;

	out[0] = entry->access;
	if (entry->count > 1) {
		out[0] |= TAPE_COUNT;
		at = pfs_leb_put(at, entry->count - 2);
	}
	if (entry->image != before->image) {
		out[0] |= TAPE_IMAGE;
		at = pfs_leb_put(at, entry->image);
	}
	if (other) {
		out[0] |= TAPE_OBJECT;
		at = pfs_leb_put(at, entry->object);
	}
	at = pfs_leb_put(at, zigzag((uint64_t)entry->page - (uint64_t)before->page));
	if (options->times)
		at = pfs_leb_put(at, zigzag(entry->ts_ns - before->ts_ns));
	if (entry->sampled) {
		out[0] |= TAPE_SAMPLED;
		at = pfs_leb_put(at, entry->interval_ns);
	}
	return at - out;
}

static bool get_u32(const uint8_t **at, const uint8_t *end, uint32_t *value)
{
	uint64_t wide;

	if (!pfs_leb_get(at, end, &wide) || wide > UINT32_MAX)
		return false;
	*value = wide;
	return true;
}

int pfs_tape_decode(const uint8_t **at, const uint8_t *end, const struct pfs_tape_options *options,
		    struct pfs_tape_entry *entry)
{
	uint64_t page, time = 0;
	uint8_t head;

	if (*at >= end)
		return -EINVAL;
	head = *(*at)++;
	entry->access = head & 15;
	entry->count = 1;
	entry->interval_ns = 0;
	entry->sampled = head & TAPE_SAMPLED;
	if (head & TAPE_COUNT) {
		if (!pfs_leb_get(at, end, &entry->count) || entry->count > UINT64_MAX - 2)
			return -EINVAL;
		entry->count += 2;
	}
	if (head & TAPE_IMAGE && !get_u32(at, end, &entry->image))
		return -EINVAL;
	if (head & TAPE_OBJECT && (!options->stable || !get_u32(at, end, &entry->object)))
		return -EINVAL;
	if (!pfs_leb_get(at, end, &page) || (options->times && !pfs_leb_get(at, end, &time)))
		return -EINVAL;
	if (head & TAPE_SAMPLED && !pfs_leb_get(at, end, &entry->interval_ns))
		return -EINVAL;
	entry->page = (uint64_t)entry->page + unzigzag(page);
	entry->ts_ns += unzigzag(time);
	return entry->access && entry->image ? 0 : -EINVAL;
}
