/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What building and loading go by: the scripts in the program, their probe points, the cache and who may
 * write to it, the names of modules, a module as a file.
 */
#include "module/cache.h"
#include "module/check.h"
#include "module/module.h"
#include "support/stap_dir.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <cmocka.h>

/* ---- the scripts ---- */

/* In this order: what a file uses comes before it. NULL ends the files. */
static void check_script(const char *script, const char *const *files)
{
	const char *at = script;
	char path[256];

	assert_int_equal(strncmp(script, "%{\n/* SPDX", 10), 0);
	for (; *files; files++) {
		snprintf(path, sizeof(path), "stap/tapset/%s", *files);
		if (access(path, R_OK)) /* run from elsewhere */
			return;
		at = strstr(at, file_text(path));
		assert_non_null(at);
		at += strlen(file_text(path));
	}
	assert_string_equal(at, "");
}

static void test_scripts(void **state)
{
	check_script(pfs_script,
		     (const char *const[]){ "wire.h", "record.stp", "trace.stp", "target.stp", "page.stp",
					    "hide_pages.stp", "hide.stp", "withhold.stp", "layout.stp", "change.stp",
					    "fault.stp", "life.stp", "session.stp", "pfscope.stp", NULL });
	check_script(pfs_objects_script,
		     (const char *const[]){ "wire.h", "objects.h", "record.stp", "trace.stp", "target.stp", "page.stp",
					    "hide_pages.stp", "hide.stp", "withhold.stp", "layout.stp", "change.stp",
					    "fault.stp", "life.stp", "objects.stp", "session.stp", NULL });
}

/* ---- probe points ---- */

static const char script[] = "probe begin { x() }\n"
			     "\tPFS_TRACEPOINT(maple_tree, ma_write, pfs_on_ma_write, \"ma_write\", 0),\n"
			     "\tPFS_TRACEPOINT(sched, sched_process_fork, pfs_on_fork, \"fork\", PFS_NEEDED),\n"
			     "probe @place(\"handle_mm_fault\") { b() }\n"
			     "probe @place(\"handle_mm_fault\").return.maxactive(4096) { c() }\n"
			     "// probe @place(\"not_this\") { }\n"
			     "probe @place(\"up_write\") { d(\"?\") }\n";

static void test_points(void **state)
{
	struct pfs_point points[PFS_POINTS_MAX];
	char *optional;

	assert_int_equal(pfs_points_of(script, points), 5);
	assert_string_equal(points[0].name, "maple_tree:ma_write");
	assert_true(points[0].tracepoint && !points[0].needed && !points[0].at_return);
	assert_string_equal(points[1].name, "sched:sched_process_fork");
	assert_true(points[1].tracepoint && points[1].needed);
	assert_string_equal(points[2].name, "handle_mm_fault");
	assert_true(!points[2].tracepoint && points[2].needed && !points[2].at_return);
	assert_true(points[3].needed && points[3].at_return);
	assert_true(points[4].needed);
	optional = pfs_script_optional(script);
	assert_non_null(strstr(optional, "probe begin { x() }\n"));
	assert_non_null(
		strstr(optional, "\tPFS_TRACEPOINT(sched, sched_process_fork, pfs_on_fork, \"fork\", PFS_NEEDED),\n"));
	assert_non_null(strstr(optional, "(\"handle_mm_fault\") ? { b() }\n"));
	assert_non_null(strstr(optional, ".maxactive(4096) ? { c() }\n"));
	assert_non_null(strstr(optional, "(\"up_write\") ? { d(\"?\") }\n"));
	free(optional);
}

/* Lines of `stap -p2 -v'. */
static void test_points_found(void **state)
{
	static const char said[] =
		"kernel.function(\"up_write\") in a comment before\n"
		"# probes\n"
		"  # locals\n"
		"kernel.function(\"handle_mm_fault@mm/memory.c:5263\").return.maxactive(4096) /* pc=_stext */\n"
		"kprobe.function(\"up_write_too\") /*  name = up_write_too*/\n";
	struct pfs_point points[PFS_POINTS_MAX];
	unsigned int nr = pfs_points_of(script, points);

	pfs_points_find(points, nr, said);
	assert_int_equal(points[2].state, PFS_POINT_NO);
	assert_int_equal(points[3].state, PFS_POINT_YES);
	assert_int_equal(points[4].state, PFS_POINT_NO);
	pfs_points_find(points, nr,
			"# probes\nkprobe.function(\"handle_mm_fault\") /*  name */\n"
			"kprobe.function(\"up_write\") /* <- kprobe.function(\"up_write\") */\n");
	assert_int_equal(points[2].state, PFS_POINT_YES);
	assert_int_equal(points[4].state, PFS_POINT_YES);
	pfs_points_find(points, nr, "");
	assert_int_equal(points[0].state, PFS_POINT_NO);
}

