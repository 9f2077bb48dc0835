/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stap and staprun say when they fail, and what pfscope makes of it. The texts are theirs, word for
 * word, of SystemTap 4.8 on Debian 12 (paths shortened).
 */
#include "module/diagnose.h"
#include "module/kernel.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const struct pfs_diagnosis plain = { "/tmp/m.ko", "6.1.0-56-amd64", "", false };
static const struct pfs_diagnosis locked = { "/tmp/m.ko", "6.1.0-56-amd64", "integrity", false };
static const struct pfs_diagnosis disabled = { "/tmp/m.ko", "6.1.0-56-amd64", "", true };

static const struct said {
	enum pfs_stage stage;
	const struct pfs_diagnosis *d;
	const char *text;
	int err;
	const char *wanted; /* somewhere in the message */
} table[] = {
	/* stap -r 6.99.0-nope */
	{ PFS_STAGE_BUILD, &plain,
	  "Checking \"/lib/modules/6.99.0-nope/build/.config\" failed with error: No such file or directory\n"
	  "Tip: /usr/share/doc/systemtap/README.Debian should help you get started.\n",
	  -ENOENT, "install linux-headers-6.1.0-56-amd64" },
	/* under lockdown=integrity */
	{ PFS_STAGE_BUILD, &locked, "Failed to get list of machine owner keys (MOK) for module signing: rc -1\n",
	  -EKEYREJECTED, "accepts signed modules only" },
	/* the runtime as it is, on 6.1.192 */
	{ PFS_STAGE_BUILD, &plain,
	  "/usr/share/systemtap/runtime/stp_task_work.c: In function 'stp_task_work_cancel':\n"
	  "/usr/share/systemtap/runtime/stp_task_work.c:107:40: error: passing argument 2 of '(bool "
	  "(*)(struct task_struct *, struct callback_head *))kallsyms_task_work_cancel' from incompatible "
	  "pointer type [-Werror=incompatible-pointer-types]\n"
	  "  107 |         twork = task_work_cancel(task, func);\n"
	  "cc1: all warnings being treated as errors\n"
	  "make[1]: *** [Makefile.build:255: /tmp/stapJ4PQ/stap_30222_src.o] Error 1\n"
	  "WARNING: kbuild exited with status: 2\n"
	  "Pass 4: compilation failed.  [man error::pass4]\n",
	  -ENOTSUP, "older than kernel 6.1.0-56-amd64" },
	/* some other error of the compiler */
	{ PFS_STAGE_BUILD, &plain,
	  "/tmp/stapX/m_src.c:12:3: error: implicit declaration of function 'mmgrab'\n"
	  "WARNING: kbuild exited with status: 2\n"
	  "Pass 4: compilation failed.  [man error::pass4]\n",
	  -ENOEXEC, "m_src.c:12:3: error: implicit declaration of function 'mmgrab'" },
	/* without debuginfo, with probes that need it */
	{ PFS_STAGE_BUILD, &plain,
	  "WARNING: cannot find module kernel debuginfo: No DWARF information found [man "
	  "warning::debuginfo]\n"
	  "semantic error: while resolving probe point: identifier 'kernel' at p5.stp:1:7\n"
	  "        source: probe kernel.function(\"handle_mm_fault\") { println($address) }\n"
	  "                      ^\n\n"
	  "semantic error: no match\n\n"
	  "Pass 2: analysis failed.  [man error::pass2]\n",
	  -ENOENT, "use --no-dwarf" },
	/* a function that the kernel does not have */
	{ PFS_STAGE_BUILD, &plain,
	  "WARNING: Kernel function symbol table missing [man warning::symbols]\n"
	  "semantic error: while resolving probe point: identifier 'kernel' at p4.stp:1:7\n"
	  "        source: probe kernel.function(\"no_such_function_x\") { }\n"
	  "                      ^\n\n"
	  "semantic error: no match (similar functions: pci_function_0, trace_function)\n\n"
	  "Pass 2: analysis failed.  [man error::pass2]\n",
	  -ENOTSUP, "has no place for probe kernel.function(\"no_such_function_x\"); `pfscope stap check'" },
	{ PFS_STAGE_BUILD, &plain, "", -EIO, "stap failed without an error message" },
	{ PFS_STAGE_BUILD, &plain, "Segmentation fault\n", -EIO, "stap: Segmentation fault" },

	/* as nobody, as a member of stapusr */
	{ PFS_STAGE_LOAD, &plain,
	  "ERROR: Members of the \"stapusr\" and \"stapsys\" groups can only use unsigned modules within\n"
	  "  the \"/lib/modules/6.1.0-56-amd64/systemtap\" directory.\n"
	  "  Unable to canonicalize that directory: No such file or directory\n"
	  "ERROR: Unable to verify the signature for the module /tmp/m.ko.\n",
	  -EPERM, "only from /lib/modules/6.1.0-56-amd64/systemtap" },
	/* a kernel without CONFIG_MODULES */
	{ PFS_STAGE_LOAD, &plain, "ERROR: Couldn't insert module '/tmp/m.ko': Function not implemented\n", -ENOSYS,
	  "without loadable modules" },
	{ PFS_STAGE_LOAD, &plain,
	  "ERROR: Couldn't insert module '/tmp/m.ko': File exists\n"
	  "ERROR: Rerun with staprun option '-R' to rename this module.\n",
	  -EEXIST, "/tmp/m.ko is already loaded" },
	/* kernel.modules_disabled=1; lockdown; a buffer of 4095 MB */
	{ PFS_STAGE_LOAD, &disabled, "ERROR: Couldn't insert module '/tmp/m.ko': Operation not permitted\n", -EPERM,
	  "kernel.modules_disabled is 1" },
	{ PFS_STAGE_LOAD, &plain, "ERROR: Couldn't insert module '/tmp/m.ko': Operation not permitted\n", -EPERM,
	  "--buffer-size too large" },
	{ PFS_STAGE_LOAD, &locked, "ERROR: Couldn't insert module '/tmp/m.ko': Operation not permitted\n", -EPERM,
	  "locked down (integrity)" },
	/* module.sig_enforce */
	{ PFS_STAGE_LOAD, &plain, "ERROR: Couldn't insert module '/tmp/m.ko': Key was rejected by service\n",
	  -EKEYREJECTED,
	  "signed modules only (Couldn't insert module '/tmp/m.ko': Key was rejected by "
	  "service)" },
	{ PFS_STAGE_LOAD, &plain, "ERROR: Couldn't insert module '/tmp/m.ko': Invalid module format\n", -ENOEXEC,
	  "not built for the kernel that runs (6.1.0-56-amd64)" },
	{ PFS_STAGE_LOAD, &plain, "ERROR: Couldn't insert module '/tmp/m.ko': Invalid parameters\n", -EINVAL,
	  "built by another version" },
	{ PFS_STAGE_LOAD, &plain, "ERROR: Couldn't insert module '/tmp/m.ko': Cannot allocate memory\n", -ENOMEM,
	  "smaller --buffer-size" },
	{ PFS_STAGE_LOAD, &plain,
	  "ERROR: probe kernel.function(\"up_write\") registration error [man warning::pass5] (rc -38)\n", -ENOTSUP,
	  "without kprobes" },
	/* pfscope's own module */
	{ PFS_STAGE_LOAD, &plain, "ERROR: --watch: the hardware watchpoints of this machine report nothing\n", -ENODEV,
	  "--watch: the hardware watchpoints of this machine report nothing" },
	{ PFS_STAGE_RUN, &plain,
	  "ERROR: probe overhead (500000123 cycles) exceeded threshold (500000000 cycles) in last 1000000000 "
	  "cycles\n",
	  -EBUSY, "took too much time" },
	{ PFS_STAGE_RUN, &plain,
	  "ERROR: Skipped too many probes, check MAXSKIPPED or try again with stap -t for more details.\n"
	  "WARNING: Number of errors: 0, skipped probes: 101\n",
	  -EBUSY, "skipped too many" },
	{ PFS_STAGE_RUN, &plain, "ERROR: pfscope: no memory\n", -EIO, "staprun: pfscope: no memory" },
};

