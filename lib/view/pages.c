/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of each page: whether it is mapped, how it came to be, and, where it is not known whether it is mapped,
 * why. One line for a run of pages of which the same is known:
 *
 *     7f5d58600000-7f5d58626000 r--p /usr/lib/libc.so.6
 *       7f5d58602000  14  absent   -       -
 *       7f5d58610000   1  unknown  around  fault-around
 *
 * The model holds what events told of a page (model/presence.h). What no event tells, and what no event would
 * contradict, is concluded here: from the page's region, and from what the recording could not observe.
 */
#include "base/escape.h"
#include "model/presence.h"
#include "view/labels.h"
#include "view/loss.h"
#include "view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const struct pfs_column columns[] = {
	{ "pid", "pid", PFS_COLUMN_NOT_TEXT },
	{ "region", "", PFS_COLUMN_TEXT_ONLY | PFS_COLUMN_GROUP },
	{ "address", "address", PFS_COLUMN_TEXT_ONLY | PFS_COLUMN_LEFT },
	{ "range", "range", PFS_COLUMN_NOT_TEXT },
	{ "pages", "pages", 0 },
	{ "presence", "presence", PFS_COLUMN_LEFT },
	{ "how", "how", PFS_COLUMN_LEFT },
	{ "reason", "reason", PFS_COLUMN_LEFT },
	{ "perms", "", PFS_COLUMN_GROUP },
	{ "name", "", PFS_COLUMN_GROUP },
	{ "as_of", "", PFS_COLUMN_NOT_TEXT },
	{ NULL, NULL, 0 },
};

/* Why it is not known whether a page is mapped. docs/pages.md explains them. */
enum reason {
	KNOWN,
	LOST,	     /* events were lost */
	UNREPORTED,  /* the source reports neither what removes pages nor huge ones, and has not looked */
	SINCE_LOOK,  /* ... it has looked, but since then it was mapped or had a fault */
	BEFORE,	     /* the region is older than the recording */
	REGION,	     /* what the region maps is not known */
	SPECIAL,     /* memory of the kernel or of a device, mapped without a fault */
	AROUND,	     /* fault-around maps it if it is in the page cache */
	FREED,	     /* MADV_FREE */
	PAGED_OUT,   /* MADV_PAGEOUT: of a file, or after MADV_FREE */
	RACED,	     /* two threads at once */
	UNASKED,     /* the kernel faulted pages in that no event shows */
	REMOTE,	     /* another process accessed memory here */
	COPIED,	     /* by a fork, or not */
	POPULATED,   /* by a call, as far as the file reaches */
	FAILED,	     /* a call failed on the way */
	HUGE,	     /* a huge page may have mapped it */
	FOLIO,	     /* as a part of a large folio of its file */
	REFAULTED,   /* --refault takes pages away */
	UNDER_WAY,   /* its fault may not be over, or was interrupted */
	TRUNCATED,   /* the page of the file has gone; its private copy may have */
	RECLAIMABLE, /* the kernel reclaimed memory meanwhile */
	COLLAPSED,   /* khugepaged made huge pages meanwhile */
	MOVED,	     /* userfaultfd moved pages elsewhere */
	NR_REASONS,
};

static const char *const reasons[NR_REASONS] = {
	[KNOWN] = "-",
	[LOST] = "events-lost",
	[UNREPORTED] = "not-recorded",
	[SINCE_LOOK] = "since-look",
	[BEFORE] = "before-recording",
	[REGION] = "unknown-region",
	[SPECIAL] = "device",
	[AROUND] = "fault-around",
	[FREED] = "madv-free",
	[PAGED_OUT] = "madv-pageout",
	[RACED] = "race",
	[UNASKED] = "kernel-access",
	[REMOTE] = "other-process",
	[COPIED] = "fork",
	[POPULATED] = "populated",
	[FAILED] = "failed-call",
	[HUGE] = "huge-page",
	[FOLIO] = "large-folio",
	[REFAULTED] = "refaulted",
	[UNDER_WAY] = "under-way",
	[TRUNCATED] = "truncated",
	[RECLAIMABLE] = "reclaimable",
	[COLLAPSED] = "khugepaged",
	[MOVED] = "userfaultfd",
};

