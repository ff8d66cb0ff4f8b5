"""`wf record` and `wf dump` on programs that run Workflow: what they do carries the task for which they do it."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_support import WF, document, environment, ok, wf
from export_parsers import PARSERS, strict_json
from target_pythons import every_version, python_of, running

# Functions that run under one task only, and one that runs under none.
PIPELINE = """
import os, sys, time

def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass

def say(seconds):
    if seconds > 100:
        os.write(1, f"{wf.current_task().run_id} {os.getpid()}\\n".encode())

def only_in_load(seconds): say(seconds), spin(seconds)
def only_in_train(seconds): say(seconds), spin(seconds)
def alone(seconds): spin(seconds)

alone(0.3)
import asyncio, threading
import workflow as wf

@wf.task
def load(seconds): only_in_load(seconds)

@wf.task(name="train; all of it")
def train(seconds): only_in_train(seconds)

@wf.task(name="load")
async def load_in_turns(times):
    for _ in range(times):
        only_in_load(0.002)
        await asyncio.sleep(0)

@wf.task(name="train; all of it")
async def train_in_turns(times):
    for _ in range(times):
        only_in_train(0.002)
        await asyncio.sleep(0)

@wf.task(name="load")
def load_by_fork(seconds):
    child = os.fork()
    if child == 0:
        only_in_load(seconds)
        os._exit(0)
    os.waitpid(child, 0)

@wf.workflow
def both(seconds: float = 0.6): load(seconds), train(seconds)

@wf.workflow
def alternate(times: int = 150):
    for _ in range(times):
        load(0.002), train(0.002)

@wf.workflow
def in_turns(times: int = 200): load_in_turns(times), train_in_turns(times)

@wf.workflow
def forks(seconds: float = 0.6): load_by_fork(seconds), train(seconds)

@wf.workflow
def for_long(seconds: float = 300): load(seconds), train(seconds)

if __name__ == "__main__":
    name, executor = sys.argv[1:]
    globals()[name].run(executor=executor)