static void test_messages(void **state)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct said *said = &table[i];
		struct pfs_err err = { "" };

		if (pfs_diagnose(said->stage, said->text, said->d, &err) != said->err || !strstr(err.msg, said->wanted))
			fail_msg("of\n%s\nbecame %s", said->text, err.msg);
		assert_null(strchr(err.msg, '\n'));
		assert_null(strchr(err.msg, '%'));
	}
}

/* A module may be called anything, and a program say much. */
static void test_long_words(void **state)
{
	char text[4000], name[2000];
	const struct pfs_diagnosis d = { name, "6.1", "", false };
	struct pfs_err err;

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(pfs_diagnose(PFS_STAGE_LOAD, "Couldn't insert module 'x': File exists", &d, &err), -EEXIST);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
	memset(text, 'x', sizeof(text));
	memcpy(text, "ERROR: ", 7);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(pfs_diagnose(PFS_STAGE_RUN, text, &plain, &err), -EIO);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
}

static void test_warnings(void **state)
{
	const char *p = "WARNING: There were 5 transport failures. Try stap -s to increase the buffer size "
			"from 1.\nsomething\nWARNING: Number of errors: 0, skipped probes: 12\n";
	char line[128];

	p = pfs_warning_next(p, line, sizeof(line));
	assert_string_equal(line, "There were 5 transport failures. Try stap -s to increase the buffer size "
				  "from 1.");
	p = pfs_warning_next(p, line, sizeof(line));
	assert_string_equal(line, "Number of errors: 0, skipped probes: 12");
	assert_null(pfs_warning_next(p, line, sizeof(line)));
}

static void test_lockdown(void **state)
{
	char word[32];

	pfs_lockdown_parse("[none] integrity confidentiality\n", word, sizeof(word));
	assert_string_equal(word, "");
	pfs_lockdown_parse("none [integrity] confidentiality\n", word, sizeof(word));
	assert_string_equal(word, "integrity");
	pfs_lockdown_parse("", word, sizeof(word));
	assert_string_equal(word, "");
	pfs_lockdown_parse("none [integ", word, sizeof(word));
	assert_string_equal(word, "");
	pfs_lockdown_parse("[a very long word indeed that does not fit]", word, 8);
	assert_string_equal(word, "a very ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_long_words),
		cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_lockdown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
