"""Futures are edges: in containers, with `after`, in the body and in what it returns."""

from __future__ import annotations

import collections
import dataclasses
import threading
import time

import pytest
import workflow as wf
from runs import add, both, run, same
from workflow.errors import FutureUseError


@both
def test_futures_as_arguments_are_edges(executor):
    assert run(lambda: add(add(1, 2), b=add(3, 4)), executor).result() == 10


@dataclasses.dataclass
class Pair:
    left: object
    right: object


@dataclasses.dataclass(frozen=True)
class Frozen:
    value: object


Point = collections.namedtuple("Point", "x y")


@both
@pytest.mark.parametrize(
    ("wrap", "expected"),
    [
        (lambda f: [f, 1], [3, 1]),
        (lambda f: (f, (f,)), (3, (3,))),
        (lambda f: {"k": f, "l": [f]}, {"k": 3, "l": [3]}),
        (lambda f: {f, 5}, {3, 5}),
        (lambda f: Pair(f, [f]), Pair(3, [3])),
        (lambda f: Frozen(f), Frozen(3)),
        (lambda f: Point(f, 2), Point(3, 2)),
        (lambda f: [{"deep": (Pair(f, None),)}], [{"deep": (Pair(3, None),)}]),
    ],
    ids=["list", "tuple", "dict", "set", "dataclass", "frozen", "namedtuple", "deep"],
)
def test_futures_inside_containers_are_found_and_replaced(executor, wrap, expected):
    result = run(lambda: same(wrap(add(1, 2))), executor).result()
    assert result == expected
    assert type(result) is type(expected)


@both
def test_futures_in_what_the_body_returns_are_resolved(executor):
    done = run(lambda: {"a": add(1, 1), "b": [add(2, 2), Pair(add(3, 3), 0)], "c": 7}, executor)
    assert done.result() == {"a": 2, "b": [4, Pair(6, 0)], "c": 7}
    assert [future.task for future in done.futures] == ["add", "add", "add"]


def test_containers_without_futures_are_passed_as_they_are():
    value = {"list": [1, 2]}
    assert run(lambda: same(value)).result() is value
    assert run(lambda: value).result() is value


@both
def test_after_orders_without_data(executor):
    order = []

    @wf.task
    def note(name):
        time.sleep(0.02 if name == "first" else 0)
        order.append(name)

    def body():
        first = note("first")
        note("second", after=[first])
        note("third", after=first)

    run(body, executor, workers=4)
    assert order[0] == "first"
    assert sorted(order) == ["first", "second", "third"]


@both
def test_a_body_may_wait_for_a_result_and_decide(executor):
    def body():
        if add(1, 1).result() == 2:
            return add(10, 10)
        return None

    assert run(body, executor).result() == 20


@both
def test_a_body_that_returns_nothing_still_runs_its_tasks(executor):
    seen = []

    @wf.task
    def note(x):
        seen.append(x)

    def body():
        note(1)
        note(2)

    done = run(body, executor)
    assert sorted(seen) == [1, 2]
    assert done.result() is None
    assert done.state == "success"


def test_nothing_starts_before_the_body_ends():
    started = threading.Event()

    @wf.task
    def start():
        started.set()

    def body():
        start()
        return started.wait(0.2)

    assert run(body).result() is False
    assert started.is_set()


@pytest.mark.parametrize(
    "use",
    [bool, len, iter, int, float, lambda f: f + 1, lambda f: 1 + f, lambda f: f < 1, lambda f: f[0], lambda f: f()],
    ids=["bool", "len", "iter", "int", "float", "add", "radd", "less", "item", "call"],
)
def test_a_future_used_as_a_value_says_what_to_do(use):
    with pytest.raises(FutureUseError, match=r"'add'.*\.result\(\)"):
        run(lambda: use(add(1)))


def test_a_future_of_another_run_is_refused():
    kept = []
    run(lambda: kept.append(add(1)))
    with pytest.raises(ValueError, match="belongs to another run"):
        run(lambda: add(kept[0]))


def test_tasks_called_inside_a_task_run_at_once():
    @wf.task
    def outer():
        value = add(1, 2)
        assert isinstance(value, int)
        return value

    done = run(lambda: outer())
    assert done.result() == 3
    assert sum(done.counts().values()) == 1


def test_both_executors_use_the_threads_that_they_say():
    @wf.task
    def who():
        return threading.current_thread().name

    assert run(lambda: who(), "inline").result() == threading.current_thread().name
    assert run(lambda: who(), "threads").result().startswith("wf-worker-")


def test_threads_run_tasks_at_the_same_time():
    barrier = threading.Barrier(4, timeout=30)

    @wf.task
    def meet():
        barrier.wait()
        return True

    assert run(lambda: [meet() for _ in range(4)], workers=4).result() == [True] * 4
