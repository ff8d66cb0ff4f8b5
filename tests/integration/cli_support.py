"""Running the real `wf` in tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

PIPELINE = Path(__file__).with_name("cli_fixture_pipeline.py")
WF = Path(os.environ.get("WF_BIN") or Path(sysconfig.get_path("scripts")) / "wf")


def environment(**more: str) -> dict[str, str]:
    """Ours without anything that changes what `wf` prints or where it looks."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("WF_", "LC_")) and k not in ("LANG", "NO_COLOR")}
    return {**kept, "TZ": "UTC", **more}


def wf(*arguments: object, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    command = [str(WF), *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, env=environment(**env), capture_output=True, text=True, encoding="utf-8", timeout=120
    )


def ok(*arguments: object, cwd: Path | None = None, **env: str) -> str:
    """The output of a call that must succeed without a word on standard error."""
    done = wf(*arguments, cwd=cwd, **env)
    assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def document(*arguments: object, **env: str) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(ok(*arguments, "--json", **env))
    assert parsed["version"] == 1
    return parsed


def run_workflow(store: Path, name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return wf("run", f"{PIPELINE}:{name}", "--store", store, "--python", sys.executable, "-q", *arguments)
