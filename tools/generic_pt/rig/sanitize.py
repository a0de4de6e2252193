# SPDX-License-Identifier: GPL-2.0
"""Boots of a kernel with KCSAN, lockdep, kmemleak and failing allocations.

It runs the KUnit suites of all formats, once more those with threads, the kernel's
selftests of iommufd, and DMA of all devices while allocations of tables fail.
"""

import os
import re
from fnmatch import fnmatchcase

import amd
import iommufd
from amd import Check
from machine import MIB, Setup, boot

FORMATS = ("amdv1", "amdv1_mock", "riscv_64", "vtdss", "x86_64")
SUITES_HEADER = os.path.join(os.path.dirname(__file__), "../../..",
                             "drivers/iommu/generic_pt/kunit_suites.h")
CASE = re.compile(r" {4}(not )?ok \d+ (\S+)(?: # SKIP ?(.*))?")
CASES_PLANNED = re.compile(r" {4}1\.\.(\d+)")
SUITES_PLANNED = re.compile(r"\] 1\.\.(\d+)$")

# Functions of the library, of the drivers on it, and of the suites
OURS = re.compile(r"\b_*(pt_|ptf_|iommu_|iommufd_|amd_iommu|amd_viommu|protection_domain|test_\w*pt)")
RACE = "BUG: KCSAN: "
# Where an interrupt came: below it in a stack is who happened to run
ENTRY = re.compile(r"\basm_(sysvec|common|exc)_")
# A CPU waits at each watchpoint, here after up to so many accesses (4000 by default)
WATCHFUL = "kcsan.skip_watch=1000"
# For what has one thread, which nothing but the kernel's own threads can race with
EASY = "kcsan.skip_watch=20000"
# Suites whose cases start threads
THREADS = "*_stress"
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


def is_ours(report):
    """Whether a function of ours is in one of the stacks, above an interrupt's entry."""
    interrupted = False
    for line in report:
        text = line.partition("]")[2].strip()
        if not text:            # the next stack
            interrupted = False
        elif not interrupted and OURS.search(text):
            return True
        interrupted |= bool(ENTRY.search(text))
    return False


def check_races(result):
    """Takes races elsewhere in the kernel off the problems, and judges ours."""
    reports = race_reports(result.console)
    ours = [report for report in reports if is_ours(report)]
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


def expected_suites(glob):
    """The suites that each format registers, as far as a filter lets them run."""
    with open(SUITES_HEADER, encoding="utf-8") as header:
        kinds = re.findall(r"&kt_(\w+)_suite", header.read())
    names = [f"{name}_{kind}" for name in FORMATS for kind in kinds]
    return [name for name in names if fnmatchcase(name, glob)]


def check_suites(result, glob):
    """A check for each case, and one that all suites of all formats ran all their cases."""
    checks, notes, planned, given, skipped, ran = [], [], {}, {}, [], set()
    for line in result.all("tap"):
        suite, text = line["program"], line["text"]
        match = CASE.match(text)
        if not match:
            plan = CASES_PLANNED.match(text)
            if plan:
                planned[suite] = int(plan.group(1))
            elif text.lstrip().startswith("#"):
                notes.append(text.strip(" #"))
            continue
        bad, name, why = match.groups()
        given[suite] = given.get(suite, 0) + 1
        if why is None:
            ran.add(name)
        else:
            skipped.append(name)
        checks.append(Check(f"{suite}: {name}", not bad, "; ".join(notes[-5:]), minor=True,
                            skip="" if bad or why is None else why or "by the suite"))
        notes = []
    expected = expected_suites(glob)
    wrong = [f"no {suite}" for suite in expected if not given.get(suite)]
    wrong += [f"{suite}: {given.get(suite, 0)} of {planned.get(suite, 0)} cases gave a result"
              for suite in sorted({*given, *planned}) if given.get(suite) != planned.get(suite)]
    started = [int(match.group(1)) for match in map(SUITES_PLANNED.search, result.console) if match]
    if started != [len(given)]:
        wrong.append(f"{len(given)} suites gave results, the kernel meant to run {started}")
    if glob == "*":
        wrong += [f"{name}: skipped for all formats" for name in sorted({*skipped} - ran)]
    if not expected:
        wrong.append(f"no suite has a name like {glob}")
    return checks + [Check(f"KUnit: {len(given)} suites, {len(checks)} cases, {len(skipped)} of them skipped",
                           not wrong, "; ".join(wrong[:5]))]


def kunit(rig, name, glob, cmdline, **setup):
    """KUnit runs before the first process of the guest does."""
    ops = " ".join(f"iommu_{name}.kunit_ops={os.environ.get('KUNIT_OPS', '100')}"
                   for name in FORMATS)
    result = boot(rig.qemu, Setup(
        name=name, script="kunit", kernel=rig.kernel, initrd=rig.initrd,
        directory=os.path.join(rig.out, name),
        # Under KCSAN a case may take longer than the 20 s of a soft lockup
        cmdline=f"watchdog_thresh=60 {ops} kunit.filter_glob={glob} {cmdline}", **setup),
        rig.progress)
    races = check_races(result)
    return result, [races, health(result), *check_suites(result, glob), check_tables(result)]


def suites(rig):
    """All suites; SUITES=GLOB for some. Without kmemleak, which knows nothing of pages,
    and tables are pages: these are counted. The suites' own lists of what is mapped
    would take three times as long with it."""
    return kunit(rig, "sanitize-kunit", os.environ.get("SUITES", "*"), EASY,
                 timeout=3600, silence=300)


def threads(rig):
    """Those with threads. With more CPUs than the host has, one that waits at a
    watchpoint does so while others go on for long."""
    turns = " ".join(f"iommu_{name}.kunit_turns=10000" for name in FORMATS)
    result, checks = kunit(rig, "sanitize-threads", THREADS, f"kmemleak=on {turns} {WATCHFUL}",
                           cpus=6, timeout=3600, silence=300)
    return result, [*checks, check_leaks(result)]


def check_tables(result):
    """No IOMMU is emulated: all that counts as its memory was of the suites."""
    pages = [line["tables"] for line in result.all("memory")]
    return Check("all tables are free again", pages == ["0"],
                 f"{pages[0]} pages are not" if pages else "the guest did not count them")


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


SCENARIOS = {"sanitize-kunit": suites, "sanitize-threads": threads,
             "sanitize-iommufd": selftests, "sanitize-dma": dma}
