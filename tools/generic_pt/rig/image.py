# SPDX-License-Identifier: GPL-2.0
"""The file system image that the guest writes, and what must become of it.

The content depends on the size only: made once, kept under build/.
"""

import hashlib
import os
import random
import shutil
import subprocess

FILES = 8
UUID = "6f2a6a60-3d0b-4f0a-9a0e-0d5f3c1b7a11"


class ImageError(Exception):
    pass


def tool(*command):
    # A fixed clock makes the same image each time
    env = dict(os.environ, E2FSPROGS_FAKE_TIME="1700000000", LC_ALL="C")
    env["PATH"] = env.get("PATH", "") + ":/usr/sbin:/sbin"
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ImageError(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def content(number, length):
    return random.Random(number).randbytes(length)


def file_length(size):
    # Leaves room for the journal and for what the guest copies
    return size // 2 // FILES


def build(path, size):
    """An ext4 image of `size` bytes with FILES files of random bytes."""
    if os.path.exists(path) and os.path.getsize(path) == size:
        return
    directory = path + ".files"
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    for number in range(FILES):
        name = os.path.join(directory, f"file-{number}")
        with open(name, "wb") as file:
            file.write(content(number, file_length(size)))
    partial = path + ".partial"
    if os.path.exists(partial):
        os.unlink(partial)
    with open(partial, "wb") as file:
        file.truncate(size)
    tool("mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", "-U", UUID, "-E",
         f"hash_seed={UUID},lazy_itable_init=0,root_owner=0:0", partial)
    # "mke2fs -d" would copy the files' change times
    commands = os.path.join(directory, "commands")
    with open(commands, "w", encoding="utf-8") as file:
        for number in range(FILES):
            file.write(f"write {directory}/file-{number} file-{number}\n")
    tool("debugfs", "-w", "-f", commands, partial)
    shutil.rmtree(directory)
    os.rename(partial, path)


def blank(path, size):
    """An empty disk."""
    with open(path, "wb") as file:
        file.truncate(size)


def md5(path, start=0, length=None):
    digest = hashlib.md5()
    with open(path, "rb") as file:
        file.seek(start)
        left = length if length is not None else os.path.getsize(path) - start
        while left:
            data = file.read(min(left, 1 << 20))
            if not data:
                break
            digest.update(data)
            left -= len(data)
    return digest.hexdigest()


def difference(path, reference):
    """Offset of the first byte that differs, or None when the files are equal."""
    with open(path, "rb") as one, open(reference, "rb") as two:
        offset = 0
        while True:
            a, b = one.read(1 << 20), two.read(1 << 20)
            if a != b:
                for i, (x, y) in enumerate(zip(a, b)):
                    if x != y:
                        return offset + i
                return offset + min(len(a), len(b))
            if not a:
                return None
            offset += len(a)


def check_files(path, size, scratch):
    """What is wrong with the file system after the guest worked in it."""
    wrong = []
    try:
        tool("e2fsck", "-f", "-n", path)
    except ImageError as error:
        wrong.append(f"e2fsck finds errors: {error}")
    for name, number in (("copy-of-file-0", 0), (f"file-{FILES - 1}", FILES - 1)):
        if os.path.exists(scratch):
            os.unlink(scratch)
        tool("debugfs", "-R", f"dump /{name} {scratch}", path)
        want = hashlib.md5(content(number, file_length(size))).hexdigest()
        if not os.path.exists(scratch) or md5(scratch) != want:
            wrong.append(f"{name} does not hold what was written")
    if os.path.exists(scratch):
        os.unlink(scratch)
    return wrong
