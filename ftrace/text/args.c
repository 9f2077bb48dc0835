// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The arguments of events, from text. Most are "name=value" of the row's own fields; what the kernel prints otherwise
 * has a reader below. Each reader takes the kernel's print form, that of libtraceevent, and the forms that show the
 * bare fields: options/fields of the kernel ("pid=0x12 (18)"), trace-cmd report -R, and "[FAILED TO PARSE] index=0x10
 * ...". Events that hold a task's name or a path are text/names.c's.
 */
#include "text/args.h"

#include "record/handlers.h"
#include "text/scan.h"

struct text_body {
	const struct text_event *te;
	const char *s, *end;
	unsigned int page_shift;
	char *str;
	struct raw_event *ev;
};

static bool is_separator(char c, const char *separators)
{
	return c && strchr(separators, c);
}

/*
 * Finds the field: its name as a whole word and one of the separators after it. Returns where its
 * value starts, or NULL.
 */
static const char *find_field(const char *s, const char *end, const char *name, size_t len, const char *separators)
{
	const char *p = s;

	if (!len)
		return NULL;
	for (; (p = memmem(p, end - p, name, len)); p++)
		if ((p == s || !pfs_is_word(p[-1])) && is_separator(p[len], separators))
			return text_skip_spaces(p + len + 1);
	return NULL;
}

static const char *find_key(const char *s, const char *end, const struct text_key *key, const char *separators)
{
	const char *p = find_field(s, end, key->name[0], key->len[0], separators);

	return p ? p : find_field(s, end, key->name[1], key->len[1], separators);
}

static const char *find_word(const char *s, const char *end, const char *name)
{
	return find_field(s, end, name, strlen(name), "= ");
}

/* The number at p, or RAW_ABSENT; p may be NULL. options/fields shows a byte as "(1)" only. */
static uint64_t number_at(const char *p, unsigned int base)
{
	uint64_t v;

	if (p && *p == '(') {
		p++;
		base = 10;
	}
	return p && pfs_any_number(p, base, &v) > p ? v : RAW_ABSENT;
}

/*
 * An address as %ps shows it: "0x7fa3d0f6bd58", or the name of a symbol, which is no address. Bare
 * digits are one too, but "fade" could be either: symbols never start with a digit.
 */
static uint64_t address_at(const char *p)
{
	return p && pfs_is_digit(*p) ? number_at(p, 16) : RAW_ABSENT;
}

/* page_fault_user: address=0x7fa3d0f6bd58 ip=0x7fa3d0ff8d6c error_code=0x6 */
static void read_fault(struct text_body *b)
{
	static const char address[] = "address=0x";
	const size_t len = sizeof(address) - 1;
	const char *p;
	uint64_t v[3];

	if ((size_t)(b->end - b->s) > len && !memcmp(b->s, address, len) && text_fault(b->s + len, b->end, v)) {
		memcpy(b->ev->arg, v, sizeof(v));
		return;
	}
	for (unsigned int i = 0; i < 3; i++) {
		p = find_key(b->s, b->end, &b->te->arg[i], "=");
		b->ev->arg[i] = i < 2 ? address_at(p) : number_at(p, 16);
	}
}

/*
 * sys_mmap(addr: 0, len: 0x801000, prot: 0, flags: 0x20022, fd: 0xffffffff, off: 0)
 * sys_mmap(unsigned long addr: 0, size_t len: 801000, ...)		options/verbose; older kernels
 * sys_enter_mmap: addr: 0x00000000, len: 0x00801000, ...		libtraceevent
 * sys_enter_mmap: __syscall_nr=0x9 (9) addr=0x0 (0) len=0x801000 (8392704) ...
 */
static void read_call(struct text_body *b)
{
	const char *s = b->s, *p;
	const struct text_key *key;
	uint64_t v;

	for (unsigned int i = 0; i < b->te->nr_args; i++) {
		key = &b->te->arg[i];
		/* nearly always the next word */
		if ((size_t)(b->end - s) > key->len[0] && s[key->len[0]] == ':' &&
		    !memcmp(s, key->name[0], key->len[0]))
			p = text_skip_spaces(s + key->len[0] + 1);
		else
			p = find_key(s, b->end, key, ":=");
		if (!p)
			continue;
		s = pfs_any_number(p, 16, &v);
		if (s > p)
			b->ev->arg[i] = v;
		s += *s == ',';
		s = text_skip_spaces(s);
	}
}

