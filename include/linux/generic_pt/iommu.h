/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic IOMMU page tables: what an IOMMU driver includes
 *
 * A driver embeds struct pt_iommu_<fmt> in its domain, fills in the few members
 * that are marked as the driver's, calls pt_iommu_<fmt>_init() and puts
 * IOMMU_PT_DOMAIN_OPS(<fmt>) into its struct iommu_domain_ops. From then on the
 * core of the IOMMU subsystem calls the library directly; the driver flushes
 * IOTLBs (iotlb_sync, flush_iotlb_all) and points its hardware at the table.
 *
 * Locking: callers own IOVA ranges. Two calls may run at the same time, from
 * any context, when their ranges are disjoint; the library takes care of the
 * tables that such calls share. Lookups may run beside anything.
 */
#ifndef __GENERIC_PT_IOMMU_H
#define __GENERIC_PT_IOMMU_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/generic_pt/common.h>
#include <linux/iommu.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/stddef.h>
#include <linux/workqueue.h>

struct pt_iommu;
struct pt_iommu_ops;
struct pt_iommu_driver_ops;

/*
 * Empty tables that stay in the tree of one domain, ready to be filled again. When
 * there are more, or after a while, neighbours leave together.
 */
#ifndef PT_IOMMU_PARKED
#define PT_IOMMU_PARKED 32
#endif

/* How long they stay at most, in milliseconds */
#define PT_IOMMU_PARKED_MS 100

/**
 * struct pt_iommu_usage - Table memory of one domain, private to the library
 * @tables: Tables in use, with those that an operation allocated ahead
 * @peak: Most that were in use at a time
 * @freed: Tables that left the tree
 * @reused: Tables that were empty, stayed in the tree and were filled again by
 *	the time their place among the parked ones was needed
 * @domains: Place in the list of domains that memory can be taken back from
 *
 * pt_iommu_ops.get_info() tells all of it.
 */
struct pt_iommu_usage {
	atomic_t tables;
	unsigned int peak;
	atomic_long_t freed;
	unsigned long reused;
	struct list_head domains;
};

/**
 * struct pt_iommu - A page table that is an iommu_domain
 * @domain: The domain. First, so that a driver can lay its own struct
 *	iommu_domain over it with a union, see PT_IOMMU_CHECK_DOMAIN(). Init
 *	fills in &iommu_domain.geometry and &iommu_domain.pgsize_bitmap; the
 *	driver may narrow both before the first map. Init sets
 *	&iommu_domain.whole_range where the core has it. The aperture begins at 0
 *	and ends where both the hardware and the levels of the table do, with
 *	PT_FEAT_SIGN_EXTEND at the end of 64 bits (see there).
 * @ops: Operations of the format, set by init
 * @driver_ops: The driver's callbacks. Set before init; needed only with
 *	PT_FEAT_DYNAMIC_TOP.
 * @nid: NUMA node that tables are allocated from, or NUMA_NO_NODE. Set before
 *	init; the driver may store another one at any time.
 * @iommu_device: Device that walks the tables. Set before init. Cache
 *	maintenance under PT_FEAT_DMA_INCOHERENT goes by address on this kernel
 *	and does not look at it.
 * @max_tables: Most tables that may be in use at a time, each of 4 KiB, or 0 for
 *	no limit. A map that needs more fails with -EDQUOT. The driver sets it
 *	before init, or at any time; tables in use stay.
 * @park_lock: Protects @parked and @nr_parked, private to the library
 * @parked: Tables that became empty and still stand in the tree, the oldest
 *	first, private to the library
 * @nr_parked: Their number, private to the library
 * @trim: Takes them out of the tree after a while, private to the library
 * @usage: Table memory, private to the library
 */
struct pt_iommu {
	struct iommu_domain domain;
	const struct pt_iommu_ops *ops;
	const struct pt_iommu_driver_ops *driver_ops;
	int nid;
	struct device *iommu_device;
	unsigned int max_tables;
	raw_spinlock_t park_lock;
	void *parked[PT_IOMMU_PARKED];
	unsigned int nr_parked;
	struct delayed_work trim;
	struct pt_iommu_usage usage;
};

