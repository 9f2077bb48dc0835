// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The text reader on single lines: each event in each print form, the columns around names that
 * look like columns, what is no event, and text in pieces. Recorded files are
 * text/files.c's.
 */
#include "record/pfscope_records.h"
#include "support/text_sink.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define A		  RAW_ABSENT
#define DEV(major, minor) ((uint64_t)(major) << 20 | (minor))
#define HEAD		  "            task-7       [001] d..1.    12.345678: "

static struct pfs_text_stats read_lines(struct text_sink *sink, const char *text)
{
	struct pfs_text_stats stats;

	assert_int_equal(text_sink_read(sink, text, strlen(text), &stats), 0);
	return stats;
}

/* One event's text, and what it has to become. Arguments that are not named are RAW_ABSENT. */
struct form {
	const char *text;
	enum raw_kind kind;
	enum raw_sys nr;
	unsigned int nr_args;
	uint64_t arg[RAW_MAX_ARGS];
	const char *str;
};
/* clang-format off */
#define S(name, line, event, call, ...)                                                       \
	{                                                                                     \
		.text = line, .kind = event, .nr = call, .str = name, .arg = { __VA_ARGS__ }, \
		.nr_args = sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)             \
	}
/* clang-format on */
#define F(...) S(NULL, __VA_ARGS__)

static const struct form fault_forms[] = {
	F("page_fault_user: address=0x7fa3d0f6bd58 ip=0x7fa3d0ff8d6c error_code=0x6", RAW_FAULT_USER, SYS_OTHER,
	  0x7fa3d0f6bd58, 0x7fa3d0ff8d6c, 6),
	F("page_fault_user:      address=0x7fa3d0f6bd58 ip=0x401000 error_code=0x14", RAW_FAULT_USER, SYS_OTHER,
	  0x7fa3d0f6bd58, 0x401000, 0x14),
	F("page_fault_kernel: address=0x7fa3d1110178 ip=_copy_from_user error_code=0x0", RAW_FAULT_KERNEL, SYS_OTHER,
	  0x7fa3d1110178, A, 0),
	F("page_fault_kernel: address=0x7fa3d1110178 ip=elf_load+0x28a/0x2b0 error_code=0x2", RAW_FAULT_KERNEL,
	  SYS_OTHER, 0x7fa3d1110178, A, 2),
	F("page_fault_kernel: address=fixed_percpu_data ip=elf_load error_code=0x2", RAW_FAULT_KERNEL, SYS_OTHER, A, A,
	  2),
	/* of the module that hides pages: the kernel's, and libtraceevent's */
	F("0x7fa3d0f6bd58: pfs_hidden", RAW_HIDDEN, SYS_OTHER, 0x7fa3d0f6bd58, 0),
	F("print:                0x7fa3d0f6bd58: pfs_hidden_gup", RAW_HIDDEN, SYS_OTHER, 0x7fa3d0f6bd58, 1),
	/* without 0x; "fade" is as likely a symbol */
	F("page_fault_user: address=00007fa3d0f6bd58 ip=fade error_code=0x6", RAW_FAULT_USER, SYS_OTHER, 0x7fa3d0f6bd58,
	  A, 6),
	F("page_fault_user: address=0x7fb0e0407110 (140397653291280) ip=elf_load+0x28a/0x2b0 "
	  "(-2123025558) error_code=0x2 (2)",
	  RAW_FAULT_USER, SYS_OTHER, 0x7fb0e0407110, A, 2),
	/* arm64 has a longer name and more digits */
	F("page_fault_user: user_address=0xffff8000 address=0xffffffffffffffee ip=0x0 error_code=0x1", RAW_FAULT_USER,
	  SYS_OTHER, 0xffffffffffffffee, 0, 1),
	F("page_fault_user: address=0x10000000000000000 ip=0x1 error_code=0x1", RAW_FAULT_USER, SYS_OTHER, A, 1, 1),
	F("page_fault_user: nonsense", RAW_FAULT_USER, SYS_OTHER),
	F("page_fault_user:", RAW_FAULT_USER, SYS_OTHER),
};

