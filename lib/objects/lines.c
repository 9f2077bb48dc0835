/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line for each object. */
#include "objects/kmap.h"

#include "base/escape.h"
#include "base/units.h"
#include "objects/accesses_text.h"

#include <ctype.h>
#include <inttypes.h>

enum { WORD_MAX = 400 };

/* Seconds since the first event. */
static const char *time_text(char buf[24], const struct pfs_kmap *k, uint64_t ts_ns)
{
	uint64_t first = pfs_objects_stats(k->objects)->first_ns;

	return pfs_fixed_text(buf, ts_ns > first ? ts_ns - first : 0, 9);
}

/* "fs/pipe.c:812"; NULL: unknown, or nobody wants to know. */
static const char *source_line(const struct pfs_kmap *k, const struct pfs_object_site *site)
{
	return k->functions && k->line && site->func && site->addr ? k->line(k->line_ctx, site) : NULL;
}

/* "0xffffffff81234567"; of text its function, or "?". */
static const char *site_text(char *buf, size_t size, const struct pfs_kmap *k, uint32_t site)
{
	const struct pfs_object_site *s = pfs_objects_site(k->objects, site);
	const char *line = source_line(k, s);
	char func[WORD_MAX];

	if (s->func && (k->functions || !s->addr)) {
		pfs_escape(func, sizeof(func), s->func, 0);
		snprintf(buf, size, "%s%s%s%s", func, line ? " (" : "", line ? line : "", line ? ")" : "");
	} else {
		snprintf(buf, size, s->addr ? "0x%" PRIx64 : "?", s->addr);
	}
	return buf;
}

static void put_columns(const struct pfs_kmap *k, const char *no_lines)
{
	if (k->form == PFS_KMAP_CSV)
		fputs("alloc_ip,alloc_func,pid,obj_va_ptr,size,allocated,cache,alloc_time,free_time,free_ip,free_func,"
		      "free_pid,fate,executable,unsure\n",
		      k->out);
	else
		fprintf(k->out,
			"# Kernel objects, one a line: alloc_ip,pid,obj_va_ptr,size,alloc_time,free_time,free_ip,executable. "
			"Times are seconds since the first event; size is in bytes as requested; obj_va_ptr of pages is "
			"pfn:NUMBER%s. free_time and free_ip: - the object is alive at the end, ? it was freed but its free "
			"was not recorded%s.%s\n",
			pfs_objects_stats(k->objects)->hashed ? ", other addresses are hashed" : "",
			k->evicts ? ", ~ it was evicted (--max-objects)" : "",
			pfs_objects_accesses(k->objects)
				? " Below an object, indented, its accesses while words of it were watched (few are: see --stats): "
				  "access_ip,access_pid,write_count,read_count; access_ip is the instruction after the access."
				: "");
	if (k->form != PFS_KMAP_CSV && no_lines)
		fprintf(k->out, "# No source lines: %s\n", no_lines);
}

static void begin(struct pfs_kmap *k)
{
	const char *no_lines =
		k->functions && k->no_lines ? k->no_lines(k->line_ctx, pfs_objects_kernel(k->objects)) : NULL;

	k->begun = true;
	if (k->form != PFS_KMAP_JSON) {
		put_columns(k, no_lines);
		return;
	}
	pfs_json_init(&k->json, k->out);
	pfs_json_begin(&k->json, NULL, "{");
	pfs_json_begin(&k->json, "objects", "[");
}

static int32_t number_of_who(const struct pfs_object_who *who)
{
	return who->pid ? who->pid : who->tid;
}

static const char *executable(char *buf, size_t size, const struct pfs_object_who *who)
{
	pfs_escape(buf, size, who->comm ? who->comm : "?", 0);
	return buf;
}

/* Of watched words only. */
static void put_accesses(const struct pfs_kmap *k, const struct pfs_object_end *end,
			 const char *(*site)(char *buf, size_t size, const struct pfs_kmap *k, uint32_t site))
{
	char ip[WORD_MAX];

	for (unsigned int i = 0; i < end->nr_accesses; i++) {
		const struct pfs_object_access *a = &end->accesses[i];

		fprintf(k->out, "  %s,%" PRId32 ",%" PRIu64 ",%" PRIu64 "\n", site(ip, sizeof(ip), k, a->site),
			number_of_who(pfs_objects_who(k->objects, a->who)), a->writes, a->reads);
	}
}

