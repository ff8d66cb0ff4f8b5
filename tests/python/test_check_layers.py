"""tools/check_layers says no to each way of breaking the direction of the rooms, and yes to this tree."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECK = ROOT / "tools" / "check_layers"

FAULTS = {
    "a higher room": ("src/dag/x.cc", '#include "store/store.h"\n', "dag may not use store"),
    "a room on the same row": ("src/store/x.cc", '#include "probe/gpu.h"\n', "store may not use probe"),
    "a lower room that is not named": ("src/report/x.cc", '#include "net/server.h"\n', "report may not use net"),
    "Python.h in the core": ("src/tracer/x.h", "#include <Python.h>\n", "only by bindings"),
    "nanobind in the core": ("src/app/x.h", "#include <nanobind/nanobind.h>\n", "only by bindings"),
    "SQL outside the store": ("src/api/x.cc", "#include <sqlite3.h>\n", "only by store"),
    "a library in the public API": ("include/wf/x.h", "#include <fmt/core.h>\n", "only standard headers"),
    "a room in the public API": ("include/wf/x.h", '#include "base/fd.h"\n', "only standard headers"),
    "an include without its room": ("src/base/x.cc", '#include "fd.h"\n', 'written with its room: "base/fd.h"'),
    "a folder that is no room": ("src/utils/x.h", "", "utils is no room"),
    "a link that is not named": (
        "src/dag/CMakeLists.txt",
        "wf_room(dag SOURCES x.cc USES base net)\n",
        "may not link net",
    ),
    "a second door to the extension": ("python/workflow/x.py", "from . import _core\n", "only _native.py"),
    "the extension by its full name": (
        "python/workflow/x.py",
        "def f():\n    import workflow._core\n",
        ":2: only _native.py",
    ),
    "an optional package anywhere": (
        "python/workflow/x.py",
        "import torch.cuda\n",
        "torch.cuda may be imported only in",
    ),
    "a file of 1,000 lines": ("src/base/x.cc", "\n" * 1000, "1000 lines; split it"),
}

ALLOWED = {
    "a named lower room": (
        "src/store/x.cc",
        '#include "profile/model.h"\n#include "base/fd.h"\n#include "wf/status.h"\n',
    ),
    "the composition root": ("src/app/x.cc", '#include "store/store.h"\n#include "api/routes.h"\n'),
    "bindings that see Python": ("python/bindings/x.cc", '#include <Python.h>\n#include "app/run_session.h"\n'),
    "the public API": ("include/wf/x.h", '#include <string>\n#include "wf/status.h"\n'),
    "the one door": ("python/workflow/_native.py", "from workflow._core import version\n"),
    "an import shown in a docstring": ("python/workflow/x.py", '"""Example:\n\nimport torch\n"""\n'),
}


def check(root: Path) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, str(CHECK), str(root)], capture_output=True, text=True)


def plant(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True)
    path.write_text(text)


@pytest.mark.parametrize("fault", FAULTS)
def test_refuses(fault: str, tmp_path: Path) -> None:
    name, text, message = FAULTS[fault]
    plant(tmp_path, name, text)
    done = check(tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith(f"{name}:") and message in done.stdout


@pytest.mark.parametrize("case", ALLOWED)
def test_allows(case: str, tmp_path: Path) -> None:
    plant(tmp_path, *ALLOWED[case])
    done = check(tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_long_file_is_warned_about_before_it_fails(tmp_path: Path) -> None:
    plant(tmp_path, "src/base/x.cc", "\n" * 501)
    done = check(tmp_path)
    assert done.returncode == 0
    assert done.stdout == "warning: src/base/x.cc: 501 lines; aim under 300\n"


def test_this_tree_keeps_the_rules() -> None:
    done = check(ROOT)
    assert done.returncode == 0, done.stdout
