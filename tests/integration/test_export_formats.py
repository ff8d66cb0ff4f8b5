"""Random recordings with names that break formats, through every exporter and a strict parser of each format."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from export_parsers import PARSERS

ROOT = Path(__file__).resolve().parents[2]
# The C++ test that writes the files; `make test` builds it before these tests run.
WRITER = Path(os.environ.get("WF_PROFILE_TEST") or ROOT / "build/release/src/profile/profile_test")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    """Files by format; a file is called <seed and options>-<nanoseconds in it>-<format>."""
    if not WRITER.exists():
        pytest.skip(f"{WRITER} is not built (tools/test_cpp release)")
    folder = tmp_path_factory.mktemp("exported")
    command = [str(WRITER), "--gtest_filter=ExportTest.WriteNastyFiles"]
    subprocess.run(command, env={**os.environ, "WF_EXPORT_DIR": str(folder)}, check=True, capture_output=True)
    files: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        files.setdefault(path.name.split("-")[2], []).append(path)
    return files


def test_every_format_is_tried(exported: dict[str, list[Path]]) -> None:
    assert set(exported) == set(PARSERS)
    assert all(len(paths) == 6 for paths in exported.values())


@pytest.mark.parametrize("name", sorted(PARSERS))
def test_a_strict_parser_reads_it_and_its_weights_add_up(exported: dict[str, list[Path]], name: str) -> None:
    for path in exported[name]:
        expected = int(path.name.split("-")[1])
        # Within one period of the sampler for the format that counts them, else exact but for the digits of a float.
        tolerance = 1e7 if name in ("collapsed", "raw") else 10
        assert abs(PARSERS[name](path) - expected) <= tolerance, path.name
