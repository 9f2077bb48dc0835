/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hostile names: calls itself COMM (15 bytes count) and maps a file of a hostile name in DIR, so
 * that whoever prints them can be seen to escape them.
 *
 *     names DIR                   the defaults: escape sequences, a newline, a tab, bytes above 127
 *     names DIR $'\033[2Jx' $'a\nb'
 *
 * The file is removed; the kernel then adds " (deleted)" to its name.
 */
#include "workload.h"

#define PAGES 4

static const char default_comm[] = "a\033[31mb\n\t\\ c\351";
static const char default_name[] = "x\033]0;title\007 \033[2J\n\t\\134 \303\274 \351 (deleted)";

static void print_escaped(const char *key, const char *text)
{
	printf("%s=", key);
	for (; *text; text++)
		if (*text > ' ' && *text < 127 && *text != '\\')
			putchar(*text);
		else
			printf("\\%03o", (unsigned char)*text);
	putchar('\n');
}

static char *map_file(const char *dir, const char *name)
{
	char path[4096];
	char *start;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		wl_die("cannot create the file in %s", dir);
	wl_fill(fd, PAGES, 'n', 1);
	start = wl_map(PAGES, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	unlink(path);
	close(fd);
	return start;
}

int main(int argc, char **argv)
{
	static struct wl wl;
	const char *comm = argc > 2 ? argv[2] : default_comm;
	const char *name = argc > 3 ? argv[3] : default_name;
	char got[16];

	if (argc < 2 || argc > 4)
		wl_usage("names DIR [COMM [FILE-NAME]]");
	wl_init(&wl, "names");
	prctl(PR_SET_NAME, comm);
	prctl(PR_GET_NAME, got);
	wl_touch_write(wl_map_anon(1, PROT_READ | PROT_WRITE), 1);
	wl.pages = PAGES;
	wl.start = map_file(argv[1], name);
	wl.end = wl.start + PAGES * WL_PAGE;
	wl.expect = (struct wl_expect){ PAGES, 0, PAGES, PAGES, PAGES };

	wl_begin(&wl);
	wl_touch_write(wl.start, PAGES);
	wl_end(&wl);

	printf("wrote %d pages of a file with a hostile name\n", PAGES);
	wl_report(&wl);
	print_escaped("comm", got);
	print_escaped("name", name);
	return 0;
}
