/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of notes, and the one writer and one reader of their values. docs/event-format.md has the meaning of each.
 *
 * A value of one field is that field; of several, pairs `name=value` with spaces between them. A STRING takes
 * the rest of the value, so it comes last; a WORD has no spaces. The last column holds the prose of version 1.
 */
#include "event/notes.h"

#include "base/number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum type { NUMBER = 1, SIGNED, HEX, ENUM, WORD, STRING };
enum { MAX_FIELDS = 13, MAX_PROSE = 4 };

struct field {
	const char *name;
	enum type type;
	bool optional; /* absent if 0 */
	size_t offset, size;
	const char *const *names; /* of an ENUM's values; NULL ends them */
};

struct note {
	const char *key;
	struct field fields[MAX_FIELDS + 1];
	bool repeats;			  /* one value may hold several groups of the fields */
	const char *prose[MAX_PROSE + 1]; /* values of version 1, with {name} where a field is */
};

static const char *const snapshot_ops[] = { "first", "later", "then", "end", "start", NULL };
static const char *const watches[] = { "connector", "proc", "over", NULL };
static const char *const what_ticks[] = { "none", "cycle", NULL };
static const char *const paces[] = { "start", "cycle", "rest", "quiet", NULL };

/* clang-format off */
#define FIELD_(name, type, opt, member, names) \
	{ name, type, opt, offsetof(struct pfs_fact, member), sizeof(((struct pfs_fact *)0)->member), names }
#define FIELD(name, type, member) FIELD_(name, type, false, member, NULL)
#define OPTIONAL(name, type, member) FIELD_(name, type, true, member, NULL)
#define NAMED(name, member, names) FIELD_(name, ENUM, false, member, names)
#define TEXT { FIELD("text", STRING, text) }