static const struct form call_forms[] = {
	F("sys_mmap(addr: 0, len: 0x801000, prot: 3, flags: 0x20022, fd: 0xffffffff, off: 0)", RAW_SYS_ENTER, SYS_MMAP,
	  0, 0x801000, 3, 0x20022, 0xffffffff, 0),
	F("sys_mmap(addr: 0, len: 801000, prot: 3, flags: 20022, fd: ffffffffffffffff, off: a000)", RAW_SYS_ENTER,
	  SYS_MMAP, 0, 0x801000, 3, 0x20022, UINT64_MAX, 0xa000),
	F("sys_mmap(unsigned long addr: 0, size_t len: 0x801000, unsigned long prot: 0, unsigned long "
	  "flags: 0x22, unsigned long fd: 0x3, unsigned long off: 0x1000)",
	  RAW_SYS_ENTER, SYS_MMAP, 0, 0x801000, 0, 0x22, 3, 0x1000),
	F("sys_enter_mmap:       addr: 0x00000000, len: 0x00002000, prot: 0x00000003, flags: "
	  "0x00000022, fd: 0xffffffff, off: 0x00000000",
	  RAW_SYS_ENTER, SYS_MMAP, 0, 0x2000, 3, 0x22, 0xffffffff, 0),
	F("sys_enter_mmap: __syscall_nr=0x9 (9) addr=0x0 (0) len=0x801000 (8392704) prot=0x0 (0) "
	  "flags=0x20022 (131106) fd=0xffffffff (4294967295) off=0x0 (0)",
	  RAW_SYS_ENTER, SYS_MMAP, 0, 0x801000, 0, 0x20022, 0xffffffff, 0),
	F("sys_enter_mmap:         __syscall_nr=9 addr=0x00000000 len=0x00002000 prot=0x00000003 "
	  "flags=0x00000022 fd=0xffffffff off=0x00000000",
	  RAW_SYS_ENTER, SYS_MMAP, 0, 0x2000, 3, 0x22, 0xffffffff, 0),
	F("sys_mmap(addr: 0, len: 0x1000, prot: PROT_READ|PROT_WRITE, flags: 0x22, fd: 3, off: 0)", RAW_SYS_ENTER,
	  SYS_MMAP, 0, 0x1000, A, 0x22, 3, 0),
	F("sys_munlockall()", RAW_SYS_ENTER, SYS_MUNLOCKALL),
	F("sys_enter_munlockall: ", RAW_SYS_ENTER, SYS_MUNLOCKALL),
	F("sys_brk(brk: 0x55b651dd2000)", RAW_SYS_ENTER, SYS_BRK, 0x55b651dd2000),
	F("sys_mremap(addr: 0x7000, old_len: 0x1000, new_len: 0x2000, flags: 1, new_addr: 0)", RAW_SYS_ENTER,
	  SYS_MREMAP, 0x7000, 0x1000, 0x2000, 1, 0),
	F("sys_pkey_mprotect(start: 0x7000, len: 0x1000, prot: 1, pkey: 0x2)", RAW_SYS_ENTER, SYS_PKEY_MPROTECT, 0x7000,
	  0x1000, 1, 2),
	F("sys_madvise(start: 0x7000, len_in: 0x7fb000, behavior: 4)", RAW_SYS_ENTER, SYS_MADVISE, 0x7000, 0x7fb000, 4),
	F("sys_execve(filename: 0x55b630f350ac \"/bin/a, argv: 0x1\", argv: 0x7ffc, envp: 0x7ffd)", RAW_SYS_ENTER,
	  SYS_EXECVE, 0x55b630f350ac),
	F("sys_execveat(fd: 6, filename: 0x55b630f3506e, argv: 0x1, envp: 0x2, flags: 0x1000)", RAW_SYS_ENTER,
	  SYS_EXECVEAT, 6, 0x55b630f3506e),
	F("sys_clone(clone_flags: 0x1200011, newsp: 0, parent_tidptr: 0, child_tidptr: 0x7f, tls: 0)", RAW_SYS_ENTER,
	  SYS_CLONE, 0x1200011, 0),
	F("sys_prctl(option: 0xf, arg2: 0x55b630f35004, arg3: 0, arg4: 0x7fa3d0ff8006, arg5: 0)", RAW_SYS_ENTER,
	  SYS_PRCTL, 0xf, 0x55b630f35004, 0, 0x7fa3d0ff8006, 0),
	F("sys_process_madvise(pidfd: 3, vec: 0x7ffc20cb5510, vlen: 1, behavior: 0x14, flags: 0)", RAW_SYS_ENTER,
	  SYS_PROCESS_MADVISE, 3, 0x7ffc20cb5510, 1, 0x14),
	F("sys_mmap -> 0x7fa3d076b000", RAW_SYS_EXIT, SYS_MMAP, 0x7fa3d076b000),
	F("sys_mlock -> 0xffffffffffffffea", RAW_SYS_EXIT, SYS_MLOCK, (uint64_t)-EINVAL),
	F("sys_mlock2 -> 0x0", RAW_SYS_EXIT, SYS_MLOCK2, 0),
	F("sys_mlock -> 0xffffffea", RAW_SYS_EXIT, SYS_MLOCK, (uint64_t)-EINVAL),
	F("sys_mlock -> -22", RAW_SYS_EXIT, SYS_MLOCK, (uint64_t)-0x22),
	F("sys_exit_mmap:        0x7f8e30b46000", RAW_SYS_EXIT, SYS_MMAP, 0x7f8e30b46000),
	F("sys_exit_mmap: __syscall_nr=0x9 (9) ret=0x7faef2f90000 (140389377441792)", RAW_SYS_EXIT, SYS_MMAP,
	  0x7faef2f90000),
	F("sys_exit_vfork:         __syscall_nr=58 ret=0x12df", RAW_SYS_EXIT, SYS_VFORK, 0x12df),
};

