#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Prepare this checkout's kernel tree and print where it is.

usage: prepare.py [N]    with N: a tree of its own with the first N commits only

$GENERIC_PT_CACHE/
  base/KEY/          a kernel as unpacked (or copied), never written again
  base/KEY.json      size and mtime of its files, so that a write is noticed
  trees/CHECKOUT/    of one checkout:
    KEY/linux/       hard links to base/KEY, with overlay and patches
    KEY/build/       build outputs
    KEY/base         where base/KEY is
    KEY/step/        linux/ and real.json with the first N commits
    KEY/real.json    files of linux/ that are no hard links

A file of linux/ is only ever replaced, never written in place: the base would
change with it. A file that is already right keeps its mtime, so that nothing is
rebuilt for it; one that goes back to the kernel's own text gets a new mtime, so
that it is rebuilt.
"""

import contextlib
import errno
import fcntl
import filecmp
import hashlib
import json
import os
import shutil
import subprocess
import sys

import tree
from tree import CACHE, ROOT, die, say

PACKAGED = '/usr/src/linux-source-6.12.tar.xz'


@contextlib.contextmanager
def locked(path):
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        f = open(path, 'w', encoding='utf-8')
    except OSError as e:
        die(f'{os.path.dirname(path)} cannot be written to: {e.strerror}',
            'choose another place with GENERIC_PT_CACHE=')
    with f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say(f'waiting for another run ({path})')
            fcntl.flock(f, fcntl.LOCK_EX)
        yield


def scan(root):
    """{path: [size, mtime]} of each file below root, but for .git and what
    checkpatch.pl leaves where it was started"""
    out, todo = {}, [root]
    while todo:
        with os.scandir(todo.pop()) as entries:
            for e in entries:
                if e.is_dir(follow_symlinks=False):
                    if e.name != '.git':
                        todo.append(e.path)
                elif e.name != '.git' and not e.name.startswith('.checkpatch-camelcase'):
                    st = e.stat(follow_symlinks=False)
                    out[e.path[len(root) + 1:]] = [st.st_size, st.st_mtime_ns]
    return out


def load(path):
    try:
        with open(path, encoding='utf-8') as f:
            return json.load(f)
    except (OSError, ValueError):
        return None


def store(path, data):
    with open(path + '.new', 'w', encoding='utf-8') as f:
        json.dump(data, f)
    os.replace(path + '.new', path)


def replace(src, dst, keep_time=False):
    """Make dst a copy of src with an inode of its own"""
    os.makedirs(os.path.dirname(dst), exist_ok=True)
    tmp = dst + '.generic_pt'
    with contextlib.suppress(FileNotFoundError):
        os.unlink(tmp)
    if keep_time:
        shutil.copy2(src, tmp, follow_symlinks=False)
    else:
        tree.copy(src, tmp)
    os.replace(tmp, dst)


def remove(root, path):
    """Remove path and the directories that it leaves empty"""
    os.unlink(os.path.join(root, path))
    with contextlib.suppress(OSError):
        while path := os.path.dirname(path):
            os.rmdir(os.path.join(root, path))


def remove_tree(path):
    """Remove a directory so that an interruption leaves none that looks whole"""
    if os.path.lexists(path):
        gone = path + '.tmp'
        shutil.rmtree(gone, ignore_errors=True)
        os.rename(path, gone)
        shutil.rmtree(gone)


def same(a, b):
    if os.path.islink(a) or os.path.islink(b):
        return os.path.islink(a) and os.path.islink(b) and os.readlink(a) == os.readlink(b)
    return os.path.exists(b) and filecmp.cmp(a, b, shallow=False) and \
        os.stat(a).st_mode & 0o111 == os.stat(b).st_mode & 0o111


def source():
    """The kernel to take: (path, name for the cache)"""
    src = os.environ.get('KERNEL_SRC')
    path = os.path.realpath(src or PACKAGED)
    if not os.path.exists(path):
        if src:
            die(f'KERNEL_SRC={src}: no such file or directory',
                'name a Linux 6.12 tree or tarball, or leave it out for linux-source-6.12')
        die(f'{path} is missing', 'apt-get install --reinstall linux-source-6.12')
    ident = path
    if os.path.isdir(path):
        version = tree.version_of(path)
        if not version:
            die(f'KERNEL_SRC={src}: not a kernel source tree',
                'its Makefile names no VERSION, PATCHLEVEL and SUBLEVEL')
        for left in ('.config', 'include/config'):
            if os.path.exists(os.path.join(path, left)):
                die(f'KERNEL_SRC={src}: was built in place ({left})',
                    f'make -C {path} mrproper, or name a tarball')
        name = 'tree-' + version
    else:
        st = os.stat(path)
        ident += f' {st.st_size} {st.st_mtime_ns}'
        name = os.path.basename(path).split('.tar')[0]
    return path, name + '-' + hashlib.sha1(ident.encode()).hexdigest()[:8]


def unpack(tarball, base):
    """Unpack in a temporary place, then rename"""
    tmp = base + '.tmp'
    shutil.rmtree(tmp, ignore_errors=True)
    os.makedirs(tmp)
    say(f'unpacking {tarball} (once, about a minute)')
    r = subprocess.run(['tar', '-xf', tarball, '-C', tmp, '--no-same-owner'], text=True,
                       stderr=subprocess.PIPE, check=False)
    tops = os.listdir(tmp)
    top = os.path.join(tmp, tops[0]) if len(tops) == 1 else tmp
    if r.returncode or not tree.version_of(top):
        shutil.rmtree(tmp)
        if os.strerror(errno.ENOSPC) in r.stderr:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        die(f'{tarball}: ' + (r.stderr.strip().split('\n')[0] if r.returncode
                              else 'no kernel source in this archive'),
            'name a Linux 6.12 tree or tarball with KERNEL_SRC=')
    os.rename(top, base)
    shutil.rmtree(tmp, ignore_errors=True)


def copy_tree(src, files, base):
    """Copy a tree that the user named"""
    tmp = base + '.tmp'
    shutil.rmtree(tmp, ignore_errors=True)
    say(f'copying {src} (once; later only what changes)')
    for path in files:
        replace(os.path.join(src, path), os.path.join(tmp, path), keep_time=True)
    os.rename(tmp, base)


def refresh(src, files, old, base):
    """Bring the copy of a user's tree up to date. Returns what was changed, removed."""
    gone = [p for p in old if p not in files]
    changed = [p for p in files if files[p] != old.get(p)]
    if gone or changed:
        say(f'{src}: {len(changed)} files changed, {len(gone)} removed')
    for path in gone:
        remove(base, path)
    for path in changed:
        replace(os.path.join(src, path), os.path.join(base, path))
    return changed, gone


