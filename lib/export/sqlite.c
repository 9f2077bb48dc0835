/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An SQLite database: a row for each fault. Every table has the recording's number, `run`, so that the rows of several
 * recordings may go into one database; `lost` and `coverage` tell what sums over them lack.
 *
 * libsqlite3 is loaded when it is needed. It writes a temporary file without a name, which becomes the output.
 */
#include "base/hash.h"
#include "base/write_all.h"
#include "export/strings.h"
#include "export/viewer_priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#define FUNCTIONS(X) \
	X(open_v2)   \
	X(close) X(exec) X(prepare_v2) X(step) X(reset) X(finalize) X(bind_int64) X(bind_text) X(bind_null) X(errmsg)

static const char schema[] =
	"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;"
	"PRAGMA application_id = 0x70667363;"
	"BEGIN;"
	"CREATE TABLE run(run INTEGER PRIMARY KEY, host TEXT, kernel TEXT, command TEXT, pfscope TEXT, page_size INTEGER,"
	" duration INTEGER, faults INTEGER, resident INTEGER);"
	"CREATE TABLE process(run INTEGER, process INTEGER, pid INTEGER, name TEXT);"
	"CREATE TABLE thread(run INTEGER, thread INTEGER, process INTEGER, tid INTEGER, comm TEXT);"
	"CREATE TABLE region_key(run INTEGER, region_key INTEGER, name TEXT);"
	"CREATE TABLE fault(run INTEGER, ts INTEGER, thread INTEGER, space INTEGER, address INTEGER, page INTEGER,"
	" region_key INTEGER, file_offset INTEGER, access TEXT, mode TEXT, class TEXT, how TEXT, ip INTEGER,"
	" latency INTEGER, signal INTEGER, resident INTEGER, stack_id INTEGER, weight INTEGER,"
	" fault_class TEXT, fault_class_witness TEXT, pfn INTEGER);"
	"CREATE TABLE page(run INTEGER, ts INTEGER, thread INTEGER, space INTEGER, page INTEGER, region_key INTEGER,"
	" stack_id INTEGER, weight INTEGER);"
	"CREATE TABLE stack(run INTEGER, stack_id INTEGER, parent INTEGER, frame_id INTEGER, depth INTEGER,"
	" inlined INTEGER, PRIMARY KEY(run, stack_id)) WITHOUT ROWID;"
	"CREATE TABLE frame(run INTEGER, frame_id INTEGER, function TEXT, module TEXT, path TEXT, build_id TEXT,"
	" source TEXT, line INTEGER, offset INTEGER, PRIMARY KEY(run, frame_id)) WITHOUT ROWID;"
	"CREATE TABLE region(run INTEGER, process INTEGER, start INTEGER, end INTEGER, perms TEXT, file_offset INTEGER,"
	" dev INTEGER, inode INTEGER, name TEXT, born INTEGER, died INTEGER, faults INTEGER);"
	"CREATE TABLE lost(run INTEGER, cpu INTEGER, pid INTEGER, count INTEGER, begin INTEGER, end INTEGER);"
	"CREATE TABLE coverage(run INTEGER, key TEXT, value TEXT);"
	"CREATE VIEW faults AS SELECT f.run, f.ts, p.pid, t.tid, t.comm, f.address, k.name AS region, f.file_offset,"
	" f.access, f.mode, f.class, f.how, f.latency, f.signal, f.weight, s.depth, r.function, r.module, r.source, r.line,"
	" f.stack_id, f.fault_class, f.fault_class_witness, f.pfn FROM fault f LEFT JOIN thread t USING (run, thread)"
	" LEFT JOIN process p USING (run, process)"
	" LEFT JOIN region_key k USING (run, region_key) LEFT JOIN stack s USING (run, stack_id)"
	" LEFT JOIN frame r USING (run, frame_id);"
	/* Nearly all pages come by a fault of their own: these have no second row. */
	"CREATE VIEW resident AS SELECT run, ts, thread, space, page, region_key, stack_id, 1 AS weight FROM fault"
	" WHERE resident UNION ALL SELECT * FROM page;";

enum table { RUN, PROCESS, THREAD, REGION_KEY, FAULT, PAGE, STACK, FRAME, REGION, LOST, COVERAGE, NR_TABLES };

