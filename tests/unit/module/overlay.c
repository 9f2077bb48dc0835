/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The private runtime, and the headers with a symbol table: when they are needed, what is in them.
 */
#include "module/check.h"
#include "module/overlay.h"
#include "support/stap_dir.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static void test_versions(void **state)
{
	assert_int_equal(pfs_stap_version("Systemtap translator/driver (version 4.8/0.188, Debian version "
					  "4.8-2)\nCopyright (C) 2005-2022"),
			 408);
	assert_int_equal(pfs_stap_version("Systemtap translator/driver (version 5.0/0.189, rpm 5.0-2.el9)"), 500);
	assert_int_equal(pfs_stap_version("Systemtap translator/driver (version 5.1/0.191)"), 501);
	assert_int_equal(pfs_stap_version("version unknown"), 0);
	assert_int_equal(pfs_stap_version(""), 0);
}

static void test_words(void **state)
{
	static const char text[] = "f(task_work_cancel, my_task_work_cancel, task_work_cancel_func, "
				   "\"task_work_cancel\"); task_work_cancel";
	char *changed = pfs_word_replace(text, "task_work_cancel", "X");

	assert_string_equal(changed, "f(X, my_task_work_cancel, task_work_cancel_func, \"X\"); X");
	free(changed);
	changed = pfs_word_replace("nothing", "task_work_cancel", "X");
	assert_string_equal(changed, "nothing");
	free(changed);
	assert_null(pfs_word_find("ab abc cab", "ab abc cab" + 1, "ab"));
}

/* A runtime as 4.8 has it, and headers as stable kernels have them. */
static struct pfs_kernel old_and_new(void)
{
	struct pfs_kernel kernel = { .release = "0.0-test" };

	put_file("rt/stp_task_work.c", "p = kallsyms_lookup_name(\"task_work_cancel\");\n"
				       "#define task_work_cancel (* (fn)kallsyms_task_work_cancel)\n");
	put_file("rt/runtime.h", "runtime\n");
	put_file("rt/linux/alloc.c", "alloc\n");
	put_file("build/include/linux/task_work.h",
		 "struct callback_head *task_work_cancel_func(struct task_struct *, task_work_func_t);\n"
		 "bool task_work_cancel(struct task_struct *task, struct callback_head *cb);\n");
	snprintf(kernel.build, sizeof(kernel.build), "%s", in_dir("build"));
	return kernel;
}

static void test_needed(void **state)
{
	struct pfs_kernel kernel = old_and_new();

	assert_int_equal(pfs_overlay_needed(408, in_dir("rt"), &kernel), PFS_OVERLAY_TASK_WORK);
	assert_int_equal(pfs_overlay_needed(501, in_dir("rt"), &kernel), PFS_OVERLAY_TASK_WORK);
	assert_false(pfs_overlay_needed(502, in_dir("rt"), &kernel));
	assert_false(pfs_overlay_needed(309, in_dir("rt"), &kernel));
	assert_false(pfs_overlay_needed(408, in_dir("nowhere"), &kernel));
	put_file("build/include/linux/vmalloc.h", "extern void *vzalloc_noprof(unsigned long size);\n");
	assert_int_equal(pfs_overlay_needed(408, in_dir("rt"), &kernel),
			 PFS_OVERLAY_TASK_WORK | PFS_OVERLAY_LINUX_6_10);
	assert_int_equal(pfs_overlay_needed(501, in_dir("rt"), &kernel), PFS_OVERLAY_TASK_WORK);
	unlink(in_dir("build/include/linux/vmalloc.h"));
	put_file("build/include/linux/task_work.h", /* as before the renaming */
		 "struct callback_head *task_work_cancel(struct task_struct *, task_work_func_t);\n");
	assert_false(pfs_overlay_needed(408, in_dir("rt"), &kernel));
	kernel = old_and_new();
	put_file("rt/stp_task_work.c", "#ifdef NEW\n#define task_work_cancel task_work_cancel_func\n#endif\n");
	assert_false(pfs_overlay_needed(408, in_dir("rt"), &kernel));
}

static void test_overlay(void **state)
{
	char overlay[PATH_MAX], again[PATH_MAX], path[PATH_MAX + 64];
	struct pfs_err err = { "" };
	struct stat st;

	old_and_new();
	mkdir(in_dir("cache"), 0755);
	assert_int_equal(pfs_overlay_make(in_dir("cache"), 408, in_dir("rt"), PFS_OVERLAY_TASK_WORK, overlay,
					  sizeof(overlay), &err),
			 0);
	snprintf(path, sizeof(path), "%s/stp_task_work.c", overlay);
	assert_string_equal(file_text(path), "p = kallsyms_lookup_name(\"task_work_cancel_func\");\n"
					     "#define task_work_cancel_func (* (fn)kallsyms_task_work_cancel)\n");
	assert_string_equal(file_text(in_dir("rt/runtime.h")), "runtime\n");
	snprintf(path, sizeof(path), "%s/linux/../runtime.h", overlay); /* folders are folders */
	assert_string_equal(file_text(path), "runtime\n");
	snprintf(path, sizeof(path), "%s/linux/alloc.c", overlay);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_non_null(strstr(file_text(in_dir("rt/stp_task_work.c")), "(\"task_work_cancel\")"));

	/* The same again; of a runtime that has changed another one. */
	assert_int_equal(
		pfs_overlay_make(in_dir("cache"), 408, in_dir("rt"), PFS_OVERLAY_TASK_WORK, again, sizeof(again), &err),
		0);
	assert_string_equal(overlay, again);
	put_file("rt/stp_task_work.c", "task_work_cancel\n");
	assert_int_equal(
		pfs_overlay_make(in_dir("cache"), 408, in_dir("rt"), PFS_OVERLAY_TASK_WORK, again, sizeof(again), &err),
		0);
	assert_string_not_equal(overlay, again);
	assert_int_not_equal(pfs_overlay_make(in_dir("nowhere"), 408, in_dir("rt"), PFS_OVERLAY_TASK_WORK, again,
					      sizeof(again), &err),
			     0);
	assert_non_null(strstr(err.msg, "nowhere"));
}

