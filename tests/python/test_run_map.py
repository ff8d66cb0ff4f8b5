"""`task.map`: one call for each element."""

from __future__ import annotations

import pytest
import workflow as wf
from runs import add, both, run, total
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
