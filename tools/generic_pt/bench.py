#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Turn what the benchmark printed into a table and JSON.

usage: bench.py LOG-DIR BUILD-DIR USERSPACE-DIR JSON SVG
       bench.py compare A.json B.json

LOG-DIR has what was printed: console (UML), user and retpoline (userspace),
callgrind (functions with their instructions), counts (an emulated guest).

A figure is the fastest of all rounds. The spread is how much slower the median
of our rounds was.
"""

import glob
import json
import math
import os
import re
import subprocess
import sys

LINE = re.compile(r'ptbench: (\w+)\|(.*)')

# What the ratio of a row is to, and what it must reach: by the row's number and
# the beginning of what it does. A peer's name stands for that peer, 'peer' for
# the fastest one, 'kept' for our own code that keeps empty tables, 'count' for the
# figure itself.
TARGETS = (
    ('P1', 'map 256x', 'floor', 2.0),
    ('P2', 'unmap 256x', 'floor', 2.0),
    ('P3', 'map + unmap one 4K page', 'peer', 0.9),
    ('P4', 'lookup', '6.12 amd v2', 0.95),
    ('P4', 'lookup', 'floor', 1.05),
    ('P7', '', 'floor', 1.3),
    ('P8', '', 'floor', 1.0),
    ('P9', 'left of', 'count', 16),
    ('P9', '1x4K/2M of 64G, all', 'kept', 1.05),
    ('P9', '1x4K/2M of 64G, each', 'kept', 1.05),
    ('P9', '1x4K/2M of 64G, map', 'kept', None),
    ('P9', '1x4K/2M of 64G, unmap', 'kept', None),
    ('P10', 'dirty scan 256M of 4K, clean', 'floor', 2.0),
    ('P10', 'dirty scan 256M of 4K, 1%', 'floor', 3.0),
    ('P11', '', 'floor', 1.1),
    # At least 0.9 and 0.6 of linear
    ('P12', '2M windows', 'floor', 1.11),
    ('P12', 'one leaf table', 'floor', 1.67),
    ('P13', 'map, unmap', 'count', 10240),
    ('P13', 'all', 'count', 15360),
    ('P14', '', 'count', 0),
    ('P16', '', 'floor', 2.0),
    # What 6.12 needs
    ('P17', '', 'count', 1024),
    ('I3', '', '6.12 amd v2', None),
    ('I4', '', '6.12 amd v2', None),
)

NOT_YET = {
    'P5': '256 scattered pages in one call',
    'P6': 'unmap of 256 pages, PFNs back',
    'P15': 'cut 4K out of 1G, and collapse',
}

# What of a format's object is not one of the four operations of P13
OTHERS = re.compile(r'init$|init\.cold|hw_info|pt_op_|pt_set_dirty|pt_lookup|pt_free_tree|'
                    r'pt_sizes_all|pt_check_cfg|pt_set_aperture')

# What callgrind counted calls of: how often ubench calls each, see there
CALLS = 1000
CALLED = {'map_pages': ('I3', 'instructions of map'), 'unmap_pages': ('I3', 'instructions of unmap'),
          'iova_to_phys': ('I4', 'instructions of lookup')}


def number(row_id):
    return int(re.search(r'\d+', row_id)[0])


def read(path):
    try:
        with open(path, encoding='utf-8', errors='replace') as f:
            return f.read()
    except OSError:
        return ''


def fail(what, *hints):
    for line in ('error: ' + what, *('       ' + h for h in hints)):
        print('generic_pt:', line, file=sys.stderr)
    sys.exit(1)


def output(*args):
    r = subprocess.run(args, text=True, capture_output=True, check=False)
    return r.stdout.split('\n')[0].strip()


def conditions(build, clock, rounds):
    config = dict(x.split('=', 1) for x in read(f'{build}/.config').splitlines()
                  if x.startswith('CONFIG_'))
    wanted = ('CONFIG_CC_OPTIMIZE_FOR_PERFORMANCE', 'CONFIG_DEBUG_GENERIC_PT', 'CONFIG_DEBUG_KERNEL',
              'CONFIG_PREEMPT_NONE', 'CONFIG_SMP', 'CONFIG_TINY_RCU', 'CONFIG_MITIGATION_RETPOLINE')
    cpu = re.search(r'^model name\s*: (.*)$', read('/proc/cpuinfo'), re.M)
    return {
        'cpu': cpu[1] if cpu else 'unknown',
        'cpus': os.cpu_count(),
        'load': os.getloadavg()[0],
        'clock': clock,
        'compiler': config.get('CONFIG_CC_VERSION_TEXT', '"unknown"').strip('"'),
        'kernel': 'UML ' + read(f'{build}/include/config/kernel.release').strip(),
        'options': ' '.join(f'{w[7:]}={config.get(w, "n")}' for w in wanted),
        'rounds': rounds,
        'commit': output('git', '-c', 'safe.directory=*', 'describe', '--always', '--dirty'),
    }


def parse(console, suffix=''):
    """What was printed: {(id, what): (unit, {way: (figure, median)})}, the clock, numbers of rounds"""
    rows, clock, rounds = {}, None, []
    for kind, rest in LINE.findall(console):
        words = rest.split('|')
        if kind == 'clock':
            clock = rest
        elif kind == 'row':
            row_id, what, way, _, least, median, n = words
            what += suffix
            rows.setdefault((row_id, what), ('ns', {}))[1][way] = \
                int(least) / 1000, int(median) / 1000
            rounds.append(int(n))
        elif kind == 'count':
            row_id, what, way, unit, count = words
            rows.setdefault((row_id, what), (unit, {}))[1][way] = int(count), int(count)
    return rows, clock, rounds


def growth(rows):
    """P11: the worst and the best of a format's conditions, and all of them"""
    out, curves = {}, {}
    for key in [k for k in rows if k[0] == 'P11']:
        unit, ways = rows.pop(key)
        formats = {}
        for name, (least, _) in ways.items():
            who, fmt, condition = name.split()
            formats.setdefault(f'{who} {fmt}', {})[condition] = least
        for name, curve in formats.items():
            worst = max(curve.values())
            what = f'{key[1]} ({name})'
            out[(key[0], what)] = unit, {'floor best': (min(curve.values()),) * 2,
                                         name: (worst, worst)}
            curves[what] = curve
    rows.update(out)
    return curves


