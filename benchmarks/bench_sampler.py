"""`wf record` and `wf dump` beside py-spy 0.4.3, and beside CPython 3.15's own profiling.sampling.

What a sampler costs is the CPU time that the kernel accounts to its process, user and system. Per sample: of a run of
three seconds and one of a second, the difference by the difference of their rounds, so that neither start nor end is
in it. A sample is one look at all threads. Ours and the peer look at the same program, in turns.

`WF_BENCH_FULL=1` measures each combination of Python, threads and depth, which takes some minutes.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sampled_program import Cost, Program, cost_of, number_in, program, py_spy, python_of, wf

FULL = os.environ.get("WF_BENCH_FULL") == "1"
SHAPES = [(1, 20), (8, 20), (64, 20), (1, 200), (8, 200), (64, 200)]  # threads, depth
FEW_SHAPES = {"3.11": [(1, 20), (64, 20)], "3.13": SHAPES[:4]}
TIMES_LESS = {(1, 20): 5, (64, 20): 50, (64, 200): 50}  # CPU than py-spy; 20 everywhere else
RATE, LONG, SHORT = 1000, 3, 1
PEER_RATE = {1: 1000, 8: 200, 64: 20}  # what py-spy can keep up with; it costs the same for each sample at any rate
PAIRS = 8


def row(name: str, ours: float, peer: float | None, target: str, unit: str, note: str = "") -> dict[str, Any]:
    ratio = ours / peer if peer else None
    return {"name": name, "ours": ours, "peer": peer, "ratio": ratio, "target": target, "unit": unit, "note": note}


class Scratch:
    """A folder for what the samplers write, gone afterwards."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def ours(self, pid: int, rate: float, seconds: float, form: str = "raw", *more: str) -> list[str]:
        where = ["--store", str(self.folder)] if form == "store" else ["-o", str(self.folder / "ours")]
        return [wf(), "record", "-p", str(pid), "-r", str(rate), "-d", str(seconds), "-f", form, *where, *more]

    def pyspy(self, pid: int, rate: float, seconds: int, flags: Sequence[str] = ()) -> list[str]:
        words = ["record", "-p", str(pid), "-r", str(int(rate)), "-d", str(seconds), "-f", "raw"]
        return [py_spy() or "py-spy", *words, "-o", str(self.folder / "theirs"), *flags]


def sampling_of(pid: int, rate: float, seconds: float) -> list[str]:
    """3.15's own sampler; it must see the file system as its target does."""
    inside = ["nsenter", "--mount", "--root", "--target", str(pid)]
    sampling = ["/usr/bin/python3.15", "-m", "profiling.sampling", "attach", "-a", "--collapsed", "-o", "/dev/null"]
    return [*inside, *sampling, "-r", str(int(rate)), "-d", str(seconds), str(pid)]


def rounds_of(cost: Cost, rate: float, seconds: float) -> float:
    """How many looks a recording made: ours says what it missed, py-spy makes all of them, however long it takes."""
    return seconds * rate - number_in(cost.text, r"([\d,]+) rounds? missed")


def per_sample_us(command: Callable[[float, int], list[str]], rate: float) -> float:
    costs = {seconds: cost_of(command(rate, seconds)) for seconds in (LONG, SHORT)}
    more = rounds_of(costs[LONG], rate, LONG) - rounds_of(costs[SHORT], rate, SHORT)
    return (costs[LONG].cpu - costs[SHORT].cpu) / more * 1e6


def cost_rows(scratch: Scratch) -> Iterator[dict[str, Any]]:
    for version in ("3.11", "3.13"):
        python = python_of(version)
        for threads, depth in SHAPES if FULL else FEW_SHAPES[version]:
            if python is not None:
                with program(python, threads, depth) as target:
                    yield from cost_of_shape(scratch, target, version, threads, depth)


