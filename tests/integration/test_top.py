"""`wf top` on a terminal: what is on the screen, what keys do, that programs and terminals are left as they were."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_support import WF, environment, wf
from target_pythons import every_version, python_of, running, state_becomes, state_of
from terminal import Terminal, terminal

SPIN = """import os, sys, threading, time
def spin(s):
  e = time.perf_counter() + s
  while time.perf_counter() < e: pass
"""
READY = "os.write(1, b'ready %d\\n' % os.getpid())\n"
# Two threads with names: one spins by turns in two functions, one sleeps.
TWO_THREADS = (
    SPIN
    + "def often(): spin(0.08)\ndef seldom(): spin(0.02)\ndef sleeper(): time.sleep(1000)\n"
    + "threading.Thread(target=sleeper, name='the-sleeper', daemon=True).start()\n"
    + READY
    + "while True: often(); seldom()\n"
)
HEADER = "%Own"


@contextlib.contextmanager
def top(*arguments: object, columns: int = 100, rows: int = 24, **env: str) -> Iterator[Terminal]:
    more = {"TERM": "xterm-256color", "LANG": "C.UTF-8", **env}
    command = [str(WF), "top", *map(str, arguments)]
    with terminal(command, environment(**more), columns, rows) as opened:
        yield opened


def rows_of(text: str) -> dict[str, tuple[float, ...]]:
    """By name of the function: the figures, as many as there are columns."""
    found = {}
    for line in text.splitlines():
        if match := re.match(r"\s*((?:[\d.]+s?\s+){1,4}) (\S.*)$", line):
            name = re.split(r" \(", match[2])[0].split(".")[-1]
            found.setdefault(name, tuple(float(figure.rstrip("s")) for figure in match[1].split()))
    return found


def is_sorted(text: str, column: int, *, upwards: bool = False) -> bool:
    figures = [row[column] for row in rows_of(text).values()]
    return len(figures) > 2 and figures == sorted(figures, reverse=not upwards)


# --- what is on it -------------------------------------------------------------------------------------------------


@every_version
def test_the_busy_function_is_on_the_screen_with_its_share(version: str) -> None:
    with running(python_of(version), TWO_THREADS) as program, top("-p", program.pid) as screen:
        text = screen.wait_for(lambda text: {"spin", "often"} <= rows_of(text).keys())
        lines = text.splitlines()
        assert lines[0].startswith(f"wf top: process {program.pid}: ")
        assert re.search(r"samples in .* of 100 Hz, \d+ missed, \d+ rejected", lines[1])
        assert re.match(r"GIL \d+ %, active \d+ %, 2 threads \(\d active\)", lines[2])
        own, total, own_time, total_time = rows_of(text)["spin"]
        assert 60 <= own <= 100 and own <= total <= 100
        assert own_time > 0 and total_time >= own_time
        own, total, *_ = rows_of(text)["often"]
        assert own < 20 and total > 40
        assert "sleeper" not in rows_of(text)  # it waits
        screen.send("q")
        assert screen.wait() == 0
        assert screen.is_as_before()
        assert program.process.poll() is None and state_of(program.pid) != "T"
    assert "spin" in screen.text() and "idle time left out" in screen.scrollback()  # what stays


def test_waiting_and_the_lock_are_in_as_asked() -> None:
    with running(python_of("3.11"), TWO_THREADS) as program:
        with top("-p", program.pid, "-i") as screen:
            text = screen.wait_for(lambda text: {"spin", "sleeper"} <= rows_of(text).keys())
            assert "idle time included" in text and "of all threads" in text
            assert all(figures[1] <= 100 for figures in rows_of(text).values())
        with top("-p", program.pid, "-g") as screen:
            text = screen.wait_for(lambda text: "spin" in rows_of(text))
            assert "only with the GIL" in text and "sleeper" not in rows_of(text)


def test_children_are_in_with_subprocesses() -> None:
    child = SPIN + "def in_child(): spin(1000)\nin_child()\n"
    source = SPIN + READY + f"import subprocess\nsubprocess.run([sys.executable, '-c', {child!r}])\n"
    with running(python_of("3.11"), source) as program:
        try:
            with top("-s", "-p", program.pid) as screen:
                screen.wait_for(r"in_child \(<string>")
                screen.send("T")
                assert str(program.pid) in screen.wait_for(r"(?s)Process.*MainThread.*MainThread")
        finally:
            subprocess.run(["pkill", "-9", "-P", str(program.pid)], check=False)


def test_names_that_could_break_the_screen_are_made_visible(tmp_path: Path) -> None:
    script = tmp_path / "odd.py"
    script.write_text(
        SPIN + READY + "exec(compile('def 漢字é(): spin(1000)\\n漢字é()', '<\\x1b[2J\\n\\x07 name>', 'exec'))\n",
        encoding="utf-8",
    )
    with running(python_of("3.11"), script.read_text(encoding="utf-8")) as program:
        for arguments in ([], ["--full-filenames"]):
            with top("-p", program.pid, *arguments) as screen:
                text = screen.wait_for(r"漢 ?字 ?é \(<")  # a wide letter takes two cells
                assert "\\x1b[2J\\n\\x07 name>" in text and HEADER in text


def test_a_process_that_is_paused_for_each_reading_runs_on() -> None:
    with running(python_of("3.11"), TWO_THREADS) as program, top("-p", program.pid, "--blocking") as screen:
        text = screen.wait_for(lambda text: "spin" in rows_of(text))
        assert rows_of(text)["spin"][0] > 50
        screen.send("q")
        assert screen.wait() == 0
        assert program.process.poll() is None
        state_becomes(program.pid, "R")


HIDDEN = """
static __attribute__((noinline)) unsigned hidden(unsigned long rounds) {
  unsigned value = 1;
  for (unsigned long i = 0; i < rounds; ++i) {
    value = value * 1664525u + 1013904223u;
    __asm__ volatile("" : "+r"(value));
  }
  return value;
}
unsigned shown(unsigned long rounds) { return hidden(rounds) + 1; }
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_native_code_is_in_and_a_function_without_a_name_is_one_row(tmp_path: Path) -> None:
    (tmp_path / "hidden.c").write_text(HIDDEN)
    library = tmp_path / "libhidden.so"
    subprocess.run(["cc", "-O1", "-s", "-shared", "-fPIC", "-o", library, tmp_path / "hidden.c"], check=True)
    source = (
        f"import ctypes, os\nshown = ctypes.CDLL({str(library)!r}).shown\n"
        + READY
        + ("def calls():\n  while True: shown(ctypes.c_ulong(10_000_000))\ncalls()\n")
    )
    with running(python_of("3.11"), source) as program, top("-n", "-p", program.pid) as screen:
        text = screen.wait_for(lambda text: "calls" in rows_of(text) and "libhidden.so" in text)
        row = next(line for line in text.splitlines() if "0x" in line and "(libhidden.so" in line)
        assert float(row.split()[0]) > 50
        assert rows_of(text)["calls"][1] > 80
        screen.send("q")
        assert screen.wait() == 0
        assert program.process.poll() is None
    assert "for native frames, threads were stopped" in screen.scrollback()


