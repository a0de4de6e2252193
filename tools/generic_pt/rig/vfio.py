# SPDX-License-Identifier: GPL-2.0
"""A device behind the AMD IOMMU whose IOVAs are mapped by a program in the guest.

The boots are about the life of tables, which nothing else fills and empties so
sparsely.
"""

import os

import amd
import initramfs
from amd import Check
from machine import MIB, Setup, boot

SLOT = 0x15
BDF = f"0000:00:{SLOT:02x}.0"
PROGRAMS = ("tables",)

LEFT_KIB = 16           # at most, whatever the span
CMDLINE = ("iommu.passthrough=0 amd_iommu=pgtbl_v1 vfio_iommu_type1.allow_unsafe_interrupts=1 "
           "iommufd.allow_unsafe_interrupts=1 vfio_iommu_type1.dma_entry_limit=4294967295")


def guest(rig, name, script, device, parameters, **more):
    """Boot with one device for userspace"""
    directory = os.path.join(rig.out, name)
    os.makedirs(directory, exist_ok=True)
    initrd = os.path.join(directory, "initramfs.gz")
    initramfs.build(initrd, [(f"rig/{program}", os.path.join(rig.programs, program))
                             for program in PROGRAMS])
    more["cmdline"] = f"{CMDLINE} {more.get('cmdline', '')}"
    return boot(rig.qemu, Setup(
        name=name, script=script, kernel=rig.kernel, initrd=initrd, directory=directory,
        devices=["-device", amd.iommu_device(rig.qemu), "-device", device],
        parameters={"bdf": BDF, **parameters}, **more), rig.progress)


# --------------------------------------------------------------- tables left

def sparse(rig, name, runs, **more):
    """Boot and cycle one page in each 2 MiB. runs: (way, shape, GiB) of each."""
    return guest(rig, name, "tables", f"edu,addr={SLOT:#x},dma_mask=0xffffffffffffffff",
                 {"runs": ",".join(":".join(map(str, run)) for run in runs)}, **more)


def kib(line, when):
    """KiB of tables beyond the top, which an address space always has. Not beyond those
    "before": type1 maps something in each new address space to see how that is done."""
    return (int(line[when]) - int(line["closed"]) - 1) * 4


def check_left(line):
    left = kib(line, "after")
    return Check(f"{line['way']}, {line['shape']}, {line['pages']} pages over {line['gib']} GiB: "
                 f"{left} KiB of tables left, {kib(line, 'peak')} KiB at most",
                 left <= LEFT_KIB, f"at most {LEFT_KIB} KiB may stay: {line.values}")


def check_grown(line):
    """That the page in each table did take tables"""
    want = int(line["pages"]) * 4
    return Check(f"{line['way']}, all: the pages took a table each",
                 kib(line, "peak") >= want, f"{kib(line, 'peak')} of {want} KiB", minor=True)


def tables(rig):
    # iommufd needs twice the time for a page
    runs = [(way, shape, gib) for way, gib in (("iommufd", 8), ("type1", 64))
            for shape in ("all", "cycle")]
    result = sparse(rig, "amd-tables", runs)
    checks = amd.check_health(result)
    lines = result.all("spent")
    checks.append(Check(f"{len(runs)} runs gave a result", len(lines) == len(runs),
                        f"only {len(lines)}", minor=True))
    checks += [check_left(line) for line in lines]
    checks += [check_grown(line) for line in lines if line["shape"] == "all"]
    return result, checks


SCENARIOS = {"amd-tables": tables}
