"""One node and one observation per call, whatever decorators are stacked and in which order."""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import itertools
import pickle
import typing

import decorated
import pytest
import workflow as wf
from workflow import profiling
from workflow.errors import DecoratorError


def foreign(function):
    """A decorator as others write them."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


class foreign_class:
    """The same as an object with __call__."""

    def __init__(self, function):
        self._function = function
        functools.update_wrapper(self, function)

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)


OURS = {
    "task": wf.task,
    "task()": wf.task(),
    "profile": wf.profile,
    "profile()": wf.profile(),
    "collect()": profiling.collect(),
}


def stack(decorators, function):
    """The last one of `decorators` stands directly over the function."""
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def run_body(body, **options):
    body.__name__ = "body"
    return wf.workflow(body).run(executor="inline", store=False, **options)


STACKS = [
    pytest.param(names, id="-".join(names))
    for size in (1, 2, 3)
    for names in itertools.permutations(["task", "profile", "collect()", "foreign", "foreign_class"], size)
    if "task" in names
]


def fresh(name):
    def function(x):
        return x + 1

    function.__name__ = function.__qualname__ = name
    return function


@pytest.mark.parametrize("names", STACKS)
def test_any_order_gives_one_observation_for_a_direct_call(names, observed):
    known = {**OURS, "foreign": foreign, "foreign_class": foreign_class}
    task_name = "direct " + "-".join(names)
    function = stack([known[name] for name in names], fresh(task_name))
    assert function(1) == 2
    assert observed.count(task_name) == 1


@pytest.mark.parametrize("names", STACKS)
def test_any_order_gives_one_node_and_one_observation_in_a_run(names, observed):
    known = {**OURS, "foreign": foreign, "foreign_class": foreign_class}
    task_name = "node " + "-".join(names)
    function = stack([known[name] for name in names], fresh(task_name))
    run = run_body(lambda: function(1))
    assert run.result() == 2
    assert sum(run.counts().values()) == 1
    assert observed.count(task_name, workflow="body") == 1
    assert observed.count(task_name) == 0


@pytest.mark.parametrize("pair", itertools.permutations(OURS, 2), ids="-".join)
def test_ours_in_pairs_measure_once(pair, observed):
    task_name = "pair " + "-".join(pair)
    function = stack([OURS[name] for name in pair], fresh(task_name))
    assert function(1) == 2
    assert observed.count(task_name) == 1
    assert isinstance(function, wf.Task)


@pytest.mark.parametrize("outer", [classmethod, staticmethod])
@pytest.mark.parametrize("inside", [True, False], ids=["over_task", "under_task"])
@pytest.mark.parametrize("extra", [None, foreign], ids=["plain", "foreign"])
def test_classmethod_and_staticmethod_in_any_order(outer, inside, extra, observed):
    task_name = f"{outer.__name__}_{inside}_{extra is None}"

    def method(*args):
        return args

    method.__name__ = task_name
    decorators = [outer, wf.task] if inside else [wf.task, outer]
    if extra is not None:
        decorators.append(extra)

    class Holder:
        call = stack(decorators, method)

    expected = (Holder, 1) if outer is classmethod else (1,)
    assert Holder.call(1) == expected
    assert Holder().call(1) == expected
    assert observed.count(task_name) == 2
    run = run_body(lambda: [Holder.call(1), Holder().call(1)])
    assert run.result() == [expected, expected]
    assert observed.count(task_name, workflow="body") == 2


def test_a_method_binds_and_is_a_task():
    scaler = decorated.Scaler()
    assert scaler.scale(2) == 20
    assert run_body(lambda: scaler.scale(3)).result() == 30
    assert decorated.Scaler.scale(scaler, 4) == 40


@pytest.mark.parametrize("decorator", [wf.task, wf.profile, wf.profile(), profiling.collect()])
def test_over_a_property_the_message_shows_the_right_order(decorator):
    with pytest.raises(DecoratorError, match=r"(?s)property.*@property\n.*@\w+\n.*def size\(self\)"):

        class Holder:
            @decorator
            @property
            def size(self):
                return 1


def test_under_a_property_it_measures(observed):
    class Holder:
        @property
        @wf.profile
        def size_under_property(self):
            return 7

    assert Holder().size_under_property == 7
    assert observed.count("size_under_property") == 1


@pytest.mark.parametrize("decorator", [wf.task, wf.profile, profiling.collect()])
@pytest.mark.parametrize(
    "target", [int, 3, "name", wf.workflow(lambda: None)], ids=["class", "number", "text", "workflow"]
)
def test_what_is_no_function_is_refused_with_the_way_out(decorator, target):
    with pytest.raises(DecoratorError):
        decorator(target)


@pytest.mark.parametrize(
    "settings",
    [{"mode": "alway"}, {"every": 0}, {"every": True}, {"name": ""}, {"name": "a\nb"}, {"name": "__other__"}],
)
def test_wrong_settings_are_refused_where_they_stand(settings):
    with pytest.raises(DecoratorError):
        wf.task(**settings)


def test_a_near_mode_is_suggested():
    with pytest.raises(DecoratorError, match="did you mean 'always'"):
        wf.task(mode="alway")


def test_settings_of_all_decorators_are_joined_and_the_outer_one_wins():
    function = wf.task(name="joined", mode="sample")(profiling.collect(mode="always", every=3, cpu=False)(fresh("f")))
    assert (function.name, function.mode, function.every, function.cpu) == ("joined", "sample", 3, False)
    swapped = profiling.collect(every=3, cpu=False)(foreign(wf.task(name="joined", mode="sample")(fresh("f"))))
    assert (swapped.name, swapped.mode, swapped.every, swapped.cpu, swapped.task) == (
        "joined",
        "sample",
        3,
        False,
        True,
    )


def test_decorating_again_leaves_the_first_object_as_it_was():
    profiled = wf.profile(fresh("shared"))
    task = wf.task(name="other")(profiled)
    assert not profiled.task
    assert profiled.name == "shared"
    assert task.task
    assert task.name == "other"


def test_the_function_stays_what_it_was():
    function, original = decorated.double, decorated.double.__wrapped__
    assert inspect.signature(function) == inspect.signature(original)
    assert inspect.unwrap(function) is original
    assert typing.get_type_hints(function) == {"x": int, "return": int}
    assert function.__doc__ == "Twice as much."
    assert (function.__name__, function.__qualname__, function.__module__) == ("double", "double", "decorated")
    assert function.__annotations__ == original.__annotations__
    assert inspect.getsource(function) == inspect.getsource(original)
    assert callable(function)


def test_help_shows_the_function():
    import pydoc

    shown = pydoc.plain(pydoc.render_doc(decorated.double))
    assert "double(x: 'int') -> 'int'" in shown
    assert "Twice as much." in shown


def test_it_pickles_by_reference():
    for function in (decorated.double, decorated.triple, decorated.Scaler.scale, decorated.doubling):
        assert pickle.loads(pickle.dumps(function)) is function
        assert copy.copy(function) is function
        assert copy.deepcopy(function) is function


@pytest.mark.parametrize("decorator", list(OURS.values()), ids=list(OURS))
def test_inspect_says_of_it_what_it_says_of_the_function(decorator):
    def plain(): ...
    async def coroutine(): ...
    def generator():
        yield

    async def asyncgen():
        yield

    for function in (plain, coroutine, generator, asyncgen, functools.partial(coroutine)):
        wrapped = decorator(function)
        for question in (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction):
            assert question(wrapped) == question(function), (question, function)


def test_the_name_is_the_functions_own_seen_through_partials():
    assert wf.task(functools.partial(fresh("inner"), 1)).name == "inner"
    assert wf.task(fresh("own")).name == "own"
    assert wf.task(name="given")(fresh("own")).name == "given"


def test_a_callable_object_can_be_a_task(observed):
    class Adder:
        def __call__(self, x):
            return x + 1

    task = wf.task(Adder())
    assert task(1) == 2
    assert observed.count("Adder") == 1


def test_default_arguments_and_keywords_pass_unchanged():
    @wf.task
    def many(a, /, b, *rest, c=3, **more):
        return a, b, rest, c, more

    assert many(1, 2, 4, 5, c=6, d=7) == (1, 2, (4, 5), 6, {"d": 7})
    assert run_body(lambda: many(1, 2, 4, 5, c=6, d=7)).result() == (1, 2, (4, 5), 6, {"d": 7})


def test_a_parameter_called_after_stays_the_functions_own():
    @wf.task
    def own_after(after):
        return after

    assert own_after(after=3) == 3
    assert run_body(lambda: own_after(after=3)).result() == 3


def test_mode_off_measures_nothing(observed):
    function = wf.profile(mode="off")(fresh("unmeasured"))
    assert function(1) == 2
    assert observed.count("unmeasured") == 0


def test_an_exception_passes_as_it_is_and_counts_as_error(observed):
    error = KeyError("mine")

    @wf.profile
    def fails_directly():
        raise error

    with pytest.raises(KeyError) as caught:
        fails_directly()
    assert caught.value is error
    assert observed.count("fails_directly", "error") == 1


def test_recursion_counts_each_call(observed):
    @wf.profile
    def countdown(n):
        return n if n == 0 else countdown(n - 1)

    assert countdown(4) == 0
    assert observed.count("countdown") == 5


def test_a_workflow_called_plainly_is_a_normal_function():
    assert decorated.doubling(4) == 8
    assert inspect.signature(decorated.doubling) == inspect.signature(decorated.doubling.__wrapped__)


def test_an_async_workflow_body_is_refused():
    async def body(): ...

    with pytest.raises(DecoratorError, match="coroutine"):
        wf.workflow(body)


def test_a_workflow_in_a_class_is_refused():
    with pytest.raises((DecoratorError, RuntimeError)) as caught:

        class Holder:
            @wf.workflow
            def body(self): ...

    error = caught.value if isinstance(caught.value, DecoratorError) else caught.value.__cause__
    assert isinstance(error, DecoratorError)
    assert "staticmethod" in str(error)


def test_an_async_function_called_in_a_running_loop_streams_as_before(observed):
    @wf.task
    async def add_later(x):
        await asyncio.sleep(0)
        return x + 1

    async def main():
        return await asyncio.gather(add_later(1), asyncio.create_task(add_later(2)), add_later(3))

    assert asyncio.run(main()) == [2, 3, 4]
    assert observed.count("add_later", "success") == 3