/**
 * struct pt_iommu_info - What get_info tells
 * @pgsize_bitmap: Leaf sizes that the table can hold, in bytes, one bit each.
 *	&iommu_domain.pgsize_bitmap starts with this value.
 * @tables: Tables in use now
 * @table_bytes: Their size in bytes. Where the system's page is larger than a
 *	table, each of them takes a page.
 * @peak_tables: Most that were in use at a time since init
 * @freed_tables: Tables that left the tree since init
 * @reused_tables: Tables that were kept while empty, and filled again
 */
struct pt_iommu_info {
	u64 pgsize_bitmap;
	unsigned int tables;
	u64 table_bytes;
	unsigned int peak_tables;
	unsigned long freed_tables;
	unsigned long reused_tables;
};

/**
 * struct pt_iommu_entry - One translation, as lookup returns it
 * @oa: Output address of the IOVA that was asked for, not of the entry's start
 * @size: Bytes that the entry translates, a power of two. The entry starts at
 *	the IOVA rounded down to it.
 * @prot: IOMMU_READ and IOMMU_WRITE as mapped. Formats that cannot permit
 *	writing alone (all but AMDv1) have IOMMU_READ with it.
 */
struct pt_iommu_entry {
	phys_addr_t oa;
	u64 size;
	int prot;
};

/**
 * struct pt_iommu_ops - Operations of a page table
 *
 * Addresses and lengths are in bytes. Each operation may be called in any
 * context, for map_range as far as its gfp allows.
 */
struct pt_iommu_ops {
	/**
	 * @map_range: Map [iova, iova + len) to [paddr, paddr + len), with the
	 * largest leaves that alignment and &iommu_domain.pgsize_bitmap allow.
	 * @mapped is increased by what was mapped, on failure too: exactly
	 * that prefix is left mapped then, for the caller to unmap. Flushes
	 * nothing, unless empty tables made room for a leaf.
	 *
	 * Context: The caller owns the range. May sleep as @gfp says.
	 * Return: 0, -EINVAL (@len 0 or not aligned, @prot has no access),
	 * -ERANGE (outside the aperture, or OA past what the format holds),
	 * -EOPNOTSUPP (@prot cannot be expressed), -EADDRINUSE (something is
	 * mapped there and stays), -ENOMEM, -EDQUOT (&pt_iommu.max_tables).
	 */
	int (*map_range)(struct pt_iommu *iommu, dma_addr_t iova,
			 phys_addr_t paddr, dma_addr_t len, unsigned int prot,
			 gfp_t gfp, size_t *mapped);
	/**
	 * @unmap_range: Unmap from @iova until @len bytes are done or a hole is
	 * met. A leaf that starts before @iova stops it as a hole does; a leaf
	 * that ends after the range is taken whole. What was unmapped is added
	 * to @gather, and so are tables that left the tree: a driver must
	 * flush walk caches if and only if &iommu_iotlb_gather.freelist is not
	 * empty, and free that list with iommu_put_pages_list() after it.
	 *
	 * Context: The caller owns the range until the flush is done.
	 * Return: Bytes unmapped from @iova on, more than @len where the last
	 * leaf ended after it, 0 where nothing was or arguments are bad.
	 */
	size_t (*unmap_range)(struct pt_iommu *iommu, dma_addr_t iova,
			      dma_addr_t len,
			      struct iommu_iotlb_gather *gather);
	/**
	 * @lookup: Tell what @iova translates to. @entry is untouched on
	 * failure.
	 *
	 * Context: Beside anything, also map and unmap of @iova itself: the
	 * answer is then the one before or the one after.
	 * Return: 0, -ENOENT when nothing is mapped, -ERANGE when @iova is
	 * outside the aperture.
	 */
	int (*lookup)(struct pt_iommu *iommu, dma_addr_t iova,
		      struct pt_iommu_entry *entry);
	/**
	 * @set_dirty: Mark the leaf at @iova dirty as hardware would. For
	 * tests.
	 *
	 * Return: 0, -ENOENT when nothing is mapped, -EOPNOTSUPP when the
	 * format has no dirty bits.
	 */
	int (*set_dirty)(struct pt_iommu *iommu, dma_addr_t iova);
	/**
	 * @get_info: Tell the table's leaf sizes, before and after init's
	 * domain was narrowed, and its memory. Beside other operations each
	 * number is right by itself.
	 */
	void (*get_info)(struct pt_iommu *iommu, struct pt_iommu_info *info);
	/**
	 * @reclaim: Take all empty tables out of the tree, those that were kept
	 * for the next map. The library does so itself when memory is short,
	 * and some time after tables became empty. Flushes as an unmap would.
	 *
	 * Return: How many tables left.
	 */
	unsigned long (*reclaim)(struct pt_iommu *iommu);
	/**
	 * @deinit: Free all tables. Call pt_iommu_deinit() instead.
	 */
	void (*deinit)(struct pt_iommu *iommu);
};

