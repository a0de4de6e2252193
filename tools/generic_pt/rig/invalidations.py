# SPDX-License-Identifier: GPL-2.0
"""Counts the invalidations of reads of a disk, which are what they cost in a guest.

Counts are exact, as QEMU's trace has them. They are left in the boot's directory
for the benchmark too.
"""

import os

import amd
import amdvi
from amd import Check
from machine import boot

READS = 512
READ_BYTES = 128 << 10

# What 6.12 needs with an IOMMU that caches non-present entries: one for map, one
# for unmap, and a wait for each
COMMANDS = 2 * READS
SLACK = 8                       # the admin queue may have something to do meanwhile

def reads(rig):
    disks = amd.make_disks(rig, 2 * READS * READ_BYTES)
    marks, last = {}, []

    def begin(guest):
        marks["begin"] = len(guest.result.trace())

    def end(guest):
        marks["end"] = len(guest.result.trace())
        last.extend(amdvi.Iommu(guest.memory).invalidations())

    result = boot(rig.qemu, amd.setup(
        rig, "amd-invalidations", "reads", disks, cmdline="iommu.strict=1",
        parameters={"count": READS, "size": READ_BYTES},
        checkpoints={"begin": begin, "end": end}), rig.progress)
    trace = result.trace()[marks.get("begin", 0):marks.get("end", 0)]
    waits = sum(amd.line_event(line) == "amdvi_completion_wait" for line in trace)
    commands = sum(amd.line_event(line) == "amdvi_pages_inval" for line in trace)
    checks = amd.check_health(result)
    wrong = []
    if not READS <= commands <= COMMANDS + SLACK:
        wrong.append(f"expected {READS} to {COMMANDS}")
    if waits > COMMANDS + SLACK:
        wrong.append(f"more waits than {COMMANDS}")
    checks.append(Check(f"{READS} direct reads of {READ_BYTES >> 10} KiB: {commands} "
                        f"invalidations, {waits} waits", not wrong, "; ".join(wrong)))
    wide = [command for command in last if command.size > READ_BYTES]
    checks.append(Check(f"the last {len(last)} are not wider than what was mapped",
                        bool(last) and not wide, f"{len(wide)} are, first {wide[:3]}"))
    # Entries that were cached as not present may be of tables that a map installs
    caches = [command for command in last if command.tables]
    checks.append(Check(f"unmaps leave walk caches alone, {len(caches)} maps do not",
                        len(caches) <= len(last) // 2, f"first {caches[:3]}"))
    with open(os.path.join(result.directory, "counts"), "w", encoding="utf-8") as file:
        for what, count in (("invalidations", commands), ("waits for them", waits)):
            file.write(f"ptbench: count|P17|{what} of {READS} NVMe reads, QEMU|ours amdv1|"
                       f"commands|{count}\n")
    return result, checks


SCENARIOS = {"amd-invalidations": reads}
