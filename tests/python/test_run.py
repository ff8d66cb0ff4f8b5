"""A run: edges, results, failures, sub-workflows, both built-in executors with the same answers."""

from __future__ import annotations

import collections
import dataclasses
import sys
import threading
import time
import traceback

import pytest
import workflow as wf
from workflow.errors import (
    CancelledError,
    ConfigError,
    DuplicateTaskError,
    FutureUseError,
    MapError,
    ParameterTypeError,
    SkippedError,
    WorkflowError,
)

both = pytest.mark.parametrize("executor", ["inline", "threads"])


@wf.task
def add(a, b=0):
    return a + b


@wf.task
def boom(message="boom"):
    raise ValueError(message)


@wf.task
def total(values):
    return sum(values)


@wf.task
def same(value):
    return value


def workflow(body):
    body.__name__ = body.__name__ if body.__name__ != "<lambda>" else "body"
    return wf.workflow(body)


def run(body, executor="threads", **options):
    return workflow(body).run(executor=executor, store=False, **options)


# --- futures and edges -------------------------------------------------------------------------------------------


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


# --- map ---------------------------------------------------------------------------------------------------------


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


# --- sub-workflows -----------------------------------------------------------------------------------------------


@both
def test_a_workflow_inside_a_workflow_joins_the_run(executor):
    @wf.workflow
    def inner(x):
        return {"sum": add(x, 1)}

    def body():
        part = inner(add(1, 1))
        return add(part["sum"], 10)

    done = run(body, executor)
    assert done.result() == 13
    assert sum(done.counts().values()) == 3


def test_run_inside_a_body_is_refused_with_the_way_out():
    @wf.workflow
    def inner():
        return add(1)

    with pytest.raises(WorkflowError, match=r"inner\(…\)"):
        run(lambda: inner.run())


def test_run_inside_a_task_is_a_run_of_its_own():
    @wf.workflow
    def inner():
        return add(1, 1)

    @wf.task
    def outer():
        return inner.run(store=False).result()

    assert run(lambda: outer()).result() == 2


# --- failures ----------------------------------------------------------------------------------------------------


@both
def test_the_first_error_is_the_users_own_object_with_its_traceback(executor):
    error = KeyError("mine")

    @wf.task
    def raiser():
        raise error

    with pytest.raises(KeyError) as caught:
        run(lambda: raiser(), executor)
    assert caught.value is error
    assert traceback.extract_tb(error.__traceback__)[-1].name == "raiser"
    if sys.version_info >= (3, 11):
        assert any("task 'raiser'" in note and "wf show" in note for note in error.__notes__)


@both
def test_independent_branches_finish_and_dependants_are_skipped(executor):
    finished = []

    @wf.task
    def note(x):
        finished.append(x)
        return x

    kept = {}

    def body():
        bad = boom("no")
        kept["skipped"] = add(bad, 1)
        kept["skipped too"] = add(kept["skipped"], 1)
        kept["fine"] = note(note(1))
        return kept["fine"]

    done = run(body, executor, check=False)
    assert done.state == "failed"
    assert len(finished) == 2
    assert kept["fine"].result() == 1
    assert done.counts()["skipped"] == 2
    assert done.counts()["failed"] == 1
    for name in ("skipped", "skipped too"):
        assert kept[name].state == "skipped"
        with pytest.raises(SkippedError, match=r"'add'.*'boom'.*failed.*ValueError: no") as caught:
            kept[name].result()
        assert isinstance(caught.value.__cause__, ValueError)
    assert [failure.task for failure in done.errors] == ["boom"]
    with pytest.raises(ValueError, match="no"):
        done.result()


@both
def test_an_error_in_the_body_cancels_the_nodes_and_is_raised(executor):
    kept = []

    def body():
        kept.append(add(1))
        raise RuntimeError("in the body")

    with pytest.raises(RuntimeError, match="in the body"):
        run(body, executor)
    assert kept[0].state == "cancelled"
    with pytest.raises(CancelledError, match="body"):
        kept[0].result()


@both
def test_a_result_asked_for_in_the_body_raises_there_and_can_be_dealt_with(executor):
    def body():
        try:
            boom().result()
        except ValueError:
            return add(1, 1)

    done = run(body, executor, check=False)
    assert done.state == "failed"  # a task failed, whatever the body made of it
    assert done.futures[0].result() == 2


