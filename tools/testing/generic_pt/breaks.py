#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Break the library on purpose and see that the tests notice. TAP on stdout.

usage: breaks.py [NAME...]      (part of a break's name; default: all)

Each break is made in a copy of the library, compiled, and run against all
programs until one fails. A break that none notices is a hole in the tests.
"""

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
PAGES = '../iommu-pages.c'

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
     '\tif (!pt_is_aligned(unmap->iova, lg2))\n\t\treturn false;\n\tfor', '\tfor'),
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


def notice(out):
    """The program that fails, and what it says"""
    replays = sorted(os.path.join(HERE, 'replays', f)
                     for f in os.listdir(os.path.join(HERE, 'replays')))
    runs = [('replays', ['random-asan', '-r', *replays]),
            ('random', ['random-asan', '-n', '20000', '-s', SEED, '-d', out]),
            ('random, longer', ['random', '-n', '400000', '-s', SEED, '-d', out]),
            ('races, thread sanitizer', ['races-tsan', '-n', '10', '-s', SEED]),
            ('races, address sanitizer', ['races-asan', '-n', '20', '-s', SEED])]
    for name, args in runs:
        rc, text = sh([os.path.join(out, args[0]), *args[1:]], 1200)
        if rc:
            return name, first_line(text)
    return None, None


def run(what, file, old, new):
    lib = os.path.join(OUT, 'drivers', 'iommu', 'generic_pt')
    shutil.rmtree(os.path.join(OUT, 'drivers'), ignore_errors=True)
    shutil.copytree(os.path.join(TOP, 'drivers', 'iommu', 'generic_pt'), lib,
                    copy_function=shutil.copyfile)
    shutil.copyfile(os.path.join(TOP, 'drivers', 'iommu', 'iommu-pages.c'),
                    os.path.join(OUT, 'drivers', 'iommu', 'iommu-pages.c'))
    path = os.path.join(lib, file)
    with open(path, encoding='utf-8') as f:
        text = f.read()
    if text.count(old) != 1:
        print(f'not ok - break: {what}\n# {file} has {text.count(old)} times what it replaces:')
        print('\n'.join('#   ' + t for t in old.split('\n')), flush=True)
        return False
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text.replace(old, new))
    rc, text = sh(['make', '-s', '-C', HERE, f'CC={CC}', f'LIB={lib}', f'OUT={OUT}/out', 'all'], 600)
    if rc:
        print(f'not ok - break: {what}\n# does not compile: {first_line(text)}', flush=True)
        return False
    program, why = notice(f'{OUT}/out')
    print(f'{"ok" if program else "not ok"} - break: {what}')
    print(f'# {program}: {why}' if program else '# nobody noticed', flush=True)
    return bool(program)


def main():
    wanted = [b for b in BREAKS
              if len(sys.argv) == 1 or any(a in b[0] for a in sys.argv[1:])]
    good = [run(*b) for b in wanted]
    shutil.rmtree(OUT, ignore_errors=True)
    return 0 if good and all(good) else 1


sys.exit(main())
