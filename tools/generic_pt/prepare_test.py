#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of the kernel preparation, on a kernel of a few files. TAP on stdout."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.realpath(__file__))
MAKEFILE = 'VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\n'
LINES = [f'line {i}\n' for i in range(1, 31)]
MAINTAINERS = ('Maintainers List\n----------------\n\nABC DRIVER\nL:\tx@example.com\nS:\tOdd\n\n'
               'XYZ DRIVER\nL:\tx@example.com\n\nTHE REST\nL:\tx@example.com\n')
PATCH = '''\
a: Change a

Why.
---
delete drivers/gone.c
diff --git a/drivers/a.c b/drivers/a.c
--- a/drivers/a.c
+++ b/drivers/a.c
@@ -2,3 +2,3 @@
 line 2
-line 3
+line three
 line 4
@@ -20,3 +20,3 @@
 line 20
-line 21
+line twentyone
 line 22
'''


class Setup:
    """A kernel, a checkout with the scripts of this one, and a cache"""

    def __init__(self, tmp):
        self.tmp = tmp
        self.kernel = os.path.join(tmp, 'linux-6.12.117')
        self.cache = os.path.join(tmp, 'cache')
        self.repo = os.path.join(tmp, 'repo')
        for path, text in {
                'Makefile': MAKEFILE, 'MAINTAINERS': MAINTAINERS,
                'drivers/a.c': ''.join(LINES), 'drivers/b.c': 'b\n', 'drivers/gone.c': 'gone\n',
                'include/linux/x.h': 'x\n'}.items():
            write(os.path.join(self.kernel, path), text)
        os.symlink('a.c', os.path.join(self.kernel, 'drivers/link.c'))
        # As old as a kernel's files are
        for d, _, fs in os.walk(self.kernel):
            for f in fs:
                os.utime(os.path.join(d, f), (1e9, 1e9), follow_symlinks=False)
        self.tarball = os.path.join(tmp, 'linux.tar.xz')
        subprocess.run(['tar', '-cJf', self.tarball, '-C', tmp, 'linux-6.12.117'], check=True)
        self.put('drivers/new/n.c', 'n\n')
        self.put('patches/VERSION', '6.12.117\n')
        self.put('patches/series', 'a.patch # first\n')
        self.put('patches/a.patch', PATCH)
        shutil.copytree(HERE, os.path.join(self.repo, 'tools/generic_pt'))
        subprocess.run(['git', 'init', '-q', self.repo], check=True)

    def put(self, path, text):
        write(os.path.join(self.repo, path), text)

    def start(self, src=None):
        return subprocess.Popen(
            [sys.executable, os.path.join(self.repo, 'tools/generic_pt/prepare.py')],
            env=dict(os.environ, KERNEL_SRC=src or self.tarball, GENERIC_PT_CACHE=self.cache,
                     PYTHONDONTWRITEBYTECODE='1'),
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, src=None):
        p = self.start(src)
        out, err = p.communicate()
        return p.returncode, out, err

    def prepare(self, src=None):
        code, out, err = self.run(src)
        assert code == 0, err
        assert out.count('\n') == 1 and out[0] == '/', f'stdout is more than a path: {out}'
        return out.strip()

    def base(self):
        """Contents of the unpacked kernels"""
        top = os.path.join(self.cache, 'base')
        return {k: v[:1] for k, v in snapshot(top).items() if not k.endswith('.json')}


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as f:
        return f.read()


def snapshot(top):
    """{path: (content, mtime)} of all files"""
    out = {}
    for d, _, fs in os.walk(top):
        for f in fs:
            path = os.path.join(d, f)
            st = os.lstat(path)
            what = os.readlink(path) if os.path.islink(path) else read(path)
            out[os.path.relpath(path, top)] = (what, st.st_mtime_ns)
    return out


def test_overlay_and_patches_are_laid_over(s):
    linux = s.prepare()
    text = read(linux, 'drivers/a.c')
    assert 'line three\n' in text and 'line twentyone\n' in text
    assert read(linux, 'drivers/new/n.c') == 'n\n'
    assert not os.path.exists(os.path.join(linux, 'drivers/gone.c'))
    assert read(linux, 'drivers/b.c') == 'b\n'
    assert os.readlink(os.path.join(linux, 'drivers/link.c')) == 'a.c'
    assert not os.path.exists(os.path.join(linux, 'tools/generic_pt'))


