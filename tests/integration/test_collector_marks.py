"""`<GC>`: where Python 3.15 collects garbage, as it tells itself; older versions do not tell on which frame."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cli_support import ok, wf
from export_parsers import PARSERS
from target_pythons import VERSIONS, python_of, running
from test_top import rows_of, top

pytestmark = pytest.mark.slow
READY = "import gc, os, time\ndef ready(): print('ready', os.getpid(), flush=True)\n"
COLLECTS = (
    READY
    + """
graph = [[i, {i: i}] for i in range(200000)]
def collect():
    while True: gc.collect()
ready()
collect()
"""
)
NEVER_COLLECTS = (
    READY
    + """
gc.disable()
def make():
    while True:
        ring = []
        ring.append(ring)
ready()
make()
"""
)
FINALIZER = (
    READY
    + """
class Ring:
    def __init__(self): self.me = self
    def __del__(self): spin()
def spin():
    ready()
    while True: pass
def drop():
    Ring()
    gc.collect()
drop()
"""
)
# The collector's thread sleeps in a finalizer, without the GIL, while another one runs.
PARKED = (
    READY
    + """
import threading
class Ring:
    def __init__(self): self.me = self
    def __del__(self): rest()
def rest():
    ready()
    time.sleep(1000)
def drop():
    Ring()
    gc.collect()
def busy():
    while True: pass
threading.Thread(target=busy, daemon=True).start()
drop()
"""
)


def stacks_of(source: str, version: str, tmp_path: Path, *arguments: str) -> Counter[tuple[str, ...]]:
    """Names of the frames, root first, of the main thread's samples."""
    raw = tmp_path / "raw.txt"
    with running(python_of(version), source) as program:
        done = wf("record", "-p", program.pid, "-d", "1", "-r", "200", "-f", "raw", "-o", raw, *arguments)
    assert done.returncode == 0, done.stderr
    stacks: Counter[tuple[str, ...]] = Counter()
    for line in raw.read_text(encoding="utf-8").splitlines():
        stack, count = line.rsplit(" ", 1)
        if stack.endswith("<torn>"):
            continue  # told to be one
        stacks[tuple(frame.split(" (")[0].split(".")[-1] for frame in stack.split(";"))] += int(count)
    assert stacks.total() > 20  # in a second, on however busy a machine
    return stacks


def frames_of(arguments: list[object], function: str) -> list[tuple[str, str]]:
    """Kind and name, leaf first, of the frames of the thread that has this function."""
    threads: list[dict[str, Any]] = json.loads(ok("dump", "--json", *arguments))
    stacks = [[(frame["kind"], frame["name"]) for frame in thread["frames"]] for thread in threads]
    [found] = [stack for stack in stacks if ("python", function) in stack]
    return found


def test_a_collection_stands_on_the_frame_that_called_for_it(tmp_path: Path) -> None:
    stacks = stacks_of(COLLECTS, "3.15", tmp_path)
    assert stacks["<module>", "collect", "<GC>"] > 0.8 * stacks.total()
    assert set(stacks) <= {("<module>", "collect", "<GC>"), ("<module>", "collect")}


def test_without_collections_there_is_no_mark(tmp_path: Path) -> None:
    stacks = stacks_of(NEVER_COLLECTS, "3.15", tmp_path)
    assert set(stacks) == {("<module>", "make")}


def test_a_finalizer_stands_on_the_mark(tmp_path: Path) -> None:
    stacks = stacks_of(FINALIZER, "3.15", tmp_path)
    assert set(stacks) == {("<module>", "drop", "<GC>", "__del__", "spin")}


def test_a_thread_that_sleeps_in_a_finalizer_keeps_its_mark_and_others_have_none(tmp_path: Path) -> None:
    stacks = stacks_of(PARKED, "3.15", tmp_path, "-i")
    assert ("<module>", "drop", "<GC>", "__del__", "rest") in stacks
    for stack in stacks:
        assert ("<GC>" in stack) == ("drop" in stack)


def test_dump_shows_it_as_a_marker() -> None:
    with running(python_of("3.15"), FINALIZER) as program:
        frames = frames_of(["-p", program.pid, "--locals"], "drop")
        text = ok("dump", "-p", program.pid)
    python = [("python", "spin"), ("python", "__del__")], [("python", "drop"), ("python", "<module>")]
    assert frames == [*python[0], ("marker", "<GC>"), *python[1]]
    assert "\n    <GC>\n    drop (" in text


def test_native_frames_of_the_collector_stand_between_the_mark_and_the_finalizer() -> None:
    with running(python_of("3.15"), FINALIZER) as program:
        frames = frames_of(["-p", program.pid, "--native"], "drop")
    kinds = [kind for kind, _ in frames]
    mark, finalizer = frames.index(("marker", "<GC>")), frames.index(("python", "__del__"))
    assert frames[mark + 1] == ("python", "drop")
    assert set(kinds[finalizer + 1 : mark]) == {"native"}


def test_top_has_it_as_a_row_of_its_own() -> None:
    with running(python_of("3.15"), COLLECTS) as program, top("-p", program.pid) as screen:
        screen.wait_for(lambda text: rows_of(text).get("<GC>", (0.0,))[0] > 50)


@pytest.mark.skipif(shutil.which("gcore") is None, reason="no gcore (Debian: apt-get install gdb)")
def test_a_core_file_has_it(tmp_path: Path) -> None:
    with running(python_of("3.15"), FINALIZER) as program:
        core = tmp_path / f"core.{program.pid}"
        command = ["gcore", "-o", str(tmp_path / "core"), str(program.pid)]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    assert ("marker", "<GC>") in frames_of(["-c", core], "drop")


@pytest.mark.parametrize("name", sorted(set(PARSERS) - {"raw"}))
def test_every_format_has_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / "profile"
    with running(python_of("3.15"), COLLECTS) as program:
        done = wf("record", "-p", program.pid, "-d", "0.3", "-f", name, "-o", path)
    assert done.returncode == 0, done.stderr
    PARSERS[name](path)
    data = path.read_bytes()
    content = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    assert b"<GC>" in content or b"&lt;GC&gt;" in content


@pytest.mark.parametrize("version", [*VERSIONS, "3.14"])
def test_before_3_15_nothing_is_marked(version: str, tmp_path: Path) -> None:
    stacks = stacks_of(FINALIZER, version, tmp_path)
    assert set(stacks) == {("<module>", "drop", "__del__", "spin")}