/* sys_mmap -> 0x7fa3d076b000; sys_exit_mmap: 0x7fa3d076b000; sys_exit_mmap: ... ret=0x10 (16) */
static void read_result(struct text_body *b)
{
	const char *s = b->s;
	uint64_t v;

	if (!pfs_is_digit(*s) && *s != '-')
		s = find_key(s, b->end, &b->te->arg[0], "=");
	v = number_at(s, 16);
	/* -errno of a 32-bit kernel; no address or size is there on a 64-bit one */
	if (v > UINT32_MAX - 4095 && v <= UINT32_MAX)
		v = (uint64_t)(int64_t)(int32_t)v;
	b->ev->arg[0] = v;
}

/* sys_enter: NR 91 (f7fa4000, 1000, 0, 0, 0, 0) */
static void read_call_enter(struct text_body *b)
{
	const char *s = find_word(b->s, b->end, "NR");

	b->ev->arg[0] = number_at(s, 10);
	s = s ? memchr(s, '(', b->end - s) : NULL;
	for (unsigned int i = 1; s && i < b->te->nr_args; i++) {
		s = text_skip_spaces(s + 1);
		b->ev->arg[i] = number_at(s, 16);
		s = memchr(s, ',', b->end - s);
	}
}

/* sys_exit: NR 91 = 0 */
static void read_call_exit(struct text_body *b)
{
	const char *s = find_word(b->s, b->end, "NR");

	b->ev->arg[0] = number_at(s, 10);
	s = s ? memchr(s, '=', b->end - s) : NULL;
	b->ev->arg[1] = number_at(s ? text_skip_spaces(s + 1) : NULL, 10);
}

/* "000000009082905f", "0xffff888118e220c0", "(nil)"; "(____ptrval____)" is not known. */
static uint64_t pointer_at(const char *p, const char *end)
{
	if (end - p >= 5 && (!memcmp(p, "(nil)", 5) || !memcmp(p, "(null", 5)))
		return 0;
	return number_at(p, 16);
}

/*
 * ma_write: mas_store_prealloc	Node 00000000e4fb064c (0 140341564137471)
 *           range:140341553836032-140341562228735 piv (0) val 000000009082905f	(one line)
 */
static void read_ma_write(struct text_body *b)
{
	const char *p = memmem(b->s, b->end - b->s, "range:", 6), *q;
	uint64_t index, last;

	if (!p) {
		for (unsigned int i = 0; i < 3; i++)
			b->ev->arg[i] = number_at(find_key(b->s, b->end, &b->te->arg[i], "="), 10);
		return;
	}
	p += 6;
	q = pfs_dec(p, &index);
	if (q == p || *q != '-')
		return;
	p = pfs_dec(q + 1, &last);
	if (p == q + 1)
		return;
	b->ev->arg[0] = index;
	b->ev->arg[1] = last;
	p = memmem(p, b->end - p, " val ", 5);
	if (p)
		b->ev->arg[2] = pointer_at(p + 5, b->end);
}

/* "254:0" as major << 20 | minor, or the number that is the same already. */
static uint64_t device_at(const char *p)
{
	uint64_t major, minor;
	const char *q = p ? pfs_dec(p, &major) : NULL;

	if (q == p)
		return RAW_ABSENT;
	if (*q != ':')
		return number_at(p, 10);
	return pfs_dec(q + 1, &minor) > q + 1 && major < 1 << 12 && minor < 1 << 20 ? major << 20 | minor : RAW_ABSENT;
}

/* A page index: ofs is it in bytes. */
static uint64_t page_at(const struct text_body *b, const char *ofs, const struct text_key *index)
{
	uint64_t v = number_at(ofs, 10);

	if (ofs)
		return v == RAW_ABSENT ? v : v >> b->page_shift;
	return number_at(find_key(b->s, b->end, index, "="), 10);
}

/*
 * mm_filemap_map_pages: dev=254:0 ino=51423 ofs=1183744-1249279	bytes, the last one included
 * mm_filemap_add_to_page_cache: dev 254:0 ino 51423 pfn=0x10c45b ofs=1814528 order=0
 * mm_filemap_fault: dev=254:0 ino=a74016 ofs=770048
 * mm_filemap_map_pages: i_ino=5125f s_dev=266338304 index=0x10 last_index=0x1f	bare fields
 */
static void read_filemap(struct text_body *b)
{
	const struct text_key *key = b->te->arg;
	const char *dev = find_word(b->s, b->end, "dev");
	const char *ino = find_word(b->s, b->end, "ino");
	const char *ofs = find_word(b->s, b->end, "ofs"), *last = NULL;
	uint64_t *arg = b->ev->arg, v;

	arg[0] = device_at(dev ? dev : find_key(b->s, b->end, &key[0], "="));
	arg[1] = number_at(ino ? ino : find_key(b->s, b->end, &key[1], "="), 16);
	arg[2] = page_at(b, ofs, &key[2]);
	if (b->te->desc->kind == RAW_FILE_FAULT)
		return;
	if (b->te->desc->kind != RAW_MAP_PAGES) {
		arg[3] = number_at(find_key(b->s, b->end, &key[3], "="), 10);
		return;
	}
	if (ofs) {
		last = pfs_dec(ofs, &v);
		if (*last++ != '-')
			return;
	}
	arg[3] = page_at(b, last, &key[3]);
}

