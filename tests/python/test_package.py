"""The package as a whole: names, types, what importing it costs and touches."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import workflow as wf
from conftest import PACKAGE_PARENT, program_environment


def test_every_public_name_is_there():
    for name in wf.__all__:
        assert getattr(wf, name) is not None
        assert name in dir(wf)
    assert wf.__version__.count(".") == 2


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = wf.nothing_like_it


def test_every_error_is_ours_and_has_a_built_in_beside_it():
    from workflow import errors

    for name in errors.__all__:
        error = getattr(errors, name)
        assert issubclass(error, errors.WorkflowError)
        if error is not errors.WorkflowError:
            assert any(base.__module__ == "builtins" and base is not Exception for base in error.__mro__[:-3]), name


def test_importing_it_leaves_heavy_modules_alone(script):
    done = script(
        "import sys, workflow\n"
        "heavy = ['asyncio', 'inspect', 'json', 'logging', 'rich', 'pathlib', 'subprocess', 'dataclasses', 'socket']\n"
        "print([name for name in heavy if name in sys.modules])\n",
        "-S",
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_generic_types_can_be_subscribed():
    assert wf.Task[[int], str]
    assert wf.Future[int]
    assert wf.Run[int]


TYPED = """
from collections.abc import AsyncIterator, Iterator
import workflow as wf
from workflow import profiling

@wf.task
def plain(x: int, y: str = "") -> float: ...
@wf.task(name="named")
def named(x: int) -> str: ...
@wf.task(name="both")
@profiling.collect()
def both(x: int) -> str: ...
@wf.profile
async def later(x: int) -> bytes: ...
@wf.task
def stream() -> Iterator[int]: ...

class Holder:
    @wf.task
    def method(self, x: int) -> str: ...
    @classmethod
    @wf.task
    def of_class(cls, x: int) -> str: ...

@wf.workflow(name="w")
def body(path: str, epochs: int = 3) -> float: ...

async def use() -> None:
    reveal_type(plain(1, y="x"))
    reveal_type(named(1))
    reveal_type(both(1))
    reveal_type(await later(1))
    reveal_type(stream())
    reveal_type(Holder().method(1))
    reveal_type(plain.map([1, 2], y="x"))
    reveal_type(body("x", epochs=4))
    reveal_type(body.run("x").result())
    plain("wrong")
    named(y=1)
    Holder().method("wrong")
    body(3)
"""


def test_type_checkers_see_decorated_functions_as_they_were(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed (pip install mypy)")
    path = tmp_path / "typed.py"
    path.write_text(TYPED)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--disable-error-code=empty-body",
            "--no-error-summary",
            "--cache-dir",
            str(tmp_path / "cache"),
            str(path),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=program_environment({"MYPYPATH": str(PACKAGE_PARENT)}),
        timeout=280,
    )
    notes = [line.split('"')[1] for line in done.stdout.splitlines() if "Revealed type" in line]
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    simple = [note.replace("builtins.", "").replace("typing.", "").replace("collections.abc.", "") for note in notes]
    assert simple[:6] == ["float", "str", "str", "bytes", "Iterator[int]", "str"], done.stdout
    assert simple[6].endswith("FutureList[float]"), done.stdout
    assert simple[7:] == ["float", "float"], done.stdout
    first_wrong = TYPED.splitlines().index('    plain("wrong")') + 1
    assert [int(line.split(":")[1]) for line in errors] == [first_wrong + i for i in range(4)], done.stdout


def test_the_package_says_that_it_is_typed():
    assert (Path(wf.__file__).parent / "py.typed").exists()
