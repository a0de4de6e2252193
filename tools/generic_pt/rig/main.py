# SPDX-License-Identifier: GPL-2.0
"""Runs scenarios and prints what came of them, for a person or as TAP."""

import argparse
import os
import signal
import sys
import time
import traceback

import amd
import initramfs
import invalidations
import iommufd
import sanitize
import vfio
from image import ImageError
from machine import MIB, MachineError, Qemu, Result

# What each kernel is for
TESTED = {**amd.SCENARIOS, **invalidations.SCENARIOS, **vfio.SCENARIOS, **iommufd.SCENARIOS}
SCENARIOS = {**TESTED, **sanitize.SCENARIOS}


def progress(text):
    print(f"    {text}", file=sys.stderr, flush=True)


def describe(result):
    """Facts of a boot with traffic, line by line."""
    yield f"the guest chose: {amd.guest_choices(result)}"
    devices = {line["bdf"]: line for line in result.all("device")}
    moved = {(line["device"], line["what"]): int(line["bytes"]) for line in result.all("moved")}
    for bdf, name in amd.NAMES.items():
        line = devices.get(bdf)
        if not line:
            yield f"{name:<11} {bdf} not found by the guest"
            continue
        text = f"{name:<11} {bdf} group {line['group']:>2} {line['type']:<6}"
        fact = result.facts.get(name)
        if fact:
            entry, tree = fact["entry"], fact["tree"]
            text += (f" mode {entry.mode}, {len(tree.tables)} tables, "
                     f"{len(tree.leaves)} leaves at rest")
        sizes = result.facts.get("sizes", {}).get(name)
        if sizes:
            text += ", sizes seen " + " ".join(size_text(size) for size in sorted(sizes))
        yield text
        bytes_moved = [f"{moved[name, what] / MIB:.1f} MiB {what}"
                       for what in ("written", "read", "sent", "received")
                       if (name, what) in moved]
        if bytes_moved:
            yield f"{'':<11} {', '.join(bytes_moved)}"
    trace = [amd.line_event(line) for line in result.trace()]
    yield (f"invalidations: {trace.count('amdvi_pages_inval')}, "
           f"waits for completion: {trace.count('amdvi_completion_wait')}")


def size_text(size):
    for unit, name in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if size >= unit:
            return f"{size // unit}{name}"
    return str(size)


def report(name, result, checks, tap):
    out = sys.stderr if tap else sys.stdout
    if result.all("moved"):
        for line in describe(result):
            print(f"  {line}", file=out)
    for check in checks:
        if tap:
            print(f"{'ok' if check.good else 'not ok'} - {name}: {check.name}"
                  + (f" # SKIP {check.skip}" if check.skip else ""))
        elif check.skip:
            print(f"  skipped: {check.skip}")
        elif not check.good or not check.minor:
            print(f"  {'ok  ' if check.good else 'FAIL'} {check.name}")
        if not check.good:
            print(f"{'#' if tap else '      '} {check.detail}")
    if not all(check.good for check in checks):
        print(f"  logs: {os.path.relpath(result.directory)}/", file=out)
    if not all(check.skip for check in checks):
        print(f"  {result.seconds:.1f} s", file=out)
    sys.stdout.flush()


def attempt(rig, name):
    """One scenario; trouble of the rig itself is a failed check, not the end."""
    try:
        return SCENARIOS[name](rig)
    except (OSError, ValueError, ImageError, MachineError) as error:
        traceback.print_exc()
        result = Result(name, directory=os.path.join(rig.out, name))
        return result, [amd.Check("the rig itself works", False, f"{error}")]


def run(rig, names, tap):
    out = sys.stderr if tap else sys.stdout
    started = time.monotonic()
    good = bad = 0
    failed = []
    for name in names:
        print(f"{name}:", file=out, flush=True)
        result, checks = attempt(rig, name)
        report(name, result, checks, tap)
        wrong = [check for check in checks if not check.good]
        good += sum(check.good and not check.skip for check in checks)
        bad += len(wrong)
        if wrong:
            failed.append(name)
    print(f"QEMU {rig.qemu.version_text} ({rig.qemu.accel}): {len(names)} boots, {good} checks "
          f"good, {bad} bad, {time.monotonic() - started:.0f} s"
          + (f"; FAILED: {' '.join(failed)}" if failed else ""), file=out, flush=True)
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(prog="rig", description=__doc__)
    parser.add_argument("--kernel", help="bzImage to boot")
    parser.add_argument("--out", help="directory for images and logs")
    parser.add_argument("--check", action="store_true",
                        help="only see that QEMU runs and that the scenarios exist")
    parser.add_argument("--selftests", help="directory with the kernel's selftest programs")
    parser.add_argument("--programs", help="directory with programs of guest/")
    parser.add_argument("--tap", action="store_true", help="TAP on stdout, the rest on stderr")
    parser.add_argument("scenario", nargs="*", help="of " + " ".join(SCENARIOS) +
                        "; default: those that move data, with --tap also the selftests")
    options = parser.parse_args()
    names = options.scenario or list(TESTED if options.tap else amd.SCENARIOS)
    for name in names:
        if name not in SCENARIOS:
            parser.error(f"no scenario '{name}'; there are: {' '.join(SCENARIOS)}")
    if not options.check and not (options.kernel and options.out):
        parser.error("--kernel and --out are needed")
    # So that the guest ends with us, whoever stops us
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    try:
        if options.check:
            Qemu()
            return 0
        os.makedirs(options.out, exist_ok=True)
        initrd = os.path.join(options.out, "initramfs.gz")
        initramfs.build(initrd)
        rig = amd.Rig(Qemu(), options.kernel, initrd, options.out, progress=progress,
                      selftests=options.selftests or "", programs=options.programs or "")
        return run(rig, names, options.tap)
    except (MachineError, ImageError, initramfs.InitramfsError) as error:
        print(f"rig: {error}", file=sys.stderr)
        if options.tap:
            print(f"not ok - rig: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