static const struct form tree_and_file_forms[] = {
	F("sys_enter: NR 192 (0, 10000, 3, 22, ffffffff, fade)", RAW_CALL_ENTER, SYS_OTHER, 192, 0, 0x10000, 3, 0x22,
	  0xffffffff, 0xfade),
	F("sys_enter:            NR 192 (f7fa3000, 10000)", RAW_CALL_ENTER, SYS_OTHER, 192, 0xf7fa3000, 0x10000),
	F("sys_enter: id=192 args=ARRAY[00, 00]", RAW_CALL_ENTER, SYS_OTHER),
	F("sys_exit: NR 192 = 4160368640", RAW_CALL_EXIT, SYS_OTHER, 192, 4160368640),
	F("sys_exit:             NR 91 = -22", RAW_CALL_EXIT, SYS_OTHER, 91, -22),
	F("ma_write: mas_store_prealloc\tNode 00000000e4fb064c (0 140341564137471) "
	  "range:140341553836032-140341562228735 piv (0) val 000000009082905f",
	  RAW_MA_WRITE, SYS_OTHER, 140341553836032, 140341562228735, 0x9082905f),
	F("ma_write: mas_wr_node_store Node ffff888104252a0c (0 18446744073709551615) "
	  "range:93876-18446744073709551615 piv (5) val ffff888118f33180",
	  RAW_MA_WRITE, SYS_OTHER, 93876, A, 0xffff888118f33180),
	F("ma_write:             0xffffffff825218d0\tNode 0xffff888104252a0c (0 9) range:5-7 piv (0) "
	  "val (nil)",
	  RAW_MA_WRITE, SYS_OTHER, 5, 7, 0),
	F("ma_write: mas_store\tNode (____ptrval____) (0 9) range:5-7 piv (0) val (____ptrval____)", RAW_MA_WRITE,
	  SYS_OTHER, 5, 7, A),
	F("ma_write:             [FAILED TO PARSE] fn=0xffffffff825218d0 min=0x0 "
	  "max=0xffffffffffffffff index=0x7fff645b4000 last=0x7fffffffefff piv=0x0 "
	  "val=0xffff888118e220c0 node=0xffff8881240bd10c",
	  RAW_MA_WRITE, SYS_OTHER, 0x7fff645b4000, 0x7fffffffefff, 0xffff888118e220c0),
	F("ma_write: fn=(0xffff888102b3600c:mas_store) min=0x0 (0) max=0x9 (9) index=0x5 (5) "
	  "last=0x7 (7) piv=0x0 (0) val=0xffff888118e8c0c0 (-131386926645056) node=0x0 (0)",
	  RAW_MA_WRITE, SYS_OTHER, 5, 7, 0xffff888118e8c0c0),
	F("mm_filemap_map_pages: dev=254:0 ino=51423 ofs=1183744-1249279", RAW_MAP_PAGES, SYS_OTHER, DEV(254, 0),
	  0x51423, 289, 304),
	F("mm_filemap_map_pages: dev=8:3 ino=a ofs=0-4095", RAW_MAP_PAGES, SYS_OTHER, DEV(8, 3), 10, 0, 0),
	F("mm_filemap_map_pages: i_ino=5125f s_dev=266338304 index=0x10 last_index=0x1f", RAW_MAP_PAGES, SYS_OTHER,
	  DEV(254, 0), 0x5125f, 16, 31),
	F("mm_filemap_map_pages: i_ino=0xa720a8 (10952872) s_dev=0xfe00000 (266338304) index=0x1c (28) "
	  "last_index=0x1e (30)",
	  RAW_MAP_PAGES, SYS_OTHER, DEV(254, 0), 0xa720a8, 28, 30),
	F("mm_filemap_add_to_page_cache: dev 254:0 ino 51423 pfn=0x10c45b ofs=1814528 order=2", RAW_ADD_CACHE,
	  SYS_OTHER, DEV(254, 0), 0x51423, 443, 2),
	F("mm_filemap_add_to_page_cache: dev 254:0 ino 51423 page=0000000067a63c69 pfn=12 ofs=8192", RAW_ADD_CACHE,
	  SYS_OTHER, DEV(254, 0), 0x51423, 2, A),
	F("mm_filemap_add_to_page_cache:  pfn=0x106858 i_ino=a72032 index=0x0 s_dev=266338304 order=1", RAW_ADD_CACHE,
	  SYS_OTHER, DEV(254, 0), 0xa72032, 0, 1),
	F("mm_filemap_delete_from_page_cache: dev 254:0 ino 51423 pfn=0x10c45b ofs=1814528 order=2", RAW_DELETE_CACHE,
	  SYS_OTHER, DEV(254, 0), 0x51423, 443, 2),
	F("mm_filemap_add_to_page_cache: pfn=0x13cb1e (1297182) i_ino=0xa7239b (10953627) index=0x0 (0) "
	  "s_dev=0xfe00000 (266338304) order=(1)",
	  RAW_ADD_CACHE, SYS_OTHER, DEV(254, 0), 0xa7239b, 0, 1),
	F("mm_page_alloc: page=00000000f46de1d0 pfn=0x10c42a order=3 migratetype=1 gfp_flags=GFP_X", RAW_PAGE_ALLOC,
	  SYS_OTHER, 0x10c42a, 3),
	F("mm_page_alloc: page=00000000f46de1d0 pfn=4660 order=0 migratetype=1 gfp_flags=GFP_X", RAW_PAGE_ALLOC,
	  SYS_OTHER, 4660, 0),
	F("damon_aggregated: target_id=3 nr_regions=64 140737347485696-140737347489792: 1 0", RAW_DAMON, SYS_OTHER, 3,
	  140737347485696, 140737347489792, 1),
	F("damon_aggregated:     target_id=3 nr_regions=64 start=0x7ffff7200000 end=0x7ffff7201000 "
	  "nr_accesses=1 age=0",
	  RAW_DAMON, SYS_OTHER, 3, 0x7ffff7200000, 0x7ffff7201000, 1),
	F("damon_aggregated: target_id=0x11 (17) nr_regions=0x40 (64) start=0x7ffff7200000 (140737339064320) "
	  "end=0x7ffff7201000 (140737339068416) nr_accesses=0x1 (1) age=0x0 (0)",
	  RAW_DAMON, SYS_OTHER, 17, 0x7ffff7200000, 0x7ffff7201000, 1),
	F("damon_aggregated: target_id=3 nr_regions=64", RAW_DAMON, SYS_OTHER, 3, A, A, A),
	F("exit_mmap: mt_mod 0000000060cde25e, DESTROY", RAW_EXIT_MMAP, SYS_OTHER),
};