static const struct note notes[PFS_NR_NOTES] = {
	[PFS_NOTE_PFSCOPE] = { .key = "pfscope", TEXT },
	[PFS_NOTE_PAGE_SIZE] = { .key = "page_size", { FIELD("bytes", NUMBER, count) } },
	[PFS_NOTE_MACHINE] = { .key = "machine", TEXT },
	[PFS_NOTE_KERNEL] = { .key = "kernel", TEXT },
	[PFS_NOTE_UNAME] = { .key = "uname", TEXT },
	[PFS_NOTE_CLOCK] = { .key = "clock", TEXT },
	[PFS_NOTE_SOURCE] = { .key = "source", TEXT },
	[PFS_NOTE_VSYSCALL] = { .key = "vsyscall", TEXT },
	[PFS_NOTE_COMMAND] = { .key = "command", TEXT },
	[PFS_NOTE_ARGS] = { .key = "args", { OPTIONAL("exec", NUMBER, since_ns), FIELD("text", STRING, text) } },
	[PFS_NOTE_START] = { .key = "start", TEXT },
	[PFS_NOTE_END] = { .key = "end", TEXT },
	[PFS_NOTE_VM_EVENTS] = { .key = "vm_events",
		{ FIELD("scanned", NUMBER, scanned), FIELD("swapped", NUMBER, swapped),
		  FIELD("collapsed", NUMBER, collapsed) } },
	[PFS_NOTE_LAUNCH] = { .key = "launch", { FIELD("pid", SIGNED, pid) } },
	[PFS_NOTE_ATTACH] = { .key = "attach", { FIELD("pid", SIGNED, pid) } },
	[PFS_NOTE_ONLY] = { .key = "only", { FIELD("pid", SIGNED, pid) } },
	[PFS_NOTE_SNAPSHOT] = { .key = "snapshot",
		{ NAMED("op", op, snapshot_ops), OPTIONAL("look", NUMBER, look_ns) },
		.prose = { "{op} {look}", "{op}" } },
	[PFS_NOTE_BRK] = { .key = "brk", { FIELD("start", HEX, start), FIELD("end", HEX, end) },
		.prose = { "{start} {end}" } },
	[PFS_NOTE_SIDEBAND] = { .key = "sideband", TEXT },
	[PFS_NOTE_EXIT_MMAP] = { .key = "exit_mmap", TEXT },
	[PFS_NOTE_CALLS32] = { .key = "calls32", TEXT },
	[PFS_NOTE_FILE_FAULTS] = { .key = "file_faults", TEXT },
	[PFS_NOTE_STACK] = { .key = "stack", { FIELD("how", WORD, what), FIELD("kernel", NUMBER, count) } },
	[PFS_NOTE_DUMPS_LOST] = { .key = "dumps_lost", { FIELD("count", NUMBER, count) } },
	[PFS_NOTE_LACKS] = { .key = "lacks",
		{ FIELD_("what", WORD, true, what, NULL), OPTIONAL("tells", STRING, tells),
		  OPTIONAL("why", STRING, text) },
		.prose = { "{what} ({tells})", "{what}: {why}", "{what}", "{why}" } },
	[PFS_NOTE_PROBES] = { .key = "probes", TEXT },
	[PFS_NOTE_CLASSIFY] = { .key = "classify", TEXT },
	[PFS_NOTE_HISTOGRAM] = { .key = "histogram", { FIELD("bytes", NUMBER, count) } },
	[PFS_NOTE_PROBES_MISSED] = { .key = "probes_missed", { FIELD("count", NUMBER, count) } },
	[PFS_NOTE_HISTOGRAM_LOST] = { .key = "histogram_lost",
		{ FIELD("count", NUMBER, count), OPTIONAL("since", NUMBER, since_ns) },
		.prose = { "{count} since {since}", "{count}" } },
	[PFS_NOTE_SIDEBAND_LOST] = { .key = "sideband_lost",
		{ FIELD("count", NUMBER, count), OPTIONAL("since", NUMBER, since_ns) },
		.prose = { "{count} since {since}", "{count}" } },
	[PFS_NOTE_LOST] = { .key = "lost", { FIELD("count", NUMBER, count), FIELD("cpu", SIGNED, cpu) },
		.prose = { "{count} on cpu {cpu}" } },
	[PFS_NOTE_BUFFER_FOUND] = { .key = "buffer_found",
		{ FIELD("percent", NUMBER, percent), FIELD("kb", NUMBER, kb), FIELD("cpu", SIGNED, cpu) },
		.prose = { "{percent}% of {kb} KB on cpu {cpu}" } },
	[PFS_NOTE_COUNTERS] = { .key = "counters",
		{ FIELD("faults", NUMBER, faults), FIELD("minor", NUMBER, minor), FIELD("major", NUMBER, major) },
		.prose = { "faults {faults} minor {minor} major {major}" } },
	[PFS_NOTE_RUSAGE] = { .key = "rusage", { FIELD("minor", NUMBER, minor), FIELD("major", NUMBER, major) },
		.prose = { "minor {minor} major {major}" } },
	[PFS_NOTE_COUNTED_BEFORE] = { .key = "counted_before",
		{ FIELD("minor", NUMBER, minor), FIELD("major", NUMBER, major) },
		.prose = { "minor {minor} major {major}" } },
	[PFS_NOTE_COUNTED] = { .key = "counted",
		{ FIELD("minor", NUMBER, minor), FIELD("major", NUMBER, major),
		  OPTIONAL("running", NUMBER, running) },
		.prose = { "minor {minor} major {major} running {running}", "minor {minor} major {major}" } },
	[PFS_NOTE_USER] = { .key = "user", { FIELD("uid", NUMBER, count) } },
	[PFS_NOTE_WATCH] = { .key = "watch", { NAMED("by", watch, watches), OPTIONAL("why", STRING, text) },
		.prose = { "/{by}: {why}", "{by}" } },
	[PFS_NOTE_JOINED] = { .key = "joined", { FIELD("whole", NUMBER, whole_ns), OPTIONAL("since", NUMBER, since_ns) },
		.prose = { "whole from {whole} since {since}", "whole from {whole}" } },
	[PFS_NOTE_MISSED] = { .key = "missed", { FIELD("pid", SIGNED, pid), OPTIONAL("since", NUMBER, since_ns) },
		.prose = { "{pid} since {since}", "{pid}" } },
	[PFS_NOTE_LEFT_OUT] = { .key = "left_out", TEXT },
	[PFS_NOTE_REFAULT] = { .key = "refault",
		{ NAMED("method", method, pfs_refault_methods), OPTIONAL("interval", NUMBER, interval_ns),
		  OPTIONAL("regions", STRING, text) },
		.prose = { "{method} every {interval} ns in {regions}", "{method} every {interval} ns",
			   "{method} at the kernel's own pace" } },
	[PFS_NOTE_REFAULT_TICK] = { .key = "refault_tick",
		{ NAMED("what", tick.cycle, what_ticks), FIELD("processes", NUMBER, tick.pages.nr_processes),
		  FIELD("pages", NUMBER, tick.pages.pages), FIELD("away", NUMBER, tick.pages.away),
		  FIELD("shared", NUMBER, tick.pages.shared), FIELD("fixed", NUMBER, tick.pages.fixed),
		  FIELD("full", NUMBER, tick.pages.full), FIELD("took", NUMBER, tick.took_ns),
		  FIELD("skipped", NUMBER, tick.skipped), NAMED("since", tick.before, paces),
		  FIELD("faults", NUMBER, tick.faults), FIELD("user", NUMBER, tick.user_ns),
		  FIELD("wall", NUMBER, tick.wall_ns), OPTIONAL("began", NUMBER, tick.began_ns) },
		.prose = { "{what} of {processes} processes: pages {pages} away {away} shared {shared} fixed {fixed} "
			   "full {full} took {took} ns skipped {skipped}; since {since}: faults {faults} user {user} "
			   "of {wall} ns" } },
	[PFS_NOTE_REFAULT_STAYED] = { .key = "refault_stayed",
		{ FIELD("pid", SIGNED, pid), FIELD("start", HEX, start), FIELD("end", HEX, end),
		  FIELD("pages", NUMBER, tick.pages.pages), FIELD("stayed", NUMBER, count) } },
	[PFS_NOTE_MICROSET] = { .key = "microset",
		{ FIELD("pages", NUMBER, count), FIELD("by", WORD, what), FIELD("regions", STRING, text) } },
	[PFS_NOTE_ACCESS_BY] = { .key = "access_by", { FIELD("tid", SIGNED, pid) } },
	[PFS_NOTE_ACCESS_TARGETS] = { .key = "access_targets",
		{ FIELD("first", NUMBER, first), FIELD("last", NUMBER, last), FIELD("pid", SIGNED, pid) },
		.repeats = true,
		.prose = { "{first}-{last}:{pid}" } },
	[PFS_NOTE_PROBE] = { .key = "probe", TEXT },
	[PFS_NOTE_SYSTEMTAP] = { .key = "systemtap", TEXT },
	[PFS_NOTE_MODULE] = { .key = "module", TEXT },
	[PFS_NOTE_HUGE_PAGES] = { .key = "huge_pages",
		{ FIELD("anon", WORD, what), FIELD("any", WORD, tells), FIELD("zero", NUMBER, count), OPTIONAL("shmem", STRING, text) } },
	[PFS_NOTE_ZERO_PAGE] = { .key = "zero_page", TEXT },
	[PFS_NOTE_OBJECTS] = { .key = "objects",
		{ FIELD("pages", NUMBER, count), OPTIONAL("min", NUMBER, first), OPTIONAL("max", NUMBER, last),
		  OPTIONAL("cache", STRING, text) } },
	[PFS_NOTE_WATCHPOINTS] = { .key = "watchpoints",
		{ FIELD("interval", NUMBER, interval_ns), FIELD("where", STRING, text) } },
	[PFS_NOTE_PAUSED] = { .key = "paused", TEXT },
	[PFS_NOTE_RESUMED] = { .key = "resumed", TEXT },
	[PFS_NOTE_CLEARED] = { .key = "cleared", TEXT },
	[PFS_NOTE_MERGED] = { .key = "merged", TEXT },
	[PFS_NOTE_BUILD_ID] = { .key = "build_id",
		{ FIELD("dev", WORD, what), FIELD("ino", NUMBER, count), FIELD("id", STRING, text) } },
	[PFS_NOTE_JIT_FILE] = { .key = "jit_file",
		{ OPTIONAL("pid", SIGNED, pid), OPTIONAL("dev", WORD, what), OPTIONAL("ino", NUMBER, count),
		  FIELD("size", NUMBER, end), FIELD("id", STRING, text) } },
	[PFS_NOTE_MEMORY] = { .key = "memory",
		{ FIELD("node", NUMBER, count), FIELD("start", HEX, start), FIELD("end", HEX, end) } },
	[PFS_NOTE_WARNING] = { .key = "warning", TEXT },
};
/* clang-format on */