def text_sizes(user):
    """P13: bytes of code of each format, as a kernel of this architecture has it"""
    out = {}
    for path in sorted(glob.glob(f'{user}/plain/iommu_*.o')):
        r = subprocess.run(['nm', '-S', path], text=True, capture_output=True, check=False)
        code = [(x[3], int(x[1], 16)) for x in map(str.split, r.stdout.splitlines())
                if len(x) == 4 and x[2] in 'tT']
        name = os.path.basename(path)[:-2].replace('iommu_', 'ours ')
        for what, sizes in (('map, unmap, lookup, dirty', [n for f, n in code if not OTHERS.search(f)]),
                            ('all operations', [n for _, n in code])):
            if sizes:
                out.setdefault(('P13', what), ('bytes', {}))[1][name] = sum(sizes), sum(sizes)
    return out


def instructions(text):
    """What callgrind counted for one call of each operation"""
    out = {}
    for count, name, op in re.findall(
            r'^\s*([\d,]+) \(.*?:(pt_iommu_\w+?|peer)_(map_pages|unmap_pages|iova_to_phys)\b', text,
            re.M):
        way = '6.12 amd v2' if name == 'peer' else name.replace('pt_iommu_', 'ours ')
        # A function has a line for each file that it was compiled from: the largest is all
        ways = out.setdefault(CALLED[op], ('instr', {}))[1]
        n = max(int(count.replace(',', '')) // CALLS, ways.get(way, (0, 0))[0])
        ways[way] = n, n
    return out


def judge(figure, floor, peers, to):
    """The ratio that a target is about"""
    if to == 'count':
        return figure
    base = floor if to == 'floor' else \
        min(peers.values(), default=None) if to == 'peer' else peers.get(to)
    return round(figure / base, 3) if base else None


def results(rows):
    """The rows of the JSON"""
    out = []
    for (row_id, what), (unit, ways) in rows.items():
        floor = min((w[0] for name, w in ways.items() if name.startswith('floor')), default=None)
        peers = {name: w[0] for name, w in ways.items() if name.startswith('6.12')}
        targets = [(to, target) for i, begin, to, target in TARGETS
                   if i == row_id and what.startswith(begin)] or [('floor', None)]
        for name, (ours, median) in ways.items():
            if not name.startswith('ours'):
                continue
            kept = ways.get(name.replace('ours', 'kept'))
            others = peers | ({'kept': kept[0]} if kept else {})
            for n, (to, target) in enumerate(targets):
                ratio = judge(ours, floor, others, to)
                out.append({
                    'id': row_id, 'format': name.split()[1],
                    # A row of one format only says which: not twice
                    'what': what.replace(f' ({name})', '') + (f' (to {to})' if n else ''),
                    'unit': unit,
                    'floor': floor, 'ours': ours, 'peers': others, 'ratio': ratio,
                    'target': target,
                    'met': None if ratio is None or target is None else ratio <= target,
                    'spread': round(median / ours - 1, 3) if unit == 'ns' else None,
                })
    done = {r['id'] for r in out}
    out += [{'id': i, 'format': None, 'what': w, 'unit': None, 'floor': None, 'ours': None,
             'peers': {}, 'ratio': None, 'target': None, 'met': None, 'spread': None}
            for i, w in NOT_YET.items() if i not in done]
    return sorted(out, key=lambda r: (number(r['id']), r['id'][0] != 'P'))


def cell(value, digits=1):
    if value is None:
        return '-'
    return str(value) if isinstance(value, int) else f'{value:.{digits}f}'


def table(rows):
    peers = sorted({p for r in rows for p in r['peers']})
    head = ['id', 'format', 'what', 'floor', *peers, 'ours', 'unit', 'ratio', 'target', 'met',
            'spread']
    lines = [head]
    for r in rows:
        if r['ours'] is None:
            lines.append([r['id'], '', r['what'], 'not yet'] + [''] * (len(head) - 4))
            continue
        lines.append([r['id'], r['format'], r['what'], cell(r['floor']),
                      *(cell(r['peers'].get(p)) for p in peers), cell(r['ours']), r['unit'],
                      cell(r['ratio'], 2), cell(r['target'], 2),
                      {None: '-', True: 'yes', False: 'no'}[r['met']],
                      f'{r["spread"] * 100:.0f}%' if r['spread'] is not None else '-'])
    width = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        print('  '.join(c.ljust(w) if i < 3 else c.rjust(w)
                        for i, (c, w) in enumerate(zip(line, width))).rstrip())


def compare(a, b):
    """What moved from A to B, by our own figures"""
    sides = []
    for path in (a, b):
        try:
            sides.append({(r['id'], r['format'], r['what']): r for r in json.loads(read(path))['rows']
                          if r['ours'] is not None})
        except (ValueError, KeyError):
            fail(f'{path}: no result of a benchmark', 'make bench writes build/bench.json')
    old, new = sides
    lines = [['id', 'format', 'what', 'A', 'B', 'change', 'ratio A', 'ratio B', '']]
    for key in sorted(old.keys() | new.keys(), key=lambda k: (number(k[0]), k[1], k[2])):
        x, y = old.get(key), new.get(key)
        if not x or not y:
            lines.append([*key, *(cell(s and s['ours']) for s in (x, y)), '', '', '',
                          'new' if y else 'gone'])
            continue
        # The machine may be faster or slower as a whole: the ratio decides
        use = 'ratio' if x['ratio'] and y['ratio'] else 'ours'
        change = y[use] / x[use] - 1 if x[use] else 0
        lines.append([*key, cell(x['ours']), cell(y['ours']), f'{change * 100:+.0f}%',
                      cell(x['ratio'], 2), cell(y['ratio'], 2),
                      'slower' if change > 0.05 else 'faster' if change < -0.05 else ''])
    width = [max(len(line[i]) for line in lines) for i in range(9)]
    for line in lines:
        print('  '.join(c.ljust(w) if i < 3 else c.rjust(w)
                        for i, (c, w) in enumerate(zip(line, width))).rstrip())


def chart(rows, cond):
    """SVG: each row's ratio as a part of its target, on a logarithmic scale"""
    bars = [r for r in rows if r['met'] is not None and r['target'] and r['ratio']]
    left, width, line, low, high = 380, 420, 14, 0.125, 8.0

    def x(value):
        at = math.log(min(max(value, low), high) / low) / math.log(high / low)
        return left + at * width

    out = ['<!-- SPDX-License-Identifier: GPL-2.0 -->',
           f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 90}" '
           f'height="{line * len(bars) + 60}" font-family="sans-serif" font-size="10">',
           '<rect width="100%" height="100%" fill="white"/>',
           '<text x="8" y="14" font-size="12">ratio / target: left of the line is met. '
           'Circle: the fastest peer, where the floor is what counts</text>',
           f'<text x="8" y="28">{cond["cpu"]}, {cond["compiler"]}, {cond["commit"]}</text>']
    for value in (0.125, 0.25, 0.5, 1, 2, 4, 8):
        out.append(f'<line x1="{x(value):.0f}" x2="{x(value):.0f}" y1="36" y2="{line * len(bars) + 44}" '
                   f'stroke="{"black" if value == 1 else "#ddd"}"/>'
                   f'<text x="{x(value):.0f}" y="{line * len(bars) + 56}" text-anchor="middle">{value:g}</text>')
    for i, r in enumerate(bars):
        y = 40 + i * line
        part = r['ratio'] / r['target']
        color = '#4a9' if r['met'] else '#d64'
        out.append(f'<text x="{left - 6}" y="{y + 9}" text-anchor="end">{r["id"]} {r["format"]}: {r["what"]}</text>'
                   f'<rect x="{left}" y="{y}" width="{x(part) - left:.1f}" height="{line - 4}" fill="{color}"/>'
                   f'<text x="{x(part) + 4:.1f}" y="{y + 9}">{r["ratio"]:g}</text>')
        if r['floor'] and r['peers'] and '(to ' not in r['what'] and r['id'] not in ('P3', 'P4'):
            peer = min(r['peers'].values()) / r['floor'] / r['target']
            out.append(f'<circle cx="{x(peer):.1f}" cy="{y + 5}" r="3" fill="none" stroke="#336"/>')
    return '\n'.join(out) + '\n</svg>\n'


