"""Tasks and a short way to run them, for the tests of runs."""

from __future__ import annotations

import pytest
import workflow as wf

EXECUTORS = ["inline", "threads", "processes", "async"]
every_executor = pytest.mark.parametrize("executor", EXECUTORS)
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
