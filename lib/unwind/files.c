/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/files.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/write_all.h"
#include "os/helper.h"
#include "os/nobody.h"
#include "os/smaps.h"
#include "unwind/cfi.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <unistd.h>

/* All rules are forgotten when they have that many bytes. */
#define MAX_RULES_BYTES (UINT64_C(64) << 20)

/* A question that takes the helper longer ends it, and an answer that takes longer is not waited for. */
#define MAX_ANSWER_S  2
#define MAX_WAIT_MS   10000
#define HELPER_MEMORY (UINT64_C(1) << 30)

/* With a descriptor: the file has that number from now on. */
struct request {
	uint64_t nr;
	uint64_t off;
	uint32_t file;
};

/* nr 0: the helper is a new one, which knows no file. */
struct answer {
	uint64_t nr;
	struct pfs_rules rules;
	struct pfs_rule_op ops[PFS_MAX_RULE_OPS]; /* of the rules */
};

/* ---- the helper ---- */

struct opened {
	struct pfs_cfi **cfi;
	size_t nr, max;
};

/* Without privileges, and without endless time and memory. */
static bool confine(void)
{
	static const int ends[] = { SIGPROF, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		signal(ends[i], SIG_DFL);
#ifndef __SANITIZE_ADDRESS__ /* its shadow is larger */
	setrlimit(RLIMIT_DATA, &(const struct rlimit){ HELPER_MEMORY, HELPER_MEMORY });
#endif
	return pfs_become_nobody() && !prctl(PR_SET_DUMPABLE, 0);
}

static ssize_t receive(struct request *request, int *fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { request, sizeof(*request) };
	struct msghdr message = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	ssize_t got = recvmsg(PFS_HELPER_FD, &message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	*fd = -1;
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return got;
}

static struct pfs_cfi *cfi_of(struct opened *opened, const struct request *request, int fd)
{
	if (fd < 0)
		return request->file < opened->nr ? opened->cfi[request->file] : NULL;
	if (!pfs_array_extend(opened->cfi, opened->max, request->file + 1)) {
		close(fd);
		return NULL;
	}
	if (request->file >= opened->nr)
		opened->nr = request->file + 1;
	pfs_cfi_close(opened->cfi[request->file]);
	return opened->cfi[request->file] = pfs_cfi_open(fd);
}

static void run_helper(void *ctx, bool again)
{
	const struct itimerval limit = { .it_value = { MAX_ANSWER_S, 0 } }, none = { 0 };
	struct answer answer = { 0 };
	struct opened opened = { 0 };
	struct request request;
	struct pfs_err err;
	int fd;

	if (!confine() || pfs_cfi_load(&err))
		return;
	if (again && send(PFS_HELPER_FD, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
		return;
	while (receive(&request, &fd) == sizeof(request)) {
		struct pfs_cfi *cfi;

		setitimer(ITIMER_PROF, &limit, NULL);
		cfi = cfi_of(&opened, &request, fd);
		pfs_cfi_rules(cfi, request.off, &answer.rules);
		setitimer(ITIMER_PROF, &none, NULL);
		answer.nr = request.nr;
		if (send(PFS_HELPER_FD, &answer, offsetof(struct answer, ops[answer.rules.nr_ops]), MSG_NOSIGNAL) < 0)
			return;
	}
}

/* ---- pfscope's side ---- */

/* What makes a file that file; it is not the same when its content is another. */
struct identity {
	uint64_t dev, ino, size;
	uint64_t modified_ns, changed_ns;
};

struct pfs_unwind_file {
	struct identity key;
	uint32_t nr;
	uint32_t generation;	   /* of the helper that knows it */
	bool bad;		   /* it ended the helper */
	struct pfs_unwind_map map; /* with its own name: to open it again */
	struct pfs_rules **rules;  /* by offset, without overlaps */
	size_t nr_rules, max_rules;
	UT_hash_handle hh;
};

struct pfs_unwind_files {
	int fd; /* of the helper; -1: it does not answer */
	uint32_t generation;
	uint64_t nr_requests;
	uint64_t rules_bytes;
	struct pfs_unwind_file *files;
	struct answer answer;
};

int pfs_unwind_check(struct pfs_err *err)
{
	return pfs_cfi_load(err);
}

struct pfs_unwind_files *pfs_unwind_files_new(struct pfs_err *err)
{
	struct pfs_unwind_files *files = calloc(1, sizeof(*files));
	int fds[] = { -1 };
	const struct pfs_helper helper = { .name = "pfscope-unwind", .fds = fds, .nr_fds = 1, .run = run_helper };
	int ret = files ? pfs_cfi_load(err) : pfs_err_set(err, -ENOMEM, "no memory to unwind stacks");

	if (!ret)
		ret = pfs_helper_connect(&helper, err);
	if (ret < 0) {
		free(files);
		errno = -ret;
		return NULL;
	}
	files->fd = ret;
	files->generation = 1;
	return files;
}

static void forget_rules(struct pfs_unwind_file *file)
{
	for (size_t i = 0; i < file->nr_rules; i++)
		free(file->rules[i]);
	file->nr_rules = 0;
}

void pfs_unwind_files_free(struct pfs_unwind_files *files)
{
	struct pfs_unwind_file *file, *next;

	if (!files)
		return;
	HASH_ITER (hh, files->files, file, next) {
		HASH_DEL(files->files, file);
		forget_rules(file);
		free(file->rules);
		free((char *)file->map.name);
		free(file);
	}
	pfs_close(files->fd);
	free(files);
}

/* ---- opening ---- */

/* A file system may report another device for the file than for its mapping (btrfs): the inode has to do then. */
static bool is_meant(const struct pfs_unwind_map *map, const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_ino == map->ino &&
	       (!major(st->st_dev) || (major(st->st_dev) << 20 | minor(st->st_dev)) == map->dev);
}

/* What the path names is looked at before it is opened: opening other things than files has effects. */
static int open_path(const struct pfs_unwind_map *map, const char *path, struct stat *st)
{
	int place = open(path, O_PATH | O_CLOEXEC), fd = -1;
	char link[32];

	if (place < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	if (!fstat(place, st) && is_meant(map, st))
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	close(place);
	return fd;
}

/* By its name here, by that in the root folder of the process, and, which needs privileges, as what is mapped there. */
static int open_mapped(const struct pfs_unwind_map *map, struct stat *st)
{
	char path[4096];
	int fd = -1, len;

	if (*map->name != '/')
		return -1;
	fd = open_path(map, map->name, st);
	len = snprintf(path, sizeof(path), "/proc/%d/root%s", map->pid, map->name);
	if (fd < 0 && len < (int)sizeof(path))
		fd = open_path(map, path, st);
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", map->pid, (unsigned long long)map->start,
		 (unsigned long long)map->end);
	return fd < 0 ? open_path(map, path, st) : fd;
}

static int open_vdso(struct stat *st)
{
	*st = (struct stat){ 0 };
	return pfs_vdso_open();
}

static int open_file(const struct pfs_unwind_map *map, struct stat *st)
{
	return strcmp(map->name, "[vdso]") ? open_mapped(map, st) : open_vdso(st);
}

static struct identity identity_of(const struct stat *st)
{
	return (struct identity){ st->st_dev, st->st_ino, st->st_size,
				  st->st_mtim.tv_sec * UINT64_C(1000000000) + st->st_mtim.tv_nsec,
				  st->st_ctim.tv_sec * UINT64_C(1000000000) + st->st_ctim.tv_nsec };
}

struct pfs_unwind_file *pfs_unwind_file(struct pfs_unwind_files *files, const struct pfs_unwind_map *map)
{
	struct pfs_unwind_file *file;
	struct identity key;
	struct stat st;
	int fd = open_file(map, &st);

	if (fd < 0)
		return NULL;
	close(fd);
	key = identity_of(&st);
	HASH_FIND(hh, files->files, &key, sizeof(key), file);
	if (file || !(file = calloc(1, sizeof(*file))))
		return file;
	file->key = key;
	file->nr = HASH_COUNT(files->files);
	file->map = *map;
	file->map.name = strdup(map->name);
	if (file->map.name)
		HASH_ADD(hh, files->files, key, sizeof(file->key), file);
	if (file->map.name && !HASH_ADD_FAILED(file))
		return file;
	free((char *)file->map.name);
	free(file);
	return NULL;
}

/* ---- asking ---- */

static bool send_request(int socket, const struct request *request, int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .header = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec iov = { (void *)request, sizeof(*request) };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof(*request);
}

/* Waits for the answer. False: there is none, and there will be no other. */
static bool receive_answer(struct pfs_unwind_files *files)
{
	struct pollfd poll_fd = { files->fd, POLLIN, 0 };
	struct answer *answer = &files->answer;
	ssize_t got = -1;
	int ready;

	while ((ready = poll(&poll_fd, 1, MAX_WAIT_MS)) < 0 && errno == EINTR)
		;
	if (ready > 0)
		got = recv(files->fd, answer, sizeof(*answer), MSG_DONTWAIT);
	return got >= (ssize_t)offsetof(struct answer, ops) && answer->rules.nr_ops <= PFS_MAX_RULE_OPS &&
	       got >= (ssize_t)offsetof(struct answer, ops[answer->rules.nr_ops]);
}

/* Asks once. 1: the answer is there; 0: the helper was ended, another lives; -1: nothing will answer, or the file is gone. */
static int ask(struct pfs_unwind_files *files, struct pfs_unwind_file *file, uint64_t off)
{
	struct request request = { .nr = ++files->nr_requests, .off = off, .file = file->nr };
	struct stat st;
	bool sent;
	int fd = -1;

	if (file->generation != files->generation) {
		struct identity key;

		fd = open_file(&file->map, &st);
		key = fd < 0 ? file->key : identity_of(&st);
		if (fd < 0 || memcmp(&key, &file->key, sizeof(key))) {
			pfs_close(fd);
			return -1;
		}
	}
	sent = send_request(files->fd, &request, fd);
	pfs_close(fd);
	do /* a new helper may answer what was asked of the one before */
		sent = sent && receive_answer(files);
	while (sent && files->answer.nr && files->answer.nr < request.nr);
	if (!sent) {
		close(files->fd);
		files->fd = -1;
		return -1;
	}
	if (!files->answer.nr) {
		files->generation++;
		return 0;
	}
	file->generation = files->generation;
	return files->answer.nr == request.nr ? 1 : -1;
}

/* ---- rules ---- */

/* The first that ends behind the offset. */
static size_t place_of(const struct pfs_unwind_file *file, uint64_t off)
{
	return pfs_lower_bound(file->nr_rules, i, file->rules[i]->end <= off);
}

static struct pfs_rules *keep(struct pfs_unwind_files *files, struct pfs_unwind_file *file, uint64_t off)
{
	const struct pfs_rules *answer = &files->answer.rules;
	size_t bytes = sizeof(*answer) + answer->nr_ops * sizeof(*answer->ops), at;
	struct pfs_rules *rules = malloc(bytes);

	if (!rules)
		return NULL;
	if (files->rules_bytes + bytes > MAX_RULES_BYTES) {
		for (struct pfs_unwind_file *each = files->files; each; each = each->hh.next)
			forget_rules(each);
		files->rules_bytes = 0;
	}
	if (!pfs_array_reserve(file->rules, file->nr_rules, file->max_rules, 1)) {
		free(rules);
		return NULL;
	}
	memcpy(rules, answer, bytes);
	at = place_of(file, off);
	if (rules->start > off || rules->end <= off) {
		rules->start = off;
		rules->end = off + 1;
	}
	/* Those of a damaged file may overlap. */
	if (at && rules->start < file->rules[at - 1]->end)
		rules->start = file->rules[at - 1]->end;
	if (at < file->nr_rules && rules->end > file->rules[at]->start)
		rules->end = file->rules[at]->start;
	memmove(file->rules + at + 1, file->rules + at, (file->nr_rules - at) * sizeof(*file->rules));
	file->rules[at] = rules;
	file->nr_rules++;
	files->rules_bytes += bytes;
	return rules;
}

const struct pfs_rules *pfs_unwind_file_rules(struct pfs_unwind_files *files, struct pfs_unwind_file *file,
					      uint64_t off)
{
	size_t at = place_of(file, off);
	const struct pfs_rules *rules = at < file->nr_rules && file->rules[at]->start <= off ? file->rules[at] : NULL;
	int answer = 0;

	/* One that was ended between two questions is no file's fault. */
	for (int tries = 0; !rules && !answer && tries < 2 && files->fd >= 0 && !file->bad; tries++)
		answer = ask(files, file, off);
	if (!rules && answer > 0)
		rules = keep(files, file, off);
	else if (!rules)
		file->bad = true;
	return rules && rules->nr_ops ? rules : NULL;
}