/**
 * struct pt_iommu_driver_ops - What the library asks of a driver
 */
struct pt_iommu_driver_ops {
	/**
	 * @change_top: Point all hardware that uses the domain at a new top
	 * table and flush what it cached of the old one before returning. Old
	 * and new top translate everything mapped so far alike.
	 *
	 * Context: The lock of @get_top_lock is held, with interrupts off.
	 */
	void (*change_top)(struct pt_iommu *iommu, phys_addr_t top_paddr,
			   unsigned int top_level);
	/**
	 * @get_top_lock: The lock under which the driver reads the top for its
	 * hardware: attach holds it from hw_info until the device is in the
	 * list that change_top goes through.
	 */
	spinlock_t *(*get_top_lock)(struct pt_iommu *iommu);
};

/**
 * struct pt_iommu_cfg - What each format's init takes
 * @features: Mask of bits of &enum pt_features and the format's own
 * @hw_max_vasz_lg2: lg2 of the IOVA space that the hardware can translate, of
 *	both halves together with PT_FEAT_SIGN_EXTEND
 * @hw_max_oasz_lg2: lg2 of the OA space that the hardware can reach
 */
struct pt_iommu_cfg {
	u32 features;
	u8 hw_max_vasz_lg2;
	u8 hw_max_oasz_lg2;
};

/**
 * pt_iommu_deinit() - Free a page table
 * @iommu: The table. Zeroed memory that init never saw, and what a failed init
 *	left, is fine too.
 *
 * Hardware must not use the table any more and its IOTLB must be flushed. Until
 * then the library may take empty tables away at any time, and flush: the
 * driver's iotlb_sync must work from init to here.
 *
 * Context: Process context, may sleep. No other operation may run. The table may
 * be initialised again.
 */
static inline void pt_iommu_deinit(struct pt_iommu *iommu)
{
	if (!iommu->ops)
		return;
	iommu->ops->deinit(iommu);
	iommu->ops = NULL;
}

/**
 * PT_IOMMU_CHECK_DOMAIN() - Assert that a driver's domain overlays the library's
 * @s: Type of the driver's domain struct
 * @pt_iommu_memb: Member (path) of @s that is a struct pt_iommu
 * @domain_memb: Member of @s that is the driver's struct iommu_domain
 */
#define PT_IOMMU_CHECK_DOMAIN(s, pt_iommu_memb, domain_memb) \
	static_assert(offsetof(s, pt_iommu_memb.domain) ==   \
		      offsetof(s, domain_memb))

