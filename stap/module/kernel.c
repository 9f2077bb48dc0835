/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "module/kernel.h"

#include "base/write_all.h"
#include "module/module.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

uint64_t pfs_hash_file(uint64_t hash, const char *path)
{
	size_t len;
	char *bytes = pfs_read_whole_file(path, &len);

	if (bytes)
		hash = pfs_hash(hash, bytes, len);
	free(bytes);
	return hash;
}

void pfs_lockdown_parse(const char *line, char *state, size_t size)
{
	const char *open = strchr(line, '['), *close = open ? strchr(open, ']') : NULL;

	*state = '\0';
	if (close && strncmp(open, "[none]", 6))
		snprintf(state, size, "%.*s", (int)(close - open - 1), open + 1);
}

static void find_lockdown(struct pfs_kernel *kernel)
{
	char line[128];

	if (pfs_read_file("/sys/kernel/security/lockdown", line, sizeof(line)) > 0)
		pfs_lockdown_parse(line, kernel->lockdown, sizeof(kernel->lockdown));
}

/* In the places where SystemTap looks for it. Debian's headers have one with types alone. */
static void find_vmlinux(struct pfs_kernel *kernel)
{
	static const char *const places[] = {
		"/usr/lib/debug/boot/vmlinux-%s",
		"/usr/lib/debug/lib/modules/%s/vmlinux",
		"/usr/lib/debug/lib/modules/%s/vmlinux.debug",
		"/lib/modules/%s/vmlinux",
		"/lib/modules/%s/build/vmlinux",
		"/boot/vmlinux-%s",
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(kernel->vmlinux, sizeof(kernel->vmlinux), places[i], kernel->release);
#pragma GCC diagnostic pop
		if (pfs_elf_has_section(kernel->vmlinux, ".debug_info"))
			return;
	}
	kernel->vmlinux[0] = '\0';
}

int pfs_kernel_check_modules(const char *release, struct pfs_err *err)
{
	struct utsname uts;

	uname(&uts);
	if ((release && strcmp(release, uts.release)) || !access("/proc/modules", F_OK))
		return 0;
	return pfs_err_set(
		err, -ENOSYS,
		"this kernel was built without loadable modules: SystemTap cannot work on it; --source=ftrace records without");
}

int pfs_kernel_find(struct pfs_kernel *kernel, const char *release, struct pfs_err *err)
{
	char path[PATH_MAX + 32];
	struct utsname uts;

	memset(kernel, 0, sizeof(*kernel));
	uname(&uts);
	if (!release)
		release = uts.release;
	if (strchr(release, '/') || strlen(release) >= sizeof(kernel->release))
		return pfs_err_set(err, -EINVAL, "%s: not a kernel release", release);
	snprintf(kernel->release, sizeof(kernel->release), "%s", release);
	kernel->running = !strcmp(release, uts.release);
	find_lockdown(kernel);
	find_vmlinux(kernel);
	snprintf(kernel->build, sizeof(kernel->build), "/lib/modules/%s/build", release);
	snprintf(path, sizeof(path), "%s/.config", kernel->build);
	if (access(path, R_OK))
		return pfs_err_set(
			err, -ENOENT,
			"the headers of kernel %s, which SystemTap needs, are not installed: install linux-headers-%s, or build on another machine (pfscope stap build -r %s -o FILE) and load with --module FILE",
			release, release, release);
	return 0;
}

uint64_t pfs_kernel_identity(const struct pfs_kernel *kernel, bool dwarf)
{
	static const char *const files[] = { ".config", "Module.symvers", "include/generated/utsrelease.h",
					     "include/generated/compile.h" };
	uint64_t hash = pfs_hash(PFS_HASH_START, kernel->release, strlen(kernel->release) + 1);
	char path[PATH_MAX + 64];
	struct stat st;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", kernel->build, files[i]);
		hash = pfs_hash_file(hash, path);
	}
	if (dwarf && !stat(kernel->vmlinux, &st)) {
		hash = pfs_hash(hash, &st.st_size, sizeof(st.st_size));
		hash = pfs_hash(hash, &st.st_mtim.tv_sec, sizeof(st.st_mtim.tv_sec));
	}
	return hash;
}

static bool is_inner(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

const char *pfs_word_find(const char *text, const char *from, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = strstr(from, word); p; p = strstr(p + 1, word))
		if ((p == text || !is_inner(p[-1])) && !is_inner(p[len]))
			return p;
	return NULL;
}

static bool file_has(const char *path, const char *word)
{
	char *text = pfs_read_whole_file(path, NULL);
	bool found = text && pfs_word_find(text, text, word);

	free(text);
	return found;
}

bool pfs_kernel_config_has(const struct pfs_kernel *kernel, const char *line)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/.config", kernel->build);
	return access(path, R_OK) || file_has(path, line);
}

bool pfs_kernel_header_has(const struct pfs_kernel *kernel, const char *header, const char *word)
{
	char path[PATH_MAX + 128];

	snprintf(path, sizeof(path), "%s/include/%s", kernel->build, header);
	if (file_has(path, word))
		return true;
	/* Debian keeps what all flavours share elsewhere: where /lib/modules/RELEASE/source points. */
	snprintf(path, sizeof(path), "/lib/modules/%s/source/include/%s", kernel->release, header);
	return file_has(path, word);
}

/* A real table has thousands of lines. */
#define REAL_TABLE 100000

static bool is_table(const char *path)
{
	struct stat st;

	return !stat(path, &st) && st.st_size > REAL_TABLE && !access(path, R_OK);
}

bool pfs_kernel_map_real(const struct pfs_kernel *kernel)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/boot/System.map-%s", kernel->release);
	return is_table(path);
}

FILE *pfs_kernel_symbols(const struct pfs_kernel *kernel)
{
	static const char *const places[] = { "/usr/lib/debug/boot", "/boot" };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/System.map-%s", places[i], kernel->release);
		if (is_table(path))
			return fopen(path, "re");
	}
	return kernel->running ? fopen("/proc/kallsyms", "re") : NULL;
}

bool pfs_kernel_symbol_next(FILE *symbols, char *name)
{
	char line[1024], type;

	while (fgets(line, sizeof(line), symbols)) /* those of modules have a [name] behind */
		if (sscanf(line, "%*s %c %511s", &type, name) == 2 && (type == 'T' || type == 't') &&
		    !strchr(line, '['))
			return true;
	return false;
}