static const struct form task_forms[] = {
	S("/dev/fd/6", "sched_process_exec: filename=/dev/fd/6 pid=4832 old_pid=4831", RAW_EXEC, SYS_OTHER, 4832, 4831),
	S("/tmp/a b=c pid=9 old_pid=8", "sched_process_exec: filename=/tmp/a b=c pid=9 old_pid=8 pid=4832 old_pid=4831",
	  RAW_EXEC, SYS_OTHER, 4832, 4831),
	S("/tmp/a", "sched_process_exec: filename=/tmp/a pid=0x570e (22286) old_pid=0x570d (22285)", RAW_EXEC,
	  SYS_OTHER, 22286, 22285),
	S("", "sched_process_exec: filename= pid=2 old_pid=1", RAW_EXEC, SYS_OTHER, 2, 1),
	S("kid", "sched_process_fork: comm=kid pid=4818 child_comm=kid child_pid=4820", RAW_FORK, SYS_OTHER, 4818,
	  4820),
	S("a child_comm=b", "sched_process_fork: comm=a child_comm=b pid=6842 child_comm=a child_comm=b child_pid=6843",
	  RAW_FORK, SYS_OTHER, 6842, 6843),
	S("b", "sched_process_fork:   parent_comm=a parent_pid=6842 child_comm=b child_pid=6843", RAW_FORK, SYS_OTHER,
	  6842, 6843),
	S("kid", "task_newtask: pid=4820 comm=kid clone_flags=3d0f00 oom_score_adj=0", RAW_NEWTASK, SYS_OTHER, 4820,
	  0x3d0f00),
	S("clone_flags=1",
	  "task_newtask: pid=22278 comm=clone_flags=1 clone_flags=0x3d0f00 (4001536) "
	  "oom_score_adj=0x0 (0)",
	  RAW_NEWTASK, SYS_OTHER, 22278, 0x3d0f00),
	S(" a comm=b ", "task_newtask: pid=1 comm= a comm=b  clone_flags=11 oom_score_adj=-1000", RAW_NEWTASK,
	  SYS_OTHER, 1, 0x11),
	S("a) [000] ....: ", "sched_process_exit: comm=a) [000] ....:  pid=4822 prio=120 group_dead=false", RAW_EXIT,
	  SYS_OTHER, 4822, 0),
	S("c pid=9 prio=1", "sched_process_exit: comm=c pid=9 prio=1 pid=4822 prio=120 group_dead=true", RAW_EXIT,
	  SYS_OTHER, 4822, 1),
	S("kid", "sched_process_exit: comm=kid pid=4822 prio=120", RAW_EXIT, SYS_OTHER, 4822, A),
	/* an old kernel, which has no group_dead of its own */
	S("x group_dead=1", "sched_process_exit: comm=x group_dead=1 pid=4822 prio=120", RAW_EXIT, SYS_OTHER, 4822, A),
	/* a newer kernel than any we know */
	S("kid", "sched_process_exit: comm=kid pid=4822 prio=120 group_dead=true mood=7 colour=green", RAW_EXIT,
	  SYS_OTHER, 4822, 1),
	S("kid", "sched_process_exit: comm=kid pid=0x5706 (22278) prio=0x78 (120) group_dead=(1)", RAW_EXIT, SYS_OTHER,
	  22278, 1),
	S("[001] d..1. 1.2", "task_rename: pid=4821 oldcomm=kid newcomm=[001] d..1. 1.2 oom_score_adj=0", RAW_RENAME,
	  SYS_OTHER, 4821),
	/* names that could end here or there: one of them is what the line's column says */
	S("task", "task_rename: pid=4821 oldcomm=d newcomm=e newcomm=task oom_score_adj=-17", RAW_RENAME, SYS_OTHER,
	  4821),
	S("e newcomm=f", "task_rename: pid=4821 oldcomm=d newcomm=e newcomm=f oom_score_adj=-17", RAW_RENAME, SYS_OTHER,
	  4821),
	S("b", "task_rename: oldcomm=a newcomm=b oom_score_adj=0", RAW_RENAME, SYS_OTHER, A),
	S("\xff\xfe\x01 z",
	  "task_rename:           pid=1 oldcomm=names newcomm=ARRAY[ff, fe, 01, 20, 7a, 00, 00, 00, "
	  "00, 00, 00, 00, 00, 00, 00, 00] oom_score_adj=0",
	  RAW_RENAME, SYS_OTHER, 1),
	F("signal_generate: sig=11 errno=0 code=-6 comm=x pid=1 grp=2 pid=4830 grp=0 res=0", RAW_SIGNAL, SYS_OTHER, 11,
	  (uint64_t)-6, 4830),
	F("signal_generate: sig=0xb (11) errno=0x0 (0) code=0xfffffffa (-6) comm=x y pid=0x570d (22285) "
	  "group=0x0 (0) result=0x0 (0)",
	  RAW_SIGNAL, SYS_OTHER, 11, (uint64_t)-6, 22285),
	S("/tmp/a b name=c start=0x9\\040",
	  "pfs_map: start=0x1000 end=0x3000 off=0x2000 dev=0xfe00000 ino=77 prot=0x5 flags=0x2 source=1 "
	  "name=/tmp/a b name=c start=0x9\\040",
	  RAW_PFS_MAP, SYS_OTHER, 0x1000, 0x3000, 0x2000, DEV(254, 0), 77, 5, 2, 1),
	S("",
	  "pfs_map: start=0x1000 end=0x3000 off=0xffffffffffffffff dev=0xfe00000 ino=-1 prot=0x5 "
	  "flags=0x2 source=0 name=",
	  RAW_PFS_MAP, SYS_OTHER, 0x1000, 0x3000, A, DEV(254, 0), A, 5, 2, 0),
	S("x tid=9", "pfs_task: tid=8 pid=7 ended=-1 comm=x tid=9", RAW_PFS_TASK, SYS_OTHER, 8, 7, A),
	S("page_size=4096", "pfs_note:             text=page_size=4096", RAW_PFS_NOTE, SYS_OTHER),
	F("sched_wakeup: comm=a pid=2 prio=120 target_cpu=001", RAW_OTHER, SYS_OTHER),
	F("sys_read(fd: 3, buf: 0x7f, count: 0x10)", RAW_OTHER, SYS_OTHER),
	F("sys_read -> 0x10", RAW_OTHER, SYS_OTHER),
	F("<stack trace>", RAW_OTHER, SYS_OTHER),
	F("<user stack trace>", RAW_USER_STACK, SYS_OTHER),
	F("mmap -> 0x1", RAW_OTHER, SYS_OTHER),
	F("_mmap: addr: 0", RAW_OTHER, SYS_OTHER),
	F("brk: 1", RAW_OTHER, SYS_OTHER),
};