def get_base(src, key):
    """The unpacked kernel, what is in it, and what was there and is no more"""
    base = os.path.join(CACHE, 'base', key)
    src_files = scan(src) if os.path.isdir(src) else None
    manifest = load(base + '.json')
    files = scan(base) if os.path.isdir(base) and manifest else None
    if files and files != manifest['files']:
        bad = [p for p in files if files[p] != manifest['files'].get(p)]
        bad += [p for p in manifest['files'] if p not in files]
        say(f'{base} was written to ({", ".join(bad[:3])}): making it anew',
            'edit the overlay or the patches, not the prepared tree')
        files = None
    if files is None:
        remove_tree(base)
        if src_files is None:
            unpack(src, base)
        else:
            copy_tree(src, src_files, base)
        gone = []
    else:
        gone = manifest.get('gone', [])
        changed, removed = refresh(src, src_files, manifest['source'], base) \
            if src_files else ([], [])
        if not changed and not removed:
            return base, files, gone
        gone += removed
    files = scan(base)
    store(base + '.json', {'source': src_files, 'files': files, 'gone': gone})
    return base, files, gone


def sync(base, files, gone, scratch, touched, linux, real_json):
    """Make linux what base and scratch say. Returns the number of changes."""
    real = set(load(real_json) or ())
    # Known before the first change, so that an interrupted run is continued
    store(real_json, sorted(real | touched))
    if not os.path.isdir(linux):
        say('making the tree of this checkout')
        shutil.rmtree(linux + '.tmp', ignore_errors=True)
        subprocess.run(['cp', '-al', base, linux + '.tmp'], check=True)
        os.rename(linux + '.tmp', linux)
    have = scan(linux)
    changes = 0
    wrong = {p for p in files if files[p] != have.get(p)} | {p for p in gone if p in have}
    for path in sorted(real | touched | wrong):
        dst = os.path.join(linux, path)
        src = os.path.join(scratch if path in touched else base, path)
        if os.path.lexists(src):
            real.add(path)
            if same(src, dst):
                continue
            replace(src, dst)
        elif os.path.lexists(dst):
            real.discard(path)
            remove(linux, path)
        else:
            continue
        changes += 1
    store(real_json, sorted(real))
    return changes


def main(first=None):
    src, key = source()
    if any(c in CACHE for c in ' \t:'):
        die(f'the kernel cannot be built below {CACHE}: it has a blank or a colon',
            'choose another place with GENERIC_PT_CACHE=')
    steps = tree.series()
    checkout = os.path.join(CACHE, 'trees', os.path.basename(ROOT) + '-' +
                            hashlib.sha1(ROOT.encode()).hexdigest()[:8])
    top = os.path.join(checkout, key)
    home = os.path.join(top, 'step') if first else top
    linux = os.path.join(home, 'linux')
    if first:
        steps = steps[:int(first)]
    with locked(os.path.join(CACHE, 'lock')):
        base, files, gone = get_base(src, key)
        os.makedirs(home, exist_ok=True)
        with open(os.path.join(checkout, 'checkout'), 'w', encoding='utf-8') as f:
            f.write(ROOT + '\n')
        with open(os.path.join(top, 'base'), 'w', encoding='utf-8') as f:
            f.write(base + '\n')
        scratch = os.path.join(top, 'scratch')
        shutil.rmtree(scratch, ignore_errors=True)
        os.mkdir(scratch)
        touched = tree.wanted(base, scratch, steps, whole=not first)
        peers = tree.add_peers(base, scratch)
        changes = sync(base, files, gone, scratch, touched | peers, linux,
                       os.path.join(home, 'real.json'))
        shutil.rmtree(scratch)
    say(f'Linux {tree.version_of(linux)} with {len(touched)} files of ours, '
        f'{changes} updated')
    print(linux)


if __name__ == '__main__':
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        die('interrupted', 'run it again: it continues')
    except OSError as e:
        if e.errno != errno.ENOSPC:
            raise
        die(f'no space left for {CACHE}',
            'make room, or choose another place with GENERIC_PT_CACHE=; then run it again')