/* Lines of /proc/kallsyms; without a list nothing is known. */
static void test_points_looked_up(void **state)
{
	static char list[] = "ffffffff81000000 T up_write\n"
			     "ffffffff81000010 T __traceiter_sched_process_fork\n"
			     "ffffffff81000020 D __traceiter_ma_write\n"
			     "ffffffffc0000000 t __traceiter_ma_write\t[module]\n"
			     "ffffffff81000030 t __traceiter_ma_write_too\n";
	struct pfs_point points[PFS_POINTS_MAX];
	unsigned int nr = pfs_points_of(script, points);
	FILE *symbols = fmemopen(list, strlen(list), "r");

	pfs_points_look_up(points, nr, symbols);
	fclose(symbols);
	assert_int_equal(points[0].state, PFS_POINT_NO);
	assert_int_equal(points[1].state, PFS_POINT_YES);
	assert_int_equal(points[4].state, PFS_POINT_NO);
	pfs_points_look_up(points, nr, NULL);
	assert_int_equal(points[0].state, PFS_POINT_UNKNOWN);
	assert_int_equal(points[4].state, PFS_POINT_NO);
}

/* `stap check' has to describe every probe of the script. */
static void test_points_described(void **state)
{
	struct pfs_point points[PFS_POINTS_MAX];
	unsigned int nr = pfs_points_of(pfs_script, points);

	assert_in_range(nr, 10, PFS_POINTS_MAX - 1);
	for (unsigned int i = 0; i < nr; i++)
		if (!points[i].records)
			fail_msg("%s: check.c does not describe what it records", points[i].name);
}

/* ---- the cache ---- */

static void test_cache_place(void **state)
{
	struct pfs_cache cache;
	struct pfs_err err;

	setenv("PFSCOPE_CACHE", "/somewhere/else", 1);
	assert_int_equal(pfs_cache_init(&cache, &err), 0);
	assert_string_equal(cache.dir, "/somewhere/else");
	setenv("PFSCOPE_CACHE", "relative", 1);
	assert_int_equal(pfs_cache_init(&cache, &err), -EINVAL);
	unsetenv("PFSCOPE_CACHE");
	if (geteuid())
		return;
	setenv("XDG_CACHE_HOME", "/home/somebody/.cache", 1); /* root's is not the caller's */
	assert_int_equal(pfs_cache_init(&cache, &err), 0);
	assert_string_equal(cache.dir, "/var/cache/pfscope");
	unsetenv("XDG_CACHE_HOME");
}