enum presence { ABSENT, PRESENT, UNKNOWN, NR_PRESENCES };
static const char *const presences[NR_PRESENCES] = { "absent", "present", "unknown" };

struct verdict {
	enum presence presence;
	enum reason reason;
};

/* What events told of a page. */
struct known {
	uint32_t presence;    /* enum pfs_presence, 0: nothing */
	uint32_t flags;	      /* PFS_PAGE_* */
	uint64_t since_ns;    /* of its presence */
	uint64_t fault_ns;    /* the last one */
	uint64_t vanished_ns; /* when it was found to have left the page cache unseen, 0: never */
	bool populated_later; /* by a call that does not tell whether it was mapped already */
};

/* What the kernel did to pages of any process while the recording ran. */
struct circumstances {
	bool lost, refaulted;
	bool unreported;       /* by the source, which only looks */
	bool scanned, swapped; /* pages were scanned for reclaim, were swapped out; true: or it is not known */
	bool collapsed;	       /* pages were collapsed to huge pages */
	const struct pfs_model *model;
	bool unasked; /* the kernel faulted pages in for itself, and it is not known which */
};

struct listing {
	const struct pfs_model *model;
	const struct pfs_view_options *options;
	struct pfs_table *table;
	struct circumstances here;
	uint64_t nr[NR_PRESENCES], nr_unknown[NR_REASONS]; /* pages */
	/* the run that is not yet a row, if start < end */
	uint64_t start, end;
	struct verdict verdict;
	struct known known;
};

/* ---- conclusions ---- */

/* Mappings whose pages the kernel or a driver puts there, at once or as it likes. */
static bool is_special(const struct pfs_region *region, const char *name)
{
	static const char *const ordinary[] = { "/dev/shm/", "/dev/zero", "/dev/hugepages/" };
	static const char *const special[] = { "/[aio]", "/dev/",   "/dmabuf:",	  "/proc/",
					       "/sys/",	 "socket:", "anon_inode:" };

	if (!name || (region->have & PFS_HAS(PFS_F_INO) && !pfs_region_is_file(region) && name[0] != '['))
		return false;
	for (size_t i = 0; i < sizeof(ordinary) / sizeof(ordinary[0]); i++)
		if (!strncmp(name, ordinary[i], strlen(ordinary[i])))
			return false;
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
		if (!strncmp(name, special[i], strlen(special[i])))
			return true;
	return false;
}

static struct verdict unknown(enum reason reason)
{
	return (struct verdict){ UNKNOWN, reason };
}

/* They come from the side-band, which some programs leave. */
static bool has_attributes(const struct pfs_region *region)
{
	return region->have & PFS_HAS(PFS_F_PERMS);
}

/* Its pages are taken away by swapping only. */
static bool is_swapped(const struct pfs_region *region)
{
	return !pfs_region_is_file(region) && !(region->traits & PFS_TRAIT_DROPPABLE);
}

/* Of a page that was mapped, and that no event took away. */
static struct verdict still_mapped(const struct circumstances *here, const struct pfs_region *region,
				   const struct known *known)
{
	bool anonymous = is_swapped(region) || (pfs_region_is_file(region) && known->flags & PFS_PAGE_WRITE &&
						!(region->perms & PFS_PERM_SHARED));

	if (here->refaulted)
		return unknown(REFAULTED);
	if (!(region->traits & PFS_TRAIT_LOCKED) &&
	    (here->swapped || (here->scanned && !(anonymous && has_attributes(region)))))
		return unknown(RECLAIMABLE);
	if (!anonymous && known->vanished_ns > known->since_ns)
		return unknown(RECLAIMABLE);
	if (here->collapsed && pfs_model_may_collapse(here->model, region))
		return unknown(COLLAPSED);
	return (struct verdict){ PRESENT, KNOWN };
}

