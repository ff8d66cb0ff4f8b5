"""`wf record --native`: native frames in every sample, and a program that goes on as if nobody looked."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from cli_support import WF, environment, ok, wf
from target_pythons import every_version, python_of, running, state_of

# Sorts with a Python function as key, and sleeps in a second thread.
SORTING = """
import os, sys, threading, time
def inner(x):
    for _ in range(50): pass
    return -x
def key(x): return inner(x)
def hot(): sorted(range(300), key=key)
def sleeper(): time.sleep(1000)
threading.Thread(target=sleeper, name='sleeper', daemon=True).start()
def work(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end: hot()
"""
FOREVER = SORTING + "print('ready', os.getpid(), flush=True)\nwork(1000)\n"
STOPS = re.compile(r"for native frames, threads were stopped (\d+) times, for [\d.]+ ms each on average")


def lines_of(path: Path) -> Counter[str]:
    lines: Counter[str] = Counter()
    for line in path.read_text(encoding="utf-8").splitlines():
        stack, count = line.rsplit(" ", 1)
        lines[stack] += int(count)
    return lines


@every_version
def test_native_frames_stand_between_the_python_frames(version: str, tmp_path: Path) -> None:
    raw = tmp_path / "raw.txt"
    with running(python_of(version), FOREVER) as program:
        done = wf("record", "-n", "-i", "-F", "-p", program.pid, "-d", "2", "-f", "raw", "-o", raw)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        stops = STOPS.search(done.stderr)
        assert stops is not None and int(stops[1]) > 5
        assert state_of(program.pid) in "RS"
    lines = lines_of(raw)
    with_key = [stack for stack in lines if ";key (" in stack]
    assert with_key
    for stack in with_key:
        frames = stack.split(";")
        at = next(i for i, frame in enumerate(frames) if frame.startswith("key ("))
        hot = next(i for i, frame in enumerate(frames) if frame.startswith("hot ("))
        between = frames[hot + 1 : at]
        assert between and not any("<string>" in frame for frame in between)
        assert any(re.search(r"python|libpython", frame) for frame in between)
    for stack in lines:  # a call that has no Python frame yet, or no more
        if "_PyEval_EvalFrameDefault" in stack:
            assert "<string>" not in stack.split("_PyEval_EvalFrameDefault")[1]
    assert not any("<truncated>" in stack for stack in lines)
    asleep = [stack for stack in lines if ";sleeper (" in stack]
    assert asleep and all("libc.so.6" in stack.split(";sleeper (")[1] for stack in asleep)


def test_stacks_in_the_store_keep_their_native_frames(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with running(python_of("3.12"), FOREVER) as program:
        done = wf("record", "-n", "-p", program.pid, "-d", "1", "-f", "store", "--store", store)
        assert done.returncode == 0, done.stderr
    for form in ("raw", "speedscope", "chrometrace", "pprof", "gecko", "pstats", "heatmap", "json", "flamegraph"):
        out = tmp_path / form
        ok("export", "last", "--store", store, "-f", form, "-o", out)
        assert out.stat().st_size > 0
    kinds = {frame["kind"] for frame in json.loads((tmp_path / "json").read_text())["frames"]}
    assert {"python", "native"} <= kinds
    assert "list_sort" in (tmp_path / "raw").read_text() or "list.sort" in (tmp_path / "raw").read_text()


def test_a_launched_program_keeps_its_status_and_output(tmp_path: Path) -> None:
    source = SORTING + "work(0.7)\nprint('done')\nsys.exit(7)\n"
    command = [WF, "record", "-n", "-f", "raw", "-o", tmp_path / "raw.txt", "--", *python_of("3.12"), "-c", source]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (7, "done\n"), done.stderr
    assert STOPS.search(done.stderr)
    assert any(";key (" in stack for stack in lines_of(tmp_path / "raw.txt"))


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_target_goes_on_when_the_sampler_is_ended(end: signal.Signals, tmp_path: Path) -> None:
    with running(python_of("3.11"), FOREVER) as program:
        for _ in range(5):
            command = [WF, "record", "-n", "-r", "500", "-f", "raw", "-o", tmp_path / "x", "-p", str(program.pid)]
            with subprocess.Popen(command, env=environment(), stderr=subprocess.DEVNULL) as sampler:
                time.sleep(0.3)
                sampler.send_signal(end)
                sampler.wait(60)
            for task in Path(f"/proc/{program.pid}/task").iterdir():
                assert (task / "stat").read_text().rsplit(")", 1)[1].split()[0] in "RSD"


def test_processes_below_are_recorded_with_native_frames(tmp_path: Path) -> None:
    source = SORTING + (
        "if os.fork() == 0: work(1000)\ntime.sleep(0.2)\nprint('ready', os.getpid(), flush=True)\ntime.sleep(1000)\n"
    )
    raw = tmp_path / "raw.txt"
    with running(python_of("3.12"), source) as program:
        [child] = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
        try:
            done = wf("record", "-n", "-s", "-p", program.pid, "-d", "1", "-f", "raw", "-o", raw)
            assert done.returncode == 0, done.stderr
        finally:
            os.kill(int(child), 9)
    assert any(stack.startswith(f"process {child} ") and ";key (" in stack for stack in lines_of(raw))


def test_native_frames_without_a_stop_are_refused(tmp_path: Path) -> None:
    done = wf("record", "-n", "--nonblocking", "-p", 1, "-o", tmp_path / "x")
    assert done.returncode == 2 and "--nonblocking" in done.stderr
