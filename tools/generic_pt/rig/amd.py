# SPDX-License-Identifier: GPL-2.0
"""The AMD IOMMU rig: what is booted, and when a boot is good.

Each scenario is a function that boots once and returns a list of Check. Besides
the boots that must pass there are boots with something broken on purpose, which
are good only if the rig reports exactly that.
"""

import os
import re
from dataclasses import dataclass

import amdvi
import image
import klog
from machine import MIB, Result, Setup, boot
from netserver import Server

# Slot of each device on bus 0; "source" holds the image that is copied
SLOTS = {"nvme": 0x10, "source": 0x11, "virtio-blk": 0x12, "virtio-net": 0x13, "e1000e": 0x14}
NAMES = {f"0000:00:{slot:02x}.0": name for name, slot in SLOTS.items()}

# What QEMU itself says when it refuses a DMA. Before 10.2 this is all there is:
# its event log is never written (amdvi_test_mask() is always true). For an empty
# leaf even the trace is silent, but the access to nothing that follows is not.
REFUSALS = ("amdvi_page_fault", "amdvi_get_pte_hwerror", "amdvi_mode_invalid",
            "amdvi_evntlog_fail")
REFUSED = re.compile(rf"({'|'.join(REFUSALS)}) |Invalid (read|write) at addr .* rejected")
COUNTED = ("amdvi_pages_inval", "amdvi_completion_wait")

SMALL = 32 * MIB        # image of the boots that are not about volume
NVME_ASQ = 0x28         # admin submission queue base address, NVMe base spec 3.1.3.9


@dataclass
class Check:
    name: str
    good: bool
    detail: str = ""
    minor: bool = False         # one of many: shown to a person only if bad
    skip: str = ""              # why it could not be made; it is good then


@dataclass
class Rig:
    """What all scenarios share."""
    qemu: object
    kernel: str
    initrd: str
    out: str                    # directory for images and logs
    size: int = 256 * MIB
    net_size: int = 4 * MIB
    selftests: str = ""         # directory with the kernel's selftest programs
    programs: str = ""          # directory with programs of guest/
    progress: object = print

    def skip(self, name, why):
        """What a scenario returns that cannot be run"""
        directory = os.path.join(self.out, name)
        return Result(name, directory=directory), [Check("runs", True, skip=why)]


def iommu_device(qemu):
    """The amd-iommu device with what this QEMU needs to translate DMA at all."""
    known = qemu.properties("amd-iommu")
    options = []
    if "dma-remap" in known:
        options.append("dma-remap=on")
    elif "pt" in known:
        options.append("pt=off")
    # Under TCG the guest panics in these versions with interrupt remapping
    if qemu.accel == "tcg" and (8, 0) <= qemu.version < (10, 2):
        options.append("intremap=off")
    return ",".join(["amd-iommu", *options])


def devices(rig, disks):
    """QEMU arguments; the IOMMU comes first, so that the others are behind it."""
    virtio = "iommu_platform=on,disable-legacy=on"
    net = virtio
    # A split send queue breaks there ("id 0 is not a head"), with unpatched kernels too
    if (10, 0) <= rig.qemu.version < (11, 0):
        net += ",packed=on"
    arguments = ["-device", iommu_device(rig.qemu)]
    for name, path in disks.items():
        options = "cache=writeback,discard=unmap"
        if name == "source":
            options += ",read-only=on"
        arguments += ["-drive", f"if=none,id={name},format=raw,file={path},{options}"]
    arguments += [
        "-device", f"nvme,drive=nvme,serial=rig,addr={SLOTS['nvme']:#x}",
        "-device", f"virtio-blk-pci,drive=source,{virtio},addr={SLOTS['source']:#x}",
        "-device", f"virtio-blk-pci,drive=virtio-blk,{virtio},addr={SLOTS['virtio-blk']:#x}",
        "-netdev", "user,id=net0,net=10.0.2.0/24",
        "-device", f"virtio-net-pci,netdev=net0,romfile=,{net},addr={SLOTS['virtio-net']:#x}",
        "-netdev", "user,id=net1,net=10.0.3.0/24",
        "-device", f"e1000e,netdev=net1,romfile=,addr={SLOTS['e1000e']:#x}",
    ]
    return arguments