def cost_of_shape(
    scratch: Scratch, target: Program, version: str, threads: int, depth: int
) -> Iterator[dict[str, Any]]:
    name = f"a sample, {version}, {threads} threads, depth {depth}".replace(" 1 threads", " 1 thread")
    goal = f"<= {1 / TIMES_LESS.get((threads, depth), 20):.3g} x"
    raw = per_sample_us(lambda rate, seconds: scratch.ours(target.pid, rate, seconds), RATE)
    store = per_sample_us(lambda rate, seconds: scratch.ours(target.pid, rate, seconds, "store"), RATE)
    kept = f"to the store {store:.1f} us; "
    if py_spy() is None:
        yield row(name, raw, None, goal, "us CPU", f"{kept}py-spy is not installed")
        return
    for how, flag in (("pausing, its default", []), ("--nonblocking", ["--nonblocking"])):
        command = functools.partial(scratch.pyspy, target.pid, flags=flag)
        peer = per_sample_us(command, PEER_RATE[threads])
        yield row(name, raw, peer, goal, "us CPU", f"{kept}py-spy 0.4.3, {how}")
        kept = ""


def fastest_rows(scratch: Scratch) -> Iterator[dict[str, Any]]:
    """As many rounds as it manages, beside profiling.sampling; samples that were given up count as errors."""
    python = python_of("3.15")
    if python is None:
        return
    for threads, depth, times in ((1, 20, 3), (1, 200, 4), (8, 20, 8)):
        rates: list[tuple[float, float]] = []
        errors: list[tuple[float, float]] = []
        with program(python, threads, depth) as target:
            for _ in range(3):
                ours = cost_of(scratch.ours(target.pid, 1_000_000, 1)).text
                theirs = cost_of(sampling_of(target.pid, 1_000_000, 1)).text
                seen, rejected = (
                    number_in(ours, r" ([\d,]+) samples? in"),
                    number_in(ours, r"([\d,]+) readings? rejected"),
                )
                errors.append((rejected / (seen + rejected) * 100, number_in(theirs, "Error rate: ([\\d.]+)")))
                rate = number_in(ours, r", ([\d.e+]+) of [\d.e+]+ Hz")
                rates.append((rate, number_in(theirs, r"Sample rate: ([\d.]+)")))
        rate, peer = (statistics.median(each) for each in zip(*rates, strict=True))
        wrong, peer_wrong = (statistics.median(each) for each in zip(*errors, strict=True))
        name = f"highest rate, 3.15, {threads} threads, depth {depth}".replace(" 1 threads", " 1 thread")
        note = f"errors: ours {wrong:.3f} %, theirs {peer_wrong:.2f} %; beside profiling.sampling"
        yield row(name, rate, peer, f">= {times} x", "samples/s", note)


def speed_of(target: Program, seconds: float) -> float:
    done, cpu = target.progress()
    time.sleep(seconds)
    done_then, cpu_then = target.progress()
    return (done_then - done) / (cpu_then - cpu)


