"""`wf dump --async` on real processes of every CPython that is installed: each task with its own chain."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cli_support import ok, wf
from target_pythons import every_version, python_of, running

HEAD = "import asyncio, os, sys, threading, time\ndef ready(): print(os.getpid(), flush=True)\n"
THREE = HEAD + (
    "async def leaf(): await asyncio.sleep(1000)\n"
    "async def mid_a(): await leaf()\nasync def mid_b(): await leaf()\nasync def mid_c(): await leaf()\n"
    "async def main():\n"
    "  tasks = [asyncio.ensure_future(m()) for m in (mid_a, mid_b, mid_c)]\n"
    "  for task, name in zip(tasks, 'abc'): task.set_name(name)\n"
    "  done = asyncio.ensure_future(asyncio.sleep(0)); done.set_name('done'); await done\n"
    "  await asyncio.sleep(0.05); ready()\n"
    "  await asyncio.gather(*tasks)\n"
    "  print(done)\n"
    "asyncio.run(main())\n"
)


def tasks(pid: int, *arguments: str) -> list[dict[str, Any]]:
    threads = json.loads(ok("dump", "-p", pid, "--async", "--json", *arguments))
    return [task for thread in threads for task in thread["tasks"]]


def chains(pid: int, *arguments: str) -> dict[str, list[str]]:
    """Names of functions by task, outermost first; asyncio.sleep's own frame left out."""
    return {
        task["name"]: [f["name"] for f in reversed(task["frames"]) if f["name"] != "sleep"]
        for task in tasks(pid, *arguments)
    }


@every_version
def test_three_named_tasks_have_three_chains(version: str) -> None:
    with running(python_of(version), THREE, asleep=True) as program:
        expected = {"a": ["mid_a", "leaf"], "b": ["mid_b", "leaf"], "c": ["mid_c", "leaf"], "Task-1": ["main"]}
        assert chains(program.pid) == expected
        assert chains(program.pid, "--blocking") == expected
        for task in tasks(program.pid):
            assert task["state"] == "waiting" and not task["truncated"]
        [a] = [task for task in tasks(program.pid) if task["name"] == "a"]
        assert [frame["line"] for frame in a["frames"]][1:] == [3, 4]
        text = ok("dump", "-p", program.pid, "--async")
        assert '\n  Task "a" (waiting)\n    sleep (' in text and "    mid_a (<string>:4)\n" in text
        assert '"done"' not in text


@every_version
def test_the_chain_goes_through_generators_of_all_kinds(version: str) -> None:
    source = HEAD + (
        "import types\n"
        "@types.coroutine\ndef old(): yield from asyncio.sleep(1000)\n"
        "class Thing:\n  def __await__(self): return old().__await__() if hasattr(old(), '__await__') else old()\n"
        "async def deep(): await old()\n"
        "async def each():\n  for n in (x for x in [1, 2]):\n    await asyncio.sleep(1000)\n    yield n\n"
        "async def loop():\n  async for _ in each(): pass\n"
        "async def collect(): return {x async for x in each()}\n"
        "async def held():\n  async with Held(): await asyncio.sleep(1000)\n"
        "class Held:\n  async def __aenter__(self): await asyncio.sleep(1000)\n  async def __aexit__(self, *_): pass\n"
        "async def main():\n"
        "  for f in (deep, loop, collect, held): asyncio.ensure_future(f()).set_name(f.__name__)\n"
        "  await asyncio.sleep(0.05); ready(); await asyncio.sleep(1000)\n"
        "asyncio.run(main())\n"
    )
    with running(python_of(version), source, asleep=True) as program:
        found = chains(program.pid)
        assert found["deep"] == ["deep", "old"]
        assert found["loop"] == ["loop", "each"]
        assert [name for name in found["collect"] if name != "<setcomp>"] == ["collect", "each"]
        assert found["held"] == ["held", "__aenter__"]


@every_version
def test_a_generator_that_yields_is_no_await_of_what_it_iterates(version: str) -> None:
    source = HEAD + (
        "import types\n"
        "def items():\n  while True: yield None\n"
        "@types.coroutine\ndef yields():\n"
        "  for item in items():\n    seen.append(1)\n    if len(seen) > 3: ready(); time.sleep(1000)\n    yield item\n"
        "seen = []\n"
        "async def once(): await yields()\n"
        "async def main():\n"
        "  for name in ('x', 'y'): asyncio.ensure_future(once()).set_name(name)\n"
        "  await asyncio.sleep(1000)\n"
        "asyncio.run(main())\n"
    )
    with running(python_of(version), source, asleep=True) as program:
        found = {task["name"]: task for task in tasks(program.pid)}
        states = sorted(found[name]["state"] for name in "xy")
        assert states == ["ready", "running"]
        for name in "xy":
            assert [f["name"] for f in found[name]["frames"]] == ["yields", "once"]