/* damon_aggregated: target_id=0 nr_regions=64 140737347485696-140737347489792: 1 0 */
static void read_damon(struct text_body *b)
{
	const struct text_key *key = b->te->arg;
	const char *p = find_word(b->s, b->end, "nr_regions"), *q;
	uint64_t *arg = b->ev->arg, nr, start = RAW_ABSENT, end;

	p = p ? text_skip_spaces(pfs_dec(p, &nr)) : b->s;
	q = pfs_dec(p, &start);
	arg[0] = number_at(find_key(b->s, b->end, &key[0], "="), 10);
	if (q == p || *q != '-' || *(p = pfs_dec(q + 1, &end)) != ':') {
		for (unsigned int i = 1; i < 4; i++)
			arg[i] = number_at(find_key(b->s, b->end, &key[i], "="), 10);
		return;
	}
	arg[1] = start;
	arg[2] = end;
	arg[3] = number_at(text_skip_spaces(p + 1), 10);
}

/* "pfn=0x10c42a order=0": any event that prints its fields under their own names. */
static void read_fields(struct text_body *b)
{
	const struct raw_desc *desc = b->te->desc;
	const char *s = b->s, *end = b->end, *str = NULL, *p;

	if (desc->str) {
		str = find_field(s, end, desc->str, strlen(desc->str), "=");
		/* numbers come before it: what it holds may look like one */
		end = str ? str : end;
	}
	for (unsigned int i = 0; i < b->te->nr_args; i++) {
		p = find_key(s, end, &b->te->arg[i], "=");
		if (p)
			b->ev->arg[i] = number_at(p, 10);
	}
	if (str)
		b->ev->str = text_take(b->str, str, b->end);
}

static size_t symbol_len(const char *s, const char *end)
{
	const char *p = s;

	while (p < end && (pfs_is_word(*p) || *p == '.'))
		p++;
	return p - s;
}

/*
 * do_wp_page <-__handle_mm_fault			the kernel's own, which has no "function:" before it
 * function:             do_wp_page <-- __handle_mm_fault	libtraceevent
 */
static void read_function(struct text_body *b)
{
	const char *caller = memmem(b->s, b->end - b->s, " <-", 3);
	int handler = pfs_handler_find(b->s, symbol_len(b->s, b->end));

	if (handler >= 0)
		b->ev->arg[0] = handler;
	if (!caller)
		return;
	caller = text_skip_spaces(caller + 3 + (caller[3] == '-'));
	if (!pfs_is_digit(*caller))
		b->ev->arg[1] = pfs_function_key(caller, symbol_len(caller, b->end));
}

/* 0x7fa3d0f6bd58: pfs_hidden */
static void read_print(struct text_body *b)
{
	const char *text = memmem(b->s, b->end - b->s, ": ", 2);

	if (!text)
		return;
	b->ev->arg[0] = number_at(b->s, 16);
	b->ev->str = text_take(b->str, text + 2, b->end);
}

/*
 * pfs_handler: (handle_mm_fault+0x0/0x3f0) address=0x7fa3d0f6bd58 flags=0x1254 vma=0xffff888118e220c0 ... A kernel that
 * names the function hides addresses in its other lines: there the region would be called by another name.
 */
static void read_handler(struct text_body *b)
{
	bool kernels_own = *b->s == '(' && !pfs_is_digit(b->s[1]) && memchr(b->s, '+', b->end - b->s);

	read_fields(b);
	if (kernels_own)
		b->ev->arg[2] = RAW_ABSENT;
}

/*
 * A call site: "alloc_pipe_info+0x88/0x1b0", "read_page+0x4/0x80 [ext4]", "0xffffffff81234567", and without %pS
 * "ffffffff81234567". The function goes to str, without its size; returns what follows it there.
 */
static char *read_site(struct text_body *b, const char *p, char *str)
{
	const char *end = p;

	b->ev->text = NULL;
	if (!p)
		return str;
	while (end < b->end && *end != ' ' && *end != '/' && *end != ')')
		end++;
	if (pfs_is_digit(*p) || !memchr(p, '+', end - p)) {
		b->ev->arg[0] = number_at(p, 16);
		return str;
	}
	b->ev->text = text_take(str, p, end);
	return str + (end - p) + 1;
}