static void check_form(const struct form *f, const char *end)
{
	struct text_sink sink = { 0 };
	struct pfs_text_stats stats;
	const struct raw_event *ev;
	char line[1024];

	snprintf(line, sizeof(line), HEAD "%s%s", f->text, end);
	stats = read_lines(&sink, line);
	if (sink.nr != 1)
		fail_msg("%zu events in: %s", sink.nr, line);
	ev = &sink.got[0].ev;
	assert_int_equal(ev->ts_ns, 12345678000);
	if (ev->kind != f->kind || ev->nr != f->nr)
		fail_msg("kind %d, call %d: %s", ev->kind, ev->nr, line);
	for (unsigned int i = 0; i < RAW_MAX_ARGS; i++)
		if (ev->arg[i] != (i < f->nr_args ? f->arg[i] : A))
			fail_msg("argument %u is %#llx: %s", i, (unsigned long long)ev->arg[i], line);
	if (!f->str != !ev->str || (f->str && strcmp(f->str, sink.got[0].str)))
		fail_msg("string is '%s': %s", ev->str ? sink.got[0].str : "NULL", line);
	assert_int_equal(stats.events, f->kind != RAW_OTHER);
	assert_int_equal(stats.other, f->kind == RAW_OTHER);
	text_sink_fini(&sink);
}

#define CHECK_FORMS(table)                                                    \
	for (unsigned int i = 0; i < sizeof(table) / sizeof(table[0]); i++) { \
		check_form(&table[i], "\n");                                  \
		check_form(&table[i], "\r\n");                                \
	}

static void test_faults(void **state)
{
	CHECK_FORMS(fault_forms);
}

static void test_calls(void **state)
{
	CHECK_FORMS(call_forms);
}

