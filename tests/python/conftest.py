"""Fixtures of the Python tests: a folder and an environment of their own, and what was observed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE_PARENT = Path(__file__).resolve().parents[2] / "python"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    """Each test runs in an empty folder, so that no store and no workflow.toml leaks in."""
    for name in [name for name in os.environ if name.startswith("WF_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


class Observed:
    """Counts of finished attempts, since the fixture was made or `reset`."""

    def __init__(self) -> None:
        self._before = self._read()

    def reset(self) -> None:
        self._before = self._read()

    def count(self, task: str, status: str | None = None, workflow: str = "") -> int:
        total = 0
        for key, value in self._read().items():
            if key[0] == workflow and key[1] == task and (status is None or key[2] == status):
                total += value - self._before.get(key, 0)
        return total

    @staticmethod
    def _read() -> dict[tuple[str, str, str], int]:
        return {
            (labels.get("workflow", ""), labels.get("task", ""), labels.get("status", "")): int(float(value))
            for labels, value in samples("duration_seconds_count")
        }


def samples(name: str) -> list[tuple[dict[str, str], str]]:
    """Every sample of a series on the page of the default registry: labels and value."""
    from workflow import metrics

    page = metrics.generate_latest()
    text = page.decode() if isinstance(page, bytes) else page
    found = re.findall(rf"^{name}\{{(.*)\}} (\S+)$", text, re.MULTILINE)
    return [(dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)), value) for labels, value in found]


@pytest.fixture
def observed():
    return Observed()


@pytest.fixture
def script(tmp_path):
    """Runs Python text as a program in the test's folder."""

    def run(source: str, *options: str, env: dict[str, str] | None = None, text: bool = True):
        path = tmp_path / "program.py"
        path.write_text(source)
        return subprocess.run(
            [sys.executable, *options, str(path)],
            capture_output=True,
            text=text,
            cwd=tmp_path,
            env=program_environment(env),
            timeout=120,
        )

    return run


def program_environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """The environment for a child that imports the package as we did."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WF_")}
    path = os.pathsep.join(filter(None, [str(PACKAGE_PARENT), kept.get("PYTHONPATH")]))
    return {**kept, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", **(extra or {})}