/* Of a page that was not mapped at since_ns. */
static struct verdict still_absent(const struct circumstances *here, const struct pfs_space *space,
				   const struct pfs_region *region, const struct known *known, uint64_t since_ns)
{
	uint64_t huge = pfs_huge_size(pfs_pages_shift(space->pages)), start = (region->start + huge - 1) & -huge;

	if (here->collapsed && start + huge <= region->end)
		return unknown(COLLAPSED);
	if (here->unasked || (known->populated_later && is_swapped(region)))
		return unknown(UNASKED);
	return space->remote_ns > since_ns ? unknown(REMOTE) : (struct verdict){ ABSENT, KNOWN };
}

/* Of a page that no event was about. */
static struct verdict untold(const struct circumstances *here, const struct pfs_space *space,
			     const struct pfs_region *region, const struct known *known)
{
	if (!has_attributes(region))
		return unknown(REGION);
	if (!region->since_ns || region->older)
		return unknown(BEFORE);
	return still_absent(here, space, region, known, region->since_ns);
}

/* Of a page of which only looks at the page table tell: what the last one found. */
static struct verdict as_looked(const struct pfs_space *space, const struct known *known)
{
	if (!space->looked)
		return unknown(UNREPORTED);
	if (known->presence == PFS_PRESENT)
		return (struct verdict){ PRESENT, KNOWN };
	if (known->presence != PFS_ABSENT || known->fault_ns >= space->looked_ns)
		return unknown(SINCE_LOOK);
	return (struct verdict){ ABSENT, KNOWN };
}

/* Why a page may be mapped or not, by the bit of its presence. */
#define DOUBT(name) [__builtin_ctz(PFS_MAYBE_##name)] = name
static const uint8_t doubts[32] = {
	DOUBT(AROUND), DOUBT(RACED),	 DOUBT(UNDER_WAY), DOUBT(TRUNCATED), DOUBT(COPIED),    DOUBT(HUGE),
	DOUBT(FOLIO),  DOUBT(POPULATED), DOUBT(MOVED),	   DOUBT(FAILED),    DOUBT(PAGED_OUT),
};

static struct verdict judge(const struct circumstances *here, const struct pfs_space *space,
			    const struct pfs_region *region, const struct known *known)
{
	if (is_special(region, pfs_region_name(space, region)))
		return unknown(SPECIAL);
	if (here->lost)
		return unknown(LOST);
	if (here->unreported)
		return as_looked(space, known);
	switch (known->presence) {
	case PFS_PRESENT:
		return still_mapped(here, region, known);
	case PFS_ABSENT:
		/* Concluded from the page cache, perhaps, and not all of what leaves that is recorded then. */
		if (pfs_region_is_file(region) && (here->refaulted || here->scanned))
			return unknown(here->refaulted ? REFAULTED : RECLAIMABLE);
		return still_absent(here, space, region, known, known->since_ns);
	case PFS_MAYBE_FREE:
		return here->scanned ? unknown(FREED) : still_mapped(here, region, known);
	case 0:
		return untold(here, space, region, known);
	default:
		return unknown(doubts[__builtin_ctz(known->presence)]);
	}
}

static struct circumstances circumstances(const struct listing *l, const struct pfs_epochs *at)
{
	const struct pfs_model *model = l->model;
	struct pfs_missing missing = pfs_gaps_sum(pfs_gaps_before(pfs_gaps_shown(model, at->filter), at));
	struct pfs_refault_how how;
	struct pfs_fact events;
	bool known = pfs_model_fact(model, PFS_NOTE_VM_EVENTS, &events);
	uint64_t unasked;

	return (struct circumstances){
		.model = model,
		.lost = missing.nr,
		.unreported = pfs_model_polled(model),
		.refaulted = pfs_model_refault(model, &how) && how.method == PFS_REFAULT_PAGEOUT,
		.scanned = !known || events.scanned,
		.swapped = !known || events.swapped,
		.collapsed = !known || events.collapsed,
		.unasked = l->options->whole && (!pfs_check_unasked(l->options->whole, &unasked) || unasked),
	};
}

/* ---- rows ---- */

