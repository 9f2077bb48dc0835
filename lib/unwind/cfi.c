/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/cfi.h"

#include "base/write_all.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#else
enum { MACHINE = EM_AARCH64 };
#endif

/* clang-format off */
#define FUNCTIONS(X) \
	X(elf_version) X(elf_begin) X(elf_end) X(elf_cntl) X(elf_getphdrnum) X(elf_rawfile) X(gelf_getehdr) \
	X(gelf_getphdr) X(dwarf_getcfi_elf) X(dwarf_cfi_end) X(dwarf_cfi_addrframe) X(dwarf_frame_info) \
	X(dwarf_frame_cfa) X(dwarf_frame_register)
/* clang-format on */

static struct {
	bool loaded;
#define X(name) typeof(name) *name;
	FUNCTIONS(X)
#undef X
} dw;

/* The dynamic linker has no rules where the kernel enters it; nobody called that. */
enum { ENTRY_BYTES = 128 };

struct pfs_cfi {
	Elf *elf;
	Dwarf_CFI *cfi; /* NULL: the file has none, as arm64's vdso */
	size_t nr_segments;
	uint64_t entry; /* address */
};

int pfs_cfi_load(struct pfs_err *err)
{
	void *library = dw.loaded ? NULL : dlopen("libdw.so.1", RTLD_NOW | RTLD_NODELETE);

	if (dw.loaded)
		return 0;
	if (!library)
		return pfs_err_set(err, -ENOENT, "unwinding stacks needs libdw (apt-get install libdw1)");
#define X(name)                                          \
	dw.name = (typeof(name) *)dlsym(library, #name); \
	if (!dw.name)                                    \
		return pfs_err_set(err, -ENOENT, "%s: not in libdw", #name);
	FUNCTIONS(X)
#undef X
	dw.elf_version(EV_CURRENT);
	dw.loaded = true;
	return 0;
}

struct pfs_cfi *pfs_cfi_open(int fd)
{
	struct pfs_cfi *cfi = calloc(1, sizeof(*cfi));
	bool is_code = false;
	GElf_Ehdr header;

	if (cfi)
		cfi->elf = dw.elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (cfi && cfi->elf && dw.gelf_getehdr(cfi->elf, &header))
		is_code = header.e_machine == MACHINE && header.e_ident[EI_CLASS] == ELFCLASS64 &&
			  !dw.elf_getphdrnum(cfi->elf, &cfi->nr_segments);
	if (is_code) {
		cfi->cfi = dw.dwarf_getcfi_elf(cfi->elf);
		cfi->entry = header.e_entry;
	}
	if (cfi && cfi->elf)
		dw.elf_cntl(cfi->elf, ELF_C_FDREAD); /* all that is needed of it, where it could not be mapped */
	pfs_close(fd);
	if (is_code)
		return cfi;
	pfs_cfi_close(cfi);
	return NULL;
}

void pfs_cfi_close(struct pfs_cfi *cfi)
{
	if (!cfi)
		return;
	if (cfi->cfi)
		dw.dwarf_cfi_end(cfi->cfi);
	if (cfi->elf)
		dw.elf_end(cfi->elf);
	free(cfi);
}

/* The segment that has the offset: its addresses are higher by *moved. */
static bool find_segment(struct pfs_cfi *cfi, uint64_t off, GElf_Phdr *segment, uint64_t *moved)
{
	for (size_t i = 0; i < cfi->nr_segments && i < INT32_MAX; i++) {
		if (!dw.gelf_getphdr(cfi->elf, i, segment) || segment->p_type != PT_LOAD || off < segment->p_offset ||
		    off - segment->p_offset >= segment->p_filesz)
			continue;
		*moved = segment->p_vaddr - segment->p_offset;
		return true;
	}
	return false;
}

/* What does not fit makes the rules those of nothing. */
static struct pfs_rule_op *add(struct pfs_rules *rules, unsigned int atom, unsigned int reg, uint64_t number)
{
	struct pfs_rule_op *op = &rules->ops[rules->nr_ops];

	if (rules->nr_ops == PFS_MAX_RULE_OPS)
		return NULL;
	*op = (struct pfs_rule_op){ atom, reg, number };
	rules->nr_ops++;
	return op;
}

/* Operations of a register become DW_OP_bregx. */
static bool add_expression(struct pfs_rules *rules, const Dwarf_Op *ops, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		unsigned int atom = ops[i].atom, reg = 0;
		uint64_t number = ops[i].number;

		if (atom == DW_OP_bregx || atom == DW_OP_regx) {
			reg = number < PFS_NR_REGS ? number : PFS_NR_REGS;
			number = atom == DW_OP_bregx ? ops[i].number2 : 0;
			atom = DW_OP_bregx;
		} else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
			reg = atom - DW_OP_breg0;
			atom = DW_OP_bregx;
		} else if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
			reg = atom - DW_OP_reg0;
			atom = DW_OP_bregx;
			number = 0;
		}
		if (!add(rules, atom, reg, number))
			return false;
	}
	return true;
}

