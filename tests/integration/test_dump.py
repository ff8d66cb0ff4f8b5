"""`wf dump` on real processes of every CPython that is installed: what it shows is what the program says of itself."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli_support import WF, environment, wf
from target_pythons import ROOT, every_version, installed, python_of, running, state_becomes

PROGRAM = ROOT / "tests" / "fixtures" / "cpython" / "program.py"
READY = "import os; print('ready', os.getpid(), flush=True)\n"


def document_of(text: str) -> dict[str, Any]:
    """The threads, and the processes as each thread tells of its own."""
    threads: list[dict[str, Any]] = json.loads(text)
    return {"threads": threads, "processes": list({t["pid"]: t["process_info"] for t in threads}.values())}


def dump(pid: int, *arguments: str) -> dict[str, Any]:
    done = wf("dump", "--pid", pid, "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return document_of(done.stdout)


def stacks(pid: int, *arguments: str) -> dict[str, list[str]]:
    """Names of functions, leaf first, by thread name; a program that never imported threading has no names."""
    threads = dump(pid, *arguments)["threads"]
    return {t["thread_name"] or "MainThread": [f["name"] for f in t["frames"]] for t in threads}


def thread(pid: int, name: str) -> dict[str, Any]:
    return next(t for t in dump(pid)["threads"] if t["thread_name"] == name)


# --- true stacks ---------------------------------------------------------------------------------------------------


@every_version
def test_lines_and_names_are_those_that_the_program_gives_itself(version: str) -> None:
    """Calls over lines, a property, a decorator, a comprehension, with/try, generators, recursion, odd names."""
    source = PROGRAM.read_text().replace("sys.stdout.close()", "print('ready', os.getpid(), flush=True)")
    source = "import os, time\n" + source.replace("open(__file__)", "open(os.devnull)")
    source = source.replace("sys.stdout.buffer.write(", "told.append(").replace("sys.stdout.buffer.flush()", "tell()")
    tell = "told = []\ndef tell():\n    print(repr(b''.join(told)), os.getpid())\n"
    source = source.replace("def main():", tell + "def main():")
    with running(python_of(version), source, asleep=True) as program:
        told = eval(program.first.rsplit(" ", 1)[0]).decode()
        seen = ""
        for t in sorted(dump(program.pid)["threads"], key=lambda t: t["thread_name"]):
            if t["thread_name"] == "MainThread":
                continue
            assert t["reject"] is None and not t["truncated"]
            seen += f"thread {t['thread_name']}\n" + "".join(f"  {f['name']} {f['line']}\n" for f in t["frames"])
        assert seen == told


@every_version
def test_a_chain_that_never_existed_is_not_shown(version: str) -> None:
    source = READY + (
        "def leaf_a():\n  for _ in range(300): pass\n"
        "def leaf_b():\n  for _ in range(300): pass\n"
        "def hot_a():\n  for _ in range(50): leaf_a()\n"
        "def hot_b():\n  for _ in range(50): leaf_b()\n"
        "while True: hot_a(); hot_b()\n"
    )
    with running(python_of(version), source) as program:
        for _ in range(60):
            [frames] = stacks(program.pid).values()
            assert frames[-1] == "<module>"
            assert frames in (
                ["leaf_a", "hot_a", "<module>"],
                ["leaf_b", "hot_b", "<module>"],
                ["hot_a", "<module>"],
                ["hot_b", "<module>"],
                ["<module>"],
            )


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
        found = thread(program.pid, "deep")
        assert found["truncated"] and found["frames"][0]["name"] == "leaf"
        assert {f["name"] for f in found["frames"][1:]} == {"deep"}
        done = wf("dump", "-p", program.pid)
        assert done.returncode == 0 and "<truncated>" in done.stdout


@every_version
def test_long_names_and_empty_file_names_keep_their_frames(version: str) -> None:
    source = (
        "import os, time, traceback\nname = 'f' * 5000\nspace = {'stop': lambda: (print(len(traceback.extract_stack()),"
        " os.getpid(), flush=True), time.sleep(1000))}\n"
        "exec(compile('def ' + name + '():\\n  stop()', '', 'exec'), space)\nspace[name]()\n"
    )
    with running(python_of(version), source, asleep=True) as program:
        [found] = dump(program.pid)["threads"]
        assert len(found["frames"]) == int(program.first.split()[0])
        leaf = found["frames"][1]
        assert leaf["name"].startswith("fff") and leaf["name"].endswith("…") and len(leaf["name"]) < 5000
        assert leaf["filename"] == "<no filename>"


@every_version
def test_code_that_took_the_place_of_other_code_has_its_own_file_and_line(version: str) -> None:
    source = READY + (
        "import itertools\n"
        "for i in itertools.count():\n"
        "  n = i % 997; space = {}\n"
        "  text = '\\n' * n + 'def fn%d():\\n  for _ in range(20000): pass\\n' % n\n"
        "  exec(compile(text, 'file%d' % n, 'exec'), space)\n"
        "  space['fn%d' % n]()\n"
    )
    with running(python_of(version), source) as program:
        seen = 0
        for _ in range(40):
            for t in dump(program.pid)["threads"]:
                for frame in t["frames"]:
                    if frame["name"].startswith("fn"):
                        seen += 1
                        number = frame["name"][2:]
                        assert frame["filename"] == "file" + number
                        assert frame["line"] - int(number) in (1, 2)
        assert seen > 10


@every_version
def test_qualified_names_come_with_3_11(version: str) -> None:
    source = (
        "import os, time\nclass C:\n  def method(self):\n"
        "    print(os.getpid(), flush=True); time.sleep(100)\nC().method()\n"
    )
    with running(python_of(version), source, asleep=True) as program:
        frame = dump(program.pid)["threads"][0]["frames"][0]
        assert frame["name"] == "method"
        assert frame["qualname"] == (None if version in ("3.8", "3.9", "3.10") else "C.method")


# --- idle, CPU and GIL ---------------------------------------------------------------------------------------------


@every_version
def test_sleepers_are_idle_and_the_spinner_holds_the_gil(version: str) -> None:
    source = (
        "import hashlib, os, threading, time\n"
        "def sleeper(): time.sleep(1000)\n"
        "def spinner():\n  while True: pass\n"
        "for i in range(5): threading.Thread(target=sleeper, name='sleeper').start()\n"
        "threading.Thread(target=spinner, name='spinner').start()\n" + READY + "time.sleep(1000)\n"
    )
    with running(python_of(version), source, asleep=True) as program:
        time.sleep(0.3)
        rounds, gil, asleep = 40, 0, 0
        for _ in range(rounds):
            threads = dump(program.pid)["threads"]
            assert all(t["os_thread_id"] for t in threads)
            asleep += sum(not t["active"] for t in threads if t["thread_name"] == "sleeper")
            gil += sum(t["owns_gil"] for t in threads if t["thread_name"] == "spinner")
            assert not any(t["owns_gil"] for t in threads if t["thread_name"] != "spinner")
        assert asleep == 5 * rounds
        assert gil >= rounds - 2  # it may be caught while it hands the GIL to nobody


def test_more_threads_than_descriptors_are_all_told(tmp_path: Path) -> None:
    source = (
        "import os, threading, time\n"
        "for _ in range(300): threading.Thread(target=time.sleep, args=(1000,)).start()\n"
        + READY
        + "time.sleep(1000)\n"
    )
    with running(python_of("3.11"), source, asleep=True) as program:
        command = ["sh", "-c", 'ulimit -n 40; exec "$@"', "sh", WF, "dump", "--json", "-p", str(program.pid)]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        threads = json.loads(done.stdout)
        assert len({t["os_thread_id"] for t in threads} - {None}) == 301
        assert not any(t["active"] for t in threads)


@every_version
def test_a_thread_that_hashes_is_active_without_the_gil(version: str) -> None:
    source = (
        "import hashlib, os, threading, time\ndata = bytes(64 << 20)\n"
        "def hashing():\n  while True: hashlib.sha256(data)\n"
        "threading.Thread(target=hashing, name='hashing').start()\n" + READY + "time.sleep(1000)\n"
    )
    with running(python_of(version), source, asleep=True) as program:
        time.sleep(0.3)
        found = [thread(program.pid, "hashing") for _ in range(20)]
        assert sum(t["active"] for t in found) >= 15
        assert sum(t["owns_gil"] for t in found) <= 3


# --- the target is safe --------------------------------------------------------------------------------------------


@every_version
def test_the_target_is_not_stopped_and_a_stopped_one_is_shown(version: str) -> None:
    source = "import os, time\ndef f():\n  print(os.getpid(), flush=True); time.sleep(1000)\nf()"
    with running(python_of(version), source, asleep=True) as program:
        assert stacks(program.pid, "--nonblocking")["MainThread"][0] == "f"
        os.kill(program.pid, signal.SIGSTOP)
        try:
            state_becomes(program.pid, "T")
            document = dump(program.pid)
            assert document["threads"][0]["frames"][0]["name"] == "f"
            assert "stopped" in document["processes"][0]["note"]
            assert Path(f"/proc/{program.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"
        finally:
            os.kill(program.pid, signal.SIGCONT)


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
def test_another_tracer_does_not_matter_and_is_named() -> None:
    with running(python_of("3.11"), READY + "import time\ntime.sleep(1000)", asleep=True) as program:
        with subprocess.Popen(["strace", "-qq", "-o", "/dev/null", "-p", str(program.pid)]) as tracer:
            try:
                for _ in range(50):
                    document = dump(program.pid)
                    if document["processes"][0]["note"]:
                        break
                    time.sleep(0.1)
                assert "strace" in document["processes"][0]["note"]
                assert document["threads"][0]["frames"]
            finally:
                tracer.terminate()


# --- errors name the gate ------------------------------------------------------------------------------------------


def refusal(pid: object, code: int = 3) -> str:
    done = wf("dump", "-p", pid)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_no_such_process() -> None:
    assert "there is no process 4194303" in refusal(4194303)


@pytest.mark.parametrize("text", ["0", "-3", "abc", "0x", "12z", "99999999999"])
def test_what_is_no_pid_is_wrong_usage(text: str) -> None:
    assert wf("dump", f"--pid={text}").returncode == 2


def test_a_pid_may_be_hexadecimal() -> None:
    with running(python_of("3.11"), READY + "import time; time.sleep(1000)", asleep=True) as program:
        assert wf("dump", "--pid", hex(program.pid)).returncode == 0


def test_a_zombie() -> None:
    with subprocess.Popen(["true"]) as process:
        for _ in range(100):
            if Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                break
            time.sleep(0.05)
        assert "zombie" in refusal(process.pid)


def test_a_program_that_is_no_python() -> None:
    with subprocess.Popen(["sleep", "1000"]) as process:
        time.sleep(0.2)
        assert "is no Python process, or has not loaded Python yet" in refusal(process.pid)
        process.kill()


@pytest.mark.skipif(not Path("/proc/2/stat").exists() or os.geteuid() != 0, reason="no kernel threads to be seen")
def test_a_kernel_thread() -> None:
    if "(kthreadd)" not in Path("/proc/2/stat").read_text():
        pytest.skip("pid 2 is no kernel thread here")
    assert "thread of the kernel" in refusal(2)


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.7"])
def test_an_older_python_is_refused_by_its_version(version: str) -> None:
    python = installed(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    with running(
        [python], "import os, sys, time\nprint(os.getpid())\nsys.stdout.flush()\ntime.sleep(1000)", asleep=True
    ) as program:
        text = refusal(program.pid)
        assert "older than 3.8" in text and version in text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_a_process_of_another_user(tmp_path: Path) -> None:
    copy = tmp_path / "wf"
    shutil.copy(Path(WF).resolve(), copy)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.is_relative_to("/tmp") and folder != Path("/tmp"):
            folder.chmod(0o755)
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    with running(python_of("3.11"), READY + "import time; time.sleep(1000)", asleep=True) as program:
        done = subprocess.run([copy, "dump", "-p", str(program.pid)], capture_output=True, text=True, **nobody)
        if done.returncode == 127:
            pytest.skip("wf cannot be run as another user here")
        assert done.returncode == 3, done.stderr
        assert "belongs to user id 0 and wf runs as 65534" in done.stderr


# --- the text ------------------------------------------------------------------------------------------------------


def test_the_text_is_laid_out_as_py_spy_does(tmp_path: Path) -> None:
    package = tmp_path / "pack" / "sub"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    code = "import os, time\ndef stop():\n  print(os.getpid(), flush=True)\n  time.sleep(1000)\n"
    (package / "module.py").write_text(code)
    source = f"import sys, threading; sys.path.insert(0, {str(tmp_path)!r})\nimport pack.sub.module as m\nm.stop()"
    with running([sys.executable], source, asleep=True) as program:
        lines = wf("dump", "-p", program.pid).stdout.splitlines()
        assert lines[0].startswith(f"Process {program.pid}: {sys.executable}")
        assert lines[1].startswith(f"Python v{sys.version.split()[0]} (")
        assert lines[2:] == [
            "",
            f'Thread {program.pid} (idle): "MainThread"',
            "    stop (pack/sub/module.py:4)",
            "    <module> (<string>:3)",
        ]
        assert f"    stop ({package}/module.py:4)" in wf("dump", "-p", program.pid, "--full-filenames").stdout
