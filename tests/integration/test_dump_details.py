"""`wf dump --locals`, `--source` and `--json` on real processes of every CPython that is installed."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from cli_support import ok, wf
from target_pythons import every_version, python_of, running

# Prints what repr() says of each local of `inner`, then sleeps in a closure of it.
PROGRAM = """
import os, time
from collections import OrderedDict, namedtuple
class Foo: pass
class Color(int): pass
class float2(float): pass
Point = namedtuple('Point', 'x y')
def inner(a, b=2, *args, only=5, **kw):
    f, whole, tiny, huge, odd = 1.5, 100000.0, 1e-7, 1e22, 0.1 + 0.2
    nan, inf, none, yes, no, zero = float('nan'), float('-inf'), None, True, False, 0
    text, quotes, controls, unicode = 'plain', 'it\\'s "x"', 'a\\x1b\\x7f\\n\\\\', 'h\u00e9llo \u20ac\U0001f600'
    data, big, negative, edge = b"\\x00a'\\xff", 10**40, -(10**30), 2**30
    items, one, empty, nothing = [1, 'a', None, [2, (3,)]], (1,), (), []
    table, no_table, group, frozen = {'k': 1, 2: 'x'}, {}, {7}, frozenset([3])
    gaps = {i: i for i in range(20)}
    for i in range(15): del gaps[i]
    del i
    cell, unset = 'cell', 1
    del unset
    def clo(given):
        mine = cell
        print(json_of(reprs), os.getpid(), flush=True)
        time.sleep(1000)
    reprs = {k: repr(v) for k, v in locals().items() if k != 'clo'}
    clo(1)
