# SPDX-License-Identifier: GPL-2.0
"""QEMU's machine protocol, as little as the rigs need, and guest memory."""

import glob
import json
import mmap
import os
import re
import struct


class QmpError(Exception):
    pass


class Monitor:
    def __init__(self, sock, timeout=20):
        sock.settimeout(timeout)
        self.file = sock.makefile("rw")
        self._receive()                 # the greeting
        self.command("qmp_capabilities")

    def _receive(self):
        try:
            line = self.file.readline()
        except OSError as error:
            raise QmpError(f"QEMU does not answer: {error}") from error
        if not line:
            raise QmpError("QEMU closed its monitor")
        return json.loads(line)

    def command(self, name, /, **arguments):
        try:
            self.file.write(json.dumps({"execute": name, "arguments": arguments}) + "\n")
            self.file.flush()
        except OSError as error:
            raise QmpError(f"QEMU is gone: {error}") from error
        while True:
            answer = self._receive()
            if "error" in answer:
                raise QmpError(f"{name}: {answer['error'].get('desc')}")
            if "return" in answer:
                return answer["return"]

    def human(self, line):
        return self.command("human-monitor-command", **{"command-line": line})

    def trace(self, event, enable):
        self.command("trace-event-set-state", name=event, enable=enable)


class Memory:
    """Physical memory: RAM is the memfd that QEMU has, the rest (registers) is
    read through the monitor. RAM must lie in one piece from address 0."""

    def __init__(self, pid, size, monitor):
        self.size = size
        self.monitor = monitor
        with open(self._memfd(pid), "r+b") as file:
            self.map = mmap.mmap(file.fileno(), size)

    @staticmethod
    def _memfd(pid):
        for link in glob.glob(f"/proc/{pid}/fd/*"):
            try:
                if "memfd:memory-backend" in os.readlink(link):
                    return link
            except OSError:
                continue
        raise QmpError("QEMU has no memfd for guest memory")

    def holds(self, address, length):
        return 0 <= address and address + length <= self.size

    def read64(self, address):
        if self.holds(address, 8):
            return struct.unpack_from("<Q", self.map, address)[0]
        text = self.monitor.human(f"xp /1gx {address:#x}")
        match = re.search(r":\s*(0x[0-9a-f]+)", text)
        if not match:
            raise QmpError(f"xp {address:#x}: {text.strip()}")
        return int(match.group(1), 16)

    def write64(self, address, value):
        if not self.holds(address, 8):
            raise QmpError(f"{address:#x} is not in guest RAM")
        struct.pack_into("<Q", self.map, address, value)

    def table(self, address):
        """The 512 words of a page"""
        return struct.unpack_from("<512Q", self.map, address)