@every_version
def test_two_loops_in_two_threads_keep_their_tasks_apart(version: str) -> None:
    source = HEAD + (
        "async def one(): await asyncio.sleep(1000)\nasync def two(): await asyncio.sleep(1000)\n"
        "async def run(f):\n"
        "  asyncio.ensure_future(f()).set_name(f.__name__)\n"
        "  await asyncio.sleep(0.05); left.release(); await asyncio.sleep(1000)\n"
        "left = threading.Semaphore(0)\n"
        "for f in (one, two): threading.Thread(target=lambda f=f: asyncio.run(run(f)), name=f.__name__).start()\n"
        "left.acquire(); left.acquire(); ready()\n"
    )
    with running(python_of(version), source, asleep=True) as program:
        threads = {t["thread_name"]: t for t in json.loads(ok("dump", "-p", program.pid, "--async", "-j"))}
        assert threads["MainThread"]["tasks"] == []
        for name in ("one", "two"):
            named = [task for task in threads[name]["tasks"] if not task["name"].startswith("Task-")]
            assert [task["name"] for task in named] == [name]
            assert named[0]["frames"][-1]["name"] == name


@every_version
def test_names_and_chains_of_tasks_that_come_and_go_never_mix(version: str) -> None:
    source = HEAD + (
        "async def in_a(): await asyncio.sleep(0)\nasync def in_b(): await asyncio.sleep(0.0001)\n"
        "async def a(): await in_a()\nasync def b(): await in_b()\n"
        "async def main():\n  ready()\n  while True:\n"
        "    some = [asyncio.ensure_future(f()) for f in (a, b) * 5]\n"
        "    for task, f in zip(some, (a, b) * 5): task.set_name(f.__name__)\n"
        "    await asyncio.gather(*some)\n"
        "asyncio.run(main())\n"
    )
    with running(python_of(version), source) as program:
        for _ in range(30):
            for arguments in ([], ["--blocking"]):
                for task in tasks(program.pid, *arguments):
                    names = [f["name"] for f in reversed(task["frames"]) if f["name"] in ("a", "b", "in_a", "in_b")]
                    if task["name"] in ("a", "b"):
                        assert names in ([], [task["name"]], [task["name"], "in_" + task["name"]])


@every_version
def test_what_a_running_task_calls_is_a_part_of_its_chain(version: str) -> None:
    source = HEAD + (
        "def work(): ready(); time.sleep(1000)\nasync def inner(): work()\nasync def main(): await inner()\n"
        "asyncio.run(main())\n"
    )
    with running(python_of(version), source, asleep=True) as program:
        [task] = tasks(program.pid)
        assert task["state"] == "running"
        assert [f["name"] for f in task["frames"]] == ["work", "inner", "main"]


@pytest.mark.parametrize("version", ["3.12", "3.13", *(pytest.param(v, marks=pytest.mark.slow) for v in ("3.14",))])
def test_eager_tasks_and_task_groups_and_threads(version: str) -> None:
    source = HEAD + (
        "async def leaf(): await asyncio.sleep(1000)\nasync def waits(): await asyncio.to_thread(time.sleep, 1000)\n"
        "async def main():\n"
        "  asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)\n"
        "  async with asyncio.TaskGroup() as group:\n"
        "    group.create_task(leaf(), name='eager'); group.create_task(waits(), name='thread')\n"
        "    await asyncio.sleep(0.05); ready()\n"
        "asyncio.run(main())\n"
    )
    with running(python_of(version), source, asleep=True) as program:
        found = chains(program.pid)
        assert found["eager"] == ["leaf"] and found["thread"] == ["waits", "to_thread"]
        assert found["Task-1"][:2] == ["main", "__aexit__"]


@every_version
def test_tasks_written_in_python_are_shown_too(version: str) -> None:
    source = "import asyncio.tasks as t\nt.Task = t._PyTask\n" + THREE.replace(
        "asyncio.ensure_future(m())", "t._PyTask(m(), loop=asyncio.get_event_loop())"
    )
    with running(python_of(version), source, asleep=True) as program:
        found = chains(program.pid)
        assert [found[name] for name in "abc"] == [["mid_a", "leaf"], ["mid_b", "leaf"], ["mid_c", "leaf"]]


def test_tasks_of_a_core_file_are_those_of_the_process(tmp_path: Path) -> None:
    gcore = shutil.which("gcore")
    if gcore is None:
        pytest.skip("no gcore here (Debian: apt-get install gdb)")
    with running(python_of("3.12"), THREE, asleep=True) as program:
        alive = ok("dump", "-p", program.pid, "--async")
        subprocess.run([gcore, "-o", tmp_path / "core", str(program.pid)], check=True, capture_output=True)
    dead = ok("dump", "--core", tmp_path / f"core.{program.pid}", "--async")
    assert dead[dead.index('  Task "') :] == alive[alive.index('  Task "') :]


@every_version
def test_without_asyncio_it_says_so(version: str) -> None:
    with running(python_of(version), "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(1000)\n") as program:
        done = wf("dump", "-p", program.pid, "--async")
        assert done.returncode == 0
        assert done.stdout.endswith("\nNo asyncio tasks: the program has not imported asyncio\n")
        assert json.loads(ok("dump", "-p", program.pid, "-j"))[0]["tasks"] is None
