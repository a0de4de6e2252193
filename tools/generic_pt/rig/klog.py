# SPDX-License-Identifier: GPL-2.0
"""Judges the kernel's log: what must never be seen in the log of a good boot."""

import re

# Kind of problem, and the lines that show it. The first match of a line counts.
PATTERNS = [
    ("iommu-fault", r"AMD-Vi: Event logged"),
    ("iommu-fault", r"DMAR: \[(DMA|INTR)|DMAR: .*fault"),
    ("iommu-error", r"AMD-Vi: .*(timed? ?out|[Ee]rror|[Ff]ail|[Uu]nable|overflow)"),
    ("iommu-error", r"DMAR: .*(timed? ?out|[Ee]rror|[Ff]ail|[Uu]nable|overflow)"),
    ("iommu-error", r"iommu: .*([Ee]rror|[Ff]ail)"),
    ("panic", r"Kernel panic|Oops|Unable to handle kernel|general protection|stack segment"),
    ("bug", r"\bBUG\b|kernel BUG|UBSAN:|KFENCE:|KASAN:|KCSAN:|kmemleak: [1-9]"),
    ("warning", r"\bWARNING\b|cut here|DEBUG_LOCKS_WARN_ON"),
    ("lockdep", r"possible (circular|recursive|irq) lock|inconsistent lock state|"
                r"suspicious RCU usage|lock held when returning|bad unlock balance|"
                r"turning off the locking correctness validator|Invalid wait context"),
    ("stall", r"INFO: (task|rcu)|soft lockup|hard LOCKUP|rcu.*(stall|detected)"),
    ("call-trace", r"Call Trace:"),
    ("disk", r"nvme.*(timeout|controller is down|[Rr]emoving|I/O Error|failed|reset|CFS)"),
    ("disk", r"I/O error|Buffer I/O|EXT4-fs (error|warning)|virtio_blk.*([Ee]rror|fail)"),
    ("network", r"NETDEV WATCHDOG|Detected Hardware Unit Hang|Reset adapter|transmit queue .*timed out"),
]

COMPILED = [(kind, re.compile(pattern)) for kind, pattern in PATTERNS]


# These repeat what the rig itself asked for
QUOTES = re.compile(r"[Cc]ommand line")


def problem(line):
    """Kind of problem that a line of the kernel's log shows, or None."""
    if QUOTES.search(line):
        return None
    for kind, pattern in COMPILED:
        if pattern.search(line):
            return kind
    return None


def first(lines, pattern):
    """What the first line that matches has in its first group, or None."""
    compiled = re.compile(pattern)
    for line in lines:
        match = compiled.search(line)
        if match:
            return match.group(1)
    return None
