/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of kernel objects: each becomes an event with what is known of it, and no other.
 */
#include "support/stap_forge.h"

#include "tapset/objects.h"

static struct pfs_rec object(struct forge *f, enum pfs_object_rec_type type, uint64_t ptr, uint64_t site, uint32_t size,
			     uint32_t allocated, const char *name)
{
	struct pfs_rec rec = forge_rec(f, (enum pfs_rec_type)type);
	union pfs_rec_objects *body = (union pfs_rec_objects *)rec.body;

	body->object = (struct pfs_rec_object){
		.ptr = ptr, .site = site, .size = size, .allocated = allocated, .name_len = strlen(name)
	};
	memcpy(body->object.name, name, strlen(name));
	return rec;
}

static void put_object(struct forge *f, enum pfs_object_rec_type type, uint64_t ptr, uint64_t site, uint32_t size,
		       uint32_t allocated, const char *name)
{
	struct pfs_rec rec = object(f, type, ptr, site, size, allocated, name);

	forge_put(f, &rec);
}

static const char *function(const void *ctx, uint64_t addr, uint64_t *start)
{
	*start = 0x1000;
	return addr >= 0x1000 && addr < 0x2000 ? ctx : NULL;
}

static void test_objects(void **state)
{
	struct forge *f = forge_new();

	pfs_decoder_set_functions(f->d, function, "make");
	put_object(f, PFS_REC_ALLOC, 0xa0, 0x1008, 136, 144, "dentry");
	put_object(f, PFS_REC_ALLOC, 0xb0, 0x3008, 0, 0, "");
	put_object(f, PFS_REC_KMALLOC, 0xc0, 0x1fff, 100, 128, "");
	put_object(f, PFS_REC_RELEASE, 0xa0, 0x1010, 0, 0, "dentry");
	put_object(f, PFS_REC_RELEASE, 0xc0, 0x3008, 0, 0, "");
	forge_expect(f, "alloc site=1008 func=\"make+0x8\" ptr=a0 size=136 allocated=144 cache=\"dentry\"\n"
			"alloc site=3008 ptr=b0 size=0\n"
			"alloc site=1fff func=\"make+0xfff\" ptr=c0 size=100 allocated=128 cache=\"kmalloc\"\n"
			"free site=1010 func=\"make+0x10\" ptr=a0 cache=\"dentry\"\n"
			"free site=3008 ptr=c0\n");
	forge_free(f);
}