import json
json_of = lambda value: json.dumps(value).replace(' ', '\\u0020')
inner(1, 3, 4, kk='v')
"""


def frames(pid: int, *arguments: str) -> dict[str, dict[str, Any]]:
    threads = json.loads(ok("dump", "-p", pid, "--json", *arguments))
    return {f["name"]: f for t in threads for f in t["frames"]}


def values(frame: dict[str, Any]) -> dict[str, str]:
    return {local["name"]: local["repr"] for local in frame["locals"]}


@every_version
def test_locals_are_what_repr_says_of_them(version: str) -> None:
    with running(python_of(version), PROGRAM, asleep=True) as program:
        said = json.loads(program.first.rsplit(" ", 1)[0])
        found = frames(program.pid, "--locals")
        seen = values(found["inner"])
        assert seen.pop("clo").startswith("<function at 0x")
        seen.pop("reprs")
        assert seen == said
        assert values(found["clo"])["mine"] == values(found["clo"])["cell"] == "'cell'"
        arguments = [local["name"] for local in found["inner"]["locals"] if local["arg"]]
        assert arguments == ["a", "b", "only", "args", "kw"]
        assert found["<module>"]["locals"] == []


@every_version
def test_other_objects_are_named_and_long_ones_are_cut(version: str) -> None:
    source = (
        "import os, time, enum\nfrom collections import OrderedDict, namedtuple\n"
        "class Foo: pass\nPoint = namedtuple('Point', 'x y')\nclass Text(str): pass\n"
        "def f():\n"
        "  foo, point, ordered, text = Foo(), Point(1, 2), OrderedDict(a=1), Text('x\u20ac')\n"
        "  long, many, wide = 'x' * 5000, list(range(5000)), 10 ** 100000\n"
        "  deep = []; deep.append(deep)\n"
        "  for _ in range(100): deep = [deep]\n"
        "  print(os.getpid(), flush=True); time.sleep(1000)\nf()\n"
    )
    with running(python_of(version), source, asleep=True) as program:
        short = values(frames(program.pid, "-l")["f"])
        assert short["foo"].startswith("<Foo at 0x")
        assert short["point"] == "Point((1, 2))" and short["ordered"] == "OrderedDict({'a': 1})"
        assert short["text"] == "Text('x\u20ac')"
        assert short["long"].endswith("...'") and 100 < len(short["long"]) < 200
        assert short["many"].startswith("[0, 1, 2") and short["many"].endswith(", ...]")
        assert short["deep"].count("[") == short["deep"].count("]") < 20
        assert short["wide"].startswith("<int of about")
        longer = values(frames(program.pid, "-ll")["f"])
        assert len(longer["long"]) > 4000 and len(longer["many"]) > len(short["many"])


def test_what_looks_like_a_secret_is_hidden_until_it_is_asked_for_twice() -> None:
    source = (
        "import os, time\ndef f():\n  password = 'hunter2'; url = 'postgres://me:hunter2@db/x'\n"
        "  settings = {'api_key': 'hunter2'}\n  print(os.getpid(), flush=True); time.sleep(1000)\nf()\n"
    )
    with running(python_of("3.12"), source, asleep=True) as program:
        short = ok("dump", "-p", program.pid, "-l").split("\nThread ")[1]
        assert "hunter2" not in short and "            password: ***\n" in short
        assert ok("dump", "-p", program.pid, "-ll").split("\nThread ")[1].count("hunter2") == 3


@every_version
def test_locals_of_a_busy_program_are_never_those_of_another_frame(version: str) -> None:
    source = (
        "import os\nprint(os.getpid(), flush=True)\n"
        "def a(n):\n  mine = 'a'\n  for _ in range(n): pass\n  return mine\n"
        "def b(n, more):\n  other = 'b'\n  for _ in range(n): pass\n  return other\n"
        "while True: a(50); b(50, 1)\n"
    )
    with running(python_of(version), source) as program:
        for arguments in (["-l"], ["-l", "--blocking"]):
            for _ in range(20):
                found = frames(program.pid, *arguments)
                assert set(values(found.get("a", {"locals": []}))) <= {"n", "mine", "_"}
                assert set(values(found.get("b", {"locals": []}))) <= {"n", "more", "other", "_"}


def test_the_json_is_the_array_of_threads_that_py_spy_prints() -> None:
    source = "import os, time\ndef f(x):\n  print(os.getpid(), flush=True); time.sleep(1000)\nf(1)\n"
    with running(python_of("3.12"), source, asleep=True) as program:
        [thread] = json.loads(ok("dump", "-p", program.pid, "-j"))
        assert thread["frames"][0]["locals"] is None
        [thread] = json.loads(ok("dump", "-p", program.pid, "-j", "-l"))
        assert {
            "pid",
            "thread_id",
            "thread_name",
            "os_thread_id",
            "active",
            "owns_gil",
            "frames",
            "process_info",
        } <= set(thread)
        frame = thread["frames"][0]
        assert {"name", "filename", "module", "short_filename", "line", "locals"} <= set(frame)
        assert set(frame["locals"][0]) == {"name", "addr", "arg", "repr"}
        assert thread["process_info"]["python_version"].startswith("3.12")


# --- source lines --------------------------------------------------------------------------------------------------


@every_version
def test_the_source_line_stands_below_its_frame_unless_the_file_changed(version: str, tmp_path: Path) -> None:
    if len(python_of(version)) > 1:
        pytest.skip("runs in a private root that has no such folder")
    script = tmp_path / "script.py"
    script.write_text("import os, time\ndef f():\n  print(os.getpid(), flush=True)\n  time.sleep(1000)  # here\nf()\n")
    os.utime(script, (time.time() - 100, time.time() - 100))
    source = f"import runpy; runpy.run_path({str(script)!r})"
    with running(python_of(version), source, asleep=True) as program:
        text = ok("dump", "-p", program.pid, "--source")
        assert "    f (script.py:4)\n        time.sleep(1000)  # here\n" in text
        assert "# here" not in ok("dump", "-p", program.pid)
        assert frames(program.pid, "--source")["f"]["source"] == "time.sleep(1000)  # here"
        script.write_text("# changed\n" * 10)
        assert "# changed" not in ok("dump", "-p", program.pid, "--source")
        script.unlink()
        os.mkfifo(script)
        assert "    f (script.py:4)\n    <module>" in ok("dump", "-p", program.pid, "--source")


def test_blocking_and_nonblocking_contradict() -> None:
    assert wf("dump", "-p", 1, "--blocking", "--nonblocking").returncode == 2
