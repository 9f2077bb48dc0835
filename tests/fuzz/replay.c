// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The target of whole commands without libFuzzer, which only clang has: for the sanitizers of gcc, in `make check-cli`.
 *
 *     replay RUNS SEED FILE...
 *
 * Each run takes one of the files, a command and its options, and changes some bytes; the seed decides all of it.
 */
#include "fuzz_commands.c"

#include <fcntl.h>
#include <sys/stat.h>

static uint64_t state;

static uint32_t random_number(void)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return state >> 33;
}

/* Changes a byte to any other or to one nearby, in one place of 16. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
	for (size_t nr = size / 16 + 1; size && nr; nr--) {
		uint8_t *byte = data + random_number() % size;

		*byte = random_number() % 2 ? random_number() : *byte + random_number() % 9 - 4;
	}
	return size;
}

/* The file behind NR_CHOICES bytes. */
static uint8_t *read_input(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *data;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		perror(path);
		exit(2);
	}
	*size = NR_CHOICES + st.st_size;
	data = calloc(1, *size);
	if (!data || read(fd, data + NR_CHOICES, st.st_size) != st.st_size)
		abort();
	close(fd);
	return data;
}

int main(int argc, char **argv)
{
	unsigned long runs = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
	FILE *out = stdout; /* a run takes stdout away */

	if (argc < 4) {
		fprintf(stderr, "usage: replay RUNS SEED FILE...\n");
		return 2;
	}
	state = strtoul(argv[2], NULL, 10);
	for (unsigned long i = 0; i < runs; i++) {
		size_t size;
		uint8_t *data = read_input(argv[3 + random_number() % (argc - 3)], &size);

		for (int k = 0; k < NR_CHOICES; k++)
			data[k] = random_number();
		if (random_number() % 4)
			LLVMFuzzerCustomMutator(data, size, size, random_number() | 1);
		LLVMFuzzerTestOneInput(data, size);
		free(data);
	}
	fprintf(out, "%lu runs\n", runs);
	return 0;
}
