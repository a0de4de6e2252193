/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the library, the benchmark and a peer use of the kernel, as cheap as
 * there: addresses are converted with an addition of a variable, an RCU read
 * side is nothing, an atomic operation is one instruction with lock prefix.
 *
 * Included before all else. What the shim of tools/testing/generic_pt has that
 * costs the same is taken from there; the guards of its other headers are
 * defined here, and headers that it does not have are empty files.
 */
#ifndef UBENCH_KERNEL_H
#define UBENCH_KERNEL_H

/* Tests get between the instructions there, nobody does here */
#define SHIM_HOOKS_H
/* Replaced below */
#define SHIM_IOMMU_PAGES_H
#define SHIM_LINUX_BITOPS_H
#define SHIM_LINUX_CACHEFLUSH_H
#define SHIM_LINUX_IOMMU_H
#define SHIM_LINUX_MM_H
#define SHIM_LINUX_RCUPDATE_H
#define SHIM_LINUX_STRING_H

static inline void shim_storing(const void *item)
{
}

static inline void shim_stored(const void *item)
{
}

static inline void shim_point(void)
{
}

static inline void shim_sync_point(void)
{
}

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#define __packed __attribute__((__packed__))
#define barrier() __asm__ __volatile__("" : : : "memory")

#define __mul_u64(a, b) ((unsigned __int128)(a) * (b))
#define mul_u64_u64_div_u64(a, b, c) ((u64)(__mul_u64(a, b) / (c)))
#define div64_u64(a, b) ((u64)(a) / (u64)(b))
#define div_u64(a, b) ((u64)(a) / (u32)(b))
#define min3(a, b, c) min(a, min(b, c))
#define clamp(x, low, high) min(max(x, low), high)

#define SZ_1K 0x400UL
#define SZ_4K 0x1000UL
#define SZ_64K 0x10000UL
#define SZ_8K 0x2000UL
#define SZ_1M 0x100000UL
#define SZ_2M 0x200000UL
#define SZ_1G 0x40000000UL
#define SZ_64G 0x1000000000UL

#define U64_MAX (~0ULL)

/* What the optimizer knows, not only what is constant */
void ubench_build_bug(void) __attribute__((__error__("BUILD_BUG_ON")));
#undef BUILD_BUG_ON
#define BUILD_BUG_ON(condition)             \
	do {                                \
		if (condition)              \
			ubench_build_bug(); \
	} while (0)

#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL

u64 ktime_get_ns(void);
u64 get_random_u64(void);

#define pr_info(...) printf(__VA_ARGS__)
#define strscpy(to, from, size) snprintf(to, size, "%s", from)
#define sort(base, nr, size, compare, swap) qsort(base, nr, size, compare)

/* bitops.h */
#define __ffs64(word) ((unsigned long)__builtin_ctzll(word))
#define __ffs(word) ((unsigned long)__builtin_ctzl(word))

static inline int fls64(u64 word)
{
	return word ? 64 - __builtin_clzll(word) : 0;
}

/* string.h */

static inline void *memset64(u64 *items, u64 item, size_t nr)
{
	u64 *at = items;

	__asm__ __volatile__("rep stosq"
			     : "+D"(at), "+c"(nr)
			     : "a"(item)
			     : "memory");
	return items;
}

/* The library's sources ask for the architecture */
#define CONFIG_X86 1
#define CONFIG_X86_64 1
#define clflush_cache_range(items, bytes) shim_fail(__FILE__, __LINE__, "flush")

/* mm.h: the direct map and the array of pages begin where variables say */
#define PAGE_SHIFT 12
#define PAGE_SIZE (1UL << PAGE_SHIFT)
#define PAGE_MASK (~(PAGE_SIZE - 1))

struct page {
	unsigned long flags;
	struct list_head lru;
	void *mapping;
	unsigned long index;
	unsigned long private;
	unsigned long memcg_data;
	unsigned long refcount;
};

extern unsigned long page_offset_base, vmemmap_base, phys_base;
#define KERNEL_MAP 0xffffffff80000000UL

/* The kernel's image has a mapping of its own: no table is there, but who knows */
static inline u64 virt_to_phys(const void *address)
{
	unsigned long x = (unsigned long)address;
	unsigned long y = x - KERNEL_MAP;

	return y + (x > y ? phys_base : KERNEL_MAP - page_offset_base);
}

static inline void *phys_to_virt(u64 pa)
{
	return (void *)(pa + page_offset_base);
}

static inline struct page *virt_to_page(const void *address)
{
	return (struct page *)vmemmap_base +
	       (virt_to_phys(address) >> PAGE_SHIFT);
}

#define pfn_to_page(pfn) ((struct page *)vmemmap_base + (pfn))

static inline void *page_address(const struct page *page)
{
	return phys_to_virt((u64)(page - (struct page *)vmemmap_base)
			    << PAGE_SHIFT);
}