const char *pfs_note_key(enum pfs_note_key key)
{
	return notes[key].key;
}

int pfs_note_find(const char *name)
{
	for (int i = 0; i < PFS_NR_NOTES; i++)
		if (!strcmp(notes[i].key, name))
			return i;
	return -ENOENT;
}

static bool is_string(const struct field *f)
{
	return f->type == WORD || f->type == STRING;
}

static uint64_t load(const struct pfs_fact *fact, const struct field *f)
{
	const void *from = (const char *)fact + f->offset;

	switch (f->size) {
	case 1:
		return *(const uint8_t *)from;
	case 4:
		return f->type == SIGNED ? (uint64_t) * (const int32_t *)from : *(const uint32_t *)from;
	default:
		return *(const uint64_t *)from; /* a string's pointer, too */
	}
}

/* False: the value is too large for the member. */
static bool store(struct pfs_fact *fact, const struct field *f, uint64_t value)
{
	void *to = (char *)fact + f->offset;

	if (f->size == 1)
		*(uint8_t *)to = value;
	else if (f->size == 4)
		*(uint32_t *)to = value;
	else
		*(uint64_t *)to = value;
	return load(fact, f) == value;
}

/* ---- the writer ---- */

size_t pfs_note_write(const struct pfs_fact *fact, char *buf, size_t size)
{
	const struct note *note = &notes[fact->key];
	bool bare = !note->fields[1].name;
	size_t len = 0;

	if (size)
		*buf = '\0';
	for (const struct field *f = note->fields; f->name; f++) {
		uint64_t value = load(fact, f);
		const char *string = is_string(f)      ? (const char *)(uintptr_t)value
				     : f->type == ENUM ? f->names[value]
						       : NULL;
		char number[24];

		if ((f->optional || is_string(f)) && !value)
			continue;
		if (f->type == HEX)
			snprintf(number, sizeof(number), "%" PRIx64, value);
		else
			snprintf(number, sizeof(number), "%" PRId64, (int64_t)value);
		len += snprintf(len < size ? buf + len : NULL, len < size ? size - len : 0, "%s%s%s%s", len ? " " : "",
				bare ? "" : f->name, bare ? "" : "=", string ? string : number);
	}
	return len;
}