# --- keys ----------------------------------------------------------------------------------------------------------


def test_keys_sort_filter_and_switch() -> None:
    with running(python_of("3.11"), TWO_THREADS) as program, top("-p", program.pid, "-d", "500ms") as screen:
        screen.wait_for(lambda text: is_sorted(text, 0) and next(iter(rows_of(text))) == "spin")
        for key, title, column in [("2", "%Total", 1), ("3", "OwnTime", 2), ("4", "TotalTime", 3)]:
            screen.send(key)
            screen.wait_for(lambda text: f"by {title}" in text and is_sorted(text, column))
        screen.send("r")
        screen.wait_for(lambda text: "smallest first" in text and is_sorted(text, 3, upwards=True))
        screen.send("r1L")
        screen.wait_for(r"lines by %Own(?s:.*)spin \(<string>:[34]\)")
        screen.send("L/OFT")
        screen.wait_for(lambda text: list(rows_of(text)) == ["often"])
        screen.send("\r")
        screen.wait_for(lambda text: 'only "OFT"' in text and "q quit" in text)
        screen.send("\x1b")
        screen.wait_for(lambda text: "only" not in text and "spin" in rows_of(text))
        for key, wanted in [
            ("t", r"thread \d+ \(MainThread\), 1 of 2"),
            ("\x1b[C", r"thread \d+ \(the-sleeper\), 2 of 2, idle"),
            ("\x1bOC", "all threads"),
            ("\x1bOD", r"\(the-sleeper\), 2 of 2"),
            ("\x1b[D", r"\(MainThread\), 1 of 2"),
            ("\x1b[24;7~\x1b4", r"by %Own"),  # keys with Ctrl and Alt are none of ours
            ("T", r"(?s)%Active.*\(MainThread\).*0\.0 +0\.0  idle .*\(the-sleeper\)"),
            ("T?", "space +the picture stands still"),
            ("?", r"Function \(file:first line\)"),
        ]:
            screen.send(key)
            screen.wait_for(wanted)