/* How a page came to be, in words joined by commas. */
static const char *how_text(char buf[128], const struct known *known, bool looked)
{
	static const struct {
		uint32_t flag;
		const char *word;
	} words[] = {
		{ PFS_PAGE_READ, "read" },	     { PFS_PAGE_WRITE, "write" },
		{ PFS_PAGE_EXEC, "exec" },	     { PFS_PAGE_ACCESS_UNKNOWN, "touched" },
		{ PFS_PAGE_USER, "user" },	     { PFS_PAGE_KERNEL, "kernel" },
		{ PFS_PAGE_MAJOR, "major" },	     { PFS_PAGE_AROUND | PFS_PAGE_MAYBE_AROUND, "around" },
		{ PFS_PAGE_POPULATED, "populated" }, { PFS_PAGE_HUGE, "huge" },
		{ PFS_PAGE_SIGNAL, "signal" },	     { PFS_PAGE_REFERENCED, "referenced" },
	};
	char *at = buf;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (known->flags & words[i].flag)
			at = stpcpy(stpcpy(at, at == buf ? "" : ","), words[i].word);
	if (at == buf)
		strcpy(buf, known->presence & (PFS_PRESENT | PFS_MAYBE_COPIED) && !looked ? "fork" : "-");
	return buf;
}

/* Of the last look at the page table, where that is what tells; else NULL. */
static const char *look_time(const struct listing *l, const struct pfs_space *space, char buf[32])
{
	return l->here.unreported && space->looked ? pfs_time_text(buf, l->model, space->looked_ns) : NULL;
}

/* The run that was gathered becomes a row. */
static void put_run(struct listing *l, const struct pfs_epochs *at, const struct pfs_region *region)
{
	const char *name = pfs_region_name(at->epoch->space, region), *kind = pfs_region_kind(region, name);
	uint64_t nr = (l->end - l->start) >> l->model->page_shift;
	char range[40], start[40], how[128], perms[5], time[32];

	if (!nr)
		return;
	l->nr[l->verdict.presence] += nr;
	l->nr_unknown[l->verdict.reason] += nr;
	pfs_perms_text(perms, region);
	pfs_table_number(l->table, at->proc->pid);
	pfs_range_text(range, region->start, region->end);
	pfs_table_word(l->table, range);
	pfs_range_text(range, l->start, l->end);
	snprintf(start, sizeof(start), "%.*s", (int)strcspn(range, "-"), range);
	pfs_table_word(l->table, start);
	pfs_table_word(l->table, range);
	pfs_table_number(l->table, nr);
	pfs_table_word(l->table, presences[l->verdict.presence]);
	pfs_table_word(l->table, how_text(how, &l->known, l->here.unreported));
	pfs_table_word(l->table, reasons[l->verdict.reason]);
	pfs_table_word(l->table, perms);
	pfs_table_word(l->table, kind ? kind : name);
	pfs_table_word(l->table, look_time(l, at->epoch->space, time) ?: "-");
}

/* A walk over a tree of pages, as runs that may have holes between them. */
struct runs {
	struct pfs_page_walk walk;
	const struct pfs_pages *pages;
	uint64_t shift;	     /* of addresses against the tree's */
	uint64_t start, end; /* of the run, UINT64_MAX: no more */
	uint32_t flags;
	uint64_t since_ns, last_ns; /* of the first event, and the last */
};

static void runs_next(struct runs *runs)
{
	const struct pfs_page *page;
	uint64_t nr;

	page = runs->pages ? pfs_page_walk_row(&runs->walk, &nr) : NULL;
	runs->start = runs->end = UINT64_MAX;
	if (!page)
		return;
	runs->start = runs->walk.addr + runs->shift;
	runs->end = runs->start + (nr << pfs_pages_shift(runs->pages));
	runs->flags = page->flags;
	runs->since_ns = page->first_ns;
	runs->last_ns = page->last_ns;
}

/* start: where the tree has the first page of the region. */
static struct runs runs_of(const struct pfs_pages *pages, const struct pfs_region *region, uint64_t start)
{
	struct runs runs = { .pages = pages, .shift = region->start - start };

	if (pages)
		pfs_page_walk_start(&runs.walk, pages, start, start + (region->end - region->start));
	runs_next(&runs);
	return runs;
}

