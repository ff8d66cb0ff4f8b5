"""What a run does when a task or the body fails."""

from __future__ import annotations

import concurrent.futures
import gc
import os
import sys
import threading
import traceback

import pytest
import workflow as wf
from runs import add, boom, both, every_executor, run, same
from workflow.errors import CancelledError, NotAwaitedError, SkippedError


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


@wf.task
def odd_only(x):
    if x % 2 == 0:
        raise ValueError(f"{x} is even")
    return x


@every_executor
def test_the_errors_of_a_run_are_all_tasks_that_failed_in_order(executor):
    done = run(
        lambda: [odd_only.map(range(1, 6)), boom("last"), add(boom.map(["x"])[0])], executor, check=False, workers=1
    )
    assert [(error.task, error.map_index, error.status, error.cause) for error in done.errors] == [
        ("odd_only", 1, "error", "ValueError: 2 is even"),
        ("odd_only", 3, "error", "ValueError: 4 is even"),
        ("boom", -1, "error", "ValueError: last"),
        ("boom", 0, "error", "ValueError: x"),
    ]
    assert [str(error.exception) for error in done.errors] == ["2 is even", "4 is even", "last", "x"]
    with pytest.raises(ValueError, match="2 is even") as caught:
        done.result()
    if executor != "processes":
        assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "odd_only"


@wf.task
def dies():
    os._exit(3)


def test_the_errors_of_a_run_tell_a_dead_worker_from_an_exception():
    done = run(lambda: [dies(), boom()], "processes", check=False, workers=1)
    assert [(error.task, error.status) for error in done.errors] == [("dies", "lost"), ("boom", "error")]
    assert "exited with status 3" in done.errors[0].cause


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


# --- coroutines that nobody awaits -------------------------------------------------------------------------------


async def fetch():
    return 1


@wf.task
async def fetch_task():
    return 1


@wf.task
def forgets_to_await():
    return fetch()


@wf.task
def forgets_to_await_a_task():
    return fetch_task()


@every_executor
@pytest.mark.parametrize("task", [forgets_to_await, forgets_to_await_a_task])
@pytest.mark.filterwarnings("error")
def test_a_plain_task_that_returns_a_coroutine_fails_and_is_told_what_to_do(executor, task, capfd):
    done = run(lambda: [task(), add(1, 1)], executor, check=False, workers=1)
    assert done.state == "failed"
    assert done.futures[1].result() == 2
    with pytest.raises(NotAwaitedError, match=rf"'{task.name}'.*fetch.*never awaited.*async def") as caught:
        done.result()
    assert isinstance(caught.value, TypeError)
    gc.collect()
    assert "RuntimeWarning" not in capfd.readouterr().err


class Eventually:
    def __await__(self):
        return iter(())


@both
@pytest.mark.parametrize("value", [Eventually(), concurrent.futures.Future()], ids=["awaitable", "future"])
def test_an_awaitable_that_is_no_coroutine_is_a_value(executor, value):
    assert run(lambda: same(value), executor).result() is value