def loss(target: Program, sampler: Callable[[], list[str]], pairs: int) -> float:
    """How much less a CPU second of the target gets done under the sampler; each pair is with and without, in turns."""
    ratios = []
    for _ in range(pairs):
        alone = speed_of(target, 0.5)
        with subprocess.Popen(sampler(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as watcher:
            time.sleep(0.3)
            watched = speed_of(target, 0.5)
            watcher.terminate()
        ratios.append((watched / alone, watched / speed_of(target, 0.5)))
    return 1 - statistics.median(ratio for both in ratios for ratio in both)


def loss_rows(scratch: Scratch) -> Iterator[dict[str, Any]]:
    for version, threads in (("3.15", 1), ("3.13", 300)):
        python = python_of(version)
        if python is None:
            continue
        with program(python, threads, 20) as target:
            ours = loss(target, lambda: scratch.ours(target.pid, RATE, 60), PAIRS)
            peer = None
            if version == "3.15":
                peer = loss(target, lambda: sampling_of(target.pid, RATE, 60), 3)
            elif py_spy():
                peer = loss(target, lambda: scratch.pyspy(target.pid, RATE, 60), 2)
        beside = "profiling.sampling" if version == "3.15" else "py-spy 0.4.3"
        name = f"work lost per CPU second at 1 kHz, {version}, {threads} threads".replace(" 1 threads", " 1 thread")
        yield row(name, ours * 100, peer and peer * 100, "<= 1 %", "%", f"beside {beside}; noise is about 3 %")


def idle_percent(command: Callable[[int], list[str]]) -> float:
    """Of a core, without what start and end cost."""
    return (cost_of(command(LONG)).cpu - cost_of(command(SHORT)).cpu) / (LONG - SHORT) * 100


def idle_recording(scratch: Scratch, pid: int, seconds: int) -> list[str]:
    return scratch.ours(pid, 100, seconds, "raw", "-i")


def idle_rows(scratch: Scratch) -> Iterator[dict[str, Any]]:
    python = python_of("3.13")
    if python is None:
        return
    for threads in (1, 8):
        with program(python, threads, 20, "idle") as target:
            command = functools.partial(scratch.pyspy, target.pid, 100, flags=["-i"])
            ours = idle_percent(functools.partial(idle_recording, scratch, target.pid))
            peer = idle_percent(command) if py_spy() else None
        name = f"an idle program at 100 Hz, {threads} threads".replace(" 1 threads", " 1 thread")
        yield row(name, ours, peer, "< 0.5 %", "% of a core", "beside py-spy -i")


def median_wall_ms(command: list[str], times: int = 7) -> float:
    return statistics.median(cost_of(command).wall for _ in range(times)) * 1000


def start_rows(scratch: Scratch) -> Iterator[dict[str, Any]]:
    if importlib.util.find_spec("numpy") is None:
        return
    with program([sys.executable], 4, 20, "numpy") as target:
        first = median_wall_ms(scratch.ours(target.pid, RATE, 0.001)) - 1
        yield row("attach to first sample, numpy loaded", first, None, "< 50 ms", "ms", "the whole command")
        ours = median_wall_ms([wf(), "dump", "-p", str(target.pid)])
        spy = py_spy()
        peer = median_wall_ms([spy, "dump", "-p", str(target.pid)]) if spy else None
        yield row("dump, 4 threads, numpy loaded", ours, peer, "<= 1 x", "ms", "beside py-spy dump")


CHURN = """
import itertools, os, threading
os.write(1, b"ready %d\\n" % os.getpid())
for i in itertools.count():
    space = {}
    name = "f%d" % (i % 1000)
    exec(compile("def %s(n):\\n for _ in range(n): pass" % name, "file%d" % (i % 1000), "exec"), space)
    thread = threading.Thread(target=space[name], args=(20000,), name="t%d" % (i % 100))
    thread.start(); thread.join()
"""


def resident_mib(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text()
    return number_in(text, r"VmRSS:\s+(\d+) kB") / 1024


def memory_rows(scratch: Scratch) -> Iterator[dict[str, Any]]:
    """A program whose code and threads come and go; what the sampler holds soon after its start, and at the end."""
    python = python_of("3.13")
    if python is None:
        return
    with subprocess.Popen([*python, "-c", CHURN], stdout=subprocess.PIPE) as target:
        assert target.stdout is not None
        target.stdout.readline()
        command = scratch.ours(target.pid, RATE, 12, "store")
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as sampler:
            time.sleep(3)
            early = resident_mib(sampler.pid)
            time.sleep(8)
            late = resident_mib(sampler.pid)
        target.kill()
    yield row(
        "memory of the sampler, changing program", late, early, "< 30 MiB", "MiB", "after 11 s; 'peer': after 3 s"
    )


def run() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = Scratch(folder)
        for part in (cost_rows, fastest_rows, loss_rows, idle_rows, start_rows, memory_rows):
            rows += part(scratch)
    return rows