static void test_tree_and_files(void **state)
{
	CHECK_FORMS(tree_and_file_forms);
}

static void test_tasks(void **state)
{
	CHECK_FORMS(task_forms);
}

/* A row of the table that no form above has would go untested. */
static void test_every_row(void **state)
{
	struct text_sink sink = { 0 };
	char line[256];

	for (unsigned int i = 0; i < nr_raw_descs; i++) {
		snprintf(line, sizeof(line), HEAD "%s: %s\n", raw_descs[i].name,
			 raw_descs[i].kind == RAW_HIDDEN ? "0x1: pfs_hidden" : "x");
		read_lines(&sink, line);
		assert_int_equal(sink.got[i].ev.kind, raw_descs[i].kind);
		assert_int_equal(sink.got[i].ev.nr, raw_descs[i].nr);
	}
	text_sink_fini(&sink);
}

static void test_page_shift(void **state)
{
	const char line[] = HEAD "mm_filemap_map_pages: dev=8:1 ino=a ofs=65536-262143\n";
	struct text_sink sink = { 0 };
	struct pfs_text *text = pfs_text_new(text_sink_fn, &sink, &(struct pfs_text_options){ .page_shift = 16 });

	pfs_text_feed(text, line, strlen(line));
	pfs_text_free(text);
	assert_int_equal(sink.got[0].ev.arg[2], 1);
	assert_int_equal(sink.got[0].ev.arg[3], 3);
	text_sink_fini(&sink);
}

/* Own records come back as they were written, a long string in one piece. */
static void test_own_events(void **state)
{
	struct raw_event ev = { .ts_ns = 5000000000,
				.kind = RAW_PFS_MAP,
				.cpu = -1,
				.tid = 7,
				.arg = { 0x1000, 0x2000, A, DEV(8, 1), 12, 5, 2, 1 },
				.str = "/a\nb c" };
	const char *piece = HEAD "pfs_note: text=name+=/some/\n";
	const char *last = HEAD "pfs_map: start=0x1 end=0x2 off=0x0 dev=0x0 ino=0 prot=0x0 flags=0x0 "
				"source=0 name=where\n";
	struct text_sink sink = { 0 };
	char *line = pfs_records_text(&ev), *both;

	read_lines(&sink, line);
	free(line);
	assert_int_equal(sink.got[0].ev.kind, RAW_PFS_MAP);
	assert_int_equal(sink.got[0].ev.cpu, -1);
	assert_int_equal(sink.got[0].ev.tid, 7);
	assert_int_equal(sink.got[0].ev.ts_ns, 5000000000);
	assert_memory_equal(sink.got[0].ev.arg, ev.arg, sizeof(ev.arg));
	assert_string_equal(text_got_str(&sink, 0), "/a\\012b c");
	assert_int_not_equal(asprintf(&both, "%s%s", piece, last), -1);
	read_lines(&sink, both);
	free(both);
	assert_int_equal(sink.nr, 2);
	assert_string_equal(text_got_str(&sink, 1), "/some/where");
	text_sink_fini(&sink);
}

/* Columns of every layout; comm NULL: not said. */
static const struct {
	const char *line;
	const char *comm;
	int tid, tgid, cpu;
	uint64_t ts_ns;
	enum text_clock clock;
} columns[] = {
	{ "             kid-4818    (   4817) [003] d..1.  1281.049542: x: y", "kid", 4818, 4817, 3, 1281049542000,
	  TEXT_CLOCK_US },
	{ "             kid-4818    (-------) [003] .....  1281.049542: x: y", "kid", 4818, -1, 3, 1281049542000,
	  TEXT_CLOCK_US },
	{ "             kid-4818  (-----) [003] ....  1281.049542: x: y", "kid", 4818, -1, 3, 1281049542000,
	  TEXT_CLOCK_US },
	{ "             kid-4818  [003]  1281.049542: x: y", "kid", 4818, -1, 3, 1281049542000, TEXT_CLOCK_US },
	{ "          <idle>-0     [128] dNh2  0.000001: x: y", "<idle>", 0, -1, 128, 1000, TEXT_CLOCK_US },
	{ "           <...>-1234567 [000] ....  1281.049542: x: y", NULL, 1234567, -1, 0, 1281049542000,
	  TEXT_CLOCK_US },
	{ "             kid-4818  [003] .....  1281.049542317: x: y", "kid", 4818, -1, 3, 1281049542317,
	  TEXT_CLOCK_NS },
	{ "             kid-4818  [003] ..... 3414584783418: x: y", "kid", 4818, -1, 3, 3414584783418,
	  TEXT_CLOCK_PLAIN },
	{ "             kid-4818  [003] .....            2: x: y", "kid", 4818, -1, 3, 2, TEXT_CLOCK_PLAIN },
	{ "             kid-4818  [003]  1281.049542: (+12)    x: y", "kid", 4818, -1, 3, 1281049542000,
	  TEXT_CLOCK_US },
	{ "             kid-4818  [003]  1281.049542:          x: y", "kid", 4818, -1, 3, 1281049542000,
	  TEXT_CLOCK_US },
	{ "             kid-4818  [003]-0x1  1281.049542: x:  y=1", "kid", 4818, -1, 3, 1281049542000, TEXT_CLOCK_US },
	{ "     kid-4818      3d..1. 1281049542us+: x: y", "kid", 4818, -1, 3, 1281049542000, TEXT_CLOCK_US },
	{ "     kid-4818    12d..1. 1281049542us : x: y", "kid", 4818, -1, 12, 1281049542000, TEXT_CLOCK_US },
	{ "     kid-4818    0.....  1281.049542: x: y", "kid", 4818, -1, 0, 1281049542000, TEXT_CLOCK_US },
	/* cut to eight bytes: who knows what follows */
	{ "my - [ta-4818    0.....  1281.049542: x: y", NULL, 4818, -1, 0, 1281049542000, TEXT_CLOCK_US },
	{ "#1234567-4818    0.....  1281.049542: x: y", NULL, 4818, -1, 0, 1281049542000, TEXT_CLOCK_US },
	{ "kid-4818 [003] 1281.049542: x: y", "kid", 4818, -1, 3, 1281049542000, TEXT_CLOCK_US },
	{ "  kid-4818 [003] 2: x: y", "kid", 4818, -1, 3, 2, TEXT_CLOCK_PLAIN },
	{ "inst:              kid-4818  [003]  1281.049542: x: y", "kid", 4818, -1, 3, 1281049542000, TEXT_CLOCK_US },
	{ "in-1 [000] 1.2: x:              kid-4818  [003]  1281.049542: x: y", "kid", 4818, -1, 3, 1281049542000,
	  TEXT_CLOCK_US },
	{ "             kid-4818  [003] ..... 18446744073.709551615: x: y", "kid", 4818, -1, 3, UINT64_MAX,
	  TEXT_CLOCK_NS },
};

