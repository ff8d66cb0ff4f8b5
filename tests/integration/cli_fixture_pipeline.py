"""The workflows that the tests of `wf` run."""

from __future__ import annotations

import sys
import time

import workflow as wf


@wf.task
def load(n: int) -> list[int]:
    print(f"loading {n}")
    return list(range(n))


@wf.task
def square(value: int) -> int:
    print(f"squaring {value}", file=sys.stderr)
    wf.logger().warning("a warning about %d", value)
    return value * value


@wf.task
def total(values: list[int], fail: bool) -> int:
    if fail:
        raise ValueError("total was asked to fail")
    return sum(values)


@wf.task
def mail(value: int) -> int:
    return value


@wf.workflow(name="squares")
def squares(n: int = 3, fail: bool = False):
    numbers = load(n)
    squared = square.map(list(range(n)), after=[numbers])
    return mail(total(squared, fail))


@wf.task
def spin(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


@wf.task
def doze(seconds: float) -> None:
    time.sleep(seconds)


@wf.workflow(name="busy")
def busy(spin_s: float = 0.5, doze_s: float = 0.1):
    return doze(doze_s, after=[spin(spin_s)])
