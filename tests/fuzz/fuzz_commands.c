// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whole commands in process: a recording of any kind (trace.dat, text, event lines), read by a command with a set of its
 * options, to the end of its output. The first four bytes of an input choose the command and its options, the rest is the
 * file.
 *
 * argp ends the process at a wrong option, so each set here is valid: at most one of each list.
 */
#include "fuzz.h"

#include "common/command.h"
#include "dat/dat.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NR_CHOICES = 4 }; /* bytes before the file */

#define LIST(...)                 \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

static const char *const *const filters[] = {
	LIST("--pid=1", "--pid=1,2036", "--tid=2036", "--comm=*", "--comm=?[a-m]*"),
	LIST("--region=*", "--region=heap,stack,anon", "--region=file:*", "--region=[[]*", "--region=?000*"),
	LIST("--from=0.0001", "--to=0.001", "--at=0.0005", "--at=0", "--from=@5000.0001"),
	LIST("--salvage"),
	NULL,
};
static const char *const *const strict[] = { LIST("--strict"), NULL }; /* not of diff */

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
	bool first_needed; /* one of the first list is always given, because the others depend on it */
	const char *const *const *lists;
} commands[] = {
	{ "render", cmd_render, false,
	  (const char *const *const[]){
		  LIST("--classic", "--full", "--names", "--by-address", "--sort=touched", "--sort=time"),
		  LIST("--width=40", "--width=200"), LIST("--all"), LIST("--class=anonymous,copy"),
		  LIST("--color=always"), NULL } },
	{ "render", cmd_render, false,
	  (const char *const *const[]){ LIST("--top=3"), LIST("--sort=faults"), LIST("--by-class"), NULL } },
	{ "report", cmd_report, false, (const char *const *const[]){ LIST("--check"), NULL } },
	{ "report", cmd_report, false,
	  (const char *const *const[]){
		  LIST("--json", "--csv"), LIST("--by=file,region", "--by=process,thread", "--by=class,thread"),
		  LIST("--top=2"), LIST("--wide"), LIST("--class=*page", "--class=unknown"), NULL } },
	{ "diff", cmd_diff, false,
	  (const char *const *const[]){ LIST("--json", "--csv", "--all"), LIST("--top=2"), LIST("--class=unknown"),
					LIST("--fail-if=faults>+5%", "--fail-if=pages[a*]>2"), NULL } },
	{ "events", cmd_events, false,
	  (const char *const *const[]){ LIST("--json", "--csv"), LIST("--all"), LIST("--class=*page"), NULL } },
	{ "maps", cmd_maps, false, (const char *const *const[]){ LIST("--json", "--csv"), NULL } },
	{ "pages", cmd_pages, false, (const char *const *const[]){ LIST("--json", "--csv"), NULL } },
	{ "tape", cmd_tape, false,
	  (const char *const *const[]){ LIST("--format=binary", "--format=prefetch"), LIST("--by=process", "--by=all"),
					LIST("--stable"), LIST("--first"), LIST("--no-code"), LIST("--no-times"),
					NULL } },
	{ "tape", cmd_tape, true,
	  (const char *const *const[]){ LIST("--format=prefetch"), LIST("--ahead=1", "--ahead=1000000"),
					LIST("--window=0", "--window=1ms"), NULL } },
	{ "tape", cmd_tape, false,
	  (const char *const *const[]){ LIST("--format=lackey", "--format=csv", "--format=oracle-general"),
					LIST("--first"), LIST("--no-code"), NULL } },
	{ "mrc", cmd_mrc, false,
	  (const char *const *const[]){ LIST("--json", "--csv"), LIST("--policy=lru,clock,opt", "--policy=opt"),
					LIST("--window=1ms,10ms", "--window=100ns"), LIST("--each-process"),
					LIST("--sizes=1,4,64K"), LIST("--no-code"), NULL } },
	{ "mrc", cmd_mrc, true,
	  (const char *const *const[]){ LIST("--window=1ms,10ms"), LIST("--series"), LIST("--json", "--csv"), NULL } },
	{ "kmap", cmd_kmap, false,
	  (const char *const *const[]){ LIST("--json", "--csv"), LIST("--symbols"), LIST("--pid=1,2036"),
					LIST("--comm=*s*"), LIST("--cache=k*"), LIST("--size=64-512"),
					LIST("--salvage"), NULL } },
	{ "kmap", cmd_kmap, true,
	  (const char *const *const[]){ LIST("--stats"), LIST("--json", "--csv"), LIST("--top=3"), LIST("--comm=*s*"),
					LIST("--size=-512"), LIST("--salvage"), NULL } },
	{ "kmap", cmd_kmap, true,
	  (const char *const *const[]){ LIST("--bars"), LIST("--all", "--top=2"), LIST("--cache=k*"),
					LIST("--size=-512"), LIST("--salvage"), NULL } },
	{ "kmap", cmd_kmap, true,
	  (const char *const *const[]){ LIST("--flame"), LIST("--cache=k*"), LIST("--salvage"), NULL } },
	{ "export", cmd_export, true,
	  (const char *const *const[]){ LIST("--to=firefox", "--to=perfetto", "--to=pprof", "--to=folded",
					     "--to=speedscope", "--to=chrome", "--to=html"),
					NULL } },
	{ "plot", cmd_plot, false,
	  (const char *const *const[]){ LIST("--width=40", "--width=200"), LIST("--color=always"),
					LIST("--sort=faults"), NULL } },
	{ "plot", cmd_plot, true,
	  (const char *const *const[]){ LIST("--format=html"),
					LIST("--color-by=thread", "--color-by=fault-class", "--heat"),
					LIST("--title=a\"<b>"), LIST("--theme=dark"), LIST("--sort=faults"), NULL } },
	{ "plot", cmd_plot, true,
	  (const char *const *const[]){ LIST("--format=svg", "--format=png", "--format=pdf"),
					LIST("--color-by=thread", "--color-by=class", "--heat"), LIST("--size=480x320"),
					LIST("--theme=dark"), LIST("--sort=faults"), NULL } },
};
enum { NR_COMMANDS = sizeof(commands) / sizeof(commands[0]), MAX_ARGS = 16 };