/* Rows that one statement adds: much of its time is not for each of them. The texts of such tables are constant. */
enum { MANY = 32 };

static const struct {
	const char *name;
	int columns; /* beside run */
	int rows;    /* of a statement; 0: one */
} tables[NR_TABLES] = {
	[RUN] = { "run", 8 },
	[PROCESS] = { "process", 3 },
	[THREAD] = { "thread", 4 },
	[REGION_KEY] = { "region_key", 2 },
	[FAULT] = { "fault", 20, MANY },
	[PAGE] = { "page", 7, MANY },
	[STACK] = { "stack", 5, MANY },
	[FRAME] = { "frame", 8 },
	[REGION] = { "region", 11 },
	[LOST] = { "lost", 5 },
	[COVERAGE] = { "coverage", 2 },
};

/* A value; neither: NULL. */
struct cell {
	const char *text;
	uint64_t number;
	bool is_number;
};

struct sqlite {
	void *library;
#define X(name) typeof(sqlite3_##name) *name;
	FUNCTIONS(X)
#undef X
	sqlite3 *db;
	struct insert {
		sqlite3_stmt *stmt; /* adds rows_of() rows */
		enum table table;
		struct cell *cells; /* what is bound to it */
		int rows;	    /* filled in */
		int column;	    /* the next one, of all cells */
	} insert[NR_TABLES];
	int fd; /* of the file + 1 */
	uint64_t run;
	struct viewer_string *keys; /* names of regions */
};

static int rows_of(enum table table)
{
	return tables[table].rows ? tables[table].rows : 1;
}

static int columns_of(enum table table)
{
	return tables[table].columns + 1;
}

static int failed(struct pfs_viewer *viewer)
{
	struct sqlite *s = viewer->state;

	return pfs_err_set(&viewer->err, -EIO, "the database: %s", s->errmsg(s->db));
}

static int load(struct pfs_viewer *viewer)
{
	struct sqlite *s = viewer->state;

	s->library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_NODELETE);
	if (!s->library)
		return pfs_err_set(&viewer->err, -ENOENT,
				   "libsqlite3 cannot be loaded (Debian: apt install libsqlite3-0): %s", dlerror());
