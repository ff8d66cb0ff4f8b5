"""The tables of src/cpython are those of the headers, wherever these are installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("minor", range(8, 16))
def test_the_layout_is_that_of_the_headers(minor: int) -> None:
    done = subprocess.run([ROOT / "tools" / "cpython_layouts", "check", f"3.{minor}"], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    if "no headers" in done.stdout:
        pytest.skip(f"the headers of 3.{minor} are not installed")
    assert done.stdout == f"3.{minor}: same\n"