/*
 * kmalloc: call_site=alloc_pipe_info+0x88/0x1b0 ptr=00000000ae0bbc52 bytes_req=640 bytes_alloc=1024 gfp_flags=...
 * kmem_cache_alloc: call_site=alloc_inode+0x1f/0xb0 ptr=0xffff888118e220c0 name=sock_inode_cache bytes_req=768 ...
 * kmem_cache_free: call_site=i_callback+0x1a/0x20 ptr=0xffff888118e220c0 name=sock_inode_cache
 * The kernel's own text has 16 digits of a hash of 32 bits as the address; libtraceevent has the address.
 */
static void read_object(struct text_body *b)
{
	char *str = read_site(b, find_key(b->s, b->end, &b->te->arg[0], "="), b->str);
	const char *p = find_key(b->s, b->end, &b->te->arg[1], "=");
	const char *name = b->te->desc->str ? find_word(b->s, b->end, b->te->desc->str) : NULL, *end = name;

	b->ev->arg[1] = p ? pointer_at(p, b->end) : RAW_ABSENT;
	if (p && b->end - p >= 16 && !memcmp(p, "00000000", 8) && b->ev->arg[1])
		b->ev->arg[4] = 1;
	for (unsigned int i = 2; i < b->te->nr_args; i++)
		b->ev->arg[i] = number_at(find_key(b->s, b->end, &b->te->arg[i], "="), 10);
	while (end && end < b->end && *end != ' ')
		end++;
	if (name)
		b->ev->str = text_take(str, name, end);
}

/*
 * pfs_word0: (ext4_llseek+0x12/0x90) addr=0xffff888118e220c0 off=0x0 value=0x3 word=0x0
 * pfs_word0: (ffffffff81234567) addr=...	libtraceevent
 */
static void read_wprobe(struct text_body *b)
{
	read_site(b, *b->s == '(' ? b->s + 1 : find_key(b->s, b->end, &b->te->arg[0], "="), b->str);
	for (unsigned int i = 1; i < b->te->nr_args; i++)
		b->ev->arg[i] = number_at(find_key(b->s, b->end, &b->te->arg[i], "="), 16);
}

static void read_names(struct text_body *b)
{
	text_names(b->te->desc, b->s, b->end, b->str, b->ev);
}

/* By kind; the rest prints its fields under their own names. */
static void (*const readers[RAW_NR_KINDS])(struct text_body *) = {
	[RAW_FAULT_USER] = read_fault,	  [RAW_FAULT_KERNEL] = read_fault,   [RAW_SYS_ENTER] = read_call,
	[RAW_SYS_EXIT] = read_result,	  [RAW_MA_WRITE] = read_ma_write,    [RAW_EXEC] = read_names,
	[RAW_FORK] = read_names,	  [RAW_NEWTASK] = read_names,	     [RAW_EXIT] = read_names,
	[RAW_RENAME] = read_names,	  [RAW_SIGNAL] = read_names,	     [RAW_MAP_PAGES] = read_filemap,
	[RAW_ADD_CACHE] = read_filemap,	  [RAW_FUNCTION] = read_function,    [RAW_HANDLER] = read_handler,
	[RAW_DAMON] = read_damon,	  [RAW_DELETE_CACHE] = read_filemap, [RAW_CALL_ENTER] = read_call_enter,
	[RAW_KMALLOC] = read_object,	  [RAW_CACHE_ALLOC] = read_object,   [RAW_CACHE_FREE] = read_object,
	[RAW_CALL_EXIT] = read_call_exit, [RAW_FILE_FAULT] = read_filemap,   [RAW_HIDDEN] = read_print,
	[RAW_WPROBE] = read_wprobe,
};

void text_event_init(struct text_event *te, const struct raw_desc *desc)
{
	te->desc = desc;
	for (te->nr_args = 0; te->nr_args < RAW_MAX_ARGS && desc->args[te->nr_args]; te->nr_args++) {
		struct text_key *key = &te->arg[te->nr_args];
		const char *name = desc->args[te->nr_args];
		const char *bar = strchrnul(name, '|');

		key->name[0] = name;
		key->len[0] = bar - name;
		key->name[1] = bar + !!*bar;
		key->len[1] = strlen(key->name[1]);
	}
}

void text_args(const struct text_event *te, const char *s, const char *end, unsigned int page_shift, char *str,
	       struct raw_event *ev)
{
	static const char failed[] = "[FAILED TO PARSE] ";
	struct text_body b = { te, text_skip_spaces(s), end, page_shift, str, ev };
	void (*read)(struct text_body *) = readers[te->desc->kind];

	if (end - b.s > (ptrdiff_t)strlen(failed) && !memcmp(b.s, failed, strlen(failed)))
		b.s += strlen(failed);
	(read ? read : read_fields)(&b);
}
