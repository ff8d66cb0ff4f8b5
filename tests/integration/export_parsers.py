"""Strict readers of the formats that `wf export` writes. Each returns the nanoseconds that the file adds up to.

They are ours, from the formats' descriptions, and refuse more than the usual readers do: an index that points
nowhere, columns of unequal length, a frame that ends before it began.
"""

from __future__ import annotations

import gzip
import io
import json
import pstats
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SVG = "{http://www.w3.org/2000/svg}"


def strict_json(text: str) -> Any:
    """JSON of RFC 8259: no NaN, no name twice in an object."""

    def no_constant(name: str) -> None:
        raise ValueError(f"{name} is no JSON")

    def no_double(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len({name for name, _ in pairs}) == len(pairs), f"a name twice: {[name for name, _ in pairs]}"
        return dict(pairs)

    return json.loads(text, parse_constant=no_constant, object_pairs_hook=no_double)


def flamegraph(path: Path) -> float:
    root = ElementTree.fromstring(path.read_bytes())
    assert root.tag == SVG + "svg"
    frames = []
    for group in root.iter(SVG + "g"):
        if group.get("class") != "f":
            continue
        title, rect, text = list(group)
        assert (title.tag, rect.tag, text.tag) == (SVG + "title", SVG + "rect", SVG + "text")
        assert title.text is not None
        assert title.text.count("\n") == 1
        assert re.fullmatch(r"#[0-9a-f]{6}", rect.get("fill", ""))
        frames.append(tuple(int(group.get(f"data-{key}", "")) for key in ("d", "x", "w")))
    levels: dict[int, list[tuple[int, int]]] = {}
    for depth, left, width in sorted(frames):
        assert width > 0 or depth == 0
        row = levels.setdefault(depth, [])
        assert not row or row[-1][1] <= left, "two frames overlap"
        if depth > 0:
            assert any(a <= left and left + width <= b for a, b in levels[depth - 1]), "a frame hangs in the air"
        row.append((left, left + width))
    assert levels[0] == [(0, frames[0][2])]
    return frames[0][2]


def collapsed(path: Path, rate_hz: float = 100) -> float:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    seen, total = set(), 0
    for line in text[:-1].split("\n"):
        assert line.isprintable(), repr(line)
        match = re.fullmatch(r"((?:[^;]+;)*[^;]+) ([1-9][0-9]*)", line)
        assert match, repr(line)
        assert match[1] not in seen, "a stack twice"
        assert all(frame.strip() for frame in match[1].split(";")), "a frame without a name"
        seen.add(match[1])
        total += int(match[2])
    assert text.splitlines() == text[:-1].split("\n")
    return total * 1e9 / rate_hz


def speedscope(path: Path) -> float:
    document = strict_json(path.read_text(encoding="utf-8"))
    assert set(document) == {"$schema", "exporter", "name", "activeProfileIndex", "shared", "profiles"}
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert set(document["shared"]) == {"frames"}
    frames = document["shared"]["frames"]
    for frame in frames:
        assert set(frame) <= {"name", "file", "line", "col"}
        assert isinstance(frame["name"], str)
        assert isinstance(frame.get("line", 1), int)
    total = 0
    for profile in document["profiles"]:
        assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
        assert (profile["type"], profile["unit"]) == ("sampled", "nanoseconds")
        assert len(profile["samples"]) == len(profile["weights"])
        assert all(0 <= index < len(frames) for sample in profile["samples"] for index in sample)
        assert all(weight >= 0 for weight in profile["weights"])
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
        total += sum(profile["weights"])
    assert document["profiles"] == [] or 0 <= document["activeProfileIndex"] < len(document["profiles"])
    return total


def chrometrace(path: Path) -> float:
    document = strict_json(path.read_text(encoding="utf-8"))
    open_frames: dict[tuple[int, int], list[float]] = {}
    clock: dict[tuple[int, int], float] = {}
    total = 0.0
    for event in document["traceEvents"]:
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name")
            assert isinstance(event["args"]["name"], str)
            continue
        row = (event["pid"], event["tid"])
        assert event["ts"] >= clock.get(row, 0.0), "time goes back"
        clock[row] = event["ts"]
        stack = open_frames.setdefault(row, [])
        if event["ph"] == "B":
            assert isinstance(event["name"], str)
            stack.append(event["ts"])
        else:
            assert event["ph"] == "E"
            began = stack.pop()
            total += 0 if stack else event["ts"] - began
    assert not any(open_frames.values()), "a frame does not end"
    return total * 1e3


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        assert shift <= 70
        if byte < 0x80:
            return value, at


def _message(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
        else:
            assert key & 7 == 2, "a type of field that profile.proto does not have"
            size, at = _varint(data, at)
            assert at + size <= len(data)
            yield key >> 3, data[at : at + size]
            at += size


def _numbers(data: bytes) -> list[int]:
    values, at = [], 0
    while at < len(data):
        value, at = _varint(data, at)
        values.append(value)
    return values


def _fields(data: bytes) -> dict[int, list[Any]]:
    fields: dict[int, list[Any]] = {}
    for number, value in _message(data):
        fields.setdefault(number, []).append(value)
    return fields


def pprof(path: Path) -> float:
    profile = _fields(gzip.decompress(path.read_bytes()))
    assert set(profile) <= set(range(1, 15))
    strings = [text.decode("utf-8") for text in profile[6]]
    assert strings[0] == ""
    assert len(set(strings)) == len(strings)
    types = [_fields(each) for each in profile[1]]
    assert strings[types[1][2][0]] == "nanoseconds"
    functions = {_fields(each)[1][0]: _fields(each) for each in profile.get(5, [])}
    locations = {_fields(each)[1][0]: _fields(each) for each in profile.get(4, [])}
    mappings = {_fields(each)[1][0] for each in profile[3]}
    for function in functions.values():
        assert all(function.get(field, [0])[0] < len(strings) for field in (2, 3, 4))
        assert strings[function[2][0]], "a function without a name"
    for location in locations.values():
        assert location[2][0] in mappings
        assert all(_fields(line)[1][0] in functions for line in location[4])
    total = 0
    for sample in map(_fields, profile.get(2, [])):
        assert all(location in locations for location in _numbers(sample[1][0]))
        _count, weight = _numbers(sample[2][0])
        for label in map(_fields, sample.get(3, [])):
            assert strings[label[1][0]] in ("thread", "process", "attempt", "task")
            assert (2 in label) != (3 in label)
        total += weight
    return total


def gecko(path: Path) -> float:
    document = strict_json(path.read_text(encoding="utf-8"))
    assert document["meta"]["preprocessedProfileVersion"] == 57
    strings = document["shared"]["stringArray"]
    total = 0.0
    for thread in document["threads"]:
        tables = {name: table for name, table in thread.items() if isinstance(table, dict)}
        for name, table in tables.items():
            columns = {key: column for key, column in table.items() if isinstance(column, list)}
            assert all(len(column) == table["length"] for column in columns.values()), name

        def points(column: list[int | None], size: int, nullable: bool = False) -> bool:
            return all((nullable if i is None else 0 <= i < size) for i in column)

        stacks, frames, funcs = tables["stackTable"], tables["frameTable"], tables["funcTable"]
        assert points(tables["samples"]["stack"], stacks["length"], nullable=True)
        assert all(prefix is None or prefix < i for i, prefix in enumerate(stacks["prefix"]))
        assert points(stacks["frame"], frames["length"])
        assert points(frames["func"], funcs["length"])
        assert points(frames["category"], len(document["meta"]["categories"]))
        assert points(funcs["name"], len(strings))
        assert points(funcs["fileName"], len(strings), nullable=True)
        assert tables["samples"]["weightType"] == "tracing-ms"
        assert tables["samples"]["time"] == sorted(tables["samples"]["time"])
        total += sum(tables["samples"]["weight"])
    return total * 1e6


def read_pstats(path: Path) -> float:
    printed = io.StringIO()
    stats = pstats.Stats(str(path), stream=printed)
    stats.sort_stats("cumulative").print_stats().print_callers()
    assert "Ordered by: cumulative time" in printed.getvalue()
    for (file, line, name), (_cc, _nc, own, whole, callers) in stats.stats.items():  # type: ignore[attr-defined]
        assert isinstance(file, str)
        assert isinstance(line, int)
        assert name
        assert own <= whole + 1e-9
        assert set(callers) <= set(stats.stats)  # type: ignore[attr-defined]
    return float(stats.total_tt) * 1e9  # type: ignore[attr-defined]


def heatmap(path: Path) -> float:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>\n")
    root = ElementTree.fromstring(text.split("\n", 1)[1])
    return sum(int(details.get("data-self-ns", "")) for details in root.iter("details"))


def stacks_json(path: Path) -> float:
    document = strict_json(path.read_text(encoding="utf-8"))
    assert (document["version"], document["kind"]) == (1, "stacks")
    samples, stacks = document["samples"], document["stacks"]
    assert all(len(column) == samples["length"] for column in samples.values() if isinstance(column, list))
    assert all(parent < i for i, parent in enumerate(stacks["parent"]) if i > 0)
    assert all(0 <= frame < len(document["frames"]) for frame in stacks["frame"][1:])
    assert all(0 <= stack < len(stacks["parent"]) for stack in samples["stack"])
    assert all(0 <= thread < len(document["threads"]) for thread in samples["thread"])
    assert sum(samples["weight_ns"]) == document["total_weight_ns"]
    return int(document["total_weight_ns"])


def stacks_json_lines(path: Path) -> float:
    known: dict[str, set[int]] = {"thread": set(), "frame": set(), "stack": {0}}
    total, count = 0, 0
    lines = [strict_json(line) for line in path.read_text(encoding="utf-8")[:-1].split("\n")]
    assert lines[0]["type"] == "meta"
    for line in lines[1:-1]:
        if line["type"] in known:
            known[line["type"]].add(line["id"])
        if line["type"] == "stack":
            assert line["parent"] in known["stack"]
            assert line["frame"] in known["frame"]
        if line["type"] == "sample":
            assert line["stack"] in known["stack"]
            assert line["thread"] in known["thread"]
            total += line["weight_ns"]
            count += 1
    assert lines[-1] == {"type": "end", "samples": count, "total_weight_ns": total}
    return total


PARSERS = {
    "flamegraph": flamegraph,
    "collapsed": collapsed,
    "raw": collapsed,
    "speedscope": speedscope,
    "chrometrace": chrometrace,
    "pprof": pprof,
    "gecko": gecko,
    "pstats": read_pstats,
    "heatmap": heatmap,
    "json": stacks_json,
    "jsonl": stacks_json_lines,
}
