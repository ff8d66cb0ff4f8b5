"""`task.map`: one call for each element."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
import sys
import types

import pytest
import workflow as wf
from decorated import Scaler
from runs import add, both, every_executor, run, total
from workflow.errors import MapError


@both
def test_map_zips_by_position_and_keeps_constants(executor):
    assert run(lambda: total(add.map([1, 2, 3], [10, 20, 30])), executor).result() == 66
    assert run(lambda: add.map([1, 2, 3], b=5), executor).result() == [6, 7, 8]
    assert run(lambda: total(add.map(range(3), b=add(1, 1))), executor).result() == 9


@both
@pytest.mark.parametrize("empty", [[], (), iter(()), {}, range(0)], ids=["list", "tuple", "iterator", "dict", "range"])
def test_a_map_over_nothing_is_an_empty_list_and_its_join_runs(executor, empty):
    done = run(lambda: total(add.map(empty)), executor)
    assert done.result() == 0
    assert done.state == "success"


@both
def test_a_map_of_an_empty_map_is_empty(executor):
    assert run(lambda: total(add.map(add.map([]))), executor).result() == 0


@both
def test_a_map_of_a_map_is_element_by_element(executor):
    assert run(lambda: total(add.map(add.map([1, 2, 3], b=1), b=10)), executor).result() == 39


@both
def test_a_future_as_iterable_is_awaited(executor):
    @wf.task
    def numbers():
        return [1, 2, 3]

    assert run(lambda: total(add.map(numbers(), b=1)), executor).result() == 9


@both
def test_a_generator_as_iterable_is_taken(executor):
    assert run(lambda: total(add.map(i * i for i in range(4))), executor).result() == 14


@pytest.mark.parametrize(
    ("iterables", "said"),
    [
        (([1, 2], [1, 2, 3]), r"1: 2, 2: 3"),
        (([1], []), r"1: 1, 2: 0"),
        (([1, 2], iter([1])), r"1: 2, 2: 1"),
        (([1, 2], iter(int, 1)), r"1: 2, 2: more than 2"),
    ],
    ids=["lists", "empty", "short iterator", "endless iterator"],
)
def test_unequal_lengths_name_the_lengths(iterables, said):
    with pytest.raises(MapError, match=said):
        run(lambda: add.map(*iterables))


@pytest.mark.parametrize("iterables", [(), (3,)], ids=["none", "number"])
def test_a_map_needs_an_iterable(iterables):
    with pytest.raises(MapError):
        run(lambda: add.map(*iterables))


def test_a_map_knows_its_index_and_takes_after():
    def body():
        first = add(1)
        mapped = add.map([1, 2], after=[first])
        return [future.map_index for future in mapped], first.map_index

    assert run(body).result() == ([0, 1], -1)


def test_map_results_in_the_body():
    assert run(lambda: add.map([1, 2], b=1).result()).result() == [2, 3]


def test_a_map_outside_a_run_calls_at_once():
    assert add.map([1, 2], b=1) == [2, 3]
    assert add.map([1, 2], b=1).result() == [2, 3]


# --- methods -----------------------------------------------------------------------------------------------------


class Small(Scaler):
    factor = 2

    @wf.task
    @classmethod
    def scale_inside(cls, x):
        return cls.factor * x


needs_the_class = pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python 3.13 does not tell the class any more")
METHODS = {
    "instance": lambda: Small().scale,
    "staticmethod": lambda: Small.scale_static,
    "staticmethod of an instance": lambda: Small().scale_static,
    "task above classmethod": lambda: Small.scale_inside,
    "task above classmethod of an instance": lambda: Small().scale_inside,
}
EXPECTED = {name: [10, 20] if "static" in name else [2, 4] for name in METHODS}


@every_executor
@pytest.mark.parametrize("name", METHODS)
def test_a_map_of_a_method_keeps_its_object(executor, name):
    assert run(lambda: METHODS[name]().map([1, 2]), executor, workers=1).result() == EXPECTED[name]


@pytest.mark.parametrize("name", METHODS)
def test_a_map_of_a_method_outside_a_run_keeps_its_object(name):
    assert METHODS[name]().map([1, 2]) == EXPECTED[name]


@needs_the_class
@every_executor
def test_a_map_of_a_method_with_classmethod_above_the_task_keeps_its_class(executor):
    assert run(lambda: Small.scale_class.map([1, 2]), executor, workers=1).result() == [2, 4]
    assert Small().scale_class.map([1, 2]) == [2, 4]


@pytest.mark.skipif(sys.version_info < (3, 13), reason="older Pythons tell the class")
def test_a_map_whose_class_python_does_not_tell_is_refused_with_the_way_out():
    with pytest.raises(MapError, match="@task above @classmethod"):
        Small.scale_class.map([1, 2])


def test_a_method_submits_and_calls_with_its_object():
    small = Small()
    assert run(lambda: small.scale.submit((3,), None, 7, ())).result() == 6
    assert small.scale.call_user((3,), {}) == 6


def test_a_bound_task_is_a_method_to_the_rest_of_the_world():
    small = Small()
    method = small.scale
    assert inspect.ismethod(method)
    assert isinstance(method, types.MethodType)
    assert method.__self__ is small
    assert method.__func__ is Small.scale
    assert list(inspect.signature(method).parameters) == ["x"]
    assert (method.__name__, method.__module__, method.name) == ("scale", "decorated", "scale_method")
    assert method == small.scale != Small().scale
    assert hash(method) == hash(small.scale)
    assert copy.copy(method) == method
    assert copy.deepcopy(method)(2) == 4
    assert pickle.loads(pickle.dumps(method))(2) == 4
    assert pickle.loads(pickle.dumps(Scaler.scale_class))(2) == 20
    assert functools.partial(method, 4)() == 8
    assert repr(method).startswith("<bound method Scaler.scale of <")
