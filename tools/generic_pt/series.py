#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write overlay and patches as a git format-patch series in build/series/.

The commits are those of patches/series, made in a temporary repository that
holds only the files they touch. The result is applied to untouched kernel files
again and must give what the prepared tree has.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

import tree
from tree import ROOT, die, say

OUT = os.path.join(ROOT, 'build', 'series')
COVER = os.path.join(tree.PATCHES, 'cover')


def run(cwd, *args, **env):
    r = subprocess.run(['git', *args], cwd=cwd, text=True, capture_output=True, check=False,
                       env=dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.dirname(cwd),
                                **env))
    if r.returncode:
        die(f'git {args[0]} failed:', *(r.stdout + r.stderr).strip().splitlines())
    return r.stdout


def ask(default, *args):
    """What git says of this checkout, or default"""
    r = subprocess.run(['git', '-c', 'safe.directory=*', *args], cwd=ROOT, text=True,
                       capture_output=True, check=False)
    return r.stdout.strip() or default


def start(repo, base, paths):
    """A repository with the files of base that the series touches"""
    os.makedirs(repo)
    run(repo, 'init', '-q', '-b', 'series')
    for name, value in IDENTITY.items():
        run(repo, 'config', name, value)
    for path in sorted(paths):
        if os.path.lexists(os.path.join(base, path)):
            tree.copy(os.path.join(base, path), os.path.join(repo, path))
    run(repo, 'add', '-A', '-f')
    run(repo, 'commit', '-q', '--allow-empty', '-m', f'Linux {tree.version_of(base)}')


def commit(repo, step, base, result, left, seen):
    """Make the commit of one step. Takes what it adds out of left."""
    if step.is_patch:
        tree.apply_patch(step, base, repo, seen)
    else:
        mine = tree.owned_by(step, left)
        if not mine:
            die(f'patches/{step.name} lists no file that is there (or all are taken)')
        for path in mine:
            if path == tree.SECTION:
                tree.add_section(base, repo, seen)
            else:
                tree.copy(os.path.join(result, path), os.path.join(repo, path))
            left.remove(path)
    run(repo, 'add', '-A', '-f')
    run(repo, 'commit', '-q', '-m', step.message, '--cleanup=whitespace',
        GIT_AUTHOR_DATE=DATE, GIT_COMMITTER_DATE=DATE)


def cover(repo):
    text = tree.read(COVER) if os.path.exists(COVER) else \
        'Generic page table library\n\nNo cover text yet: write patches/cover.\n'
    run(repo, 'config', 'branch.series.description', text)


def files(root):
    return {os.path.relpath(os.path.join(d, f), root)
            for d, subs, fs in os.walk(root) for f in fs if '.git' not in d.split(os.sep)}


def compare(repo, linux, paths):
    """Paths that differ between the applied series and the prepared tree"""
    def data(root, path):
        full = os.path.join(root, path)
        if not os.path.lexists(full):
            return None
        with open(full, 'rb') as f:
            return f.read(), os.stat(full).st_mode & 0o111 != 0
    return [p for p in sorted(paths) if data(repo, p) != data(linux, p)]


def main():
    base, linux = sys.argv[1:]
    steps = tree.series()
    if not steps:
        die('patches/series lists no commit', 'see patches/README')
    with tempfile.TemporaryDirectory() as tmp:
        result = os.path.join(tmp, 'result')
        touched = tree.wanted(base, result, steps)
        repo = os.path.join(tmp, 'make')
        start(repo, base, touched)
        left, seen = tree.new_files(), set(touched)
        for step in steps:
            commit(repo, step, base, result, left, seen)
        if left:
            die('no .files of patches/series lists ' + ', '.join(left[:5]),
                'an overlay file must belong to a commit: see patches/README')
        cover(repo)
        shutil.rmtree(OUT, ignore_errors=True)
        run(repo, 'format-patch', '-q', '-o', OUT, '--cover-letter', '--zero-commit',
            '--cover-from-description=subject', '--no-signature', '--root', 'HEAD~%d..HEAD'
            % len(steps))
        # As a reviewer would: git am on a kernel that nothing was done to
        again = os.path.join(tmp, 'apply')
        start(again, base, touched)
        names = sorted(os.listdir(OUT))
        run(again, 'am', '-q', *(os.path.join(OUT, n) for n in names[1:]))
        bad = compare(again, linux, touched)
        if bad or files(again) - touched:
            die('the series does not give the prepared tree: ' + ', '.join(bad[:5]))
    say(f'build/series: {len(names) - 1} patches and a cover letter; they give '
        'exactly the prepared tree')


if __name__ == '__main__':
    # Tests make the series too, on machines that know no author
    IDENTITY = {'user.name': ask('nobody', 'config', 'user.name'),
                'user.email': ask('nobody@localhost', 'config', 'user.email'),
                'core.hooksPath': '/dev/null', 'commit.gpgSign': 'false'}
    if IDENTITY['user.name'] == 'nobody':
        say('git does not know user.name: the patches are from "nobody"')
    DATE = ask(time.strftime('%Y-%m-%dT%H:%M:%S+00:00', time.gmtime()),
               'log', '-1', '--format=%aI')
    main()
