"""Every error that the package raises itself.

A task's own exception is never wrapped: ``Workflow.run`` raises the very object that the task raised. What stands here
is for mistakes in the use of the package and for what happens to a task from outside. Each class has the built-in that
fits as its second base, so that ``except ValueError`` keeps working.
"""

from __future__ import annotations

__all__ = [
    "CancelledError",
    "ConfigError",
    "CycleError",
    "DecoratorError",
    "DuplicateTaskError",
    "FutureUseError",
    "MapError",
    "MetricsError",
    "MetricsServerError",
    "NotAwaitedError",
    "ParameterError",
    "ParameterTypeError",
    "SkippedError",
    "StoreError",
    "TaskError",
    "WorkflowError",
]


class WorkflowError(Exception):
    """Base of all errors of this package. ``exit_code`` is what ``wf run`` ends with."""

    exit_code = 1


class ParameterError(WorkflowError, ValueError):
    """A parameter of a workflow is unknown, missing, or cannot be read as what the signature says."""

    exit_code = 2


class ParameterTypeError(ParameterError, TypeError):
    """A parameter has a value of the wrong type."""


class ConfigError(WorkflowError, ValueError):
    """``workflow.toml`` or an environment variable holds something that we do not know."""

    exit_code = 2


class DecoratorError(WorkflowError, TypeError):
    """A decorator was put on something that it cannot decorate."""

    exit_code = 2


class DuplicateTaskError(WorkflowError, ValueError):
    """Two different functions in one run have the same task name."""

    exit_code = 2


class CycleError(WorkflowError, ValueError):
    """The graph has a cycle; the message shows the path."""

    exit_code = 2


class MapError(WorkflowError, ValueError):
    """The iterables of a ``.map`` cannot be zipped."""

    exit_code = 2


class MetricsError(WorkflowError, ValueError):
    """A metric or a metrics namespace is badly named, or its name is taken."""

    exit_code = 2


class MetricsServerError(WorkflowError, OSError):
    """The metrics server cannot listen: the port is in use, or others could reach it without a token."""

    exit_code = 3


class FutureUseError(WorkflowError, TypeError):
    """A future was used as if it were the value."""

    exit_code = 2


class NotAwaitedError(WorkflowError, TypeError):
    """A task that is no coroutine function returned a coroutine, of which nothing had run."""


class StoreError(WorkflowError, OSError):
    """The store cannot be opened, read or written."""

    exit_code = 3


class TaskError(WorkflowError, RuntimeError):
    """A task failed from outside: its worker died, or its result cannot be carried over."""


class SkippedError(TaskError):
    """The result of a task was asked for that never ran, because one that it needs had failed."""


class CancelledError(WorkflowError, RuntimeError):
    """The run or the task was cancelled before it had a result."""

    exit_code = 130
