// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What JIT compilers write: a jitdump, whose names change only when its epoch does; and the same bytes as a perf map.
 */
#include "fuzz.h"

#include "base/write_all.h"
#include "jit/dump.h"
#include "jit/perf_map.h"

#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/pfscope-fuzz.XXXXXX";

static void remove_file(void)
{
	unlink(path);
}

static void check_dump(const struct pfs_jit_dump *dump, uint64_t addr, uint64_t ts_ns)
{
	struct pfs_jit_place now = { 0 }, later = { 0 };
	bool found = pfs_jit_dump_find(dump, addr, ts_ns, UINT64_MAX, &now);

	if (found && (!*now.func || now.behind > addr))
		abort();
	if (pfs_jit_dump_epoch(dump, ts_ns) > pfs_jit_dump_epoch(dump, ts_ns + 7))
		abort();
	if (dump->other_clock || pfs_jit_dump_epoch(dump, ts_ns) != pfs_jit_dump_epoch(dump, ts_ns + 7))
		return;
	if (pfs_jit_dump_find(dump, addr, ts_ns + 7, UINT64_MAX, &later) != found || now.func != later.func ||
	    now.behind != later.behind || now.line != later.line)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct pfs_intern *strings = NULL;
	struct pfs_perf_map map;
	struct pfs_jit_dump dump;
	uint64_t behind;
	int ret;

	if (fd < 0) {
		fd = mkstemp(path);
		atexit(remove_file);
	}
	if (fd < 0 || ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) || pfs_write_all(fd, data, size))
		abort();
	lseek(fd, 0, SEEK_SET);
	ret = pfs_jit_dump_read(&dump, dup(fd), &strings);
	if (ret < 0)
		abort();
	for (uint64_t addr = 0xff0; addr < 0x1120; addr += 8)
		for (uint64_t ts_ns = 0; ts_ns < 50; ts_ns += 5)
			check_dump(&dump, addr, ts_ns);
	pfs_jit_dump_fini(&dump);
	lseek(fd, 0, SEEK_SET);
	if (pfs_perf_map_read(&map, dup(fd), size ? data[0] * 8 : 0, &strings))
		abort();
	for (uint64_t addr = 0xff0; addr < 0x1120; addr += 8)
		if (pfs_perf_map_find(&map, addr, &behind) && behind > addr)
			abort();
	pfs_perf_map_fini(&map);
	pfs_intern_free(strings);
	return 0;
}
