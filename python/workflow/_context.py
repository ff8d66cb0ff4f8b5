"""What a task can ask about itself: `current_task()` and `logger()`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from workflow._native import current_attempt

if TYPE_CHECKING:
    import logging
    from collections.abc import MutableMapping

__all__ = ["CurrentTask", "current_task", "logger"]


class CurrentTask:
    """The task that the calling thread or coroutine is in.

    name      the task's name
    run_id    the run
    node      its number in the run
    attempt   1 for the first try
    """

    __slots__ = ("attempt", "name", "node", "run_id")

    def __init__(self, name: str, run_id: str, node: int, attempt: int) -> None:
        self.name = name
        self.run_id = run_id
        self.node = node
        self.attempt = attempt

    def __repr__(self) -> str:
        return f"CurrentTask(name={self.name!r}, run_id={self.run_id!r}, node={self.node}, attempt={self.attempt})"


def current_task() -> CurrentTask | None:
    """The task that calls this; None outside a run."""
    found = current_attempt()
    if found is None:
        return None
    run_id, node, _, number, name = found
    return CurrentTask(name, run_id, node, number)


def logger(name: str | None = None) -> logging.LoggerAdapter[logging.Logger]:
    """A logger of `logging` for the task that calls this: ``workflow.task.NAME``, or the one named `name`.

    Its records carry `task`, `run_id`, `node` and `attempt`. From INFO on they are kept with the task even where
    logging is not set up to show them.
    """
    import logging

    task = current_task()
    extra: dict[str, Any] = {"task": None, "run_id": None, "node": None, "attempt": None}
    if task is not None:
        extra = {"task": task.name, "run_id": task.run_id, "node": task.node, "attempt": task.attempt}
    if name is None:
        name = "workflow" if task is None else f"workflow.task.{task.name}"
    adapter: logging.LoggerAdapter[logging.Logger] = _adapter_class()(logging.getLogger(name), extra)
    return adapter


def _adapter_class() -> Any:
    # Made at first use, since importing `workflow` does not import `logging`.
    global _adapter
    if _adapter is not None:
        return _adapter
    import logging

    from workflow._capture import put_record

    base: Any = logging.LoggerAdapter
    if TYPE_CHECKING:
        base = logging.LoggerAdapter[logging.Logger]  # cannot be subscribed before Python 3.11
    frames = 1 if sys.version_info >= (3, 11) else 4  # how many of the frames below the caller count as his

    class TaskLogger(base):  # type: ignore[misc]
        """Also keeps what the logger's level would drop."""

        def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
            if self.isEnabledFor(level):
                kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + frames
                super().log(level, msg, *args, **kwargs)
            elif level >= logging.INFO:
                info = kwargs.get("exc_info")
                put_record(self.logger.makeRecord(self.logger.name, level, "", 0, msg, args, _exc_info(info)))

        def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
            kwargs["extra"] = {**(self.extra or {}), **(kwargs.get("extra") or {})}
            return msg, kwargs

    _adapter = TaskLogger
    return _adapter


_adapter: Any = None


def _exc_info(info: Any) -> Any:
    if isinstance(info, BaseException):
        return (type(info), info, info.__traceback__)
    return sys.exc_info() if info and not isinstance(info, tuple) else info or None