/* 0, or why no module is loaded from there. */
static int opened(const char *path, int flags, struct pfs_err *err)
{
	int fd = pfs_cache_open_module(path, flags, err);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void test_cache_trust(void **state)
{
	struct pfs_err err;

	put_file("m.ko", "x");
	chmod(in_dir("m.ko"), 0644);
	assert_int_equal(opened(in_dir("m.ko"), 0, &err), 0);
	assert_int_equal(opened(in_dir("no.ko"), 0, &err), -ENOENT);
	assert_int_equal(symlink("m.ko", in_dir("link.ko")), 0);
	assert_int_equal(opened(in_dir("link.ko"), 0, &err), 0); /* the file that it means is checked */
	assert_int_equal(opened(in_dir("link.ko"), O_NOFOLLOW, &err), -EPERM);
	assert_non_null(strstr(err.msg, "link.ko: a symbolic link"));
	chmod(in_dir("m.ko"), 0664);
	assert_int_equal(opened(in_dir("m.ko"), 0, &err), -EPERM);
	assert_non_null(strstr(err.msg, "others can write to it"));
	assert_int_equal(opened(in_dir("link.ko"), 0, &err), -EPERM);
	chmod(in_dir("m.ko"), 0600);
	chmod(stap_dir, 0777);
	assert_int_equal(opened(in_dir("m.ko"), 0, &err), -EPERM);
	chmod(stap_dir, 01777); /* as /tmp: others cannot replace it */
	assert_int_equal(opened(in_dir("m.ko"), 0, &err), 0);
	chmod(stap_dir, 0700);
	assert_int_equal(opened(stap_dir, 0, &err), -EINVAL);
	assert_int_equal(mkfifo(in_dir("fifo"), 0600), 0);
	assert_int_equal(opened(in_dir("fifo"), 0, &err), -EINVAL); /* and is not waited for */
	if (geteuid())
		return;
	assert_int_equal(chown(in_dir("m.ko"), 12345, 0), 0);
	assert_int_equal(opened(in_dir("m.ko"), 0, &err), -EPERM);
	assert_non_null(strstr(err.msg, "belongs to user 12345"));
	assert_int_equal(chown(in_dir("m.ko"), 0, 0), 0);
	chmod(stap_dir, 01777);
	assert_int_equal(chown(stap_dir, 12345, 0), 0); /* its owner can replace the file in spite of the sticky bit */
	assert_int_equal(opened(in_dir("m.ko"), 0, &err), -EPERM);
	assert_int_equal(chown(stap_dir, 0, 0), 0);
	chmod(stap_dir, 0700);
}

static void test_cache_make(void **state)
{
	struct pfs_cache cache = { .lock_fd = -1 };
	struct pfs_err err;

	snprintf(cache.dir, sizeof(cache.dir), "%s", in_dir("a/b/c"));
	assert_int_equal(pfs_cache_make(&cache, &err), 0);
	assert_int_equal(pfs_cache_make(&cache, &err), 0);
	chmod(cache.dir, 0777);
	assert_int_equal(pfs_cache_make(&cache, &err), -EPERM);
	if (!geteuid()) { /* another user's */
		chmod(cache.dir, 0755);
		assert_int_equal(chown(cache.dir, 12345, 0), 0);
		assert_int_equal(pfs_cache_make(&cache, &err), -EPERM);
		assert_non_null(strstr(err.msg, "belongs to user 12345"));
	}
	snprintf(cache.dir, sizeof(cache.dir), "%s", in_dir("file"));
	put_file("file", "x");
	assert_int_equal(pfs_cache_make(&cache, &err), -ENOTDIR);
	assert_int_equal(symlink("a", in_dir("link")), 0); /* may be anybody's */
	snprintf(cache.dir, sizeof(cache.dir), "%s", in_dir("link"));
	assert_int_equal(pfs_cache_make(&cache, &err), -ENOTDIR);
}

static bool never(void *ctx)
{
	return false;
}

static bool at_once(void *ctx)
{
	return true;
}

static int reported;

static void count(void *ctx, const char *line)
{
	reported++;
}

static void test_cache_lock(void **state)
{
	struct pfs_cache one = { .lock_fd = -1 }, two = { .lock_fd = -1 };
	struct pfs_err err;

	snprintf(one.dir, sizeof(one.dir), "%s", stap_dir);
	two = one;
	assert_int_equal(pfs_cache_lock(&one, "a", never, count, NULL, &err), 0);
	assert_int_equal(reported, 0);
	assert_int_equal(pfs_cache_lock(&two, "a", at_once, count, NULL, &err), -EINTR);
	assert_int_equal(reported, 1);
	pfs_cache_unlock(&two);
	assert_int_equal(pfs_cache_lock(&two, "b", at_once, count, NULL, &err), 0);
	assert_int_equal(reported, 1);
	pfs_cache_unlock(&two);
	pfs_cache_unlock(&one);
	assert_int_equal(pfs_cache_lock(&two, "a", at_once, count, NULL, &err), 0);
	pfs_cache_unlock(&two);
	pfs_cache_unlock(&two);
}

static void test_cache_trim(void **state)
{
	struct pfs_cache cache = { .lock_fd = -1 };
	const struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };

	snprintf(cache.dir, sizeof(cache.dir), "%s", stap_dir);
	put_file("a.ko", "x");
	put_file("b.ko", "x");
	put_file("c.ko", "x");
	put_file("c.txt", "x");
	assert_int_equal(utimensat(AT_FDCWD, in_dir("b.ko"), old, 0), 0);
	pfs_cache_trim(&cache, 3);
	assert_int_equal(access(in_dir("b.ko"), F_OK), 0);
	pfs_cache_trim(&cache, 2);
	assert_int_not_equal(access(in_dir("b.ko"), F_OK), 0);
	assert_int_equal(access(in_dir("a.ko"), F_OK), 0);
	assert_int_equal(access(in_dir("c.txt"), F_OK), 0);
}

