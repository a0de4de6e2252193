# SPDX-License-Identifier: GPL-2.0
"""A PCI device of our own behind QEMU's vfio-user-pci, as a witness.

QEMU tells such a device what is mapped for it, as it tells a host's VFIO: one
message for each leaf that its IOMMU shadows. Everything is counted and checked
here: nothing may be mapped twice, and nothing may be unmapped in part.

Protocol: QEMU's docs/interop/vfio-user.rst. The device has these registers in
BAR 0, 32 bits each:

  0x00  W  IOVA to look at, low half
  0x04  W  high half
  0x08  R  1 if the device can read there, 0 if nothing is mapped. Latches the
  0x0c  R  word that stands there
  0x10  W  number of the phase that begins
"""

import array
import bisect
import json
import mmap
import os
import shutil
import socket
import struct
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass, field

HEADER = struct.Struct("<HHIII")    # id, command, size, flags, error
REPLY, ERROR, NO_REPLY = 1, 1 << 5, 1 << 4
(VERSION, DMA_MAP, DMA_UNMAP, GET_INFO, GET_REGION_INFO, GET_IRQ_INFO, SET_IRQS,
 REGION_READ, REGION_WRITE, RESET, REGION_WRITE_MULTI) = (1, 2, 3, 4, 5, 7, 8, 9, 10, 13, 15)
EINVAL, EEXIST = 22, 17

READABLE, UNMAP_ALL = 1 << 0, 1 << 1        # flags of a map, of an unmap

BAR0, CONFIG = 0, 7                         # regions, as VFIO numbers them
REGION_BYTES = {BAR0: 4096, CONFIG: 256}
VENDOR, DEVICE, OTHER_CLASS = 0x1234, 0x6774, 0xff


class Trouble(Exception):
    """What a witness has to report; error is what QEMU is told."""

    def __init__(self, text, error):
        super().__init__(text)
        self.error = error


@dataclass
class Mapping:
    size: int
    flags: int
    memory: object      # an mmap of the file that it lies in, or None
    offset: int


class Mappings:
    """What is mapped now, by IOVA."""

    def __init__(self):
        self.starts = []        # sorted
        self.of = {}

    def __len__(self):
        return len(self.starts)

    def find(self, iova):
        """(start, mapping) that iova lies in, or None"""
        i = bisect.bisect_right(self.starts, iova) - 1
        if i >= 0 and iova < self.starts[i] + self.of[self.starts[i]].size:
            return self.starts[i], self.of[self.starts[i]]
        return None

    def _within(self, iova, size):
        """Indices of the mappings that begin there"""
        return (bisect.bisect_left(self.starts, iova),
                bisect.bisect_left(self.starts, iova + size))

    def map(self, iova, mapping):
        first, end = self._within(iova, mapping.size)
        if first != end or self.find(iova):
            raise Trouble(f"map of {mapping.size:#x} at {iova:#x} over what is mapped", EEXIST)
        self.starts.insert(first, iova)
        self.of[iova] = mapping

    def unmap(self, iova, size):
        """Returns how many mappings went"""
        first, end = self._within(iova, size)
        ends = [self.find(iova), self.find(iova + size - 1)]
        if any(at and (at[0] < iova or at[0] + at[1].size > iova + size) for at in ends):
            raise Trouble(f"unmap of {size:#x} at {iova:#x} cuts a mapping", EINVAL)
        for start in self.starts[first:end]:
            del self.of[start]
        del self.starts[first:end]
        return end - first

    def clear(self):
        count = len(self)
        self.starts.clear()
        self.of.clear()
        return count


@dataclass
class Phase:
    """What came while the guest was in one phase of its work."""
    maps: Counter = field(default_factory=Counter)      # by size
    unmapped: int = 0           # mappings that went
    unmaps: int = 0             # messages; QEMU also sends some for nothing
    left: int = 0               # mappings when it ended