/* The operations that the core calls, one set for each format */
#define PT_IOMMU_DECLARE_OPS(fmt)                                              \
	int pt_iommu_##fmt##_map_pages(struct iommu_domain *domain,            \
				       unsigned long iova, phys_addr_t paddr,  \
				       size_t pgsize, size_t pgcount,          \
				       int prot, gfp_t gfp, size_t *mapped);   \
	size_t pt_iommu_##fmt##_unmap_pages(                                   \
		struct iommu_domain *domain, unsigned long iova,               \
		size_t pgsize, size_t pgcount,                                 \
		struct iommu_iotlb_gather *gather);                            \
	phys_addr_t pt_iommu_##fmt##_iova_to_phys(struct iommu_domain *domain, \
						  dma_addr_t iova);            \
	int pt_iommu_##fmt##_read_and_clear_dirty(                             \
		struct iommu_domain *domain, unsigned long iova, size_t size,  \
		unsigned long flags, struct iommu_dirty_bitmap *dirty)

/**
 * IOMMU_PT_DOMAIN_OPS() - Members of struct iommu_domain_ops for a format
 * @fmt: Name of the format
 *
 * The driver adds its own attach_dev, iotlb_sync, flush_iotlb_all and free.
 */
#define IOMMU_PT_DOMAIN_OPS(fmt)                      \
	.map_pages = &pt_iommu_##fmt##_map_pages,     \
	.unmap_pages = &pt_iommu_##fmt##_unmap_pages, \
	.iova_to_phys = &pt_iommu_##fmt##_iova_to_phys

/**
 * IOMMU_PT_DIRTY_OPS() - Members of struct iommu_dirty_ops for a format
 * @fmt: Name of the format, one that has dirty bits
 */
#define IOMMU_PT_DIRTY_OPS(fmt) \
	.read_and_clear_dirty = &pt_iommu_##fmt##_read_and_clear_dirty

/**
 * struct pt_iommu_amdv1 - AMDv1 page table as a domain
 * @iommu: The part that is the same for each format
 * @amdpt: The format's own part, private to the library
 */
struct pt_iommu_amdv1 {
	struct pt_iommu iommu;
	struct pt_amdv1 amdpt;
};

/**
 * struct pt_iommu_amdv1_cfg - What pt_iommu_amdv1_init() takes
 * @common: The part that is the same for each format
 * @starting_level: Level of the top table to begin with, 0 to 5. Without
 *	PT_FEAT_DYNAMIC_TOP it stays the top.
 */
struct pt_iommu_amdv1_cfg {
	struct pt_iommu_cfg common;
	unsigned int starting_level;
};

/**
 * struct pt_iommu_amdv1_hw_info - What a device table entry needs
 * @host_pt_root: Physical address of the top table, with the encryption bit
 *	where tables are encrypted, for the field Host Page Table Root Pointer
 * @mode: Number of levels, 1 to 6, for the field Paging Mode
 */
struct pt_iommu_amdv1_hw_info {
	u64 host_pt_root;
	u8 mode;
};

/**
 * pt_iommu_amdv1_init() - Set up an AMDv1 page table
 * @table: Table to set up, zeroed but for the members that the driver fills in
 * @cfg: What is wanted of it
 * @gfp: For the top table
 *
 * Return: 0, -EOPNOTSUPP (a feature or size that the format cannot do),
 * -EINVAL (contradicting values), -ENOMEM. @table may be passed to
 * pt_iommu_deinit() in each case.
 */
int pt_iommu_amdv1_init(struct pt_iommu_amdv1 *table,
			const struct pt_iommu_amdv1_cfg *cfg, gfp_t gfp);

/**
 * pt_iommu_amdv1_hw_info() - Tell how to point hardware at the table
 * @table: The table
 * @info: Filled in
 *
 * Context: With PT_FEAT_DYNAMIC_TOP, under the driver's top lock.
 */
void pt_iommu_amdv1_hw_info(struct pt_iommu_amdv1 *table,
			    struct pt_iommu_amdv1_hw_info *info);

PT_IOMMU_DECLARE_OPS(amdv1);