static bool is_register(const Dwarf_Op *op)
{
	return op->atom == DW_OP_regx || (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31);
}

/* Where the caller's register is. */
static bool add_register(struct pfs_rules *rules, Dwarf_Frame *frame, unsigned int reg)
{
	Dwarf_Op simple[3], *ops;
	size_t nr;

	if (dw.dwarf_frame_register(frame, reg, simple, &ops, &nr))
		return false;
	if (!nr && !ops) /* as it is */
		return true;
	if (!nr)
		return add(rules, PFS_OP_UNDEFINED, reg, 0);
	if (ops[0].atom == DW_OP_call_frame_cfa && nr == 1)
		return add(rules, PFS_OP_SAVED, reg, 0);
	if (ops[0].atom == DW_OP_call_frame_cfa && nr == 2 && ops[1].atom == DW_OP_plus_uconst)
		return add(rules, PFS_OP_SAVED, reg, ops[1].number);
	if (ops[nr - 1].atom == DW_OP_stack_value)
		return add_expression(rules, ops, nr - 1) && add(rules, PFS_OP_IS, reg, 0);
	return add_expression(rules, ops, nr) &&
	       add(rules, nr == 1 && is_register(ops) ? PFS_OP_IS : PFS_OP_AT, reg, 0);
}

static bool add_all(struct pfs_rules *rules, Dwarf_Frame *frame)
{
	Dwarf_Op *ops;
	size_t nr;

	if (dw.dwarf_frame_cfa(frame, &ops, &nr) || !nr || !add_expression(rules, ops, nr) ||
	    !add(rules, PFS_OP_CFA, 0, 0))
		return false;
	for (unsigned int reg = 0; reg < PFS_NR_REGS; reg++)
		if (!add_register(rules, frame, reg))
			return false;
	return true;
}

/*
 * Where a signal's handler returns to on arm64, in the vdso, which has no rules: it is known by its instructions. The registers of what was interrupted are on the stack there, in struct rt_sigframe. The address of a caller
 * is looked up by the byte before it.
 */
static bool is_sigreturn(struct pfs_cfi *cfi, uint64_t off)
{
	static const uint32_t code[] = { 0xd2801168, 0xd4000001 }; /* mov x8, #__NR_rt_sigreturn; svc #0 */
	uint64_t at = (off + 1) & ~UINT64_C(3);
	const char *bytes;
	size_t len;

	if (MACHINE != EM_AARCH64)
		return false;
	bytes = dw.elf_rawfile(cfi->elf, &len);
	return bytes && at < len && len - at >= sizeof(code) && !memcmp(bytes + at, code, sizeof(code));
}

static void add_interrupted(struct pfs_rules *rules)
{
	enum { REGS = 312 }; /* x0 to x30, sp, pc: behind siginfo and the beginning of ucontext */

	add(rules, DW_OP_bregx, PFS_REG_SP, 0);
	add(rules, PFS_OP_CFA, 0, 0);
	for (unsigned int reg = 0; reg < PFS_NR_REGS; reg++)
		add(rules, PFS_OP_SAVED, reg, REGS + reg * sizeof(uint64_t));
	rules->return_register = PFS_REG_PC;
	rules->signal = true;
}

void pfs_cfi_rules(struct pfs_cfi *cfi, uint64_t off, struct pfs_rules *rules)
{
	uint64_t moved, end_off;
	Dwarf_Addr start, end;
	Dwarf_Frame *frame;
	GElf_Phdr segment;
	int return_register;

	*rules = (struct pfs_rules){ .start = off, .end = off + 1 };
	if (!cfi || !find_segment(cfi, off, &segment, &moved))
		return;
	if (!cfi->cfi || dw.dwarf_cfi_addrframe(cfi->cfi, off + moved, &frame)) {
		if (is_sigreturn(cfi, off))
			add_interrupted(rules);
		else if (off + moved - cfi->entry < ENTRY_BYTES)
			add(rules, PFS_OP_UNDEFINED, rules->return_register, 0);
		return;
	}
	return_register = dw.dwarf_frame_info(frame, &start, &end, &rules->signal);
	rules->return_register = return_register >= 0 && return_register < PFS_NR_REGS ? return_register : PFS_NR_REGS;
	if (!add_all(rules, frame))
		rules->nr_ops = 0;
	free(frame);
	end_off = segment.p_offset + segment.p_filesz;
	if (start - moved <= off && end - moved > off && end - moved <= end_off && start - moved >= segment.p_offset) {
		rules->start = start - moved;
		rules->end = end - moved;
	}
}
