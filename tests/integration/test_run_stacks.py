"""Stacks of runs: each sample knows its task, whatever runs the tasks, and nothing of the user's changes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli_support import WF, document, environment, ok, wf

PIPELINE = """
import os, signal, sys, time
import workflow as wf

def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass

def only_in_spin_a(seconds):
    spin(seconds)

def only_in_spin_b(seconds):
    spin(seconds)

@wf.task
def spin_a(seconds):
    only_in_spin_a(seconds)

@wf.task
def spin_b(seconds):
    only_in_spin_b(seconds)

@wf.task
def wait_c(seconds):
    time.sleep(seconds)

@wf.workflow
def three(seconds: float = 0.4):
    spin_a(seconds), spin_b(seconds), wait_c(seconds)

@wf.workflow
def alternate(times: int = 300):
    for _ in range(times):
        spin_a(0.002)
        spin_b(0.002)

@wf.task
async def awaits_a(times):
    import asyncio
    for _ in range(times):
        only_in_spin_a(0.002)
        await asyncio.sleep(0)

@wf.task
async def awaits_b(times):
    import asyncio
    for _ in range(times):
        only_in_spin_b(0.002)
        await asyncio.sleep(0)

@wf.workflow
def coroutines(times: int = 150):
    awaits_a(times), awaits_b(times)

@wf.workflow
def many(times: int = 40):
    for _ in range(times):
        spin_a(0.02)

@wf.task
def wait_for_children():
    try:
        os.waitpid(-1, 0)
    except ChildProcessError:
        return "no children"
    return "somebody's child"

@wf.workflow
def children():
    return wait_for_children()

@wf.task
def die():
    spin(0.3)
    os.kill(os.getpid(), signal.SIGKILL)

@wf.workflow
def killed():
    die()
