/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The random layout workload: everything that changes an address space, in an order that SEED
 * decides, and checkpoints (checkpoint.h) at random moments to hold a reconstructed layout against.
 *
 *     layout 17 /tmp/x/run              150 steps; checkpoints in /tmp/x/run.PID.N.maps
 *     layout --verbose 17 400 /tmp/x/run
 *     layout --pages 17 /tmp/x/run      also touches of all kinds; the state of all pages in run.PID.N.pages
 *
 * The operations on memory are in layout_ops.h and layout_touches.h; here are the heap and the stack, threads (by turns
 * and at the same time), forks, vforks and execs, and the main loop. A checkpoint is taken only
 * while nothing else runs in the address space. Files are made in PREFIX.files; shared memory
 * segments are marked for removal at once. The operations depend on SEED alone, their addresses do
 * not.
 */
#include "layout_touches.h"

#include <pthread.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#define STEPS		  150
#define MAX_CHECKPOINTS	  32 /* an image */
#define CHILD_CHECKPOINTS 6
#define NR_ACTORS	  4 /* the process's own, and threads at the same time */
#define MAX_CHILDREN	  6
#define STACK_PAGES	  900 /* of 2048 that Linux allows by default */

static const char usage[] = "layout [--verbose] [--anon-names] [--pages] SEED [STEPS] PREFIX";

/* Everything that one process is made of, in one place that is touched at the start. */
struct process {
	struct layout layout;
	struct actor actors[NR_ACTORS];
	pid_t children[MAX_CHILDREN];
	unsigned int nr_children, nr_forked;
};

typedef void (*op_fn)(struct process *p, struct actor *a);

/* Whole pages up to the break: malloc may go on in the page that it is in. */
static char *heap_round(void)
{
	brk((void *)(((uintptr_t)sbrk(0) + WL_PAGE - 1) & -WL_PAGE));
	return sbrk(0);
}

/* The heap above what malloc has of it. malloc may have taken more in the meantime. */
static void heap_look(struct layout *l)
{
	char *now = sbrk(0);

	if (now != l->heap_end || !l->heap_base)
		l->heap_base = now;
	l->heap_end = now;
}

static void op_brk(struct process *p, struct actor *a)
{
	struct layout *l = &p->layout;
	unsigned int kind = below(a, 8);

	heap_look(l);
	if (kind < 3)
		sbrk((1 + below(a, 40)) * WL_PAGE);
	else if (kind == 3)
		sbrk(1 + below(a, 20000));
	else if (kind < 6)
		brk(l->heap_base + rnd(a) % (l->heap_end - l->heap_base + 1));
	else if (kind == 6)
		brk(l->heap_base);
	else
		brk(l->heap_end + ((size_t)1 << 46));
	l->heap_end = l->heap_mixed ? heap_round() : sbrk(0);
	if (l->heap_end - l->heap_base > (long)WL_PAGE)
		touch_one(l->heap_end - 1, 1);
}

