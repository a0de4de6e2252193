# SPDX-License-Identifier: GPL-2.0
"""Boots a guest and returns what it said.

One call, boot(), serves every rig: it takes a kernel, an initramfs, devices and
the name of a guest script, answers the guest's checkpoints, watches both serial
ports, and never waits without an end.
"""

import os
import re
import selectors
import shlex
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field

import klog
from qmp import Memory, Monitor, QmpError

MIB = 1 << 20

# Lines that are for the summary, not for who watches
QUIET = ("alive", "device", "leak", "memory", "moved", "tables", "tap")


class MachineError(Exception):
    pass


class Qemu:
    """The QEMU to use: a command, its version, and what its devices can do."""

    def __init__(self, command=None):
        self.command = shlex.split(command or os.environ.get("QEMU") or "qemu-system-x86_64")
        if not shutil.which(self.command[0]):
            raise MachineError(f"{self.command[0]} not found: apt-get install qemu-system-x86, "
                               "or name another one with QEMU=")
        match = re.search(r"version (\d+)\.(\d+)[.\d]*", self.ask("--version"))
        if not match:
            raise MachineError(f"{self.command[0]} --version does not tell a version")
        self.version = (int(match.group(1)), int(match.group(2)))
        self.version_text = match.group(0).split()[1]
        # A DMA that no leaf translates is an access to nothing
        self.log_items = "guest_errors"
        if "invalid_mem" in self.ask("-d", "help"):
            self.log_items += ",invalid_mem"
        self.accel = os.environ.get("ACCEL") or "tcg"
        if self.accel not in ("tcg", "kvm"):
            raise MachineError(f"ACCEL={self.accel}: must be tcg or kvm")

    def ask(self, *arguments):
        done = subprocess.run([*self.command, *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)
        if not done.stdout:         # some helps end with code 1
            raise MachineError(f"{shlex.join([*self.command, *arguments])}: {done.stderr.strip()}")
        return done.stdout

    def properties(self, device):
        text = self.ask("-device", f"{device},help")
        return set(re.findall(r"^\s+([\w-]+)=", text, re.MULTILINE))

    def has(self, device):
        # Not the list of all devices: for that all modules are loaded
        try:
            return bool(self.properties(device))
        except MachineError:
            return False

    def accel_arguments(self, counting=False):
        if counting:
            return ["-machine", "q35", "-accel", "tcg,thread=single", "-icount",
                    "shift=0,sleep=off"]
        if self.accel == "kvm":
            return ["-machine", "q35,kernel-irqchip=split", "-accel", "kvm", "-cpu", "host"]
        return ["-machine", "q35", "-accel", "tcg,thread=multi"]


@dataclass
class Problem:
    kind: str
    text: str

    def __str__(self):
        return f"[{self.kind}] {self.text}"


@dataclass
class Line:
    """RIG: word key=value..."""
    word: str
    values: dict

    def __getitem__(self, key):
        return self.values.get(key, "")


@dataclass
class Result:
    name: str
    lines: list = field(default_factory=list)       # of Line
    console: list = field(default_factory=list)     # of str
    problems: list = field(default_factory=list)    # of Problem
    facts: dict = field(default_factory=dict)       # what checkpoints found
    seconds: float = 0.0
    directory: str = ""

    def all(self, word):
        return [line for line in self.lines if line.word == word]

    def problem(self, kind, text):
        self.problems.append(Problem(kind, text))

    def trace(self):
        """Lines of QEMU's trace so far."""
        try:
            with open(os.path.join(self.directory, "trace.log"), errors="replace") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []


class Guest:
    """A running guest, as checkpoints see it."""

    def __init__(self, result, monitor, memory):
        self.result = result
        self.monitor = monitor
        self.memory = memory


@dataclass
class Setup:
    """What to boot."""
    name: str
    script: str
    kernel: str
    initrd: str
    directory: str                                  # for logs
    devices: list = field(default_factory=list)     # QEMU arguments
    cmdline: str = ""
    parameters: dict = field(default_factory=dict)  # rig.NAME=VALUE for the script
    checkpoints: dict = field(default_factory=dict)     # name -> function(Guest)
    on_trouble: object = None       # function(Guest) -> texts, when it hangs
    on_tick: object = None          # function(Guest), about once a second
    trace: tuple = ()               # QEMU trace events from the start
    memory_mib: int = 1024          # at most 2048: see qmp.Memory
    cpus: int = 2
    counting: bool = False          # the guest's nanosecond is an instruction (TCG)
    timeout: float = 600            # seconds for the whole boot
    silence: float = 90             # seconds without a sign of life


def parse(line):
    """A RIG: line, or None."""
    match = re.match(r"RIG: (\S+) ?(.*)", line)
    if not match:
        return None
    rest, values = match.group(2), {}
    rest, found, text = rest.partition("text=")
    if found:
        values["text"] = text
    for word in rest.split():
        key, _, value = word.partition("=")
        values[key] = value
    return Line(match.group(1), values)


class Channel:
    """A serial port: cuts what comes into lines and keeps them in a log."""

    def __init__(self, path):
        self.ours, self.qemus = socket.socketpair()
        self.log = open(path, "w", encoding="utf-8")
        self.rest = b""
        self.open = True

    def lines(self):
        try:
            data = self.ours.recv(1 << 16)
        except ConnectionError:
            data = b""
        if not data:
            self.open = False
            data = b"\n" if self.rest else b""
        self.rest += data
        *lines, self.rest = self.rest.split(b"\n")
        for line in lines:
            text = line.decode(errors="replace").rstrip("\r")
            self.log.write(text + "\n")
            self.log.flush()
            yield text

    def close(self):
        self.ours.close()
        self.log.close()


class Boot:
    def __init__(self, qemu, setup, progress):
        self.qemu = qemu
        self.setup = setup
        self.started = time.monotonic()
        self.progress = lambda text: progress(f"{time.monotonic() - self.started:5.1f} {text}")
        self.result = Result(setup.name, directory=setup.directory)
        self.ended = False
        os.makedirs(setup.directory, exist_ok=True)
        for name in ("console.log", "rig.log", "trace.log", "qemu.log"):
            path = self.path(name)
            if os.path.exists(path):
                os.unlink(path)
        self.console = Channel(self.path("console.log"))
        self.rig = Channel(self.path("rig.log"))
        self.monitor_sock, self.monitor_qemus = socket.socketpair()

    def path(self, name):
        return os.path.join(self.setup.directory, name)

    def command(self):
        setup = self.setup
        cmdline = ["console=ttyS0", "panic=-1", "oops=panic", "no_timer_check",
                   setup.cmdline, f"rig.script={setup.script}"]
        cmdline += [f"rig.{key}={value}" for key, value in setup.parameters.items()]
        size = f"{setup.memory_mib}M"
        # Strict boot order: the firmware leaves the devices alone. Otherwise its
        # virtio queues are still set up when the IOMMU comes on, and fault
        command = [*self.qemu.command, "-boot", "strict=on", "-nodefaults", "-no-user-config", "-display", "none",
                   "-no-reboot", *self.qemu.accel_arguments(setup.counting), "-smp", str(setup.cpus),
                   "-m", size, "-object", f"memory-backend-memfd,id=ram,size={size},share=on",
                   "-machine", "memory-backend=ram",
                   "-kernel", setup.kernel, "-initrd", setup.initrd,
                   "-append", " ".join(cmdline)]
        for name, sock in (("console", self.console.qemus), ("rig", self.rig.qemus),
                           ("qmp", self.monitor_qemus)):
            command += ["-chardev", f"socket,id={name},fd={sock.fileno()}"]
        command += ["-serial", "chardev:console", "-serial", "chardev:rig",
                    "-mon", "chardev=qmp,mode=control", "-D", self.path("trace.log"),
                    "-d", self.qemu.log_items]
        for event in setup.trace:
            command += ["-trace", event]
        return command + setup.devices

    def run(self):
        command = self.command()
        with open(self.path("qemu.log"), "w", encoding="utf-8") as log:
            log.write(shlex.join(command) + "\n")
            log.flush()
            socks = (self.console.qemus, self.rig.qemus, self.monitor_qemus)
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       pass_fds=[sock.fileno() for sock in socks])
        for sock in socks:
            sock.close()
        try:
            self.watch(process)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            self.console.close()
            self.rig.close()
            self.monitor_sock.close()
        self.result.seconds = time.monotonic() - self.started
        return self.result

    def said(self):
        """What QEMU itself printed"""
        with open(self.path("qemu.log"), encoding="utf-8", errors="replace") as log:
            lines = log.read().splitlines()[1:]
        return " ".join(line for line in lines if "warning:" not in line)

    def watch(self, process):
        result = self.result
        try:
            monitor = Monitor(self.monitor_sock)
            guest = Guest(result, monitor, Memory(process.pid, self.setup.memory_mib * MIB, monitor))
        except QmpError as error:
            process.kill()
            process.wait()
            result.problem("qemu", f"QEMU did not start: {self.said() or error}")
            return

        selector = selectors.DefaultSelector()
        channels = {self.console: self.console_line, self.rig: self.rig_line}
        for channel in channels:
            selector.register(channel.ours, selectors.EVENT_READ, channel)
        last = tick = time.monotonic()
        while any(channel.open for channel in channels):
            for key, _ in selector.select(timeout=1):
                channel = key.data
                for line in channel.lines():
                    channels[channel](guest, line)
                    last = time.monotonic()
                if not channel.open:
                    selector.unregister(channel.ours)
            now = time.monotonic()
            if self.setup.on_tick and now - tick > 1:
                self.tick(guest)
                tick = time.monotonic()
            late = None
            if now - last > self.setup.silence:
                late = f"the guest gave no sign of life for {self.setup.silence:.0f} s"
            elif now - self.started > self.setup.timeout:
                late = f"the guest was not done after {self.setup.timeout:.0f} s"
            if late:
                self.hang(guest, late)
                return
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            result.problem("qemu", "QEMU did not end after the guest")
            return
        if process.returncode:
            result.problem("qemu", f"QEMU ended with code {process.returncode}: "
                                   f"{self.said() or 'see qemu.log'}")
        if not self.ended:
            result.problem("guest", "the guest ended before its script did")

    def tick(self, guest):
        try:
            self.setup.on_tick(guest)
        except QmpError as error:
            # QEMU may end at any time; if it should not have, that shows below
            self.progress(f"no look at the guest: {error}")

    def hang(self, guest, late):
        last = next((line for line in reversed(self.result.console) if line.strip()), "nothing")
        said = self.result.lines[-1].word if self.result.lines else "nothing"
        text = f"{late}; last on the console: {last!r}; last line for the host: {said!r}"
        if self.setup.on_trouble:
            try:
                text += "; " + "; ".join(self.setup.on_trouble(guest))
            except (QmpError, ValueError) as error:
                text += f"; {error}"
        self.result.problem("hang", text)

    def console_line(self, _guest, line):
        self.result.console.append(line)
        kind = klog.problem(line)
        if kind:
            self.result.problem(kind, line)
            self.progress(f"kernel: {line}")

    def rig_line(self, guest, text):
        line = parse(text)
        if not line:
            if text.strip():
                self.progress(f"guest: {text}")
            return
        self.result.lines.append(line)
        if line.word not in QUIET:
            self.progress(text[len("RIG: "):])
        if line.word == "fail":
            self.result.problem(line["kind"], line["text"])
        elif line.word == "end":
            self.ended = True
        elif line.word == "checkpoint":
            self.checkpoint(guest, line["name"])

    def checkpoint(self, guest, name):
        function = self.setup.checkpoints.get(name)
        try:
            if function:
                function(guest)
        except (QmpError, ValueError, OSError) as error:
            self.result.problem("host", f"checkpoint {name}: {error}")
        self.rig.ours.sendall(b"go\n")


def boot(qemu, setup, progress=lambda text: print("    " + text, file=sys.stderr)):
    """Boot one guest to its end. Everything that went wrong is in the result."""
    return Boot(qemu, setup, progress).run()
