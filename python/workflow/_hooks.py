"""What the native layer asks of Python: rare things whose messages are clearer here than there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from workflow import errors
from workflow._text import location, near, shorten

if TYPE_CHECKING:
    from workflow._native import Function

__all__ = ["ERROR_TYPES", "HOOKS", "awaited", "user_traceback"]

_NOT_THE_USERS = (os.path.dirname(os.path.abspath(__file__)) + os.sep, "<frozen importlib")


def describe(function: Function[..., Any]) -> tuple[str, str, int]:
    """Of a task: module.qualname, file, line."""
    where = location(function)
    file, _, line = where.rpartition(":")
    module = getattr(function, "__module__", None) or "?"
    qualname = getattr(function, "__qualname__", None) or function.name
    return f"{module}.{qualname}", file or where, int(line) if file and line.isdigit() else 0


def bad_call(function: Function[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise what is wrong with a call; return when Python itself would take it."""
    import inspect

    signature = inspect.signature(function.__wrapped__)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        unknown = next((name for name in kwargs if name not in signature.parameters), None)
        hint = "" if unknown is None else near(unknown, signature.parameters)
        raise errors.ParameterTypeError(
            f"{location(function)}: task '{function.name}': {error}{hint or '.'} It takes {signature}"
        ) from None


def format_error(error: BaseException) -> tuple[str, str]:
    """(type and message in one line, the traceback as printed, without our own frames)."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # a __str__ of the user's that fails
        text = "(its message cannot be shown)"
    name = type(error).__qualname__
    one_line = shorten(f"{name}: {text}" if text else name, 500)
    try:
        return one_line, user_traceback(error)
    except Exception:  # odd frames, or a message that cannot be shown
        return one_line, one_line


def user_traceback(error: BaseException) -> str:
    """The traceback of `error` and of what caused it, without the frames of this package."""
    import traceback

    shown = traceback.TracebackException.from_exception(error, compact=True)
    _drop_our_frames(shown, set())
    return "".join(shown.format())


def _drop_our_frames(shown: Any, seen: set[int]) -> None:
    if shown is None or id(shown) in seen:
        return
    seen.add(id(shown))
    shown.stack[:] = [frame for frame in shown.stack if not frame.filename.startswith(_NOT_THE_USERS)]
    _drop_our_frames(shown.__cause__, seen)
    _drop_our_frames(shown.__context__, seen)
    for member in getattr(shown, "exceptions", None) or ():
        _drop_our_frames(member, seen)


def skipped_error(
    task: str, node: int, cause_task: str | None, cause_node: int, cause: BaseException | None
) -> BaseException:
    """For the result of a node that never ran because another one failed."""
    because = "a task it needs failed" if cause_task is None else f"'{cause_task}' (node {cause_node}) failed"
    reason = f" with {format_error(cause)[0]}" if cause is not None else ""
    made = errors.SkippedError(f"'{task}' (node {node}) was skipped: {because}{reason}")
    made.__cause__ = cause
    return made


def cancelled_error(task: str, node: int, reason: str) -> BaseException:
    """For the result of a node that was cancelled."""
    return errors.CancelledError(f"'{task}' (node {node}) was cancelled{': ' if reason else ''}{reason}")


def copy_dataclass(instance: Any, changes: Mapping[str, Any]) -> Any:
    """A copy with other values in some fields; no initialiser runs, frozen ones too."""
    import copy

    twin = copy.copy(instance)
    for name, value in changes.items():
        object.__setattr__(twin, name, value)
    return twin


def awaited(task: str, value: Any) -> Any:
    """What a task that is no coroutine function returned; raises when that is a coroutine, of which nothing ran."""
    if not hasattr(value, "__await__"):
        return value
    from collections.abc import Coroutine

    if not isinstance(value, Coroutine):  # futures and other awaitables are values: what they stand for runs elsewhere
        return value
    name = getattr(value, "__qualname__", type(value).__qualname__)
    with contextlib.suppress(Exception):  # closed, it does not warn a second time that it was never awaited
        value.close()
    raise errors.NotAwaitedError(
        f"task '{task}' returned the coroutine {name}(…), which was never awaited: nothing of it ran. Declare the task "
        f"`async def` and await it there, or run it in the task with asyncio.run(…)"
    )


def run_coroutine(coroutine: Any) -> Any:
    """Run a coroutine task to its end in this thread; what is no coroutine is the value already."""
    if not hasattr(coroutine, "__await__"):
        return coroutine
    return _in_own_loop(coroutine)


def collect_asyncgen(stream: Any) -> Any:
    """All values of an async generator task, in a list."""
    if not hasattr(stream, "__aiter__"):
        return stream

    async def collect() -> list[Any]:
        return [item async for item in stream]

    return _in_own_loop(collect())


def _in_own_loop(awaitable: Any) -> Any:
    import asyncio

    async def wait() -> Any:
        return await awaitable

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    # A loop runs in this thread (inline executor in a notebook): the coroutine gets a thread of its own.
    import contextvars
    from concurrent.futures import ThreadPoolExecutor

    context = contextvars.copy_context()
    with ThreadPoolExecutor(1, thread_name_prefix="wf-loop") as pool:
        return pool.submit(context.run, asyncio.run, wait()).result()


def wrap_stream(function: Function[..., Any], stream: Any) -> Any:
    """A measured coroutine, generator or async generator around the one that the user's function returned."""
    from workflow import _streams

    return _streams.wrap(function, stream)


def is_interrupt(error: BaseException) -> bool:
    """Does it come from outside the task that raised it? See `_interrupt.is_interrupt`."""
    from workflow import _interrupt

    return _interrupt.is_interrupt(error)


HOOKS: dict[str, Callable[..., Any]] = {
    "bad_call": bad_call,
    "describe": describe,
    "run_coroutine": run_coroutine,
    "collect_asyncgen": collect_asyncgen,
    "wrap_stream": wrap_stream,
    "format_error": format_error,
    "skipped_error": skipped_error,
    "cancelled_error": cancelled_error,
    "copy_dataclass": copy_dataclass,
    "awaited": awaited,
    "is_interrupt": is_interrupt,
}

# Codes of wf::Status as the native layer spells them.
ERROR_TYPES: dict[str, type[BaseException]] = {
    "invalid argument": errors.ParameterError,
    "not found": errors.WorkflowError,
    "already exists": errors.DuplicateTaskError,
    "permission denied": errors.StoreError,
    "failed precondition": errors.StoreError,
    "unavailable": errors.StoreError,
    "data loss": errors.StoreError,
    "i/o error": errors.StoreError,
    "timeout": errors.WorkflowError,
    "cancelled": errors.CancelledError,
    "internal error": errors.WorkflowError,
}
