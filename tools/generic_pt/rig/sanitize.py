# SPDX-License-Identifier: GPL-2.0
"""Boots of a kernel with KCSAN, lockdep, kmemleak and failing allocations.

It runs the KUnit suites of all formats, the kernel's selftests of iommufd, and
DMA of all devices while allocations of tables fail.
"""

import os
import re

import amd
import iommufd
from amd import Check
from machine import MIB, Setup, boot

FORMATS = ("amdv1", "amdv1_mock", "riscv_64", "vtdss", "x86_64")
CASE = re.compile(r" {4}(not )?ok \d+ (\S+)(?: # SKIP (.*))?")

# Functions of the library, of the drivers on it, and of the suites
OURS = re.compile(r"\b_*(pt_|ptf_|iommu_|iommufd_|amd_iommu|amd_viommu|protection_domain|test_\w*pt)")
RACE = "BUG: KCSAN: "
# A watchpoint more often than each 4000 accesses, for each of which a CPU waits
WATCHFUL = "kcsan.skip_watch=1000"
NO_SUITES = "kunit.enable=0"
RULER = "=" * 66


def race_reports(console):
    """What KCSAN reported, each a list of lines."""
    reports, report = [], None
    for line in console:
        if RACE in line:
            report = [line]
            reports.append(report)
        elif report is not None:
            if RULER in line:
                report = None
            else:
                report.append(line)
    return reports


def check_races(result):
    """Takes races elsewhere in the kernel off the problems, and judges ours."""
    reports = race_reports(result.console)
    ours = [report for report in reports if any(OURS.search(line) for line in report)]
    result.problems = [problem for problem in result.problems if RACE not in problem.text]
    armed = any("kcsan: selftest:" in line and "passed" in line for line in result.console)
    detail = "; ".join(" | ".join(line.split("] ")[-1].strip() for line in report[:30])
                       for report in ours[:3])
    if not armed:
        detail = "KCSAN did not pass its own test at boot"
    return Check(f"KCSAN: no race of ours ({len(reports) - len(ours)} elsewhere)",
                 armed and not ours, detail)


def check_leaks(result):
    """Objects that kmemleak found and that a function of ours allocated."""
    objects = []
    for line in result.all("leak"):
        if line["text"].startswith("unreferenced object"):
            objects.append("")
        if objects:
            objects[-1] += line["text"].strip() + " | "
    ours = [text for text in objects if OURS.search(text)]
    return Check(f"kmemleak: nothing of ours ({len(objects) - len(ours)} elsewhere)",
                 bool(result.all("leaks")) and not ours, "; ".join(ours[:3]) or "kmemleak was not asked")


def check_suites(result):
    """A check for each case, and one that each format's suites ran."""
    checks, notes, suites, skipped = [], [], set(), 0
    for line in result.all("tap"):
        suite, text = line["program"], line["text"]
        match = CASE.match(text)
        if not match:
            if text.lstrip().startswith("#"):
                notes.append(text.strip(" #"))
            continue
        bad, name, why = match.groups()
        suites.add(suite)
        skipped += why is not None
        checks.append(Check(f"{suite}: {name}", not bad, "; ".join(notes[-5:]), minor=True))
        notes = []
    missing = [name for name in FORMATS
               if not any(re.fullmatch(rf"{name}_[a-z]+", suite) for suite in suites)]
    summary = f"KUnit: {len(suites)} suites, {len(checks)} cases ran, {skipped} skipped"
    return checks + [Check(summary, not missing, f"no suite of {' '.join(missing)}")]


def suites(rig):
    """KUnit runs before the first process of the guest does. All suites take hours
    here; SUITES='*_stress' (a glob) leaves out those with one thread."""
    name = "sanitize-kunit"
    ops = " ".join(f"iommu_{name}.kunit_ops={os.environ.get('KUNIT_OPS', '100')}"
                   for name in FORMATS)
    ops += f" kunit.filter_glob={os.environ.get('SUITES', '*')}"
    result = boot(rig.qemu, Setup(
        name=name, script="kunit", kernel=rig.kernel, initrd=rig.initrd,
        directory=os.path.join(rig.out, name), cmdline=f"kmemleak=on {ops} {WATCHFUL}",
        timeout=7200, silence=900), rig.progress)
    checks = [check_races(result)]
    checks += [health(result), *check_suites(result), check_leaks(result)]
    return result, checks


def health(result):
    return Check("guest runs to its end without warning or hang", not result.problems,
                 "; ".join(str(problem) for problem in result.problems[:5]))


def selftests(rig):
    result, checks = iommufd.selftests(rig, "sanitize-iommufd", NO_SUITES, timeout=3600, silence=600)
    races = check_races(result)
    return result, [races, health(result), *checks[1:]]


def dma(rig):
    """Traffic while every third allocation of a table fails."""
    result, checks = amd.dma(rig, "sanitize-dma", f"iommu.strict=1 kmemleak=on {NO_SUITES}",
                             amd.SMALL, MIB, parameters={"fail_tables": 33},
                             timeout=1800, silence=300)
    races = check_races(result)
    failed = sum(int(line["number"]) for line in result.all("failed"))
    enough = Check(f"allocations of tables failed: {failed}", failed > 0, "none did")
    return result, [races, *amd.check_health(result), *checks[2:], enough,
                    check_leaks(result)]


SCENARIOS = {"sanitize-kunit": suites, "sanitize-iommufd": selftests, "sanitize-dma": dma}