/* ---- a module as a file ---- */

/* An ELF file with nothing but what pfscope looks for. */
struct fake {
	Elf64_Ehdr head;
	Elf64_Shdr sections[4];
	char names[64], info[64];
	struct {
		uint64_t state, list[2];
		char name[56];
		char rest[64];
	} module;
};

static void fake_section(struct fake *f, unsigned int i, unsigned int name, const void *at, size_t size)
{
	f->sections[i] = (Elf64_Shdr){
		.sh_name = name,
		.sh_type = SHT_PROGBITS,
		.sh_offset = (const char *)at - (const char *)f,
		.sh_size = size,
	};
}

static void fake_module(struct fake *f)
{
	static const char names[] = "\0.names\0.modinfo\0.gnu.linkonce.this_module";
	static const char info[] = "license=GPL\0vermagic=6.1.0 SMP\0\0pfscope=0.1.0";

	memset(f, 0, sizeof(*f));
	memcpy(f->head.e_ident, ELFMAG, SELFMAG);
	f->head.e_ident[EI_CLASS] = ELFCLASS64;
	f->head.e_type = ET_REL;
	f->head.e_shoff = offsetof(struct fake, sections);
	f->head.e_shentsize = sizeof(Elf64_Shdr);
	f->head.e_shnum = 4;
	f->head.e_shstrndx = 1;
	memcpy(f->names, names, sizeof(names));
	memcpy(f->info, info, sizeof(info));
	strcpy(f->module.name, "pfscope");
	fake_section(f, 1, 1, f->names, sizeof(f->names));
	fake_section(f, 2, 8, f->info, sizeof(info));
	fake_section(f, 3, 17, &f->module, sizeof(f->module));
}

static int read_module(struct pfs_module *m, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;
	struct pfs_err err;

	assert_true(fd >= 0);
	ret = pfs_module_read(m, fd, path, &err);
	close(fd);
	return ret;
}

static int read_fake(struct pfs_module *m, const struct fake *f, size_t len)
{
	FILE *file = fopen(in_dir("m.ko"), "w");

	fwrite(f, 1, len, file);
	fclose(file);
	return read_module(m, in_dir("m.ko"));
}

static void test_module(void **state)
{
	struct pfs_module m;
	struct pfs_err err;
	struct fake f;

	fake_module(&f);
	assert_int_equal(read_fake(&m, &f, sizeof(f)), 0);
	assert_string_equal(m.name, "pfscope");
	assert_string_equal(pfs_module_info(&m, "vermagic"), "6.1.0 SMP");
	assert_string_equal(pfs_module_info(&m, "pfscope"), "0.1.0");
	assert_null(pfs_module_info(&m, "pfs"));
	assert_null(pfs_module_info(&m, "SMP"));
	assert_false(pfs_module_signed(&m));
	pfs_module_rename(&m, "a_longer_name_of_exactly_fifty_five_bytes_for_a_test_xx_and_more");
	assert_int_equal(strlen(m.name), PFS_MODULE_NAME_MAX);
	pfs_module_rename(&m, "short");
	assert_int_equal(pfs_module_write(&m, in_dir("n.ko"), &err), 0);
	assert_int_equal(pfs_module_write(&m, in_dir("n.ko"), &err), -EEXIST);
	pfs_module_free(&m);
	assert_int_equal(read_module(&m, in_dir("n.ko")), 0);
	assert_string_equal(m.name, "short");
	assert_memory_equal(m.name + 5, f.module.name + 8, 40); /* nothing of the old name is left */
	pfs_module_free(&m);
}

