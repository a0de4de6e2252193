# SPDX-License-Identifier: GPL-2.0
"""What overlay and patches make of a kernel tree, without touching it."""

import fnmatch
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), '..', '..'))
PATCHES = os.path.join(ROOT, 'patches')
CACHE = os.environ.get('GENERIC_PT_CACHE') or os.path.join(
    os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'generic-pt')

# Where overlay files can stand, and the project's own scripts, which stay out
KERNEL_DIRS = ('Documentation', 'arch', 'drivers', 'include', 'lib', 'mm', 'tools')
NOT_OVERLAY = ('tools/generic_pt/',)
# The one file that is neither overlay nor patch: a section for the kernel's list
SECTION = 'MAINTAINERS'

# Page table code of the kernel as it was, for tests and benchmarks to compare with
PEERS = 'drivers/iommu/generic_pt/peer'
PEER_FILES = ('amd/amd_iommu.h', 'amd/amd_iommu_types.h', 'amd/io_pgtable.c',
              'amd/io_pgtable_v2.c', 'intel/iommu.h', 'iommu-pages.h',
              '../../include/linux/io-pgtable.h')
# A driver in one file: the functions that are its page table, in their order
PEER_PARTS = {
    'intel/iommu.c': (
        'domain_pfn_supported', 'domain_flush_cache', 'pfn_to_dma_pte', 'dma_pfn_level_pte',
        'dma_pte_clear_range', 'dma_pte_free_level', 'dma_pte_free_pagetable',
        'dma_pte_list_pagetables', 'dma_pte_clear_level', 'domain_unmap',
        'hardware_largepage_caps', 'switch_to_super_page', '__domain_mapping', 'intel_iommu_map',
        'intel_iommu_map_pages', 'intel_iommu_unmap', 'intel_iommu_unmap_pages',
        'intel_iommu_iova_to_phys'),
}


def say(*lines):
    for line in lines:
        print('generic_pt:', line, file=sys.stderr, flush=True)


def die(what, *hints):
    say('error: ' + what, *('       ' + h for h in hints))
    sys.exit(1)


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


class Step:
    """One commit of the series: a patch, or a list of overlay files."""

    def __init__(self, name):
        self.name = name
        self.file = os.path.join(PATCHES, name)
        if not os.path.isfile(self.file):
            die(f'patches/series names {name}, which is not there')
        self.message, sep, self.body = read(self.file).partition('\n---\n')
        if not sep or not self.message.strip() or self.message.startswith('diff '):
            die(f'patches/{name} must start with its commit message and a line "---"')
        self.is_patch = name.endswith('.patch')
        self.paths, self.deletes, self.globs = [], [], []
        if not self.is_patch:
            self.globs = [g for g in self.body.split('\n') if g and g[0] != '#']
            return
        head, sep, _ = self.body.partition('diff --git ')
        self.deletes = re.findall(r'^delete (\S+)$', head, re.M)
        self.has_diff = bool(sep)
        if not sep and not self.deletes:
            die(f'patches/{name} changes nothing')
        if sep:
            r = git('apply', '--numstat', self.file, cwd=PATCHES)
            if r.returncode:
                die(f'patches/{name} is not a valid patch', r.stderr.strip())
            self.paths = [line.split('\t', 2)[2] for line in r.stdout.splitlines()]


def git(*args, cwd, **kw):
    """git that takes cwd for what it is, not for a part of a repository above"""
    env = dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.dirname(os.path.realpath(cwd)))
    for var in ('GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_PREFIX'):
        env.pop(var, None)
    return subprocess.run(['git', *args], cwd=cwd, env=env, text=True,
                          capture_output=True, **kw)


def series():
    """The steps of patches/series, in order"""
    path = os.path.join(PATCHES, 'series')
    if not os.path.exists(path):
        return []
    names = [line.split('#')[0].strip() for line in read(path).splitlines()]
    return [Step(n) for n in names if n]


def overlay():
    """Files of the repository that stand at kernel paths"""
    r = git('-c', 'safe.directory=*', 'ls-files', '-z', '-co', '--exclude-standard',
            cwd=ROOT)
    if r.returncode == 0:
        files = r.stdout.split('\0')
    else:  # an exported tarball
        files = [os.path.relpath(os.path.join(d, f), ROOT)
                 for d, _, fs in os.walk(ROOT) for f in fs]
    return sorted(f for f in set(files) if f.split('/')[0] in KERNEL_DIRS and '/' in f
                  and not f.startswith(NOT_OVERLAY) and os.path.isfile(os.path.join(ROOT, f)))


def made_for():
    path = os.path.join(PATCHES, 'VERSION')
    return read(path).strip() if os.path.exists(path) else 'unknown'


def version_of(tree):
    """VERSION.PATCHLEVEL.SUBLEVEL, or None when tree is no kernel"""
    try:
        with open(os.path.join(tree, 'Makefile'), encoding='utf-8') as f:
            head = f.read(1000)
    except OSError:
        return None
    m = re.search(r'^VERSION = (\d+)\nPATCHLEVEL = (\d+)\nSUBLEVEL = (\d+)$', head, re.M)
    return '.'.join(m.groups()) if m else None


def copy(src, dst):
    os.makedirs(os.path.dirname(dst), exist_ok=True)
    shutil.copyfile(src, dst, follow_symlinks=False)
    shutil.copymode(src, dst, follow_symlinks=False)