def test_a_paused_picture_stands_still_and_reset_begins_anew() -> None:
    with running(python_of("3.11"), TWO_THREADS) as program, top("-p", program.pid, "-d", "200ms") as screen:
        screen.wait_for(lambda text: rows_of(text).get("spin", (0, 0, 0, 0))[2] >= 1.0)
        screen.send(" ")
        paused = screen.wait_for("PAUSED")
        until = time.monotonic() + 1
        while time.monotonic() < until:
            screen.read(0.1)
        assert screen.text() == paused
        screen.send(" ")
        before = rows_of(paused)["spin"][2]
        screen.wait_for(lambda text: "PAUSED" not in text and rows_of(text).get("spin", (0, 0, 0, 0))[2] > before)
        screen.send("R")
        screen.wait_for(lambda text: 0 < rows_of(text).get("spin", (0, 0, 9, 9))[2] < before)


def test_the_picture_follows_the_size_of_the_terminal() -> None:
    with running(python_of("3.11"), TWO_THREADS) as program, top("-p", program.pid, "-d", "0.3") as screen:
        screen.wait_for("q quit")
        screen.resize(50, 12)
        text = screen.wait_for(lambda text: re.search(r"%Own %Total  Function", text) is not None)
        assert "OwnTime" not in text
        screen.resize(20, 5)
        screen.wait_for(lambda text: re.match(r"   %Own  Function \(…\n +\d+\.\d  spin", text) is not None)
        screen.resize(120, 40)
        text = screen.wait_for(lambda text: "TotalTime" in text and text.splitlines()[39].startswith("q quit"))
        screen.send("q")
        assert screen.wait() == 0


def test_rows_below_the_screen_are_scrolled_to() -> None:
    source = SPIN + "".join(f"def f{i}(): spin(0.001)\n" for i in range(40))
    source += READY + "while True:\n" + "".join(f"  f{i}()\n" for i in range(40))
    with running(python_of("3.11"), source) as program, top("-p", program.pid, "-r", "500", rows=15) as screen:
        first = screen.wait_for(lambda text: len(rows_of(text)) == 9)
        screen.send("\x1b[6~")
        screen.wait_for(lambda text: len(rows_of(text)) == 9 and "spin" not in rows_of(text))
        screen.send("\x1b[5~")
        screen.wait_for(lambda text: "spin" in rows_of(text))
        screen.send("\x1bOB")
        screen.wait_for(lambda text: "spin" not in rows_of(text))
        screen.send("\x1b[A")
        screen.wait_for(lambda text: "spin" in rows_of(text))
    assert "spin" in rows_of(first)


# --- the end -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_terminal_is_as_before_after_a_signal(number: int) -> None:
    with running(python_of("3.11"), TWO_THREADS) as program, top("-p", program.pid) as screen:
        screen.wait_for("spin")
        os.kill(screen.pid, number)
        assert screen.wait() == 0
        assert screen.is_as_before()
        assert "spin" in screen.text() and program.process.poll() is None


def test_ctrl_c_leaves_the_screen() -> None:
    with running(python_of("3.11"), TWO_THREADS) as program, top("-p", program.pid) as screen:
        screen.wait_for("spin")
        screen.send("\x03")
        assert screen.wait() == 0
        assert screen.is_as_before()


def test_ctrl_z_gives_the_terminal_back_until_it_goes_on() -> None:
    env = environment(TERM="xterm-256color", LANG="C.UTF-8", PS1="PROMPT> ")
    with (
        running(python_of("3.11"), TWO_THREADS) as program,
        terminal(["/bin/bash", "--norc", "--noediting", "-i"], env) as shell,
    ):
        shell.wait_for("PROMPT>")
        modes = shell.settings()
        shell.send(f"{WF} top -p {program.pid}\r")
        shell.wait_for(r"spin \(<string>")
        assert shell.settings() != modes
        shell.send("\x1a")
        shell.wait_for("Stopped")
        assert shell.settings() == modes
        shell.send("fg\r")
        shell.wait_for(r"(?s)spin \(<string>.*q quit")
        shell.send("q")
        shell.wait_for(r"PROMPT>$")
        shell.send("exit $?\r")
        assert shell.wait() == 0


