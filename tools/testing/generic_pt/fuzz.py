#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Let libFuzzer look for operations that go wrong. Needs clang and its runtime library.

usage: fuzz.py [-t SECONDS] [-j JOBS] [-k] [-m INPUTS]

Begins with the inputs of corpus.txt. What it finds on the way is kept in
build/user/fuzz/corpus/, for the next time. -k writes corpus.txt anew, with what
is needed to come by all code that any of them comes by, at most INPUTS.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
OUT = os.path.realpath(os.path.join(HERE, '..', '..', '..', 'build', 'user', 'fuzz'))
CORPUS = os.path.join(HERE, 'corpus.txt')
CC = os.environ.get('FUZZ_CC', 'clang')
HEAD = '''# SPDX-License-Identifier: GPL-2.0-only
#
# Inputs for fuzz.c: the configuration, and the bytes after the first. Written by
# fuzz.py -k.
'''


def unpack(path, names, to):
    """Write each line as a file of libFuzzer"""
    os.makedirs(to, exist_ok=True)
    with open(path, encoding='utf-8') as f:
        for line in f:
            name, _, digits = line.strip().partition(' ')
            if line.startswith('#') or name not in names:
                continue
            data = bytes([names.index(name)]) + bytes.fromhex(digits)
            with open(os.path.join(to, hashlib.sha1(data).hexdigest()), 'wb') as out:
                out.write(data)


def read_features(control):
    """What libFuzzer noted of a merge: by file, what it comes by"""
    with open(control, encoding='utf-8') as f:
        lines = f.read().split('\n')
    files = lines[2:2 + int(lines[0])]
    features = {}
    for line in lines[2 + len(files):]:
        words = line.split()
        if words and words[0] == 'FT':
            features[files[int(words[1])]] = set(words[2:])
    return features


def pack(names, features, most):
    """Write the inputs that matter most as lines"""
    data = {}
    for path in features:
        with open(path, 'rb') as f:
            data[path] = f.read()
    # The first byte only names the configuration
    left = {path: set(f) for path, f in features.items() if len(data[path]) > 1}
    kept = []
    while left and len(kept) < most:
        best = max(sorted(left), key=lambda p: len(left[p]) / (16 + len(data[p])))
        new = left.pop(best)
        if not new:
            break
        kept.append(data[best])
        left = {p: f - new for p, f in left.items()}
    lines = sorted(f'{names[d[0] % len(names)]} {d[1:].hex()}\n' for d in kept)
    # Others may be reading it
    with open(CORPUS + '.new', 'w', encoding='utf-8') as f:
        f.writelines([HEAD, *lines])
    os.replace(CORPUS + '.new', CORPUS)
    print(f'fuzz: {len(lines)} of {len(features)} inputs in corpus.txt, {sum(map(len, lines))} bytes; '
          f'{len(set().union(*left.values()))} of {len(set().union(*features.values()))} features are left out',
          file=sys.stderr)


def main():
    p = argparse.ArgumentParser(add_help=False)
    p.add_argument('-t', type=int, default=300)
    p.add_argument('-j', type=int, default=os.cpu_count())
    p.add_argument('-k', action='store_true')
    p.add_argument('-m', type=int, default=700)
    p.add_argument('-h', '--help', action='store_true')
    args = p.parse_args()
    if args.help:
        sys.exit(__doc__)
    if not shutil.which(CC):
        sys.exit(f'fuzz: error: {CC} not found: apt-get install clang libclang-rt-dev')

    # A make that called us has its own flags
    os.environ.pop('MAKEFLAGS', None)
    fuzz, replay = f'{OUT}/fuzzer', f'{OUT}/fuzz-replay'
    subprocess.run(['make', '-s', f'-j{args.j}', '-C', HERE, f'CC={CC}', f'OUT={OUT}', fuzz, replay], check=True)
    names = subprocess.run([replay, '-l'], check=True, capture_output=True, text=True).stdout.split()
    if len(names) > 256:
        sys.exit('fuzz: error: a byte does not choose among so many configurations')
    corpus = f'{OUT}/corpus'
    unpack(CORPUS, names, corpus)

    # Each job for the whole time; a failure ends it
    jobs = [subprocess.Popen([fuzz, f'-max_total_time={args.t}', '-max_len=400', '-timeout=60', '-rss_limit_mb=6000',
                              '-print_final_stats=1', f'-artifact_prefix={OUT}/', f'-seed={os.getpid() + i}',
                              '-reload=10', corpus], stderr=subprocess.PIPE, text=True, errors='replace')
            for i in range(args.j)]
    bad = False
    runs = 0
    for job in jobs:
        said = job.communicate()[1]
        runs += sum(int(line.split()[-1]) for line in said.split('\n')
                    if line.startswith('stat::number_of_executed_units'))
        if job.returncode:
            bad = True
            print('\n'.join('# ' + line for line in said.split('\n')[-60:]))
    print(f'{"not " if bad else ""}ok - fuzz: {runs} inputs, {len(os.listdir(corpus))} kept in build/user/fuzz/corpus/')
    if bad:
        print(f'# again: {fuzz} INPUT, operations with FUZZ_SHOW=1; smaller: -minimize_crash=1 INPUT')
        return 1
    if args.k:
        small, control = f'{OUT}/small', f'{OUT}/merge'
        shutil.rmtree(small, ignore_errors=True)
        os.makedirs(small)
        if os.path.exists(control):
            os.remove(control)
        subprocess.run([fuzz, '-merge=1', f'-merge_control_file={control}', '-max_len=400', '-rss_limit_mb=6000',
                        small, corpus], check=True, stderr=subprocess.DEVNULL)
        pack(names, read_features(control), args.m)
    return 0


sys.exit(main())
