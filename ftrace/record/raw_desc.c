/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of kernel events that pfscope reads: which fields become which arguments.
 *
 * Both readers and the capture use it. Adding an event is a row here and one in assemble.c.
 */
#include "record/raw.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define SYSCALL(NR, name, ...)							\
	{ "syscalls", "sys_enter_" name, RAW_SYS_ENTER, NR, { __VA_ARGS__ }, NULL },	\
	{ "syscalls", "sys_exit_" name, RAW_SYS_EXIT, NR, { "ret" }, NULL }
#define EVENT(system, name, KIND, str, ...)					\
	{ system, name, KIND, SYS_OTHER, { __VA_ARGS__ }, str }
/* arg[4] is of text only */
#define OBJECT(name, KIND, str) \
	EVENT("kmem", name, KIND, str, "call_site", "ptr", "bytes_req", "bytes_alloc", "-", "common_flags")
#define WPROBE(name) EVENT("wprobes", name, RAW_WPROBE, NULL, "__probe_ip", "addr", "off", "value", "word")
/* clang-format on */

const struct raw_desc raw_descs[] = {
	EVENT("exceptions", "page_fault_user", RAW_FAULT_USER, NULL, "address", "ip", "error_code"),
	EVENT("exceptions", "page_fault_kernel", RAW_FAULT_KERNEL, NULL, "address", "ip", "error_code"),
	EVENT("maple_tree", "ma_write", RAW_MA_WRITE, NULL, "index", "last", "val"),
	EVENT("filemap", "mm_filemap_map_pages", RAW_MAP_PAGES, NULL, "s_dev", "i_ino", "index", "last_index"),
	EVENT("filemap", "mm_filemap_add_to_page_cache", RAW_ADD_CACHE, NULL, "s_dev", "i_ino", "index", "order"),
	EVENT("filemap", "mm_filemap_delete_from_page_cache", RAW_DELETE_CACHE, NULL, "s_dev", "i_ino", "index",
	      "order"),
	EVENT("filemap", "mm_filemap_fault", RAW_FILE_FAULT, NULL, "s_dev", "i_ino", "index"),
	EVENT("kmem", "mm_page_alloc", RAW_PAGE_ALLOC, NULL, "pfn", "order", "gfp_flags", "-", "-", "common_flags"),
	OBJECT("kmalloc", RAW_KMALLOC, NULL),
	OBJECT("kmalloc_node", RAW_KMALLOC, NULL),
	OBJECT("kmem_cache_alloc", RAW_CACHE_ALLOC, "name"),
	OBJECT("kmem_cache_alloc_node", RAW_CACHE_ALLOC, "name"),
	EVENT("kmem", "kfree", RAW_CACHE_FREE, NULL, "call_site", "ptr"),
	EVENT("kmem", "kmem_cache_free", RAW_CACHE_FREE, "name", "call_site", "ptr"),
	EVENT("kmem", "mm_page_free", RAW_PAGE_FREE, NULL, "pfn", "order"),
	EVENT("signal", "signal_generate", RAW_SIGNAL, NULL, "sig", "code", "pid"),
	EVENT("damon", "damon_aggregated", RAW_DAMON, NULL, "target_id", "start", "end", "nr_accesses"),
	EVENT("mmap", "exit_mmap", RAW_EXIT_MMAP, NULL, NULL),
	EVENT("sched", "sched_process_exec", RAW_EXEC, "filename", "pid", "old_pid"),
	EVENT("sched", "sched_process_fork", RAW_FORK, "child_comm", "parent_pid", "child_pid"),
	EVENT("sched", "sched_process_exit", RAW_EXIT, "comm", "pid", "group_dead"),
	EVENT("task", "task_newtask", RAW_NEWTASK, "comm", "pid", "clone_flags"),
	EVENT("task", "task_rename", RAW_RENAME, "newcomm", "pid"),
	SYSCALL(SYS_MMAP, "mmap", "addr", "len", "prot", "flags", "fd", "off"),
	SYSCALL(SYS_MUNMAP, "munmap", "addr", "len"),
	SYSCALL(SYS_MREMAP, "mremap", "addr", "old_len", "new_len", "flags", "new_addr"),
	SYSCALL(SYS_MPROTECT, "mprotect", "start", "len", "prot"),
	SYSCALL(SYS_PKEY_MPROTECT, "pkey_mprotect", "start", "len", "prot", "pkey"),
	SYSCALL(SYS_BRK, "brk", "brk"),
	SYSCALL(SYS_MADVISE, "madvise", "start", "len_in", "behavior"),
	SYSCALL(SYS_PROCESS_MADVISE, "process_madvise", "pidfd", "vec", "vlen", "behavior"),
	SYSCALL(SYS_SHMAT, "shmat", "shmid", "shmaddr", "shmflg"),
	SYSCALL(SYS_SHMDT, "shmdt", "shmaddr"),
	SYSCALL(SYS_EXECVE, "execve", "filename"),
	SYSCALL(SYS_EXECVEAT, "execveat", "fd", "filename"),
	SYSCALL(SYS_CLONE, "clone", "clone_flags", "newsp"),
	SYSCALL(SYS_CLONE3, "clone3", "uargs", "size"),
	SYSCALL(SYS_FORK, "fork", NULL),
	SYSCALL(SYS_VFORK, "vfork", NULL),
	SYSCALL(SYS_MLOCK, "mlock", "start", "len"),
	SYSCALL(SYS_MLOCK2, "mlock2", "start", "len", "flags"),
	SYSCALL(SYS_MUNLOCK, "munlock", "start", "len"),
	SYSCALL(SYS_MLOCKALL, "mlockall", "flags"),
	SYSCALL(SYS_MUNLOCKALL, "munlockall", NULL),
	SYSCALL(SYS_REMAP_FILE_PAGES, "remap_file_pages", "start", "size", "prot", "pgoff", "flags"),
	SYSCALL(SYS_MSEAL, "mseal", "start", "len"),
	SYSCALL(SYS_IO_DESTROY, "io_destroy", "ctx"),
	SYSCALL(SYS_PROCESS_VM_READV, "process_vm_readv", "pid"),
	SYSCALL(SYS_PROCESS_VM_WRITEV, "process_vm_writev", "pid"),
	SYSCALL(SYS_PTRACE, "ptrace", "request", "pid"),
	SYSCALL(SYS_USERFAULTFD, "userfaultfd", "flags"),
	SYSCALL(SYS_IOCTL, "ioctl", "fd", "cmd"),
	SYSCALL(SYS_PRCTL, "prctl", "option", "arg2", "arg3", "arg4", "arg5"),
	EVENT("raw_syscalls", "sys_enter", RAW_CALL_ENTER, NULL, "id", "args[0]", "args[1]", "args[2]", "args[3]",
	      "args[4]", "args[5]"),
	EVENT("raw_syscalls", "sys_exit", RAW_CALL_EXIT, NULL, "id", "ret"),
	/* dynamic events, in a group named after the pfscope that placed them (dynevents.h) */
	EVENT("pfscope_*", "pfs_handler", RAW_HANDLER, NULL, "address", "flags", "vma", "start", "end"),
	EVENT("pfscope_*", "pfs_handler_end", RAW_HANDLER_END, NULL, "ret"),
	/* in a group that the kernel demands (wprobes.h) */
	WPROBE("pfs_word0"),
	WPROBE("pfs_word1"),
	WPROBE("pfs_word2"),
	WPROBE("pfs_word3"),
	EVENT("ftrace", "kernel_stack", RAW_STACK, NULL, "size", "common_flags", "caller[0]"),
	EVENT("ftrace", "user_stack", RAW_USER_STACK, NULL, "tgid", "common_flags", "caller[0]"),
	EVENT("ftrace", "print", RAW_HIDDEN, "buf", "ip"),
	EVENT("ftrace", "function", RAW_FUNCTION, NULL, "ip", "parent_ip"),
	EVENT("pfscope", "pfs_map", RAW_PFS_MAP, "name", "start", "end", "off", "dev", "ino", "prot", "flags",
	      "source"),
	EVENT("pfscope", "pfs_task", RAW_PFS_TASK, "comm", "tid", "pid", "ended"),
	EVENT("pfscope", "pfs_note", RAW_PFS_NOTE, "text", NULL),
	EVENT("pfscope", "pfs_hist", RAW_PFS_HIST, NULL, "address", "error_code", "count", "kernel", "interval"),
	EVENT("pfscope", "pfs_cached", RAW_PFS_CACHED, NULL, "dev", "ino", "off", "end_off", "state", "interval",
	      "last", "order"),
	EVENT("pfscope", "pfs_access", RAW_PFS_ACCESS, NULL, "call_site", "ptr", "off", "len", "access", "pid"),
	EVENT("pfscope", "pfs_watch", RAW_PFS_WATCH, NULL, "ptr", "off", "len", "count", "last"),
	EVENT("pfscope", "pfs_stack", RAW_PFS_STACK, "frames", "address", "ip", "stack", "user", "unreadable"),
};
const unsigned int nr_raw_descs = sizeof(raw_descs) / sizeof(raw_descs[0]);

