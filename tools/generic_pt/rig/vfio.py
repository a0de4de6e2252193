# SPDX-License-Identifier: GPL-2.0
"""A device behind the AMD IOMMU whose IOVAs are mapped by a program in the guest.

The first boots are about the life of tables, which nothing else fills and empties
so sparsely; the last one has a witness outside that sees each leaf.
"""

import os

import amd
import initramfs
import vfiouser
from amd import Check
from machine import MIB, Setup, boot

SLOT = 0x15
BDF = f"0000:00:{SLOT:02x}.0"
PROGRAMS = ("tables", "leaves")

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


# ----------------------------------------------------------------- a witness

def check_phase(line, phases):
    """One phase of the guest's: each leaf came once, went once, and nothing stayed"""
    phase = phases.get(int(line["number"]), vfiouser.Phase())
    want = int(line["leaves"])
    wrong = []
    if dict(phase.maps) != {4096: want}:
        wrong.append(f"maps of (bytes: number) {dict(phase.maps)}")
    if phase.unmapped != want:
        wrong.append(f"{phase.unmapped} unmapped")
    if phase.left:
        wrong.append(f"{phase.left} left")
    return Check(f"{line['way']}, {line['name']}: {want} leaves of 4 KiB came and went, "
                 f"in {phase.unmaps} unmaps", not wrong,
                 f"{want} expected: {', '.join(wrong)}")


def witness(rig):
    """A device that sees what a host's VFIO would see of a passed-through one."""
    if "dma-remap" not in rig.qemu.properties("amd-iommu") or \
            not rig.qemu.has("vfio-user-pci"):
        return rig.skip("amd-vfio-user", f"QEMU {rig.qemu.version_text} has no vfio-user-pci that "
                        "amd-iommu translates: QEMU_VERSION=11.1 has")
    with vfiouser.Device() as device:
        result = guest(rig, "amd-vfio-user", "leaves", device.argument(SLOT), {},
                       cmdline="iommu.strict=1",
                       checkpoints={"released": lambda guest: guest.result.facts.update(
                           {"left": len(device.mappings)})})
    checks = amd.check_health(result)
    lines = result.all("phase")
    checks.append(Check("6 phases ran", len(lines) == 6, f"only {len(lines)}", minor=True))
    checks += [check_phase(line, device.phases) for line in lines]
    maps = sum(sum(phase.maps.values()) for phase in device.phases.values())
    unmapped = sum(phase.unmapped for phase in device.phases.values())
    checks.append(Check(f"the witness saw {maps} maps, none over another, and no unmap in part",
                        maps and not device.trouble, "; ".join(device.trouble[:5]) or "none"))
    left = result.facts.get("left")
    checks.append(Check("nothing is mapped any more once the device is given back",
                        left == 0 and unmapped == maps - device.phase.left,
                        f"{left} then; {unmapped} of {maps} unmapped, {device.phase.left} at the end"))
    return result, checks


SCENARIOS = {"amd-tables": tables, "amd-vfio-user": witness}
