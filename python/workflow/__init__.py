"""Workflow: pipelines as graphs of plain functions, and where their time, CPU, memory and I/O go.

import workflow as wf

@wf.task
def load(path: str) -> list[str]: ...

@wf.task
def count(lines: list[str]) -> int: ...

@wf.workflow
def counting(path: str):
    return count(load(path))       # inside a workflow a task call returns a future

print(counting.run("data.txt").result())
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from workflow import _native, errors
from workflow._context import current_task, logger
from workflow._decorators import profile, task
from workflow._native import Function as Task
from workflow._native import Future
from workflow._workflow import Run, Workflow, workflow

if TYPE_CHECKING:
    from workflow import metrics, profiling

__all__ = [
    "Future",
    "Run",
    "Task",
    "Workflow",
    "__version__",
    "current_task",
    "errors",
    "logger",
    "metrics",
    "profile",
    "profiling",
    "task",
    "workflow",
]

__version__: str = _native.version()

_LAZY = ("metrics", "profiling")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