def test_what_was_seen_stays_when_the_process_ends() -> None:
    with running(python_of("3.11"), TWO_THREADS) as program, top("-p", program.pid) as screen:
        screen.wait_for("spin")
        program.process.kill()
        assert screen.wait() == 0
        assert screen.is_as_before()
        after = screen.scrollback()
    assert re.search(r"wf top: \d+ samples in .*idle time left out", after.replace("\n", ""))
    assert rows_of(after)["spin"][2] > 0


# --- a program that is started -------------------------------------------------------------------------------------


def program(folder: Path, seconds: float, status: int) -> list[str]:
    script = folder / "program.py"
    script.write_text(
        SPIN
        + "os.write(1, b'first of out %s %s\\n' % (str(os.isatty(0)).encode(), str(os.isatty(1)).encode()))\n"
        + "os.write(2, b'first of err\\n')\n"
        + f"def busy(): spin({seconds})\nbusy()\n"
        + "os.write(1, b'last of out\\n')\nos.write(2, b'last of err\\n')\n"
        + f"sys.exit({status})\n"
    )
    return [sys.executable, str(script)]


def test_a_programs_output_is_shown_after_the_screen_and_its_exit_code_kept(tmp_path: Path) -> None:
    with top("-d", "300ms", "--", *program(tmp_path, 3, 7)) as screen:
        screen.wait_for(r"spin \(program.py")
        assert b"first of" not in screen.raw
        assert screen.wait() == 7
        assert screen.is_as_before()
        after = screen.raw.decode().split("\x1b[?1049l")[1]
    words = re.findall(r"(?:first|last) of .*?(?=\r)", after)
    assert words == ["first of out False False", "first of err", "last of out", "last of err"]
    assert "spin" in after


def test_a_program_goes_on_when_the_screen_is_left(tmp_path: Path) -> None:
    with top("-d", "300ms", "--", *program(tmp_path, 4, 5)) as screen:
        screen.wait_for(r"spin \(program.py")
        screen.send("q")
        screen.wait_for(r"wf: waiting for the program to end \(process \d+\)")
        assert screen.is_as_before() and screen.status is None
        text = screen.scrollback()
        assert "first of err" in text and "last of err" not in text
        assert screen.wait() == 5
        assert "last of out" in screen.scrollback() and "last of err" in screen.scrollback()


def test_ctrl_c_is_the_programs_to_answer() -> None:
    source = SPIN + "try: spin(1000)\nexcept KeyboardInterrupt: print('cleaned up', flush=True); sys.exit(9)\n"
    with top("-d", "300ms", "--", sys.executable, "-c", source) as screen:
        screen.wait_for(r"spin \(<string>")
        screen.send("\x03")
        assert screen.wait() == 9
        assert screen.is_as_before() and "cleaned up" in screen.scrollback()


def test_sigterm_is_passed_on_to_the_program() -> None:
    source = SPIN + "import signal\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(3))\nspin(1000)\n"
    with top("-d", "300ms", "--", sys.executable, "-c", source) as screen:
        screen.wait_for(r"spin \(<string>")
        os.kill(screen.pid, signal.SIGTERM)
        assert screen.wait() == 3
        assert screen.is_as_before()


def test_a_program_that_a_signal_ends_is_128_and_its_number() -> None:
    source = SPIN + "spin(1)\nos.kill(os.getpid(), 9)\n"
    with top("-d", "300ms", "--", sys.executable, "-c", source) as screen:
        assert screen.wait() == 137


