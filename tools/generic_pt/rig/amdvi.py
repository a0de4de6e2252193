# SPDX-License-Identifier: GPL-2.0
"""Reads an AMD IOMMU's tables from outside, as the hardware would.

Written from the AMD I/O Virtualization Technology (IOMMU) Specification,
48882 rev 3.08; shares nothing with the library. Physical memory is anything
with read64(address) and write64(address, value).
"""

from dataclasses import dataclass, field

# QEMU's model has its registers here (hw/i386/amd_iommu.h)
MMIO_BASE = 0xFED80000
REG_DEVICE_TABLE = 0x00     # section 3.4.1
REG_COMMANDS = 0x08         # section 3.4.1
REG_CONTROL = 0x18          # section 3.4.2

INVALIDATE_PAGES = 3        # section 2.4.3

ADDRESS = 0x000FFFFFFFFFF000


def bits(value, low, high):
    return (value >> low) & ((1 << (high - low + 1)) - 1)


@dataclass
class DeviceEntry:
    """Device table entry, section 2.2.2.1."""
    device: int
    low: int
    high: int

    @property
    def valid(self):
        return bits(self.low, 0, 0) == 1

    @property
    def translation_valid(self):
        return bits(self.low, 1, 1) == 1

    @property
    def mode(self):
        return bits(self.low, 9, 11)

    @property
    def root(self):
        return self.low & ADDRESS

    @property
    def guest_translation(self):
        return bits(self.low, 55, 55) == 1

    @property
    def readable(self):
        return bits(self.low, 61, 61) == 1

    @property
    def writable(self):
        return bits(self.low, 62, 62) == 1

    @property
    def domain(self):
        return bits(self.high, 0, 15)

    @property
    def translates(self):
        return self.valid and self.translation_valid and 1 <= self.mode <= 6

    def __str__(self):
        return (f"V={self.valid:d} TV={self.translation_valid:d} mode={self.mode} "
                f"root={self.root:#x} domain={self.domain} "
                f"IR={self.readable:d} IW={self.writable:d}")


@dataclass
class Leaf:
    iova: int
    address: int
    size: int
    item: int               # physical address of its first item
    value: int
    level: int


@dataclass
class Tree:
    """What a walk found."""
    leaves: list = field(default_factory=list)
    tables: list = field(default_factory=list)
    wrong: list = field(default_factory=list)

    def sizes(self):
        count = {}
        for leaf in self.leaves:
            count[leaf.size] = count.get(leaf.size, 0) + 1
        return dict(sorted(count.items()))


def coded_size(address):
    """Bytes that an address stands for which has their number as a run of ones
    from bit 12, in leaves (section 2.2.3) and invalidations (2.4.3)."""
    ones = 0
    while bits(address, 12 + ones, 12 + ones):
        ones += 1
    return 1 << (12 + ones + 1)


def leaf_size(value, level):
    """Bytes that a leaf covers, section 2.2.3: next level 0 is the level's own
    size, 7 has the size in the address as a run of ones from bit 12."""
    if bits(value, 9, 11) == 0:
        return 1 << (12 + 9 * (level - 1))
    return coded_size(value)


@dataclass
class Invalidation:
    """INVALIDATE_IOMMU_PAGES, section 2.4.3."""
    domain: int
    address: int
    sized: bool             # S: the address tells the size
    tables: bool            # PDE: walk caches too

    @property
    def size(self):
        return coded_size(self.address) if self.sized else 1 << 12


class Iommu:
    def __init__(self, memory):
        self.memory = memory

    def register(self, offset):
        return self.memory.read64(MMIO_BASE + offset)

    @property
    def enabled(self):
        return bool(self.register(REG_CONTROL) & 1)

    def device_entry(self, device):
        """device: bus 8, slot 5, function 3 bits"""
        table = self.register(REG_DEVICE_TABLE)
        base = table & ADDRESS
        if device * 32 >= (bits(table, 0, 8) + 1) * 4096:
            raise ValueError(f"device {device:#x} is beyond the device table")
        return DeviceEntry(device, self.memory.read64(base + device * 32),
                           self.memory.read64(base + device * 32 + 8))

    def walk(self, entry):
        """Every leaf of a device, and every rule that its tables break."""
        tree = Tree()
        if entry.translates:
            self._walk(tree, entry.root, entry.mode, 0)
        return tree

    def _walk(self, tree, table, level, iova):
        tree.tables.append(table)
        if not self.memory.holds(table, 4096):
            tree.wrong.append(f"table {table:#x} of level {level} is not in memory")
            return
        items = self.memory.table(table)
        step_lg2 = 12 + 9 * (level - 1)
        index = 0
        while index < 512:
            value = items[index]
            here = iova + (index << step_lg2)
            if not value & 1:
                index += 1
                continue
            if bits(value, 9, 11) in (0, 7):
                index += self._leaf(tree, table, items, index, level, here)
                continue
            index += 1
            below = bits(value, 9, 11)
            if below >= level:
                tree.wrong.append(f"item {value:#018x} at {here:#x}: level {below} below {level}")
                continue
            self._walk(tree, value & ADDRESS, below, here)

    def _leaf(self, tree, table, items, index, level, iova):
        """Check one leaf; returns how many items it takes."""
        value = items[index]
        size = leaf_size(value, level)
        count = size >> (12 + 9 * (level - 1))
        address = value & ADDRESS & ~(size - 1)
        where = f"leaf {value:#018x} at {iova:#x}"
        if count < 1 or count > 512 or index % count:
            tree.wrong.append(f"{where}: size {size:#x} does not fit level {level}")
            return 1
        if any(item != value for item in items[index:index + count]):
            tree.wrong.append(f"{where}: its {count} items differ")
        if not self.memory.holds(address, size):
            tree.wrong.append(f"{where}: {address:#x} is not in memory")
        tree.leaves.append(Leaf(iova, address, size, table + index * 8, value, level))
        return count

    def lookup(self, entry, iova):
        """The leaf that translates iova, or None."""
        if not entry.translates:
            return None
        table, level = entry.root, entry.mode
        while level:
            index = bits(iova, 12 + 9 * (level - 1), 12 + 9 * level - 1)
            item = table + index * 8
            value = self.memory.read64(item)
            if not value & 1:
                return None
            below = bits(value, 9, 11)
            if below in (0, 7):
                size = leaf_size(value, level)
                return Leaf(iova & ~(size - 1), value & ADDRESS & ~(size - 1), size,
                            item, value, level)
            table, level = value & ADDRESS, below
        return None

    def invalidations(self):
        """Those in the command buffer, which holds the last of all commands."""
        register = self.memory.read64(MMIO_BASE + REG_COMMANDS)
        base, entries = register & ADDRESS, 1 << bits(register, 56, 59)
        found = []
        for i in range(entries):
            low, high = (self.memory.read64(base + 16 * i + at) for at in (0, 8))
            if bits(low, 60, 63) == INVALIDATE_PAGES:
                found.append(Invalidation(bits(low, 32, 47), high & ~0xFFF, bool(high & 1),
                                          bool(high & 2)))
        return found