/* Adds at most one option of each list, as words that may be changed. */
static int add_options(char **argv, int argc, const char *const *const *lists, bool first_needed, uint32_t *choice)
{
	static char words[MAX_ARGS][64];

	for (; *lists; lists++) {
		uint32_t nr = 0;

		while ((*lists)[nr])
			nr++;
		if (first_needed && !(*choice % (nr + 1)))
			(*choice)++;
		first_needed = false;
		if (*choice % (nr + 1)) {
			argv[argc] = strcpy(words[argc], (*lists)[*choice % (nr + 1) - 1]);
			argc++;
		}
		*choice /= nr + 1;
	}
	return argc;
}

/* The path of a file in memory with these bytes; the same one each time. */
static const char *file_of(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (ftruncate(fd, size) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[MAX_ARGS], name[32];
	uint32_t which, choice;
	int argc = 1;

	if (size < NR_CHOICES)
		return -1;
	stdout = stderr = fuzz_nowhere();
	which = data[0] % NR_COMMANDS;
	choice = data[1] | data[2] << 8 | data[3] << 16;
	snprintf(name, sizeof(name), "pfscope %s", commands[which].name);
	argv[0] = name;
	argc = add_options(argv, argc, commands[which].lists, commands[which].first_needed, &choice);
	if (commands[which].main != cmd_kmap) /* it has its own */
		argc = add_options(argv, argc, filters, false, &choice);
	if (commands[which].main != cmd_diff && commands[which].main != cmd_kmap)
		argc = add_options(argv, argc, strict, false, &choice);
	argv[argc++] = (char *)file_of(data + NR_CHOICES, size - NR_CHOICES);
	if (commands[which].main == cmd_diff) { /* of two recordings */
		argv[argc] = argv[argc - 1];
		argc++;
	}
	argv[argc] = NULL;
	commands[which].main(argc, argv);
	fflush(fuzz_nowhere());
	return 0;
}

/* The offsets in a trace.dat are absolute: mostly a stretch of it is changed in place. See fuzz_dat.c. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	size_t at, len;

	if (seed % 4 == 0 || size < NR_CHOICES + PFS_DAT_MAGIC_LEN + 2)
		return LLVMFuzzerMutate(data, size, max);
	seed /= 4;
	if (seed % 4 == 0) {
		data[seed / 4 % NR_CHOICES] = seed / 16;
		return size;
	}
	at = NR_CHOICES + seed / 8 % (size - NR_CHOICES);
	len = 1 + seed % (seed % 8 ? 32 : 256);
	if (len > size - at)
		len = size - at;
	LLVMFuzzerMutate(data + at, len, len);
	return size;
}
