/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See jit.h. A child has its parent's code, and so its files, until it execs.
 */
#include "jit/jit.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/perms.h"
#include "base/write_all.h"
#include "os/smaps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FILES = 1 << 12, MAX_USES = 64 };

enum state { UNREAD, READ, NO_FILE, OTHER_FILE, NO_DUMP };

struct file {
	struct file_key {
		uint64_t dev, ino;
	} key;
	UT_hash_handle hh;
	char *path;
	enum state state;
	off_t size; /* when it was read */
	bool elsewhere;
	struct pfs_jit_content content; /* as recorded */
	struct pfs_jit_dump dump;
};

/* By a process, up to its exec. */
struct use {
	struct file *file;
	uint64_t until_ns;
};

struct process {
	int32_t key;
	UT_hash_handle hh;
	struct use uses[MAX_USES];
	unsigned int nr_uses;
};

struct pfs_jit {
	struct file *files;
	struct process *processes;
	struct pfs_intern *strings;
	pfs_jit_elsewhere_fn *elsewhere;
	void *ctx;
	bool other_clock; /* the recording's */
	uint64_t last_ns;
};

struct pfs_jit *pfs_jit_new(void)
{
	return calloc(1, sizeof(struct pfs_jit));
}

void pfs_jit_free(struct pfs_jit *jit)
{
	if (!jit)
		return;
	for (struct file *file = jit->files; file; file = file->hh.next) {
		pfs_jit_dump_fini(&file->dump);
		free(file->path);
	}
	PFS_HASH_FREE(jit->files);
	PFS_HASH_FREE(jit->processes);
	pfs_intern_free(jit->strings);
	free(jit);
}

/* ---- events ---- */

void pfs_jit_set_elsewhere(struct pfs_jit *jit, pfs_jit_elsewhere_fn *open, void *ctx)
{
	jit->elsewhere = open;
	jit->ctx = ctx;
}

bool pfs_is_jitdump(const char *path)
{
	const char *base = strrchr(path, '/');
	uint64_t pid;

	if (!base || path[0] != '/' || strncmp(base, "/jit-", 5))
		return false;
	base += 5;
	return pfs_take_dec(&base, INT32_MAX, &pid) && !strcmp(base, ".dump");
}

static void end_uses(struct process *process, uint64_t ts_ns)
{
	for (unsigned int i = 0; i < process->nr_uses; i++)
		if (process->uses[i].until_ns == UINT64_MAX)
			process->uses[i].until_ns = ts_ns;
}

/* Of too many the last ones are not read. */
static void add_use(struct process *process, struct file *file)
{
	struct use *last = process->nr_uses ? &process->uses[process->nr_uses - 1] : NULL;

	if (process->nr_uses < MAX_USES && !(last && last->file == file && last->until_ns == UINT64_MAX))
		process->uses[process->nr_uses++] = (struct use){ file, UINT64_MAX };
}

static int on_map(struct pfs_jit *jit, const struct pfs_event *ev, int32_t pid)
{
	const uint64_t needed = PFS_HAS(PFS_F_DEV) | PFS_HAS(PFS_F_INO) | PFS_HAS(PFS_F_NAME) | PFS_HAS(PFS_F_PERMS);
	struct file_key key = { ev->dev, ev->ino };
	struct process *process;
	struct file *file;

	if ((ev->have & needed) != needed || (pfs_has(ev, PFS_F_SPACE) && ev->space) || !(ev->perms & PFS_PERM_X) ||
	    !pfs_is_file(ev->dev, ev->ino) || !pfs_is_jitdump(ev->name) || HASH_COUNT(jit->files) >= MAX_FILES)
		return 0;
	file = PFS_HASH_GET(jit->files, key, key);
	process = file ? PFS_HASH_GET(jit->processes, key, pid) : NULL;
	if (file && !file->path)
		file->path = strdup(ev->name);
	if (!process || !file->path)
		return -ENOMEM;
	add_use(process, file);
	return 0;
}

static struct process *process_of(const struct pfs_jit *jit, int32_t pid)
{
	struct process *process;

	HASH_FIND(hh, jit->processes, &pid, sizeof(pid), process);
	return process;
}

static int on_fork(struct pfs_jit *jit, const struct pfs_event *ev, int32_t pid)
{
	struct process *parent = process_of(jit, pid), *child = process_of(jit, ev->child);

	if (!pfs_has(ev, PFS_F_CHILD) || ev->child == pid)
		return 0;
	if (child)
		end_uses(child, ev->ts_ns);
	if (!parent)
		return 0;
	child = PFS_HASH_GET(jit->processes, key, ev->child);
	if (!child)
		return -ENOMEM;
	for (unsigned int i = 0; i < parent->nr_uses; i++)
		if (parent->uses[i].until_ns == UINT64_MAX)
			add_use(child, parent->uses[i].file);
	return 0;
}

bool pfs_jit_file_read(struct pfs_jit_file *file, const char *key, const char *value)
{
	struct pfs_fact fact;

	if (strcmp(key, pfs_note_key(PFS_NOTE_JIT_FILE)) || !pfs_note_read(&fact, key, value))
		return false;
	*file = (struct pfs_jit_file){ .pid = fact.pid, .ino = fact.count };
	return pfs_jit_content_set(&file->content, fact.end, fact.text) &&
	       (fact.what ? !file->pid && pfs_note_device(fact.what, &file->dev) : file->pid > 0);
}

int pfs_jit_file_note(const struct pfs_jit_file *file, pfs_note_fn *put, void *ctx)
{
	struct pfs_fact fact = { .key = PFS_NOTE_JIT_FILE, .end = file->content.size, .text = file->content.id };
	char device[PFS_NOTE_DEVICE_SIZE];

	pfs_note_put_device(device, file->dev);
	fact.pid = file->pid;
	fact.what = file->pid ? NULL : device;
	fact.count = file->pid ? 0 : file->ino;
	return put(ctx, 0, &fact);
}

