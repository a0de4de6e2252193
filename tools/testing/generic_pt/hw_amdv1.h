/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an AMD IOMMU does with a v1 page table
 *
 * Written from the manual (AMD publication 48882, section 2.2.3, "I/O Page
 * Tables for Host Translations") and from nothing else: it shares no code and
 * no constant with the library, and reads tables by their physical address.
 */
#ifndef HW_AMDV1_H
#define HW_AMDV1_H

#include <stdbool.h>
#include <stdint.h>

/* What a device table entry says of the page table */
struct hw_root {
	uint64_t table_pa;
	unsigned int mode;
	/* Address bits that are no address: the encryption bit */
	uint64_t c_bit;
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

/* One translation: the page is aligned to its size in both spaces */
struct hw_page {
	uint64_t iova;
	uint64_t pa;
	unsigned int size_lg2;
	bool read;
	bool write;
	bool encrypted;
	bool force_coherent;
	/* Any of the entries of the page has it */
	bool dirty;
	/* Where the first of its entries stands, and how many there are */
	uint64_t entry_pa;
	unsigned int entries;
	/* Level, counted from 1, of the table in which they stand */
	unsigned int level;
};

/* One step of a walk: the table that it looked into */
struct hw_step {
	uint64_t table_pa;
	unsigned int level;
};

struct hw_walk {
	enum hw_result result;
	struct hw_page page;
	/* From the root down; steps of them */
	struct hw_step step[7];
	unsigned int steps;
	/* The entry at which the walk ended, and its value */
	uint64_t entry_pa;
	uint64_t entry;
};

/**
 * hw_read64() - Read memory as hardware does
 * @pa: Physical address
 * @value: Filled in
 *
 * Supplied by the test. Return: false when that memory is no table now.
 */
bool hw_read64(uint64_t pa, uint64_t *value);

/**
 * hw_walk() - Translate an address from the root
 * @root: The page table
 * @iova: Address
 * @walk: Filled in
 *
 * Return: What came of it, as in @walk.
 */
enum hw_result hw_walk(const struct hw_root *root, uint64_t iova,
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
			    uint64_t iova, struct hw_walk *walk);

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
		      uint64_t iova);
	void (*fault)(void *arg, uint64_t iova, uint64_t entry,
		      enum hw_result result);
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

#endif /* HW_AMDV1_H */