class Device(threading.Thread):
    """The device; serves one QEMU from `with` to the end of its connection."""

    def __init__(self):
        super().__init__(daemon=True)
        # Not in the scenario's directory: the name of a socket must be short
        self.directory = tempfile.mkdtemp(prefix="rig-")
        self.path = os.path.join(self.directory, "vfio-user")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen(1)
        self.connection = None
        self.memories = {}
        self.mappings = Mappings()
        self.phases = {0: Phase()}
        self.phase = self.phases[0]
        self.trouble = []
        self.files = []             # descriptors that came with this message
        self.look_at = self.word = 0
        self.config = bytearray(REGION_BYTES[CONFIG])
        struct.pack_into("<HHIBBBB", self.config, 0, VENDOR, DEVICE, 0, 0, 0, 0, OTHER_CLASS)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        # QEMU has ended, or never came
        self.join(timeout=1 if not self.connection else 10)
        self.listener.close()
        if self.connection:
            self.connection.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def argument(self, slot):
        return json.dumps({"driver": "vfio-user-pci", "addr": f"{slot:x}.0", "rombar": 0,
                           "socket": {"type": "unix", "path": self.path}})

    def run(self):
        try:
            self.connection, _ = self.listener.accept()
            while self.serve_one():
                pass
        except OSError as error:
            self.trouble.append(f"connection: {error}")
        self.phase.left = len(self.mappings)

    # ------------------------------------------------------------- messages

    def receive(self, length):
        """Bytes of the stream, or None at its end; keeps what files come along."""
        data = bytearray()
        while len(data) < length:
            part, extra, _, _ = self.connection.recvmsg(length - len(data), socket.CMSG_SPACE(64))
            if not part:
                return None
            data += part
            for level, kind, content in extra:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    numbers = array.array("i")
                    numbers.frombytes(content[:len(content) // 4 * 4])
                    self.files += numbers
        return bytes(data)

    def serve_one(self):
        head = self.receive(HEADER.size)
        if head is None:
            return False
        number, command, size, flags, _ = HEADER.unpack(head)
        body = self.receive(size - HEADER.size)
        if body is None:
            return False
        error, answer = 0, b""
        try:
            handler = self.HANDLERS.get(command)
            if not handler:
                raise Trouble(f"command {command} is unknown", EINVAL)
            answer = handler(self, body) or b""
        except Trouble as trouble:
            self.trouble.append(str(trouble))
            error = trouble.error
        for file in self.files:
            os.close(file)
        self.files = []
        if not flags & NO_REPLY:
            self.connection.sendall(HEADER.pack(
                number, command, HEADER.size + len(answer),
                REPLY | (ERROR if error else 0), error) + answer)
        return True

    def version(self, _body):
        able = {"capabilities": {"max_msg_fds": 8, "max_data_xfer_size": 1 << 20,
                                 "pgsizes": 4096, "max_dma_maps": 65535}}
        return struct.pack("<HH", 0, 0) + json.dumps(able).encode() + b"\0"

    def dma_map(self, body):
        _, flags, offset, iova, size = struct.unpack_from("<IIQQQ", body)
        memory = self.memory(self.files[0]) if self.files else None
        self.mappings.map(iova, Mapping(size, flags, memory, offset))
        self.phase.maps[size] += 1
        return body

    def memory(self, file):
        status = os.fstat(file)
        key = status.st_dev, status.st_ino
        if key not in self.memories:
            self.memories[key] = mmap.mmap(file, 0)
        return self.memories[key]

    def dma_unmap(self, body):
        _, flags, iova, size = struct.unpack_from("<IIQQ", body)
        self.phase.unmaps += 1
        self.phase.unmapped += (self.mappings.clear() if flags & UNMAP_ALL
                                else self.mappings.unmap(iova, size))
        return body

    def get_info(self, _body):
        # Can be reset, is a PCI device; regions; interrupts
        return struct.pack("<IIII", 16, 3, 9, 5)

    def get_region_info(self, body):
        index, = struct.unpack_from("<I", body, 8)
        size = REGION_BYTES.get(index, 0)
        return struct.pack("<IIIIQQ", 32, 3 if size else 0, index, 0, size, 0)

    def get_irq_info(self, body):
        index, = struct.unpack_from("<I", body, 8)
        return struct.pack("<IIII", 16, 0, index, 0)

    def nothing(self, _body):
        pass

    def region_read(self, body):
        offset, region, count = struct.unpack_from("<QII", body)
        if region == CONFIG:
            data = bytes(self.config[offset:offset + count])
        else:
            data = struct.pack("<I", self.read_register(offset))[:count]
        return body[:16] + data.ljust(count, b"\0")

    def region_write(self, body):
        offset, region, count = struct.unpack_from("<QII", body)
        data = body[16:16 + count]
        if region != CONFIG:
            self.write_register(offset, int.from_bytes(data, "little"))
        elif offset >= 4 and not 0x8 <= offset < 0xc:
            self.config[offset:offset + count] = data
        return body[:16]

    def region_write_multi(self, body):
        count, = struct.unpack_from("<Q", body)
        for i in range(count):
            # Each has room for 8 bytes
            self.region_write(body[8 + i * 24:8 + (i + 1) * 24])

    HANDLERS = {
        VERSION: version, DMA_MAP: dma_map, DMA_UNMAP: dma_unmap, GET_INFO: get_info,
        GET_REGION_INFO: get_region_info, GET_IRQ_INFO: get_irq_info, SET_IRQS: nothing,
        REGION_READ: region_read, REGION_WRITE: region_write, RESET: nothing,
        REGION_WRITE_MULTI: region_write_multi,
    }

    # ------------------------------------------------------------ registers

    def read_register(self, offset):
        if offset == 0xc:
            return self.word
        if offset != 8:
            return 0
        found = self.mappings.find(self.look_at)
        if not found or not found[1].flags & READABLE or not found[1].memory:
            return 0
        start, mapping = found
        self.word, = struct.unpack_from("<I", mapping.memory,
                                        mapping.offset + self.look_at - start)
        return 1

    def write_register(self, offset, value):
        if offset == 0:
            self.look_at = self.look_at >> 32 << 32 | value
        elif offset == 4:
            self.look_at = self.look_at & 0xffffffff | value << 32
        elif offset == 0x10:
            self.phase.left = len(self.mappings)
            self.phase = self.phases.setdefault(value, Phase())
