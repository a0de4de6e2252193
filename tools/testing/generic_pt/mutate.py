#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make small faults in the library, one at a time, and count those that the tests notice.

usage: mutate.py [-n N] [-s SEED] [-j JOBS] [-t SECONDS] [-l] [-a] [PART...]

N mutants of all that can be made are run, chosen by SEED; 0 for all of them.
PART is a part of file:line, or of what is changed; only these are made then.
-l lists them and runs none. -a also runs again those that were killed before.
-t stops after so many seconds; the next call goes on. Results are kept in
build/user/mutate/, as long as the library is the same.

A mutant that does not compile, or to the same code as the library, is not
counted, nor one that mutants.txt says changes nothing that can be seen, and why.
The last line says how many of the rest were killed; below 95 % this fails.
"""

import argparse
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.realpath(os.path.join(HERE, '..', '..', '..'))
OUT = os.path.join(TOP, 'build', 'user', 'mutate')
# What coverage.sh builds too
BASE = os.path.join(TOP, 'build', 'user', 'deep')
KNOWN = os.path.join(HERE, 'mutants.txt')
LIB = os.path.join('drivers', 'iommu', 'generic_pt')
CC = os.environ.get('CC', 'cc')
WANTED = 95

# A core mutant is compiled for one format after the other, until one notices
STAGES = ['tiny', 'amdv1', 'x86_64', 'vtdss', 'riscv_64', 'amdv1_mock']


class Suite:
    """A program that may notice a mutant

    It has noticed when it ends otherwise than listed in good, or says "not ok".
    cpu: seconds that a process may use, ten times what it does; what needs more
    does not end. The time of others on the machine does not count.
    """

    def __init__(self, name, program, args, cpu, good=(0,), variant='mutant'):
        self.name, self.args, self.cpu, self.good, self.variant = name, args, cpu, good, variant
        self.program = f'{BASE}/{program}-{variant}'


def suites_of(stage, configs):
    """The suites that a format can fail, the quickest first"""
    mine = [c for c in configs if c.startswith(stage + '-')]
    random = ['-d', '/dev/null', '-s']
    suites = [Suite(f'random {stage}', 'random', ['-n', '2000' if stage == 'tiny' else '1500', *random, '1', *mine], 5),
              Suite(f'corpus {stage}', 'fuzz-replay', ['-c', f'{stage}-', f'{HERE}/corpus.txt'], 5)]
    if stage == 'tiny':
        suites.append(Suite('small', 'small', ['-n', '3', '-j', '1'], 8))
    else:
        suites.insert(0, Suite('contract', 'contract', [], 5))
    return suites


def suites_at_last(configs, races):
    """For what nobody noticed so far"""
    replays = sorted(glob.glob(f'{HERE}/replays/*.replay'))
    suites = [Suite('replays', 'random', ['-r', *replays], 15),
              Suite('random, longer', 'random', ['-d', '/dev/null', '-n', '12000', '-s', '2', *configs], 30)]
    if races:
        # 1: not all branches were taken, which is for who has more time
        suites.append(Suite('races', 'races', ['-n', '3', '-s', '1'], 120, (0, 1), 'mutant-race'))
    return suites


TOKEN = re.compile(r'''
    (?P<comment>/\*.*?\*/|//[^\n]*) | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*') |
    (?P<number>\b(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*\b) | (?P<name>\b[A-Za-z_]\w*\b) |
    (?P<op><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]\#\\]) |
    (?P<space>\s+) | (?P<other>.)''', re.X | re.S)

SWAPS = {'<': ['<='], '<=': ['<'], '>': ['>='], '>=': ['>'], '==': ['!='], '!=': ['=='],
         '&&': ['||'], '||': ['&&'], '<<': ['>>'], '>>': ['<<'], '|': ['&'], '^': ['|'],
         '&=': ['|='], '|=': ['&='], '+=': ['-='], '-=': ['+='], '++': ['--'], '--': ['++']}
NAMES = {'min': 'max', 'max': 'min', 'min_t': 'max_t', 'round_up': 'round_down',
         'round_down': 'round_up', 'true': 'false', 'false': 'true',
         'PT_USERS_PARKED': 'PT_USERS_TOP', 'PT_USERS_TOP': 'PT_USERS_PARKED',
         'PT_USERS_ANY': 'PT_USERS_LIVE', 'IOMMU_READ': 'IOMMU_WRITE',
         'IOMMU_WRITE': 'IOMMU_READ', 'EINVAL': 'ERANGE', 'ERANGE': 'EINVAL',
         'ENOENT': 'EINVAL', 'EADDRINUSE': 'EINVAL', 'EOPNOTSUPP': 'EINVAL', 'ENOMEM': 'EINVAL',
         'pt_floor_lg2': 'pt_align_lg2', 'PTF_GRANULE_LG2': '(PTF_GRANULE_LG2 + 1)',
         'PTF_ITEMS': '(PTF_ITEMS - 1)', 'BIT_ULL': '~BIT_ULL', 'NULL': None}
# What is no code of its own, or says nothing to whoever runs it
DULL = re.compile(r'^\s*(#\s*(if|el|endif|include|undef)|static_assert|BUILD_BUG_ON|PT_WARN_ON|'
                  r'EXPORT_SYMBOL|MODULE_|PT_DESC_MATCH|OPTIMIZER_HIDE_VAR|#define (_*PTF_(FN|CONCAT|TABLE|CFG|HW_INFO|NAME|STRUCT|KUNIT_H)|PT_ITEM_LG2|PT_WARN_ON|PT_DESC|__G|ptf_))')
FUNCTION = re.compile(r'^(?!typedef|struct [^(]*{|enum|union|#|\s)[\w *]*?(\w+|PTF_FN\(\w+\))\(')


class Mutant:
    """One change of one line"""

    def __init__(self, file, line, function, start, end, old, new, text):
        self.file, self.line, self.function = file, line, function
        self.start, self.end, self.new = start, end, new
        first = text.rfind('\n', 0, start) + 1
        last = text.find('\n', end)
        was = text[first:last]
        now = text[first:start] + new + text[end:last]
        self.was = ' '.join(was.split())
        self.now = ' '.join(now.split())
        # Which one of those that look alike in this function
        self.nth = 0

    def key(self):
        nth = f' #{self.nth}' if self.nth else ''
        return f'{self.file}: {self.function}{nth}: {self.was} => {self.now}'


def tokens_of(text):
    return [(m.lastgroup, m.group(), m.start()) for m in TOKEN.finditer(text)]


def closing(tokens, i):
    """Index of the bracket that closes the one at i"""
    depth = 0
    for j in range(i, len(tokens)):
        if tokens[j][0] == 'op':
            depth += (tokens[j][1] in '([{') - (tokens[j][1] in ')]}')
            if not depth:
                return j
    return None


def changes(tokens, text):
    """All changes to a file: start, end, new text"""
    real = [t for t in tokens if t[0] not in ('comment', 'space')]
    for i, (kind, word, at) in enumerate(real):
        before = real[i - 1][1] if i else ''
        before2 = real[i - 2][1] if i > 1 else ''
        after = real[i + 1][1] if i + 1 < len(real) else ''
        after2 = real[i + 2][1] if i + 2 < len(real) else ''
        end = at + len(word)
        value = before in (')', ']') or (i and real[i - 1][0] in ('name', 'number') and
                                         before not in ('return', 'case', 'sizeof', 'typeof'))
        if kind == 'number':
            m = re.match(r'(0[xX][0-9a-fA-F]+|\d+)(\w*)', word)
            n = int(m[1], 8 if re.match(r'0\d', m[1]) else 0)
            yield at, end, f'{n + 1}{m[2]}'
            if n:
                yield at, end, f'{n - 1}{m[2]}'
        elif kind == 'name' and word in ('if', 'while') and after == '(':
            j = closing(real, i + 1)
            if j:
                inner = text[real[i + 1][2] + 1:real[j][2]]
                yield real[i + 1][2] + 1, real[j][2], f'!({inner})'
        elif kind == 'name' and word == 'level' and (before in ('.', '->') or value) is False:
            if after not in ('=', '++', '--', '+=', '-=') and before not in ('++', '--', '&', 'int'):
                yield at, end, '(level + 1)'
                yield at, end, '(level - 1)'
        elif kind == 'name' and word == 'smp_store_release' and after == '(' and after2 == '&':
            yield at, real[i + 2][2] + 1, 'WRITE_ONCE('
        elif kind == 'name' and word in NAMES and NAMES[word] and before != 'define':
            yield at, end, NAMES[word]
        elif kind == 'name' and word in ('break', 'continue') and after == ';':
            yield at, end, ''
        elif kind == 'op' and word in ('!', '~') and after not in ('=', ')'):
            yield at, end, ''
        elif kind == 'op' and word == '-' and value:
            yield at, end, '+'
        elif kind == 'op' and word == '+' and value:
            yield at, end, '-'
        elif kind == 'op' and word == '&' and value:
            yield at, end, '|'
        elif kind == 'op' and word in SWAPS:
            for new in SWAPS[word]:
                yield at, end, new
        # A statement: after the end of another, up to its own
        if kind in ('name', 'op') and before in (';', '{', '}', ')', 'else', ':') and \
                word not in ('return', 'if', 'for', 'while', 'do', 'else', 'case', 'default', 'switch',
                             'goto', 'break', 'continue', '{', '}', ';', '#', 'fallthrough') and \
                (before != ')' or before_is_condition(real, i - 1)):
            j = i
            while j < len(real) and real[j][1] not in (';', '{', '}'):
                j = (closing(real, j) or len(real)) if real[j][1] in ('(', '[') else j
                j += 1
            if j < len(real) and real[j][1] == ';' and is_statement([t[1] for t in real[i:j]]):
                yield at, real[j][2], ''
        if kind == 'name' and word == 'return' and after == '-' and before2 != '':
            j = i + 1
            while real[j][1] != ';':
                j += 1
            yield end, real[j][2], ' 0'


def before_is_condition(real, i):
    """Whether the bracket that closes at i is that of an if, for, while"""
    depth = 0
    for j in range(i, -1, -1):
        depth += (real[j][1] == ')') - (real[j][1] == '(')
        if not depth:
            return real[j - 1][1] in ('if', 'while', 'for')
    return False


def is_statement(words):
    """A call or an assignment, no declaration"""
    if len(words) < 2 or not re.match(r'[A-Za-z_*(+-]', words[0]):
        return False
    if re.match(r'\w+$', words[0]) and re.match(r'\w+$|\*$', words[1]):
        return False
    return '=' in words or words[1] == '(' or any(re.match(r'(\+\+|--|[-+&|]=)$', w) for w in words)


def mutants_of(file):
    """All mutants of a file, in order"""
    with open(os.path.join(TOP, file), encoding='utf-8') as f:
        text = f.read()
    functions, dull, function, depth = [], [], '', 0
    for line in text.split('\n'):
        m = FUNCTION.match(line)
        if m and not line.rstrip().endswith(';'):
            function = m[1]
        d = re.match(r'#define (\w+)', line)
        functions.append(d[1] if d else function)
        dull.append(bool(DULL.match(line)) or (depth > 0))
        # What such a line goes on with is dull too
        depth = 1 if dull[-1] and (line.endswith('\\') or line.count('(') > line.count(')')) or \
            (depth and not re.search(r'\)\s*;|^$', line)) else 0
    seen, alike, found = set(), {}, []
    for start, end, new in changes(tokens_of(text), text):
        line = text.count('\n', 0, start)
        if dull[line] or (start, end, new) in seen:
            continue
        seen.add((start, end, new))
        # The lines stay the same ones
        new += '\n' * (text.count('\n', start, end) - new.count('\n'))
        m = Mutant(os.path.relpath(file, LIB), line + 1, functions[line], start, end,
                   text[start:end], new, text)
        key = m.key()
        m.nth = alike[key] = alike.get(key, -1) + 1
        found.append(m)
    return found


def make_commands(target):
    """How make builds a target, by object file"""
    args = ['make', '-n', '-B', '-s', '-C', HERE, f'CC={CC}', f'LIB={OUT}/LIB/{LIB}',
            f'OUT={BASE}', target]
    text = subprocess.run(args, capture_output=True, text=True, check=True, cwd=HERE).stdout
    commands = {}
    for line in text.split('\n'):
        words = shlex.split(line)
        if '-o' in words and words[0] == CC:
            commands[words[words.index('-o') + 1]] = words
    return commands


class Library:
    """What is compiled, how, and of which files it is made"""

    def __init__(self, programs):
        self.commands = {}
        for program in programs:
            self.commands.update(make_commands(program))
        # Objects of the library by the files that they are made of
        self.objects, self.files = [], {}
        for target, words in self.commands.items():
            if '-c' not in words:
                continue
            deps = self.depends(words)
            ours = [d for d in deps if (d.startswith(LIB) or d.endswith('iommu/iommu-pages.c')) and
                    'kunit' not in d]
            if ours:
                self.objects.append(target)
                for d in sorted(set(ours)):
                    self.files.setdefault(d, []).append(target)

    def depends(self, words):
        args = [w.replace(f'{OUT}/LIB/', f'{TOP}/') for w in words]
        args = args[:args.index('-c')] + ['-MM', args[-1]]
        text = subprocess.run(args, capture_output=True, text=True, check=True, cwd=HERE).stdout
        paths = text.replace('\\\n', ' ').split()[1:]
        return [os.path.relpath(os.path.realpath(os.path.join(HERE, p)), TOP) for p in paths]


def group_of(leader):
    """Of a process and those that it started: seconds of CPU, and whether one wants it"""
    ticks, wants = 0, False
    for path in glob.glob('/proc/[0-9]*/task/[0-9]*/stat'):
        try:
            with open(path, encoding='ascii', errors='replace') as f:
                words = f.read().rpartition(')')[2].split()
        except OSError:
            continue
        # State, group; its CPU time, and that of children that have ended
        if int(words[2]) == leader:
            wants |= words[0] in 'RD'
            ticks += sum(map(int, words[11:13]))
            if path.split('/')[2] == path.split('/')[4]:
                ticks += sum(map(int, words[13:15]))
    return ticks / os.sysconf('SC_CLK_TCK'), wants


def watch(p, suite, ended):
    """End what waits for itself, or goes on in ever new processes"""
    before, idle = 0, 0
    while not ended.wait(5):
        cpu, wants = group_of(p.pid)
        idle = 0 if wants or cpu != before else idle + 1
        before = cpu
        if idle >= 12 or cpu > 20 * suite.cpu:
            os.killpg(p.pid, signal.SIGKILL)
            return


def run_suite(program, suite, cwd):
    """None when the suite finds nothing, or what it noticed

    Who only dies, without a word, must do so twice: a machine that sleeps may
    charge a process with CPU time that it never used.
    """
    why, said = run_once(program, suite, cwd)
    return why if said or not why else run_once(program, suite, cwd)[0]


def run_once(program, suite, cwd):
    """What a suite noticed, or None, and whether a test said it"""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (suite.cpu, suite.cpu + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with subprocess.Popen([program, *suite.args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors='replace', preexec_fn=limit, start_new_session=True, cwd=cwd) as p:
        ended = threading.Event()
        watcher = threading.Thread(target=watch, args=(p, suite, ended))
        watcher.start()
        said = ''
        why = None
        for line in p.stdout:
            if line.startswith('not ok') and 'branches of the protocol' not in line:
                why = said or line.strip()
                break
            if re.match(r'\S+\.[ch]:\d+: |WARNING: Thread|SUMMARY', line) and not said:
                said = line.strip()
        if why:
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        p.stdout.read()
        ended.set()
        watcher.join()
        rc = p.wait()
    if why or rc in suite.good:
        return why, said
    if rc in (-signal.SIGXCPU, -signal.SIGKILL):
        return 'no end', said
    return said or f'ends with {rc}', said


class Worker:
    """A copy of the library that mutants are made in"""

    def __init__(self, library, nr):
        self.library = library
        self.dir = os.path.join(OUT, f'worker{nr}')
        shutil.rmtree(self.dir, ignore_errors=True)
        for d in (LIB, f'{LIB}/fmt'):
            os.makedirs(os.path.join(self.dir, d))
            for f in glob.glob(os.path.join(TOP, d, '*.[ch]')):
                shutil.copyfile(f, os.path.join(self.dir, d, os.path.basename(f)))
        for f in ('iommu-pages.c', 'iommu-pages.h'):
            if os.path.exists(os.path.join(TOP, 'drivers/iommu', f)):
                shutil.copyfile(os.path.join(TOP, 'drivers/iommu', f),
                                os.path.join(self.dir, 'drivers/iommu', f))
        self.code = {}

    def compile(self, target, *more, ccache=False):
        """Compile an object here; its contents, or None"""
        words = [w.replace(f'{OUT}/LIB', self.dir) for w in self.library.commands[target]]
        words[words.index('-c'):words.index('-c')] = more
        out = self.path(target)
        os.makedirs(os.path.dirname(out), exist_ok=True)
        words[words.index('-o') + 1] = out
        # It has not seen a mutant before
        if ccache and shutil.which('ccache'):
            words.insert(0, 'ccache')
        r = subprocess.run(words, capture_output=True, cwd=HERE, check=False)
        if r.returncode:
            return None
        with open(out, 'rb') as f:
            return f.read()

    def path(self, target):
        return target.replace(BASE, f'{self.dir}/out')

    def link(self, program, changed):
        words = [self.path(w) if w in changed else w for w in self.library.commands[program]]
        out = self.path(program)
        words[words.index('-o') + 1] = out
        os.makedirs(os.path.dirname(out), exist_ok=True)
        subprocess.run(words, check=True, cwd=HERE)

    def run(self, mutant):
        """Result of a mutant, and what it is about"""
        name = os.path.normpath(os.path.join(LIB, mutant.file))
        path = os.path.join(self.dir, name)
        objects = self.library.files[name]
        with open(os.path.join(TOP, name), encoding='utf-8') as f:
            text = f.read()
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text[:mutant.start] + mutant.new + text[mutant.end:])
        try:
            result = self.judge(objects)
            mutated = self.optimized(objects) if result[0] == 'survived' else None
        finally:
            shutil.copyfile(os.path.join(TOP, name), path)
        if mutated and mutated == self.optimized(objects, ccache=True):
            return 'no', 'the same code'
        return result

    def optimized(self, objects, ccache=False):
        """What the compiler makes of objects when it looks at them closely"""
        return [self.compile(t, '-O2', ccache=ccache) for t in objects if '-race/' not in t]

    def judge(self, objects):
        changed = []
        for stage in STAGES:
            new = [t for t in objects if '-race/' not in t and t not in changed and
                   os.path.basename(t) in (f'lib_{stage}.o', 'iommu-pages.o')]
            if not new and not any('iommu-pages' in t for t in objects):
                continue
            if not all([self.compile(t) for t in new]):
                return 'no', 'does not compile'
            changed += new
            why = self.run_suites(suites_of(stage, self.library.configs), changed)
            if why:
                return 'killed', why
        races = [t for t in objects if '-race/' in t]
        # Formats know nothing of others
        if len(races) == 1 and 'iommu-pages' not in races[0]:
            races = []
        if not all([self.compile(t) for t in races]):
            return 'no', 'does not compile'
        why = self.run_suites(suites_at_last(self.library.configs, races), changed + races)
        return ('killed', why) if why else ('survived', '')

    def run_suites(self, suites, changed):
        """What a suite notices, or None"""
        linked = set()
        for suite in suites:
            if suite.program not in linked:
                self.link(suite.program, changed)
                linked.add(suite.program)
            why = run_suite(self.path(suite.program), suite, self.dir)
            if why:
                return f'{suite.name}: {why}'
        return None


def read_known():
    """What mutants.txt says: key, kind, reason"""
    known = {}
    if not os.path.exists(KNOWN):
        return known
    kind = reason = ''
    with open(KNOWN, encoding='utf-8') as f:
        for line in f:
            line = line.rstrip('\n')
            m = re.match(r'(equivalent|survivor): (.*)', line)
            if m:
                kind, reason = m[1], m[2]
            elif line.startswith('\t'):
                known[line.strip()] = (kind, reason)
    return known


def hash_of(files):
    h = hashlib.sha256()
    for f in sorted(files):
        with open(f, 'rb') as file:
            h.update(file.read())
    return h.hexdigest()


def order(mutants, seed):
    """Chosen by chance, but each by itself: others stay when one comes or goes"""
    return sorted(mutants, key=lambda m: hashlib.sha256(f'{seed} {m.key()}'.encode()).digest())


def build_base(jobs):
    os.makedirs(OUT, exist_ok=True)
    link = os.path.join(OUT, 'LIB')
    if not os.path.islink(link):
        os.symlink(TOP, link)
    programs = sorted({s.program for s in all_suites([])})
    make = ['make', '-s', f'-j{jobs}', '-C', HERE, f'CC={CC}', f'LIB={OUT}/LIB/{LIB}', f'OUT={BASE}']
    subprocess.run([*make, *programs], check=True)
    library = Library(programs)
    names = subprocess.run([f'{BASE}/fuzz-replay-mutant', '-l'], check=True, capture_output=True, text=True)
    library.configs = names.stdout.split()
    return library


def all_suites(configs):
    return [t for s in STAGES for t in suites_of(s, configs)] + suites_at_last(configs, True)


def check_base(library, results):
    """Without a fault nothing is noticed, or nothing is proved"""
    for suite in all_suites(library.configs):
        if results.get(suite.name) == 'good':
            continue
        start = time.time()
        why = run_suite(suite.program, suite, OUT)
        print(f'mutate: without a fault: {suite.name}, {time.time() - start:.1f} s', file=sys.stderr, flush=True)
        if why:
            sys.exit(f'mutate: error: {suite.name} fails without a fault: {why}')
        results[suite.name] = 'good'


class Results:
    """What is known of mutants, and of the library without a fault

    Killed mutants are of the same library, survivors of the same tests too.
    """

    def __init__(self, code, tests):
        self.path, self.lock = os.path.join(OUT, 'results.json'), threading.Lock()
        self.all = {'code': code, 'tests': tests, 'base': {}, 'mutants': {}}
        if os.path.exists(self.path):
            with open(self.path, encoding='utf-8') as f:
                old = json.load(f)
            if old.get('code') == code:
                self.all['mutants'] = {k: v for k, v in old['mutants'].items()
                                       if v[0] != 'survived' or old['tests'] == tests}
                if old['tests'] == tests:
                    self.all['base'] = old['base']

    def get(self, key):
        return self.all['mutants'].get(key)

    def set(self, key, result):
        with self.lock:
            self.all['mutants'][key] = result
            self.save()

    def save(self):
        with open(self.path + '.new', 'w', encoding='utf-8') as f:
            json.dump(self.all, f, indent=0)
        os.replace(self.path + '.new', self.path)


def main():
    p = argparse.ArgumentParser(add_help=False)
    p.add_argument('-n', type=int, default=400)
    p.add_argument('-s', type=int, default=1)
    p.add_argument('-j', type=int, default=os.cpu_count())
    p.add_argument('-t', type=float, default=1e9)
    p.add_argument('-l', action='store_true')
    p.add_argument('-a', action='store_true')
    p.add_argument('-h', '--help', action='store_true')
    p.add_argument('part', nargs='*')
    args = p.parse_args()
    if args.help:
        sys.exit(__doc__)
    deadline = time.time() + args.t
    # A make that called us has its own flags
    os.environ.pop('MAKEFLAGS', None)

    library = build_base(args.j)
    mutants = [m for f in sorted(library.files) for m in mutants_of(f)]
    print(f'mutate: {len(mutants)} mutants can be made of {len(library.files)} files', file=sys.stderr)
    known = read_known()
    for key in set(known) - {m.key() for m in mutants}:
        print(f'mutate: mutants.txt explains what is no mutant: {key}', file=sys.stderr)
    if args.part:
        chosen = [m for m in mutants
                  if any(a in f'{m.file}:{m.line}' or a in m.key() for a in args.part)]
        args.n = 0
    else:
        chosen = order(mutants, args.s)
    if args.l:
        for m in chosen[:args.n or None]:
            print(f'{m.file}:{m.line}: {m.function}: {m.was} => {m.now}')
        return 0

    workers = [Worker(library, i) for i in range(args.j)]
    # Neither comments nor what nobody calls make another library
    code = hashlib.sha256(b''.join(workers[0].optimized(library.objects, ccache=True))).hexdigest()
    tests = hash_of([f for kind in ('*.[ch]', 'shim/*.[ch]', 'shim/*/*.h', 'replays/*', 'corpus.txt')
                     for f in glob.glob(f'{HERE}/{kind}')])
    results = Results(code, tests)
    check_base(library, results.all['base'])
    results.save()

    lock = threading.Lock()
    counted = {}

    def needed():
        return args.n == 0 or len(counted) < args.n

    queue = iter(chosen)

    def work(worker):
        while True:
            with lock:
                m = next(queue, None) if needed() and time.time() < deadline else None
            if m is None:
                return
            key = m.key()
            if known.get(key, ('',))[0] == 'equivalent':
                continue
            result = results.get(key)
            if not result or args.a:
                result = worker.run(m)
                results.set(key, result)
                print(f'{result[0]}: {m.file}:{m.line}: {m.was} => {m.now}\n# {result[1]}', flush=True)
            if result[0] != 'no':
                with lock:
                    counted[key] = (result[0], m)

    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        for f in [pool.submit(work, w) for w in workers]:
            f.result()
    return report(counted, known, args.n and len(counted) < args.n)


def report(counted, known, partial):
    survivors = sorted((m for r, m in counted.values() if r == 'survived'), key=lambda m: (m.file, m.line))
    for m in survivors:
        kind, reason = known.get(m.key(), ('', 'not explained in mutants.txt'))
        print(f'survived: {m.file}:{m.line}: {reason}\n\t{m.key()}')
    killed, total = len(counted) - len(survivors), len(counted)
    if partial:
        print('mutate: not all were run: call again to go on', file=sys.stderr)
    percent = 100 * killed / total if total else 0
    print(f'mutants: {killed} killed of {total} ({percent:.1f} %)')
    return 0 if total and percent >= WANTED and not partial else 1


sys.exit(main())
