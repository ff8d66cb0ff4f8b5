"""The sampler at full speed on programs that change quickly: no stack, name or file is ever wrong, few are given up.

Uses build/release's sampler_probe, which prints collapsed stacks: `thread state;root@file;…;leaf@file count`.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from target_pythons import ROOT, every_version, python_of, running

PROBE = Path(os.environ.get("WF_SAMPLER_PROBE") or ROOT / "build" / "release" / "src" / "sampler" / "sampler_probe")
READY = "import os; print('ready', os.getpid(), flush=True)\n"

pytestmark = pytest.mark.skipif(not PROBE.exists(), reason="sampler_probe is not built (tools/test_cpp release)")

CALLS = (
    READY
    + """
def leaf_a():
    for _ in range(300): pass
def leaf_b():
    for _ in range(300): pass
def hot_a():
    for _ in range(50): leaf_a()
def hot_b():
    for _ in range(50): leaf_b()
def loop():
    while True: hot_a(); hot_b()
"""
)
GENERATORS = (
    READY
    + """
def leaf_a():
    while True:
        for _ in range(100): pass
        yield
def leaf_b():
    while True:
        for _ in range(100): pass
        yield
def hot_a():
    for _ in range(50): a.send(None)
def hot_b():
    for _ in range(50): b.send(None)
a, b = leaf_a(), leaf_b()
while True: hot_a(); hot_b()
"""
)
CODE = (
    READY
    + """
import itertools
for i in itertools.count():
    n = i % 997
    space = {}
    exec(compile("def fn%d():\\n  for _ in range(4000): pass\\n" % n, "file%d" % n, "exec"), space)
    space["fn%d" % n]()
"""
)
NAMES = (
    READY
    + """
import threading, time
def spin(s):
    end = time.perf_counter() + s
    while time.perf_counter() < end: pass
for i in range(40): exec("def job%d(): spin(0.03)" % i)
while True:
    for i in range(40):
        thread = threading.Thread(target=globals()["job%d" % i], name="job%d" % i)
        thread.start()
        thread.join()
"""
)


def sampled(version: str, source: str) -> Iterator[tuple[str, list[tuple[str, str]], int]]:
    """Thread name, frames as (name, file) root first, and count; fails when too many samples were given up."""
    with running(python_of(version), source) as program:
        done = subprocess.run([PROBE, "loop", str(program.pid), "1", "0"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    samples = sum(int(line.split()[-1]) for line in lines if line.startswith("# samples"))
    rejected = sum(int(line.split()[-1]) for line in lines if line.startswith("# rejected"))
    assert samples > 50  # in a second, on however busy a machine
    assert rejected <= samples / 3  # it is under 1 in 100 where nothing else runs
    for line in lines:
        if not line.startswith("#"):
            stack, count = line.rsplit(" ", 1)
            thread, *frames = stack.split(";")
            pairs = [tuple(frame.split("@", 1)) for frame in frames]
            yield thread.rsplit(" ", 1)[0], pairs, int(count)  # type: ignore[misc]


@every_version
@pytest.mark.parametrize("threads", [1, 4])
def test_calls(version: str, threads: int) -> None:
    start = f"import threading\nfor _ in range({threads - 1}): threading.Thread(target=loop).start()\nloop()"
    for _, frames, _ in sampled(version, CALLS + start):
        names = "".join(name[-2:] for name, _ in frames if name.startswith(("hot", "leaf")))
        assert names in ("", "_a", "_b", "_a_a", "_b_b")


@every_version
def test_generators(version: str) -> None:
    for _, frames, _ in sampled(version, GENERATORS):
        names = [name for name, _ in frames]
        assert names[0] == "<module>"
        assert names[1:] in ([], ["hot_a"], ["hot_b"], ["hot_a", "leaf_a"], ["hot_b", "leaf_b"])


@every_version
def test_code_that_comes_and_goes(version: str) -> None:
    seen = 0
    for _, frames, count in sampled(version, CODE):
        for name, file in frames:
            match = re.fullmatch(r"fn(\d+)", name)
            if match:
                seen += count
                assert file == f"file{match[1]}"
    assert seen > 5


@every_version
def test_thread_names_of_threads_that_come_and_go(version: str) -> None:
    named = nameless = 0
    for thread, frames, count in sampled(version, NAMES):
        jobs = [name for name, _ in frames if name.startswith("job")]
        if jobs and thread in ("active", "idle", "active+gil", "idle+gil", ""):
            nameless += count
        elif jobs:
            named += count
            assert jobs == [thread]
    assert named > nameless