def make_disks(rig, size):
    """The source image and a blank disk for each device that gets a copy."""
    source = os.path.join(rig.out, f"image-{size // MIB}M.ext4")
    image.build(source, size)
    disks = {"source": source}
    for name in ("nvme", "virtio-blk"):
        disks[name] = os.path.join(rig.out, f"disk-{name}.raw")
        image.blank(disks[name], size)
    return disks


def setup(rig, name, script, disks, **more):
    more.setdefault("cmdline", "")
    more["cmdline"] = ("iommu.passthrough=0 amd_iommu=pgtbl_v1 page_poison=1 "
                       "nvme_core.io_timeout=20 nvme_core.admin_timeout=20 " + more["cmdline"])
    more.setdefault("on_trouble", lambda guest: describe_translation(rig, guest))
    more["trace"] = REFUSALS + COUNTED
    return Setup(name=name, script=script, kernel=rig.kernel, initrd=rig.initrd,
                 directory=os.path.join(rig.out, name), devices=devices(rig, disks), **more)


def describe_translation(rig, guest):
    """For a guest in trouble: was anything going to be translated?"""
    iommu = amdvi.Iommu(guest.memory)
    yield f"QEMU {rig.qemu.version_text} with -device {iommu_device(rig.qemu)}"
    if not iommu.enabled:
        yield "the IOMMU is not enabled"
        return
    for name, slot in SLOTS.items():
        yield f"{name}: {iommu.device_entry(slot << 3)}"


# ---------------------------------------------------------------- checkpoints

class Watch:
    """Looks at the tables from outside, and lets QEMU tell what it translates."""

    EVENT = "amdvi_cache_update"

    def __init__(self):
        self.mark = 0

    def start(self, guest):
        self.mark = len(guest.result.trace())
        guest.monitor.trace(self.EVENT, True)

    def stop(self, guest):
        guest.monitor.trace(self.EVENT, False)
        seen = {}
        pattern = re.compile(r"devid: 00:([0-9a-f]+)\.0 gpa (0x[0-9a-f]+) hpa (0x[0-9a-f]+)")
        for line in guest.result.trace()[self.mark:]:
            match = pattern.search(line) if self.EVENT in line else None
            if match and int(match.group(2), 16) != int(match.group(3), 16):
                slot = int(match.group(1), 16)
                seen[slot] = seen.get(slot, 0) + 1
        iommu = amdvi.Iommu(guest.memory)
        facts = guest.result.facts
        facts["enabled"] = iommu.enabled
        for name, slot in SLOTS.items():
            entry = iommu.device_entry(slot << 3)
            facts[name] = {"entry": entry, "tree": iommu.walk(entry),
                           "translations": seen.get(slot, 0)}


class LeafSizes:
    """Leaf sizes seen while traffic runs. The guest changes its tables at the
    same time: a hint what is exercised, not a check."""

    def __init__(self):
        self.sizes = {}

    def __call__(self, guest):
        iommu = amdvi.Iommu(guest.memory)
        for name, slot in SLOTS.items():
            try:
                sizes = iommu.walk(iommu.device_entry(slot << 3)).sizes()
            except (IndexError, ValueError):
                continue
            for size, count in sizes.items():
                mine = self.sizes.setdefault(name, {})
                mine[size] = max(count, mine.get(size, 0))
        guest.result.facts["sizes"] = self.sizes


def clear_admin_leaf(guest):
    """Clear the leaf under the NVMe disk's admin queue behind the guest's back."""
    monitor, memory = guest.monitor, guest.memory
    iommu = amdvi.Iommu(memory)
    base = bar0(monitor, SLOTS["nvme"])
    queue = memory.read64(base + NVME_ASQ)
    leaf = iommu.lookup(iommu.device_entry(SLOTS["nvme"] << 3), queue)
    if not leaf:
        raise ValueError(f"no leaf translates the admin queue at {queue:#x}")
    facts = guest.result.facts
    facts["queue"] = queue
    facts["trouble before"] = ([str(problem) for problem in guest.result.problems] +
                               refusals(guest.result))
    memory.write64(leaf.item, 0)