def test_a_program_outlives_a_killed_top(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    source = SPIN + f"spin(4)\nprint('out')\nopen({str(marker)!r}, 'w').close()\n"
    env = environment(TERM="xterm-256color", LANG="C.UTF-8", SOURCE=source)
    # A shell, as at any terminal: when the leader of a session goes, the terminal hangs up.
    command = f'{WF} top -d 0.3 -- {sys.executable} -c "$SOURCE"; sleep 1000'
    with terminal(["/bin/sh", "-c", command], env) as screen:
        screen.wait_for(r"spin \(<string>")
        [child] = Path(f"/proc/{screen.pid}/task/{screen.pid}/children").read_text().split()
        os.kill(int(child), signal.SIGKILL)
        deadline = time.monotonic() + 60
        while not marker.exists():
            assert time.monotonic() < deadline
            screen.read(0.1)


def test_a_program_that_is_not_there_is_said_before_the_screen_opens() -> None:
    with top("--", "no-such-program") as screen:
        assert screen.wait() == 127
        assert "wf: cannot start no-such-program: no such program" in screen.text()
        assert b"\x1b[?1049h" not in screen.raw


def test_a_program_without_python_runs_all_the_same() -> None:
    with top("--", "sh", "-c", "echo out; exit 5") as screen:
        assert screen.wait() == 5
        assert "\nout" in screen.scrollback() and "there was no Python to read in sh" in screen.scrollback()


# --- without a screen ----------------------------------------------------------------------------------------------


def test_without_a_terminal_tables_go_to_standard_output() -> None:
    with (
        running(python_of("3.11"), TWO_THREADS) as program,
        subprocess.Popen(
            [str(WF), "top", "-p", str(program.pid), "-d", "0.3"],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None and process.stderr is not None
        seen = ""
        while seen.count("%Own") < 3:
            seen += process.stdout.readline()
        process.terminate()
        rest, errors = process.stdout.read(), process.stderr.read()
        assert (process.wait(60), errors) == (0, "")
    first = seen.split("%Own")[1]
    assert 60 <= rows_of(first)["spin"][0] <= 100
    assert "\x1b" not in seen + rest and "spin" in rest


def test_without_a_terminal_a_programs_streams_are_its_own(tmp_path: Path) -> None:
    done = wf("top", "-d", "0.3", "--", *program(tmp_path, 1.5, 6))
    assert (done.returncode, done.stdout) == (6, "first of out False False\nlast of out\n")
    assert done.stderr.count("%Own") >= 3 and "spin" in done.stderr
    assert "first of err\n" in done.stderr and "last of err\n" in done.stderr


@pytest.mark.parametrize("term", ["dumb", "no-such-terminal", ""])
def test_a_terminal_that_cannot_be_drawn_on_gets_tables(term: str) -> None:
    with running(python_of("3.11"), TWO_THREADS) as program, top("-p", program.pid, TERM=term) as screen:
        screen.wait_for("spin")
        os.kill(screen.pid, signal.SIGTERM)
        assert screen.wait() == 0
        assert b"\x1b[" not in screen.raw.replace(b"\x1b[1m", b"").replace(b"\x1b[0m", b"")


def test_keys_come_from_the_terminal_when_input_does_not(tmp_path: Path) -> None:
    source = "import sys; data = sys.stdin.read()\n" + SPIN + "spin(1000 if data == 'a line\\n' else 0)\n"
    (tmp_path / "input").write_text("a line\n")
    command = f'exec {WF} top -d 0.3 -- {sys.executable} -c "$SOURCE" <{tmp_path / "input"}'
    env = environment(TERM="xterm-256color", LANG="C.UTF-8", SOURCE=source)
    with terminal(["/bin/sh", "-c", command], env) as screen:
        screen.wait_for(r"spin \(<string>")
        screen.send("q")
        screen.wait_for("waiting for the program to end")
        screen.send("\x03")
        assert screen.wait() == 130


# --- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["-r", "0"],
        ["-d", "0"],
        ["-d", "-1"],
        ["--delay", "10ms"],
        ["-d", "x"],
        ["-g", "-i"],
        ["--blocking", "--nonblocking"],
        ["--native", "--nonblocking"],
        ["--bogus"],
        ["-p", "1"],
    ],
)
def test_wrong_usage_is_refused_before_anything_starts(words: list[str], tmp_path: Path) -> None:
    done = wf("top", *words, "--", "touch", tmp_path / "started")
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1 and done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_neither_process_nor_program_is_wrong_usage() -> None:
    assert wf("top").returncode == 2
    assert wf("top", "-p", "x").returncode == 2


def test_a_process_that_cannot_be_read_is_refused_before_the_screen_opens() -> None:
    with top("-p", "2147483647") as screen:
        assert screen.wait() == 3
        assert "there is no process 2147483647" in screen.text()
        assert b"\x1b[?1049h" not in screen.raw
    with subprocess.Popen(["sleep", "1000"]) as sleep:
        try:
            done = wf("top", "-p", sleep.pid)
            assert done.returncode == 3 and "Python" in done.stderr
        finally:
            sleep.kill()


def test_flags_of_py_spy_are_taken() -> None:
    words = ["--rate", "50", "--delay", "0.3", "--full-filenames", "--nonblocking", "-s"]
    done = wf("top", *words, "--", sys.executable, "-c", SPIN + "spin(0.8)")
    assert done.returncode == 0, done.stderr
    assert "of 50 Hz" in done.stderr