static void test_columns(void **state)
{
	struct text_sink sink = { 0 };
	struct pfs_text_stats stats;
	char line[256];

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		const char *comm;

		snprintf(line, sizeof(line), "%s\n", columns[i].line);
		stats = read_lines(&sink, line);
		if (sink.nr != i + 1)
			fail_msg("no event: %s", line);
		comm = text_got_comm(&sink, i);
		if (!comm != !columns[i].comm || (comm && strcmp(comm, columns[i].comm)))
			fail_msg("name '%s': %s", comm ? comm : "NULL", line);
		assert_int_equal(sink.got[i].ev.tid, columns[i].tid);
		assert_int_equal(sink.got[i].ev.tgid, columns[i].tgid);
		assert_int_equal(sink.got[i].ev.cpu, columns[i].cpu);
		if (sink.got[i].ev.ts_ns != columns[i].ts_ns)
			fail_msg("time %llu: %s", (unsigned long long)sink.got[i].ev.ts_ns, line);
		assert_int_equal(stats.clock, columns[i].clock);
	}
	text_sink_fini(&sink);
}

static void test_no_event(void **state)
{
	static const char *const lines[] = {
		"hello",
		"kid-12",
		"kid-12 [000]",
		"kid-12 [000] 1.2",
		"kid-12 [000] 1.2:",
		"kid-12 [000] 1.2:   ",
		"kid-x [000] 1.2: a",
		"kid-12 [] 1.2: a",
		"kid-12 [0x1] 1.2: a",
		"kid-12 [000] d..1. : a",
		"kid-12 [000] 1.: a",
		"kid-12 [000] .2: a",
		"kid-12 [000] 1.2 a",
		"kid-99999999999 [000] 1.2: a",
		"kid-12 [99999999999] 1.2: a",
		"kid-12 [000] 99999999999.000001: a",
		"kid-12 [000] 1.0123456789: a",
		"kid-12 [000] 99999999999999999999: a",
		"kid-12 (12 [000] 1.2: a",
		"kid-12 (x) [000] 1.2: a",
		"5520 1 1370010722247 type: 174",
		"CPU:x [LOST 5 EVENTS]",
		"CPU:1 [LOST five EVENTS]",
		"CPU:1 [LOST 5 EVENTS] and more",
		"CPU:1",
		"cpus=",
		"cpus=2x",
		"version = six",
		"CPU 1 is full",
		"-",
		"--",
		" -1",
	};
	struct text_sink sink = { 0 };
	struct pfs_text_stats stats;
	char line[256];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(line, sizeof(line), "#\n%s\n%s\n", lines[i], lines[i]);
		stats = read_lines(&sink, line);
		if (sink.nr || stats.unparsed != 2)
			fail_msg("taken for something: %s", lines[i]);
		assert_int_equal(stats.first_unparsed, 2);
		assert_int_equal(stats.lines, 3);
	}
	text_sink_fini(&sink);
}