char *pfs_note_text(const struct pfs_fact *fact)
{
	const char *key = notes[fact->key].key;
	size_t key_len = strlen(key) + 1, size = pfs_note_write(fact, NULL, 0) + 1;
	char *text = malloc(key_len + size);

	if (text)
		pfs_note_write(fact, stpcpy(stpcpy(text, key), "="), size);
	return text;
}

/* ---- devices ---- */

bool pfs_note_device(const char *text, uint32_t *dev)
{
	uint64_t major, minor;

	if (!text || !pfs_take_hex(&text, 0xfff, &major) || *text++ != ':' || !pfs_take_hex(&text, 0xfffff, &minor) ||
	    *text)
		return false;
	*dev = major << 20 | minor;
	return true;
}

void pfs_note_put_device(char text[PFS_NOTE_DEVICE_SIZE], uint32_t dev)
{
	snprintf(text, PFS_NOTE_DEVICE_SIZE, "%02x:%02x", dev >> 20, dev & 0xfffff);
}

/* ---- the reader ---- */

struct reading {
	const char *at;
	struct pfs_fact *fact;
	char *room; /* where the next string goes */
};

/* The string ends before `end`; one that ends with the value is not copied. */
static bool read_string(struct reading *r, const struct field *f, const char *end)
{
	size_t len = end - r->at;
	const char *string = r->at;

	if (f->type == WORD && memchr(r->at, ' ', len))
		return false;
	if (*end) {
		if (len >= (size_t)(r->fact->room + sizeof(r->fact->room) - r->room))
			return false;
		memcpy(r->room, r->at, len);
		r->room[len] = '\0';
		string = r->room;
		r->room += len + 1;
	}
	r->at = end;
	return store(r->fact, f, (uintptr_t)string);
}

