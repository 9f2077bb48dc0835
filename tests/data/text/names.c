// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The traced child of record.py: makes each event that the text reader knows at least once, by
 * threads whose names look like the columns of a trace line. It waits for a byte on its standard
 * input first, so that record.py can name it in set_event_pid; without arguments it does nothing.
 * Not run by any test.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const names[] = {
	"[001] d..1. 1.2", "1-1 [0] 1.2: a:", "(-----) [000]", "<...>",
	"\xff\xfe\x01 z",  "c pid=9 prio=1",  "d newcomm=e",
};

static void *be(void *name)
{
	prctl(PR_SET_NAME, name);
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	p[0] = 1;
	munmap(p, 8192);
	return NULL;
}

static void anonymous(void)
{
	char *p = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	p[0] = 1;
	p[4096] = 2;
	mprotect(p + 8192, 4096, PROT_READ);
	syscall(SYS_pkey_mprotect, p + 12288, 4096L, PROT_READ, -1L);
	madvise(p, 4096, MADV_DONTNEED);
	struct iovec vec = { p, 4096 };
	syscall(SYS_process_madvise, syscall(SYS_pidfd_open, getpid(), 0), &vec, 1L, 20L, 0L);
	p = mremap(p + 16384, 8192, 16384, MREMAP_MAYMOVE);
	mlock(p, 4096);
	mlock2(p + 4096, 4096, MLOCK_ONFAULT);
	mlockall(MCL_CURRENT | MCL_ONFAULT);
	munlockall();
	sbrk(8192);
	sbrk(-4096);
	char *s = shmat(shmget(IPC_PRIVATE, 8192, 0600 | IPC_CREAT), NULL, 0);
	shmdt(s);
}

static void file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *u = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (write(fd, u + 12288, 8192) != 8192)
		exit(2);
	char *w = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	w[4096] = 3;
	if (read(fd, u + 20485, 4096) < 0 || lseek(fd, 0, SEEK_SET) ||
	    read(fd, u + 20485, 4096) != 4096)
		exit(2);
	syscall(SYS_remap_file_pages, w, 4096L, 0L, 0L, 0L);
	unlink(path);
}

int main(int argc, char **argv)
{
	char c;
	int status;

	if (argc < 3 || read(0, &c, 1) != 1)
		return 1;
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, be, (void *)names[i]);
		pthread_join(thread, NULL);
	}
	prctl(PR_SET_NAME, "a child_comm=b");
	anonymous();
	file(argv[1]);
	if (!fork())
		*(volatile char *)0 = 1;
	wait(&status);
	if (!vfork()) {
		execl(argv[2], argv[2], NULL);
		_exit(3);
	}
	wait(&status);
	if (!syscall(SYS_fork))
		syscall(SYS_execveat, open(argv[2], O_PATH), "", (char *[]){ "true", 0 },
			(char *[]){ 0 }, AT_EMPTY_PATH);
	wait(&status);
	prctl(PR_SET_NAME, "my - [task] 12-");
	if (!syscall(SYS_fork)) {
		kill(getpid(), SIGKILL);
		pause();
	}
	wait(&status);
	return 0;
}
