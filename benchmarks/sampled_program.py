"""Programs for samplers to look at, and what a sampler that looks at them costs, by its own resource usage."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Prints one line when it is ready, and on SIGUSR1 how many pieces of work it has done in how many CPU nanoseconds.
SOURCE = """
import os, signal, sys, threading, time
threads, depth, busy = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "busy"
if "numpy" in sys.argv: import numpy
done, parked = 0, threading.Event()
def tell(*_): os.write(1, b"%d %d\\n" % (done, time.thread_time_ns()))
def piece():
    total = 0
    for i in range(100): total += i
    return total
def work():
    global done
    if not busy: time.sleep(10**6)
    while True:
        piece()
        done += 1
def deep(depth, leaf):
    if depth > 0: return deep(depth - 1, leaf)
    leaf()
signal.signal(signal.SIGUSR1, tell)
for _ in range(threads - 1):
    threading.Thread(target=deep, args=(depth, parked.wait), daemon=True).start()
time.sleep(0.3)
os.write(1, b"ready %d\\n" % os.getpid())
deep(depth, work)
"""


def python_of(version: str) -> list[str] | None:
    """The command that runs this CPython; None when it is not here."""
    if version in ("3.14", "3.15"):
        root = Path(os.environ.get("WF_NEWER_PYTHON") or ROOT / "build" / "newer-python")
        return [str(ROOT / "tools" / "newer_python"), "run", f"python{version}"] if (root / ".ready").exists() else None
    done = subprocess.run([ROOT / "tools" / "find_python", version], capture_output=True, text=True)
    return [done.stdout.strip()] if done.returncode == 0 else None


class Program:
    """A running target."""

    def __init__(self, process: subprocess.Popen[str], pid: int) -> None:
        self.process, self.pid = process, pid

    def progress(self) -> tuple[int, int]:
        """Pieces of work so far, and the CPU nanoseconds of the thread that does them."""
        os.kill(self.pid, signal.SIGUSR1)
        assert self.process.stdout is not None
        done, cpu = self.process.stdout.readline().split()
        return int(done), int(cpu)


@contextlib.contextmanager
def program(python: list[str], threads: int, depth: int, *words: str) -> Iterator[Program]:
    """All its threads are `depth` calls deep and parked, but the main one, which is busy unless a word says "idle"."""
    work = [] if "idle" in words else ["busy"]
    command = [*python, "-c", SOURCE, str(threads), str(depth), *work, *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    pid = process.pid
    try:
        pid = int(process.stdout.readline().split()[-1])
        yield Program(process, pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


@dataclass
class Cost:
    wall: float
    cpu: float
    peak_mib: float
    text: str  # what it printed


def cost_of(command: list[str], limit: float = 60) -> Cost:
    """Runs a command to its end; what it used is as the kernel accounts for it and its children."""
    with tempfile.TemporaryFile("w+") as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=out)
        timer = start + limit
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.perf_counter() > timer:
                process.kill()
            time.sleep(0.001)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read()
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {text.strip()[-500:]}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text)


def wf() -> str:
    """The `wf` of the environment that runs this."""

    beside = Path(sys.executable).with_name("wf")
    found = str(beside) if beside.exists() else shutil.which("wf")
    if found is None:
        raise RuntimeError("no wf beside this Python: tools/build_bindings puts it there")
    return found


def py_spy() -> str | None:

    beside = Path(sys.executable).with_name("py-spy")
    return str(beside) if beside.exists() else shutil.which("py-spy")


def number_in(text: str, pattern: str) -> float:
    """The number in the only group of `pattern`; 0 where it does not occur."""
    found = re.search(pattern, text)
    return float(found[1].replace(",", "")) if found else 0.0
