"""The examples in examples/quickstart do what their texts say, as scripts and through `wf run`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

QUICKSTART = Path(__file__).parents[2] / "examples" / "quickstart"
WF = Path(sysconfig.get_path("scripts")) / "wf"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder with data.csv in it."""
    subprocess.run([sys.executable, str(QUICKSTART / "make_data.py"), "data.csv", "2000"], cwd=tmp_path, check=True)
    return tmp_path


def script(folder: Path, name: str) -> str:
    command = [sys.executable, str(QUICKSTART / name)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def wf_run(folder: Path, name: str, *arguments: str) -> Any:
    command = [str(WF), "run", str(QUICKSTART / name), "--json", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_data_are_the_same_for_every_call_and_have_holes(folder: Path) -> None:
    again = folder / "again.csv"
    subprocess.run([sys.executable, str(QUICKSTART / "make_data.py"), str(again), "2000"], check=True)
    assert again.read_bytes() == (folder / "data.csv").read_bytes()
    lines = again.read_text().splitlines()
    assert len(lines) == 2001
    assert any(not all(line.split(",")) for line in lines)


def test_the_snippet_of_the_documents_runs_as_a_script(folder: Path) -> None:
    pytest.importorskip("pandas", reason="the snippet reads its data with pandas")
    run_id, result = script(folder, "pipeline.py").split()
    assert float(result) == pytest.approx(3 * (1.7 + 70 + 54), rel=0.05)  # the means of the three columns, 3 epochs
    document = json.loads(
        subprocess.run([str(WF), "runs", "--json"], cwd=folder, check=True, capture_output=True, text=True).stdout
    )
    assert [run["id"] for run in document["runs"]] == [run_id]


def test_the_snippet_of_the_documents_runs_through_the_command_with_typed_parameters(folder: Path) -> None:
    pytest.importorskip("pandas", reason="the snippet reads its data with pandas")
    document = wf_run(folder, "pipeline.py:training", "--param", "path=data.csv", "--param", "epochs=5")
    assert document["state"] == "success"
    assert document["nodes"]["success"] == 5  # preprocess_data, three of train, best
    assert float(document["result"].removeprefix("np.float32(").rstrip(")")) == pytest.approx(5 * 125.7, rel=0.05)


def test_the_coroutines_of_the_async_example_add_up(folder: Path) -> None:
    assert script(folder, "async_pipeline.py") == f"{sum(n * n for n in range(100))}\n"
    assert wf_run(folder, "async_pipeline.py", "--param", "count=10")["result"] == "285"


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_the_primes_are_the_same_with_threads_and_processes(folder: Path, executor: str) -> None:
    arguments = ["--executor", executor, "--param", "limit=10000", "--param", "pieces=4"]
    document = wf_run(folder, "process_pipeline.py", *arguments)
    assert document["result"] == "1229"
    assert document["nodes"]["success"] == 5


def test_the_generator_streams_when_called_and_is_a_list_for_its_dependant(folder: Path) -> None:
    ages = script(folder, "generator_pipeline.py").split()
    assert len(ages) == 3
    assert all(18 <= float(age) <= 90 for age in ages)
    document = wf_run(folder, "generator_pipeline.py", "--param", f"path={folder / 'data.csv'}")
    assert float(document["result"]) == pytest.approx(54, rel=0.05)


def test_no_example_leaves_files_beside_itself(folder: Path) -> None:
    before = set(os.listdir(QUICKSTART)) - {"__pycache__"}
    wf_run(folder, "async_pipeline.py", "--param", "count=2")
    assert set(os.listdir(QUICKSTART)) - {"__pycache__"} == before
    assert (folder / ".wf" / "runs.db").exists()
