# SPDX-License-Identifier: GPL-2.0
"""The kernel's own selftests of iommufd, whose mock driver uses the library.

No device and no IOMMU is emulated: the guest runs the programs, and each of
their tests is one check here.
"""

import os
import re

import initramfs
from amd import Check
from machine import Setup, boot

PROGRAMS = ("iommufd", "iommufd_fail_nth")

# Tests that may be skipped, and why. Any other skip is a failure.
SKIPS = {}

HUGE_PAGES = 80         # of 2 MiB; the largest buffer of a test has 64
RESULT = re.compile(r"(not )?ok \d+ (\S+)(?: # SKIP (.*))?")


def check_program(result, program):
    """A check for each test of a program, and one that all of them ran."""
    lines = [line["text"] for line in result.all("tap") if line["program"] == program]
    checks, notes, planned, skipped = [], [], None, []
    for text in lines:
        match = RESULT.match(text)
        if match:
            bad, name, why = match.groups()
            unexpected = why is not None and name not in SKIPS
            if why is not None:
                skipped.append(name)
            detail = "; ".join(notes) or text
            checks.append(Check(f"{program}: {name}", not bad and not unexpected,
                                f"skipped: {why}" if unexpected else detail, minor=True))
            notes = []
        elif text.startswith("1.."):
            planned = int(text[3:])
        elif text.startswith("#  RUN"):
            notes = []
        else:
            notes.append(text.lstrip("# "))
    wrong = []
    if not planned or planned != len(checks):
        wrong.append(f"{len(checks)} tests of {planned or 'none'} planned gave a result")
    code = lines[-1] if lines else "it was not run"
    if code != "exit code 0":
        wrong.append(code)
    checks.append(Check(f"{program}: {len(checks)} tests ran to the end, {len(skipped)} skipped",
                        not wrong, "; ".join(wrong)))
    return checks


def check_memory(result):
    counts = {line["when"]: (line["tables"], line["huge"]) for line in result.all("memory")}
    wrong = []
    before = counts.get("before")
    for program in PROGRAMS:
        after = counts.get(program)
        if not after or after != before:
            wrong.append(f"{program}: (tables, free huge pages) were {before}, are {after}")
    if before != ("0", str(HUGE_PAGES)):
        wrong.append(f"{before} before the first test, expected (0, {HUGE_PAGES})")
    leaks = result.all("leaks")
    if not leaks or leaks[-1]["number"] != "0":
        wrong.append(f"kmemleak found {leaks[-1]['number'] if leaks else 'nothing out'}: " +
                     " | ".join(line["text"].strip() for line in result.all("leak")[:25]))
    return Check("all tables and huge pages are free again", not wrong, "; ".join(wrong))


def selftests(rig, name="iommufd", cmdline="", **more):
    """Boot once and run all programs."""
    directory = os.path.join(rig.out, name)
    os.makedirs(directory, exist_ok=True)
    initrd = os.path.join(directory, "initramfs.gz")
    initramfs.build(initrd, [(f"rig/{name}", os.path.join(rig.selftests, name))
                             for name in PROGRAMS])
    result = boot(rig.qemu, Setup(
        name=name, script="iommufd", kernel=rig.kernel, initrd=initrd, directory=directory,
        cmdline=f"hugepages={HUGE_PAGES} kmemleak=on {cmdline}", **more), rig.progress)
    problems = "; ".join(str(problem) for problem in result.problems[:5])
    checks = [Check("guest runs to its end without warning or hang", not result.problems,
                    problems)]
    for program in PROGRAMS:
        checks += check_program(result, program)
    checks.append(check_memory(result))
    return result, checks


SCENARIOS = {"iommufd": selftests}
