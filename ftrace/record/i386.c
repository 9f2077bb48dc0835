/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of arch/x86/entry/syscalls/syscall_32.tbl that change or populate a layout. */
#include "record/i386.h"

#include <stdio.h>

#define OLD_IPC 117
#define MMAP2	192
/* Of ipc(call, first, second, third, ptr), the low half of call: linux/ipc.h. */
#define IPC_SHMAT 21
#define IPC_SHMDT 22

static const struct {
	uint16_t id;
	enum raw_sys nr;
} calls[] = {
	{ 2, SYS_FORK },
	{ 11, SYS_EXECVE },
	{ 26, SYS_PTRACE },
	{ 45, SYS_BRK },
	{ RAW_I386_OLD_MMAP, SYS_OTHER },
	{ 54, SYS_IOCTL },
	{ 91, SYS_MUNMAP },
	{ OLD_IPC, SYS_OTHER },
	{ 120, SYS_CLONE },
	{ 125, SYS_MPROTECT },
	{ 150, SYS_MLOCK },
	{ 151, SYS_MUNLOCK },
	{ 152, SYS_MLOCKALL },
	{ 153, SYS_MUNLOCKALL },
	{ 163, SYS_MREMAP },
	{ 172, SYS_PRCTL },
	{ 190, SYS_VFORK },
	{ MMAP2, SYS_MMAP },
	{ 219, SYS_MADVISE },
	{ 246, SYS_IO_DESTROY },
	{ 257, SYS_REMAP_FILE_PAGES },
	{ 347, SYS_PROCESS_VM_READV },
	{ 348, SYS_PROCESS_VM_WRITEV },
	{ 358, SYS_EXECVEAT },
	{ 374, SYS_USERFAULTFD },
	{ 376, SYS_MLOCK2 },
	{ 380, SYS_PKEY_MPROTECT },
	{ 397, SYS_SHMAT },
	{ 398, SYS_SHMDT },
	{ 435, SYS_CLONE3 },
	{ 440, SYS_PROCESS_MADVISE },
	{ 462, SYS_MSEAL },
};
#define NR_CALLS (sizeof(calls) / sizeof(calls[0]))

/* The segment's calls as they are by themselves: shmat(id, addr, flags), shmdt(addr). */
static void decode_ipc(struct raw_event *call)
{
	const uint64_t op = call->arg[0] & 0xffff, first = call->arg[1], second = call->arg[2], ptr = call->arg[4];

	if (op == IPC_SHMAT) {
		call->nr = SYS_SHMAT;
		call->arg[0] = first;
		call->arg[1] = ptr;
		call->arg[2] = second;
	} else if (op == IPC_SHMDT) {
		call->nr = SYS_SHMDT;
		call->arg[0] = ptr;
	}
}

/* arg[0] is the number, and what follows moves up. */
static void decode_args(struct raw_event *call, uint64_t id)
{
	for (int i = 0; i < 6; i++)
		call->arg[i] = (uint32_t)call->arg[i + 1];
	call->arg[6] = RAW_ABSENT;
	if (id == MMAP2)
		call->arg[5] *= 4096; /* in units of that whatever the size of a page */
	if (id == OLD_IPC)
		decode_ipc(call);
}

/* No address is among the last 4095, so those are errors, whether their sign was extended or not. */
static void decode_result(struct raw_event *call)
{
	uint64_t result = call->arg[1];

	call->arg[0] = result <= UINT32_MAX && result > UINT32_MAX - 4095 ? (uint64_t)(int32_t)result : result;
	call->arg[1] = RAW_ABSENT;
}

bool raw_i386_decode(const struct raw_event *raw, struct raw_event *call)
{
	const uint64_t id = raw->arg[0];

	for (size_t i = 0; i < NR_CALLS; i++) {
		if (calls[i].id != id)
			continue;
		*call = *raw;
		call->nr = calls[i].nr;
		call->kind = raw->kind == RAW_CALL_ENTER ? RAW_SYS_ENTER : RAW_SYS_EXIT;
		if (call->kind == RAW_SYS_ENTER)
			decode_args(call, id);
		else
			decode_result(call);
		return true;
	}
	return false;
}

char *raw_i386_filter(char *buf, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < NR_CALLS && len < size; i++)
		len += snprintf(buf + len, size - len, "%sid == %u", i ? " || " : "", calls[i].id);
	return buf;
}
