#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Break the library on purpose and see that the tests notice. TAP on stdout.

usage: breaks.py [NAME...]      (part of a break's name; default: all)

Each break is made in a copy of the library, and run against one program after
the other until one fails; each is compiled when its turn comes. A break that none
notices is a hole in the tests.
"""

import filecmp
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.realpath(os.path.join(HERE, '..', '..', '..'))
CC = os.environ.get('CC', 'cc')
OUT = os.path.join(TOP, 'build', 'user', 'breaks')
SEED = os.environ.get('SEED', '1')

TABLES, MAP, UNMAP = 'pt_tables.h', 'iommu_pt_map.h', 'iommu_pt_unmap.h'
TOP_H, LOOKUP, DIRTY = 'iommu_pt_top.h', 'iommu_pt_lookup.h', 'iommu_pt_dirty.h'
STORE, ITER, AMDV1 = 'pt_store.h', 'pt_iter.h', 'fmt/amdv1.h'
X86, VTDSS, RISCV = 'fmt/x86_64.h', 'fmt/vtdss.h', 'fmt/riscv_64.h'
PAGES = '../iommu-pages.c'
IOMMU_PT = 'iommu_pt.h'

# What is broken, in which file, what is there, what it becomes
BREAKS = [
    ('no flush when a table is removed', TABLES,
     '\tpt_flush_table(iommu, dead, &freelist);\n', '\tpt_env_free_deferred(&freelist);\n'),
    ('no walk cache flush when a table is removed', TABLES,
     '\tpt_flush_table(iommu, dead, &freelist);\n',
     '\tpt_flush_table(iommu, dead, NULL);\n\tpt_env_free_deferred(&freelist);\n'),
    ('leaves are not flushed before their table goes', TABLES,
     '\t\tpt_flush_table(iommu, dead, NULL);\n', '\t\t;\n'),
    ('a tombstone is taken over without a flush', MAP,
     '\tif (flush)\n\t\tdomain->ops->flush_iotlb_all(domain);\n}', '}'),
    ('a table is removed without a tombstone', TABLES,
     '\tpt_store_tombstone(iommu, slot, item);\n\tpt_env_defer',
     '\tpt_store_table(iommu, slot, item, 0);\n\tpt_env_defer'),
    ('the wrong range is flushed when a table is removed', TABLES,
     '\tgather.end = dead->iova | pt_low_mask(lg2);',
     '\tgather.end = dead->iova | pt_low_mask(lg2 - 1);'),
    ('more than a table is flushed when it is removed', TABLES,
     '\tgather.end = dead->iova | pt_low_mask(lg2);',
     '\tgather.end = dead->iova | pt_low_mask(lg2 + 9);'),
    ('ranges with gaps are gathered where they must not be', UNMAP,
     '\tif (pt_feature(common, PT_FEAT_FLUSH_RANGE_NO_GAPS) &&\n\t    !gather->queued', '\tif (0 &&\n\t    !gather->queued'),
    ('tables are freed before readers are gone', PAGES,
     '\tcall_rcu(&first->rcu_head, put_pages_rcu_again);', '\tput_pages_rcu(&first->rcu_head);'),
    ('tables that left whole are freed at once', UNMAP,
     '\tpt_env_defer(&unmap->gather->freelist, table);', '\tpt_env_free(table);'),
    ('a map of one page counts after it stored', MAP,
     '\tif (unlikely(pos.level || pos.item ||\n\t\t     !pt_users_get(pt_slot_desc(pos.slot), 1)))\n'
     '\t\treturn false;\n\tWRITE_ONCE(*pos.slot, item);\n',
     '\tif (pos.level || pos.item)\n\t\treturn false;\n\tWRITE_ONCE(*pos.slot, item);\n'
     '\tatomic_add_return(1, &pt_slot_desc(pos.slot)->users);\n'),
    ('an unmap counts one too few', UNMAP,
     'pt_users_put(unmap->iommu, pt_slot_desc(slot), i)',
     'pt_users_put(unmap->iommu, pt_slot_desc(slot), i > 1 ? i - 1 : i)'),
    ('a map into a dead table', TABLES,
     '\twhile (likely(users & PT_USERS_ANY)) {', '\tfor (;;) {'),
    ('a table that left whole stays parked', TABLES,
     '\tpt_unplace_locked(iommu, desc);\n\t/* Who', '\t/* Who'),
    ('a table that left whole keeps its mark', TABLES,
     '\tatomic_andnot(PT_USERS_ANY, &desc->users);\n', ''),
    ('a parked table gets a place whatever happened to it', TABLES,
     '\t\tif (atomic_read(&desc->users) & PT_USERS_PARKED) {', '\t\t{'),
    ('the range of a dead table is asked too late', TABLES,
     '\tgather.start = dead->iova;', '\tgather.start = pt_desc_iova(dead->desc);'),
    ('a dead table still counts in its parent', TABLES,
     '\tdead->parent = pt_users_sub(parent, 1) ? parent : NULL;', '\tdead->parent = NULL;'),
    ('an empty table is never removed', TABLES,
     '\t\t\tremove = oldest &&\n\t\t\t\t pt_unpark_locked(iommu, oldest, &dead);\n',
     '\t\t\tif (oldest)\n\t\t\t\tatomic_sub_return(PT_USERS_PARKED, &oldest->users);\n'),
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
     '\tmemset(table + index + run->items, 0,', '\tmemset(table + index + run->items, 0, 0 *'),
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
     '\tu64 oa = item & X86_64_OA & ~common->enc_mask;\n\n\t/*', '\tu64 oa = item & (X86_64_OA >> 1) & ~common->enc_mask;\n\n\t/*'),
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
     '& ~pt_low_mask(riscv_64_leaf_lg2(item, level));', '& ~0xfffULL;'),
    ('riscv_64: a leaf is not dirty beforehand', RISCV, 'RISCV_64_W | RISCV_64_D;', 'RISCV_64_W;'),
    ('riscv_64: a leaf is not a user\'s', RISCV, 'RISCV_64_R | RISCV_64_U |', 'RISCV_64_R |'),
    ('riscv_64: MMIO is non-cacheable memory', RISCV, '#define RISCV_64_PBMT_IO 2', '#define RISCV_64_PBMT_IO 1'),
    ('riscv_64: all is non-cacheable', RISCV, 'else if (!(prot & IOMMU_CACHE))', 'else'),
    ('riscv_64: 64 KiB without Svnapot', RISCV,
     'if (!level && (common->features & BIT(PT_FEAT_RISCV_SVNAPOT_64K)))', 'if (!level)'),
    ('riscv_64: one bit too few of the page number', RISCV, 'GENMASK_ULL(53, 10)', 'GENMASK_ULL(52, 10)'),
    ('riscv_64: the mode is one too high', RISCV, 'RISCV_64_MIN_TOP_LEVEL + 8;', 'RISCV_64_MIN_TOP_LEVEL + 9;'),
    ('amdv1_mock: the OA stands where hardware has it', AMDV1, '\tpt_item_t item = attrs | oa << AMDV1_OA_SHIFT;', '\tpt_item_t item = attrs | oa;'),
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
    ('a table that left whole does not tell of its small pages', UNMAP, '\t\t\tunmap->level = 0;\n', ''),
    ('an empty gather is flushed', UNMAP, '\tif (done)\n\t\tpt_gather', '\tif (!done)\n\t\tiommu_iotlb_sync(&iommu->domain, gather);\n\tif (done)\n\t\tpt_gather'),
    ('a table that is flushed may have any page size', TABLES,
     '\tgather.pgsize = BIT(PTF_GRANULE_LG2);', '\tgather.pgsize = BIT(pt_item_lg2(1));'),
    ('an error is lost in unwinding', MAP,
     '\tpt_spare_free(&map);\n\t*mapped += map.iova - iova;\n\treturn ret;', '\tpt_spare_free(&map);\n\t*mapped += map.iova - iova;\n\treturn ret == -ENOMEM ? 0 : ret;'),
    ('a failed map says that it did nothing', MAP,
     '\tpt_spare_free(&map);\n\t*mapped += map.iova - iova;\n\treturn ret;', '\tpt_spare_free(&map);\n\tif (ret >= 0)\n\t\t*mapped += map.iova - iova;\n\treturn ret;'),
]


def sh(args, seconds):
    try:
        r = subprocess.run(args, capture_output=True, text=True, errors='replace',
                           timeout=seconds, check=False)
        return r.returncode, r.stdout + r.stderr
    except subprocess.TimeoutExpired:
        return 1, f'no end after {seconds} s'


def first_line(text):
    """What a test says first of all that is wrong"""
    for pattern in (r'^SUMMARY: (.*)$', r'^(\S+:\d+: .*)$', r'^(no end after .*)$'):
        m = re.search(pattern, text, re.M)
        if m:
            return m.group(1)
    return next((t for t in text.splitlines() if t.startswith('not ok')), 'it failed')


def notice(lib, out):
    """The program that fails, and what it says"""
    replays = sorted(os.path.join(HERE, 'replays', f)
                     for f in os.listdir(os.path.join(HERE, 'replays')))
    runs = [('replays', ['random', '-r', *replays]),
            ('random', ['random', '-n', '10000', '-s', SEED, '-d', out, '-j', '2']),
            ('small model', ['small', '-n', '3', '-j', '2']),
            ('replays with sanitizers', ['random-asan', '-r', *replays]),
            ('random with sanitizers', ['random-asan', '-n', '20000', '-s', SEED, '-d', out, '-j', '2']),
            ('allocation failures', ['random-asan', '-f', '-n', '400', '-s', SEED, '-d', out, '-j', '2']),
            ('random, longer', ['random', '-n', '400000', '-s', SEED, '-d', out, '-j', '2']),
            ('races, thread sanitizer', ['races-tsan', '-n', '10', '-s', SEED]),
            ('races, address sanitizer', ['races-asan', '-n', '20', '-s', SEED])]
    for name, args in runs:
        rc, text = sh(['make', '-s', '-C', HERE, f'CC={CC}', f'LIB={lib}', f'OUT={out}',
                       os.path.join(out, args[0])], 600)
        if rc:
            return None, 'does not compile: ' + first_line(text)
        rc, text = sh([os.path.join(out, args[0]), *args[1:]], 1200)
        if rc:
            return name, first_line(text)
    return None, None


def copy_library(to):
    """Only what differs, so that make compiles only what depends on it"""
    source = os.path.join(TOP, 'drivers', 'iommu', 'generic_pt')
    files = [os.path.join(d, f) for d, _, names in os.walk(source) for f in names]
    for path in [*files, os.path.join(source, PAGES)]:
        copy = os.path.join(to, os.path.relpath(path, source))
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        if not os.path.exists(copy) or not filecmp.cmp(path, copy, shallow=False):
            shutil.copyfile(path, copy)


def run(what, file, old, new):
    lib = os.path.join(OUT, 'drivers', 'iommu', 'generic_pt')
    copy_library(lib)
    path = os.path.join(lib, file)
    with open(path, encoding='utf-8') as f:
        text = f.read()
    if text.count(old) != 1:
        print(f'not ok - break: {what}\n# {file} has {text.count(old)} times what it replaces:')
        print('\n'.join('#   ' + t for t in old.split('\n')), flush=True)
        return False
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text.replace(old, new))
    program, why = notice(lib, f'{OUT}/out')
    print(f'{"ok" if program else "not ok"} - break: {what}')
    print(f'# {program or "nobody noticed"}: {why or ""}', flush=True)
    return bool(program)


def main():
    wanted = [b for b in BREAKS
              if len(sys.argv) == 1 or any(a in b[0] for a in sys.argv[1:])]
    good = [run(*b) for b in wanted]
    return 0 if good and all(good) else 1


sys.exit(main())
