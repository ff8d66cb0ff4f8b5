"""A run: sub-workflows, wrong calls, settings, several runs in one process."""

from __future__ import annotations

import threading

import pytest
import workflow as wf
from runs import add, both, run, total, workflow
from workflow.errors import ConfigError, DuplicateTaskError, ParameterTypeError, WorkflowError

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


# --- wrong calls -------------------------------------------------------------------------------------------------


def test_a_wrong_call_fails_on_its_own_line_when_the_graph_is_built():
    with pytest.raises(TypeError, match=r"runs.py:\d+.*'add'.*'c'") as caught:
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