/**
 * pt_iommu_amdv1_mock_init() - Set up an AMDv1 page table of 2 KiB granules
 * @table: Table to set up, zeroed but for the members that the driver fills in
 * @cfg: What is wanted of it: 0 to 4 for the starting level, up to 56 bits of
 *	IOVA and 51 of OA, no PT_FEAT_AMDV1_ENCRYPT_TABLES
 * @gfp: For the top table
 *
 * No hardware walks it. It is for tests of software that must not take the
 * system's page size for that of the IOMMU.
 *
 * Return: As pt_iommu_amdv1_init().
 */
int pt_iommu_amdv1_mock_init(struct pt_iommu_amdv1 *table,
			     const struct pt_iommu_amdv1_cfg *cfg, gfp_t gfp);

/**
 * pt_iommu_amdv1_mock_hw_info() - Tell where the table is
 * @table: The table
 * @info: Filled in
 *
 * Context: With PT_FEAT_DYNAMIC_TOP, under the driver's top lock.
 */
void pt_iommu_amdv1_mock_hw_info(struct pt_iommu_amdv1 *table,
				 struct pt_iommu_amdv1_hw_info *info);

PT_IOMMU_DECLARE_OPS(amdv1_mock);

/**
 * struct pt_iommu_x86_64 - x86_64 page table as a domain
 * @iommu: The part that is the same for each format
 * @x86_64_pt: The format's own part, private to the library
 */
struct pt_iommu_x86_64 {
	struct pt_iommu iommu;
	struct pt_x86_64 x86_64_pt;
};

/**
 * struct pt_iommu_x86_64_cfg - What pt_iommu_x86_64_init() takes
 * @common: The part that is the same for each format
 * @top_level: Level of the top table: 3 (4 levels, 48 bits of IOVA) or 4 (5
 *	levels, 57 bits)
 */
struct pt_iommu_x86_64_cfg {
	struct pt_iommu_cfg common;
	unsigned int top_level;
};

/**
 * struct pt_iommu_x86_64_hw_info - What a GCR3 table or PASID entry needs
 * @gcr3_pt: Physical address of the top table, with the encryption bit where
 *	tables are encrypted: AMD's GCR3, VT-d's FSPTPTR
 * @levels: Number of levels, 4 or 5
 */
struct pt_iommu_x86_64_hw_info {
	u64 gcr3_pt;
	unsigned int levels;
};

/**
 * pt_iommu_x86_64_init() - Set up an x86_64 page table
 * @table: Table to set up, zeroed but for the members that the driver fills in
 * @cfg: What is wanted of it
 * @gfp: For the top table
 *
 * Without PT_FEAT_SIGN_EXTEND IOVAs are unsigned, all 48 or 57 bits, as AMD
 * translates DMA without PASID. Where hardware wants canonical addresses, the
 * upper half of that is out of its reach: narrow the aperture.
 *
 * What is mapped with IOMMU_WRITE alone can be read too.
 *
 * Return: 0, -EOPNOTSUPP (a feature, level or size that the format cannot do),
 * -EINVAL (contradicting values), -ENOMEM. @table may be passed to
 * pt_iommu_deinit() in each case.
 */
int pt_iommu_x86_64_init(struct pt_iommu_x86_64 *table,
			 const struct pt_iommu_x86_64_cfg *cfg, gfp_t gfp);

/**
 * pt_iommu_x86_64_hw_info() - Tell how to point hardware at the table
 * @table: The table
 * @info: Filled in
 */
void pt_iommu_x86_64_hw_info(struct pt_iommu_x86_64 *table,
			     struct pt_iommu_x86_64_hw_info *info);

PT_IOMMU_DECLARE_OPS(x86_64);

/**
 * struct pt_iommu_vtdss - VT-d second stage page table as a domain
 * @iommu: The part that is the same for each format
 * @vtdss_pt: The format's own part, private to the library
 */
struct pt_iommu_vtdss {
	struct pt_iommu iommu;
	struct pt_vtdss vtdss_pt;
};

/**
 * struct pt_iommu_vtdss_cfg - What pt_iommu_vtdss_init() takes
 * @common: The part that is the same for each format
 * @top_level: Level of the top table: 2 (3 levels, 39 bits of IOVA), 3 (4
 *	levels, 48 bits) or 4 (5 levels, 57 bits)
 */