static void test_headers(void **state)
{
	struct text_sink sink = { 0 };
	struct pfs_text_stats stats =
		read_lines(&sink, "# tracer: nop\n#\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n\n   \n"
				  "##### CPU 1 buffer started ####\nversion = 6\ncpus=2\n  in: cpus=2\nCPU 1 is empty\n"
				  "CPU:1 [SUBBUFFER START]\n => do_fault\n=> do_fault (ffffffff81000000)\n"
				  "# kid-4818 [003] 1281.049542: x: quoted\n\r\n");

	assert_int_equal(stats.headers, 15);
	assert_int_equal(stats.lines, 15);
	assert_int_equal(sink.nr, 0);
	text_sink_fini(&sink);
}

static void test_lost(void **state)
{
	static const struct {
		int cpu;
		uint64_t lost, ts_ns, since_ns;
	} want[] = {
		{ 1, 5, 1000000000, A },    { 0, A, 2000000000, A },  { 12, 7, 2000000000, A },
		{ 3, A, 3000000000, A },    { -1, 9, 3000000000, A }, { 1, A, 4000000000, 3000000000 },
		{ 5000, A, 4000000000, A },
	};
	struct text_sink sink = { 0 };
	struct pfs_text_stats stats = read_lines(
		&sink, "CPU:1 [LOST 5 EVENTS]\nkid-1 [001] 1.000000: a: b\nCPU:0 [LOST EVENTS]\n"
		       "kid-1 [001] 2.000000: a: b\n   in: CPU:12 [7 EVENTS DROPPED]\nCPU:3 [EVENTS DROPPED]\n"
		       "kid-1 [001] 3.000000: a: b\n[9 EVENTS DROPPED]\nCPU:1 [LOST EVENTS]\n"
		       "kid-1 [000] 4.000000: a: b\nCPU:5000 [LOST EVENTS]\n");

	assert_int_equal(stats.lost, 7);
	assert_int_equal(stats.unparsed, 0);
	assert_int_equal(sink.nr, 11);
	for (size_t i = 0, n = 0; i < sink.nr; i++) {
		const struct raw_event *ev = &sink.got[i].ev;

		if (ev->kind != RAW_LOST)
			continue;
		assert_int_equal(ev->cpu, want[n].cpu);
		assert_true(ev->arg[0] == want[n].lost);
		assert_true(ev->arg[1] == want[n].since_ns);
		assert_int_equal(ev->ts_ns, want[n].ts_ns);
		assert_int_equal(ev->tid, -1);
		assert_int_equal(ev->tgid, -1);
		assert_null(ev->comm);
		n++;
	}
	assert_int_equal(sink.got[0].ev.kind, RAW_LOST); /* before the event that follows it */
	text_sink_fini(&sink);
}

/* A callback's error ends the call, and the rest is not read. */
static void test_stop(void **state)
{
	const char *text = HEAD "a: b\n" HEAD "a: b\n";
	struct text_sink sink = { .ret = -EPIPE };
	struct pfs_text_stats stats;

	assert_int_equal(text_sink_read(&sink, text, strlen(text), &stats), -EPIPE);
	assert_int_equal(sink.nr, 1);
	assert_int_equal(stats.lines, 1);
	text_sink_fini(&sink);
}

/* A line may have any length; a last one that does not end is none. */
static void test_long_and_cut(void **state)
{
	const size_t sizes[] = { PFS_TEXT_LINE_MAX - 1, PFS_TEXT_LINE_MAX, PFS_TEXT_LINE_MAX + 1,
				 5 * PFS_TEXT_LINE_MAX };
	const char *head = HEAD "sched_process_exec: filename=", *next = "\n" HEAD "a: b\n" HEAD "a:";

	for (unsigned int i = 0; i < 8; i++) {
		size_t size = sizes[i % 4], len = size + strlen(next), half = i < 4 ? len : size / 2;
		struct text_sink sink = { 0 };
		struct pfs_text *t = pfs_text_new(text_sink_fn, &sink, NULL);
		char *text = malloc(len + 1);

		memset(text, 'x', len);
		memcpy(text, head, strlen(head));
		strcpy(text + size, next);
		pfs_text_feed(t, text, half);
		pfs_text_feed(t, text + half, len - half);
		pfs_text_finish(t);
		assert_int_equal(sink.nr, size > PFS_TEXT_LINE_MAX ? 1 : 2);
		assert_int_equal(pfs_text_stats(t)->too_long, size > PFS_TEXT_LINE_MAX);
		assert_int_equal(pfs_text_stats(t)->cut, 1);
		assert_int_equal(pfs_text_stats(t)->unparsed, 1 + (size > PFS_TEXT_LINE_MAX));
		assert_int_equal(pfs_text_stats(t)->lines, 3);
		pfs_text_free(t);
		text_sink_fini(&sink);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faults),	       cmocka_unit_test(test_calls),
		cmocka_unit_test(test_tree_and_files), cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_every_row),      cmocka_unit_test(test_page_shift),
		cmocka_unit_test(test_own_events),     cmocka_unit_test(test_columns),
		cmocka_unit_test(test_no_event),       cmocka_unit_test(test_headers),
		cmocka_unit_test(test_lost),	       cmocka_unit_test(test_stop),
		cmocka_unit_test(test_long_and_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
