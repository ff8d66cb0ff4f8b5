"""`wf dump --core`: the stacks in core files of gcore and of the kernel are those that the process had."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from cli_support import ok, wf
from target_pythons import NEWER, VERSIONS, every_version, python_of, running

SOURCE = """
import os, threading, time
lock = threading.Lock(); lock.acquire()
def blocked(token): lock.acquire()
threading.Thread(target=blocked, args=('first',), name='blocked', daemon=True).start()
def leaf(depth, text='words'):
    print('ready', os.getpid(), flush=True)
    time.sleep(1000)
def middle(depth):
    if depth: return middle(depth - 1)
    leaf(depth)
middle(20)
"""
needs_gcore = pytest.mark.skipif(shutil.which("gcore") is None, reason="no gcore (Debian: apt-get install gdb)")


def shown(threads: list[dict[str, Any]]) -> dict[str, list[tuple[str, int]]]:
    return {t["thread_name"]: [(f["name"], f["line"]) for f in t["frames"] if f["kind"] == "python"] for t in threads}


def dump(*arguments: object) -> list[dict[str, Any]]:
    threads: list[dict[str, Any]] = json.loads(ok("dump", "--json", *arguments))
    return threads


def gcore_of(pid: int, folder: Path) -> Path:
    subprocess.run(["gcore", "-o", folder / "core", str(pid)], check=True, capture_output=True, timeout=120)
    return folder / f"core.{pid}"


def without_gaps(threads: list[dict[str, Any]], version: str) -> list[dict[str, Any]]:
    """Those whose memory gcore wrote.

    Older ones leave out a whole megabyte around each page that guards a stack inside of a mapping, as glibc 2.42 has
    them, and write zeros: those stacks are told to be broken.
    """
    return [t for t in threads if t["reject"] is None or version not in NEWER]


@needs_gcore
@every_version
def test_a_core_file_of_gcore_has_the_stacks_of_the_process(version: str, tmp_path: Path) -> None:
    with running(python_of(version), SOURCE, asleep=True) as program:
        live = dump("-p", program.pid)
        core = gcore_of(program.pid, tmp_path)
    threads = dump("-c", core, "--locals")
    whole = without_gaps(threads, version)
    assert "MainThread" in shown(whole) and shown(whole).items() <= shown(live).items()
    assert {t["thread_name"]: t["os_thread_id"] for t in threads} == {t["thread_name"]: t["os_thread_id"] for t in live}
    [main] = [t for t in threads if t["thread_name"] == "MainThread"]
    locals_of_leaf = {local["name"]: local["repr"] for local in main["frames"][0]["locals"]}
    assert locals_of_leaf == {"depth": "0", "text": "'words'"}
    info = main["process_info"]
    assert info["core"] == str(core) and info["pid"] == program.pid
    assert info["python_version"] == live[0]["process_info"]["python_version"]
    text = ok("dump", "-c", core)
    assert text.startswith(f"Core file {core}\nProcess {program.pid}: ")


@needs_gcore
@every_version
def test_native_frames_of_a_core_file_stand_in_the_order_of_the_calls(version: str, tmp_path: Path) -> None:
    with running(python_of(version), SOURCE, asleep=True) as program:
        core = gcore_of(program.pid, tmp_path)
    threads = dump("-c", core, "--native")
    assert {t["native_end"] for t in without_gaps(threads, version)} == {None}
    [main] = [t for t in threads if t["thread_name"] == "MainThread"]
    frames = [(f["kind"], f["name"]) for f in main["frames"]]
    sleep = next(
        i for i, (kind, name) in enumerate(frames) if kind == "native" and ("sleep" in name or "select" in name)
    )
    assert sleep < frames.index(("python", "leaf")) < frames.index(("python", "<module>"))
    assert frames.index(("python", "<module>")) < frames.index(("native", "Py_BytesMain"))
    assert shown(threads) == shown(dump("-c", core))


def kernel_core(command: list[str], source: str, folder: Path) -> Path:
    """Runs a program that crashes, in `folder`, and gives its core file."""
    pattern = Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern.startswith(("|", "/")) or resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY:
        pytest.skip("the kernel writes no core files into the folder of the program here")

    def unlimited() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    done = subprocess.run([*command, "-c", source], cwd=folder, preexec_fn=unlimited, capture_output=True, timeout=60)
    assert done.returncode < 0, done.stderr
    return next(folder.glob("core*"))


CRASH = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(1000,), name='sleeper', daemon=True).start()
def reads_nothing(address): ctypes.string_at(address)
def crashes(): reads_nothing(8)
crashes()
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_a_core_file_of_the_kernel_shows_where_the_program_crashed(version: str, tmp_path: Path) -> None:
    core = kernel_core(python_of(version), CRASH, tmp_path)
    threads = dump("-c", core, "-n")
    assert "ended by signal 11 (SIGSEGV)" in threads[0]["process_info"]["note"]
    names = shown(threads)["MainThread"]
    assert [name for name, _ in names] == ["string_at", "reads_nothing", "crashes", "<module>"]
    [main] = [t for t in threads if t["thread_name"] == "MainThread"]
    leaf = main["frames"][0]
    assert leaf["kind"] == "native" and "libc.so" in leaf["module"]
    assert [name for name, _ in shown(threads)["sleeper"]][-1] == "_bootstrap"


def test_a_program_that_lies_elsewhere_by_now_is_asked_for_and_taken(tmp_path: Path) -> None:
    python = Path("/usr/bin/python3.11")
    if not python.exists():
        pytest.skip("no static Python in /usr/bin")
    copy = tmp_path / "copy"
    shutil.copy(python.resolve(), copy)
    core = kernel_core([str(copy)], CRASH, tmp_path)
    copy.unlink()
    done = wf("dump", "-c", core)
    assert done.returncode == 3 and done.stdout == ""
    assert f"{copy} is not here" in done.stderr and "--executable" in done.stderr
    assert "reads_nothing" in ok("dump", "-c", core, "--executable", python)
    other = wf("dump", "-c", core, "--executable", shutil.which("true") or "/bin/true")
    assert other.returncode == 3 and "another one" in other.stderr


@needs_gcore
def test_a_core_file_that_is_cut_short_is_told(tmp_path: Path) -> None:
    with running(python_of("3.12"), SOURCE, asleep=True) as program:
        core = gcore_of(program.pid, tmp_path)
    os.truncate(core, 200)
    done = wf("dump", "-c", core)
    assert done.returncode == 3 and "ends before" in done.stderr and done.stderr.count("\n") == 1


@needs_gcore
def test_a_core_file_of_a_program_without_python_is_told(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "1000"]) as process:
        time.sleep(0.2)
        try:
            core = gcore_of(process.pid, tmp_path)
        finally:
            process.kill()
    done = wf("dump", "-c", core)
    assert done.returncode == 3 and "had no Python" in done.stderr


def test_what_is_no_core_file_is_told_in_one_line(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no core file\n" * 100)
    for path, code, words in [
        (text, 2, "not in ELF format"),
        ("/bin/sh", 2, "no core file"),
        (tmp_path, 2, "no regular file"),
        (tmp_path / "none", 3, "No such file"),
    ]:
        done = wf("dump", "-c", path)
        assert done.returncode == code and words in done.stderr and done.stderr.count("\n") == 1


def test_flags_that_make_no_sense_together_are_refused(tmp_path: Path) -> None:
    for arguments in (
        ["-c", "x", "-p", "1"],
        [],
        ["-c", "x", "-s"],
        ["-c", "x", "--blocking"],
        ["-p", "1", "--executable", "x"],
    ):
        done = wf("dump", *arguments)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