struct pt_iommu_vtdss_cfg {
	struct pt_iommu_cfg common;
	unsigned int top_level;
};

/**
 * struct pt_iommu_vtdss_hw_info - What a context or PASID entry needs
 * @ssptptr: Physical address of the top table, for the field SSPTPTR
 * @aw: Field AW: 1 for 3 levels, 2 for 4, 3 for 5
 */
struct pt_iommu_vtdss_hw_info {
	u64 ssptptr;
	u8 aw;
};

/**
 * pt_iommu_vtdss_init() - Set up a VT-d second stage page table
 * @table: Table to set up, zeroed but for the members that the driver fills in
 * @cfg: What is wanted of it
 * @gfp: For the top table
 *
 * What is mapped with IOMMU_WRITE alone can be read too.
 *
 * Return: 0, -EOPNOTSUPP (a feature, level or size that the format cannot do),
 * -EINVAL (contradicting values), -ENOMEM. @table may be passed to
 * pt_iommu_deinit() in each case.
 */
int pt_iommu_vtdss_init(struct pt_iommu_vtdss *table,
			const struct pt_iommu_vtdss_cfg *cfg, gfp_t gfp);

/**
 * pt_iommu_vtdss_hw_info() - Tell how to point hardware at the table
 * @table: The table
 * @info: Filled in
 */
void pt_iommu_vtdss_hw_info(struct pt_iommu_vtdss *table,
			    struct pt_iommu_vtdss_hw_info *info);

PT_IOMMU_DECLARE_OPS(vtdss);

/**
 * struct pt_iommu_riscv_64 - RISC-V page table as a domain
 * @iommu: The part that is the same for each format
 * @riscv_64_pt: The format's own part, private to the library
 */
struct pt_iommu_riscv_64 {
	struct pt_iommu iommu;
	struct pt_riscv_64 riscv_64_pt;
};

/**
 * struct pt_iommu_riscv_64_cfg - What pt_iommu_riscv_64_init() takes
 * @common: The part that is the same for each format. Its size of the IOVA
 *	space chooses the mode: Sv39 up to 39 bits, Sv48 up to 48, then Sv57.
 */
struct pt_iommu_riscv_64_cfg {
	struct pt_iommu_cfg common;
};

/**
 * struct pt_iommu_riscv_64_hw_info - What a first-stage context needs
 * @ppn: Page number of the top table, for the field PPN of iosatp
 * @fsc_iosatp_mode: Field MODE of iosatp: 8 is Sv39, 9 Sv48, 10 Sv57
 */
struct pt_iommu_riscv_64_hw_info {
	u64 ppn;
	u8 fsc_iosatp_mode;
};

/**
 * pt_iommu_riscv_64_init() - Set up a RISC-V page table
 * @table: Table to set up, zeroed but for the members that the driver fills in
 * @cfg: What is wanted of it
 * @gfp: For the top table
 *
 * Hardware takes canonical addresses only. Without PT_FEAT_SIGN_EXTEND the IOVA
 * space is their lower half: 38, 47 or 56 bits.
 *
 * What is mapped with IOMMU_WRITE alone can be read too.
 *
 * Return: 0, -EOPNOTSUPP (a feature or size that the format cannot do),
 * -EINVAL (contradicting values), -ENOMEM. @table may be passed to
 * pt_iommu_deinit() in each case.
 */
int pt_iommu_riscv_64_init(struct pt_iommu_riscv_64 *table,
			   const struct pt_iommu_riscv_64_cfg *cfg, gfp_t gfp);

/**
 * pt_iommu_riscv_64_hw_info() - Tell how to point hardware at the table
 * @table: The table
 * @info: Filled in
 */
void pt_iommu_riscv_64_hw_info(struct pt_iommu_riscv_64 *table,
			       struct pt_iommu_riscv_64_hw_info *info);

PT_IOMMU_DECLARE_OPS(riscv_64);

#endif /* __GENERIC_PT_IOMMU_H */