def apply_patch(step, base, scratch, seen):
    """Apply step in scratch, which gets the files that it needs from base"""
    for path in step.paths + step.deletes:
        if path not in seen and os.path.lexists(os.path.join(base, path)):
            copy(os.path.join(base, path), os.path.join(scratch, path))
        seen.add(path)
    failed = []
    for path in step.deletes:
        if os.path.lexists(os.path.join(scratch, path)):
            os.unlink(os.path.join(scratch, path))
        else:
            failed.append(f'{path}: to be deleted, but not there')
    if step.paths:
        args = ('apply', '--whitespace=nowarn')
        if git(*args, step.file, cwd=scratch).returncode:
            r = git(*args, '--reject', '-v', step.file, cwd=scratch)
            failed += failures(r.stderr)
    if failed:
        want = made_for()
        die(f'patches/{step.name} does not apply to Linux {version_of(base)}:',
            *failed,
            f'The patches were made for {want}. To use that version:',
            f'  apt-get install linux-source-6.12={want}-1~deb12u1    (Debian 12; apt-cache '
            'policy linux-source-6.12 lists versions)',
            f'  or make KERNEL_SRC=/path/to/linux-{want}.tar.xz ...',
            'The prepared tree was left as it was.')


def failures(log):
    """Which hunks git apply --reject -v complained about"""
    out, path, line = [], '', []
    for text in log.splitlines():
        if m := re.match(r'error: patch failed: (.*):(\d+)$', text):
            line.append(m[2])
        elif m := re.match(r'Applying patch (.*) with \d+ reject', text):
            path = m[1]
        elif m := re.match(r'Rejected hunk #(\d+)', text):
            where = f' (at line {line.pop(0)})' if line else ''
            out.append(f'{path}: hunk #{m[1]}{where} does not apply')
        elif re.match(r'error: .*(No such file|already exists)', text):
            out.append(text[len('error: '):])
    return out or log.splitlines()


def merge_section(text, section):
    """Put a MAINTAINERS section at its alphabetical place"""
    section = '\n'.join(x for x in section.splitlines() if x[:1] != '#').strip() + '\n'
    title = section.split('\n')[0]
    for m in re.finditer(r'(?<=\n\n)(\S.*)\n[A-Z]:\t', text):
        if m[1] > title:
            return text[:m.start()] + section + '\n' + text[m.start():]
    return text.rstrip('\n') + '\n\n' + section


def add_section(base, scratch, seen):
    """Put our MAINTAINERS section into the kernel's file"""
    ours, dst = os.path.join(ROOT, SECTION), os.path.join(scratch, SECTION)
    if SECTION not in seen:
        copy(os.path.join(base, SECTION), dst)
    text = merge_section(read(dst), read(ours))
    with open(dst, 'w', encoding='utf-8') as f:
        f.write(text)
    seen.add(SECTION)


def new_files():
    """What the .files of the series distribute over its commits"""
    return overlay() + ([SECTION] if os.path.exists(os.path.join(ROOT, SECTION)) else [])


def wanted(base, scratch, steps, whole=True):
    """Fill scratch with each file that differs from base.

    Takes all new files, or those that the steps add when these are not the
    whole series. Returns the paths that overlay and patches touch; those that
    are not in scratch afterwards are to be deleted.
    """
    seen, new = set(), new_files()
    if not whole:
        new = [p for p in new if any(owned_by(s, [p]) for s in steps)]
    for step in steps:
        if step.is_patch:
            apply_patch(step, base, scratch, seen)
    for path in new:
        if path == SECTION:
            add_section(base, scratch, seen)
            continue
        if os.path.lexists(os.path.join(scratch if path in seen else base, path)):
            die(f'{path} is a file of Linux {version_of(base)}: an edit to it must be a patch',
                f'move the edit to patches/ (see patches/README), and git rm {path}')
        copy(os.path.join(ROOT, path), os.path.join(scratch, path))
        seen.add(path)
    return seen


def functions(text, names):
    """Those functions of a C file, and all its macros before the first; None if one is gone"""
    out = re.findall(r'^#define (?:.*\\\n)*.*\n', text, re.M)
    for name in names:
        m = re.search(r'^\w[^;{}#]*\b%s\([^;{}]*\)\n\{\n(?:.*\n)*?\}\n' % name, text, re.M)
        if not m:
            return None
        out.append('\n' + m[0])
    return ''.join(out)


def add_peers(base, scratch):
    """Put the peers' files into scratch. They are no part of the series."""
    paths = set()
    if not os.path.isdir(os.path.join(ROOT, PEERS)):
        return paths
    for name in (*PEER_FILES, *PEER_PARTS):
        src = os.path.normpath(os.path.join(base, 'drivers/iommu', name))
        # What is above drivers/iommu goes directly beside the peers
        path = f'{PEERS}/{os.path.basename(name) if name[0] == "." else name}'
        if not os.path.exists(src):
            continue
        if name in PEER_PARTS:
            text = functions(read(src), PEER_PARTS[name])
            if not text:
                continue
            os.makedirs(os.path.dirname(os.path.join(scratch, path)), exist_ok=True)
            with open(os.path.join(scratch, path), 'w', encoding='utf-8') as f:
                f.write('// SPDX-License-Identifier: GPL-2.0-only\n' + text)
        else:
            copy(src, os.path.join(scratch, path))
        paths.add(path)
    return paths


def owned_by(step, paths):
    """The overlay files among paths that step commits"""
    return [p for p in paths if any(fnmatch.fnmatchcase(p, g) for g in step.globs)]
