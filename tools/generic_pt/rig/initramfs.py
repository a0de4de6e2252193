# SPDX-License-Identifier: GPL-2.0
"""Packs the guest's initramfs: busybox and the scripts of guest/.

The "newc" archive is written here, so that neither cpio nor root is needed
and the same input gives the same bytes.
"""

import gzip
import os
import shutil
import subprocess

GUEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guest")


class InitramfsError(Exception):
    pass


def busybox():
    """Path of a busybox that needs no shared library."""
    for path in ("/bin/busybox", shutil.which("busybox")):
        if path and os.path.exists(path):
            head = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
            if "not a dynamic executable" in head.stdout + head.stderr:
                return path
    raise InitramfsError("no static busybox: apt-get install busybox-static")


class Archive:
    """A cpio archive in the kernel's "newc" form."""

    def __init__(self):
        self.data = bytearray()
        self.inode = 0

    def _pad(self):
        self.data += bytes(-len(self.data) % 4)

    def _entry(self, name, mode, content=b"", rdev=(0, 0)):
        self.inode += 1
        encoded = name.encode() + b"\0"
        fields = (self.inode, mode, 0, 0, 1, 0, len(content), 0, 0, *rdev, len(encoded), 0)
        self.data += b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
        self._pad()
        self.data += content
        self._pad()

    def directory(self, name):
        self._entry(name, 0o040755)

    def file(self, name, content, mode=0o755):
        self._entry(name, 0o100000 | mode, content)

    def character_device(self, name, major, minor):
        self._entry(name, 0o020600, rdev=(major, minor))

    def finish(self):
        self._entry("TRAILER!!!", 0)
        return gzip.compress(bytes(self.data), compresslevel=1, mtime=0)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def build(target, extra=()):
    """Write the archive to target; extra files (guest name, host path) go along."""
    archive = Archive()
    for directory in ("bin", "dev", "rig"):
        archive.directory(directory)
    archive.character_device("dev/console", 5, 1)
    archive.file("bin/busybox", read(busybox()))
    archive.file("init", read(os.path.join(GUEST, "init")))
    for name in sorted(os.listdir(GUEST)):
        if name.endswith(".sh"):
            archive.file("rig/" + name, read(os.path.join(GUEST, name)))
    for name, path in extra:
        archive.file(name, read(path))
    with open(target, "wb") as file:
        file.write(archive.finish())
