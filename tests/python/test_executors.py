"""All four executors give the same results and the same errors; worker processes and the event loop in particular."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import workflow as wf
from conftest import samples
from runs import every_executor
from workflow import metrics
from workflow.errors import SkippedError, TaskError


class OddError(Exception):
    """Cannot be rebuilt from its arguments: pickling it the usual way loses it."""

    def __init__(self, code: int, *, why: str) -> None:
        super().__init__(f"{code}: {why}")
        self.code = code


@dataclasses.dataclass
class Pair:
    left: object
    right: object


@wf.task
def square(x):
    return x * x


@wf.task
def fail(message):
    raise ValueError(message)


@wf.task
def fail_oddly():
    raise OddError(7, why="odd")


@wf.task
async def slow_square(x):
    await asyncio.sleep(0.01)
    return x * x


@wf.task
def up_to(n):
    yield from range(n)


@wf.task
async def up_to_slowly(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


@wf.task
def total(values):
    return sum(values)


@wf.task
def both(pair):
    return pair.left + pair.right


@wf.task
def where():
    return os.getpid(), threading.get_ident(), wf.current_task().name


@wf.task
async def where_async():
    before = wf.current_task()
    await asyncio.sleep(0.01)
    after = wf.current_task()
    return before.node, after.node, threading.get_ident()


@wf.task
def say(text):
    print(text)
    print(f"{text} aside", file=sys.stderr)
    return text


@wf.task
def big(n):
    return np.arange(n, dtype=np.float64)


@wf.task
def locked():
    return {"state": [1, threading.Lock()]}


@wf.task
def take(value):
    return type(value).__name__


@wf.task
def die(how):
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "exit":
        os._exit(3)
    if how == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    raise SystemExit(5)


def run(body, executor, **options):
    return wf.workflow(name="body")(body).run(executor=executor, store=False, **{"workers": 2, **options})


@every_executor
def test_values_pass_from_task_to_task(executor):
    result = run(lambda: total([square(2), total([square(1), square(3)])]), executor).result()
    assert result == 14


@every_executor
def test_kinds_of_functions_give_the_same_values(executor):
    result = run(lambda: (slow_square(3), up_to(3), up_to_slowly(4), total(up_to(5))), executor).result()
    assert result == (9, [0, 1, 2], [0, 1, 2, 3], 10)


@every_executor
def test_futures_inside_a_dataclass_arrive_as_values(executor):
    assert run(lambda: both(Pair(square(2), right=square(3))), executor).result() == 13


@every_executor
def test_an_exception_arrives_with_its_type_and_its_own_line(executor):
    with pytest.raises(ValueError, match="no such thing") as caught:
        run(lambda: square(fail("no such thing")), executor)
    import traceback

    shown = "".join(traceback.format_exception(caught.value))
    assert "raise ValueError(message)" in shown


@every_executor
def test_dependants_of_a_failure_are_skipped_and_other_branches_finish(executor):
    kept = {}

    def body():
        kept["skipped"], kept["fine"] = square(fail("no")), square(5)
        return kept["fine"]

    with pytest.raises(ValueError, match="no"):
        run(body, executor)
    assert kept["fine"].result() == 25
    with pytest.raises(SkippedError, match="fail"):
        kept["skipped"].result()


@every_executor
def test_an_exception_with_an_odd_constructor_is_not_lost(executor):
    with pytest.raises((OddError, TaskError), match="7: odd"):
        run(lambda: fail_oddly(), executor)


@every_executor
def test_map_keeps_the_order(executor):
    assert run(lambda: square.map(range(20)), executor).result() == [i * i for i in range(20)]


@every_executor
def test_the_current_task_is_known_inside(executor):
    _, _, name = run(lambda: where(), executor).result()
    assert name == "where"


@every_executor
def test_every_attempt_is_counted_once(executor, observed):
    run(lambda: square.map(range(30)), executor)
    assert observed.count("square", "success", "body") == 30
    assert observed.count("square", workflow="") == 0


# --- worker processes --------------------------------------------------------------------------------------------


def test_tasks_run_in_other_processes_and_at_most_as_many_as_workers():
    pids = {pid for pid, _, _ in run(lambda: [where() for _ in range(12)], "processes", workers=3).result()}
    assert os.getpid() not in pids
    assert 1 <= len(pids) <= 3


def test_four_workers_with_a_hundred_tasks_each_are_counted_exactly(observed):
    run(lambda: square.map(range(400)), "processes", workers=4)
    assert observed.count("square", "success", "body") == 400


ROWS = metrics.Counter("test_rows", "Rows seen by workers.", ["kind"])
SIZES = metrics.Histogram("test_sizes", "Sizes seen by workers.", buckets=[1, 10])


@wf.profile
def helper(x):
    return x


@wf.task
def count_rows(n):
    ROWS.labels("even" if n % 2 == 0 else "odd").inc(n)
    SIZES.observe(n)
    return helper(n)


def test_metrics_of_the_user_counted_in_workers_reach_the_owner_exactly(observed):
    run(lambda: count_rows.map(range(20)), "processes", workers=3)
    assert {labels["kind"]: float(value) for labels, value in samples("test_rows_total")} == {"even": 90, "odd": 100}
    page = metrics.generate_latest().decode()
    assert 'test_sizes_bucket{le="10.0"} 11\n' in page
    assert "test_sizes_count 20\n" in page
    assert observed.count("helper", "success", "body") == 20


def test_an_array_survives_the_way_there_and_back():
    def body():
        return take(big(200_000)), big(200_000)

    name, array = run(body, "processes").result()
    assert name == "ndarray"
    assert array.sum() == pytest.approx(sum(range(200_000)))


def test_a_result_that_cannot_be_pickled_names_its_place():
    with pytest.raises(TaskError, match=r"result\['state'\]\[1\] \(lock\).*executor threads"):
        run(lambda: locked(), "processes")


def test_an_argument_that_cannot_be_pickled_names_its_place():
    with pytest.raises(TaskError, match=r"argument.*lock"):
        run(lambda: take({"deep": [threading.Lock()]}), "processes")


@pytest.mark.parametrize(
    ("how", "says"),
    [("kill", "signal 9 .SIGKILL."), ("exit", "status 3"), ("segfault", "signal 11 .SIGSEGV.")],
)
def test_the_death_of_a_worker_fails_its_task_alone_and_says_how(how, says):
    kept = {}

    def body():
        kept["others"] = square.map(range(8))
        return die(how)

    with pytest.raises(TaskError, match=says):
        run(body, "processes")
    assert [future.result() for future in kept["others"]] == [i * i for i in range(8)]


def test_system_exit_in_a_task_is_an_error_of_the_task():
    with pytest.raises(SystemExit) as caught:
        run(lambda: die("system exit"), "processes")
    assert caught.value.code == 5


def test_output_of_workers_is_kept_with_its_task(tmp_path, capfd):
    done = wf.workflow(name="talk")(lambda: say.map(["one", "two"])).run(
        executor="processes", workers=1, store=str(tmp_path / "store")
    )
    assert done.result() == ["one", "two"]
    shown = capfd.readouterr()
    assert sorted(shown.out.split()) == ["one", "two"]
    import sqlite3

    (path,) = (tmp_path / "store" / "runs").glob("*.db")
    with sqlite3.connect(path) as database:
        texts = "".join(str(row) for row in database.execute("select * from logs"))
    for text in ("one", "two", "one aside", "two aside"):
        assert text in texts


def _program(tmp_path, body):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(body))
    return path


def _children(pid):
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in found.stdout.split()]


def _gone(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_functions_of_main_travel_by_value(tmp_path):
    path = _program(
        tmp_path,
        """
        import workflow as wf

        FACTOR = 3

        def helper(x):
            return x * FACTOR

        @wf.task
        def triple(x):
            return helper(x)

        @wf.task
        def again(x):
            return triple(x) + 1          # a task called in a task runs at once

        @wf.workflow
        def flow():
            return again(triple(2))

        if __name__ == "__main__":
            print(flow.run(executor="processes", workers=1, store=False).result())
        """,
    )
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip() == "19", done.stderr


def test_killing_the_owner_leaves_no_worker_behind(tmp_path):
    path = _program(
        tmp_path,
        """
        import os
        import time
        import workflow as wf

        @wf.task
        def sleep(x):
            os.write(1, b"begun\\n")  # one call: the lines of two processes stay whole
            time.sleep(600)

        @wf.workflow
        def flow():
            return sleep.map([1, 2])

        if __name__ == "__main__":
            flow.run(executor="processes", workers=2, store=False)
        """,
    )
    owner = subprocess.Popen([sys.executable, path], stdout=subprocess.PIPE, text=True)
    try:
        assert owner.stdout.readline().strip() == "begun"
        assert owner.stdout.readline().strip() == "begun"
        workers = _children(owner.pid)
        assert len(workers) == 2
    finally:
        owner.kill()
        owner.wait(timeout=60)
        owner.stdout.close()
    deadline = time.monotonic() + 60
    while not all(_gone(pid) for pid in workers):
        assert time.monotonic() < deadline, f"workers {workers} outlive their owner"
        time.sleep(0.05)


# --- the event loop ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("executor", ["threads", "async"])
def test_coroutines_overlap_on_one_loop_and_each_knows_its_task(executor):
    answers = run(lambda: [where_async() for _ in range(50)], executor).result()
    assert len({thread for _, _, thread in answers}) == 1
    assert [before for before, _, _ in answers] == [after for _, after, _ in answers]
    assert len({before for before, _, _ in answers}) == 50


def test_async_runs_plain_functions_in_the_thread_of_the_loop():
    (_, plain, _), (_, _, loop) = run(lambda: (where(), where_async()), "async").result()
    assert plain == loop


@every_executor
def test_a_run_inside_a_running_event_loop_works(executor):
    async def inside():
        return run(lambda: (slow_square(4), square(2)), executor).result()

    assert asyncio.run(inside()) == (16, 4)
