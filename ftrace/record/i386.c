/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of arch/x86/entry/syscalls/syscall_32.tbl that change or populate a layout. */
#include "record/i386.h"

#include <stdio.h>

#define IPC 117
#define CALL(number, name, ...)                                 \
	{                                                       \
		.id = (number), .nr = SYS_##name, ##__VA_ARGS__ \
	}

/*
 * ipc(call, first, second, third, ptr) stands for several: which one is the low half of `call` (linux/ipc.h), and their
 * arguments are in another order. mmap2 has the offset in units of 4096 bytes whatever the size of a page.
 */
static const struct call {
	uint16_t id;
	enum raw_sys nr;
	uint8_t op, from[3]; /* of ipc: its call, and which of its arguments, from 1, are the first three */
	uint16_t unit;	     /* of the sixth argument; 0: bytes */
} calls[] = {
	CALL(2, FORK),
	CALL(11, EXECVE),
	CALL(26, PTRACE),
	CALL(45, BRK),
	CALL(RAW_I386_OLD_MMAP, OTHER),
	CALL(54, IOCTL),
	CALL(91, MUNMAP),
	CALL(IPC, SHMAT, .op = 21, .from = { 2, 5, 3 }),
	CALL(IPC, SHMDT, .op = 22, .from = { 5 }),
	CALL(IPC, OTHER),
	CALL(120, CLONE),
	CALL(125, MPROTECT),
	CALL(150, MLOCK),
	CALL(151, MUNLOCK),
	CALL(152, MLOCKALL),
	CALL(153, MUNLOCKALL),
	CALL(163, MREMAP),
	CALL(172, PRCTL),
	CALL(190, VFORK),
	CALL(192, MMAP, .unit = 4096),
	CALL(219, MADVISE),
	CALL(246, IO_DESTROY),
	CALL(257, REMAP_FILE_PAGES),
	CALL(347, PROCESS_VM_READV),
	CALL(348, PROCESS_VM_WRITEV),
	CALL(358, EXECVEAT),
	CALL(374, USERFAULTFD),
	CALL(376, MLOCK2),
	CALL(380, PKEY_MPROTECT),
	CALL(397, SHMAT),
	CALL(398, SHMDT),
	CALL(435, CLONE3),
	CALL(440, PROCESS_MADVISE),
	CALL(462, MSEAL),
	{ 0 },
};

bool raw_i386_decode(const struct raw_event *raw, struct raw_event *call)
{
	const bool enters = raw->kind == RAW_CALL_ENTER;
	const uint64_t op = enters ? raw->arg[1] & 0xffff : 0, result = raw->arg[1];
	const struct call *row = calls;

	while (row->id && (row->id != raw->arg[0] || (row->op && row->op != op)))
		row++;
	*call = *raw;
	call->kind = enters ? RAW_SYS_ENTER : RAW_SYS_EXIT;
	call->nr = row->nr;
	for (int i = 0; i < 6 && enters; i++) /* the number was in front */
		call->arg[i] = (uint32_t)raw->arg[i < 3 && row->from[i] ? row->from[i] : i + 1];
	if (row->unit)
		call->arg[5] *= row->unit;
	if (!enters) /* the last 4095 are no addresses but errors, whether their sign was extended or not */
		call->arg[0] = result <= UINT32_MAX && result > UINT32_MAX - 4095 ? (uint64_t)(int32_t)result : result;
	call->arg[enters ? 6 : 1] = RAW_ABSENT;
	return row->id;
}

char *raw_i386_filter(char *buf, size_t size)
{
	size_t len = 0;

	for (const struct call *row = calls; row->id && len < size; row++)
		if (!row->op) /* ipc has a row without */
			len += snprintf(buf + len, size - len, "%sid == %u", len ? " || " : "", row->id);
	return buf;
}