/* Around a file of the runtime, and one that it does not have. */
static void test_overlay_of_new_kernels(void **state)
{
	char overlay[PATH_MAX], path[PATH_MAX + 64], include[PATH_MAX + 64];
	struct pfs_err err = { "" };
	struct stat st;
	const char *text;

	old_and_new();
	mkdir(in_dir("cache"), 0755);
	assert_int_equal(pfs_overlay_make(in_dir("cache"), 408, in_dir("rt"), PFS_OVERLAY_LINUX_6_10, overlay,
					  sizeof(overlay), &err),
			 0);
	snprintf(path, sizeof(path), "%s/linux/alloc.c", overlay);
	snprintf(include, sizeof(include), "#include \"%s\"\n", in_dir("rt/linux/alloc.c"));
	text = file_text(path);
	assert_memory_equal(text, "#define __warn_flushing_systemwide_wq()", 39);
	assert_string_equal(strstr(text, "#include"), include);
	snprintf(path, sizeof(path), "%s/asm/unaligned.h", overlay);
	assert_string_equal(file_text(path), "#include <linux/unaligned.h>\n");
	snprintf(path, sizeof(path), "%s/stp_task_work.c", overlay); /* not asked for */
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_string_equal(file_text(in_dir("rt/linux/alloc.c")), "alloc\n");
	assert_int_equal(pfs_overlay_nr_files(PFS_OVERLAY_TASK_WORK), 1);
	assert_true(pfs_overlay_nr_files(PFS_OVERLAY_LINUX_6_10) > 1);
	assert_null(pfs_overlay_options(PFS_OVERLAY_TASK_WORK)[0]);
	assert_non_null(pfs_overlay_options(PFS_OVERLAY_LINUX_6_10)[0]);
}

static void test_placed_names(void **state)
{
	struct pfs_point points[PFS_POINTS_MAX];

	assert_int_equal(pfs_points_of("probe @place(\"up_write\") { }\nprobe @place(\"unmap_vmas\") ? { }\n"
				       "probe @place(\"up_write\").return { }\nprobe kernel.trace(\"x:y\") { }\n"
				       "@define place(name) %( %)\nprobe @place(\"cut",
				       points),
			 3);
	assert_string_equal(points[0].name, "up_write");
	assert_string_equal(points[1].name, "unmap_vmas");
	assert_string_equal(points[2].name, "up_write");
}

/* A kernel that is nowhere: all names are taken to be there. */
static void test_tree(void **state)
{
	struct pfs_kernel kernel = old_and_new();
	struct pfs_err err = { "" };
	char build[PATH_MAX], path[PATH_MAX + 64];
	const struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };
	bool unchecked = false;
	struct stat st;

	put_file("build/.config", "CONFIG_X=y\n");
	assert_int_equal(utimensat(AT_FDCWD, in_dir("build/.config"), old, 0), 0);
	assert_false(pfs_kernel_map_real(&kernel));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pfs_tree_make(in_dir("tree"), &kernel,
					       "probe @place(\"up_write\") { }\nprobe @place(\"b\") { }\n"
					       "probe @place(\"up_write\").return { }\n",
					       build, sizeof(build), &unchecked, &err),
				 0);
		assert_true(unchecked);
		snprintf(path, sizeof(path), "%s/System.map", build);
		assert_string_equal(file_text(path), "ffffffff81000010 T up_write\nffffffff81000020 T b\n");
		assert_int_equal(stat(path, &st), 0); /* or stap does it all anew */
		assert_int_equal(st.st_mtime, 1000);
		snprintf(path, sizeof(path), "%s/.config", build);
		assert_string_equal(file_text(path), "CONFIG_X=y\n");
		snprintf(path, sizeof(path), "%s/include/linux/task_work.h", build);
		assert_non_null(strstr(file_text(path), "task_work_cancel_func"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_words),
		cmocka_unit_test_setup_teardown(test_needed, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_overlay, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_overlay_of_new_kernels, make_dir, remove_dir),
		cmocka_unit_test(test_placed_names),
		cmocka_unit_test_setup_teardown(test_tree, make_dir, remove_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