"""
OUTSIDE = "(outside of tasks)"
LOAD, TRAIN = "task load", r"task train\x3b all of it"


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    path = tmp_path / "pipeline.py"
    path.write_text(PIPELINE)
    return path


@contextlib.contextmanager
def going_on(pipeline: Path, executor: str = "threads") -> Iterator[tuple[int, str]]:
    """A process id, of one that runs a task, and the id of a run whose two tasks spin for long."""
    command = [sys.executable, str(pipeline), "for_long", executor]
    with subprocess.Popen(command, env=environment(), cwd=pipeline.parent, stdout=subprocess.PIPE, text=True) as run:
        try:
            assert run.stdout is not None
            run_id, pid = run.stdout.readline().split()
            assert run.stdout.readline().startswith(run_id)
            yield int(pid), run_id
        finally:
            run.kill()


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, str]]:
    path = tmp_path_factory.mktemp("long") / "pipeline.py"
    path.write_text(PIPELINE)
    with going_on(path) as found:
        yield found


def by_root(raw: str) -> dict[str, Counter[str]]:
    """Of collapsed stacks: for each outermost frame, how often each of our functions was seen under it."""
    found: dict[str, Counter[str]] = {}
    for line in raw.splitlines():
        stack, _, count = line.rpartition(" ")
        root, *frames = [frame.split(" (")[0] if i else frame for i, frame in enumerate(stack.split(";"))]
        seen = found.setdefault(root, Counter())
        for function in {"only_in_load", "only_in_train", "alone"}.intersection(frames):
            seen[function] += int(count)
    return found


def is_true(found: dict[str, Counter[str]]) -> None:
    """Each function only under its task. (A thread that changed its task just then is said to be outside of any.)"""
    assert set(found) <= {LOAD, TRAIN, OUTSIDE}, found
    assert set(found[LOAD]) <= {"only_in_load"}, found
    assert set(found[TRAIN]) <= {"only_in_train"}, found


def record(output: Path, *arguments: object, tasks: bool = True) -> subprocess.CompletedProcess[str]:
    options = ["--tasks"] if tasks else []
    return wf("record", "-f", "raw", "-F", "--nolineno", "-o", output, *options, *arguments)


@pytest.mark.parametrize(
    ("workflow", "executor"),
    [
        ("both", "threads"),
        ("both", "processes"),
        ("both", "inline"),
        ("in_turns", "async"),
        ("alternate", "threads"),
        ("forks", "threads"),
    ],
)
def test_what_a_program_does_in_a_task_stands_under_it(
    pipeline: Path, tmp_path: Path, workflow: str, executor: str
) -> None:
    raw = tmp_path / "raw.txt"
    done = record(raw, "-s", "-r", "500", "--", sys.executable, pipeline, workflow, executor)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    found = by_root(raw.read_text())
    is_true(found)
    for task, function in ((LOAD, "only_in_load"), (TRAIN, "only_in_train")):
        # The page of a process is looked for again and again, so that all but its very first moments are known.
        assert found[task][function] > found[OUTSIDE][function], found
    assert found[OUTSIDE]["alone"] > 0


@pytest.mark.parametrize("options", [[], ["--blocking"], ["--native"]])
def test_a_run_that_is_going_on_is_attached_to(long_run: tuple[int, str], tmp_path: Path, options: list[str]) -> None:
    pid, _ = long_run
    done = record(tmp_path / "raw.txt", "-p", pid, "-d", "0.7", *options)
    assert done.returncode == 0, done.stderr
    found = by_root((tmp_path / "raw.txt").read_text())
    is_true(found)
    assert found[LOAD]["only_in_load"] > 5 and found[TRAIN]["only_in_train"] > 5


def test_a_program_that_executes_a_pipeline_later_is_followed(pipeline: Path, tmp_path: Path) -> None:
    first = f"import os, sys\nos.execv({sys.executable!r}, [sys.executable, {str(pipeline)!r}, 'both', 'threads'])\n"
    raw = tmp_path / "raw.txt"
    assert record(raw, "--", sys.executable, "-c", "import time; time.sleep(0.5)\n" + first).returncode == 0
    found = by_root(raw.read_text())
    is_true(found)
    assert found[LOAD]["only_in_load"] > found[OUTSIDE]["only_in_load"]


def test_without_the_flag_stacks_are_as_ever(pipeline: Path, tmp_path: Path) -> None:
    raw = tmp_path / "raw.txt"
    assert record(raw, "--", sys.executable, pipeline, "both", "inline", tasks=False).returncode == 0
    assert not re.search(r"(?m)^(task |\(outside)", raw.read_text())


# --- where the numbers are kept ------------------------------------------------------------------------------------


def test_the_store_keeps_which_run_node_and_task_each_sample_is_of(long_run: tuple[int, str], tmp_path: Path) -> None:
    store = tmp_path / "s"
    pid, run = long_run
    done = wf("record", "-p", pid, "-d", "0.7", "-f", "store", "--store", store)
    assert done.returncode == 0, done.stderr
    hot = {task["task"]: task for task in document("report", "--store", store)["stacks"]["tasks"]}
    assert {"load", "train; all of it"} <= set(hot)
    assert hot["load"]["lines"][0]["function"] == "spin"
    assert OUTSIDE in ok("report", "--all", "--store", store) or None not in hot
    is_true(by_root(ok("export", "last", "--store", store, "--tasks", "-f", "raw", "-F", "--nolineno", "-o", "-")))
    only = ok("export", "last", "--store", store, "--task", "load", "-f", "raw", "-F", "--nolineno", "-o", "-")
    assert "only_in_load" in only and "only_in_train" not in only
    stacks = strict_json(ok("export", "last", "--store", store, "-f", "json", "-o", "-"))
    rows = {row["id"]: row for row in stacks["attempts"]}
    assert {row["run"] for row in rows.values()} == {run}
    assert {row["task"]: row["node"] for row in rows.values()} == {"load": 1, "train; all of it": 2}
    assert set(stacks["samples"]["attempt"]) <= {0, *rows}


@pytest.mark.parametrize("form", sorted(set(PARSERS) - {"raw"}))
def test_every_format_has_the_tasks(long_run: tuple[int, str], tmp_path: Path, form: str) -> None:
    path = tmp_path / "out"
    pid, run = long_run
    done = wf("record", "-p", pid, "-d", "0.4", "-f", form, "--tasks", "-o", path)
    assert done.returncode == 0, done.stderr
    assert PARSERS[form](path) > 0
    if form in ("json", "jsonl", "chrometrace"):
        assert run in path.read_text()
    if form in ("flamegraph", "collapsed", "speedscope", "gecko", "json", "jsonl", "chrometrace"):
        assert "task load" in path.read_text()


def test_json_knows_the_attempts_without_being_asked(long_run: tuple[int, str], tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    pid, run = long_run
    assert wf("record", "-p", pid, "-d", "0.4", "-f", "json", "-o", path).returncode == 0
    stacks = strict_json(path.read_text())
    frames = [frame["name"] for frame in stacks["frames"]]
    task_of = {0: "", **{row["id"]: row["task"] for row in stacks["attempts"]}}
    for stack, attempt in zip(stacks["samples"]["stack"], stacks["samples"]["attempt"], strict=True):
        names = set()
        while stack:
            names.add(frames[stacks["stacks"]["frame"][stack]])
            stack = stacks["stacks"]["parent"][stack]
        assert "only_in_load" not in names or task_of[attempt] in ("load", "")
        assert "only_in_train" not in names or task_of[attempt] in ("train; all of it", "")
    assert {row["run"] for row in stacks["attempts"]} == {run}
    assert any(stacks["samples"]["attempt"])


def test_the_store_has_them_anyway_so_that_the_flag_is_refused_there(tmp_path: Path) -> None:
    done = wf("record", "--tasks", "-f", "store", "--store", tmp_path / "s", "--", sys.executable, "-c", "1")
    assert (done.returncode, "wf export" in done.stderr) == (2, True)


# --- other programs ------------------------------------------------------------------------------------------------

BUSY = "import os, time\nprint('ready', os.getpid(), flush=True)\ndef work():\n  while True: pass\nwork()\n"


@every_version
def test_a_program_without_workflow_has_no_tasks_and_that_is_said(version: str, tmp_path: Path) -> None:
    raw = tmp_path / "raw.txt"
    with running(python_of(version), BUSY) as program:
        done = record(raw, "-p", program.pid, "-d", "0.5")
        stacks = json.loads(ok("dump", "-j", "-p", program.pid))
    assert done.returncode == 0 and "no thread was seen to work for a task" in done.stderr
    assert {line.split(";")[0] for line in raw.read_text().splitlines()} == {OUTSIDE}
    assert [thread["attempt"] for thread in stacks] == [None]


def test_a_program_without_workflow_is_not_searched_again_while_it_maps_nothing(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    with running(python_of("3.11"), BUSY) as program:
        command = [WF, "record", "-p", program.pid, "-d", "2", "-r", "200", "--tasks", "-o", tmp_path / "x.svg"]
        trace = ["strace", "-f", "-qq", "-e", "trace=openat", "-o", calls]
        subprocess.run(list(map(str, trace + command)), env=environment(), check=True, capture_output=True)
    searched = re.findall(rf"/proc/{program.pid}/maps", calls.read_text())
    assert 1 <= len(searched) <= 10, searched  # of 400 rounds; to attach looks through them too


def test_a_page_of_another_version_is_said_to_be_one(tmp_path: Path) -> None:
    page = (
        "import mmap, os, struct\n"
        "fd = os.memfd_create('wf-context')\n"
        "os.ftruncate(fd, 1 << 20)\n"
        "os.pwrite(fd, b'WFCTXPG1' + struct.pack('<I', 999), 0)\n"
        "page = mmap.mmap(fd, 1 << 20)\n"
    )
    with running(python_of("3.11"), page + BUSY) as program:
        done = record(tmp_path / "raw.txt", "-p", program.pid, "-d", "0.4")
    assert done.returncode == 0 and "made by another version of Workflow" in done.stderr


# --- dump ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--blocking"]])
def test_dump_says_which_task_a_thread_works_for(long_run: tuple[int, str], options: list[str]) -> None:
    pid, run = long_run
    text = ok("dump", "-p", pid, *options)
    threads = json.loads(ok("dump", "-j", "-p", pid, *options))
    assert f"<works for task load: node 1 of run {run}>\n" in text
    assert f"<works for task train; all of it: node 2 of run {run}>\n" in text
    seen = 0
    for thread in threads:
        names = {frame["name"] for frame in thread["frames"]}
        for function, task in (("only_in_load", "load"), ("only_in_train", "train; all of it")):
            if function in names:
                assert (thread["attempt"]["task"], thread["attempt"]["run"]) == (task, run)
                seen += 1
        if thread["thread_name"] == "MainThread":
            assert thread["attempt"] is None
    assert seen == 2


def test_dump_of_a_worker_process_knows_its_task(pipeline: Path) -> None:
    with going_on(pipeline, "processes") as (pid, run):
        parent = int(re.search(r"PPid:\t(\d+)", Path(f"/proc/{pid}/status").read_text())[1])  # type: ignore[index]
        threads = json.loads(ok("dump", "-s", "-j", "-p", parent))
    found = {thread["attempt"]["task"] for thread in threads if thread["attempt"]}
    assert found == {"load", "train; all of it"}
    assert {thread["attempt"]["run"] for thread in threads if thread["attempt"]} == {run}
