"""The CPythons that are installed here, as programs to look at from outside."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13"]
NEWER = ["3.14", "3.15"]
NEWER_ROOT = Path(os.environ.get("WF_NEWER_PYTHON") or ROOT / "build" / "newer-python")


@cache
def installed(version: str) -> str | None:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = sorted(root.glob(f"versions/{version}.*/bin/python"))
    if found:
        return str(found[-1])
    done = subprocess.run([ROOT / "tools" / "find_python", version], capture_output=True, text=True)
    return done.stdout.strip() or None


def python_of(version: str) -> list[str]:
    """The command that runs this version; skips the test when it is not installed."""
    if version in NEWER:
        if not (NEWER_ROOT / ".ready").exists():
            pytest.skip(f"no Python {version} here: tools/newer_python setup unpacks it")
        return [str(ROOT / "tools" / "newer_python"), "run", f"python{version}"]
    python = installed(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    return [python]


@cache
def python_with_packages(version: str) -> list[str]:
    """The command that runs this version with tools/requirements-targets.txt; skips the test where pip has no such."""
    python, name = python_of(version), "tools/requirements-targets.txt"
    folder, tree, ready = f"{ROOT}/build/targets/{version}", f"{ROOT}", ROOT / "build" / "targets" / version / ".ready"
    if version in NEWER:  # within its private root, where this tree is /src
        folder, tree, ready = f"/var/tmp/targets-{version}", "/src", NEWER_ROOT / f"var/tmp/targets-{version}/.ready"
    command = [*python[:-1], f"{folder}/bin/python"]
    wanted = (ROOT / name).read_text()
    if not ready.exists() or ready.read_text() != wanted:
        pip = [*command, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--only-binary", ":all:"]
        for step in [*python, "-m", "venv", folder], [*pip, "-r", f"{tree}/{name}"]:
            done = subprocess.run(step, capture_output=True, text=True, timeout=140)
            if done.returncode != 0:
                pytest.skip(f"no packages for Python {version}: {done.stderr.strip()[-300:]}")
        ready.write_text(wanted)
    return command


# One of each family of layouts in every run (frames on the heap; with a cframe; with debug offsets), the others in
# `make test-all`.
USUAL = ["3.8", "3.11", "3.13"]


def _versions(*versions: str) -> pytest.MarkDecorator:
    marked = [pytest.param(version, marks=() if version in USUAL else pytest.mark.slow) for version in versions]
    return pytest.mark.parametrize("version", marked)


every_version = _versions(*VERSIONS, *NEWER)
every_version_outside = _versions(*VERSIONS)  # of those that see the files of this system


class Program:
    """A running child; `first` is the line with which it said that it is ready."""

    def __init__(self, process: subprocess.Popen[str], first: str, pid: int) -> None:
        self.process, self.first, self.pid = process, first, pid


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def state_becomes(pid: int, wanted: str) -> None:
    """Waits for the process to be in that state of /proc, twice in a row: on a busy machine it takes its time."""
    seen = ""
    deadline = time.monotonic() + 30
    while seen != 2 * wanted:
        assert time.monotonic() < deadline, f"process {pid} never was in state {wanted}"
        seen = seen[-1:] + state_of(pid)
        time.sleep(0.02)


@contextlib.contextmanager
def running(command: list[str], source: str, *arguments: str, asleep: bool = False, **popen: Any) -> Iterator[Program]:
    """Runs `source`, which must print one line that ends with its own os.getpid() when it is ready.

    `asleep`: its main thread goes to sleep after that, which is waited for.
    """
    process = subprocess.Popen(
        [*command, "-u", "-c", source, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        **popen,
    )
    assert process.stdout is not None
    pid = 0
    try:
        first = process.stdout.readline()
        assert first, f"{command} said nothing"
        pid = int(first.split()[-1])
        if asleep:
            state_becomes(pid, "S")
        yield Program(process, first, pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid or process.pid, 9)
        process.kill()
        process.wait()
        process.stdout.close()
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()


@contextlib.contextmanager
def traced(pid: int) -> Iterator[None]:
    """While strace traces the process."""
    with subprocess.Popen(["strace", "-qq", "-o", "/dev/null", "-p", str(pid)]) as tracer:
        try:
            deadline = time.monotonic() + 30
            while "TracerPid:\t0" in Path(f"/proc/{pid}/status").read_text() and time.monotonic() < deadline:
                time.sleep(0.01)
            yield
        finally:
            tracer.terminate()