def bar0(monitor, slot):
    text = monitor.human("info pci")
    part = re.search(rf"Bus\s+0, device\s+{slot}, function 0:(.*?)(?=\n  Bus|\Z)", text, re.DOTALL)
    match = part and re.search(r"BAR0: .* at (0x[0-9a-f]+)", part.group(1))
    if not match:
        raise ValueError(f"info pci shows no BAR0 of device {slot}")
    return int(match.group(1), 16)


# --------------------------------------------------------------------- checks

def check_health(result):
    refused = refusals(result)
    problems = "; ".join(str(problem) for problem in result.problems[:5])
    more = len(result.problems) - 5
    if more > 0:
        problems += f"; and {more} more"
    return [Check("guest runs to its end without fault, warning or hang",
                  not result.problems, problems),
            Check("QEMU refused no DMA", not refused,
                  f"{len(refused)} times, first: {''.join(refused[:1])}")]


def refusals(result):
    return [line for line in result.trace() if REFUSED.search(line)]


def line_event(line):
    """Name of the event of a line of QEMU's trace"""
    match = re.search(r"\b(amdvi_\w+)", line)
    return match.group(1) if match else ""


def check_domains(result):
    wrong = []
    types = {line["bdf"]: line["type"] for line in result.all("device")}
    for bdf, name in NAMES.items():
        if types.get(bdf) not in ("DMA", "DMA-FQ"):
            wrong.append(f"{name}: domain type {types.get(bdf, 'unknown')}")
    return Check("each device is in a translated domain", not wrong, "; ".join(wrong))


def check_translation(result):
    """What the device table, the tables and QEMU say, not what the guest says."""
    wrong = []
    if not result.facts.get("enabled"):
        wrong.append("the IOMMU was not seen enabled")
    for name in SLOTS:
        fact = result.facts.get(name)
        if not fact:
            wrong.append(f"{name}: tables not looked at")
            continue
        if not fact["entry"].translates:
            wrong.append(f"{name}: device table entry {fact['entry']}")
        if not fact["tree"].leaves:
            wrong.append(f"{name}: no leaf")
        if not fact["translations"]:
            wrong.append(f"{name}: QEMU translated none of its DMA")
        wrong += [f"{name}: {text}" for text in fact["tree"].wrong]
    return Check("DMA of each device goes through its tables", not wrong, "; ".join(wrong))


def check_disk(result, name, want):
    sums = [line["md5"] for line in result.all("sum")
            if line["device"] == name and line["what"] == "image"]
    moved = {line["what"]: int(line["bytes"]) for line in result.all("moved")
             if line["device"] == name}
    size = result.facts["size"]
    wrong = []
    if sums != [want]:
        wrong.append(f"checksum {sums or 'missing'}, host has {want}")
    for what in ("written", "read"):
        if moved.get(what, 0) < size:
            wrong.append(f"only {moved.get(what, 0)} of {size} bytes {what}")
    wrong += result.facts.get("files", {}).get(name, ["disk was not looked at by the host"])
    return Check(f"{name}: image written and read back, {moved.get('written', 0) / MIB:.0f} + "
                 f"{moved.get('read', 0) / MIB:.0f} MiB", not wrong, "; ".join(wrong))


def check_card(result, name):
    wrong = []
    facts = result.facts
    sums = [line["md5"] for line in result.all("sum")
            if line["device"] == name and line["what"] == "received"]
    if sums != [facts["payload md5"]]:
        wrong.append(f"received {sums or 'nothing'}, host sent {facts['payload md5']}")
    got = facts["uploads"].get(name)
    if got != (facts["net size"], facts["upload md5"]):
        wrong.append(f"host received {got}, expected {facts['net size']} bytes of "
                     f"{facts['upload md5']}")
    moved = {line["what"]: int(line["bytes"]) for line in result.all("moved")
             if line["device"] == name}
    for what in ("received", "sent"):
        if moved.get(what, 0) < facts["net size"]:
            wrong.append(f"only {moved.get(what, 0)} bytes {what} by the interface")
    return Check(f"{name}: received and sent, {moved.get('received', 0) / MIB:.0f} + "
                 f"{moved.get('sent', 0) / MIB:.0f} MiB", not wrong, "; ".join(wrong))


