"""An attempt that is interrupted from outside is cancelled, and so is its run; the interrupt goes on to the caller."""

from __future__ import annotations

import os
import signal
import sys

import pytest
import workflow as wf
from runs import add, workflow
from workflow._run import execute


class Kept:
    """Keeps the run, which an interrupted `run` cannot return."""

    run = None

    def began(self, run, engine, settings):
        self.run = run

    def interrupted(self, run, engine):
        pass

    def ended(self, run, engine):
        pass


def interrupted_run(body, error, executor="inline"):
    kept = Kept()
    with pytest.raises(error) as caught:
        execute(workflow(body), (), {}, {"executor": executor, "store": False}, check=False, observer=kept)
    return kept.run, caught.value


@wf.task
def raises_the_interrupt():
    raise KeyboardInterrupt


@wf.task
def gets_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("task", [raises_the_interrupt, gets_ctrl_c])
@pytest.mark.parametrize("waits", [False, True], ids=["after the body", "in the body"])
def test_an_interrupted_inline_attempt_is_cancelled_and_the_interrupt_goes_on(task, waits, observed):
    def body():
        first, second = task(), add(1, 1)
        if waits:
            first.result()
        return [first, second]

    run, _ = interrupted_run(body, KeyboardInterrupt)
    assert (run.state, run.cause) == ("cancelled", "interrupted by Ctrl-C")
    assert run.errors == []
    assert run.counts()["cancelled"] == 2
    assert observed.count(task.name, "cancelled", workflow="body") == 1
    assert observed.count(task.name, workflow="body") == 1
    assert observed.count("add", workflow="body") == 0


@wf.task
def ended_by_a_handler():
    os.kill(os.getpid(), signal.SIGUSR1)


def test_an_exit_out_of_a_signal_handler_is_an_interrupt(observed):
    before = signal.signal(signal.SIGUSR1, lambda number, frame: sys.exit(7))
    try:
        run, error = interrupted_run(lambda: [ended_by_a_handler(), add(1, 1)], SystemExit)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert error.code == 7
    assert run.state == "cancelled"
    assert "signal handler" in run.cause
    assert observed.count("ended_by_a_handler", "cancelled", workflow="body") == 1


def test_an_exit_out_of_a_signal_handler_while_threads_work_is_an_interrupt():
    before = signal.signal(signal.SIGUSR1, lambda number, frame: sys.exit(7))
    try:
        run, _ = interrupted_run(lambda: ended_by_a_handler(), SystemExit, "threads")
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert run.state == "cancelled"