static int put_line(void *ctx, const struct pfs_object *o, const struct pfs_object_end *end)
{
	static const char *const unknown[] = {
		[PFS_OBJECT_UNSEEN] = "?", [PFS_OBJECT_ALIVE] = "-", [PFS_OBJECT_EVICTED] = "~"
	};
	char from[WORD_MAX], to[WORD_MAX], comm[WORD_MAX], begun[24], ended[24];
	struct pfs_kmap *k = ctx;
	const struct pfs_object_who *who = pfs_objects_who(k->objects, o->who);
	bool freed = end->fate == PFS_OBJECT_FREED;

	if (!k->begun)
		begin(k);
	fprintf(k->out, "%s,%" PRId32 ",%s%" PRIx64 ",%" PRIu32 ",%s,%s,%s,%s\n",
		site_text(from, sizeof(from), k, o->site), number_of_who(who), pfs_object_is_pages(o) ? "pfn:" : "0x",
		pfs_object_address(o), o->size, time_text(begun, k, o->alloc_ns),
		freed ? time_text(ended, k, end->ts_ns) : unknown[end->fate],
		freed ? site_text(to, sizeof(to), k, end->site) : unknown[end->fate],
		executable(comm, sizeof(comm), who));
	put_accesses(k, end, site_text);
	return 0;
}

/* %p of a kernel that hashes no pointers */
static const char *pointer(char buf[24], uint64_t value)
{
	snprintf(buf, 24, value ? "%016" PRIx64 : "(null)", value);
	return buf;
}

static const char *site_pointer(char *buf, size_t size, const struct pfs_kmap *k, uint32_t site)
{
	return pointer(buf, pfs_objects_site(k->objects, site)->addr);
}

/*
 * The Memorizer's line: "%p,%d,%p,%lu,%lu,%lu,%p,%s". Times are jiffies of 4 ms since boot; of an object that is alive 0,
 * and no address; of one whose address was allocated again the time of that, and a magic address.
 */
static int put_compat(void *ctx, const struct pfs_object *o, const struct pfs_object_end *end)
{
	enum { JIFFY_NS = 4000000, MAGIC = 0xdeadbeef };
	struct pfs_kmap *k = ctx;
	const struct pfs_object_who *who = pfs_objects_who(k->objects, o->who);
	bool ended = end->fate == PFS_OBJECT_FREED || end->fate == PFS_OBJECT_UNSEEN;
	uint64_t free_ip = end->fate == PFS_OBJECT_UNSEEN ? MAGIC : 0;
	char from[24], at[24], to[24], comm[WORD_MAX];

	if (end->fate == PFS_OBJECT_FREED)
		free_ip = pfs_objects_site(k->objects, end->site)->addr;
	fprintf(k->out, "%s,%" PRId32 ",%s,%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%s,%s\n",
		pointer(from, pfs_objects_site(k->objects, o->site)->addr), number_of_who(who),
		pointer(at, pfs_object_address(o)), o->size, o->alloc_ns / JIFFY_NS, ended ? end->ts_ns / JIFFY_NS : 0,
		pointer(to, free_ip), executable(comm, sizeof(comm), who));
	put_accesses(k, end, site_pointer);
	return 0;
}

static const char *const fates[] = { "freed", "unseen", "alive", "evicted" };

/* A word of CSV: quoted, for names may hold commas. */
static const char *quoted(char *buf, size_t size, const char *word)
{
	char text[WORD_MAX];
	size_t len = 0;

	pfs_escape(text, sizeof(text), word, 0);
	buf[len++] = '"';
	if (pfs_is_formula(text))
		buf[len++] = '\'';
	for (const char *p = text; *p && len + 4 < size; p++) {
		if (*p == '"')
			buf[len++] = '"';
		buf[len++] = *p;
	}
	buf[len++] = '"';
	buf[len] = '\0';
	return buf;
}