/* 0 or -ENOMEM. */
static int on_note(struct pfs_jit *jit, const struct pfs_event *ev)
{
	struct pfs_jit_file noted;
	struct file *file;

	if (!strcmp(ev->key, pfs_note_key(PFS_NOTE_CLOCK)))
		jit->other_clock = strcmp(ev->value, "mono") != 0;
	if (!pfs_jit_file_read(&noted, ev->key, ev->value) || noted.pid || HASH_COUNT(jit->files) >= MAX_FILES)
		return 0;
	file = PFS_HASH_GET(jit->files, key, ((struct file_key){ noted.dev, noted.ino }));
	if (!file)
		return -ENOMEM;
	file->content = noted.content;
	return 0;
}

int pfs_jit_event(struct pfs_jit *jit, const struct pfs_event *ev, int32_t pid)
{
	struct process *process;

	if (ev->ts_ns > jit->last_ns)
		jit->last_ns = ev->ts_ns;
	switch (ev->kind) {
	case PFS_NOTE:
		return on_note(jit, ev);
	case PFS_MAP:
		return pid > 0 ? on_map(jit, ev, pid) : 0;
	case PFS_FORK:
		return pid > 0 ? on_fork(jit, ev, pid) : 0;
	case PFS_EXEC:
		process = process_of(jit, pid);
		if (process)
			end_uses(process, ev->ts_ns);
		return 0;
	default:
		return 0;
	}
}

/* ---- files ---- */

static int open_file(struct file *file, struct stat *st)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	file->state = NO_FILE;
	if (fd < 0)
		return -1;
	file->state = OTHER_FILE;
	if (!fstat(fd, st) && S_ISREG(st->st_mode) && pfs_is_mapped_file(fd, st, file->key.dev, file->key.ino))
		return fd;
	close(fd);
	return -1;
}

static int open_elsewhere(const struct pfs_jit *jit, struct file *file, struct stat *st)
{
	int fd = jit->elsewhere && file->content.size ? jit->elsewhere(jit->ctx, file->content.id) : -1;

	file->elsewhere =
		fd >= 0 && !fstat(fd, st) && pfs_jit_content_is(&file->content, fd) && !lseek(fd, 0, SEEK_SET);
	if (file->elsewhere)
		return fd;
	pfs_close(fd);
	return -1;
}

static int read_file(struct pfs_jit *jit, struct file *file)
{
	struct stat st;
	int fd, ret;

	if (file->state != UNREAD)
		return 0;
	fd = open_file(file, &st);
	if (fd < 0)
		fd = open_elsewhere(jit, file, &st);
	if (fd < 0)
		return 0;
	file->size = st.st_size;
	ret = pfs_jit_dump_read(&file->dump, fd, &jit->strings);
	file->state = ret > 0 ? NO_DUMP : READ;
	return ret < 0 ? ret : 0;
}

void pfs_jit_refresh(struct pfs_jit *jit)
{
	struct stat st;

	for (struct file *file = jit->files; file; file = file->hh.next)
		if (file->state == READ && !file->elsewhere && !stat(file->path, &st) && st.st_size != file->size) {
			pfs_jit_dump_fini(&file->dump);
			file->state = UNREAD;
		}
}

/* The number of the file that the process used then; -1: none. */
static int use_at(const struct process *process, uint64_t ts_ns)
{
	for (unsigned int i = 0; process && i < process->nr_uses; i++)
		if (ts_ns < process->uses[i].until_ns)
			return i;
	return -1;
}

int pfs_jit_epoch(struct pfs_jit *jit, int32_t pid, uint64_t ts_ns, uint64_t *epoch)
{
	struct process *process = jit->processes ? process_of(jit, pid) : NULL;
	int at = use_at(process, ts_ns), err;
	struct file *file = at < 0 ? NULL : process->uses[at].file;

	*epoch = 0;
	if (ts_ns > jit->last_ns)
		jit->last_ns = ts_ns;
	if (!file)
		return 0;
	err = read_file(jit, file);
	*epoch = (uint64_t)(at + 1) << 32;
	if (!err && !jit->other_clock)
		*epoch += pfs_jit_dump_epoch(&file->dump, ts_ns);
	return err;
}

int pfs_jit_find(struct pfs_jit *jit, int32_t pid, uint64_t addr, uint64_t ts_ns, struct pfs_jit_place *place)
{
	struct process *process = jit->processes ? process_of(jit, pid) : NULL;
	int at = use_at(process, ts_ns), err;

	*place = (struct pfs_jit_place){ 0 };
	if (at < 0)
		return 0;
	err = read_file(jit, process->uses[at].file);
	if (!err)
		pfs_jit_dump_find(&process->uses[at].file->dump, addr, jit->other_clock ? UINT64_MAX : ts_ns,
				  jit->last_ns, place);
	return err;
}

bool pfs_jit_problem(const struct pfs_jit *jit, unsigned int *at, char *buf, size_t size)
{
	static const char *const texts[] = {
		[NO_FILE] = "no such file here",
		[OTHER_FILE] = "another file now",
		[NO_DUMP] = "no jitdump",
	};
	unsigned int nr = 0;

	for (const struct file *file = jit->files; file; file = file->hh.next) {
		const char *why = file->dump.damaged ? "damaged: only its beginning was read" : NULL;

		if (file->state > READ)
			why = texts[file->state];
		if (!why || nr++ < *at)
			continue;
		snprintf(buf, size, "%s: %s", file->path, why);
		*at = nr;
		return true;
	}
	return false;
}
