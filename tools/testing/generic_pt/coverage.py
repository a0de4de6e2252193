#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What of the library do the tests in userspace run?

usage: coverage.py OBJECTS OUT     OBJECTS: directory of .gcda files

Writes HTML to OUT/index.html. A line that nothing runs, or a branch that
nothing takes, counts as run if coverage.txt says by name why it cannot be.
Below 98 % of lines or 90 % of branches this fails.
"""

import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.realpath(os.path.join(HERE, '..', '..', '..'))
LIB = 'drivers/iommu/generic_pt/'
LINES, BRANCHES = 98, 90


def read_reasons():
    """What need not be run: (file, text of the line), what of it -> reason"""
    reasons, reason = {}, ''
    with open(os.path.join(HERE, 'coverage.txt'), encoding='utf-8') as f:
        for line in f:
            m = re.match(r'\t(\S+): (line|branch): (.*)', line)
            if m:
                reasons[m[1], m[2], m[3]] = reason
            elif line.strip() and not line.startswith('#'):
                reason = line.strip()
    return reasons


def main():
    objects, out = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    data = os.path.join(out, 'coverage.json')
    subprocess.run(['gcovr', '-r', TOP, '--object-directory', HERE, objects, '--json', data,
                    '--html-details', os.path.join(out, 'index.html'), '--exclude-throw-branches',
                    '--filter', TOP + '/' + LIB, '--filter', TOP + '/drivers/iommu/iommu-pages.c',
                    '--exclude', '.*kunit.*'], check=True, cwd=HERE, stderr=subprocess.DEVNULL)
    with open(data, encoding='utf-8') as f:
        files = json.load(f)['files']
    reasons = read_reasons()
    used = set()
    # Lines and branches: those run, all, those explained
    count = {'line': [0, 0, 0], 'branch': [0, 0, 0]}
    for file in sorted(files, key=lambda f: f['file']):
        name = file['file'].replace('drivers/iommu/', '').replace('generic_pt/', '')
        with open(os.path.join(TOP, file['file']), encoding='utf-8') as f:
            text = f.read().split('\n')
        for line in file['lines']:
            if line.get('gcovr/noncode') or line.get('gcovr/excluded'):
                continue
            words = ' '.join(text[line['line_number'] - 1].split())
            parts = [('line', line['count'])] + [('branch', b['count']) for b in line['branches']]
            missing = set()
            for kind, runs in parts:
                count[kind][1] += 1
                if runs:
                    count[kind][0] += 1
                elif (name, kind, words) in reasons:
                    count[kind][2] += 1
                    used.add((name, kind, words))
                else:
                    missing.add(kind)
            for kind in sorted(missing):
                print(f'# not run: {name}:{line["line_number"]}: {kind}: {words}')
    for key in sorted(set(reasons) - used):
        print(f'# coverage.txt explains what is run: {": ".join(key)}')
    good, said = True, []
    for kind, plural, least in (('line', 'lines', LINES), ('branch', 'branches', BRANCHES)):
        run, total, explained = count[kind]
        percent = 100 * (run + explained) / total if total else 0
        good &= percent >= least
        said.append(f'{plural} {run} of {total}, {explained} explained ({percent:.1f} %)')
    print(f'coverage: {"; ".join(said)}')
    return 0 if good else 1


sys.exit(main())
