// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes what the fuzz targets begin with and no recording is: small trace.dat files of every kind, type information,
 * formats, files of JIT compilers; and of recordings the sub-buffers that fuzz_ring.c takes.
 *
 *     seeds DIR [FILE.dat]...
 */
#define FORGE_PAGE   512
#define FORGE_EVENTS 24
#include "support/dat_forge.h"
#include "support/jit_forge.h"

#include "dat/dat.h"
#include "ring_formats.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <sys/stat.h>

/* DIR/TARGET/NAME */
static void save(const char *dir, const char *target, const char *name, const void *bytes, size_t len)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", dir, target);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/%s/%s", dir, target, name);
	out = fopen(path, "we");
	if (!out || fwrite(bytes, 1, len, out) != len || fclose(out)) {
		perror(path);
		exit(1);
	}
}

static void save_forged(const char *dir)
{
	static const char text[] = "          <idle>-0       [001]  5000.000001: page_fault_user: "
				   "address=0x7f0012345000 ip=0x400123 error_code=0x6\n";
	static const char *const codecs[] = { NULL, "zlib", "zstd" };
	char name[64], *bytes;
	size_t len;

	for (unsigned int i = 0; i < 64; i++) {
		struct forge kind = { .version = i & 1 ? 7 : 6,
				      .big_endian = i & 2,
				      .long_size = i & 4 ? 4 : 8,
				      .instance = i & 8 ? "inst" : NULL,
				      .text = i & 16 ? text : NULL,
				      .codec = i & 1 ? codecs[i / 2 % 3] : NULL };

		if (i & 32) {
			kind.nr_cpus = 1 + i % 5;
			kind.options[0] = (struct forge_option){ 1, "0x123456", 9 };
			kind.options[1] = (struct forge_option){ 7, "-1000", 6 };
			kind.options[2] = (struct forge_option){ 14, "\1\2\3\4\12\0\0\0\0\0\0\0\0\1\0\0", 16 };
			kind.options[3] = (struct forge_option){ 8, "\2\0\0\0", 4 };
			kind.nr_options = 4;
		}
		bytes = forge_bytes(&kind, &len);
		snprintf(name, sizeof(name), "forged-%u", i);
		save(dir, "dat", name, bytes, len);
		free(bytes);
	}
}

/* void handle_mm_fault(vma, address), struct vm_area_struct { struct { vm_start; }; } */
static void save_btf(const char *dir)
{
	static const char strings[] = "\0vm_area_struct\0vm_start\0handle_mm_fault\0vma\0address";
	const uint32_t types[] = {
		0,
		BTF_KIND_STRUCT << 24 | 1,
		8,
		16,
		0,
		0,
		1,
		BTF_KIND_STRUCT << 24 | 1,
		8,
		0,
		1,
		0,
		0,
		BTF_KIND_FUNC_PROTO << 24 | 2,
		0,
		41,
		2,
		45,
		0,
		25,
		BTF_KIND_FUNC << 24,
		3,
	};
	struct {
		struct btf_header h;
		uint32_t types[sizeof(types) / 4];
		char strings[sizeof(strings)];
	} btf;

	btf.h = (struct btf_header){ .magic = BTF_MAGIC,
				     .version = 1,
				     .hdr_len = sizeof(btf.h),
				     .type_len = sizeof(types),
				     .str_off = sizeof(types),
				     .str_len = sizeof(strings) };
	memcpy(btf.types, types, sizeof(types));
	memcpy(btf.strings, strings, sizeof(strings));
	save(dir, "btf", "small", &btf, sizeof(btf));
}

/* Pieces that end in a NUL each: see fuzz_formats.c. */
static void save_formats(const char *dir)
{
	char *bytes, *text;
	size_t len;
	FILE *out = open_memstream(&bytes, &len);

	fputs("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;"
	      "\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n",
	      out);
	fputc(0, out);
	fputs("ffffffff81234560 T do_wp_page\nffffffff81235560 t do_fault\t[ext4]\n", out);
	for (unsigned int id = FORGE_FAULT; id <= FORGE_NEWTASK; id++) {
		text = forge_format(id, 8);
		fprintf(out, "%csched%c%s", 0, 0, text);
		free(text);
	}
	fclose(out);
	save(dir, "formats", "small", bytes, len);
	free(bytes);
}

/* ---- recordings as sub-buffers ---- */

struct ring {
	const struct pfs_formats *formats;
	struct pfs_ringwrite *own, *cpus[2];
};

static unsigned int id_of(const struct raw_event *ev)
{
	for (unsigned int i = 0; i < nr_raw_descs; i++)
		if (raw_descs[i].kind == ev->kind && raw_descs[i].nr == ev->nr)
			return i + 1;
	return 0;
}

