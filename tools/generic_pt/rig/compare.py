# SPDX-License-Identifier: GPL-2.0
"""Compares kernels: what one page in each 2 MiB takes, leaves and costs.

Each kernel boots several times and they take turns; a time is the least of all
rounds. Under TCG times are relative only, so the same is also done on one CPU
whose clock counts instructions: that figure repeats. Last, QEMU counts the
invalidations.
"""

import argparse
import collections
import os
import sys

import amd
import vfio
from machine import MachineError, Qemu

RUNS = [(way, shape) for way in ("iommufd", "type1") for shape in ("all", "cycle")]
COUNTED_GIB = 8         # instructions
TRACED_GIB = 1          # invalidations
MEMORY_MIB = 2048       # as much as the rig can look at


def boot(rig, name, kernel, gib, runs, **more):
    """{(way, shape): line} of one boot"""
    rig.kernel = kernel
    result = vfio.sparse(rig, f"compare-{name}", [(*run, gib) for run in runs],
                         memory_mib=MEMORY_MIB, timeout=3600, silence=600, **more)
    if result.problems:
        raise MachineError(f"{name}: {result.problems[0]}, logs in {result.directory}")
    return result, {(line["way"], line["shape"]): line for line in result.all("spent")}


def costs(line):
    """Nanoseconds or instructions a page: map, unmap, both, with the end of the
    domain; a cycle is only both"""
    pages = int(line["pages"])
    map_cost, unmap_cost, end = (int(line[part]) / pages for part in ("map", "unmap", "close"))
    both = map_cost + unmap_cost
    if line["shape"] == "cycle":
        return [None, None, both, both + end]
    return [map_cost, unmap_cost, both, both + end]


def least(rows):
    return [None if None in column else min(column) for column in zip(*rows)]


def invalidations(rig, name, kernel, run):
    """How many a page, each followed by a wait"""
    result, lines = boot(rig, name, kernel, TRACED_GIB, [run], trace=amd.COUNTED)
    count = collections.Counter(amd.line_event(line) for line in result.trace())
    return count["amdvi_pages_inval"] / int(lines[run]["pages"])


def measure(rig, kernels, gib, rounds):
    """{name: {run: {what: figures}}}"""
    found = {name: {run: {"time": [], "left": [], "most": []} for run in RUNS} for name in kernels}
    for number in range(rounds):
        for name, kernel in kernels.items():
            rig.progress(f"round {number + 1}: {name}")
            _, lines = boot(rig, name, kernel, gib, RUNS)
            for run, line in lines.items():
                found[name][run]["time"].append(costs(line))
                found[name][run]["left"].append(vfio.kib(line, "after"))
                found[name][run]["most"].append(vfio.kib(line, "peak"))
    for name, kernel in kernels.items():
        rig.progress(f"instructions and invalidations: {name}")
        _, lines = boot(rig, name, kernel, COUNTED_GIB, RUNS, counting=True, cpus=1)
        for run in RUNS:
            found[name][run]["instructions"] = costs(lines[run])
            found[name][run]["invalidations"] = invalidations(rig, name, kernel, run)
    return found


def cell(value, digits=0):
    return "-" if value is None else f"{value:.{digits}f}"


def ratio(value, other):
    return "-" if not value or not other else f"{value / other:.2f}"


def with_ratios(values, others):
    """Cells of costs, and after the last two of them how they compare"""
    cells = [cell(value) for value in values[:2]]
    for value, other in zip(values[2:], others[2:]):
        cells += [cell(value), ratio(value, other)]
    return cells


def print_table(found, base):
    head = ["way", "shape", "kernel", "KiB left", "KiB most",
            "ns: map", "unmap", "both", "ratio", "to end", "ratio",
            "insns: map", "unmap", "both", "ratio", "to end", "ratio", "invalidations"]
    lines = [head]
    for run in RUNS:
        reference = found[base][run]
        for name, runs in found.items():
            figures = runs[run]
            time, insns = least(figures["time"]), figures["instructions"]
            lines.append([
                *run, name, str(max(figures["left"])), str(max(figures["most"])),
                *with_ratios(time, least(reference["time"])),
                *with_ratios(insns, reference["instructions"]), cell(figures["invalidations"], 2)])
    width = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        print("  ".join(text.ljust(w) if i < 3 else text.rjust(w)
                        for i, (text, w) in enumerate(zip(line, width))).rstrip())


def main():
    parser = argparse.ArgumentParser(prog="compare", description=__doc__)
    parser.add_argument("--out", required=True, help="directory for logs")
    parser.add_argument("--programs", required=True, help="directory with programs of guest/")
    parser.add_argument("--gib", type=int, default=64, help="span of IOVA")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--to", required=True, help="name of the kernel that ratios are to")
    parser.add_argument("kernel", nargs="+", help="NAME=BZIMAGE")
    options = parser.parse_args()
    kernels = dict(kernel.split("=", 1) for kernel in options.kernel)
    os.makedirs(options.out, exist_ok=True)
    try:
        rig = amd.Rig(Qemu(), "", "", options.out, programs=options.programs,
                      progress=lambda text: print(f"    {text}", file=sys.stderr, flush=True))
        found = measure(rig, kernels, options.gib, options.rounds)
    except MachineError as error:
        print(f"rig: {error}", file=sys.stderr)
        return 1
    print_table(found, options.to)
    print(f"QEMU {rig.qemu.version_text} ({rig.qemu.accel}), {MEMORY_MIB} MiB, {options.gib} GiB of "
          f"IOVA, one 4 KiB page in each 2 MiB; times: 2 CPUs, least of {options.rounds} rounds; "
          f"instructions: 1 CPU, {COUNTED_GIB} GiB; both of one page; to end: with that of the "
          f"domain; ratio: to {options.to}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
