"""Parameters: typed from the signature, errors that name the file, the line and the parameter."""

# ruff: noqa: UP006, UP007, UP035, UP045  (the older spellings are what is tested)

from __future__ import annotations

import datetime
import enum
import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any, Dict, List, Literal, Optional, Union

import pytest
import workflow as wf
from workflow import _params
from workflow.errors import ParameterError


class Colour(enum.Enum):
    RED = 1
    BLUE = "b"


def parse(annotation, text):
    def body(value): ...

    body.__annotations__ = {"value": annotation}
    return _params.from_text("body", body, {"value": text}, {})["value"]


def coerce(annotation, value):
    def body(value): ...

    body.__annotations__ = {"value": annotation}
    return _params.from_text("body", body, {}, {"value": value})["value"]


@pytest.mark.parametrize(
    ("annotation", "text", "expected"),
    [
        (str, "007", "007"),
        (int, "12", 12),
        (int, "-3", -3),
        (float, "2.5", 2.5),
        (float, "1e-3", 0.001),
        (bool, "true", True),
        (bool, "No", False),
        (bool, "0", False),
        (Path, "a/b", Path("a/b")),
        (Optional[int], "none", None),
        (Optional[int], "4", 4),
        (Optional[str], "x", "x"),
        (Union[int, str], "4", 4),
        (Union[int, str], "four", "four"),
        (Union[int, float], "4.5", 4.5),
        (Union[bool, int], "1", 1),
        (Literal["fast", "slow"], "slow", "slow"),
        (Literal[1, 2], "2", 2),
        (Colour, "RED", Colour.RED),
        (Colour, "b", Colour.BLUE),
        (List[int], "1,2,3", [1, 2, 3]),
        (list[int], "[1, 2]", [1, 2]),
        (list, "a, b", ["a", "b"]),
        (list[str], "", []),
        (tuple[int, str], "1,x", (1, "x")),
        (tuple[int, ...], "1,2", (1, 2)),
        (set[int], "1,1,2", {1, 2}),
        (Dict[str, int], '{"a": 1}', {"a": 1}),
        (dict[str, list[int]], '{"a": [1]}', {"a": [1]}),
        (Decimal, "1.10", Decimal("1.10")),
        (datetime.date, "2024-02-29", datetime.date(2024, 2, 29)),
        (Any, "x", "x"),
    ],
    ids=str,
)
def test_text_becomes_what_the_signature_says(annotation, text, expected):
    value = parse(annotation, text)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (int, "three"),
        (int, "2.5"),
        (float, "much"),
        (bool, "perhaps"),
        (Literal["fast", "slow"], "quick"),
        (Colour, "GREEN"),
        (List[int], "1,x"),
        (Dict[str, int], "a=1"),
        (tuple[int, int], "1"),
        (Optional[int], "x"),
        (datetime.date, "29.2."),
    ],
    ids=str,
)
def test_text_of_the_wrong_type_names_parameter_type_value_and_place(annotation, text):
    with pytest.raises(ParameterError) as caught:
        parse(annotation, text)
    assert isinstance(caught.value, (ValueError, TypeError))
    message = str(caught.value)
    assert "'value'" in message
    assert repr(text) in message
    assert f"{Path(__file__).name}:" in message


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (int, 3, 3),
        (float, 3, 3.0),
        (Path, "x", Path("x")),
        (Optional[int], None, None),
        (list[Path], ["a"], [Path("a")]),
        (Colour, "RED", Colour.RED),
        (Colour, 1, Colour.RED),
        (dict[str, float], {"a": 1}, {"a": 1.0}),
        (Union[int, str], "4", "4"),
    ],
    ids=str,
)
def test_values_of_a_file_become_what_the_signature_says(annotation, value, expected):
    made = coerce(annotation, value)
    assert made == expected
    assert type(made) is type(expected)


@pytest.mark.parametrize(
    ("annotation", "value"), [(int, True), (int, 2.5), (str, 3), (bool, 1), (list[int], "x,y"), (dict, [1])], ids=str
)
def test_values_of_the_wrong_type_in_a_file_are_refused(annotation, value):
    with pytest.raises(ParameterError):
        coerce(annotation, value)


def body(path: str, epochs: int = 3, *, rate: float = 0.1): ...


def test_a_default_gives_the_type_where_there_is_no_annotation():
    def untyped(n=3, flag=False, name="x"): ...

    made = _params.from_text("untyped", untyped, {"n": "4", "flag": "yes", "name": "5"}, {})
    assert made == {"n": 4, "flag": True, "name": "5"}


def test_an_unknown_parameter_names_near_ones_and_the_place():
    with pytest.raises(ParameterError, match=r"test_params.py:\d+.*'epoch'.*did you mean 'epochs'"):
        _params.from_text("body", body, {"path": "x", "epoch": "3"}, {})


def test_a_missing_parameter_is_named_with_the_flag_to_give():
    with pytest.raises(ParameterError, match=r"'path'.*--param path="):
        _params.from_text("body", body, {}, {})


def test_the_command_line_wins_over_the_file():
    made = _params.from_text("body", body, {"epochs": "7"}, {"path": "f", "epochs": 1})
    assert made == {"path": "f", "epochs": 7}


def test_extra_keywords_are_taken_where_the_signature_takes_them():
    def open_body(**more): ...

    assert _params.from_text("open_body", open_body, {"x": "1"}, {}) == {"x": "1"}


@pytest.mark.parametrize(
    ("args", "kwargs"), [((), {}), ((1,), {}), (("x",), {"epochs": "3"}), (("x",), {"epoch": 3}), (("x", 1, 2), {})]
)
def test_run_checks_its_arguments_before_anything_runs(args, kwargs):
    ran = []

    @wf.workflow
    def checked(path: str, epochs: int = 3):
        ran.append(path)

    with pytest.raises(ParameterError) as caught:
        checked.run(*args, store=False, **kwargs)
    assert "test_params.py:" in str(caught.value)
    assert not ran


def test_a_subclass_or_foreign_number_may_stand_for_a_scalar():
    numpy = pytest.importorskip("numpy")

    @wf.workflow
    def takes(n: int, x: float):
        return n, x

    assert takes.run(numpy.int64(3), 2, store=False).result() == (3, 2)


@pytest.mark.parametrize("suffix", [".json", ".toml"])
def test_a_parameter_file_is_read(tmp_path, suffix):
    if suffix == ".toml" and sys.version_info < (3, 11):
        pytest.importorskip("tomli")
    path = tmp_path / f"p{suffix}"
    path.write_text('{"path": "d", "epochs": 4}' if suffix == ".json" else 'path = "d"\nepochs = 4\n')
    assert _params.read_file(path) == {"path": "d", "epochs": 4}


@pytest.mark.parametrize(("name", "text"), [("p.json", "{"), ("p.json", "[1]"), ("p.toml", "= 3"), ("p.yaml", "a: 1")])
def test_a_bad_parameter_file_is_named(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ParameterError, match=name):
        _params.read_file(path)


def test_what_is_stored_is_json_and_short():
    def many(a, b, c, d): ...

    class Broken:
        def __repr__(self):
            raise RuntimeError

    bound = _params.bind("many", many, (1, "x" * 10_000, Broken(), float("nan")), {})
    stored = {name: json.loads(text) for name, text in _params.document(bound).items()}
    assert stored["a"] == 1
    assert len(stored["b"]) < 600
    assert "Broken" in stored["c"]
    assert stored["d"] == "nan"
