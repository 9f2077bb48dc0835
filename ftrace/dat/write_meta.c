/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a trace.dat that describe the kernel and the file itself: the same in version 6 and version 7. */
#include "dat/dat_priv.h"

#include <stdlib.h>
#include <string.h>

/* A string with its NUL. */
void dat_put_str(FILE *out, const char *str)
{
	fwrite(str, 1, strlen(str) + 1, out);
}

/* Its length, then the text without a NUL; NULL: none. */
void dat_put_sized8(FILE *out, const char *text)
{
	dat_put64(out, text ? strlen(text) : 0);
	if (text)
		fputs(text, out);
}

static void put_option(FILE *out, uint16_t id, const char *text)
{
	if (!text)
		return;
	dat_put16(out, id);
	dat_put32(out, strlen(text) + 1);
	dat_put_str(out, text);
}

/* "CPU: 0\nentries: 1\n...": the kernel's text lacks the number. */
static void put_cpustat(FILE *out, unsigned int cpu, const char *stats)
{
	char number[32];

	if (!stats)
		return;
	snprintf(number, sizeof(number), "CPU: %u\n", cpu);
	dat_put16(out, DAT_OPT_CPUSTAT);
	dat_put32(out, strlen(number) + strlen(stats) + 1);
	fputs(number, out);
	dat_put_str(out, stats);
}

void dat_put_magic(FILE *out, const struct pfs_dat_content *content, char version)
{
	const struct pfs_formats *f = content->formats;

	fwrite("\x17\x08\x44tracing", 1, PFS_DAT_MAGIC_LEN, out);
	fputc(version, out);
	fputc('\0', out);
	fputc(f->ring.big_endian, out);
	fputc(f->ring.long_size, out);
	dat_put32(out, content->page_size);
}

static void put_header_info(FILE *out, const struct pfs_dat_content *content)
{
	const struct pfs_formats *f = content->formats;

	dat_put_str(out, "header_page");
	dat_put_sized8(out, f->header_page);
	dat_put_str(out, "header_event");
	dat_put_sized8(out, f->header_event);
}

static bool same_system(const struct pfs_formats *f, size_t i, size_t k)
{
	return !strcmp(f->texts[i].system, f->texts[k].system);
}

/* Whether texts[i] is the first of its system. */
static bool first_of_system(const struct pfs_formats *f, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_system(f, i, k))
			return false;
	return true;
}

/* Those of the kernel's own "ftrace" system have a place apart. */
static bool is_tracers(const struct pfs_formats *f, size_t i)
{
	return !strcmp(f->texts[i].system, "ftrace");
}

static void put_tracer_formats(FILE *out, const struct pfs_dat_content *content)
{
	const struct pfs_formats *f = content->formats;
	uint32_t nr = 0;

	for (size_t i = 0; i < f->nr_texts; i++)
		nr += is_tracers(f, i);
	dat_put32(out, nr);
	for (size_t i = 0; i < f->nr_texts; i++)
		if (is_tracers(f, i))
			dat_put_sized8(out, f->texts[i].text);
}

static void put_event_formats(FILE *out, const struct pfs_dat_content *content)
{
	const struct pfs_formats *f = content->formats;
	uint32_t nr_systems = 0;

	for (size_t i = 0; i < f->nr_texts; i++)
		nr_systems += !is_tracers(f, i) && first_of_system(f, i);
	dat_put32(out, nr_systems);
	for (size_t i = 0; i < f->nr_texts; i++) {
		uint32_t nr_events = 0;

		if (is_tracers(f, i) || !first_of_system(f, i))
			continue;
		for (size_t k = i; k < f->nr_texts; k++)
			nr_events += same_system(f, i, k);
		dat_put_str(out, f->texts[i].system);
		dat_put32(out, nr_events);
		for (size_t k = i; k < f->nr_texts; k++)
			if (same_system(f, i, k))
				dat_put_sized8(out, f->texts[k].text);
	}
}

/* "1234 bash\n" lines. The file is in memory. */
static void put_tasks(FILE *out, const struct pfs_dat_content *content)
{
	long at = ftell(out), end;

	dat_put64(out, 0); /* their length, not known yet */
	for (size_t i = 0; i < content->nr_tasks; i++) {
		const struct pfs_dat_task *task = &content->tasks[i];

		fprintf(out, "%d %.*s\n", task->tid, (int)strcspn(task->comm, "\n"), task->comm);
	}
	end = ftell(out);
	fseek(out, at, SEEK_SET);
	dat_put64(out, end - at - 8);
	fseek(out, end, SEEK_SET);
}

static void put_symbols(FILE *out, const struct pfs_dat_content *content)
{
	const char *symbols = content->symbols;
	uint32_t len = symbols ? strlen(symbols) : 0;

	dat_put32(out, len);
	if (len)
		fwrite(symbols, 1, len, out);
}

static void put_printk(FILE *out, const struct pfs_dat_content *content)
{
	(void)content;
	dat_put32(out, 0); /* none */
}

const struct dat_part dat_parts[DAT_NR_PARTS] = {
	{ DAT_OPT_HEADER_INFO, "headers", put_header_info },
	{ DAT_OPT_FTRACE_EVENTS, "ftrace events", put_tracer_formats },
	{ DAT_OPT_EVENT_FORMATS, "events format", put_event_formats },
	{ DAT_OPT_KALLSYMS, "kallsyms", put_symbols },
	{ DAT_OPT_PRINTK, "printk", put_printk },
	{ DAT_OPT_CMDLINES, "command lines", put_tasks },
};

void dat_put_options(FILE *out, const struct pfs_dat_content *content, const char *clock)
{
	put_option(out, DAT_OPT_TRACECLOCK, clock);
	put_option(out, DAT_OPT_UNAME, content->uname);
	put_option(out, DAT_OPT_VERSION, content->version);
	for (unsigned int i = 0; content->cpustats && i < content->nr_cpus; i++)
		put_cpustat(out, i, content->cpustats[i]);
}

/* The clock in use, in brackets: "mono" becomes "[mono]", "local [mono]" stays. NULL: no memory. */
char *dat_clock_text(const char *clock)
{
	char *text;

	if (strchr(clock, '['))
		return strdup(clock);
	return asprintf(&text, "[%s]", clock) < 0 ? NULL : text;
}
