"""`--native`: C and C++ frames in one stack with the Python frames, in the order of the calls, on every CPython."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from cli_support import ok, wf
from target_pythons import NEWER, every_version, every_version_outside, python_of, running, state_of, traced

# A Python function that C calls: sleeps below qsort. A second thread waits for a lock.
CALLBACK = """
import ctypes, os, threading, time
libc = ctypes.CDLL(None)
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
lock = threading.Lock(); lock.acquire()
def blocked(): lock.acquire()
threading.Thread(target=blocked, name='blocked', daemon=True).start()
def leaf():
    print('ready', os.getpid(), flush=True); time.sleep(1000)
def middle(): leaf()
@COMPARE
def compare(a, b):
    middle()
    return 0
def sorter(): libc.qsort((ctypes.c_int * 4)(3, 1, 2, 0), 4, 4, compare)
def outer(): sorter()
outer()
"""
SLEEPING = "import os, time\ndef f():\n  print(os.getpid(), flush=True); time.sleep(1000)\nf()\n"


def native(pid: int, *arguments: str) -> list[dict[str, Any]]:
    threads: list[dict[str, Any]] = json.loads(ok("dump", "--native", "--json", "-p", pid, *arguments))
    return threads


def frames_of(threads: list[dict[str, Any]], name: str) -> list[tuple[str, str]]:
    """Kind and name of each frame, leaf first."""
    [thread] = [t for t in threads if (t["thread_name"] or "MainThread") == name]
    return [(f["kind"], f["name"]) for f in thread["frames"]]


def where(frames: list[tuple[str, str]], kind: str, *parts: str) -> int:
    return next(i for i, (k, name) in enumerate(frames) if k == kind and any(part in name for part in parts))


def kinds_between(frames: list[tuple[str, str]], inner: str, outer: str) -> set[str]:
    """Of the frames between two Python frames."""
    return {kind for kind, _ in frames[where(frames, "python", inner) + 1 : where(frames, "python", outer)]}


@every_version
def test_frames_stand_in_the_order_of_the_calls(version: str) -> None:
    with running(python_of(version), CALLBACK, asleep=True) as program:
        threads = native(program.pid)
        frames = frames_of(threads, "MainThread")
        assert [name for kind, name in frames if kind == "python"] == [
            *("leaf", "middle", "compare", "sorter", "outer", "<module>")
        ]
        python = {name: where(frames, "python", name) for name in ("leaf", "compare", "sorter", "<module>")}
        assert where(frames, "native", "nanosleep", "select") < python["leaf"]
        assert python["compare"] < where(frames, "native", "qsort", "msort") < python["sorter"]
        assert python["<module>"] < where(frames, "native", "PyEval_EvalCode") < where(frames, "native", "Py_BytesMain")
        assert not any("EvalFrameDefault" in name for _, name in frames)
        assert {t["native_end"] for t in threads} == {None}
        assert "stopped for" in threads[0]["process_info"]["note"]
        assert state_of(program.pid) == "S"


@every_version
def test_a_thread_that_waits_for_a_lock_shows_in_what(version: str) -> None:
    with running(python_of(version), CALLBACK, asleep=True) as program:
        frames = frames_of(native(program.pid), "blocked")
        kinds = [kind for kind, _ in frames]
        assert kinds[0] == kinds[-1] == "native"
        if version not in NEWER:  # those have no names of what is not exported
            assert where(frames, "native", "futex", "sem", "lock_PyThread") < where(frames, "python", "blocked")
            assert where(frames, "python", "_bootstrap") < where(frames, "native", "clone")


@every_version
def test_python_frames_that_run_stay_with_their_calls(version: str) -> None:
    source = (
        "import os\nprint('ready', os.getpid(), flush=True)\n"
        "def inner(x):\n  for _ in range(50): pass\n  return -x\n"
        "def key(x): return inner(x)\n"
        "def values(n):\n  for i in range(n): yield i\n"
        "def hot(): sorted(values(300), key=key)\n"
        "while True: hot()\n"
    )
    chains = [["inner", "key", "hot"], ["key", "hot"], ["values", "hot"], ["hot"], []]
    with running(python_of(version), source) as program:
        with_sort = 0
        for _ in range(20):
            threads = native(program.pid)
            assert threads[0]["native_end"] is None
            frames = frames_of(threads, "MainThread")
            python = [name for kind, name in frames if kind == "python"]
            assert python[-1] == "<module>" and python[:-1] in chains
            if "key" in python:
                with_sort += 1
                assert "native" in kinds_between(frames, "key", "hot")
            if "inner" in python:
                called_by_c = version in ("3.8", "3.9", "3.10")
                assert ("native" in kinds_between(frames, "inner", "key")) == called_by_c
            if "values" in python:
                assert "native" in kinds_between(frames, "values", "hot")
        assert with_sort > 0


LIBRARY = """
#include <pthread.h>
#include <unistd.h>
namespace deep {
struct Worker {
  template <typename T> [[gnu::noinline]] void wait(T seconds) { nap(seconds); asm volatile(""); }
  [[gnu::always_inline]] void nap(unsigned seconds) { sleep(seconds); asm volatile(""); }
};
}
static void* work(void*) {
  pthread_setname_np(pthread_self(), "cpp-thread");
  deep::Worker().wait<unsigned>(1000);
  return nullptr;
}
extern "C" void start() {
  pthread_t thread;
  pthread_create(&thread, nullptr, work, nullptr);
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("g++") is None:
        pytest.skip("no compiler")
    folder = tmp_path_factory.mktemp("library")
    (folder / "worker.cc").write_text(LIBRARY)
    command = ["g++", "-O2", "-g", "-fPIC", "-shared", "-fno-omit-frame-pointer", "-pthread"]
    subprocess.run([*command, "-o", folder / "libworker.so", folder / "worker.cc"], check=True)
    return folder / "libworker.so"


@every_version_outside
def test_a_thread_without_python_has_its_stack_with_inlined_functions(version: str, library: Path) -> None:
    source = f"import ctypes, os, time\nctypes.CDLL({str(library)!r}).start()\ntime.sleep(0.5)\n" + SLEEPING
    with running(python_of(version), source, asleep=True) as program:
        threads = native(program.pid)
        frames = frames_of(threads, "cpp-thread")
        [thread] = [t for t in threads if t["thread_name"] == "cpp-thread"]
        assert thread["has_python"] is False and thread["active"] is False
        names = [name for _, name in frames]
        at = names.index("deep::Worker::nap(unsigned int)")
        assert names[at + 1] == "void deep::Worker::wait<unsigned int>(unsigned int)" and names[at + 2] == "work(void*)"
        assert [f["inlined"] for f in thread["frames"][at : at + 2]] == [True, False]
        inlined = thread["frames"][at]
        assert (inlined["short_filename"], inlined["line"]) == ("worker.cc", 7)
        assert inlined["module"] == str(library)
        text = ok("dump", "--native", "-p", program.pid)
        assert '"cpp-thread"' in text and "    deep::Worker::nap(unsigned int) (worker.cc:7)\n" in text


def test_a_library_that_was_deleted_is_still_understood(library: Path, tmp_path: Path) -> None:
    copy = tmp_path / "libgone.so"
    shutil.copy(library, copy)
    source = f"import ctypes, os, time\nctypes.CDLL({str(copy)!r}).start()\ntime.sleep(0.5)\n" + SLEEPING
    with running(python_of("3.12"), source, asleep=True) as program:
        copy.unlink()
        names = [name for _, name in frames_of(native(program.pid), "cpp-thread")]
        assert "work(void*)" in names


@every_version
def test_deep_recursion_keeps_the_leaf_and_says_that_it_is_cut(version: str) -> None:
    source = (
        "import os, sys, threading, time\n"
        "sys.setrecursionlimit(10**6); threading.stack_size(512 << 20)\n"
        "def deep(n):\n  if n: deep(n - 1)\n  else: leaf()\n"
        "def leaf():\n  print('ready', os.getpid(), flush=True); time.sleep(1000)\n"
        "threading.Thread(target=deep, args=(6000,), name='deep').start()\n"
    )
    with running(python_of(version), source, asleep=True) as program:
        time.sleep(0.1)
        [thread] = [t for t in native(program.pid) if t["thread_name"] == "deep"]
        python = [f["name"] for f in thread["frames"] if f["kind"] == "python"]
        assert thread["truncated"] and python[0] == "leaf" and set(python[1:]) == {"deep"}
        assert thread["frames"][0]["kind"] == "native"
        if version in ("3.8", "3.9", "3.10"):  # a native frame for each
            assert thread["native_end"] == "too deep"
            assert "<native frames end: too deep>" in ok("dump", "--native", "-p", program.pid)


@every_version
def test_each_of_many_threads_has_its_whole_stack(version: str) -> None:
    """Their stacks may lie in one mapping, with pages between them that cannot be read."""
    source = (
        "import threading\ndef deeper(n):\n  if n: deeper(n - 1)\n  else: time.sleep(1000)\nimport time\n"
        "for i in range(20): threading.Thread(target=deeper, args=(i,), daemon=True).start()\ntime.sleep(0.5)\n"
    ) + SLEEPING
    with running(python_of(version), source, asleep=True) as program:
        threads = native(program.pid)
        assert len(threads) == 21 and {t["native_end"] for t in threads} == {None}
        counts = [sum(f["name"] == "deeper" for f in t["frames"]) for t in threads]
        assert sorted(counts) == list(range(21))


def test_locals_and_source_lines_stand_with_the_python_frames() -> None:
    with running(python_of("3.12"), CALLBACK, asleep=True) as program:
        threads = native(program.pid, "--locals")
        [main] = [t for t in threads if t["thread_name"] == "MainThread"]
        [compare] = [f for f in main["frames"] if f["name"] == "compare"]
        assert {local["name"] for local in compare["locals"]} == {"a", "b"}
        assert all(f["locals"] is None for f in main["frames"] if f["kind"] == "native")


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
def test_a_traced_process_is_shown_without_native_frames_and_said() -> None:
    with running(python_of("3.11"), SLEEPING, asleep=True) as program:
        with traced(program.pid):
            threads = native(program.pid)
            note = threads[0]["process_info"]["note"] or ""
            assert "no native frames: not paused" in note and "strace" in note
            assert [f["name"] for f in threads[0]["frames"]] == ["f", "<module>"]


def test_native_frames_without_a_stop_are_refused() -> None:
    done = wf("dump", "--native", "--nonblocking", "-p", 1)
    assert done.returncode == 2 and "--nonblocking" in done.stderr and done.stderr.count("\n") == 1