/* As long as the record has room for, and longer: then it comes before, and is of the next record only. */
static void test_long_names(void **state)
{
	static const char fits[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct forge *f = forge_new();
	char lines[1024], longer[200];

	snprintf(longer, sizeof(longer), "%s%s.", fits, fits);
	put_object(f, PFS_REC_RELEASE, 0xa0, 1, 0, 0, fits);
	forge_name(f, longer);
	put_object(f, PFS_REC_RELEASE, 0xb0, 1, 0, 0, "");
	put_object(f, PFS_REC_RELEASE, 0xc0, 1, 0, 0, "");
	snprintf(lines, sizeof(lines),
		 "free site=1 ptr=a0 cache=\"%s\"\nfree site=1 ptr=b0 cache=\"%s\"\nfree site=1 ptr=c0\n", fits,
		 longer);
	forge_expect(f, lines);
	forge_free(f);
}

static void put_page(struct forge *f, enum pfs_object_rec_type type, uint64_t pfn, uint32_t order)
{
	struct pfs_rec rec = forge_rec(f, (enum pfs_rec_type)type);

	((union pfs_rec_objects *)rec.body)->page = (struct pfs_rec_page){ pfn, order, 0 };
	forge_put(f, &rec);
}

static void test_pages(void **state)
{
	struct forge *f = forge_new();

	put_page(f, PFS_REC_PAGE_ALLOC, 0x123, 2);
	put_page(f, PFS_REC_PAGE_RELEASE, 0x123, 2);
	forge_expect(f, "alloc pfn=123 order=2 size=16384 allocated=16384\nfree pfn=123 order=2\n");
	forge_free(f);
}

static struct pfs_rec watch(struct forge *f, uint64_t ptr, uint32_t off, uint64_t count, bool last)
{
	struct pfs_rec rec = forge_rec(f, (enum pfs_rec_type)PFS_REC_WATCH);

	((union pfs_rec_objects *)rec.body)->watch =
		(struct pfs_rec_watch){ .ptr = ptr, .off = off, .count = count, .last = last };
	return rec;
}

static struct pfs_rec access_by(struct forge *f, uint64_t ip, uint16_t cpu, bool write)
{
	struct pfs_rec rec = forge_rec(f, (enum pfs_rec_type)PFS_REC_ACCESS);

	((union pfs_rec_objects *)rec.body)->access =
		(struct pfs_rec_access){ .ptr = 0xa0, .off = 16, .ip = ip, .cpu = cpu, .write = write };
	return rec;
}

/*
 * Accesses are of the CPU that is in them; their records are numbered and in order apart from those of the CPUs, and what is
 * missing of them is of no CPU.
 */
static void test_accesses(void **state)
{
	struct forge *f = forge_new();
	struct pfs_rec recs[4];

	pfs_decoder_set_functions(f->d, function, "use");
	f->cpu = 2;
	recs[0] = watch(f, 0xa0, 16, 100, false);
	recs[1] = access_by(f, 0x1010, 0, false);
	recs[2] = access_by(f, 0x3010, 1, true);
	f->now_ns += 1000;
	access_by(f, 0x1010, 0, true); /* not delivered */
	recs[3] = watch(f, 0xa0, 16, 3, true);
	f->cpu = 0;
	f->now_ns = recs[2].ts_ns + 500;
	put_object(f, PFS_REC_RELEASE, 0xb0, 0x1010, 0, 0, "");
	for (int i = 0; i < 4; i++) /* later than what happened after them */
		forge_put(f, &recs[i]);
	forge_expect(f, "watch len=8 off=16 count=100 ptr=a0\n"
			"access len=8 access=read off=16 site=1010 func=\"use+0x10\" ptr=a0\n"
			"access cpu=1 len=8 access=write off=16 site=3010 ptr=a0\n"
			"free site=1010 func=\"use+0x10\" ptr=b0\n"
			"lost count=1 interval=3000\n"
			"watch len=8 off=16 last=1 count=3 ptr=a0\n");
	forge_free(f);
}

static void put_task(struct forge *f, enum pfs_object_rec_type type, int32_t pid, int32_t tid, const char *comm)
{
	struct pfs_rec rec = forge_rec(f, (enum pfs_rec_type)type);
	struct pfs_rec_task *task = &((union pfs_rec_objects *)rec.body)->task;

	task->pid = pid;
	task->tid = tid;
	memcpy(task->comm, comm, strlen(comm));
	forge_put(f, &rec);
}

/* A name is not cut by its record: 16 bytes need no NUL. */
static void test_threads(void **state)
{
	struct forge *f = forge_new();

	put_task(f, PFS_REC_TASK, 0, 0, "0123456789abcdef");
	put_task(f, PFS_REC_CHILD, 200, 200, "child");
	put_task(f, PFS_REC_CHILD, 100, 101, "");
	forge_expect(f, "comm comm=\"0123456789abcdef\"\n"
			"fork child=200\ncomm pid=200 tid=200 comm=\"child\"\n"
			"thread child=101\n");
	forge_free(f);
}

/* They are lost, with the CPU that wrote them. */
static void test_impossible(void **state)
{
	struct forge *f = forge_new();
	struct pfs_rec rec = object(f, PFS_REC_ALLOC, 0xa0, 1, 136, 144, "dentry");

	((union pfs_rec_objects *)rec.body)->object.name_len = PFS_CACHE_NAME_MAX + 1;
	forge_put(f, &rec);
	put_page(f, PFS_REC_PAGE_ALLOC, 0x123, 33);
	put_task(f, PFS_REC_CHILD, 0, 5, "x");
	rec = forge_rec(f, (enum pfs_rec_type)PFS_REC_OBJECTS_NR);
	forge_put(f, &rec);
	forge_expect(f, "lost\nlost\nlost\n");
	assert_int_equal(pfs_decoder_stats(f->d)->damaged, 4);
	forge_free(f);
}

/* Of faults nothing is lacking where none are recorded; what is missing is counted. */
static void test_losses(void **state)
{
	struct forge *f = forge_new();
	struct pfs_rec rec;

	forge_name(f, "kfree");
	rec = forge_rec(f, PFS_REC_PROBE);
	forge_put(f, &rec);
	rec = forge_rec(f, PFS_REC_READY);
	forge_put(f, &rec);
	object(f, PFS_REC_ALLOC, 0xa0, 1, 136, 144, "dentry"); /* not delivered */
	object(f, PFS_REC_ALLOC, 0xb0, 1, 136, 144, "dentry");
	put_object(f, PFS_REC_RELEASE, 0xa0, 1, 0, 0, "dentry");
	forge_expect(f, "note key=\"probe\" value=\"kfree\"\nnote key=\"start\" value=\"mono\"\n"
			"lost count=2 interval=3000\nfree site=1 ptr=a0 cache=\"dentry\"\n");
	forge_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects),	 cmocka_unit_test(test_long_names), cmocka_unit_test(test_pages),
		cmocka_unit_test(test_accesses), cmocka_unit_test(test_threads),    cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