#define X(name)                                                         \
	s->name = (typeof(s->name))dlsym(s->library, "sqlite3_" #name); \
	if (!s->name)                                                   \
		return pfs_err_set(&viewer->err, -ENOENT, "libsqlite3 has no sqlite3_" #name);
	FUNCTIONS(X)
#undef X
	return 0;
}

/* ---- rows: column by column ---- */

/* The recording's number: the same of each of its exports, and hardly that of another recording. */
static void number_run(struct pfs_viewer *viewer)
{
	struct sqlite *s = viewer->state;
	uint64_t first = viewer->model->first_ns, hash = pfs_hash(PFS_HASH_START, &first, sizeof(first));

	for (unsigned int i = 0; i < viewer->model->nr_notes; i++)
		if (!strcmp(viewer->model->notes[i].key, "start") || !strcmp(viewer->model->notes[i].key, "uname"))
			hash = pfs_hash(hash, viewer->model->notes[i].value, strlen(viewer->model->notes[i].value));
	s->run = hash >> 16; /* below 2^48, exact everywhere */
}

static void bind(const struct sqlite *s, sqlite3_stmt *stmt, int parameter, const struct cell *cell)
{
	if (cell->is_number)
		s->bind_int64(stmt, parameter, cell->number);
	else if (cell->text)
		s->bind_text(stmt, parameter, cell->text, -1, SQLITE_STATIC);
	else
		s->bind_null(stmt, parameter);
}

/* Most columns of MANY rows have what is bound already, from the last time that this row was filled in. */
static void put(const struct sqlite *s, struct insert *to, struct cell cell)
{
	struct cell *at = &to->cells[to->column++];

	if (tables[to->table].rows && at->text == cell.text && at->number == cell.number &&
	    at->is_number == cell.is_number)
		return;
	*at = cell;
	bind(s, to->stmt, to->column, at);
}

static void number(struct pfs_viewer *viewer, struct insert *to, uint64_t value)
{
	put(viewer->state, to, (struct cell){ .number = value, .is_number = true });
}

static void number_if(struct pfs_viewer *viewer, struct insert *to, bool known, uint64_t value)
{
	put(viewer->state, to, (struct cell){ .number = known ? value : 0, .is_number = known });
}

/* NULL and "" are unknown. The string lives until its row is added. */
static void text(struct pfs_viewer *viewer, struct insert *to, const char *value)
{
	put(viewer->state, to, (struct cell){ .text = value && *value ? value : NULL });
}

static struct insert *row(struct pfs_viewer *viewer, enum table table)
{
	struct sqlite *s = viewer->state;
	struct insert *to = &s->insert[table];

	if (!s->run)
		number_run(viewer);
	if (!to->rows)
		to->column = 0;
	number(viewer, to, s->run);
	return to;
}

static int step(struct pfs_viewer *viewer, sqlite3_stmt *stmt)
{
	struct sqlite *s = viewer->state;

	return s->step(stmt) == SQLITE_DONE && s->reset(stmt) == SQLITE_OK ? 0 : failed(viewer);
}

static int add(struct pfs_viewer *viewer, struct insert *to)
{
	if (++to->rows < rows_of(to->table))
		return 0;
	to->rows = 0;
	return step(viewer, to->stmt);
}

/* A statement that adds so many rows. 0 or -errno with the error set. */
static int prepare(struct pfs_viewer *viewer, enum table table, int rows, sqlite3_stmt **stmt)
{
	struct sqlite *s = viewer->state;
	char sql[64 + MANY * 64];
	char *p = sql + snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES", tables[table].name);

	for (int i = 0; i < rows; i++) {
		p = put_text(p, i ? ",(?" : "(?");
		for (int k = 1; k < columns_of(table); k++)
			p = put_text(p, ",?");
		p = put_text(p, ")");
	}
	*p = '\0';
	return s->prepare_v2(s->db, sql, -1, stmt, NULL) == SQLITE_OK ? 0 : failed(viewer);
}

/* The last rows, which are less than what a statement adds: one by one. */
static int add_rest(struct pfs_viewer *viewer, const struct insert *to)
{
	struct sqlite *s = viewer->state;
	sqlite3_stmt *one = NULL;
	int columns = columns_of(to->table), ret = to->rows ? prepare(viewer, to->table, 1, &one) : 0;

	for (int i = 0; !ret && i < to->rows; i++) {
		for (int k = 0; k < columns; k++)
			bind(s, one, k + 1, &to->cells[i * columns + k]);
		ret = step(viewer, one);
	}
	s->finalize(one);
	return ret;
}

/* ---- the file ---- */

static int open_file(struct pfs_viewer *viewer)
{
	struct sqlite *s = viewer->state;
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/pfscope.XXXXXX", dir && *dir ? dir : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return pfs_err_set(&viewer->err, -errno, "cannot make a temporary file: %s: %s", path, strerror(errno));
	s->fd = fd + 1;
	if (s->open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
		unlink(path);
		return s->db ? failed(viewer) : -ENOMEM;
	}
	if (s->exec(s->db, schema, NULL, NULL, NULL) != SQLITE_OK) {
		unlink(path);
		return failed(viewer);
	}
	unlink(path);
	return 0;
}

static int begin(struct pfs_viewer *viewer)
{
	int ret = load(viewer);

	if (!ret)
		ret = open_file(viewer);
	for (int i = 0; !ret && i < NR_TABLES; i++) {
		struct insert *to = &((struct sqlite *)viewer->state)->insert[i];

		to->table = i;
		to->cells = calloc(rows_of(i) * columns_of(i), sizeof(*to->cells));
		ret = to->cells ? prepare(viewer, i, rows_of(i), &to->stmt) : -ENOMEM;
	}
	return ret;
}

/* ---- tables ---- */

static int region_key(struct pfs_viewer *viewer, const char *name, uint32_t *nr)
{
	struct sqlite *s = viewer->state;
	struct insert *to;
	bool added;

	*nr = viewer_string_number(&s->keys, name, &added);
	if (!added)
		return *nr ? 0 : -ENOMEM;
	to = row(viewer, REGION_KEY);
	number(viewer, to, *nr);
	text(viewer, to, name);
	return add(viewer, to);
}

static int put_fault(struct pfs_viewer *viewer, const struct viewer_fault *f)
{
	uint32_t key;
	struct insert *to;
	int ret = region_key(viewer, f->region, &key);

	if (ret)
		return ret;
	to = row(viewer, FAULT);
	number(viewer, to, viewer_ns(viewer, f->ts_ns));
	number(viewer, to, f->thread + 1);
	number(viewer, to, f->space + 1);
	number(viewer, to, f->addr);
	number(viewer, to, f->addr >> viewer->page_shift);
	number(viewer, to, key);
	number_if(viewer, to, f->has_off, f->off);
	text(viewer, to, viewer_access[f->access]);
	text(viewer, to, viewer_word(PFS_F_MODE, f->mode));
	text(viewer, to, viewer_word(PFS_F_CLASS, f->class));
	text(viewer, to, viewer_word(PFS_F_HOW, f->how));
	number_if(viewer, to, f->ip, f->ip);
	number_if(viewer, to, f->latency_ns, f->latency_ns);
	number_if(viewer, to, f->sig, f->sig);
	number(viewer, to, f->came);
	number(viewer, to, f->call);
	number(viewer, to, 1);
	text(viewer, to, viewer_class(f->label));
	text(viewer, to, viewer_witness(f->label, f->how));
	number_if(viewer, to, f->pfn, f->pfn);
	return add(viewer, to);
}

static int put_page(struct pfs_viewer *viewer, const struct viewer_page *page)
{
	uint32_t key;
	struct insert *to;
	int ret = page->by_fault ? 0 : region_key(viewer, page->region, &key);

	if (ret || page->by_fault)
		return ret;
	to = row(viewer, PAGE);
	number(viewer, to, viewer_ns(viewer, page->ts_ns));
	number(viewer, to, page->thread + 1);
	number(viewer, to, page->space + 1);
	number(viewer, to, page->addr >> viewer->page_shift);
	number(viewer, to, key);
	number(viewer, to, page->call);
	number(viewer, to, page->came ? 1 : -1);
	return add(viewer, to);
}

static int put_region(struct pfs_viewer *viewer, const struct viewer_region *r)
{
	struct insert *to = row(viewer, REGION);

	number(viewer, to, r->proc + 1);
	number(viewer, to, r->start);
	number(viewer, to, r->end);
	text(viewer, to, r->perms);
	number_if(viewer, to, r->has_off, r->off);
	number_if(viewer, to, r->in_file, r->dev);
	number_if(viewer, to, r->in_file, r->ino);
	text(viewer, to, r->name);
	number(viewer, to, viewer_ns(viewer, r->born_ns));
	number(viewer, to, viewer_ns(viewer, r->died_ns));
	number(viewer, to, r->faults);
	return add(viewer, to);
}

static int put_lost(struct pfs_viewer *viewer, const struct pfs_loss *loss, uint64_t from_ns, uint64_t to_ns)
{
	struct insert *to = row(viewer, LOST);

	number_if(viewer, to, loss->cpu >= 0, loss->cpu);
	number_if(viewer, to, loss->pid, loss->pid);
	number_if(viewer, to, !loss->unknown, loss->count);
	number(viewer, to, viewer_ns(viewer, from_ns));
	number(viewer, to, viewer_ns(viewer, to_ns));
	return add(viewer, to);
}

static int put_calls(struct pfs_viewer *viewer)
{
	int ret = 0;

	for (uint32_t i = 1; !ret && i < viewer->calls.nr_calls; i++) {
		const struct viewer_call *call = &viewer->calls.calls[i];
		struct insert *to = row(viewer, STACK);

		number(viewer, to, i);
		number_if(viewer, to, call->parent, call->parent);
		number(viewer, to, call->place + 1);
		number(viewer, to, call->depth);
		number(viewer, to, call->inlined);
		ret = add(viewer, to);
	}
	for (uint32_t i = 0; !ret && i < viewer->calls.nr_places; i++) {
		const struct viewer_place *place = &viewer->calls.places[i];
		struct insert *to = row(viewer, FRAME);

		number(viewer, to, i + 1);
		text(viewer, to, place->name);
		text(viewer, to, place->module);
		text(viewer, to, place->path);
		text(viewer, to, place->build_id);
		text(viewer, to, place->source);
		number_if(viewer, to, place->line, place->line);
		number(viewer, to, place->off);
		ret = add(viewer, to);
	}
	return ret;
}

static int put_threads(struct pfs_viewer *viewer)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < viewer->nr_procs; i++) {
		struct insert *to = row(viewer, PROCESS);

		number(viewer, to, i + 1);
		number(viewer, to, viewer->procs[i]->pid);
		text(viewer, to, viewer->procs[i]->name);
		ret = add(viewer, to);
	}
	for (uint32_t i = 0; !ret && i < viewer->nr_threads; i++) {
		struct insert *to = row(viewer, THREAD);

		number(viewer, to, i + 1);
		number(viewer, to, viewer->threads[i].proc + 1);
		number(viewer, to, viewer->threads[i].tid);
		text(viewer, to, viewer->threads[i].comm);
		ret = add(viewer, to);
	}
	return ret;
}