/* The run that has the page at addr, or NULL. Lowers *end to where that changes. */
static const struct runs *run_at(struct runs *runs, uint64_t addr, uint64_t *end)
{
	uint64_t next;

	while (runs->end <= addr)
		runs_next(runs);
	next = runs->start > addr ? runs->start : runs->end;
	*end = next < *end ? next : *end;
	return runs->start > addr ? NULL : runs;
}

/* Whether two pages make one row. */
static bool are_alike(const struct verdict *a, const struct known *x, const struct verdict *b, const struct known *y)
{
	return a->presence == b->presence && a->reason == b->reason && x->flags == y->flags &&
	       !x->presence == !y->presence;
}

static const struct pfs_model *whole(const struct listing *l)
{
	return l->options->whole ? l->options->whole : l->model;
}

static const struct pfs_pages *vanished_of(const struct listing *l, const struct pfs_region *region)
{
	return pfs_region_is_file(region) && region->have & PFS_HAS(PFS_F_OFF) ? pfs_model_vanished(whole(l), region)
									       : NULL;
}

static void list_region(struct listing *l, const struct pfs_epochs *at, const struct pfs_region *region)
{
	const struct pfs_space *space = at->epoch->space;
	struct runs mapped = runs_of(l->here.unreported ? space->looked : space->presence, region, region->start);
	struct runs seen = runs_of(region->pages, region, region->start);
	struct runs vanished = runs_of(vanished_of(l, region), region, region->off);
	struct runs populated = runs_of(pfs_model_populated(whole(l)), region, region->start);
	const uint64_t now_ns = pfs_filter_end_ns(l->options->filter, l->model);

	l->start = l->end = region->start;
	for (uint64_t addr = region->start, end = region->end; addr < region->end; addr = end, end = region->end) {
		const struct runs *is = run_at(&mapped, addr, &end), *was = run_at(&seen, addr, &end);
		const struct runs *gone = run_at(&vanished, addr, &end), *later = run_at(&populated, addr, &end);
		struct known known = { is ? is->flags & PFS_PRESENCE : 0,
				       was ? was->flags & ~(PFS_PAGE_MINOR | PFS_PAGE_MAYBE) : 0,
				       is ? is->since_ns : 0,
				       was ? was->last_ns : 0,
				       gone ? gone->last_ns : 0,
				       later && later->last_ns > now_ns };
		struct verdict verdict = judge(&l->here, space, region, &known);

		if (!are_alike(&verdict, &known, &l->verdict, &l->known)) {
			put_run(l, at, region);
			l->start = addr;
		}
		l->end = end;
		l->verdict = verdict;
		l->known = known;
	}
	put_run(l, at, region);
}

/* ---- the view ---- */

static unsigned int width(const struct listing *l)
{
	return l->options->width ? l->options->width : 80;
}

/* What no event reports, so that it is taken not to have happened: docs/pages.md has it in full. */
static const char all_assumed[] =
	"no process outside the recording writes into this memory, takes pages of it away, "
	"truncates a mapped file, or locks, adds, removes or splits pages of one while a fault "
	"maps them";

/* A look at the page table takes nothing for granted. */
static const char *assumed(const struct listing *l)
{
	return pfs_model_polled(l->model) ? "" : all_assumed;
}

static void put_assumed(const struct listing *l)
{
	const char *word = assumed(l);
	struct pfs_list list = {
		.out = l->options->out, .width = width(l), .indent = 2, .margin = "#", .separator = " "
	};

	if (!*word)
		return;
	pfs_list_add(&list, "# Assumed:");
	for (; *word; word += strcspn(word, " "), word += *word == ' ')
		pfs_list_add(&list, "%.*s", (int)strcspn(word, " "), word);
	pfs_list_end(&list);
}

