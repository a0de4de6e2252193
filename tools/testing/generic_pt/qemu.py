#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Have QEMU's own page table walkers read tables of the library. TAP on stdout.

usage: qemu.py [-n SETS] [-s SEED] [KIND...]      environment: QEMU, OUT

No kernel runs: a program of the userspace build maps and unmaps at random and
dumps its tables (dump.c). They are written into a machine's memory by qtest, and
the machine's IOMMU is pointed at them. Then iommu-testdev writes to IOVAs, at the
edges of what is mapped and beside it. What must arrive must arrive where the
specification says; what must not must fault. QEMU 11.1 has that device:
tools/generic_pt/qemu.sh 11.1 prints its path.
"""

import argparse
import collections
import os
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.realpath(os.path.join(HERE, '..', '..', '..'))
OUT = os.environ.get('OUT', os.path.join(TOP, 'build', 'user', os.environ.get('CC', 'cc')))

SLOT = 5
DEVFN = SLOT << 3
FAULT = 0xdead0002
# Registers of iommu-testdev
TRIGGER, GVA, LENGTH, RESULT, DOORBELL, GPA = 0x0, 0x4, 0xc, 0x10, 0x14, 0x1c
BYTES = 64


class Machine:
    """A QEMU that only does what it is told over qtest"""

    def __init__(self, arch, args):
        path = tempfile.mktemp(prefix='qtest-')
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(1)
        listener.settimeout(60)
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(
            [program(arch), '-nodefaults', '-display', 'none', '-accel', 'tcg', '-S', '-qtest',
             f'unix:{path}', '-qtest-log', '/dev/null', '-m', '2G', *args],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.socket, _ = listener.accept()
        os.unlink(path)
        self.socket.settimeout(30)
        self.file = self.socket.makefile('rw')

    def many(self, commands):
        """Send them all, then read all answers"""
        answers = []
        self.file.write(''.join(c + '\n' for c in commands))
        self.file.flush()
        while len(answers) < len(commands):
            line = self.file.readline()
            if line.startswith('IRQ'):
                continue
            if not line.startswith('OK'):
                raise RuntimeError(f'{commands[len(answers)]}: {line or self.process.stderr.read()}')
            answers.append(line.split()[1:])
        return answers

    def write(self, bits, address, value):
        name = {32: 'writel', 64: 'writeq'}[bits]
        self.many([f'{name} {address:#x} {value & ((1 << bits) - 1):#x}'])

    def read(self, bits, address):
        name = {32: 'readl', 64: 'readq'}[bits]
        return int(self.many([f'{name} {address:#x}'])[0][0], 16)

    def end(self):
        self.process.terminate()
        self.process.wait()


def program(arch):
    return os.environ.get(f'QEMU_{arch.upper()}') or os.environ.get('QEMU') or f'qemu-system-{arch}'


def x86_device(m):
    """Give the device its registers, by the ports of PCI configuration"""
    for offset, value in ((0x10, 0xe0000000), (0x4, 6)):
        m.many([f'outl 0xcf8 {1 << 31 | SLOT << 11 | offset:#x}', f'outl 0xcfc {value:#x}'])
    return 0xe0000000


class Amd:
    arch = 'x86_64'
    args = ['-machine', 'q35', '-device', 'amd-iommu,dma-remap=on', '-device', f'iommu-testdev,addr={SLOT}']
    base, devtab, ring = 0xfed80000, 0x100000, 0x200000

    def __init__(self, m):
        self.m = m
        self.bar = x86_device(m)
        self.tail = 0

    def command(self, low, high):
        self.m.write(64, self.ring + self.tail, low)
        self.m.write(64, self.ring + self.tail + 8, high)
        self.tail = (self.tail + 16) % 4096
        self.m.write(32, self.base + 0x2008, self.tail)

    def use(self, root, levels, domain):
        entry = self.devtab + DEVFN * 32
        # V, TV, mode, IR, IW, then the domain
        self.m.write(64, entry + 8, domain)
        self.m.write(64, entry, 3 | levels << 9 | root | 3 << 61)
        if domain == 1:
            self.m.write(64, self.base, self.devtab | 0x1ff)
            self.m.write(64, self.base + 8, self.ring | 8 << 56)
            self.m.write(64, self.base + 0x18, 1 | 1 << 12)
        self.command(DEVFN | 2 << 60, 0)
        # INVALIDATE_IOMMU_PAGES of everything (S, PDE) and INVALIDATE_IOMMU_ALL
        self.command(domain << 32 | 3 << 60, 0x7ffffffffffff003)
        self.command(8 << 60, 0)


class VtdSecond:
    arch = 'x86_64'
    args = ['-machine', 'q35', '-device', 'intel-iommu,aw-bits=48', '-device', f'iommu-testdev,addr={SLOT}']
    base, table, context = 0xfed90000, 0x100000, 0x101000
    mode = 0

    def __init__(self, m):
        self.m = m
        self.bar = x86_device(m)
        self.iotlb = (m.read(64, self.base + 0x10) >> 8 & 0x3ff) * 16 + 8

    def entries(self, root, levels, domain):
        self.m.write(64, self.table, self.context | 1)
        self.m.write(64, self.context + DEVFN * 16, root | 1)
        self.m.write(64, self.context + DEVFN * 16 + 8, levels - 2 | domain << 8)

    def use(self, root, levels, domain):
        self.entries(root, levels, domain)
        if domain == 1:
            self.m.write(64, self.base + 0x20, self.table | self.mode << 10)
            # SRTP, then TE
            self.m.write(32, self.base + 0x18, 1 << 30)
            self.m.write(32, self.base + 0x18, 1 << 31)
        # Everything of the context cache, and of the IOTLB
        self.m.write(64, self.base + 0x28, 1 << 63 | 1 << 61)
        self.m.write(64, self.base + self.iotlb, 1 << 63 | 1 << 60)


class VtdFirst(VtdSecond):
    args = ['-machine', 'q35', '-device', 'intel-iommu,scalable-mode=on,fsts=on,aw-bits=48',
            '-device', f'iommu-testdev,addr={SLOT}']
    directory, pasids, queue = 0x102000, 0x103000, 0x104000
    mode = 1
    tail = 0

    def entries(self, root, levels, domain):
        m = self.m
        m.write(64, self.table, self.context | 1)
        entry = self.context + DEVFN * 32
        m.write(64, entry, self.directory | 1)
        m.write(64, self.directory, self.pasids | 1)
        # First stage alone, of 4 levels
        m.write(64, self.pasids + 8, domain)
        m.write(64, self.pasids + 16, root | (levels - 4) << 2)
        # AW is the second stage's, but this QEMU asks it what is canonical
        m.write(64, self.pasids, 1 | (levels - 2) << 2 | 1 << 6)

    def invalidate(self, words):
        for i, word in enumerate(words):
            self.m.write(64, self.queue + self.tail + 8 * i, word)
        self.tail = (self.tail + 32) % 4096
        self.m.write(64, self.base + 0x88, self.tail)

    def use(self, root, levels, domain):
        self.entries(root, levels, domain)
        if domain == 1:
            self.m.write(64, self.base + 0x20, self.table | self.mode << 10)
            self.m.write(32, self.base + 0x18, 1 << 30)
            # A queue of descriptors of 256 bits
            self.m.write(64, self.base + 0x90, self.queue | 1 << 11)
            self.m.write(32, self.base + 0x18, 1 << 26)
            self.m.write(32, self.base + 0x18, 1 << 31 | 1 << 26)
        # Context cache, PASID cache, IOTLB: each of everything
        self.invalidate([1 | 1 << 4, 0, 0, 0])
        self.invalidate([7 | 3 << 4, 0, 0, 0])
        self.invalidate([2 | 1 << 4, 0, 0, 0])


class Riscv:
    arch = 'riscv64'
    # Without its IOATC: QEMU 11.1 keeps 44 bits of an IOVA's page number there, so
    # that addresses of Sv57 which differ in bits 56 and above are one
    args = ['-machine', 'virt,iommu-sys=on', '-global', 'riscv-iommu.ioatc-limit=0',
            '-device', f'iommu-testdev,addr={SLOT}']
    base, directory, ring = 0x3010000, 0x80100000, 0x80200000
    tail = 0

    def __init__(self, m):
        self.m = m
        self.bar = 0x40000000
        m.write(32, 0x30000000 + (SLOT << 15) + 0x10, self.bar)
        m.write(32, 0x30000000 + (SLOT << 15) + 4, 6)

    def command(self, low, high):
        self.m.write(64, self.ring + self.tail * 16, low)
        self.m.write(64, self.ring + self.tail * 16 + 8, high)
        self.tail = (self.tail + 1) % 256
        self.m.write(32, self.base + 0x24, self.tail)

    def use(self, root, levels, domain):
        m, entry = self.m, self.directory + DEVFN * 64
        # tc.V; ta.PSCID; fsc, where Sv39 is 8
        m.write(64, entry + 8, 0)
        m.write(64, entry + 16, domain << 12)
        m.write(64, entry + 24, (levels + 5) << 60 | root >> 12)
        m.write(64, entry, 1)
        if domain == 1:
            # cqb of 256 commands, cqcsr.cqen, then ddtp of one level
            m.write(64, self.base + 0x18, self.ring >> 12 << 10 | 7)
            m.write(32, self.base + 0x48, 1)
            m.write(64, self.base + 0x10, 2 | self.directory >> 12 << 10)
        # IODIR.INVAL_DDT, IOTINVAL.VMA, each of everything
        self.command(3, 0)
        self.command(1, 0)


KINDS = collections.OrderedDict([
    ('amdv1', Amd), ('amdv1-3', Amd), ('vtdss-3', VtdSecond), ('vtdss-4', VtdSecond),
    ('x86_64-4', VtdFirst), ('riscv_64-sv39', Riscv), ('riscv_64-sv48', Riscv),
    ('riscv_64-sv57', Riscv)])


def probe(bar, iova, pa):
    """Commands of one DMA; the last but one answers what came of it"""
    commands = []
    if pa is not None:
        # So that what an earlier DMA left is not taken for this one's
        commands.append(f'memset {pa:#x} {BYTES} 0xa5')
    target = pa or 0
    return commands + [
        f'writel {bar + GVA:#x} {iova & 0xffffffff:#x}', f'writel {bar + GVA + 4:#x} {iova >> 32:#x}',
        f'writel {bar + GPA:#x} {target & 0xffffffff:#x}', f'writel {bar + GPA + 4:#x} {target >> 32:#x}',
        f'writel {bar + LENGTH:#x} {BYTES}', f'writel {bar + DOORBELL:#x} 1',
        f'readl {bar + TRIGGER:#x}', f'readl {bar + RESULT:#x}']


def run_set(machine, iommu, lines, domain):
    """Returns how many DMAs were right, and those that were not"""
    commands, wanted = [], []
    for line in lines:
        word = line.split()
        if word[0] == 'table':
            machine.many([f'write {word[1]} 4096 0x{word[2]}'])
        elif word[0] == 'root':
            root, levels = int(word[1], 0), int(word[2])
        else:
            pa = int(word[2], 0) if word[0] == 'dma' else None
            commands += probe(iommu.bar, int(word[1], 0), pa)
            wanted.append((len(commands) - 1, line, pa is not None))
    iommu.use(root, levels, domain)
    answers = []
    for i in range(0, len(commands), 400):
        answers += machine.many(commands[i:i + 400])
    bad = [(line, int(answers[i][0], 16)) for i, line, good in wanted
           if int(answers[i][0], 16) != (0 if good else FAULT)]
    return wanted, bad


def run_kind(kind, sets, seed):
    iommu_class = KINDS[kind]
    machine = Machine(iommu_class.arch, iommu_class.args)
    try:
        return run_sets(kind, machine, iommu_class(machine), sets, seed)
    finally:
        machine.end()


def run_sets(kind, machine, iommu, sets, seed):
    dmas = faults = tables = 0
    begin = time.time()
    bad = []
    for i in range(sets):
        text = subprocess.run([os.path.join(OUT, 'dump'), '-f', kind, '-s', str(seed + i)],
                              capture_output=True, text=True, check=True).stdout
        lines = text.splitlines()
        wanted, wrong = run_set(machine, iommu, lines, i + 1)
        dmas += sum(1 for w in wanted if w[2])
        faults += sum(1 for w in wanted if not w[2])
        tables += sum(1 for t in lines if t.startswith('table'))
        bad += [(seed + i, *w) for w in wrong]
    good = not bad and dmas > 10 * sets and faults > 10 * sets
    print(f'{"ok" if good else "not ok"} - QEMU walks: {kind}')
    print(f'#   {sets} sets from seed {seed}: {tables} tables, {dmas} DMAs that arrive, {faults} that fault,'
          f' {time.time() - begin:.1f} s')
    for s, line, result in bad[:10]:
        print(f'# seed {s}: {line}: {result:#x}')
    sys.stdout.flush()
    return good


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('-n', type=int, default=20)
    parser.add_argument('-s', type=int, default=int(time.time()))
    parser.add_argument('kinds', nargs='*')
    args = parser.parse_args()
    return 0 if all([run_kind(k, args.n, args.s) for k in args.kinds or KINDS]) else 1


sys.exit(main())
