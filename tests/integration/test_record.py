"""`wf record` on real processes: what is in the file, and that a launched program never notices."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_support import WF, environment, ok, wf
from target_pythons import every_version, python_of, running

SPIN = """import os, sys, threading, time
def spin(s):
  e = time.perf_counter() + s
  while time.perf_counter() < e: pass
"""
READY = "print('ready', os.getpid(), flush=True)\n"


def lines_of(path: Path) -> Counter[str]:
    """A strict reader of collapsed stacks."""
    lines: Counter[str] = Counter()
    for line in path.read_text(encoding="utf-8").splitlines():
        stack, count = line.rsplit(" ", 1)
        assert stack and all(stack.split(";"))
        lines[stack] += int(count)
    return lines


def meta_of(path: Path) -> dict[str, Any]:
    meta: dict[str, Any] = json.loads(path.read_text())["meta"]
    return meta


def with_name(lines: Counter[str], name: str) -> int:
    return sum(count for stack, count in lines.items() if re.search(rf"(^|;|\.){name} \(", stack))


@contextlib.contextmanager
def recorder(*arguments: object, **popen: Any) -> Iterator[subprocess.Popen[str]]:
    command = [str(WF), "record", *map(str, arguments)]
    process = subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True, **popen)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(path: Path) -> str:
    for _ in range(600):
        if path.exists() and (text := path.read_text()).endswith("\n"):
            return text
        time.sleep(0.05)
    raise AssertionError(f"{path} did not come")


# --- what is in it -------------------------------------------------------------------------------------------------


@every_version
def test_a_process_is_recorded_and_weights_are_wall_time_of_live_threads(version: str, tmp_path: Path) -> None:
    source = SPIN + (
        "def sleeper(): time.sleep(1000)\n"
        "for i in range(3): threading.Thread(target=sleeper, name='sleeper', daemon=True).start()\n"
        + READY
        + "spin(1000)\n"
    )
    raw, whole = tmp_path / "raw.txt", tmp_path / "whole.json"
    with running(python_of(version), source) as program:
        done = wf("record", "-p", program.pid, "-i", "-d", "1500ms", "-f", "raw", "-o", raw)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert "idle time included" in done.stderr and "missed" in done.stderr and "rejected" in done.stderr
        assert wf("record", "-p", program.pid, "-i", "-d", "0.5", "-f", "json", "-o", whole).returncode == 0
    lines = lines_of(raw)
    seconds = float(re.search(r"in ([\d.]+) s", done.stderr)[1])  # type: ignore[index]
    assert lines.total() == pytest.approx(seconds * 100 * 4, rel=0.05)
    assert with_name(lines, "sleeper") == pytest.approx(seconds * 100 * 3, rel=0.05)
    assert with_name(lines, "spin") == pytest.approx(seconds * 100, rel=0.05)
    meta = meta_of(whole)
    assert meta["idle_included"] is True and meta["rate_hz"] == 100 and meta["duration_ns"] >= 0.5e9


@every_version
def test_sleepers_are_left_out(version: str, tmp_path: Path) -> None:
    source = SPIN + (
        "def sleeper(): time.sleep(1000)\n"
        "for i in range(5): threading.Thread(target=sleeper, daemon=True).start()\n" + READY + "spin(1000)\n"
    )
    raw = tmp_path / "raw.txt"
    with running(python_of(version), source) as program:
        time.sleep(0.3)
        done = wf("record", "-p", program.pid, "-d", "1", "-r", "200", "-f", "raw", "-o", raw)
    assert done.returncode == 0 and "idle time left out" in done.stderr
    lines = lines_of(raw)
    assert with_name(lines, "spin") > 50
    assert with_name(lines, "sleeper") <= 10  # of 1,000


@every_version
def test_a_thread_that_entered_a_subinterpreter_counts_once(version: str, tmp_path: Path) -> None:
    # It sleeps: until 3.12 a thread that spins in one interpreter never lets go of the GIL for those of another.
    inner = r"import time\ndef inside():\n  while True: time.sleep(0.001)\ninside()"
    source = SPIN + (
        "try: import _interpreters as sub\nexcept ImportError: import _xxsubinterpreters as sub\n"
        f"def enters(): sub.run_string(sub.create(), '{inner}')\n"
        "threading.Thread(target=enters, daemon=True).start()\ntime.sleep(0.5)\n" + READY + "time.sleep(1000)\n"
    )
    raw = tmp_path / "raw.txt"
    with running(python_of(version), source) as program:
        done = wf("record", "-p", program.pid, "-i", "-d", "1", "-f", "raw", "-o", raw)
    assert done.returncode == 0, done.stderr
    lines = lines_of(raw)
    seconds = float(re.search(r"in ([\d.]+) s", done.stderr)[1])  # type: ignore[index]
    assert lines.total() == pytest.approx(seconds * 100 * 2, rel=0.05)
    chain = re.compile(r";enters \([^;]*;<interpreter \d+>;<module> .*;inside \(")
    entered = sum(count for stack, count in lines.items() if chain.search(stack))
    assert entered == pytest.approx(seconds * 100, rel=0.05)


@every_version
def test_chains_that_never_existed_are_not_written(version: str, tmp_path: Path) -> None:
    source = (
        SPIN
        + READY
        + (
            "def leaf_a():\n  for _ in range(300): pass\n"
            "def leaf_b():\n  for _ in range(300): pass\n"
            "def hot_a():\n  for _ in range(50): leaf_a()\n"
            "def hot_b():\n  for _ in range(50): leaf_b()\n"
            "while True: hot_a(); hot_b()\n"
        )
    )
    raw = tmp_path / "raw.txt"
    with running(python_of(version), source) as program:
        assert wf("record", "-p", program.pid, "-d", "2", "-r", "1kHz", "-F", "-f", "raw", "-o", raw).returncode == 0
    lines = lines_of(raw)
    wrong = sum(n for s, n in lines.items() if ("hot_a" in s and "leaf_b" in s) or ("hot_b" in s and "leaf_a" in s))
    assert wrong <= 1
    assert with_name(lines, "leaf_a") > 0 and with_name(lines, "leaf_b") > 0


@pytest.mark.parametrize(
    "form", ["flamegraph", "raw", "speedscope", "chrometrace", "pprof", "gecko", "pstats", "heatmap"]
)
def test_a_process_that_only_waits_gives_an_empty_file_and_no_error(form: str, tmp_path: Path) -> None:
    with running(python_of("3.11"), SPIN + READY + "time.sleep(1000)\n") as program:
        time.sleep(0.3)
        done = wf("record", "-p", program.pid, "-d", "0.3", "-f", form, "-o", tmp_path / "x")
    assert done.returncode == 0 and "0 samples" in done.stderr and "-i includes it" in done.stderr
    assert (tmp_path / "x").exists()


def test_gil_and_threads(tmp_path: Path) -> None:
    source = SPIN + (
        "threading.Thread(target=spin, args=(1000,), name='spin-thread', daemon=True).start()\n"
        + READY
        + "time.sleep(1000)\n"
    )
    raw = tmp_path / "raw.txt"
    with running(python_of("3.11"), source) as program:
        done = wf("record", "-p", hex(program.pid), "-d", "0.7", "-g", "-t", "-F", "--nolineno", "-f", "raw", "-o", raw)
    assert done.returncode == 0 and "only time with the GIL" in done.stderr
    lines = lines_of(raw)
    assert lines
    assert all(re.match(r"thread \d+ \(spin-thread\);", stack) for stack in lines)
    assert any(stack.endswith("spin (<string>)") for stack in lines)


def test_flame_graph_is_the_default_and_has_a_name_of_its_own(tmp_path: Path) -> None:
    script = tmp_path / "my app.py"
    script.write_text(SPIN + "spin(0.3)\n")
    done = wf("record", sys.executable, script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [svg] = tmp_path.glob("*.svg")
    assert re.fullmatch(r"my app-\d{4}-\d\d-\d\dT\d{6}\.svg", svg.name) and svg.name in done.stderr
    assert "spin" in svg.read_text()


def test_children_are_recorded_with_subprocesses(tmp_path: Path) -> None:
    source = SPIN + "import subprocess\nsubprocess.run([sys.executable, '-c', sys.argv[1]])\n"
    child = SPIN + "def in_child(): spin(1)\nin_child()\n"
    raw = tmp_path / "raw.txt"
    done = wf("record", "-s", "-f", "raw", "-o", raw, "--", sys.executable, "-c", source, child)
    assert done.returncode == 0, done.stderr
    assert with_name(lines_of(raw), "in_child") > 0
    assert all(stack.startswith("process ") for stack in lines_of(raw))


def test_a_program_that_becomes_another_python_is_followed(tmp_path: Path) -> None:
    second = SPIN + "def after(): spin(0.7)\nafter()\n"
    source = SPIN + f"def before(): spin(0.7)\nbefore()\nos.execv(sys.executable, [sys.executable, '-c', {second!r}])\n"
    raw = tmp_path / "raw.txt"
    assert wf("record", "-f", "raw", "-o", raw, sys.executable, "-c", source).returncode == 0
    lines = lines_of(raw)
    assert with_name(lines, "before") > 0 and with_name(lines, "after") > 0


def test_the_python_below_a_shell_is_recorded(tmp_path: Path) -> None:
    raw, script = tmp_path / "raw.txt", tmp_path / "spin.py"
    script.write_text(SPIN + "spin(0.7)\n")
    done = wf("record", "-f", "raw", "-o", raw, "sh", "-c", f"sleep 0.2; {sys.executable} {script}; exit 9")
    assert done.returncode == 9
    assert with_name(lines_of(raw), "spin") > 0


def test_odd_names_do_not_break_the_lines(tmp_path: Path) -> None:
    script, raw = tmp_path / "a b;c.py", tmp_path / "raw.txt"
    script.write_text(SPIN + "exec(compile('def odd(): spin(0.5)\\nodd()', '<weird & \\x01\\n <name>', 'exec'))\n")
    assert wf("record", "-f", "raw", "-o", raw, "--", sys.executable, script).returncode == 0
    assert with_name(lines_of(raw), "odd") > 0


def test_a_recording_in_the_store_is_exported_as_often_as_wanted(tmp_path: Path) -> None:
    store, raw = tmp_path / "store", tmp_path / "raw.txt"
    source = SPIN + "threading.Thread(target=time.sleep, args=(1,), name='sleeper').start()\nspin(1)\nsys.exit(7)\n"
    done = wf("record", "-f", "store", "--store", store, sys.executable, "-c", source)
    assert done.returncode == 7 and "idle time included" in done.stderr
    [run] = json.loads(ok("runs", "--store", store, "--json"))["runs"]
    assert (run["kind"], run["state"]) == ("recording", "success")
    ok("export", run["id"], "--store", store, "-f", "raw", "-t", "--processes", "-o", raw)
    assert with_name(lines_of(raw), "spin") > 0
    assert any("(sleeper)" in stack and stack.startswith("process ") for stack in lines_of(raw))
    ok("export", run["id"], "--store", store, "-f", "raw", "-t", "--no-idle", "-o", raw)
    assert with_name(lines_of(raw), "spin") > 0
    assert sum(count for stack, count in lines_of(raw).items() if "(sleeper)" in stack) <= 5


def test_a_recorder_that_is_killed_leaves_what_it_had_in_the_store(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with running(python_of("3.11"), SPIN + READY + "spin(1000)\n") as program:
        with recorder("-p", program.pid, "-f", "store", "--store", store) as process:
            time.sleep(3)
            process.kill()
            process.wait()
        assert program.process.poll() is None
    [run] = json.loads(ok("runs", "--store", store, "--json"))["runs"]
    assert run["state"] == "lost"
    assert "spin (" in ok("export", "last", "--store", store, "-f", "raw", "-o", "-")


# --- the program does not notice -----------------------------------------------------------------------------------


@every_version
def test_exit_status_and_streams_are_the_programs(version: str, tmp_path: Path) -> None:
    source = "import sys, time\nprint(sys.stdin.read())\nsys.stderr.write('of the program\\n')\n"
    source += "time.sleep(0.3)\nsys.exit(7)\n"
    command = [*python_of(version), "-c", source]
    plain = subprocess.run(command, input="a\nb", capture_output=True, text=True)
    done = subprocess.run(
        [str(WF), "record", "-o", str(tmp_path / "x.svg"), "--", *command], input="a\nb", capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (7, plain.stdout)
    first, closing = done.stderr.splitlines()
    assert first == "of the program" and closing.startswith("wf: ")


def test_nobody_who_reads_our_lines_costs_the_program_its_exit_code(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [str(WF), "record", "-o", str(tmp_path / "x.svg"), sys.executable, "-c", SPIN + "spin(0.3); sys.exit(7)"]
    try:
        assert subprocess.run(command, stderr=write_end, env=environment()).returncode == 7
    finally:
        os.close(write_end)
    assert (tmp_path / "x.svg").exists()


def test_a_signal_that_ends_the_program_is_128_and_its_number(tmp_path: Path) -> None:
    source = "import os, signal, time; time.sleep(0.3); os.kill(os.getpid(), signal.SIGKILL)"
    done = wf("record", "-o", tmp_path / "x.svg", sys.executable, "-c", source)
    assert done.returncode == 137
    assert (tmp_path / "x.svg").exists()


def test_a_program_that_is_not_there_or_cannot_be_executed(tmp_path: Path) -> None:
    done = wf("record", "-o", tmp_path / "x.svg", "--", "no-such-program")
    assert (done.returncode, done.stderr) == (127, "wf: cannot start no-such-program: no such program\n")
    done = wf("record", "-o", tmp_path / "x.svg", "--", tmp_path)
    assert done.returncode == 126 and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_program_without_python_runs_and_nothing_is_written(tmp_path: Path) -> None:
    done = wf("record", "-o", tmp_path / "x.svg", "sh", "-c", "echo out; exit 5")
    assert (done.returncode, done.stdout) == (5, "out\n")
    assert "no Python" in done.stderr and list(tmp_path.iterdir()) == []


def test_all_words_after_the_program_are_its_own(tmp_path: Path) -> None:
    words = ["-o", "--", "--rate", "-p", "", "a b;c", "é\n", "-d5", "$HOME", "'", '"']
    source = "import json, sys; print(json.dumps(sys.argv[1:]))"
    for mark in ([], ["--"]):
        done = wf("record", "-F", "-r50", "-o", tmp_path / "x.svg", *mark, sys.executable, "-c", source, *words)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == words


def test_the_duration_ends_the_recording_and_not_the_program(tmp_path: Path) -> None:
    out, marker = tmp_path / "x.json", tmp_path / "marker"
    source = SPIN + f"spin(2)\nopen({str(marker)!r}, 'w').close()\nsys.exit(4)\n"
    done = wf("record", "-d", "0.5", "-f", "json", "-o", out, sys.executable, "-c", source)
    assert done.returncode == 4 and marker.exists()
    assert 0.5e9 <= meta_of(out)["duration_ns"] < 1.9e9


def test_the_program_outlives_a_killed_recorder(tmp_path: Path) -> None:
    first, last = tmp_path / "first", tmp_path / "last"
    source = (
        f"import os, time\nopen({str(first)!r}, 'w').write(f'{{os.getpid()}}\\n')\ntime.sleep(1.5)\n"
        f"open({str(last)!r}, 'w').write('done\\n')\n"
    )
    with recorder("-o", tmp_path / "x.svg", sys.executable, "-c", source) as process:
        wait_for(first)
        process.kill()
        process.wait()
        assert wait_for(last) == "done\n"


# --- the end -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_the_recording_of_a_process_and_the_file_is_written(number: int, tmp_path: Path) -> None:
    raw = tmp_path / "raw.txt"
    with (
        running(python_of("3.11"), SPIN + READY + "spin(1000)\n") as program,
        recorder("-p", program.pid, "-f", "raw", "-o", raw) as process,
    ):
        assert process.stderr is not None and "Ctrl-C" in process.stderr.readline()
        time.sleep(0.7)
        process.send_signal(number)
        assert process.wait(30) == 0
        assert program.process.poll() is None
        assert Path(f"/proc/{program.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "T"
    assert with_name(lines_of(raw), "spin") > 0


def test_a_rare_rate_does_not_delay_the_end(tmp_path: Path) -> None:
    with (
        running(python_of("3.11"), SPIN + READY + "time.sleep(1000)\n") as program,
        recorder("-p", program.pid, "-r", "0.001", "-i", "-o", tmp_path / "x.svg") as process,
    ):
        assert process.stderr is not None and process.stderr.readline()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def test_the_recording_ends_with_the_process(tmp_path: Path) -> None:
    raw = tmp_path / "raw.txt"
    with running(python_of("3.11"), SPIN + READY + "sys.stdin.readline()\nspin(0.5)\n") as program:
        with recorder("-p", program.pid, "-f", "raw", "-o", raw) as process:
            assert process.stderr is not None and process.stderr.readline()
            assert program.process.stdin is not None
            program.process.stdin.write("\n")
            program.process.stdin.flush()
            program.process.wait(60)
            assert process.wait(30) == 0
    assert with_name(lines_of(raw), "spin") > 0


def test_sigterm_is_passed_on_to_the_program(tmp_path: Path) -> None:
    raw, ready = tmp_path / "raw.txt", tmp_path / "ready"
    source = SPIN + (
        "import signal\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(3))\n"
        f"open({str(ready)!r}, 'w').write('\\n')\nspin(1000)\n"
    )
    with recorder("-f", "raw", "-o", raw, sys.executable, "-c", source) as process:
        wait_for(ready)
        time.sleep(0.7)
        process.terminate()
        assert process.wait(30) == 3
    assert with_name(lines_of(raw), "spin") > 0


def test_ctrl_c_reaches_the_program_and_its_end_is_recorded(tmp_path: Path) -> None:
    raw, ready = tmp_path / "raw.txt", tmp_path / "ready"
    source = SPIN + (
        "def clean_up(): spin(0.7); sys.exit(5)\n"
        f"try:\n  open({str(ready)!r}, 'w').write(f'{{os.isatty(0)}}\\n')\n  spin(1000)\n"
        "except KeyboardInterrupt: clean_up()\n"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(WF, ["wf", "record", "-f", "raw", "-o", str(raw), sys.executable, "-c", source], environment())
    try:
        assert wait_for(ready) == "True\n"
        time.sleep(0.7)
        os.write(terminal, b"\x03")
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 5
    finally:
        os.close(terminal)
    lines = lines_of(raw)
    assert with_name(lines, "clean_up") > 0 and with_name(lines, "<module>") > 0


# --- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["-r", "0"],
        ["-r", "-5"],
        ["-r", "1e9"],
        ["-r", "99999999"],
        ["-r", "fast"],
        ["-d", "0"],
        ["-d", "-1"],
        ["-d", "1m3"],
        ["-g", "-i"],
        ["-f", "nonsense"],
        ["--bogus"],
        ["-o", "-"],
        ["-f", "store", "-o", "x"],
        ["-p", "1"],
    ],
)
def test_wrong_usage_is_refused_in_one_line_before_anything_starts(words: list[str], tmp_path: Path) -> None:
    done = wf("record", *words, "--", "touch", tmp_path / "started", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1 and done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_neither_process_nor_program_is_wrong_usage() -> None:
    assert wf("record").returncode == 2
    assert wf("record", "-p", "x").returncode == 2


def test_an_output_that_cannot_be_is_refused_before_the_program_starts(tmp_path: Path) -> None:
    done = wf("record", "-o", tmp_path / "missing" / "x.svg", "--", "touch", tmp_path / "started")
    assert (done.returncode, done.stderr.count("\n")) == (125, 1)
    assert list(tmp_path.iterdir()) == []
    with running(python_of("3.11"), SPIN + READY + "time.sleep(1000)\n") as program:
        assert wf("record", "-p", program.pid, "-o", tmp_path / "missing" / "x").returncode == 3


def test_a_process_that_cannot_be_read_is_refused_with_its_reason(tmp_path: Path) -> None:
    done = wf("record", "-p", "2147483647", "-o", tmp_path / "x.svg")
    assert done.returncode == 3 and done.stderr.count("\n") == 1
    with subprocess.Popen(["sleep", "1000"]) as sleep:
        try:
            done = wf("record", "-p", sleep.pid, "-o", tmp_path / "x.svg")
            assert done.returncode == 3 and "Python" in done.stderr
        finally:
            sleep.kill()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_does_not_cost_the_samples(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    source = SPIN + "spin(0.5)\n"
    done = wf("record", "-f", "raw", "-o", "/dev/full", sys.executable, "-c", source, TMPDIR=str(tmp_path))
    assert done.returncode == 0
    [kept] = tmp_path.iterdir()
    assert str(kept) in done.stderr
    assert with_name(lines_of(kept), "spin") > 0
