/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer of trace.dat: what it is given comes back, through pfscope's reader and libtracecmd's;
 * a disk that is full is an error. That trace-cmd accepts real recordings is tests/live's matter.
 */
#include "dat/dat.h"

#include "base/bytes.h"
#include "base/write_all.h"
#include "record/pfscope_records.h"
#include "record/ringpage.h"
#include "support/dat_oracle.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <cmocka.h>

#define COMMON                                                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FAULT                                                               \
	"name: page_fault_user\nID: 10\nformat:\n" COMMON                   \
	"\tfield:unsigned long address;\toffset:8;\tsize:8;\tsigned:0;\n\n" \
	"print fmt: \"address=%lx\", REC->address\n"
#define EXIT_MMAP                                                                                           \
	"name: exit_mmap\nID: 12\nformat:\n" COMMON "\tfield:void * mm;\toffset:8;\tsize:8;\tsigned:0;\n\n" \
	"print fmt: \"%p\", REC->mm\n"
#define FAULT_KERNEL                                                        \
	"name: page_fault_kernel\nID: 11\nformat:\n" COMMON                 \
	"\tfield:unsigned long address;\toffset:8;\tsize:8;\tsigned:0;\n\n" \
	"print fmt: \"address=%lx\", REC->address\n"
#define HEADER_PAGE                                                 \
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"  \
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n" \
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"  \
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n"

enum { PAGE = 4096, EVENTS = 2000 };

struct recording {
	struct pfs_formats *f;
	struct pfs_records own;
	int spools[3], own_fd;
	struct pfs_dat_content content;
	struct pfs_dat_task tasks[2];
};

static void set_up(struct recording *r)
{
	static const char *const stats[] = { "entries: 1\n", NULL, "entries: 3\n" };
	struct raw_event note = { .kind = RAW_PFS_NOTE, .tid = 9, .ts_ns = 1000, .str = "a=b" };
	struct pfs_ringwrite *w;

	r->f = pfs_formats_new_host();
	pfs_formats_set_header_page(r->f, HEADER_PAGE, strlen(HEADER_PAGE), NULL);
	pfs_formats_set_header_event(r->f, "# compressed entry header\n", 26);
	/* a system comes twice, with another between */
	pfs_formats_add(r->f, "exceptions", FAULT, strlen(FAULT));
	pfs_formats_add(r->f, "mmap", EXIT_MMAP, strlen(EXIT_MMAP));
	pfs_formats_add(r->f, "exceptions", FAULT_KERNEL, strlen(FAULT_KERNEL));
	assert_int_equal(pfs_records_init(&r->own, r->f), 0);
	for (int i = 0; i < 3; i++) {
		r->spools[i] = i == 1 ? -1 : pfs_temp_open(NULL);
		if (i == 1)
			continue;
		w = pfs_ringwrite_new(r->spools[i], &r->f->ring, PAGE);
		for (uint64_t k = 0; k < EVENTS; k++) {
			uint8_t rec[16] = { 0 };

			pfs_store16(rec, 10 + k % 3, false);
			pfs_store32(rec + 4, 40 + i, false);
			pfs_store64(rec + 8, k * PAGE, false);
			pfs_ringwrite_append(w, 1000 + k * 10 + i, rec, sizeof(rec));
		}
		pfs_ringwrite_flush(w);
		pfs_ringwrite_free(w);
	}
	/* what is no whole sub-buffer stays out */
	assert_int_equal(pwrite(r->spools[2], "rest", 4, lseek(r->spools[2], 0, SEEK_END)), 4);
	r->own_fd = pfs_temp_open(NULL);
	w = pfs_ringwrite_new(r->own_fd, &r->f->ring, PAGE);
	assert_int_equal(pfs_records_write(&r->own, w, &note), 0);
	pfs_ringwrite_flush(w);
	pfs_ringwrite_free(w);
	r->tasks[0] = (struct pfs_dat_task){ 40, "forty \n two" };
	r->tasks[1] = (struct pfs_dat_task){ 7, "seven" };
	r->content = (struct pfs_dat_content){
		.formats = r->f,
		.page_size = PAGE,
		.spool_fds = r->spools,
		.nr_cpus = 3,
		.own_fd = r->own_fd,
		.tasks = r->tasks,
		.nr_tasks = 2,
		.clock = "mono",
		.uname = "Linux 6.18 x86_64",
		.version = "pfscope test",
		.cpustats = stats,
	};
}

static void tear_down(struct recording *r)
{
	close(r->spools[0]);
	close(r->spools[2]);
	close(r->own_fd);
	pfs_formats_free(r->f);
}

