"""`wf export` on a store with one recording, which a program of our C++ tests makes."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import WF, document, environment, ok, wf
from export_parsers import PARSERS

ROOT = Path(__file__).resolve().parents[2]
WRITER = Path(os.environ.get("WF_STACKS_FIXTURE") or ROOT / "build/release/src/store/stacks_fixture")
ON_CPU, IDLE, GIL = 1, 2, 4

SOURCE = """\
import time

def work(n):
    total = 0
    for i in range(n):
        total += i * i
    return total

def rest():
    time.sleep(0.1)

while True:
    work(1000)
    rest()
"""


def make_store(folder: Path, lines: list[str]) -> Path:
    if not WRITER.exists():
        pytest.skip(f"{WRITER} is not built (tools/test_cpp release)")
    store, text = folder / ".wf", folder / "stacks.txt"
    text.write_text("\n".join(lines) + "\n", encoding="utf-8")
    subprocess.run([WRITER, store, text], check=True, capture_output=True)
    return store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2 s of two threads: `work` 0.5 s with the GIL and `rest` 1.5 s; the other one idle throughout."""
    folder = tmp_path_factory.mktemp("export")
    source = folder / "prog.py"
    source.write_text(SOURCE)
    main = f"<module>|{source}|1|{{}};"
    work = main.format(13) + f"work|{source}|3|{{}}"
    rest = main.format(14) + f"rest|{source}|9|10"
    idle = f"wait|{source}|1|12"
    lines = []
    for i in range(200):
        state, stack = (ON_CPU | GIL, work.format(5 + i // 4 % 2)) if i % 4 == 0 else (IDLE, rest)
        lines += [f"100\tMainThread\t{state}\t{stack}", f"101\tworker\t{IDLE}\t{idle}"]
    return make_store(folder, lines)


@pytest.mark.parametrize("name", sorted(PARSERS))
def test_every_format_holds_wall_time_times_threads(store: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "out"
    ok("export", "last", "-f", name, "-o", path, "--store", store)
    assert PARSERS[name](path) == pytest.approx(4e9, rel=1e-3)
    ok("export", "-f", name, "--no-idle", "-o", path, "--store", store)
    assert PARSERS[name](path) == pytest.approx(0.5e9, rel=1e-2)


def test_flags_of_py_spy_change_the_frames(store: Path) -> None:
    def lines(*flags: str) -> str:
        return ok("export", "last", "-f", "raw", "-o", "-", *flags, "--store", store)

    assert "<module> (prog.py:13);work (prog.py:5) 25\n" in lines()
    assert "<module> (prog.py:1);work (prog.py:3) 50\n" in lines("-F")
    assert "<module> (prog.py);work (prog.py) 50\n" in lines("--nolineno")
    assert "thread 101 (worker);wait (prog.py:12) 200\n" in lines("-t")
    assert "process " in lines("--processes")
    assert str(store.parent) in lines("--full-filenames")
    assert "rest" not in lines("--gil")


def test_the_flame_graph_says_what_it_shows(store: Path) -> None:
    svg = ok("export", "-o", "-", "--store", store)
    says = "wall time, idle included · 100 Hz asked, 100 achieved · 400 readings, 0 missed, 2 rejected (torn 2)"
    assert says in svg
    assert "python prog.py --epochs 3" in svg
    assert not re.search(r'(href|src)="', svg), "it must not ask for anything from elsewhere"
    assert "idle left out" in ok("export", "--no-idle", "-o", "-", "--store", store)


def test_the_heat_map_holds_the_source(store: Path) -> None:
    page = ok("export", "-f", "heatmap", "-o", "-", "--store", store)
    assert re.search(r"<td>10</td><td>37.5 %</td><td>37.5 %</td><td>    time.sleep\(0.1\)</td>", page)


def test_the_output_is_named_after_the_run_and_the_format(store: Path, tmp_path: Path) -> None:
    answer = document("export", "-f", "speedscope", "--store", store, "-o", tmp_path / "x")
    assert answer["kind"] == "export"
    assert answer["bytes"] == (tmp_path / "x").stat().st_size
    printed = ok("export", "-f", "speedscope", "--store", store, cwd=tmp_path)
    assert printed == f"speedscope: {answer['run']}.speedscope.json\n"
    assert json.loads((tmp_path / f"{answer['run']}.speedscope.json").read_text())


def test_an_output_that_cannot_be_is_refused_and_an_old_one_stays(store: Path, tmp_path: Path) -> None:
    refused = wf("export", "-o", "/nonexistent/x", "--store", store)
    assert refused.returncode == 3
    assert "its folder does not exist" in refused.stderr
    assert wf("export", "-o", tmp_path, "--store", store).returncode == 2
    full = wf("export", "-o", "/dev/full", "--store", store)
    assert full.returncode == 3
    assert "No space left" in full.stderr
    old = tmp_path / "old.svg"
    old.write_text("old")
    old.chmod(0o640)
    assert wf("export", "last~7", "-o", old, "--store", store).returncode != 0
    assert old.read_text() == "old"
    ok("export", "-o", old, "--store", store)
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    unknown = wf("export", "--task", "nosuch", "-o", old, "--store", store)
    assert unknown.returncode == 2
    assert "no task of run" in unknown.stderr
    assert list(tmp_path.iterdir()) == [old], "nothing else is left behind"


def test_a_run_without_stacks_says_so(tmp_path: Path) -> None:
    pipeline = tmp_path / "p.py"
    pipeline.write_text("import workflow as wf\n@wf.workflow\ndef w():\n    return 1\n")
    command = ("run", pipeline, "-q", "--stack-rate", "0", "--python", sys.executable)
    assert wf(*command, cwd=tmp_path).returncode == 0
    done = wf("export", "-o", "x.svg", cwd=tmp_path)
    assert done.returncode == 3
    assert "no recorded stacks" in done.stderr
    assert not (tmp_path / "x.svg").exists()


def test_a_reader_that_leaves_early_is_no_fault_of_the_store(store: Path) -> None:
    command = f"{WF} export -f jsonl -o - --store {store} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, env=environment(), timeout=60)
    assert done.stdout.startswith('{"type":"meta"')
