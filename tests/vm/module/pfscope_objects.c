// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A kernel module of the tests: a cache of its own, and objects that are allocated and freed in known number, by known
 * functions, in the process that asks for it. tests/vm/objects.guest holds `pfscope kmap` against it.
 *
 *     echo small 100 >/proc/pfscope_objects       allocates 100 of the cache
 *     echo large 5 >...                           ... by kmalloc(), 1500 bytes each
 *     echo leak 7 >...                            ... of the cache, by a function whose objects nobody frees
 *     echo free 60 >...                           frees the 60 oldest of `small'
 *     echo release 5 >...                         ... of `large'
 *     echo touch 3 >...                           reads word w of the oldest `small' 3 * (w + 1) times and, but for the
 *                                                 first two, writes it as often; meanwhile an object by po_mark() lives
 *
 * The constructor keeps the cache from being merged with others. What is left goes with the module.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#define SMALL 136
#define LARGE 1500

struct object {
	struct list_head list;
};

static struct kmem_cache *cache;
static LIST_HEAD(smalls);
static LIST_HEAD(larges);
static LIST_HEAD(leaked);
static DEFINE_MUTEX(lock);

static void construct(void *object)
{
}

/* The barriers keep each call from being the last instruction of its function, which would not be the call site then. */
static noinline void *po_small(void)
{
	void *object = kmem_cache_alloc(cache, GFP_KERNEL);

	barrier();
	return object;
}

static noinline void *po_large(void)
{
	void *object = kmalloc(LARGE, GFP_KERNEL);

	barrier();
	return object;
}

static noinline void *po_leak(void)
{
	void *object = kmem_cache_alloc(cache, GFP_KERNEL);

	barrier();
	return object;
}

static noinline void po_free(struct object *object)
{
	kmem_cache_free(cache, object);
	barrier();
}

static noinline void po_release(struct object *object)
{
	kfree(object);
	barrier();
}

static noinline void *po_mark(void)
{
	void *object = kmalloc(24, GFP_KERNEL);

	barrier();
	return object;
}

static noinline void po_read(const u64 *words, unsigned int nr)
{
	for (unsigned int w = 0; w < SMALL / 8; w++)
		for (unsigned int i = 0; i < nr * (w + 1); i++)
			READ_ONCE(words[w]);
	barrier();
}

static noinline void po_write(u64 *words, unsigned int nr)
{
	for (unsigned int w = sizeof(struct list_head) / 8; w < SMALL / 8; w++)
		for (unsigned int i = 0; i < nr * (w + 1); i++)
			WRITE_ONCE(words[w], i);
	barrier();
}

static void touch(struct object *object, unsigned int nr)
{
	void *mark = po_mark();

	po_read((const u64 *)object, nr);
	po_write((u64 *)object, nr);
	kfree(mark);
}

static int allocate(struct list_head *list, void *(*make)(void), unsigned int nr)
{
	while (nr--) {
		struct object *object = make();

		if (!object)
			return -ENOMEM;
		list_add_tail(&object->list, list);
	}
	return 0;
}

static void drop(struct list_head *list, void (*unmake)(struct object *object), unsigned int nr)
{
	while (nr-- && !list_empty(list)) {
		struct object *object = list_first_entry(list, struct object, list);

		list_del(&object->list);
		unmake(object);
	}
}

static ssize_t write(struct file *file, const char __user *from, size_t len, loff_t *at)
{
	char text[32] = "", word[16];
	unsigned int nr;
	int ret = 0;

	if (len >= sizeof(text) || copy_from_user(text, from, len) || sscanf(text, "%15s %u", word, &nr) != 2)
		return -EINVAL;
	mutex_lock(&lock);
	if (!strcmp(word, "small"))
		ret = allocate(&smalls, po_small, nr);
	else if (!strcmp(word, "large"))
		ret = allocate(&larges, po_large, nr);
	else if (!strcmp(word, "leak"))
		ret = allocate(&leaked, po_leak, nr);
	else if (!strcmp(word, "touch") && !list_empty(&smalls))
		touch(list_first_entry(&smalls, struct object, list), nr);
	else if (!strcmp(word, "free"))
		drop(&smalls, po_free, nr);
	else if (!strcmp(word, "release"))
		drop(&larges, po_release, nr);
	else
		ret = -EINVAL;
	mutex_unlock(&lock);
	return ret ? ret : len;
}

static const struct proc_ops ops = { .proc_write = write };

static void remove(void)
{
	drop(&smalls, po_free, UINT_MAX);
	drop(&leaked, po_free, UINT_MAX);
	drop(&larges, po_release, UINT_MAX);
	kmem_cache_destroy(cache);
}

static int __init begin(void)
{
	cache = kmem_cache_create("pfscope_small", SMALL, 0, 0, construct);
	if (!cache)
		return -ENOMEM;
	if (proc_create("pfscope_objects", 0200, NULL, &ops))
		return 0;
	remove();
	return -ENOMEM;
}

static void __exit end(void)
{
	remove_proc_entry("pfscope_objects", NULL);
	remove();
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kernel objects in known number, for the tests of pfscope");
