#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Turn what kunit.py left into TAP. A run that says nothing is a failure.

usage: kunit_tap.py NAME JSON LOG CONSOLE EXIT-CODE
"""

import json
import re
import sys
from collections import Counter

# What a kernel prints that is no test result, but not right either. A case that
# skips itself after something failed is reported as skipped only.
TROUBLE = re.compile(r'Kernel panic|BUG: |Oops|WARNING: |UBSAN|KASAN|(EXPECTATION|ASSERTION) FAILED')
# UML says so of its own virtio PCI driver, with any configuration of kunit.py
EXPECTED = re.compile(r'WARNING: .* um_pci_init')


def cases(group, prefix=''):
    for sub in group.get('sub_groups', []):
        yield from cases(sub, prefix + sub['name'] + '.')
    for case in group.get('test_cases', []):
        yield prefix + case['name'], case['status']


def formats(found):
    """A line for each format: suites are named after it, and cases after the suite"""
    count = {}
    for case, status in found:
        suite, _, rest = case.partition('.')
        suites, cases, runs = count.setdefault(suite.rpartition('_')[0], (set(), set(), Counter()))
        suites.add(suite)
        cases.add(suite + '.' + rest.split('.')[0])
        runs[status] += 1
    for name, (suites, cases, runs) in sorted(count.items()):
        yield (f'{name}: {len(suites)} suites, {len(cases)} cases, run {sum(runs.values())} times: ' +
               ', '.join(f'{n} {status}' for status, n in sorted(runs.items())))


def text(path):
    try:
        with open(path, encoding='utf-8', errors='replace') as f:
            return f.read()
    except OSError:
        return ''


def main():
    name, result, log, console, code = sys.argv[1:]
    try:
        found = list(cases(json.loads(text(result))))
    except ValueError:
        found = []
    failed = []
    count = {'ok': 0, 'skipped': 0}
    for case, status in found:
        label = f'kunit {name}: {case}'
        if status == 'PASS':
            print('ok -', label)
            count['ok'] += 1
        elif status == 'SKIP':
            print('ok -', label, '# SKIP by the suite')
            count['skipped'] += 1
        else:
            failed.append(f'{label} ({status})')
    if code == '124':
        failed.append(f'kunit {name}: the run did not end in time')
    elif not found:
        failed.append(f'kunit {name}: no test ran (exit code {code})')
    elif not count['ok']:
        failed.append(f'kunit {name}: no test passed')
    elif code != '0' and not failed:
        failed.append(f'kunit {name}: kunit.py ended with exit code {code}')
    trouble = [x for x in text(console).splitlines() if TROUBLE.search(x) and not EXPECTED.search(x)]
    if trouble:
        failed.append(f'kunit {name}: the kernel complained: {trouble[0].strip()}')
    for f in failed:
        print('not ok -', f)
    for line in formats(found):
        print(f'generic_pt: kunit {name}: {line}', file=sys.stderr)
    print(f'generic_pt: kunit {name}: {count["ok"]} passed, {len(failed)} failed, '
          f'{count["skipped"]} skipped', file=sys.stderr)
    if failed:
        for line in text(log).splitlines()[-15:]:
            print('#', line)
        print(f'generic_pt: see build/kunit/{name}.log and .console', file=sys.stderr)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