static int add_event(void *ctx, const struct raw_event *ev)
{
	struct ring *ring = ctx;
	unsigned int id = id_of(ev), nr, at;
	uint8_t rec[RING_PAGE] = { 0 };

	if (!id || ev->kind == RAW_FUNCTION || (ev->str && strlen(ev->str) > 300))
		return 0;
	nr = ring_nr_args(&raw_descs[id - 1]);
	at = RING_ARGS_AT + 8 * nr;
	pfs_store16(rec, id, false);
	pfs_store32(rec + 4, ev->tid, false);
	memcpy(rec + RING_ARGS_AT, ev->arg, 8 * nr);
	if (raw_descs[id - 1].str) {
		const char *str = ev->str ? ev->str : "";

		pfs_store32(rec + at, (strlen(str) + 1) << 16 | (at + 4), false);
		at += 4;
		strcpy((char *)rec + at, str);
		at += strlen(str) + 1;
	}
	return pfs_ringwrite_append(ev->cpu < 0 ? ring->own : ring->cpus[ev->cpu & 1], ev->ts_ns, rec, at);
}

/* Up to max sub-buffers of a stream, from its first one on. Closes it. */
static size_t copy_pages(struct pfs_ringwrite *w, int fd, size_t max, FILE *out)
{
	uint8_t page[RING_PAGE];
	size_t len = 0;

	pfs_ringwrite_flush(w);
	pfs_ringwrite_free(w);
	for (; len < max && pread(fd, page, RING_PAGE, len * RING_PAGE) == RING_PAGE; len++)
		fwrite(page, 1, RING_PAGE, out);
	close(fd);
	return len;
}

/* The beginning of a recording, with so many sub-buffers of each stream. */
static void save_ring(const char *dir, const char *file, const struct pfs_formats *formats, size_t max)
{
	int fds[3], in = open(file, O_RDONLY | O_CLOEXEC);
	struct pfs_err err = { "" };
	struct pfs_dat *dat = pfs_dat_open(in, file, PFS_DAT_SALVAGE, &err);
	struct pfs_ringwrite *w[3];
	char name[300], *bytes;
	FILE *out;
	size_t len, nr;

	if (!dat) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	for (int i = 0; i < 3; i++) {
		fds[i] = memfd_create("pages", MFD_CLOEXEC);
		w[i] = pfs_ringwrite_new(fds[i], &formats->ring, RING_PAGE);
	}
	pfs_dat_read(dat, 0, add_event, &(struct ring){ formats, w[0], { w[1], w[2] } }, &err);
	out = open_memstream(&bytes, &len);
	fputs("\1\1", out);
	for (int i = 0; i < 3; i++) {
		nr = copy_pages(w[i], fds[i], max, out);
		fflush(out);
		if (i < 2)
			bytes[i] = nr * RING_PAGE / RING_CUT;
	}
	fclose(out);
	snprintf(name, sizeof(name), "%.200s-%zu", strrchr(file, '/') ? strrchr(file, '/') + 1 : file, max);
	save(dir, "ring", name, bytes, len);
	free(bytes);
	pfs_dat_close(dat);
	close(in);
}

/* Replaced, moved, with lines; in either byte order. And a perf map. */
static void save_jit(const char *dir)
{
	static const char map[] = "1000 40 py::main:/a.py\n1010 8 _ZN1a1bEv\n";

	for (int order = 0; order < 2; order++) {
		jit_swap = order;
		jit_header(0);
		jit_lines(10, 0x1000, "a.js", 10, 2);
		jit_load(10, 0x1000, 16, 1, "first");
		jit_load(20, 0x1008, 16, 2, "second");
		jit_move(30, 0x1000, 0x1100, 16, 1);
		jit_record(JIT_CLOSE, 40, 0);
		save(dir, "jit", order ? "swapped" : "plain", jit_bytes, jit_len);
	}
	save(dir, "jit", "map", map, sizeof(map) - 1);
}

int main(int argc, char **argv)
{
	struct pfs_formats *formats = ring_formats();

	if (argc < 2) {
		fprintf(stderr, "usage: seeds DIR [FILE.dat]...\n");
		return 2;
	}
	save_forged(argv[1]);
	save_btf(argv[1]);
	save_formats(argv[1]);
	save_jit(argv[1]);
	for (int i = 2; i < argc; i++)
		for (size_t max = 1; max <= 25; max *= 5)
			save_ring(argv[1], argv[i], formats, max);
	pfs_formats_free(formats);
	return 0;
}