static void put_csv_site(const struct pfs_kmap *k, uint32_t nr)
{
	const struct pfs_object_site *site = pfs_objects_site(k->objects, nr);
	char func[WORD_MAX];

	if (site->addr)
		fprintf(k->out, "0x%" PRIx64, site->addr);
	fprintf(k->out, ",%s,", site->func ? quoted(func, sizeof(func), site->func) : "");
}

static int put_csv(void *ctx, const struct pfs_object *o, const struct pfs_object_end *end)
{
	struct pfs_kmap *k = ctx;
	const struct pfs_object_who *who = pfs_objects_who(k->objects, o->who);
	char text[WORD_MAX], begun[24], ended[24];

	if (!k->begun)
		begin(k);
	put_csv_site(k, o->site);
	fprintf(k->out, "%" PRId32 ",%s%" PRIx64 ",%" PRIu32 ",%" PRIu32 ",%s,%s,", number_of_who(who),
		pfs_object_is_pages(o) ? "pfn:" : "0x", pfs_object_address(o), o->size, o->allocated,
		quoted(text, sizeof(text), pfs_objects_cache(k->objects, end->cache)),
		time_text(begun, k, o->alloc_ns));
	if (end->fate == PFS_OBJECT_FREED) {
		fprintf(k->out, "%s,", time_text(ended, k, end->ts_ns));
		put_csv_site(k, end->site);
		fprintf(k->out, "%" PRId32, number_of_who(pfs_objects_who(k->objects, end->who)));
	} else {
		fputs(",,,", k->out);
	}
	fprintf(k->out, ",%s,%s,%d\n", fates[end->fate], quoted(text, sizeof(text), who->comm ? who->comm : ""),
		end->unsure);
	return 0;
}

/* "alloc_ip", "alloc_func" and "alloc_line", as far as they are known. */
static void json_site(struct pfs_kmap *k, uint32_t nr, const char *what)
{
	const struct pfs_object_site *site = pfs_objects_site(k->objects, nr);
	const char *line = source_line(k, site);
	char text[32], key[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, site->addr);
	snprintf(key, sizeof(key), "%s_ip", what);
	if (site->addr)
		pfs_json_word(&k->json, key, text);
	snprintf(key, sizeof(key), "%s_func", what);
	if (site->func)
		pfs_json_string(&k->json, key, site->func);
	snprintf(key, sizeof(key), "%s_line", what);
	if (line)
		pfs_json_string(&k->json, key, line);
}

static void json_who(struct pfs_kmap *k, const struct pfs_object_who *who, const char *pid_key, const char *comm_key)
{
	pfs_json_i64(&k->json, who->pid ? pid_key : "tid", number_of_who(who));
	if (who->comm && comm_key)
		pfs_json_string(&k->json, comm_key, who->comm);
}

static void json_accesses(struct pfs_kmap *k, const struct pfs_object_end *end)
{
	if (!end->nr_accesses)
		return;
	pfs_json_begin(&k->json, "accesses", "[");
	for (unsigned int i = 0; i < end->nr_accesses; i++) {
		const struct pfs_object_access *a = &end->accesses[i];

		pfs_json_begin(&k->json, NULL, "{");
		json_site(k, a->site, "access");
		json_who(k, pfs_objects_who(k->objects, a->who), "pid", NULL);
		pfs_json_u64(&k->json, "writes", a->writes);
		pfs_json_u64(&k->json, "reads", a->reads);
		pfs_json_end(&k->json, "}");
	}
	pfs_json_end(&k->json, "]");
}

