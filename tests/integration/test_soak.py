"""What only shows after many rounds: kills at any moment, memory over many runs. `make test-all` runs it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_support import WF, document, environment, wf

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

PIPELINE = """
import time
import workflow as wf

@wf.task
def step(x: int) -> int:
    time.sleep(0.002)
    return x

@wf.task
def total(values: list) -> int:
    return sum(values)

@wf.workflow
def steps(n: int = 3000):
    return total(step.map(range(n)))
"""


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def children(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # ended meanwhile
            continue
        if int(fields[1]) == pid:
            found.append(int(path.parent.name))
    return found


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_kill_at_any_moment_leaves_a_store_that_can_be_read_and_no_process(tmp_path: Path, executor: str) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    rng = random.Random(seed)
    pipeline, store = tmp_path / "pipeline.py", tmp_path / ".wf"
    pipeline.write_text(PIPELINE)
    command = [WF, "run", pipeline, "--store", store, "--python", sys.executable, "-q", "--executor", executor]
    begun = 0
    for _ in range(40):
        process = subprocess.Popen([*command, "--workers", "2"], env=environment())
        time.sleep(rng.uniform(0, 2.5))
        workers = children(process.pid)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
        deadline = time.monotonic() + 60
        while not all(gone(pid) for pid in workers):
            assert time.monotonic() < deadline, f"workers {workers} outlive their owner"
            time.sleep(0.05)
        done = wf("runs", "--json", "--limit", "1000", "--store", store)
        if done.returncode == 3:  # killed before there was a store
            continue
        runs = json.loads(done.stdout)["runs"]
        assert {run["state"] for run in runs} <= {"lost", "success"}, runs
        if len(runs) > begun:
            begun = len(runs)
            shown = document("show", "last", "--store", store)
            assert not any(node["state"] == "running" for node in shown["nodes"])
    assert begun > 10
    last = wf("run", pipeline, "--store", store, "--python", sys.executable, "--param", "n=10")
    assert last.returncode == 0, last.stderr


def test_many_runs_in_one_process_leave_memory_threads_and_descriptors_as_they_were(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        PIPELINE.replace("time.sleep(0.002)", "pass")
        + """
import os, threading

def state():
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return pages * 4096, threading.active_count(), len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

for _ in range(100):
    steps.run(300)
first = state()
for _ in range(600):
    steps.run(300)
last = state()
print(first, last)
assert last[0] - first[0] < 16 << 20, "memory grows"
assert last[1:] == first[1:], "threads or descriptors stay behind"
"""
    )
    done = subprocess.run(
        [sys.executable, program], cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=1000
    )
    assert done.returncode == 0, done.stdout + done.stderr