/* "# 120 pages: 80 present, 38 absent, 2 unknown (fault-around 2)" */
static void put_sum(const struct listing *l)
{
	struct pfs_list list = {
		.out = l->options->out, .width = width(l), .indent = 2, .margin = "#", .separator = ", "
	};
	uint64_t left = l->nr[UNKNOWN];
	char unknown[48];

	pfs_list_add(&list, "# %" PRIu64 " pages: %" PRIu64 " present", l->nr[PRESENT] + l->nr[ABSENT] + l->nr[UNKNOWN],
		     l->nr[PRESENT]);
	pfs_list_add(&list, "%" PRIu64 " absent", l->nr[ABSENT]);
	snprintf(unknown, sizeof(unknown), "%" PRIu64 " unknown%s", left, left ? " (" : "");
	if (!left)
		pfs_list_add(&list, "%s", unknown);
	for (enum reason i = KNOWN + 1; i < NR_REASONS; i++) {
		if (!l->nr_unknown[i])
			continue;
		left -= l->nr_unknown[i];
		pfs_list_add(&list, "%s%s %" PRIu64 "%s", unknown, reasons[i], l->nr_unknown[i], left ? "" : ")");
		unknown[0] = '\0';
	}
	pfs_list_end(&list);
}

/* Of which moment it is true, where that is not the one that was asked for. */
static void put_look(const struct listing *l, const struct pfs_space *space)
{
	char buf[32];
	const char *time = look_time(l, space, buf);

	if (time)
		fprintf(l->options->out, "# As of %s s, the last look at the page table (PAGEMAP_SCAN)\n", time);
}

static int list_process(struct listing *l, const struct pfs_epochs *at)
{
	const struct pfs_region *region;
	unsigned int i = 0;

	l->here = circumstances(l, at);
	while ((region = pfs_layout_next(at->epoch->space, &i)))
		if (pfs_filter_memory(l->options->filter, region, pfs_region_name(at->epoch->space, region)))
			list_region(l, at, region);
	return pfs_table_error(l->table);
}

static int put_process(struct listing *l, const struct pfs_epochs *at, bool several)
{
	char comm[256];
	int ret;

	l->table = pfs_table_new(columns);
	ret = l->table ? list_process(l, at) : -ENOMEM;
	if (!ret) {
		pfs_escape(comm, sizeof(comm), pfs_epoch_comm(at) ? pfs_epoch_comm(at) : "?", 0);
		if (several)
			fprintf(l->options->out, "# pid %d %s\n", at->proc->pid, comm);
		put_sum(l);
		put_look(l, at->epoch->space);
		pfs_table_fit(l->table, width(l));
		pfs_table_text(l->table, l->options->out, l->options->color ? "\033[2m" : NULL);
		memset(l->nr, 0, sizeof(l->nr));
		memset(l->nr_unknown, 0, sizeof(l->nr_unknown));
	}
	pfs_table_free(l->table);
	return ret;
}

/* All processes in one table. */
static int put_data(struct listing *l, const struct pfs_epochs *start)
{
	struct pfs_epochs at = *start;
	struct pfs_json json;
	int ret = 0;

	pfs_json_init(&json, l->options->out);
	if (l->options->format == PFS_VIEW_JSON) {
		pfs_json_begin(&json, NULL, "{");
		pfs_json_line(&json, "\n");
		pfs_json_string(&json, "assumed", assumed(l));
	}
	l->table = pfs_table_new(columns);
	while (l->table && !ret && pfs_layouts_next(&at))
		ret = list_process(l, &at);
	ret = pfs_output_table(l->options, &json, l->table, "pages", NULL) ?: ret;
	if (l->options->format == PFS_VIEW_JSON)
		pfs_json_end(&json, "}\n");
	return ret;
}

int pfs_view_pages_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err)
{
	struct pfs_epochs start = { .model = model, .filter = options->filter }, at = start;
	struct listing l = { .model = model, .options = options };
	unsigned int nr = 0;
	int ret = 0;

	while (pfs_layouts_next(&at))
		nr++;
	if (!nr)
		return pfs_no_layout(model, options->filter, err);
	if (options->format != PFS_VIEW_TEXT)
		ret = put_data(&l, &start);
	else
		for (at = start; !ret && pfs_layouts_next(&at);)
			ret = put_process(&l, &at, nr > 1);
	if (!ret && options->format == PFS_VIEW_TEXT)
		put_assumed(&l);
	return ret ? pfs_err_set(err, ret, "no memory for the pages") : pfs_output_end(options->out, "the pages", err);
}
