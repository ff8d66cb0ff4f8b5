"""The one module that imports the extension. It completes the native types with what needs no speed."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from types import GenericAlias
from typing import TYPE_CHECKING, Any, NoReturn

from workflow import _core
from workflow._core import (
    BoundFunction,
    Engine,
    Function,
    Future,
    Observation,
    RemoteAttempt,
    add_delta,
    current_attempt,
    monotonic_ns,
    start_direct_store,
    stop_direct_store,
    take_delta,
    thread_cpu_ns,
    version,
)
from workflow._hooks import ERROR_TYPES, HOOKS
from workflow.errors import FutureUseError

if TYPE_CHECKING:
    from workflow._core import Job as Job
    from workflow._core import Mode as Mode
    from workflow._map import FutureList

__all__ = [
    "BoundFunction",
    "Engine",
    "Function",
    "Future",
    "Observation",
    "RemoteAttempt",
    "add_delta",
    "building",
    "core",
    "current_attempt",
    "enter_body",
    "exit_body",
    "monotonic_ns",
    "start_direct_store",
    "stop_direct_store",
    "take_delta",
    "thread_cpu_ns",
    "version",
]

core = _core


class _Bodies(threading.local):
    """The runs whose bodies this thread is in, innermost last."""

    def __init__(self) -> None:
        self.engines: list[Engine] = []


_bodies = _Bodies()


def enter_body(engine: Engine) -> None:
    """From here on task calls of this thread add nodes to `engine`."""
    engine.enter_body()
    _bodies.engines.append(engine)


def exit_body(engine: Engine) -> None:
    """Undo `enter_body`."""
    _bodies.engines.pop()
    engine.exit_body()


def building() -> Engine | None:
    """The run whose body this thread builds; None outside a body, and inside a task that runs in this thread."""
    if not _bodies.engines:
        return None
    engine = _bodies.engines[-1]
    attempt = current_attempt()
    return None if attempt is not None and attempt[0] == engine.run_id else engine


def _map(
    self: Function[..., Any], *iterables: Iterable[Any], after: Iterable[Any] = (), **constants: Any
) -> FutureList[Any]:
    """One call for each element: iterables are zipped by position, constants are given by keyword to each call.

    Inside a workflow the calls become nodes and the answer is a list of futures; elsewhere they run at once and it is
    the list of their values. An empty iterable gives an empty list.
    """
    from workflow._map import map_calls

    return map_calls(self, iterables, after, constants)


def _map_bound(
    self: BoundFunction[..., Any], *iterables: Iterable[Any], after: Iterable[Any] = (), **constants: Any
) -> FutureList[Any]:
    """As `Function.map`, each call with the instance, or the class, in front."""
    from workflow._map import map_calls

    return map_calls(self.__func__, iterables, after, constants, bound=(self.__self__,))


def _submit_bound(
    self: BoundFunction[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None,
    map_index: int,
    after: tuple[Any, ...],
) -> Any:
    return self.__func__.submit((self.__self__, *args), kwargs, map_index, after)


def _call_user_bound(self: BoundFunction[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    return self.__func__.call_user((self.__self__, *args), kwargs)


def _deepcopy_bound(self: BoundFunction[..., Any], memo: dict[int, Any]) -> Any:
    import copy

    return self.__func__.__get__(copy.deepcopy(self.__self__, memo))


def _refuse(what: str) -> Any:
    def refuse(self: Future[Any], *_: object) -> NoReturn:
        raise FutureUseError(
            f"{what} of the future of task '{self.task}': inside a workflow a task call returns a future, not the "
            f"value. Give it to another task, wait for the value with .result(), or spread it with task.map(future)"
        )

    return refuse


def _complete_function() -> None:
    cls: Any = Function
    cls.map = _map
    cls.__class_getitem__ = classmethod(GenericAlias)


def _complete_bound_function() -> None:
    cls: Any = BoundFunction
    cls.map = _map_bound
    cls.submit = _submit_bound
    cls.call_user = _call_user_bound
    cls.__deepcopy__ = _deepcopy_bound
    cls.__class_getitem__ = classmethod(GenericAlias)


def _complete_future() -> None:
    cls: Any = Future
    cls.__class_getitem__ = classmethod(GenericAlias)
    refusals = {
        "__bool__": "the truth",
        "__len__": "the length",
        "__iter__": "the elements",
        "__getitem__": "an element",
        "__int__": "the int",
        "__float__": "the float",
        "__index__": "the index",
        "__lt__": "a comparison",
        "__le__": "a comparison",
        "__gt__": "a comparison",
        "__ge__": "a comparison",
        "__add__": "the sum",
        "__radd__": "the sum",
        "__sub__": "the difference",
        "__rsub__": "the difference",
        "__mul__": "the product",
        "__rmul__": "the product",
        "__truediv__": "the quotient",
        "__rtruediv__": "the quotient",
        "__call__": "a call",
    }
    for name, what in refusals.items():
        setattr(cls, name, _refuse(what))


_core.set_hooks(**HOOKS)
_core.set_error_types(ERROR_TYPES)
_complete_function()
_complete_bound_function()
_complete_future()
