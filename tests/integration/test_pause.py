"""`--blocking`: the target always goes on, whatever becomes of the sampler and whoever else sends it signals."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_support import WF, environment, ok
from target_pythons import every_version, python_of, running, state_becomes, state_of, traced

# Beats in two threads, and counts the signals that it gets.
BEATING = """
import os, signal, sys, threading, time
got = [0]
def count(*_): got[0] += 1
signal.signal(signal.SIGUSR1, count)
def beat():
    while True: sum(range(2000))
threading.Thread(target=beat, daemon=True).start()
threading.Thread(target=time.sleep, args=(10000,), daemon=True).start()
page = open(sys.argv[1], 'r+b', buffering=0)
print('ready', os.getpid(), flush=True)
beats = 0
while True:
    beats += 1
    os.pwrite(page.fileno(), b'%20d %20d' % (beats, got[0]), 0)
    time.sleep(0.0005)
"""
ROUNDS = [pytest.param(10, id="10"), pytest.param(200, id="200", marks=pytest.mark.slow)]


def beats(page: Path) -> tuple[int, int]:
    first, second = page.read_text().split()
    return int(first), int(second)


def goes_on(pid: int, page: Path) -> None:
    """No thread is stopped, and it beats."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        assert (task / "stat").read_text().rsplit(")", 1)[1].split()[0] in "RSD"
    before = beats(page)[0]
    deadline = time.monotonic() + 30
    while beats(page)[0] == before:
        assert time.monotonic() < deadline, "the target stands still"
        time.sleep(0.001)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page"
    path.write_text("0 0".ljust(50))
    return path


def sampler(pid: int, folder: Path) -> subprocess.Popen[bytes]:
    command = [WF, "record", "--blocking", "-r", "1000", "-f", "raw", "-o", folder / "out.txt", "-p", str(pid)]
    return subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("rounds", ROUNDS)
def test_the_target_goes_on_when_the_sampler_is_ended(
    rounds: int, end: signal.Signals, page: Path, tmp_path: Path
) -> None:
    with running(python_of("3.12"), BEATING, str(page)) as program:
        for _ in range(rounds):
            with sampler(program.pid, tmp_path) as process:
                time.sleep(random.uniform(0.02, 0.08))
                process.send_signal(end)
                process.wait(60)
            goes_on(program.pid, page)


@contextlib.contextmanager
def stopping_and_continuing(pid: int) -> Iterator[None]:
    done = threading.Event()

    def disturb() -> None:
        while not done.is_set():
            os.kill(pid, signal.SIGSTOP)
            time.sleep(random.uniform(0, 0.002))
            os.kill(pid, signal.SIGCONT)
            time.sleep(random.uniform(0, 0.002))

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("rounds", ROUNDS)
def test_the_target_goes_on_while_another_process_stops_and_continues_it(
    rounds: int, page: Path, tmp_path: Path
) -> None:
    with running(python_of("3.12"), BEATING, str(page)) as program:
        for _ in range(rounds):
            with stopping_and_continuing(program.pid), sampler(program.pid, tmp_path) as process:
                time.sleep(random.uniform(0.02, 0.08))
                process.send_signal(random.choice([signal.SIGINT, signal.SIGKILL]))
                process.wait(60)
            goes_on_soon = time.monotonic() + 30
            while state_of(program.pid) == "T" and time.monotonic() < goes_on_soon:
                time.sleep(0.001)  # the last CONT is on its way
            goes_on(program.pid, page)


def test_signals_for_the_target_are_neither_lost_nor_made_up(page: Path, tmp_path: Path) -> None:
    with running(python_of("3.12"), BEATING, str(page)) as program, sampler(program.pid, tmp_path) as process:
        time.sleep(0.1)
        for count in range(1, 301):
            os.kill(program.pid, signal.SIGUSR1)
            deadline = time.monotonic() + 30
            while beats(page)[1] < count:  # one of a kind is pending at a time
                assert time.monotonic() < deadline, f"signal {count} was lost"
                time.sleep(0.0005)
        process.terminate()
        process.wait(60)
        time.sleep(0.05)
        assert beats(page)[1] == 300


@every_version
def test_a_paused_dump_shows_what_the_threads_did_before(version: str) -> None:
    source = "import os, time\ndef f():\n  print(os.getpid(), flush=True); time.sleep(1000)\nf()"
    with running(python_of(version), source, asleep=True) as program:
        [thread] = json.loads(ok("dump", "-p", program.pid, "--blocking", "--json"))
        assert (thread["state"], thread["active"]) == ("S", False)
        assert thread["frames"][0]["name"] == "f" and thread["process_info"]["note"] is None
        state_becomes(program.pid, "S")


def test_a_stopped_process_is_read_without_a_pause_and_said() -> None:
    source = "import os, time\ndef f():\n  print(os.getpid(), flush=True); time.sleep(1000)\nf()"
    with running(python_of("3.12"), source, asleep=True) as program:
        os.kill(program.pid, signal.SIGSTOP)
        state_becomes(program.pid, "T")
        text = ok("dump", "-p", program.pid, "--blocking")
        assert "    f (" in text and "not paused, as it does not run" in text
        assert state_of(program.pid) == "T"
        os.kill(program.pid, signal.SIGCONT)


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
def test_a_traced_process_is_read_without_a_pause_and_said() -> None:
    source = "import os, time\ndef f():\n  print(os.getpid(), flush=True); time.sleep(1000)\nf()"
    with running(python_of("3.12"), source, asleep=True) as program:
        with traced(program.pid):
            text = ok("dump", "-p", program.pid, "--blocking")
            assert "strace" in text and "    f (" in text and "only one process can trace it" in text


def test_a_launched_program_that_is_paused_keeps_its_exit_status(tmp_path: Path) -> None:
    source = "import sys, time\ntime.sleep(0.3)\nsys.exit(7)"
    command = [WF, "record", "--blocking", "-r", "500", "-f", "raw", "-o", tmp_path / "out.txt", "--"]
    done = subprocess.run(
        [*command, *python_of("3.12"), "-c", source], env=environment(), capture_output=True, timeout=60
    )
    assert done.returncode == 7
