/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an IOMMU does with a page table
 *
 * Written from the vendors' manuals and from nothing else: it shares no code and
 * no constant with the library, and reads tables by their physical address. All
 * formats have in common that a walk goes down tables of 8 byte entries, each
 * table translating some bits of the address; hw.c does that. What an entry
 * means stands in one hw_<format>.c each.
 *
 * Levels are counted from 1 here, as AMD and Intel do: entries of level 1 are
 * pages of the smallest size.
 */
#ifndef HW_H
#define HW_H

#include <linux/types.h>

struct hw_format;

/* What a device's context says of the page table */
struct hw_root {
	const struct hw_format *format;
	u64 table_pa;
	/* Level of the root table */
	unsigned int mode;
	/* Address bits that are no address: the encryption bit */
	u64 c_bit;
	/* The highest bit of an address repeats up to bit 63 */
	bool sign_extend;
};

enum hw_result {
	HW_OK,
	HW_NOT_PRESENT,
	/* Reserved bits, a level that does not follow, a size that is none */
	HW_MALFORMED,
	/* An address above what the mode translates */
	HW_TOO_HIGH,
	/* A table that the allocator has back */
	HW_FREED_TABLE,
};

/* What one entry says, if it is present and well-formed */
struct hw_entry {
	/* It points to a table, at @pa, and the rest is what access it grants */
	bool table;
	u64 pa;
	unsigned int size_lg2;
	bool read;
	bool write;
	bool encrypted;
	/* DMA snoops whatever the device asks for */
	bool force_coherent;
	bool dirty;
	/* RISC-V's PBMT: 0 that of the memory itself, 1 non-cacheable, 2 I/O */
	unsigned int memory_type;
};

/**
 * struct hw_format - What a vendor's manual says
 * @name: For people
 * @granule_lg2: lg2 of the smallest page
 * @index_lg2: lg2 of the entries of a table
 * @dirty: Bit that hardware sets in a page that was written to, or 0
 * @accessed: Bit that hardware sets in what it followed, or 0
 * @ignored: Bits of an entry that hardware does not look at, and in which
 *	the library may keep something
 * @flush_by_page: An invalidation by address is of pages alone; what is cached
 *	of tables goes only with everything (RISC-V's IOTINVAL.VMA with AV = 1)
 * @decode: Says what an entry of a table of some level means
 */
struct hw_format {
	const char *name;
	unsigned int granule_lg2;
	unsigned int index_lg2;
	u64 dirty;
	u64 accessed;
	u64 ignored;
	bool flush_by_page;
	enum hw_result (*decode)(const struct hw_root *root, unsigned int level,
				 u64 entry, struct hw_entry *out);
};

extern const struct hw_format hw_amdv1;
extern const struct hw_format hw_amdv1_mock;
extern const struct hw_format hw_x86_64;
extern const struct hw_format hw_vtdss;
extern const struct hw_format hw_riscv_64;
extern const struct hw_format hw_tiny;

/* One translation: the page is aligned to its size in both spaces */
struct hw_page {
	u64 iova;
	u64 pa;
	unsigned int size_lg2;
	bool read;
	bool write;
	bool encrypted;
	bool force_coherent;
	unsigned int memory_type;
	/* Any of the entries of the page has it */
	bool dirty;
	/* Where the first of its entries stands, and how many there are */
	u64 entry_pa;
	unsigned int entries;
	/* Level of the table in which they stand */
	unsigned int level;
};

/* One step of a walk: the table that it looked into */
struct hw_step {
	u64 table_pa;
	unsigned int level;
};

struct hw_walk {
	u64 iova;
	enum hw_result result;
	struct hw_page page;
	/* From the root down; steps of them */
	struct hw_step step[7];
	unsigned int steps;
	/* The entry at which the walk ended, and its value */
	u64 entry_pa;
	u64 entry;
};

/**
 * hw_read64() - Read memory as hardware does
 * @pa: Physical address
 * @value: Filled in
 *
 * Supplied by the test. Return: false when that memory is no table now.
 */
bool hw_read64(u64 pa, u64 *value);

/**
 * hw_set_bits() - Set bits of an entry as hardware does
 * @pa: Physical address of the entry
 * @entry: What it was when hardware looked at it
 * @bits: What to set, unless the entry has changed
 *
 * Supplied by the test.
 */
void hw_set_bits(u64 pa, u64 entry, u64 bits);

/* lg2 of the bytes that one entry of a level translates */
unsigned int hw_reach(const struct hw_root *root, unsigned int level);

/* The address that hardware takes for @iova if it looks at the low bits alone */
u64 hw_canonical(const struct hw_root *root, u64 iova);

/**
 * hw_walk() - Translate an address from the root
 * @root: The page table
 * @iova: Address
 * @walk: Filled in
 *
 * Return: What came of it, as in @walk.
 */
enum hw_result hw_walk(const struct hw_root *root, u64 iova,
		       struct hw_walk *walk);

/**
 * hw_walk_from() - Translate an address from a table that a walk came to before
 * @root: The page table
 * @step: The table
 * @iova: Address
 * @walk: Filled in, with steps from @step on
 *
 * Return: What came of it, as in @walk.
 */
enum hw_result hw_walk_from(const struct hw_root *root, struct hw_step step,
			    u64 iova, struct hw_walk *walk);

/**
 * hw_check_page() - Check that the entries of a page are all there and alike
 * @root: The page table
 * @page: A page that a walk found; its dirty bit is completed
 *
 * Return: HW_OK or what is wrong.
 */
enum hw_result hw_check_page(const struct hw_root *root, struct hw_page *page);

/* What hw_for_each() calls for each page in ascending order, and each table */
struct hw_visitor {
	void (*page)(void *arg, const struct hw_page *page);
	/* @entries: how many of its entries are present */
	void (*table)(void *arg, struct hw_step table, unsigned int entries,
		      u64 iova);
	void (*fault)(void *arg, u64 iova, u64 entry, enum hw_result result);
};

/**
 * hw_for_each() - Go through the whole tree
 * @root: The page table
 * @visitor: What to call
 * @arg: Passed on
 */
void hw_for_each(const struct hw_root *root, const struct hw_visitor *visitor,
		 void *arg);

const char *hw_result_name(enum hw_result result);

#endif /* HW_H */