/* Splits, holes and strangers in the heap, which brk then goes down across. */
static void op_heap(struct process *p, struct actor *a)
{
	struct layout *l = &p->layout;
	unsigned int kind = below(a, 6);
	struct span s;

	heap_look(l);
	l->heap_mixed = true;
	l->heap_end = heap_round();
	s.start = (char *)(((uintptr_t)l->heap_base + WL_PAGE - 1) & -WL_PAGE);
	if (l->heap_end < s.start + WL_PAGE)
		return;
	s.pages = (l->heap_end - s.start) / WL_PAGE;
	s = part_of(a, s);
	if (kind < 2)
		mprotect(s.start, bytes(s), random_prot(a));
	else if (kind == 2)
		munmap(s.start, bytes(s));
	else if (kind == 3)
		madvise(s.start, bytes(s), MADV_DONTDUMP);
	else if (kind == 4)
		mmap(s.start, bytes(s), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	else
		mlock(s.start, bytes(s));
	touch_span(a, s, false);
}

static __attribute__((noinline)) void descend(unsigned int pages)
{
	volatile char frame[4096];

	frame[0] = 1;
	if (pages)
		descend(pages - 1);
	asm volatile("" : : "r"(frame) : "memory");
}

static void op_stack(struct process *p, struct actor *a)
{
	(void)p;
	descend(below(a, STACK_PAGES));
}

/* Start of the region of that name, its length in *len; NULL if there is none. */
static char *find_region(struct layout *l, const char *name, size_t *len)
{
	unsigned long start = 0, end = 0;
	uint64_t t0, t1;
	ssize_t n = checkpoint_read(l->cps.text, sizeof(l->cps.text) - 1, &t0, &t1);
	char *at;

	l->cps.text[n < 0 ? 0 : n] = '\0';
	at = strstr(l->cps.text, name);
	while (at && at > l->cps.text && at[-1] != '\n')
		at--;
	if (!at || sscanf(at, "%lx-%lx ", &start, &end) != 2)
		return NULL;
	*len = end - start;
	return (char *)start;
}

/* The [vdso] can be moved once nobody calls it any more: time is asked by system call here. */
static void op_move_vdso(struct process *p, struct actor *a)
{
	size_t len = 0;
	char *vdso;

	if (p->layout.vdso_moved)
		return;
	p->layout.vdso_moved = true;
	vdso = find_region(&p->layout, "[vdso]", &len);
	if (vdso)
		mremap(vdso, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, a->arena);
}

static void steps(struct process *p, struct actor *a, long nr);

/* By turns: several threads, one of which does a step while the others wait. */
struct turns {
	struct process *process;
	pthread_mutex_t lock;
	pthread_barrier_t end; /* a thread that ends discards its stack, while another one may be at a checkpoint */
	unsigned int nr_steps;
};

static void *run_turns(void *arg)
{
	struct turns *t = arg;

	for (unsigned int i = 0; i < t->nr_steps; i++) {
		pthread_mutex_lock(&t->lock);
		steps(t->process, &t->process->actors[0], 1);
		pthread_mutex_unlock(&t->lock);
	}
	pthread_barrier_wait(&t->end);
	return NULL;
}

static void op_turns(struct process *p, struct actor *a)
{
	struct turns turns = { .process = p, .lock = PTHREAD_MUTEX_INITIALIZER, .nr_steps = 1 + below(a, 4) };
	pthread_t threads[3];
	unsigned int nr = 1 + below(a, 3);

	pthread_barrier_init(&turns.end, NULL, nr);
	pthread_mutex_lock(&turns.lock);
	for (unsigned int i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, run_turns, &turns))
			wl_die("pthread_create");
	pthread_mutex_unlock(&turns.lock);
	for (unsigned int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&turns.end);
}

/* At the same time: each thread is an actor of its own. */
struct crowd {
	struct process *process;
	struct actor *actor;
	pthread_barrier_t *gate;
	pthread_t thread;
};

static void *run_crowd(void *arg)
{
	struct crowd *c = arg;
	unsigned int nr = 2 + below(c->actor, 8);

	pthread_barrier_wait(c->gate);
	steps(c->process, c->actor, nr);
	return NULL;
}

static void op_crowd(struct process *p, struct actor *a)
{
	struct crowd crowd[NR_ACTORS];
	unsigned int nr = 2 + below(a, NR_ACTORS - 1);
	pthread_barrier_t gate;

	pthread_barrier_init(&gate, NULL, nr);
	for (unsigned int i = 0; i < nr; i++)
		p->actors[i].alone = false;
	for (unsigned int i = 0; i < nr; i++) {
		crowd[i] = (struct crowd){ p, &p->actors[i], &gate, 0 };
		if (i && pthread_create(&crowd[i].thread, NULL, run_crowd, &crowd[i]))
			wl_die("pthread_create");
	}
	run_crowd(&crowd[0]);
	for (unsigned int i = 1; i < nr; i++)
		pthread_join(crowd[i].thread, NULL);
	pthread_barrier_destroy(&gate);
	p->actors[0].alone = true;
	if (p->layout.cps.nr < p->layout.max_checkpoints)
		checkpoint(&p->layout.cps);
}

static void reap(struct process *p)
{
	int status;

	while (p->nr_children) {
		pid_t pid = p->children[--p->nr_children];

		if (waitpid(pid, &status, 0) != pid || status)
			wl_die("child %d ended with status %#x", pid, status);
	}
}

/* What a child knows less than its parent: the threads, and the regions marked MADV_DONTFORK. */
static void become_child(struct process *p, struct actor *a)
{
	struct layout *l = &p->layout;

	if (a != &p->actors[0])
		p->actors[0] = *a;
	a = &p->actors[0];
	a->alone = true;
	a->rng ^= 0x5851f42d4c957f2dul * (p->nr_forked + 1);
	for (unsigned int i = a->nr_areas; i-- > 0;)
		if (a->areas[i].dontfork)
			area_forget(a, i);
	p->nr_children = p->nr_forked = 0;
	l->level++;
	l->cps.nr = 0;
	l->max_checkpoints = CHILD_CHECKPOINTS;
}

static void finish(struct process *p);