def test_second_run_changes_nothing(s):
    linux = s.prepare()
    before = snapshot(linux)
    assert s.prepare() == linux
    assert snapshot(linux) == before


def test_edit_changes_only_what_it_touches(s):
    linux = s.prepare()
    before = snapshot(linux)
    s.put('drivers/new/n.c', 'edited\n')
    s.put('patches/a.patch', PATCH.replace('twentyone', 'XXI'))
    s.prepare()
    after = snapshot(linux)
    assert {p for p in after if after[p] != before.get(p)} == {'drivers/new/n.c', 'drivers/a.c'}
    assert 'line XXI\n' in after['drivers/a.c'][0]
    assert after['drivers/a.c'][1] > before['drivers/a.c'][1]


def test_base_is_never_written(s):
    s.prepare()
    base = s.base()
    assert base['linux-' + list(base)[0].split('/')[0].split('-')[-1] + '/drivers/a.c'][0] == \
        ''.join(LINES)
    s.put('drivers/new/n.c', 'edited\n')
    s.put('patches/a.patch', PATCH.replace('twentyone', 'XXI'))
    s.prepare()
    assert s.base() == base
    s.put('patches/series', '')
    os.unlink(os.path.join(s.repo, 'drivers/new/n.c'))
    s.prepare()
    assert s.base() == base


def test_removed_edits_are_undone_and_rebuilt(s):
    linux = s.prepare()
    start = time.time()
    s.put('patches/series', '')
    os.unlink(os.path.join(s.repo, 'drivers/new/n.c'))
    s.prepare()
    assert read(linux, 'drivers/a.c') == ''.join(LINES)
    # make sees no change in a file that goes back to its old mtime
    assert os.stat(os.path.join(linux, 'drivers/a.c')).st_mtime >= start - 1
    assert read(linux, 'drivers/gone.c') == 'gone\n'
    assert not os.path.exists(os.path.join(linux, 'drivers/new'))
    before = snapshot(linux)
    s.prepare()
    assert snapshot(linux) == before


def test_patch_that_does_not_apply_is_named(s):
    linux = s.prepare()
    before = snapshot(linux)
    s.put('drivers/new/n.c', 'edited\n')
    s.put('patches/series', 'a.patch\nb.patch\n')
    s.put('patches/b.patch', PATCH.replace('delete drivers/gone.c\n', '')
          .replace('line 3\n', 'line three\n').replace('+line three', '+line 3')
          .replace('line 20\n', 'line twenty\n'))
    code, out, err = s.run()
    assert code and not out
    for word in ('b.patch', 'drivers/a.c: hunk #2 (at line 20)', '6.12.117', 'apt-get install',
                 'KERNEL_SRC='):
        assert word in err, f'{word} is not in: {err}'
    assert 'hunk #1' not in err
    assert snapshot(linux) == before


def test_patch_to_missing_file_is_named(s):
    s.put('patches/a.patch', PATCH.replace('drivers/a.c', 'drivers/missing.c'))
    code, _, err = s.run()
    assert code and 'a.patch' in err and 'drivers/missing.c' in err, err


def test_overlay_over_kernel_file_is_refused(s):
    s.put('drivers/b.c', 'mine\n')
    code, _, err = s.run()
    assert code and 'drivers/b.c' in err and 'patch' in err, err


def test_bad_kernel_src_changes_nothing(s):
    linux = s.prepare()
    before = snapshot(linux)
    empty = os.path.join(s.tmp, 'empty')
    os.mkdir(empty)
    junk = os.path.join(s.tmp, 'junk.tar.xz')
    write(junk, 'junk')
    other = os.path.join(s.tmp, 'other.tar')
    subprocess.run(['tar', '-cf', other, '-C', s.tmp, 'empty'], check=True)
    built = os.path.join(s.tmp, 'built')
    shutil.copytree(s.kernel, built, symlinks=True)
    write(os.path.join(built, '.config'), '')
    bases = s.base()
    for src in (empty, junk, other, built, os.path.join(s.tmp, 'missing')):
        code, out, err = s.run(src)
        assert code and not out and 'error: ' in err and src in err, (src, err)
        assert 'Traceback' not in err, err
    assert snapshot(linux) == before and s.base() == bases


