// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first and only program of the guest's initramfs (tests/vm/boot puts it there, built static): loads
 * the modules beside it, makes the host's root its own with a layer of memory above it, runs the job
 * (a line GUEST_RUNS on the console) and hands its exit status out: as a line GUEST_RC=N there and, on x86,
 * through the device isa-debug-exit.
 *
 *   /modules/NN-NAME.ko   loaded in the order of their names
 *   /shares               lines "TAG PATH": folders of the host's, which can be written to if the tag is not "tree"
 *   /job                  the shell script to run
 *   /as_init              if it is there, the job takes the place of this program, and its end is that of the guest
 *
 * The console is the first serial line; the job's output goes to the second, as it is.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define ROOT "/new"

#ifdef __x86_64__
#include <sys/io.h>
#define CONSOLE "/dev/ttyS0"
#define OUTPUT	"/dev/ttyS1"

/* qemu's own status is 2 * status + 1. */
static void switch_off(int status)
{
	if (!ioperm(0xf4, 1, 1))
		outb(status, 0xf4);
}
#else /* qemu's board "virt" */
#define CONSOLE "/dev/ttyAMA0"
#define OUTPUT	"/dev/ttyS0"

static void switch_off(int status)
{
	(void)status;
	usleep(100000); /* for what the serial lines have not sent yet */
	reboot(RB_POWER_OFF);
}
#endif

static void __attribute__((noreturn)) leave(int status)
{
	printf("GUEST_RC=%d\n", status);
	fflush(stdout);
	tcdrain(STDOUT_FILENO);
	sync();
	switch_off(status);
	for (;;)
		pause();
}

static void __attribute__((noreturn)) fail(const char *what, const char *on)
{
	printf("init: %s %s: %s\n", what, on, strerror(errno));
	leave(125);
}

static void mounted(const char *what, const char *where, const char *type, unsigned long flags, const char *options)
{
	mkdir(where, 0755);
	if (mount(what, where, type, flags, options))
		fail("mount", where);
}

static void open_console(void)
{
	int fd = open(CONSOLE, O_RDWR);

	for (int i = 0; fd >= 0 && i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
}

static void load_modules(void)
{
	struct dirent **names;
	int nr = scandir("/modules", &names, NULL, alphasort);

	for (int i = 0; i < nr; i++) {
		char path[512];
		int fd;

		if (names[i]->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/modules/%s", names[i]->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
			fail("module", path);
		close(fd);
	}
}

/* Those above the path. */
static void make_folders(const char *path)
{
	char folder[4096];

	for (const char *slash = path; (slash = strchr(slash + 1, '/'));) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		mkdir(folder, 0755);
	}
}

/* "share0 /some/folder": the same path as on the host. */
static void mount_shares(void)
{
	FILE *f = fopen("/shares", "re");
	char line[4096], tag[64], path[4000];

	while (f && fgets(line, sizeof(line), f)) {
		char where[4096];

		if (sscanf(line, "%63s %3999[^\n]", tag, path) != 2)
			continue;
		snprintf(where, sizeof(where), ROOT "%s", path);
		make_folders(where);
		mounted(tag, where, "virtiofs", strcmp(tag, "tree") ? 0 : MS_RDONLY, NULL);
	}
	if (f)
		fclose(f);
}

static void copy_job(void)
{
	char buf[65536];
	int in = open("/job", O_RDONLY | O_CLOEXEC);
	int out = open(ROOT "/run/job", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	ssize_t n;

	if (in < 0 || out < 0)
		fail("copy", "/job");
	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, n) != n)
			fail("copy", "/job");
	close(in);
	close(out);
}

static void make_root(void)
{
	mounted("root", "/host", "virtiofs", MS_RDONLY, NULL);
	mounted("rw", "/rw", "tmpfs", 0, "mode=0755,size=80%");
	mkdir("/rw/upper", 0755);
	mkdir("/rw/work", 0755);
	mounted("overlay", ROOT, "overlay", 0, "lowerdir=/host,upperdir=/rw/upper,workdir=/rw/work");
	mounted("proc", ROOT "/proc", "proc", 0, NULL);
	mounted("sys", ROOT "/sys", "sysfs", 0, NULL);
	mounted("dev", ROOT "/dev", "devtmpfs", 0, NULL);
	mounted("pts", ROOT "/dev/pts", "devpts", 0, "mode=0620,gid=5,ptmxmode=0666");
	mounted("shm", ROOT "/dev/shm", "tmpfs", 0, "mode=1777");
	mounted("run", ROOT "/run", "tmpfs", 0, "mode=0755");
	mounted("debugfs", ROOT "/sys/kernel/debug", "debugfs", 0, NULL);
	mounted("tracefs", ROOT "/sys/kernel/tracing", "tracefs", 0, NULL);
	mounted("/dev/vda", ROOT "/scratch", "ext4", 0, NULL);
	chmod(ROOT "/scratch", 01777);
	mount_shares();
	copy_job();
	if (chdir(ROOT) || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		fail("chroot", ROOT);
}

/* What systemd or udev would have done. */
static void finish_root(void)
{
	static const char *const links[][2] = {
		{ "/proc/self/fd", "/dev/fd" },
		{ "/proc/self/fd/0", "/dev/stdin" },
		{ "/proc/self/fd/1", "/dev/stdout" },
		{ "/proc/self/fd/2", "/dev/stderr" },
	};

	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		if (symlink(links[i][0], links[i][1]) && errno != EEXIST)
			fail("symlink", links[i][1]);
	mkdir("/run/lock", 01777);
	sethostname("guest", 5);
}

static void __attribute__((noreturn)) run_job(int out)
{
	static char *const argv[] = { "bash", "/run/job", NULL };
	static char *const envp[] = { NULL };
	int in = open("/dev/null", O_RDONLY);

	setsid();
	if (in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(125);
	close(in);
	close(out);
	execve("/bin/bash", argv, envp);
	_exit(127);
}

/* The job's output, unchanged: no newline becomes two bytes. */
static int open_output(void)
{
	int fd = open(OUTPUT, O_RDWR | O_NOCTTY);
	struct termios t;

	if (fd < 0 || tcgetattr(fd, &t))
		fail("open", OUTPUT);
	cfmakeraw(&t);
	cfsetspeed(&t, B115200);
	tcsetattr(fd, TCSANOW, &t);
	return fd;
}

int main(void)
{
	bool as_init = !access("/as_init", F_OK);
	int out, status = 0;
	pid_t job, pid;

	mounted("dev", "/dev", "devtmpfs", 0, NULL);
	open_console();
	load_modules();
	make_root();
	finish_root();
	out = open_output();
	printf("GUEST_RUNS\n");
	fflush(stdout);
	job = as_init ? 0 : fork();
	if (job == 0)
		run_job(out);
	do {
		pid = waitpid(-1, &status, 0);
	} while (pid != job && (pid > 0 || errno == EINTR));
	tcdrain(out);
	leave(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}