bool raw_desc_of_system(const struct raw_desc *desc, const char *system)
{
	size_t len = strlen(desc->system);

	if (desc->system[len - 1] == '*')
		return !strncmp(desc->system, system, len - 1);
	return !strcmp(desc->system, system);
}

const struct raw_desc *raw_desc_find(const char *system, const char *name)
{
	for (unsigned int i = 0; i < nr_raw_descs; i++)
		if (!strcmp(raw_descs[i].name, name) && (!system || raw_desc_of_system(&raw_descs[i], system)))
			return &raw_descs[i];
	return NULL;
}

bool raw_hidden_take(struct raw_event *ev)
{
	static const char mark[] = "pfs_hidden", gup[] = "_gup";

	if (!ev->str || strncmp(ev->str, mark, sizeof(mark) - 1) != 0)
		return false;
	ev->arg[1] = !strncmp(ev->str + sizeof(mark) - 1, gup, sizeof(gup) - 1);
	ev->str = NULL;
	return true;
}

void raw_seen_add(struct raw_seen *seen, enum raw_kind kind, const char *system, const char *name)
{
	char one[72];
	int len = 0;

	seen->faults |= kind == RAW_FAULT_USER || kind == RAW_FAULT_KERNEL;
	seen->objects |= raw_is_object(kind);
	seen->own |= kind >= RAW_PFS_MAP;
	while (isalnum((unsigned char)name[len]) || name[len] == '_')
		len++;
	if (seen->faults || kind >= RAW_PFS_MAP || seen->nr > 4 || !len)
		return;
	snprintf(one, sizeof(one) - 1, " %s%s%.*s", system ? system : "", system ? ":" : "", len, name);
	strcat(one, ",");
	if (!strstr(seen->names, one))
		strcat(seen->names, seen->nr++ < 4 ? one : " ...,");
}