static bool read_name(struct reading *r, const struct field *f)
{
	for (unsigned int i = 0; f->names[i]; i++) {
		size_t len = strlen(f->names[i]);

		if (strncmp(r->at, f->names[i], len) || (r->at[len] >= 'a' && r->at[len] <= 'z'))
			continue;
		r->at += len;
		return store(r->fact, f, i);
	}
	return false;
}

static bool read_number(struct reading *r, const struct field *f)
{
	bool minus = f->type == SIGNED && *r->at == '-';
	uint64_t value, max = f->type == SIGNED ? (uint64_t)INT64_MAX + minus : UINT64_MAX;

	r->at += minus;
	if (!(f->type == HEX ? pfs_take_hex : pfs_take_dec)(&r->at, max, &value))
		return false;
	return store(r->fact, f, minus ? -value : value);
}

/* `end` bounds a string. */
static bool read_value(struct reading *r, const struct field *f, const char *end)
{
	if (is_string(f))
		return end && read_string(r, f, end);
	return f->type == ENUM ? read_name(r, f) : read_number(r, f);
}

static const struct field *field_of(const struct note *note, const char *name, size_t len)
{
	for (const struct field *f = note->fields; f->name; f++)
		if (strlen(f->name) == len && !memcmp(f->name, name, len))
			return f;
	return NULL;
}

/* faults=12 minor=10 major=2; names of later versions are passed over; a group ends where a name returns */
static bool read_pairs(struct reading *r, const struct note *note)
{
	unsigned int seen = 0;

	while (*r->at) {
		size_t len = strcspn(r->at, "= ");
		const struct field *f = field_of(note, r->at, len);
		const char *space = strchrnul(r->at, ' ');

		if (r->at[len] != '=')
			return false;
		if (f && seen & 1u << (f - note->fields))
			break;
		r->at += len + 1;
		if (!f)
			r->at = space;
		else if (!read_value(r, f, f->type == STRING ? strchr(r->at, '\0') : space))
			return false;
		else
			seen |= 1u << (f - note->fields);
		if (*r->at && *r->at++ != ' ')
			return false;
	}
	for (const struct field *f = note->fields; f->name; f++)
		if (!f->optional && !(seen & 1u << (f - note->fields)))
			return false;
	return seen;
}

/* "30043 on cpu 1", by "{count} on cpu {cpu}" */
static bool read_prose(struct reading *r, const struct note *note, const char *prose)
{
	while (*prose) {
		size_t len = strcspn(prose, "{"), name;
		const char *end = NULL;
		char literal[64];

		if (strncmp(r->at, prose, len))
			return false;
		r->at += len;
		prose += len;
		if (!*prose)
			break;
		name = strcspn(++prose, "}");
		len = strcspn(prose + name + 1, "{");
		snprintf(literal, sizeof(literal), "%.*s", (int)len, prose + name + 1);
		end = *literal ? strstr(r->at, literal) : strchr(r->at, '\0');
		if (!read_value(r, field_of(note, prose, name), end))
			return false;
		prose += name + 1;
	}
	if (note->repeats)
		r->at += strspn(r->at, " ");
	return true;
}

