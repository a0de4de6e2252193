#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Break the library on purpose and see that the tests notice. TAP on stdout.

usage: breaks.py [-l] [NAME...]      (part of a break's or layer's name; default: all)

Each break is made in a copy of the library, and run against one program after
the other until one fails; each is compiled when its turn comes. A break that none
notices is a hole in the tests.

-l: instead, one break for each layer of the tests. That layer alone must notice
it, and say so in its own words.

environment: JOBS, SEED, CC
"""

import filecmp
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.realpath(os.path.join(HERE, '..', '..', '..'))
CC = os.environ.get('CC', 'cc')
OUT = os.path.join(TOP, 'build', 'user', 'breaks')
LIB, TESTS = 'drivers/iommu/generic_pt', 'tools/testing/generic_pt'
SEED = os.environ.get('SEED', '1')
JOBS = os.environ.get('JOBS', str(os.cpu_count()))

TABLES, MAP, UNMAP = 'pt_tables.h', 'iommu_pt_map.h', 'iommu_pt_unmap.h'
TOP_H, LOOKUP, DIRTY = 'iommu_pt_top.h', 'iommu_pt_lookup.h', 'iommu_pt_dirty.h'
STORE, ITER, AMDV1 = 'pt_store.h', 'pt_iter.h', 'fmt/amdv1.h'
X86, VTDSS, RISCV = 'fmt/x86_64.h', 'fmt/vtdss.h', 'fmt/riscv_64.h'
PAGES, USAGE = '../iommu-pages.c', 'pt_usage.h'
HW_X86 = '../../../tools/testing/generic_pt/hw_x86_64.c'
IOMMU_PT = 'iommu_pt.h'

# What is broken, in which file, what is there, what it becomes
BREAKS = [
    ('no flush when a table is removed', TABLES,
     '\tpt_flush_tables(iommu, leaving, &leaving->tables);\n', '\tpt_env_free_deferred(&leaving->tables);\n'),
    ('no walk cache flush when a table is removed', TABLES,
     '\tpt_flush_tables(iommu, leaving, &leaving->tables);\n',
     '\tpt_flush_tables(iommu, leaving, NULL);\n\tpt_env_free_deferred(&leaving->tables);\n'),
    ('leaves are not flushed before their table goes', TABLES,
     '\t\tpt_flush_tables(iommu, leaving, NULL);\n', '\t\t;\n'),
    ('a tombstone is taken over without a flush', MAP,
     '\tif (flush)\n\t\tdomain->ops->flush_iotlb_all(domain);\n}', '}'),
    ('a table is removed without a tombstone', TABLES,
     '\t\tpt_store_tombstone(iommu, dead[i].slot, dead[i].item);\n',
     '\t\tpt_store_table(iommu, dead[i].slot, dead[i].item, 0);\n'),
    ('the wrong range is flushed when a table is removed', TABLES,
     '\tgather.end = leaving->last;',
     '\tgather.end = leaving->last - pt_low_mask(pt_item_lg2(1) - 1);'),
    ('only the first of the tables that leave is flushed for', TABLES,
     'leaving->nr ? max(leaving->last, last) : last;', 'leaving->nr ? leaving->last : last;'),
    ('more than a table is flushed when it is removed', TABLES,
     '\tgather.end = leaving->last;',
     '\tgather.end = leaving->last | pt_low_mask(pt_item_lg2(2));'),
    ('tables leave together that are not neighbours', TABLES,
     '!pt_leaving_adjoins(leaving, iova, last)', '0'),
    ('tables of two parents leave together', TABLES, 'leaving->parent != parent', '0'),
    ('ranges with gaps are gathered where they must not be', UNMAP,
     '\tif (pt_feature(common, PT_FEAT_FLUSH_RANGE_NO_GAPS))\n\t\tpt_gather_no_gap', '\tif (0)\n\t\tpt_gather_no_gap'),
    ('tables are freed before readers are gone', PAGES,
     '\tcall_rcu(&first->rcu_head, put_pages_rcu_again);', '\tput_pages_rcu(&first->rcu_head);'),
    ('tables that left whole are freed at once', UNMAP,
     '\tpt_env_defer(&unmap->gather->freelist, desc);', '\tpt_env_free(pt_env_desc_table(desc));'),
    ('a map of one page counts after it stored', MAP,
     '\tif (unlikely(pos.level || pos.item ||\n\t\t     !pt_users_get(pt_pos_desc(&pos), 1)))\n'
     '\t\treturn false;\n\tWRITE_ONCE(*pos.slot, item);\n',
     '\tif (pos.level || pos.item)\n\t\treturn false;\n\tWRITE_ONCE(*pos.slot, item);\n'
     '\tatomic_add_return(1, &pt_slot_desc(pos.slot)->users);\n'),
    ('an unmap counts one too few', UNMAP,
     'pt_users_put(unmap->iommu, pt_slot_desc(slot), i)',
     'pt_users_put(unmap->iommu, pt_slot_desc(slot), i > 1 ? i - 1 : i)'),
    ('a map into a dead table', TABLES,
     '\tif (likely(!(atomic_add_return(nr, &desc->users) & PT_USERS_DEAD)))\n\t\treturn true;',
     '\tatomic_add_return(nr, &desc->users);\n\treturn true;'),
    ('a table that left whole stays parked', TABLES,
     '\tpt_unplace_locked(iommu, desc);\n\t/* Who', '\t/* Who'),
    ('a table that left whole keeps its mark', TABLES,
     '\twhile (!atomic_try_cmpxchg(&desc->users, &users,\n'
     '\t\t\t\t   (users & ~PT_USERS_ANY) | PT_USERS_DEAD))\n\t\t;\n', ''),
    ('a parked table gets a place whatever happened to it', TABLES,
     '\tif (!(atomic_read(&desc->users) & PT_USERS_PARKED))\n\t\treturn true;\n\tif (iommu', '\tif (iommu'),
    ('the range of a dead table is asked too late', TABLES,
     '\tgather.start = leaving->iova;',
     '\tgather.start = pt_desc_iova(ptf_common(iommu),\n'
     '\t\t\t\t    pt_env_desc(pt_child(ptf_common(iommu), leaving->dead[0].item)));'),
    ('a dead table still counts in its parent', TABLES,
     '\tif (leaving->nr && !pt_users_sub(leaving->parent, leaving->nr))\n', '\tif (leaving->nr)\n'),
    ('of dead tables only one leaves its parent', TABLES,
     'pt_users_sub(leaving->parent, leaving->nr)', 'pt_users_sub(leaving->parent, 1)'),
    ('an empty table is never removed', TABLES,
     '\tif (!pt_place_locked(iommu, desc)) {\n\t\tpt_evict_locked(iommu, &leaving);\n\t\tpt_place_locked(iommu, desc);\n\t}\n',
     '\twhile (iommu->nr_parked)\n\t\tatomic_sub_return(PT_USERS_PARKED,\n'
     '\t\t\t\t  &((struct pt_desc *)iommu->parked[--iommu->nr_parked])->users);\n'
     '\tpt_place_locked(iommu, desc);\n'),
    ('the old top does not know its new parent', TOP_H,
     '\tWRITE_ONCE(old->slot, &table[0]);\n', ''),
    ('software sees the new top before hardware', TOP_H,
     '\tiommu->driver_ops->change_top(iommu, pt_env_table_oa(table), level);\n', ''),
    ('the old top keeps its mark', TOP_H,
     '\t\tif (old && pt_users_put_top(old))', '\t\tif (0)'),
    ('a large leaf does not get past empty tables', MAP,
     '\t\tif (pt_remove_empty(map->iommu, pt_env_desc(table)))\n\t\t\treturn true;\n', ''),
    ('a table is published without release', STORE,
     '\tbool stored = cmpxchg64(slot, old, item) == old;\n',
     '\tbool stored = READ_ONCE(*slot) == old;\n\n\tif (stored)\n\t\tWRITE_ONCE(*slot, item);\n'),
    ('a lookup is no reader', LOOKUP,
     '\trcu_read_lock();\n\tpos = pt_find_leaf(common, iova);\n\trcu_read_unlock();\n'
     '\tif (!ptf', '\tpos = pt_find_leaf(common, iova);\n\tif (!ptf'),
    ('the last byte is one too far', LOOKUP,
     '\t\t     last > geometry->aperture_end))', '\t\t     last > geometry->aperture_end + 4096))'),
    ('the last byte of a range is the end', LOOKUP,
     '\t*last = iova + len - 1;', '\t*last = iova + len;'),
    ('the gather is shorter than what was unmapped', UNMAP,
     '\tiommu_iotlb_gather_add_range(gather, iova, bytes);',
     '\tiommu_iotlb_gather_add_range(gather, iova, 4096);'),
    ('the gather ends where the call did, not the leaf', UNMAP,
     '\t\tpt_gather(iommu, gather, iova, done, unmap.level);',
     '\t\tpt_gather(iommu, gather, iova, min(done, len), unmap.level);'),
    ('whole tables leave where gaps must not be flushed', UNMAP,
     '\treturn !pt_feature(common, PT_FEAT_FLUSH_RANGE_NO_GAPS) &&\n\t       pt_is', '\treturn pt_is'),
    ('a table is taken for full that has a hole below', UNMAP,
     '\tfor (i = 0; level && i < PTF_ITEMS; i++) {\n\t\tpt_item_t item = READ_ONCE(table[i]);\n\n'
     '\t\tif (!ptf_present(item))', '\tfor (i = 0; 0;) {\n\t\tpt_item_t item = 0;\n\n'
     '\t\tif (!ptf_present(item))'),
    ('an unmap begins inside of a leaf', UNMAP,
     '\tif (!pt_is_aligned(unmap->iova, ptf_leaf_lg2(READ_ONCE(*slot), level)))\n\t\treturn 0;\n', ''),
    ('a map writes over what is there', STORE,
     '\treturn !pt_line_or(items);', '\treturn true;'),
    ('hardware sees part of a leaf that cannot be', STORE,
     '\tfor (; i < nr; i++)\n\t\tif (READ_ONCE(items[i]))\n\t\t\treturn false;\n\treturn true;',
     '\treturn nr >= PT_LINE_ITEMS || !READ_ONCE(items[0]);'),
    ('a fresh table is not cleared behind the run', MAP,
     '\tmemset64(table + index + run->items, 0, PTF_ITEMS - index - run->items);\n', ''),
    ('tables that are not needed leak', MAP,
     '\twhile (map->nr_spare)\n\t\tpt_env_free(pt_spare_take(map));', '\t;'),
    ('the dirty scan looks at one item of a leaf', DIRTY,
     '\tfor (i = 0; i < nr; i++) {\n\t\tif (!(READ', '\tfor (i = 0; i < 1; i++) {\n\t\tif (!(READ'),
    ('the size code of a leaf is one too large', AMDV1,
     'pt_low_mask(lg2 - 1 + AMDV1_OA_SHIFT)', 'pt_low_mask(lg2 + AMDV1_OA_SHIFT)'),
    ('MMIO is encrypted', AMDV1,
     '\tif (!(prot & IOMMU_MMIO))\n', ''),
    ('a table pointer loses its highest address bit', AMDV1,
     '\treturn oa << AMDV1_OA_SHIFT |', '\treturn (oa & ~BIT_ULL(51)) << AMDV1_OA_SHIFT |'),
    ('leaves are larger than the range left', MAP,
     'pt_floor_lg2(left)', 'pt_floor_lg2(left) + 1'),
    # Formats
    ('x86_64: a table pointer loses its highest address bit', X86,
     '\treturn oa | common->enc_mask | X86_64_P |', '\treturn (oa & ~BIT_ULL(51)) | common->enc_mask | X86_64_P |'),
    ('x86_64: tables are not encrypted', X86,
     '\treturn oa | common->enc_mask | X86_64_P |', '\treturn oa | X86_64_P |'),
    ('x86_64: MMIO is encrypted', X86, '\tif (!(prot & IOMMU_MMIO))\n', ''),
    ('x86_64: a leaf is not accessed beforehand', X86,
     'X86_64_P | X86_64_US | X86_64_A | X86_64_D;', 'X86_64_P | X86_64_US | X86_64_D;'),
    ('x86_64: a leaf is not a user\'s', X86,
     'X86_64_P | X86_64_US | X86_64_A | X86_64_D;', 'X86_64_P | X86_64_A | X86_64_D;'),
    ('x86_64: a large leaf looks like a pointer', X86, '(level ? X86_64_PS : 0)', '(level > 1 ? X86_64_PS : 0)'),
    ('x86_64: all may be written', X86, '\tif (prot & IOMMU_WRITE)\n\t\titem |= X86_64_RW;', '\titem |= X86_64_RW;'),
    ('x86_64: the OA of a leaf keeps its highest bit from lookup', X86,
     'u64 mask = common->oa_mask &', 'u64 mask = (common->oa_mask >> 1) &'),
    ('x86_64: a tombstone of a pointer that was accessed is another one', X86,
     '#define PTF_ACCESSED X86_64_EA\n', ''),
    ('a signed space has no hole', LOOKUP,
     '\treturn likely(iova + half < 2 * half && (iova ^ last) < half);', '\treturn likely((iova ^ last) < half);'),
    ('a range may go over the hole of a signed space', LOOKUP,
     '\treturn likely(iova + half < 2 * half && (iova ^ last) < half);', '\treturn likely(iova + half < 2 * half);'),
    ('the range of a dead table in the upper half is that of the lower', TABLES,
     '\treturn (s64)(iova << unused) >> unused;', '\treturn iova;'),
    ('a signed table covers the lower half alone', ITER,
     '\t\tiova += 1ULL << (pt_item_lg2(level + 1) - 1);', '\t\t;'),
    ('vtdss: a tombstone keeps the accessed bit', VTDSS,
     '\treturn (item & VTDSS_OA) | PT_SW_TOMBSTONE;', '\treturn (item & (VTDSS_OA | VTDSS_A)) | PT_SW_TOMBSTONE;'),
    ('vtdss: a tombstone keeps the mark of what was flushed', VTDSS,
     '\treturn (item & VTDSS_OA) | PT_SW_TOMBSTONE;',
     '\treturn (item & (VTDSS_OA | PT_SW_FLUSHED)) | PT_SW_TOMBSTONE;'),
    ('vtdss: a tombstone is present', VTDSS,
     '\treturn (item & VTDSS_OA) | PT_SW_TOMBSTONE;', '\treturn (item & (VTDSS_OA | VTDSS_W)) | PT_SW_TOMBSTONE;'),
    ('vtdss: DMA need not snoop', VTDSS, '\t\titem |= VTDSS_SNP;', '\t\t;'),
    ('vtdss: read alone is not refused', VTDSS, '\t\treturn -EOPNOTSUPP;\n\tif (common', '\t\t;\n\tif (common'),
    ('vtdss: leaves of 512 GiB', VTDSS, '#define VTDSS_MAX_LEAF_LEVEL 2', '#define VTDSS_MAX_LEAF_LEVEL 3'),
    ('vtdss: the dirty bit is the accessed bit', VTDSS, '#define PTF_DIRTY VTDSS_D', '#define PTF_DIRTY VTDSS_A'),
    ('vtdss: a top of 3 levels says that it has 4', VTDSS, '\tinfo->aw = top_level - 1;', '\tinfo->aw = top_level;'),
    ('riscv_64: a leaf of 64 KiB has another code', RISCV, '#define RISCV_64_NAPOT_PPN 8', '#define RISCV_64_NAPOT_PPN 4'),
    ('riscv_64: the OA of a leaf of 64 KiB has its code', RISCV,
     '~riscv_64_ppn(pt_low_mask(riscv_64_leaf_lg2(item, level)));', '~0ULL;'),
    ('riscv_64: a leaf is not dirty beforehand', RISCV, 'RISCV_64_W | RISCV_64_D;', 'RISCV_64_W;'),
    ('riscv_64: a leaf is not a user\'s', RISCV, 'RISCV_64_R | RISCV_64_U |', 'RISCV_64_R |'),
    ('riscv_64: MMIO is non-cacheable memory', RISCV, '#define RISCV_64_PBMT_IO 2', '#define RISCV_64_PBMT_IO 1'),
    ('riscv_64: all is non-cacheable', RISCV, 'else if (!(prot & IOMMU_CACHE))', 'else'),
    ('riscv_64: 64 KiB without Svnapot', RISCV,
     'if (!level && (common->features & BIT(PT_FEAT_RISCV_SVNAPOT_64K)))', 'if (!level)'),
    ('riscv_64: one bit too few of the page number', RISCV, 'GENMASK_ULL(53, 10)', 'GENMASK_ULL(52, 10)'),
    ('riscv_64: the mode is one too high', RISCV, 'RISCV_64_MIN_TOP_LEVEL + 8;', 'RISCV_64_MIN_TOP_LEVEL + 9;'),
    ('amdv1_mock: the OA stands where hardware has it', AMDV1, '\tpt_item_t item = attrs | oa << AMDV1_OA_SHIFT;', '\tpt_item_t item = attrs | oa;'),
    # The walkers, which judge all of these
    ('a walker takes a reserved bit', HW_X86,
     '\tif (entry &\n\t    ~(P | RW | US | A | D | EA | ADDRESS | (level > 1 ? PS : 0)))\n\t\treturn HW_MALFORMED;\n',
     ''),
    # Table memory
    ('tables that were taken back are not told', TABLES, '\t\t\tremoved += leaving.nr;\n', ''),
    ('tables that left whole still count', UNMAP, '\tpt_usage_left(iommu, unmap.dropped);\n', ''),
    ('tables that were allocated in vain still count', MAP,
     '\tpt_usage_give(map->iommu, map->nr_spare);\n', ''),
    ('the limit is one table too high', USAGE, 'limit - used < need', 'limit - used + 1 < need'),
    # Walkers that do not snoop
    ('a run of leaves is not flushed from the cache', MAP,
     '\tpt_flush_items(iommu, slot, stored);\n', ''),
    ('one page is not flushed from the cache', MAP,
     '\tWRITE_ONCE(*pos.slot, item);\n\tpt_flush_items(iommu, pos.slot, 1);\n', '\tWRITE_ONCE(*pos.slot, item);\n'),
    ('a fresh table is not flushed from the cache', MAP,
     '\tpt_flush_items(map->iommu, table, PTF_ITEMS);\n\tpt_desc_init(pt_env_desc(table), level, run',
     '\tpt_desc_init(pt_env_desc(table), level, run'),
    ('a fresh table above is not flushed from the cache', MAP,
     '\t\tpt_flush_items(map->iommu, table, PTF_ITEMS);\n\t\tpt_desc_init', '\t\tpt_desc_init'),
    ('only the items of a fresh table that are used are flushed', MAP,
     '\tpt_flush_items(map->iommu, table, PTF_ITEMS);\n\tpt_desc_init(pt_env_desc(table), level, run',
     '\tpt_flush_items(map->iommu, table + index, run->items);\n\tpt_desc_init(pt_env_desc(table), level, run'),
    ('a pointer is not flushed from the cache', STORE,
     '\tbool stored = cmpxchg64(slot, old, item) == old;\n\n\tpt_flush_items(iommu, slot, 1);', '\tbool stored = cmpxchg64(slot, old, item) == old;\n'),
    ('a tombstone is not flushed from the cache', STORE,
     '\t       !try_cmpxchg64(slot, &item, tombstone))\n\t\t;\n\tpt_flush_items(iommu, slot, 1);', '\t       !try_cmpxchg64(slot, &item, tombstone))\n\t\t;'),
    ('a pointer that another caller stored is not flushed', TABLES,
     '\t\tpt_show_tables(iommu, desc);', '\t\t;'),
    ('a pointer above a new table that another caller stored is not flushed', MAP,
     '\t\tpt_show_path(map->iommu, parent, tables);\n', ''),
    ('a pointer above a run that another caller stored is not flushed', MAP,
     '\tpt_show_path(iommu, desc, tables);\n', ''),
    ('a pointer is said to be flushed before it is', TABLES,
     '\t\t\tpt_flush_items(iommu, slot, 1);\n\t\t\tpt_store_flushed(slot);', '\t\t\tpt_store_flushed(slot);'),
    ('what an unmap emptied is not flushed from the cache', UNMAP,
     '\t\tpt_flush_items(unmap->iommu, slot, i);\n', ''),
    ('one page that was unmapped is not flushed from the cache', UNMAP,
     '\tpt_store_empty(pos.slot);\n\tpt_flush_items(iommu, pos.slot, 1);\n', '\tpt_store_empty(pos.slot);\n'),
    ('a dirty bit that was cleared comes back from memory', DIRTY,
     '\t\tpt_flush_items(dirty->iommu, dirty->cleared,\n\t\t\t       dirty->cleared_end - dirty->cleared);', '\t\t;'),
    ('the last cleared dirty bit is not flushed', DIRTY,
     '\t\tdirty->cleared_end = slot + nr;', '\t\tdirty->cleared_end = slot + 1;'),
    ('the first top is not flushed from the cache', IOMMU_PT,
     '\tpt_flush_items(iommu, top, PTF_ITEMS);\n', ''),
    # Gathers
    ('the gather says a page size that is too large', UNMAP,
     '\t\tgather->pgsize = BIT(pt_item_lg2(level));', '\t\tgather->pgsize = BIT(pt_item_lg2(level + 1));'),
    ('a table that left whole does not tell of its small pages', UNMAP, '\tunmap->level = 0;\n', ''),
    ('an empty gather is flushed', UNMAP, '\tif (done)\n\t\tpt_gather', '\tif (!done)\n\t\tiommu_iotlb_sync(&iommu->domain, gather);\n\tif (done)\n\t\tpt_gather'),
    ('a table that is flushed may have any page size', TABLES,
     '\tgather.pgsize = BIT(PTF_GRANULE_LG2);', '\tgather.pgsize = BIT(pt_item_lg2(1));'),
    ('an error is lost in unwinding', MAP,
     '\tpt_spare_free(&map);\n\t*mapped += map.iova - iova;\n\treturn ret;', '\tpt_spare_free(&map);\n\t*mapped += map.iova - iova;\n\treturn ret == -ENOMEM ? 0 : ret;'),
    ('a failed map says that it did nothing', MAP,
     '\tpt_spare_free(&map);\n\t*mapped += map.iova - iova;\n\treturn ret;', '\tpt_spare_free(&map);\n\tif (ret >= 0)\n\t\t*mapped += map.iova - iova;\n\treturn ret;'),
]


# A layer, the break that it must notice, the program, what that must say
LAYERS = [
    ('golden words', 'a walker takes a reserved bit', ['golden'], r'^not ok - '),
    ('oracle and walker', 'x86_64: all may be written', ['random', 'x86_64-4-levels'],
     r'^check\.c:\d+: .*hardware may read'),
    ('structure', 'tables that left whole still count', ['random', 'amdv1-fixed-level-3'],
     r'^domain\.c:\d+: .* tables are reachable'),
    ('random', 'the dirty scan looks at one item of a leaf', ['random', 'amdv1-fixed-level-2'],
     r'^ops\.c:\d+: scan of .* lost'),
    ('small model', 'a fresh table is not cleared behind the run', ['small', '-n', '2'], r'^not ok - small model'),
    ('allocation failure', 'tables that are not needed leak', ['random-asan', '-f', 'amdv1-fixed-level-3'],
     r'tables are reachable, |tables leak'),
    ('memory taken back', 'tables that were taken back are not told', ['contract'],
     r'^contract_\w+\.c:\d+: .*reclaim\(.*\) == '),
    ('IOTLB model', 'no walk cache flush when a table is removed', ['random', 'amdv1-device-range'],
     r'^device\.c:\d+: a device knows table'),
    ('cache model', 'a pointer is not flushed from the cache', ['random', 'x86_64-device-incoherent'],
     r'hardware: |^device\.c:\d+: a device walks'),
    ('interrupts', 'a map into a dead table', ['random', 'amdv1-interrupts'],
     r'^\S+\.[ch]:\d+: '),
    ('read sides', 'a lookup is no reader', ['random', 'amdv1-fixed-level-2'], r'^\S+: WARN_ON\(!rcu_read_lock_held\(\)\)'),
    ('races, thread sanitizer', 'a table is published without release', ['races-tsan', '-n', '3'],
     r'ThreadSanitizer: data race'),
    ('races, address sanitizer', 'tables are freed before readers are gone', ['races-asan', '-n', '20'],
     r'^not ok - |AddressSanitizer|^\S+\.[ch]:\d+: '),
    ('contract', 'the gather says a page size that is too large', ['contract'], r'^not ok - contract: gather'),
    ('corpus of the fuzzer', 'the size code of a leaf is one too large', ['fuzz-replay', f'{HERE}/corpus.txt'],
     r'^not ok - fuzz: inputs'),
    ('replays', 'the range of a dead table is asked too late', ['random', '-r'], r'^not ok - replay: '),
]


def sh(args):
    """Run something that may use a lot of CPU time, until a test fails: exit code, what it said"""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (1200, 1201))

    said = ''
    with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                          preexec_fn=limit, start_new_session=True) as p:
        for line in p.stdout:
            said += line
            if line.startswith('not ok'):
                os.killpg(p.pid, signal.SIGKILL)
                return 1, said
    if p.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        said += 'no end after 1200 s of CPU time\n'
    return p.returncode, said


def first_line(text):
    """What a test says first of all that is wrong"""
    for pattern in (r'^SUMMARY: (.*)$', r'^(\S+:\d+: .*)$', r'^(no end after .*)$'):
        m = re.search(pattern, text, re.M)
        if m:
            return m.group(1)
    return next((t for t in text.splitlines() if t.startswith('not ok')), 'it failed')


def replays():
    return sorted(os.path.join(HERE, 'replays', f) for f in os.listdir(os.path.join(HERE, 'replays')))


def build_and_run(args):
    """A program of the copy: exit code of its build, of itself, what it said"""
    rc, text = sh(['make', '-s', f'-j{JOBS}', '-C', os.path.join(OUT, TESTS), f'CC={CC}', f'OUT={OUT}/out',
                   os.path.join(OUT, 'out', args[0])])
    if rc:
        return rc, None, text
    return 0, *sh([os.path.join(OUT, 'out', args[0]), *args[1:]])


def notice():
    """The program that fails, and what it says. First those that are compiled quickly."""
    random = ['-s', SEED, '-d', f'{OUT}/out', '-j', JOBS]
    runs = [('replays', ['random-mutant', '-r', *replays()]),
            ('random', ['random-mutant', '-n', '10000', *random]),
            ('small model', ['small-mutant', '-n', '3', '-j', JOBS]),
            ('contract', ['contract-mutant']),
            ('corpus', ['fuzz-replay-mutant', f'{HERE}/corpus.txt']),
            ('golden words', ['golden']),
            ('replays with sanitizers', ['random-asan', '-r', *replays()]),
            ('random with sanitizers', ['random-asan', '-n', '20000', *random]),
            ('allocation failures', ['random-asan', '-f', '-n', '400', *random]),
            ('random, longer', ['random', '-n', '400000', *random]),
            ('races, thread sanitizer', ['races-tsan', '-n', '10', '-s', SEED]),
            ('races, address sanitizer', ['races-asan', '-n', '20', '-s', SEED])]
    for name, args in runs:
        bad, rc, text = build_and_run(args)
        if bad:
            return None, 'does not compile: ' + first_line(text)
        if rc:
            return name, first_line(text)
    return None, None


def copy_tree():
    """Only what differs, so that make compiles only what depends on it"""
    for part in ('drivers/iommu', 'include/linux/generic_pt', TESTS):
        source = os.path.join(TOP, part)
        for directory, _, names in os.walk(source):
            for name in names:
                path = os.path.join(directory, name)
                copy = os.path.join(OUT, os.path.relpath(path, TOP))
                os.makedirs(os.path.dirname(copy), exist_ok=True)
                if not os.path.exists(copy) or not filecmp.cmp(path, copy, shallow=False):
                    shutil.copy(path, copy)
                    os.utime(copy)


def make_break(what, file, old, new):
    """False when it cannot be made"""
    copy_tree()
    path = os.path.join(OUT, LIB, file)
    with open(path, encoding='utf-8') as f:
        text = f.read()
    if text.count(old) != 1:
        print(f'not ok - break: {what}\n# {file} has {text.count(old)} times what it replaces:')
        print('\n'.join('#   ' + t for t in old.split('\n')), flush=True)
        return False
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text.replace(old, new))
    return True


def run(*args):
    if not make_break(*args):
        return False
    program, why = notice()
    print(f'{"ok" if program else "not ok"} - break: {args[0]}')
    print(f'# {program or "nobody noticed"}: {why or ""}', flush=True)
    return bool(program)


def run_layer(layer, what, args, says):
    """With the break it fails in its own words, without it does not"""
    if not make_break(*next(b for b in BREAKS if b[0].endswith(what))):
        return False
    if args[0].startswith('random') and '-r' not in args:
        args = [args[0], '-n', '400' if '-f' in args else '20000', '-s', SEED, '-d', f'{OUT}/out', *args[1:]]
    elif '-r' in args:
        args = [*args, *replays()]
    bad, rc, text = build_and_run(args)
    m = rc and re.search(says + '.*', text, re.M)
    copy_tree()
    clean = build_and_run(args)[:2] == (0, 0) if m else True
    print(f'{"ok" if m and clean else "not ok"} - layer: {layer}: {what}')
    print(f'# {" ".join(args[:2])}: '
          f'{m[0].strip() if m else "does not compile" if bad else first_line(text) if rc else "nothing noticed"}')
    if not clean:
        print('# fails without the break too')
    sys.stdout.flush()
    return bool(m) and clean


def main():
    names = [a for a in sys.argv[1:] if a != '-l']
    layers = '-l' in sys.argv[1:]
    wanted = [b for b in (LAYERS if layers else BREAKS) if not names or any(a in b[0] for a in names)]
    # A make that called us has its own flags
    os.environ.pop('MAKEFLAGS', None)
    good = [run_layer(*b) if layers else run(*b) for b in wanted]
    return 0 if good and all(good) else 1


sys.exit(main())