def main():
    logs, build, user, out, svg = sys.argv[1:]
    text = read(f'{logs}/console')
    rows, clock, rounds = parse(text)
    bad = re.search(r'^.*(ASSERTION|EXPECTATION|Kernel panic|BUG: ).*$', text, re.M)
    if bad or not rows or not re.search(r'^ok 1 iommu_pt_bench$', text, re.M):
        fail('the benchmark could not measure' + (f': {bad[0].strip()}' if bad else ''),
             f'see {logs}/console')
    for name, suffix in (('user', ''), ('retpoline', ', retpolines'), ('counts', '')):
        rows.update(parse(read(f'{logs}/{name}'), suffix)[0])
    rows.update(text_sizes(user))
    rows.update(instructions(read(f'{logs}/callgrind')))
    curves = growth(rows)
    cond = conditions(build, clock, f'{min(rounds)} to {max(rounds)}' if rounds else 'none')
    found = results(rows)
    with open(out, 'w', encoding='utf-8') as f:
        json.dump({'conditions': cond, 'rows': found, 'growth': curves}, f, indent=1)
        f.write('\n')
    with open(svg, 'w', encoding='utf-8') as f:
        f.write(chart(found, cond))
    table(found)
    print()
    for what, curve in curves.items():
        print(f'P11 {what}: ' + ', '.join(f'{c}: {ns:.1f} ns' for c, ns in curve.items()))
    print()
    for key, value in cond.items():
        print(f'{key + ":":<10} {value}')
    missed = [r for r in found if r['met'] is False]
    print(f'{sum(r["met"] is True for r in found)} targets met, {len(missed)} not, '
          f'{sum(r["ours"] is None for r in found)} rows not yet')


if __name__ == '__main__':
    if sys.argv[1] == 'compare':
        if len(sys.argv) != 4 or not all(sys.argv[2:]):
            fail('two results are needed to compare',
                 'make bench-compare A=FILE B=FILE, each a build/bench.json of make bench')
        compare(*sys.argv[2:])
    else:
        main()