static int put_json(void *ctx, const struct pfs_object *o, const struct pfs_object_end *end)
{
	struct pfs_kmap *k = ctx;
	char text[32];

	if (!k->begun)
		begin(k);
	pfs_json_line(&k->json, "\n");
	pfs_json_begin(&k->json, NULL, "{");
	json_site(k, o->site, "alloc");
	json_who(k, pfs_objects_who(k->objects, o->who), "pid", "executable");
	snprintf(text, sizeof(text), "0x%" PRIx64, pfs_object_address(o));
	pfs_json_word(&k->json, pfs_object_is_pages(o) ? "pfn" : "obj_va_ptr", text);
	pfs_json_u64(&k->json, "size", o->size);
	pfs_json_u64(&k->json, "allocated", o->allocated);
	pfs_json_string(&k->json, "cache", pfs_objects_cache(k->objects, end->cache));
	pfs_json_raw(&k->json, "alloc_time", time_text(text, k, o->alloc_ns));
	pfs_json_word(&k->json, "fate", fates[end->fate]);
	if (end->fate == PFS_OBJECT_FREED) {
		pfs_json_raw(&k->json, "free_time", time_text(text, k, end->ts_ns));
		json_site(k, end->site, "free");
		pfs_json_i64(&k->json, "free_pid", number_of_who(pfs_objects_who(k->objects, end->who)));
	}
	if (o->stack)
		pfs_json_string(&k->json, "stack", pfs_objects_stack(k->objects, o->stack));
	if (end->unsure)
		pfs_json_bool(&k->json, "unsure", true);
	json_accesses(k, end);
	pfs_json_end(&k->json, "}");
	return 0;
}

struct pfs_object_sink pfs_kmap_sink(struct pfs_kmap *k)
{
	static int (*const put[])(void *, const struct pfs_object *, const struct pfs_object_end *) = {
		[PFS_KMAP_TEXT] = put_line,
		[PFS_KMAP_CSV] = put_csv,
		[PFS_KMAP_JSON] = put_json,
		[PFS_KMAP_COMPAT] = put_compat,
	};

	return (struct pfs_object_sink){ .end = put[k->form], .ctx = k };
}

const char *pfs_kmap_losses(const struct pfs_kmap *k, char *buf, size_t size)
{
	const struct pfs_objects_stats *s = pfs_objects_stats(k->objects);
	char count[64];

	if (!s->lost && !s->lost_unknown)
		return NULL;
	snprintf(buf, size, "%s %s lost: objects may be missing, and others may have been freed",
		 pfs_at_least(count, sizeof(count), s->lost, s->lost_unknown, "event"), s->lost == 1 ? "is" : "are");
	*buf = toupper(*buf);
	return buf;
}

static void put_losses(struct pfs_kmap *k)
{
	const struct pfs_objects_stats *s = pfs_objects_stats(k->objects);
	char text[WORD_MAX];

	if (k->form == PFS_KMAP_TEXT && pfs_kmap_losses(k, text, sizeof(text)))
		fprintf(k->out, "# %s (JSON and CSV mark them as unsure).\n", text);
	if (k->form != PFS_KMAP_JSON)
		return;
	if (s->lost_unknown)
		pfs_json_raw(&k->json, "lost", "null");
	else
		pfs_json_u64(&k->json, "lost", s->lost);
}

/* Known only at the end: lines are written as objects end. */
static void put_pauses(struct pfs_kmap *k)
{
	const struct pfs_objects_stats *s = pfs_objects_stats(k->objects);
	char paused[32];

	pfs_fixed_text(paused, s->paused_ns, 9);
	if (k->form == PFS_KMAP_JSON) {
		pfs_json_u64(&k->json, "pauses", s->nr_pauses);
		pfs_json_raw(&k->json, "paused_seconds", paused);
	} else if (k->form == PFS_KMAP_TEXT && s->nr_pauses) {
		fprintf(k->out,
			"# The recording was paused %u times, %s s in all: of objects allocated before, ends may be later ones' "
			"or were not recorded (JSON and CSV mark them as unsure).\n",
			s->nr_pauses, paused);
	}
}

void pfs_kmap_end(struct pfs_kmap *k)
{
	if (k->form == PFS_KMAP_COMPAT)
		return;
	if (!k->begun)
		begin(k);
	if (k->form == PFS_KMAP_JSON)
		pfs_json_end(&k->json, "\n]");
	put_losses(k);
	put_pauses(k);
	pfs_kmap_watched(k);
	if (k->form != PFS_KMAP_JSON)
		return;
	pfs_json_end(&k->json, "}");
	fputc('\n', k->out);
}