def test_tree_of_the_user_is_followed_and_left_alone(s):
    before = snapshot(s.kernel)
    linux = s.prepare(s.kernel)
    assert 'line three\n' in read(linux, 'drivers/a.c')
    assert snapshot(s.kernel) == before
    write(os.path.join(s.kernel, 'drivers/b.c'), 'edited\n')
    write(os.path.join(s.kernel, 'drivers/c.c'), 'c\n')
    os.unlink(os.path.join(s.kernel, 'include/linux/x.h'))
    then = snapshot(linux)
    assert s.prepare(s.kernel) == linux
    now = snapshot(linux)
    assert {p for p in {*now, *then} if now.get(p) != then.get(p)} == \
        {'drivers/b.c', 'drivers/c.c', 'include/linux/x.h'}
    assert read(linux, 'drivers/b.c') == 'edited\n'


def test_write_through_a_hard_link_is_noticed(s):
    linux = s.prepare()
    write(os.path.join(linux, 'drivers/b.c'), 'edited in the wrong place\n')
    code, _, err = s.run()
    assert code == 0 and 'drivers/b.c' in err, err
    assert read(linux, 'drivers/b.c') == 'b\n'
    assert [v for k, v in s.base().items() if k.endswith('drivers/b.c')] == [('b\n',)]


def test_two_checkouts_have_two_trees(s):
    one = s.prepare()
    first = s.repo
    s.repo = os.path.join(s.tmp, 'elsewhere', 'repo')
    shutil.copytree(first, s.repo)
    s.put('drivers/new/n.c', 'second\n')
    two = s.prepare()
    assert one != two and read(one, 'drivers/new/n.c') == 'n\n'
    assert len(os.listdir(os.path.join(s.cache, 'base'))) == 2  # a kernel and its .json


def test_interrupted_run_continues(s):
    # Killed at many moments, from the start to a little before the end
    start = time.time()
    s.prepare()
    whole = time.time() - start
    shutil.rmtree(s.cache)
    for i in range(12):
        s.put('drivers/new/n.c', f'{i}\n')
        p = s.start()
        time.sleep(whole * i / 12)
        p.send_signal(signal.SIGKILL)
        p.communicate()
    linux = s.prepare()
    assert read(linux, 'drivers/new/n.c') == '11\n'
    assert 'line three\n' in read(linux, 'drivers/a.c')
    left = [f for d, ds, fs in os.walk(s.cache) for f in ds + fs
            if f.endswith(('.tmp', '.new', '.generic_pt')) or f == 'scratch']
    assert not left, left


def test_runs_at_the_same_time_do_not_collide(s):
    runs = [s.start() for _ in range(4)]
    results = [p.communicate() + (p.returncode,) for p in runs]
    assert all(r[2] == 0 for r in results), results
    assert len({r[0] for r in results}) == 1
    assert 'line three\n' in read(results[0][0].strip(), 'drivers/a.c')


def test_maintainers_section_stands_in_the_alphabet(s):
    s.put('MAINTAINERS', '# comment\nGENERIC THING\nL:\ty@example.com\n')
    text = read(s.prepare(), 'MAINTAINERS')
    assert text == MAINTAINERS.replace(
        'XYZ DRIVER', 'GENERIC THING\nL:\ty@example.com\n\nXYZ DRIVER'), text


def main():
    bad = 0
    for name, test in list(globals().items()):
        if not name.startswith('test_'):
            continue
        with tempfile.TemporaryDirectory() as tmp:
            label = name[len('test_'):].replace('_', ' ')
            try:
                test(Setup(tmp))
                print('ok - prepare:', label, flush=True)
            except Exception:  # pylint: disable=broad-except
                bad += 1
                print('not ok - prepare:', label)
                print('# ' + traceback.format_exc().replace('\n', '\n# '), flush=True)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
