/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The spelling of event values. event/line.c and event/export.c call it once a field, so there is no printf in it.
 */
#include "event/text.h"

/* NULL: the value has no name. */
static const char *enum_name(const struct pfs_event *ev, const struct pfs_field_info *f)
{
	unsigned int value = field_as(uint8_t, ev, f);

	for (unsigned int i = 0; i < value; i++)
		if (!f->names[i])
			return NULL;
	return f->names[value];
}

uint64_t pfs_event_fields(const struct pfs_event *ev)
{
	uint64_t fields = ev->have & (PFS_HAS(PFS_NR_FIELDS) - 1);

	for (uint64_t bits = fields; bits; bits &= bits - 1) {
		unsigned int i = __builtin_ctzll(bits);
		const struct pfs_field_info *f = &pfs_fields[i];
		const char *name;

		if (f->type == PFS_T_STR && !field_as(char *, ev, f))
			fields &= ~PFS_HAS(i);
		if (f->type != PFS_T_ENUM)
			continue;
		name = enum_name(ev, f);
		if (!name || !strcmp(name, "unknown"))
			fields &= ~PFS_HAS(i);
	}
	return fields;
}

/* stack,noreserve */
static char *put_set(char *p, unsigned int set, const char *const *names)
{
	char *start = p;

	for (unsigned int i = 0; names[i]; i++) {
		if (!(set >> i & 1))
			continue;
		if (p != start)
			*p++ = ',';
		p = put_text(p, names[i]);
	}
	return p == start ? put_text(p, "none") : p;
}

/* As in /proc/PID/maps: fe:00, two digits at least */
static char *put_dev(char *p, uint32_t dev)
{
	uint32_t parts[] = { dev >> 20, dev & 0xfffff };

	for (unsigned int i = 0; i < 2; i++) {
		if (i)
			*p++ = ':';
		if (parts[i] < 16)
			*p++ = '0';
		p = put_hex(p, parts[i]);
	}
	return p;
}

static char *put_s32(char *p, int32_t value)
{
	if (value < 0)
		*p++ = '-';
	return put_dec(p, value < 0 ? -(int64_t)value : value);
}

char *pfs_event_put_scalar(char *p, const struct pfs_event *ev, const struct pfs_field_info *f)
{
	switch (f->type) {
	case PFS_T_S32:
		return put_s32(p, field_as(int32_t, ev, f));
	case PFS_T_U64:
		return put_dec(p, field_as(uint64_t, ev, f));
	case PFS_T_HEX:
		return put_hex(p, field_as(uint64_t, ev, f));
	case PFS_T_ENUM:
		return put_text(p, enum_name(ev, f));
	case PFS_T_PERMS:
		return pfs_perms_put(p, field_as(uint8_t, ev, f));
	case PFS_T_SET:
		return put_set(p, field_as(uint16_t, ev, f), f->names);
	case PFS_T_DEV:
		return put_dev(p, field_as(uint32_t, ev, f));
	case PFS_T_U8:
		return put_dec(p, field_as(uint8_t, ev, f));
	case PFS_T_BOOL:
		return put_dec(p, !!field_as(uint8_t, ev, f));
	case PFS_T_STR:
		break;
	}
	return p;
}