static bool read_as(struct pfs_fact *fact, enum pfs_note_key key, const char *value, const char *prose)
{
	const struct note *note = &notes[key];
	struct reading r = { value, fact, fact->room };
	bool read;

	memset(fact, 0, offsetof(struct pfs_fact, room));
	fact->key = key;
	if (prose)
		read = read_prose(&r, note, prose);
	else if (note->fields[1].name)
		read = read_pairs(&r, note);
	else
		read = read_value(&r, note->fields, strchr(value, '\0'));
	fact->rest = r.at;
	return read && (note->repeats || !*r.at);
}

/* Returns true with *prose set to the form of version 1 in which the value is, or to NULL. */
static bool read_any(struct pfs_fact *fact, const char *name, const char *value, const char **prose)
{
	int key = pfs_note_find(name);

	*prose = NULL;
	if (key < 0)
		return false;
	if (read_as(fact, key, value, NULL))
		return true;
	for (const char *const *p = notes[key].prose; (*prose = *p); p++)
		if (read_as(fact, key, value, *prose))
			return true;
	return false;
}

bool pfs_note_read(struct pfs_fact *fact, const char *key, const char *value)
{
	const char *prose;

	return read_any(fact, key, value, &prose);
}

const char *pfs_note_renew(const char *key, const char *value, char *buf, size_t size)
{
	struct pfs_fact fact;
	const char *prose, *at = value;
	size_t len = 0;

	do {
		if (!read_any(&fact, key, at, &prose) || !prose)
			return value;
		if (len)
			buf[len++] = ' ';
		len += pfs_note_write(&fact, buf + len, size - len);
		if (len + 1 >= size)
			return value;
		at = fact.rest;
	} while (*at);
	return buf;
}

int pfs_header_notes(const char *source, const char *vsyscall, pfs_note_fn *put, void *ctx)
{
	struct utsname uts;

	uname(&uts);
	const struct pfs_fact facts[] = {
		{ .key = PFS_NOTE_PFSCOPE, .text = PFS_VERSION },
		{ .key = PFS_NOTE_PAGE_SIZE, .count = sysconf(_SC_PAGESIZE) },
		{ .key = PFS_NOTE_MACHINE, .text = uts.machine },
		{ .key = PFS_NOTE_KERNEL, .text = uts.release },
		{ .key = PFS_NOTE_CLOCK, .text = "mono" },
		{ .key = PFS_NOTE_SOURCE, .text = source },
		{ .key = PFS_NOTE_VSYSCALL, .text = vsyscall },
	};
	int ret = 0;

	for (unsigned int i = 0; !ret && i < (*vsyscall ? 7 : 6); i++)
		ret = put(ctx, 0, &facts[i]);
	return ret;
}

bool pfs_kernel_before(const char *release, unsigned int major, unsigned int minor)
{
	uint64_t has_major, has_minor;

	if (!pfs_take_dec(&release, UINT32_MAX, &has_major) || *release++ != '.' ||
	    !pfs_take_dec(&release, UINT32_MAX, &has_minor))
		return false;
	return has_major < major || (has_major == major && has_minor < minor);
}

int pfs_watch_choice_read(struct pfs_watch_choice *choice, const char *text, struct pfs_err *err)
{
	bool ok;

	*choice = (struct pfs_watch_choice){ strncmp(text, "cache=", 6) ? NULL : text + 6,
					     strncmp(text, "site=", 5) ? NULL : text + 5 };
	if (choice->cache)
		ok = *choice->cache && !strchr(choice->cache, '"');
	else
		ok = choice->site ? *choice->site && !strpbrk(choice->site, " \"") : !strcmp(text, "random");
	return ok ? 0 : pfs_err_set(err, -EINVAL, "--watch: %s: must be cache=GLOB, site=FUNCTION or random", text);
}