static void test_module_signed(void **state)
{
	struct pfs_module m;
	struct fake f;
	FILE *file;

	fake_module(&f);
	assert_int_equal(read_fake(&m, &f, sizeof(f)), 0);
	pfs_module_free(&m);
	file = fopen(in_dir("m.ko"), "a");
	fputs("signature~Module signature appended~\n", file);
	fclose(file);
	assert_int_equal(read_module(&m, in_dir("m.ko")), 0);
	assert_true(pfs_module_signed(&m));
	pfs_module_free(&m);
}

/* A file can claim anything; every length of it is read, and some lies. */
static void test_module_damage(void **state)
{
	struct pfs_module m;
	struct fake f;

	fake_module(&f);
	for (size_t len = 0; len < sizeof(f); len++)
		assert_int_equal(read_fake(&m, &f, len), -ENOEXEC);
	f.sections[3].sh_offset = UINT64_MAX - 4;
	assert_int_equal(read_fake(&m, &f, sizeof(f)), -ENOEXEC);
	fake_module(&f);
	f.sections[2].sh_size = UINT64_MAX;
	assert_int_equal(read_fake(&m, &f, sizeof(f)), -ENOEXEC);
	fake_module(&f);
	f.head.e_shoff = UINT64_MAX;
	assert_int_equal(read_fake(&m, &f, sizeof(f)), -ENOEXEC);
	fake_module(&f);
	f.sections[3].sh_type = SHT_NOBITS;
	assert_int_equal(read_fake(&m, &f, sizeof(f)), -ENOEXEC);
	fake_module(&f);
	memset(f.module.name, 'x', sizeof(f.module.name)); /* no end */
	assert_int_equal(read_fake(&m, &f, sizeof(f)), -ENOEXEC);
}

/* .BTF alone is no debuginfo. */
static void test_section_found(void **state)
{
	struct pfs_module m;
	struct fake f;

	fake_module(&f);
	f.head.e_type = ET_EXEC;
	assert_int_equal(read_fake(&m, &f, sizeof(f)), -ENOEXEC);
	assert_true(pfs_elf_has_section(in_dir("m.ko"), ".modinfo"));
	assert_false(pfs_elf_has_section(in_dir("m.ko"), ".debug_info"));
	strcpy(f.names + 8, ".debug_info");
	assert_int_equal(read_fake(&m, &f, sizeof(f)), -ENOEXEC);
	assert_true(pfs_elf_has_section(in_dir("m.ko"), ".debug_info"));
	f.sections[2].sh_type = SHT_NOBITS; /* what strip leaves beside a separate file */
	assert_int_equal(read_fake(&m, &f, sizeof(f)), -ENOEXEC);
	assert_false(pfs_elf_has_section(in_dir("m.ko"), ".debug_info"));
	put_file("empty", "");
	assert_false(pfs_elf_has_section(in_dir("empty"), ".debug_info"));
	assert_false(pfs_elf_has_section(in_dir("none"), ".debug_info"));
	assert_false(pfs_elf_has_section(stap_dir, ".debug_info"));
}

/* What was checked is what is read, whatever has the name by then. */
static void test_module_exchanged(void **state)
{
	struct pfs_module m;
	struct pfs_err err;
	struct fake f;
	int fd;

	fake_module(&f);
	assert_int_equal(read_fake(&m, &f, sizeof(f)), 0);
	pfs_module_free(&m);
	chmod(in_dir("m.ko"), 0600);
	fd = pfs_cache_open_module(in_dir("m.ko"), 0, &err);
	assert_true(fd >= 0);
	put_file("other.ko", "another one");
	assert_int_equal(rename(in_dir("other.ko"), in_dir("m.ko")), 0);
	assert_int_equal(pfs_module_read(&m, fd, "m.ko", &err), 0);
	assert_string_equal(m.name, "pfscope");
	pfs_module_free(&m);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_points),
		cmocka_unit_test(test_points_found),
		cmocka_unit_test(test_points_looked_up),
		cmocka_unit_test(test_points_described),
		cmocka_unit_test(test_cache_place),
		cmocka_unit_test_setup_teardown(test_cache_trust, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_cache_make, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_cache_lock, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_cache_trim, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_module, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_section_found, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_module_signed, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_module_exchanged, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_module_damage, make_dir, remove_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