/* What the recording says of itself: what it lacks is among it. */
static int put_coverage(struct pfs_viewer *viewer)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < viewer->model->nr_notes; i++) {
		const struct pfs_note *note = &viewer->model->notes[i];
		struct insert *to = row(viewer, COVERAGE);
		const char *key = viewer_text(&viewer->calls, note->key);
		const char *value = viewer_text(&viewer->calls, note->value);

		text(viewer, to, key);
		text(viewer, to, value);
		ret = key && value ? add(viewer, to) : -ENOMEM;
	}
	return ret;
}

static int put_run(struct pfs_viewer *viewer)
{
	struct insert *to = row(viewer, RUN);

	text(viewer, to, viewer_note(viewer, "uname"));
	text(viewer, to, viewer_note(viewer, "kernel"));
	text(viewer, to, viewer_title(viewer));
	text(viewer, to, PFS_VERSION);
	number(viewer, to, UINT64_C(1) << viewer->model->page_shift);
	number(viewer, to, viewer_ns(viewer, viewer->end_ns));
	number(viewer, to, viewer->nr_faults);
	number(viewer, to, viewer->nr_pages);
	return add(viewer, to);
}

/* Closes the database, and copies it. */
static int finish(struct pfs_viewer *viewer)
{
	struct sqlite *s = viewer->state;
	struct stat st;
	int ret = 0;

	for (int i = 0; !ret && i < NR_TABLES; i++)
		ret = add_rest(viewer, &s->insert[i]);
	if (ret)
		return ret;
	if (s->exec(s->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
		return failed(viewer);
	for (int i = 0; i < NR_TABLES; i++) {
		s->finalize(s->insert[i].stmt);
		s->insert[i].stmt = NULL;
	}
	if (s->close(s->db) != SQLITE_OK)
		return failed(viewer);
	s->db = NULL;
	if (fflush(viewer->out) || fstat(s->fd - 1, &st))
		return -errno;
	ret = lseek(s->fd - 1, 0, SEEK_SET) ? -errno : pfs_copy_file(fileno(viewer->out), s->fd - 1, st.st_size);
	return ret;
}

static int end(struct pfs_viewer *viewer)
{
	int ret = put_run(viewer);

	if (!ret)
		ret = put_threads(viewer);
	if (!ret)
		ret = put_calls(viewer);
	if (!ret)
		ret = put_coverage(viewer);
	return ret ? ret : finish(viewer);
}

static void fini(struct pfs_viewer *viewer)
{
	struct sqlite *s = viewer->state;

	for (int i = 0; i < NR_TABLES; i++) {
		if (s->db)
			s->finalize(s->insert[i].stmt);
		free(s->insert[i].cells);
	}
	if (s->db)
		s->close(s->db);
	pfs_close(s->fd - 1);
	PFS_HASH_FREE(s->keys);
}

const struct viewer_format viewer_sqlite = {
	.size = sizeof(struct sqlite),
	.binary = true,
	.begin = begin,
	.fault = put_fault,
	.page = put_page,
	.region = put_region,
	.lost = put_lost,
	.end = end,
	.fini = fini,
};