"""


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    path = tmp_path / "pipeline.py"
    path.write_text(PIPELINE)
    return path


def run(pipeline: Path, name: str, *arguments: object, **env: str) -> subprocess.CompletedProcess[str]:
    target = f"{pipeline}:{name}"
    return wf("run", target, "--store", pipeline.parent / "s", "--python", sys.executable, "-q", *arguments, **env)


def stacks(pipeline: Path, *arguments: object) -> list[tuple[list[str], int]]:
    """Frames, outermost first and named as functions, and weight of each collapsed line."""
    options = ("-f", "collapsed", "-o", "-", "--store", pipeline.parent / "s", "-F", "--nolineno")
    text = ok("export", "last", *options, *arguments)
    lines = [line.rpartition(" ") for line in text.splitlines()]
    return [([frame.split(" (")[0] for frame in frames.split(";")], int(count)) for frames, _, count in lines]


def hot(pipeline: Path) -> dict[str, Any]:
    report = document("report", "--store", pipeline.parent / "s")
    return {} if report["stacks"] is None else {task["task"]: task for task in report["stacks"]["tasks"]}


@pytest.mark.parametrize("executor", ["threads", "processes", "inline", "async"])
def test_each_sample_carries_the_task_in_which_it_was_taken(pipeline: Path, executor: str) -> None:
    done = run(pipeline, "three", "--executor", executor)
    assert (done.returncode, done.stderr) == (0, "")
    for task, own, other in (
        ("spin_a", "only_in_spin_a", "only_in_spin_b"),
        ("spin_b", "only_in_spin_b", "only_in_spin_a"),
    ):
        frames = [frames for frames, _ in stacks(pipeline, "--task", task)]
        assert any(own in each for each in frames), frames
        assert not any(other in each for each in frames), frames
    tasks = hot(pipeline)
    assert tasks["spin_a"]["lines"][0]["function"] == "spin"
    assert tasks["wait_c"]["lines"][0]["waiting_seconds"] > 0.2


@pytest.mark.parametrize("executor", ["threads", "inline"])
def test_tasks_that_follow_each_other_quickly_are_never_mixed_up(pipeline: Path, executor: str) -> None:
    assert run(pipeline, "alternate", "--executor", executor, "--workers", 1, "--stack-rate", "1000").returncode == 0
    for task, other in (("spin_a", "only_in_spin_b"), ("spin_b", "only_in_spin_a")):
        found = stacks(pipeline, "--task", task)
        assert sum(count for _, count in found) > 50
        assert not [frames for frames, _ in found if other in frames]


def test_coroutines_of_one_loop_are_never_mixed_up(pipeline: Path) -> None:
    assert run(pipeline, "coroutines", "--executor", "async", "--stack-rate", "1000").returncode == 0
    for task, own, other in (
        ("awaits_a", "only_in_spin_a", "only_in_spin_b"),
        ("awaits_b", "only_in_spin_b", "only_in_spin_a"),
    ):
        found = [frames for frames, _ in stacks(pipeline, "--task", task)]
        assert any(own in frames for frames in found)
        assert not any(other in frames for frames in found)


def test_the_flame_graph_of_a_run_has_a_frame_for_each_task(pipeline: Path) -> None:
    assert run(pipeline, "three").returncode == 0
    roots = {frames[0] for frames, _ in stacks(pipeline, "--tasks")}
    assert {"task spin_a", "task spin_b", "task wait_c"} <= roots
    svg = pipeline.parent / "run.svg"
    ok("report", "--flame-graph", svg, "--store", pipeline.parent / "s")
    assert "task spin_a" in svg.read_text()


def test_in_mode_sample_only_the_chosen_attempts_have_stacks(pipeline: Path) -> None:
    assert run(pipeline, "many", "--mode", "sample", "--executor", "inline", "--stack-rate", "500").returncode == 0
    text = ok("export", "last", "-f", "json", "-o", "-", "--store", pipeline.parent / "s")
    # Of what was not looked at there is no time, not even idle time outside of attempts.
    attempts = set(json.loads(text)["samples"]["attempt"])
    assert attempts and attempts <= {1, 11, 21, 31}


@pytest.mark.parametrize("arguments", [("--stack-rate", "0"), ("--mode", "off")])
def test_stacks_that_are_not_wanted_are_absent_with_their_reason(pipeline: Path, arguments: tuple[str, str]) -> None:
    assert run(pipeline, "three", *arguments).returncode == 0
    report = document("report", "--store", pipeline.parent / "s")
    assert report["stacks"] is None
    assert any(figure["figure"] == "stacks" and figure["reason"] for figure in report["absent"])


def test_a_plain_program_has_stacks_when_it_asks_for_them(pipeline: Path) -> None:
    code = "import pipeline; pipeline.three.run(store='s', stack_rate=200)"
    subprocess.run([sys.executable, "-c", code], cwd=pipeline.parent, env=environment(), check=True, timeout=120)
    assert hot(pipeline)["spin_b"]["lines"][0]["function"] == "spin"


def test_a_rate_that_is_none_is_refused(pipeline: Path) -> None:
    for rate in ("-1", "fast", "1e9"):
        done = run(pipeline, "three", "--stack-rate", rate)
        assert done.returncode == 2 and "--stack-rate" in done.stderr
    done = run(pipeline, "three", WF_STACK_RATE="fast")
    assert done.returncode == 2 and "WF_STACK_RATE" in done.stderr


def test_a_program_that_waits_for_its_children_does_not_see_the_sampler(pipeline: Path) -> None:
    done = run(pipeline, "children", "--json")
    assert json.loads(done.stdout)["result"] == "'no children'"


def test_a_run_whose_sampler_is_not_there_goes_on_and_says_so(pipeline: Path) -> None:
    code = (
        "import pipeline; from workflow._run import execute\n"
        "run = execute(pipeline.three, (), {}, {'store': 's'}, sampler='/nowhere/wf')\n"
        "print(run.state)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=pipeline.parent,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == "success\n"
    assert "no stacks" in done.stderr and "/nowhere/wf" in done.stderr


def samplers_of(store: Path) -> list[int]:
    """Live sampler processes that write to this store."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            # Not the process that starts it, which has the same words and another name.
            is_it = (entry / "comm").read_text() == "wf-sampler\n"
        except OSError:
            continue
        if is_it and b"--sample-run" in words and os.fsencode(store) in b" ".join(words):
            found.append(int(entry.name))
    return found


def wait_for_samplers(store: Path, number: int) -> list[int]:
    """The samplers once there are so many; fails when that does not come."""
    deadline = time.monotonic() + 30
    while len(found := samplers_of(store)) != number:
        assert time.monotonic() < deadline, found
        time.sleep(0.02)
    return found


def test_what_was_sampled_before_a_kill_is_kept_and_nothing_stays_behind(pipeline: Path) -> None:
    store = pipeline.parent / "s"
    assert run(pipeline, "killed", "--executor", "inline").returncode == -signal.SIGKILL
    wait_for_samplers(store, 0)
    assert any("spin" in frames for frames, _ in stacks(pipeline))


def test_a_sampler_that_is_killed_costs_the_run_nothing_but_stacks(pipeline: Path) -> None:
    store = pipeline.parent / "s"
    command = [WF, "run", f"{pipeline}:three", "--store", store, "--python", sys.executable, "-q", "-p", "seconds=2"]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True) as running:
        os.kill(wait_for_samplers(store, 1)[0], signal.SIGKILL)
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 0
    assert "has no stacks, or not all" in errors


def test_ctrl_c_leaves_no_sampler_behind(pipeline: Path) -> None:
    store = pipeline.parent / "s"
    command = [WF, "run", f"{pipeline}:three", "--store", store, "--python", sys.executable, "-q", "-p", "seconds=3"]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.DEVNULL, start_new_session=True) as running:
        wait_for_samplers(store, 1)
        os.killpg(running.pid, signal.SIGINT)
        assert running.wait(60) == 130
    wait_for_samplers(store, 0)
