"""`wf dump` finds Python in programs of every kind: moved, embedded, in other namespaces, children, subinterpreters."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_support import wf
from target_pythons import every_version, every_version_outside, installed, python_of, running, state_becomes
from test_dump import document_of, dump, stacks


def test_a_deleted_and_renamed_executable_is_read(tmp_path: Path) -> None:
    python = Path("/usr/bin/python3.11")
    if not python.exists():
        pytest.skip("no static Python in /usr/bin")
    copy = tmp_path / "renamed-program"
    shutil.copy(python.resolve(), copy)
    script = tmp_path / "script.py"
    script.write_text("import os, time\ndef gone():\n  print(os.getpid(), flush=True)\n  time.sleep(1000)\ngone()\n")
    with running(
        [str(copy)], f"exec(compile(open({str(script)!r}).read(), {str(script)!r}, 'exec'))", asleep=True
    ) as program:
        copy.unlink()
        script.unlink()
        frames = dump(program.pid)["threads"][0]["frames"]
        assert [(f["name"], f["line"]) for f in frames[:2]] == [("gone", 4), ("<module>", 5)]


EMBEDDER = """
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
  void* python = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (!python) return fprintf(stderr, "%s\\n", dlerror()), 1;
  printf("ready %d\\n", (int)getpid());
  fflush(stdout);
  getchar();
  ((void (*)(void))dlsym(python, "Py_Initialize"))();
  return ((int (*)(const char*))dlsym(python, "PyRun_SimpleString"))(
      "import os, time\\ndef embedded():\\n  print('again', os.getpid(), flush=True)\\n"
      "  time.sleep(1000)\\nembedded()\\n");
}
"""


@every_version_outside
def test_an_embedded_python_is_read_once_it_is_initialised(version: str, tmp_path: Path) -> None:
    python = installed(version)
    library = Path(python or sys.executable).resolve().parents[1] / "lib" / f"libpython{version}.so.1.0"
    if python is None or not library.exists() or shutil.which("cc") is None:
        pytest.skip(f"no shared library of Python {version}, or no compiler")
    source = tmp_path / "embedder.c"
    source.write_text(EMBEDDER)
    program = tmp_path / "embedder"
    subprocess.run(["cc", "-o", program, source, "-ldl"], check=True)
    home = {**os.environ, "PYTHONHOME": str(library.parents[1])}
    with subprocess.Popen(
        [program, library], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=home
    ) as process:
        try:
            assert process.stdout is not None and process.stdin is not None
            pid = int(process.stdout.readline().split()[-1])
            early = wf("dump", "-p", pid)
            assert early.returncode == 3
            assert "not initialised" in early.stderr
            process.stdin.write("\n")
            process.stdin.flush()
            process.stdout.readline()
            assert stacks(pid)["MainThread"][0] == "embedded"
        finally:
            process.kill()


def test_children_that_are_no_python_are_left_out_with_one_line() -> None:
    source = (
        "import os, subprocess, sys, time\n"
        "a = subprocess.Popen(['sleep', '1000'])\n"
        "b = subprocess.Popen([sys.executable, '-c', 'import time\\ndef child(): time.sleep(1000)\\nchild()'])\n"
        "time.sleep(1)\nprint(a.pid, b.pid, os.getpid(), flush=True)\ntime.sleep(1000)\n"
    )
    with running(python_of("3.12"), source, asleep=True) as program:
        sleep, child, _ = map(int, program.first.split())
        try:
            done = wf("dump", "-s", "-p", program.pid, "--json")
            document = document_of(done.stdout)
            assert done.returncode == 0
            assert [p["pid"] for p in document["processes"]] == [program.pid, child]
            assert done.stderr.count("left out") == 1 and str(sleep) in done.stderr
            assert {f["name"] for t in document["threads"] for f in t["frames"]} >= {"child", "<module>"}
        finally:
            os.kill(sleep, 9)
            os.kill(child, 9)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children_of_multiprocessing_are_followed(method: str) -> None:
    source = (
        "import multiprocessing, os, time\n"
        "if __name__ == '__main__':\n"
        f"  multiprocessing.set_start_method({method!r})\n"
        "  p = multiprocessing.Process(target=time.sleep, args=(1000,)); p.start()\n"
        "  print(p.pid, os.getpid(), flush=True); time.sleep(1000)\n"
    )
    with running(python_of("3.11"), source, asleep=True) as program:
        child = int(program.first.split()[0])
        try:
            names: list[str] = []
            deadline = time.monotonic() + 60
            while names != ["run"] and time.monotonic() < deadline:  # it may still be importing
                found = [t for t in dump(program.pid, "-s")["threads"] if t["pid"] == child]
                names = [t["frames"][0]["name"] for t in found if t["frames"]]
            assert names == ["run"]
        finally:
            os.kill(child, 9)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace")
@every_version
def test_a_process_in_another_pid_namespace_has_host_thread_ids(version: str) -> None:
    inner = python_of(version)
    source = "import os, time\nprint('ready', os.getpid(), flush=True)\ntime.sleep(1000)"
    if len(inner) > 1:
        pytest.skip("runs in a private root already")
    command = ["unshare", "-pf", "--mount-proc", *inner, "-u", "-c", source]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready 1\n"
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        pid = int(children[0])
        try:
            state_becomes(pid, "S")
            [found] = dump(pid)["threads"]
            assert found["os_thread_id"] == pid
            assert found["active"] is False
        finally:
            os.kill(pid, 9)


SUBINTERPRETER = (
    "import os, threading, time\n"
    "try: import _interpreters as sub\nexcept ImportError: import _xxsubinterpreters as sub\n"
    "def inside():\n"
    "  sub.run_string(sub.create(), 'import time\\ndef insub(): time.sleep(1000)\\ninsub()')\n"
    "threading.Thread(target=inside, daemon=True, name='enters').start()\ntime.sleep(1)\n"
    "def mainfn():\n  print(os.getpid(), flush=True); time.sleep(1000)\nmainfn()\n"
)


@every_version
def test_a_thread_that_entered_a_subinterpreter_is_shown_once_with_both_stacks(version: str) -> None:
    with running(python_of(version), SUBINTERPRETER, asleep=True) as program:
        threads = dump(program.pid)["threads"]
        assert [t["thread_name"] for t in threads] == ["MainThread", "enters"]
        assert threads[0]["interpreter"] == 0 != threads[1]["interpreter"]
        inner = threads[1]["interpreter"]
        frames = [(f["name"], f["kind"]) for f in threads[1]["frames"]]
        assert frames[:4] == [
            ("insub", "python"),
            ("<module>", "python"),
            (f"<interpreter {inner}>", "marker"),
            ("inside", "python"),
        ]
        assert f"    <interpreter {inner}>\n    inside (<string>:5)\n" in wf("dump", "-p", program.pid).stdout
