"""Generators and coroutines called directly keep streaming and are counted once, when they end."""

from __future__ import annotations

import asyncio
import gc
import inspect
import time
import warnings

import pytest
import workflow as wf

NAP = 0.05


class Left(Exception):
    pass


def sync_source(name, raising):
    @wf.task(name=name)
    def source():
        for i in range(3):
            time.sleep(NAP)
            if raising and i == 1:
                raise Left
            yield i

    return source


def async_source(name, raising):
    @wf.task(name=name)
    async def source():
        for i in range(3):
            await asyncio.sleep(NAP)
            if raising and i == 1:
                raise Left
            yield i

    return source


def consume(source, leave_early):
    taken = []
    for item in source():
        taken.append(item)
        if leave_early:
            break
    return taken


async def consume_async(source, leave_early):
    taken = []
    stream = source()
    async for item in stream:
        taken.append(item)
        if leave_early:
            break
    await stream.aclose()
    return taken


CASES = [("exhaust", [0, 1, 2], "success", 3), ("break", [0], "success", 1), ("raise", None, "error", 2)]


@pytest.mark.parametrize(("how", "expected", "status", "naps"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_generator_is_measured_from_call_to_end(kind, how, expected, status, naps, observed):
    name = f"stream_{kind}_{how}"
    source = (sync_source if kind == "sync" else async_source)(name, how == "raise")

    def go():
        if kind == "sync":
            return consume(source, how == "break")
        return asyncio.run(consume_async(source, how == "break"))

    before = seconds(name)
    if expected is None:
        with pytest.raises(Left):
            go()
    else:
        assert go() == expected
    gc.collect()
    assert observed.count(name) == 1
    assert observed.count(name, status) == 1
    assert seconds(name) - before >= naps * NAP * 0.9


@pytest.mark.parametrize(("how", "status"), [("return", "success"), ("raise", "error"), ("cancel", "cancelled")])
def test_a_coroutine_is_measured_to_its_end(how, status, observed):
    name = f"coroutine_{how}"

    @wf.task(name=name)
    async def work():
        await asyncio.sleep(NAP)
        if how == "raise":
            raise Left
        if how == "cancel":
            await asyncio.sleep(60)
        return 5

    async def main():
        task = asyncio.ensure_future(work())
        await asyncio.sleep(2 * NAP)
        if how == "cancel":
            task.cancel()
        return await task

    errors = {"raise": Left, "cancel": asyncio.CancelledError}
    if how in errors:
        with pytest.raises(errors[how]):
            asyncio.run(main())
    else:
        assert asyncio.run(main()) == 5
    assert observed.count(name) == 1
    assert observed.count(name, status) == 1
    assert seconds(name) >= NAP * 0.9


def test_what_the_caller_does_between_two_items_is_not_its_cpu():
    @wf.task(name="lazy_source")
    def source():
        yield 1
        yield 2

    for _ in source():
        end = time.thread_time() + 0.1
        while time.thread_time() < end:
            pass
    from conftest import samples

    cpu = [float(value) for labels, value in samples("cpu_seconds_total") if labels.get("task") == "lazy_source"]
    assert sum(cpu) < 0.05


def test_send_throw_and_return_value_work_as_before():
    @wf.task(name="echo")
    def echo():
        received = yield "ready"
        try:
            yield received
        except Left:
            yield "caught"
        return "done"

    stream = echo()
    assert inspect.isgenerator(stream)
    assert next(stream) == "ready"
    assert stream.send("hello") == "hello"
    assert stream.throw(Left()) == "caught"
    with pytest.raises(StopIteration) as end:
        next(stream)
    assert end.value.value == "done"


def test_yield_from_passes_through():
    @wf.task(name="inner_source")
    def inner():
        yield 1
        return 2

    def outer():
        value = yield from inner()
        yield value

    assert list(outer()) == [1, 2]


def test_an_async_generator_takes_asend_and_athrow():
    @wf.task(name="async_echo")
    async def echo():
        received = yield "ready"
        try:
            yield received
        except Left:
            yield "caught"

    async def main():
        stream = echo()
        assert inspect.isasyncgen(stream)
        return [await stream.asend(None), await stream.asend("hello"), await stream.athrow(Left())]

    assert asyncio.run(main()) == ["ready", "hello", "caught"]


def test_a_coroutine_that_nobody_awaits_warns_once_and_counts_as_nothing(observed):
    @wf.task(name="forgotten")
    async def forgotten(): ...

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        forgotten()
        gc.collect()
    assert len([w for w in caught if "never awaited" in str(w.message)]) == 1
    assert observed.count("forgotten", "success") == 0


@pytest.mark.parametrize("executor", ["inline", "threads"])
def test_generator_tasks_become_lists_for_their_dependants(executor):
    @wf.task
    def numbers():
        yield from range(3)

    @wf.task
    async def letters():
        for letter in "ab":
            await asyncio.sleep(0)
            yield letter

    @wf.task
    def join(a, b):
        return a, b

    @wf.workflow
    def body():
        return join(numbers(), letters())

    assert body.run(executor=executor, store=False).result() == ([0, 1, 2], ["a", "b"])


@pytest.mark.parametrize("executor", ["inline", "threads"])
def test_an_async_task_runs_in_a_sync_workflow_also_inside_a_running_loop(executor):
    @wf.task
    async def later(x):
        await asyncio.sleep(0.01)
        return x + 1

    @wf.workflow
    def body():
        return later(later(1))

    async def main():
        return body.run(executor=executor, store=False).result()

    assert body.run(executor=executor, store=False).result() == 3
    assert asyncio.run(main()) == 3


def test_asyncio_run_works_inside_a_sync_task():
    @wf.task
    def own_loop():
        async def inner():
            await asyncio.sleep(0)
            return 4

        return asyncio.run(inner())

    @wf.workflow
    def body():
        return own_loop()

    assert body.run(store=False).result() == 4


def seconds(task):
    from conftest import samples

    return sum(float(value) for labels, value in samples("duration_seconds_sum") if labels.get("task") == task)