/* A child that goes its own way, at the same time as its parent half of the time. */
static void op_fork(struct process *p, struct actor *a)
{
	pid_t pid;

	if (p->layout.level > 1 || p->nr_forked == MAX_CHILDREN)
		return;
	p->nr_forked++;
	pid = fork();
	if (pid < 0)
		wl_die("fork");
	if (!pid) {
		become_child(p, a);
		checkpoint(&p->layout.cps);
		steps(p, &p->actors[0], p->layout.steps / 6);
		finish(p);
	}
	p->children[p->nr_children++] = pid;
	if (chance(a, 50))
		reap(p);
}

/* A fork in the midst of others' changes: the child only says what it got. */
static void op_fork_amid(struct process *p, struct actor *a)
{
	int status;
	pid_t pid;

	if (a->alone || p->layout.level > 1)
		return;
	pid = fork();
	if (!pid) {
		become_child(p, a);
		checkpoint(&p->layout.cps);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		wl_die("fork amid threads");
}

static void op_spawn(struct process *p, struct actor *a)
{
	char *argv[] = { "layout", "--nothing", NULL };
	int status;
	pid_t pid;

	(void)a;
	if (posix_spawn(&pid, p->layout.self, NULL, NULL, argv, NULL) || waitpid(pid, &status, 0) != pid || status)
		wl_die("posix_spawn");
}

/* A vfork child maps something and ends: the mapping is its parent's. */
static __attribute__((noinline)) void op_vfork(struct process *p, struct actor *a)
{
	static char *mapped;
	size_t len = (1 + below(a, 10)) * WL_PAGE;
	int exec = chance(a, 40), status;
	pid_t pid;

	if (!a->alone)
		return;
	mapped = NULL;
	pid = vfork();
	if (!pid) {
		mapped = mmap(NULL, len, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		p->layout.cps.shared = 1;
		checkpoint(&p->layout.cps);
		p->layout.cps.shared = 0;
		if (exec)
			execl(p->layout.self, "layout", "--nothing", NULL);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		wl_die("vfork");
	if (mapped && mapped != MAP_FAILED)
		area_add(a, (struct area){ .span = { mapped, len / WL_PAGE } });
}

/* A child that touches its copies while the parent touches its own. */
static void op_fork_touch(struct process *p, struct actor *a)
{
	int status;
	pid_t pid;

	if (p->layout.level > 1)
		return;
	pid = fork();
	if (!pid) {
		become_child(p, a);
		for (int i = 0; i < 6; i++)
			op_touch_many(&p->actors[0]);
		checkpoint(&p->layout.cps);
		_exit(0);
	}
	for (int i = 0; i < 3; i++)
		op_touch_many(a);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		wl_die("fork to touch");
}

/* A child that touches its parent's pages. */
static void op_remote_touch(struct process *p, struct actor *a)
{
	int i, status;
	struct span s = target(a, &i);
	pid_t parent = syscall(SYS_getpid), pid;

	(void)p;
	if (!may_touch_remotely(a))
		return;
	pid = fork();
	if (!pid) {
		for (unsigned int n = 1 + below(a, 5); n; n--) {
			char *page = s.start + below(a, s.pages) * WL_PAGE;

			if (chance(a, 30))
				memory_read(parent, page);
			else
				memory_write(parent, page, chance(a, 40));
		}
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		wl_die("fork to touch the parent");
}

/* Operations on memory alone take no process. */
/* clang-format off */
#define MEMORY_OPS(X)									\
	X(op_touch, 12) X(op_map_anon, 14) X(op_map_file, 12) X(op_map_beside, 5)	\
	X(op_unmap, 12) X(op_protect, 14) X(op_remap, 8) X(op_remap_fixed, 8)		\
	X(op_remap_copy, 2) X(op_remap_file_pages, 3) X(op_advise, 10) X(op_lock, 5)	\
	X(op_policy, 2) X(op_seal, 1) X(op_shm_attach, 4) X(op_shm_detach, 3)		\
	X(op_grow_down, 4) X(op_odd_memory, 2) X(op_userfaultfd, 1) X(op_reserve, 2)	\
	X(op_malloc, 4) X(op_personality, 1) X(op_anon_name, 1)

/* Only with --pages, so that without it a seed does what it always did. */
#define PAGE_OPS(X)									\
	X(op_kernel_touch, 25) X(op_touch_many, 20) X(op_sweep, 12) X(op_present, 25)	\
	X(op_remove, 4) X(op_file_changes, 4) X(op_huge, 2) X(op_userfaultfd_fill, 2)
/* clang-format on */

#define WRAP(name, weight)                                        \
	static void do_##name(struct process *p, struct actor *a) \
	{                                                         \
		(void)p;                                          \
		name(a);                                          \
	}
MEMORY_OPS(WRAP)
PAGE_OPS(WRAP)
WRAP(op_whole_process, 0)

/* clang-format off */
#define ROW(name, weight) { do_##name, weight, 0 },
#define PAGE_ROW(name, weight) { do_##name, weight, PAGES },
/* clang-format on */

/* When an operation may come. */
enum {
	ALONE = 1, /* not while others run: it reaches beyond what the actor owns */
	FIRST = 2, /* only by the first thread */
	PAGES = 4, /* only with --pages */
};

struct op {
	op_fn fn;
	unsigned int weight; /* how often, relative to the others */
	unsigned int when;
};

static const struct op ops[] = {
	MEMORY_OPS(ROW) PAGE_OPS(PAGE_ROW){ do_op_whole_process, 2, ALONE },
	{ op_fork_touch, 2, ALONE | PAGES },
	{ op_remote_touch, 3, ALONE | PAGES },
	{ op_brk, 8, ALONE },
	{ op_heap, 4, ALONE },
	{ op_stack, 2, ALONE | FIRST },
	{ op_move_vdso, 1, ALONE },
	{ op_turns, 2, ALONE | FIRST },
	{ op_crowd, 2, ALONE | FIRST },
	{ op_fork, 2, ALONE | FIRST },
	{ op_fork_amid, 2, 0 },
	{ op_spawn, 1, ALONE },
	{ op_vfork, 2, ALONE },
};

#define NR_OPS (sizeof(ops) / sizeof(*ops))

static unsigned int weight(const struct actor *a, const struct op *op)
{
	return op->when & PAGES && !a->layout->pages ? 0 : op->weight;
}

static const struct op *random_op(struct actor *a)
{
	unsigned int total = 0, n, i;

	for (i = 0; i < NR_OPS; i++)
		total += weight(a, &ops[i]);
	n = below(a, total);
	for (i = 0; n >= weight(a, &ops[i]); i++)
		n -= weight(a, &ops[i]);
	return &ops[i];
}

static void steps(struct process *p, struct actor *a, long nr)
{
	while (nr-- > 0) {
		const struct op *op = random_op(a);
		bool first = syscall(SYS_gettid) == syscall(SYS_getpid);

		if ((!(op->when & ALONE) || a->alone) && (!(op->when & FIRST) || first))
			op->fn(p, a);
		if (a->alone && p->layout.cps.nr < p->layout.max_checkpoints && chance(a, 25))
			checkpoint(&p->layout.cps);
	}
}

/* A file of `pages` pages of RET; it is made if it is not there yet. */
static int open_file(const char *dir, const char *name, size_t pages, bool removed)
{
	char path[4096];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0755);
	if (fd < 0 || fstat(fd, &st))
		wl_die("cannot open %s", path);
	if (!st.st_size)
		wl_fill(fd, pages, RET, 64);
	if (removed)
		unlink(path);
	return fd;
}

static void open_files(struct layout *l)
{
	char dir[4096], path[4096 + 8];
	int *fd = l->fds;

	snprintf(dir, sizeof(dir), "%s.files", l->cps.prefix);
	if (mkdir(dir, 0755) && errno != EEXIST)
		wl_die("cannot make %s", dir);
	*fd++ = open("/dev/zero", O_RDWR | O_CLOEXEC);
	*fd++ = open_file(dir, "plain", 16, false);
	*fd++ = open_file(dir, "two words", 40, false);
	*fd++ = open_file(dir, "\303\274n\303\257c\303\266d\303\251 \342\230\203", 3, false);
	*fd++ = open_file(dir, "new\nline", 8, false);
	*fd++ = open_file(dir, "tab\tand \\ [heap]", 1, false);
	*fd++ = open_file(dir, "still there (deleted)", 12, false);
	snprintf(path, sizeof(path), "removed.%d", getpid());
	*fd++ = open_file(dir, path, 12, true);
	snprintf(path, sizeof(path), "%s/plain", dir);
	*fd++ = open(path, O_RDONLY | O_CLOEXEC);
	*fd = memfd_create("memory file", MFD_CLOEXEC);
	wl_fill(*fd, 12, RET, 1);
}

/* Before malloc has taken any: the whole heap comes and goes. */
static void play_with_heap(struct layout *l, struct actor *a)
{
	char *base = sbrk(0);

	for (unsigned int n = below(a, 4); n; n--) {
		brk(base + below(a, 30 * WL_PAGE));
		if (chance(a, 50))
			checkpoint(&l->cps);
	}
	brk(base);
}

static void catch_faults(void)
{
	struct sigaction sa = { .sa_handler = on_fault };

	if (sigaction(SIGSEGV, &sa, NULL) || sigaction(SIGBUS, &sa, NULL))
		wl_die("sigaction");
}

static void process_init(struct process *p)
{
	struct layout *l = &p->layout;

	catch_faults();
	for (unsigned int i = 0; i < NR_ACTORS; i++) {
		struct actor *a = &p->actors[i];

		a->layout = l;
		a->arena = (char *)(ARENA_BASE + i * ARENA_STRIDE);
		a->rng = l->seed * 1000003 + l->depth * 101 + l->level * 11 + i;
	}
	p->actors[0].alone = true;
	if (chance(&p->actors[0], 50))
		play_with_heap(l, &p->actors[0]);
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	free(malloc(1));
	open_files(l);
}

/* The next image: the same program, which knows by --continue where it stands. */
static void *exec_next(void *arg)
{
	struct process *p = arg;
	struct layout *l = &p->layout;
	char where[64], seed[32], nr_steps[32];
	char *argv[9] = { "layout", "--continue", where, seed, nr_steps, (char *)l->cps.prefix };
	unsigned int nr = 6;

	if (l->verbose)
		argv[nr++] = "--verbose";
	if (l->pages)
		argv[nr++] = "--pages";
	snprintf(where, sizeof(where), "%u:%u:%u", l->depth + 1, l->level, l->cps.nr);
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)l->seed);
	snprintf(nr_steps, sizeof(nr_steps), "%ld", l->steps);
	execv(l->self, argv);
	wl_die("exec %s", l->self);
	return NULL;
}

/* The end of this image: another one after it, by the first thread or by another one, or none. */
static void finish(struct process *p)
{
	struct actor *a = &p->actors[0];
	pthread_t thread;

	reap(p);
	checkpoint(&p->layout.cps);
	if (p->layout.depth > 1 || chance(a, p->layout.level ? 70 : 40))
		_exit(0);
	personality(chance(a, 15) ? ADDR_NO_RANDOMIZE : chance(a, 15) ? ADDR_COMPAT_LAYOUT : 0);
	if (chance(a, 30) && !pthread_create(&thread, NULL, exec_next, p))
		pthread_join(thread, NULL);
	exec_next(p);
}

/* "DEPTH:LEVEL:NR" of --continue. */
static void parse_where(struct layout *l, const char *text)
{
	if (sscanf(text, "%u:%u:%u", &l->depth, &l->level, &l->cps.nr) != 3)
		wl_usage(usage);
}

static void parse(struct layout *l, int argc, char **argv)
{
	const char *words[3] = { NULL };
	unsigned int nr = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--verbose"))
			l->verbose = true;
		else if (!strcmp(argv[i], "--anon-names"))
			l->anon_names = true;
		else if (!strcmp(argv[i], "--pages"))
			l->pages = true;
		else if (!strcmp(argv[i], "--continue") && i + 1 < argc)
			parse_where(l, argv[++i]);
		else if (argv[i][0] == '-' || nr == 3)
			wl_usage(usage);
		else
			words[nr++] = argv[i];
	}
	if (nr < 2)
		wl_usage(usage);
	l->seed = wl_number(words[0], INT64_MAX);
	l->steps = nr == 3 ? wl_number(words[1], 1000000) : STEPS;
	l->cps.prefix = words[nr - 1];
}

/* From now on; what that takes is touched here. */
static void save_pages(struct layout *l)
{
	checkpoints_with_pages(&l->cps);
	l->scratch = memfd_create("scratch", MFD_CLOEXEC);
}

int main(int argc, char **argv)
{
	static struct process process;
	static char self[4096];
	struct layout *l = &process.layout;
	unsigned int nr;

	if (argc == 2 && !strcmp(argv[1], "--nothing"))
		return 0;
	parse(l, argc, argv);
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		wl_die("/proc/self/exe");
	l->self = self;
	nr = l->cps.nr;
	checkpoints_init(&l->cps, l->cps.prefix, nr);
	l->cps.verbose = l->verbose;
	if (l->pages)
		save_pages(l);
	l->max_checkpoints = nr + (l->level ? CHILD_CHECKPOINTS : MAX_CHECKPOINTS);
	process_init(&process);
	checkpoint(&l->cps);
	steps(&process, &process.actors[0], l->level ? l->steps / 6 : l->steps);
	finish(&process);
}
