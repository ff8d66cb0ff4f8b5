"""`wf record`: what time is counted, files written while it goes on, pauses, and how much memory it takes."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from cli_support import wf
from target_pythons import every_version, python_of, running
from test_record import lines_of, meta_of, recorder, wait_for, with_name

# A thread that computes with the GIL, one that computes without it and one that waits.
MIXED = """import hashlib, os, threading, time
def computes():
    while True: sum(range(1000))
def hashes():
    block = b'x' * 20_000_000
    while True: hashlib.sha256(block)
def waits(): time.sleep(1000)
threading.Thread(target=waits, daemon=True).start()
threading.Thread(target=hashes, daemon=True).start()
print('ready', os.getpid(), flush=True)
computes()
"""


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def weights(path: Path) -> Counter[str]:
    """Seconds by innermost function, of `--format json`."""
    document = json.loads(path.read_text())
    columns = document["samples"]
    stacks, frames = document["stacks"], document["frames"]
    seconds: Counter[str] = Counter()
    for stack, weight in zip(columns["stack"], columns["weight_ns"], strict=True):
        seconds[frames[stacks["frame"][stack]]["name"]] += weight / 1e9
    return seconds


@every_version
def test_cpu_mode_weighs_what_each_thread_ran(version: str, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    with running(python_of(version), MIXED) as program:
        before = cpu_seconds(program.pid)
        done = wf("record", "-p", program.pid, "--mode", "cpu", "-d", "2", "-f", "json", "-o", out)
        ran = cpu_seconds(program.pid) - before
    assert done.returncode == 0, done.stderr
    assert "only CPU time" in done.stderr
    assert meta_of(out)["mode"] == "cpu"
    found = weights(out)
    assert found["waits"] < 0.01
    assert found["computes"] > 0.1 and found["hashes"] > 0.1
    # The recorder starts later and ends sooner than the second look at the program's clock.
    assert 0.5 * ran <= sum(found.values()) <= ran + 0.2


@every_version
def test_wall_mode_is_idle_and_gil_mode_is_the_lock(version: str, tmp_path: Path) -> None:
    with running(python_of(version), MIXED) as program:
        for mode, text in (("wall", "idle time included"), ("gil", "only time with the GIL")):
            out = tmp_path / f"{mode}.json"
            done = wf("record", "-p", program.pid, "--mode", mode, "-d", "1", "-f", "json", "-o", out)
            assert done.returncode == 0 and text in done.stderr
        wall, gil = weights(tmp_path / "wall.json"), weights(tmp_path / "gil.json")
    assert wall["waits"] > 0.5 * max(wall.values()) and wall["computes"] > 0.1
    assert gil["waits"] == 0 and gil["computes"] > gil["hashes"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--mode", "cpu", "--gil"], "--gil and --mode cpu"),
        (["--mode", "gil", "--idle"], "--idle and --mode gil"),
        (["--mode", "cycles"], "--mode"),
        (["--flush", "0"], "--flush: must be more than nothing"),
        (["--flush", "often"], "--flush"),
        (["--flush", "1", "-o", "-"], "standard output can be written only once"),
        (["--flush", "1", "-o", "/dev/null"], "/dev/null can be written only once"),
        (["--blocking", "--nonblocking"], "--blocking and --nonblocking"),
    ],
)
def test_what_contradicts_is_refused_before_anything_is_sampled(arguments: list[str], words: str) -> None:
    done = wf("record", "-p", os.getpid(), "-d", "1", *arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_file_is_there_while_the_recording_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    with running(python_of("3.11"), MIXED) as program:
        with recorder("-p", program.pid, "-f", "raw", "-o", out, "--flush", "0.3") as process:
            wait_for(out)
            first = sum(lines_of(out).values())
            deadline = time.monotonic() + 30
            while sum(lines_of(out).values()) <= first and time.monotonic() < deadline:
                time.sleep(0.1)
            grown = sum(lines_of(out).values())
            assert grown > first > 0
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
    assert sum(lines_of(out).values()) >= grown
    assert os.listdir(tmp_path) == ["out.txt"]


def test_sigusr1_writes_what_there_is_and_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "out.svg"
    with running(python_of("3.11"), MIXED) as program:
        with recorder("-p", program.pid, "-o", out) as process:
            assert process.stderr
            assert "recording process" in process.stderr.readline()
            time.sleep(0.5)
            for _ in range(2):
                process.send_signal(signal.SIGUSR1)
                line = process.stderr.readline()
                assert re.search(rf"so far in {out}: \d+ samples", line)
                assert "computes" in out.read_text()
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0


def test_a_launched_program_does_not_get_the_signal_that_asks_for_a_file(tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    source = (
        "import signal, sys, time\nsignal.signal(signal.SIGUSR1, lambda *_: sys.exit(3))\n"
        "end = time.monotonic() + 3\nwhile time.monotonic() < end: sum(range(1000))\nsys.exit(9)"
    )
    with recorder("-f", "raw", "-o", out, "--", sys.executable, "-c", source) as process:
        time.sleep(1)
        process.send_signal(signal.SIGUSR1)
        wait_for(out)
        assert process.wait(30) == 9


def test_a_file_that_cannot_be_written_meanwhile_costs_nothing_but_a_line(tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    out = folder / "out.txt"
    away = tmp_path / "away"
    with running(python_of("3.11"), MIXED) as program:
        with recorder("-p", program.pid, "-f", "raw", "-o", out, "--flush", "0.2") as process:
            wait_for(out)
            folder.rename(away)
            assert process.stderr
            process.stderr.readline()
            assert "its folder does not exist; recording goes on" in process.stderr.readline()
            away.rename(folder)
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
    assert lines_of(out)


def test_a_store_is_written_as_it_goes_and_says_so(tmp_path: Path) -> None:
    with running(python_of("3.11"), MIXED) as program:
        with recorder("-p", program.pid, "-f", "store", "--store", tmp_path / "store") as process:
            assert process.stderr
            process.stderr.readline()
            process.send_signal(signal.SIGUSR1)
            assert "so far in run " in process.stderr.readline()
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0


@every_version
def test_a_paused_process_shows_the_same_and_runs_on(version: str, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    with running(python_of(version), MIXED) as program:
        done = wf("record", "-p", program.pid, "--blocking", "-d", "1", "-r", "50", "-f", "raw", "-o", out)
        assert done.returncode == 0, done.stderr
        lines = lines_of(out)
        assert with_name(lines, "computes") > 0 and with_name(lines, "hashes") > 0
        assert with_name(lines, "waits") <= 0.02 * sum(lines.values()) + 1
        before = cpu_seconds(program.pid)
        deadline = time.monotonic() + 30
        while cpu_seconds(program.pid) <= before and time.monotonic() < deadline:
            time.sleep(0.05)
        assert cpu_seconds(program.pid) > before


def test_a_recorder_that_is_killed_while_it_pauses_leaves_the_process_running(tmp_path: Path) -> None:
    with running(python_of("3.11"), MIXED) as program:
        for _ in range(10):
            with recorder("-p", program.pid, "--blocking", "-r", "2000", "-o", tmp_path / "out.svg") as process:
                time.sleep(0.2)
                process.kill()
            deadline = time.monotonic() + 30
            while "TracerPid:\t0" not in Path(f"/proc/{program.pid}/status").read_text():
                assert time.monotonic() < deadline
            before = cpu_seconds(program.pid)
            while cpu_seconds(program.pid) <= before:
                assert time.monotonic() < deadline
                time.sleep(0.02)


CHANGES = """import itertools, os, threading
def job():
    sum(range(20_000))
def codes():
    for i in itertools.count():
        space = {}
        exec(compile("def fn%d():\\n  for _ in range(4000): pass\\n" % (i % 997), "file%d" % (i % 997), "exec"), space)
        space["fn%d" % (i % 997)]()
threading.Thread(target=codes, daemon=True).start()
print('ready', os.getpid(), flush=True)
while True:
    threads = [threading.Thread(target=job) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""


@pytest.mark.slow
def test_memory_stays_flat_while_code_and_threads_come_and_go(tmp_path: Path) -> None:
    def resident(pid: int) -> int:
        return int(re.findall(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[0])

    with running(python_of("3.13"), CHANGES) as program:
        with recorder("-p", program.pid, "-r", "1kHz", "-o", tmp_path / "out.svg") as process:
            time.sleep(20)
            early = resident(process.pid)
            time.sleep(40)
            late = resident(process.pid)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
    assert late < 30_000
    assert late - early < 2_000  # each sample kept would be some 4 MB
    for name, number in re.findall(r"fn(\d+) \(file(\d+)", (tmp_path / "out.svg").read_text()):
        assert name == number