@both
def test_a_system_exit_in_a_task_fails_that_task_only(executor):
    @wf.task
    def leaves():
        sys.exit(3)

    done = run(lambda: [leaves(), add(1, 1)], executor, check=False)
    assert done.state == "failed"
    assert done.futures[1].result() == 2
    assert isinstance(done.errors[0].exception, SystemExit)


def test_an_exception_whose_text_raises_is_dealt_with():
    class Odd(Exception):
        def __str__(self):
            raise RuntimeError

    @wf.task
    def odd():
        raise Odd

    with pytest.raises(Odd):
        run(lambda: odd())


def test_a_future_tells_its_exception():
    def body():
        failing = boom("told")
        assert isinstance(failing.exception(), ValueError)
        assert add(1).exception() is None

    assert run(body, check=False).state == "failed"


def test_a_result_with_a_time_out_says_so():
    release = threading.Event()

    @wf.task
    def wait():
        release.wait(30)

    def body():
        future = wait()
        try:
            with pytest.raises(TimeoutError, match="wait"):
                future.result(timeout=0.05)
        finally:
            release.set()

    run(body)


# --- wrong calls -------------------------------------------------------------------------------------------------


def test_a_wrong_call_fails_on_its_own_line_when_the_graph_is_built():
    with pytest.raises(TypeError, match=r"test_run.py:\d+.*'add'.*'c'") as caught:
        run(lambda: add(1, c=2))
    assert isinstance(caught.value, ParameterTypeError)
    with pytest.raises(TypeError, match="too many positional"):
        run(lambda: add(1, 2, 3))
    with pytest.raises(TypeError, match="missing a required argument"):
        run(lambda: add())


def make(text, module):
    space = {"wf": wf, "__name__": module}
    exec(compile(text, f"{module}.py", "exec"), space)
    return space["load"]


LOAD = "@wf.task\ndef load():\n    return 1\n"


def test_two_functions_of_one_name_in_a_run_are_refused_with_both_places():
    one, other = make(LOAD, "module_one"), make("\n\n" + LOAD, "module_two")
    run(lambda: one())  # alone each may be used
    run(lambda: other())
    with pytest.raises(
        DuplicateTaskError, match=r"(?s)module_one.py:\d.*module_two.py:\d|module_two.py:\d.*module_one.py:\d"
    ):
        run(lambda: [one(), other()])


def test_the_same_function_defined_again_is_allowed():
    first, again = make(LOAD, "module_one"), make(LOAD, "module_one")
    assert run(lambda: [first(), again()]).result() == [1, 1]


# --- settings of a run -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"executor": "thread"}, {"workers": 0}, {"mode": "on"}, {"workers": "many"}])
def test_wrong_options_are_refused(options):
    with pytest.raises(ConfigError):
        workflow(lambda: add(1)).run(store=False, **options)


def test_a_parameter_with_the_name_of_an_option_goes_to_the_body():
    @wf.workflow
    def body(mode, store="x"):
        return mode, store

    assert body.options(store=False).run(mode="fast", store="here").result() == ("fast", "here")


def test_many_runs_in_a_row_leave_no_threads():
    before = threading.active_count()
    for _ in range(20):
        run(lambda: add(1), workers=3)
    assert threading.active_count() <= before


def test_two_runs_at_once_in_one_process_keep_apart():
    results = {}

    def go(start):
        results[start] = run(lambda: total(add.map(range(start, start + 50))), workers=2).result()

    threads = [threading.Thread(target=go, args=(start,)) for start in (0, 100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == {start: sum(range(start, start + 50)) for start in (0, 100, 200)}


@both
def test_a_chain_of_2000_needs_no_recursion(executor):
    def body():
        value = add(0, 1)
        for _ in range(1999):
            value = add(value, 1)
        return value

    assert run(body, executor).result() == 2000


def test_current_task_and_counts():
    @wf.task(name="asks")
    def asks():
        return wf.current_task()

    done = run(lambda: asks())
    found = done.result()
    assert (found.name, found.run_id, found.node, found.attempt) == ("asks", done.id, 1, 1)
    assert wf.current_task() is None
    assert done.counts()["success"] == 1
    assert len(done.id) == 26