static void check_file(int fd, size_t expect)
{
	struct ev_list ours = { 0 }, oracle = { 0 };
	struct pfs_err err = { "" };

	if (ev_list_pfs(&ours, fd, PFS_DAT_OTHER, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(ev_list_oracle(&oracle, fcntl(fd, F_DUPFD_CLOEXEC, 0)), 0);
	assert_int_equal(ours.nr, expect);
	assert_int_equal(oracle.nr, expect);
	assert_int_equal(ours.ev[0].kind, RAW_PFS_NOTE);
	assert_string_equal(ours.ev[0].str, "a=b");
	for (size_t i = 0, k = 0; i < expect; i++, k++) {
		struct raw_event *a = &ours.ev[i], *b = &oracle.ev[k];

		/* of equal times libtracecmd has the last processor last, pfscope its own first */
		if (i < 2)
			b = &oracle.ev[1 - i];
		assert_int_equal(a->ts_ns, b->ts_ns);
		assert_int_equal(a->kind, b->kind);
		assert_int_equal(a->cpu, b->cpu);
		assert_int_equal(a->tid, b->tid);
		assert_memory_equal(a->arg, b->arg, sizeof(a->arg));
	}
	ev_list_fini(&ours);
	ev_list_fini(&oracle);
}

/* Is the text, with its NUL if that is asked for, anywhere in the file? */
static bool holds(int fd, const char *text, size_t nul)
{
	size_t len = lseek(fd, 0, SEEK_END);
	void *file = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	bool found = memmem(file, len, text, strlen(text) + nul);

	munmap(file, len);
	return found;
}

static void round_trip(bool compress)
{
	struct pfs_err err = { "" };
	struct recording r;
	struct pfs_dat *dat;
	int fd = pfs_temp_open(NULL);
	char version;

	set_up(&r);
	r.content.compress = compress;
	assert_int_equal(pfs_dat_write(fd, &r.content, &err), 0);
	lseek(fd, 0, SEEK_SET);
	check_file(fd, 2 * EVENTS + 1);
	dat = pfs_dat_open(fd, "x", 0, &err);
	assert_non_null(dat);
	assert_string_equal(pfs_dat_info(dat)->clock, "mono");
	assert_string_equal(pfs_dat_info(dat)->uname, "Linux 6.18 x86_64");
	assert_string_equal(pfs_dat_info(dat)->writer, "pfscope test");
	assert_true(holds(fd, "CPU: 0\nentries: 1\n", 1));
	assert_true(holds(fd, "CPU: 2\nentries: 3\n", 1));
	assert_false(holds(fd, "CPU: 1\n", 0));
	assert_string_equal(pfs_dat_comm(dat, 40), "forty ");
	assert_string_equal(pfs_dat_comm(dat, 7), "seven");
	assert_non_null(pfs_formats_find(pfs_dat_info(dat)->formats, "exceptions", "page_fault_kernel"));
	assert_non_null(pfs_formats_find(pfs_dat_info(dat)->formats, "mmap", "exit_mmap"));
	pfs_dat_close(dat);
	assert_int_equal(pread(fd, &version, 1, PFS_DAT_MAGIC_LEN), 1);
	assert_int_equal(version, compress ? '7' : '6');
	if (compress)
		assert_true(lseek(fd, 0, SEEK_END) * 3 < lseek(r.spools[0], 0, SEEK_END) * 2);
	tear_down(&r);
	close(fd);
}

static void test_round_trip(void **state)
{
	round_trip(false);
}

static void test_compressed(void **state)
{
	round_trip(true);
}

/* Between file systems the kernel may refuse to copy: then it goes by hand. */
static void test_other_file_system(void **state)
{
	struct pfs_err err = { "" };
	struct recording r;

	for (int compress = 0; compress < 2; compress++) {
		int fd = memfd_create("out", MFD_CLOEXEC);

		set_up(&r);
		r.content.clock = "local global [mono] boot";
		r.content.compress = compress;
		assert_int_equal(pfs_dat_write(fd, &r.content, &err), 0);
		lseek(fd, 0, SEEK_SET);
		check_file(fd, 2 * EVENTS + 1);
		tear_down(&r);
		close(fd);
	}
}

/* Nothing recorded at all is a file too. */
static void empty(bool compress)
{
	struct ev_list list = { 0 };
	struct pfs_err err = { "" };
	struct recording r;
	int fd = pfs_temp_open(NULL);

	set_up(&r);
	r.content.compress = compress;
	r.content.nr_cpus = 0;
	r.content.own_fd = -1;
	r.content.nr_tasks = 0;
	r.content.uname = r.content.version = NULL;
	assert_int_equal(pfs_dat_write(fd, &r.content, &err), 0);
	assert_int_equal(ev_list_pfs(&list, fd, 0, &err), 0);
	assert_int_equal(list.nr, 0);
	ev_list_fini(&list);
	tear_down(&r);
	close(fd);
}

static void test_empty(void **state)
{
	empty(false);
	empty(true);
}

/* The same compressed: wherever it breaks off. */
static void test_full_compressed(void **state)
{
	int fd = pfs_temp_open(NULL);
	struct rlimit old, limit;
	struct recording r;
	struct pfs_err err;
	off_t size;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	set_up(&r);
	r.content.compress = true;
	assert_int_equal(pfs_dat_write(fd, &r.content, &err), 0);
	size = lseek(fd, 0, SEEK_END);
	close(fd);
	for (off_t max = 1; max < size; max += max < size - 97 ? 97 : 1) {
		fd = pfs_temp_open(NULL);
		limit = (struct rlimit){ max, old.rlim_max };
		setrlimit(RLIMIT_FSIZE, &limit);
		assert_int_equal(pfs_dat_write(fd, &r.content, &err), -EFBIG);
		setrlimit(RLIMIT_FSIZE, &old);
		close(fd);
	}
	tear_down(&r);
}

/* No room on the disk: in the header, in the data, at its last byte. */
static void test_full(void **state)
{
	static const rlim_t sizes[] = { 10, 3000, 8192, 40000 };
	struct rlimit old, limit;
	struct recording r;
	struct pfs_err err;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	set_up(&r);
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int fd = pfs_temp_open(NULL);

		limit = (struct rlimit){ sizes[i], old.rlim_max };
		setrlimit(RLIMIT_FSIZE, &limit);
		assert_int_equal(pfs_dat_write(fd, &r.content, &err), -EFBIG);
		setrlimit(RLIMIT_FSIZE, &old);
		assert_string_equal(err.msg, "cannot write the recording: File too large");
		close(fd);
	}
	r.spools[0] = -2;
	r.content.own_fd = 1 << 20;
	assert_int_equal(pfs_dat_write(1 << 20, &r.content, &err), -EBADF);
	r.content.own_fd = -1;
	r.content.nr_cpus = 0;
	tear_down(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_other_file_system),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_full_compressed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