def check_tables(result):
    pages = {line["when"]: int(line["pages"] or 0) for line in result.all("tables")}
    good = set(pages) == {"before", "during", "after"} and 0 < pages["before"] <= pages["during"]
    return Check("tables in use: " + ", ".join(f"{pages.get(when, '?')} {when}"
                                              for when in ("before", "during", "after")),
                 good, "nr_iommu_pages must be there and grow while traffic runs")


# ------------------------------------------------------------------ scenarios

def dma(rig, name, cmdline, size, net_size, corrupt=False, parameters=None, **more):
    """Boot with traffic on all devices. corrupt: change a byte on the NVMe
    disk behind the guest's back. parameters: more of them for the script."""
    disks = make_disks(rig, size)
    watch = Watch()
    image_md5 = image.md5(disks["source"])
    with open(disks["source"], "rb") as file:
        file.seek(size // 2)
        payload = file.read(net_size)
    facts = {}

    def written(guest):
        wrong = facts.setdefault("files", {})
        for disk in ("nvme", "virtio-blk"):
            offset = image.difference(disks[disk], disks["source"])
            wrong[disk] = [] if offset is None else [f"host sees a difference at {offset:#x}"]
        if corrupt:
            with open(disks["nvme"], "r+b") as file:
                file.seek(size // 3)
                byte = file.read(1)[0]
                file.seek(size // 3)
                file.write(bytes([byte ^ 1]))

    with Server(payload) as server:
        result = boot(rig.qemu, setup(
            rig, name, "dma", disks, cmdline=cmdline,
            parameters={"size": size, "net_size": net_size, "port": server.port,
                        **(parameters or {})},
            checkpoints={"watch": watch.start, "watched": watch.stop, "written": written},
            on_tick=LeafSizes(), **more), rig.progress)
        facts["uploads"] = dict(server.received)
    for disk in ("nvme", "virtio-blk"):
        if disk in facts.get("files", {}) and not corrupt:
            facts["files"][disk] += image.check_files(
                disks[disk], size, os.path.join(rig.out, "scratch"))
    facts.update({"disks": disks, "size": size, "net size": net_size,
                  "payload md5": image.md5(disks["source"], size // 2, net_size),
                  "upload md5": image.md5(disks["source"], 0, net_size)})
    result.facts.update(facts)
    checks = check_health(result)
    checks += [check_domains(result), check_translation(result)]
    checks += [check_disk(result, disk, image_md5) for disk in ("nvme", "virtio-blk")]
    checks += [check_card(result, card) for card in ("virtio-net", "e1000e")]
    checks.append(check_tables(result))
    return result, checks


def second_kind(rig):
    """A guest that asks for v2 page tables, which no QEMU walks or offers."""
    result, checks = dma(rig, "amd-v2", "amd_iommu=pgtbl_v2", SMALL, MIB)
    told = klog.first(result.console, r"AMD-Vi: (.*v2 page table.*)")
    checks.append(Check("v2 page tables are refused, and v1 does instead",
                        bool(told) and "Fallback to v1" in told,
                        f"the guest said: {told or 'nothing'}"))
    return result, checks


def injected_leaf(rig):
    """A leaf that is wrong must be seen as a refused DMA of that device."""
    disks = make_disks(rig, SMALL)
    result = boot(rig.qemu, setup(rig, "amd-leaf", "inject", disks,
                                  checkpoints={"inject": clear_admin_leaf}), rig.progress)
    facts = result.facts
    events = [problem.text for problem in result.problems if problem.kind == "iommu-fault"]
    refused = refusals(result)
    wrong = [f"unexpected: {problem}" for problem in result.problems
             if problem.kind not in ("iommu-fault", "disk")]
    if "queue" not in facts:
        wrong.append("no leaf was changed")
    else:
        wrong += [f"before the leaf was changed: {text}" for text in facts["trouble before"]]
        page = f"{facts['queue'] >> 12:x}"
        if not any(re.search(rf"0x{page}[0-9a-f]{{3}}\b", line, re.IGNORECASE)
                   for line in refused):
            wrong.append(f"QEMU refused no DMA to the admin queue at {facts['queue']:#x}")
    strangers = [event for event in events if f"00:{SLOTS['nvme']:02x}.0" not in event]
    wrong += [f"unexpected: {event}" for event in strangers]
    if rig.qemu.version >= (10, 2) and not events:
        wrong.append("the guest logged no AMD-Vi event of the NVMe disk")
    if all(check.good for check in check_health(result)):
        wrong.append("the boot was judged good")
    told = "AMD-Vi event" if events else "refused DMA"
    return result, [Check(f"a cleared leaf is reported as a fault ({told})",
                          not wrong, "; ".join(wrong))]


def corrupted_image(rig):
    """One changed byte must be seen as a wrong checksum, and as nothing else."""
    result, checks = dma(rig, "amd-checksum", "", SMALL, MIB, corrupt=True)
    bad = [check for check in checks if not check.good]
    wrong = []
    if not any(check.name.startswith("nvme:") and "checksum" in check.detail for check in bad):
        wrong.append("the checksum of the NVMe disk was not reported")
    wrong += [f"unexpected: {check.name}: {check.detail}" for check in bad
              if not check.name.startswith("nvme:")]
    return result, [Check("a changed byte is reported as a wrong checksum",
                          not wrong, "; ".join(wrong))]


def untranslated(rig):
    """Devices that bypass the tables must be seen."""
    disks = make_disks(rig, SMALL)
    result = boot(rig.qemu, setup(rig, "amd-untranslated", "probe", disks,
                                  cmdline="iommu.passthrough=1"), rig.progress)
    wrong = [str(problem) for problem in result.problems]
    if check_domains(result).good:
        wrong.append("the boot was judged good")
    return result, [Check("an identity domain is reported as untranslated",
                          not wrong, "; ".join(wrong))]


def hanging(rig):
    """A guest that does nothing any more must be stopped and reported."""
    disks = make_disks(rig, SMALL)
    result = boot(rig.qemu, setup(rig, "amd-hang", "hang", disks, silence=10), rig.progress)
    wrong = [str(problem) for problem in result.problems if problem.kind != "hang"]
    if not any(problem.kind == "hang" for problem in result.problems):
        wrong.append("no hang was reported")
    if result.seconds > 60:
        wrong.append(f"it took {result.seconds:.0f} s")
    return result, [Check("a guest that hangs is stopped and reported",
                          not wrong, "; ".join(wrong))]


def guest_choices(result):
    """Kind of domain and of invalidation, by what the groups are: the kernel's
    message about lazy mode comes before the driver makes it strict."""
    types = {line["type"] for line in result.all("device") if line["bdf"] in NAMES}
    meaning = {"DMA": "translated, strict", "DMA-FQ": "translated, lazy", "identity": "identity"}
    text = "; ".join(meaning.get(kind, kind) for kind in sorted(types))
    asked = klog.first(result.console, r"TLB invalidation policy: (\w+) mode \(set via")
    forced = klog.first(result.console, r"AMD-Vi: (Using strict mode.*)")
    return text + (f" (asked for: {asked})" if asked else "") + (f" ({forced})" if forced else "")


SCENARIOS = {
    "amd-strict": lambda rig: dma(rig, "amd-strict", "iommu.strict=1", rig.size, rig.net_size),
    "amd-lazy": lambda rig: dma(rig, "amd-lazy", "iommu.strict=0", rig.size, rig.net_size),
    "amd-v2": second_kind,
    "amd-leaf": injected_leaf,
    "amd-checksum": corrupted_image,
    "amd-untranslated": untranslated,
    "amd-hang": hanging,
}