void *ubench_page_alloc(void);
void ubench_page_free(void *page);
void ubench_pages_sort(void);
unsigned long ubench_pages_used(void);

#define get_zeroed_page(gfp) \
	((unsigned long)memset(ubench_page_alloc(), 0, PAGE_SIZE))
#define free_page(page) ubench_page_free((void *)(page))
#define kzalloc(size, gfp) calloc(1, size)
#define kfree(p) free(p)

/* iommu-pages.h */
#define iommu_alloc_page_node(nid, gfp) ((void *)get_zeroed_page(gfp))
#define iommu_alloc_page_node_unzeroed(nid, gfp) ubench_page_alloc()
#define iommu_free_page(page) ubench_page_free(page)

void iommu_put_pages_list_now(struct list_head *pages);
#define iommu_put_pages_list(pages) iommu_put_pages_list_now(pages)

/* rcupdate.h: no preemption, so that a read side is not even counted */
#define rcu_read_lock() barrier()
#define lockdep_assert_in_rcu_read_lock() do { } while (0)
#define rcu_read_unlock() barrier()

/* iommu.h, as in the kernel but for what nobody here calls */
#define IOMMU_READ (1 << 0)
#define IOMMU_WRITE (1 << 1)
#define IOMMU_CACHE (1 << 2)
#define IOMMU_MMIO (1 << 4)
#define IOMMU_DIRTY_NO_CLEAR (1 << 0)

struct iommu_domain;
struct iommu_dirty_bitmap;

struct iommu_iotlb_gather {
	unsigned long start;
	unsigned long end;
	size_t pgsize;
	struct list_head freelist;
	bool queued;
};

struct iommu_domain_ops {
	int (*map_pages)(struct iommu_domain *domain, unsigned long iova,
			 phys_addr_t paddr, size_t pgsize, size_t pgcount,
			 int prot, gfp_t gfp, size_t *mapped);
	size_t (*unmap_pages)(struct iommu_domain *domain, unsigned long iova,
			      size_t pgsize, size_t pgcount,
			      struct iommu_iotlb_gather *gather);
	void (*flush_iotlb_all)(struct iommu_domain *domain);
	void (*iotlb_sync)(struct iommu_domain *domain,
			   struct iommu_iotlb_gather *gather);
	phys_addr_t (*iova_to_phys)(struct iommu_domain *domain,
				    dma_addr_t iova);
};

struct iommu_dirty_ops {
	int (*read_and_clear_dirty)(struct iommu_domain *domain,
				    unsigned long iova, size_t size,
				    unsigned long flags,
				    struct iommu_dirty_bitmap *dirty);
};

struct iommu_domain_geometry {
	dma_addr_t aperture_start;
	dma_addr_t aperture_end;
	bool force_aperture;
};

struct iommu_domain {
	const struct iommu_domain_ops *ops;
	const struct iommu_dirty_ops *dirty_ops;
	unsigned long pgsize_bitmap;
	struct iommu_domain_geometry geometry;
};

static inline void iommu_iotlb_gather_init(struct iommu_iotlb_gather *gather)
{
	*gather = (struct iommu_iotlb_gather){
		.start = ~0UL,
		.freelist = LIST_HEAD_INIT(gather->freelist),
	};
}

static inline void iommu_iotlb_sync(struct iommu_domain *domain,
				    struct iommu_iotlb_gather *gather)
{
	if (domain->ops->iotlb_sync)
		domain->ops->iotlb_sync(domain, gather);
	iommu_iotlb_gather_init(gather);
}

static inline bool
iommu_iotlb_gather_is_disjoint(struct iommu_iotlb_gather *gather,
			       unsigned long iova, size_t size)
{
	unsigned long start = iova, end = start + size - 1;

	return gather->end != 0 &&
	       (end + 1 < gather->start || start > gather->end + 1);
}

static inline void
iommu_iotlb_gather_add_range(struct iommu_iotlb_gather *gather,
			     unsigned long iova, size_t size)
{
	unsigned long end = iova + size - 1;

	if (gather->start > iova)
		gather->start = iova;
	if (gather->end < end)
		gather->end = end;
}

void iommu_dirty_bitmap_record(struct iommu_dirty_bitmap *dirty,
			       unsigned long iova, unsigned long length);

/* kunit/test.h: what cannot go on ends it */
struct kunit {
	const char *name;
};

#define KUNIT_ASSERT_NOT_NULL(test, p) BUG_ON(!(p))
#define KUNIT_ASSERT_NOT_NULL_MSG(test, p, ...) BUG_ON(!(p))
#define KUNIT_ASSERT_FALSE_MSG(test, condition, ...) BUG_ON(condition)
#define kunit_kzalloc(test, size, gfp) calloc(1, size)
#define kunit_kcalloc(test, nr, size, gfp) calloc(nr, size)
#define kunit_kmalloc_array(test, nr, size, gfp) calloc(nr, size)

#endif /* UBENCH_KERNEL_H */
