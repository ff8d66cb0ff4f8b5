"""The decorators for functions: one object per function, whatever decorators are stacked on it and in which order.

A decorated function is a `Function`. A second decorator of ours finds the first one, directly or below foreign
decorators (through ``__wrapped__``), and adds its settings to it instead of measuring a second time.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from workflow._native import Function
from workflow._text import near
from workflow.errors import DecoratorError

if TYPE_CHECKING:
    from workflow._native import Mode

P = ParamSpec("P")
R = TypeVar("R")

__all__ = ["collect", "kind_of", "profile", "task"]

MODES = ("always", "sample", "off")
_CO_GENERATOR, _CO_COROUTINE, _CO_ITERABLE_COROUTINE, _CO_ASYNC_GENERATOR = 0x20, 0x80, 0x100, 0x200
_MAX_WRAPPERS = 100  # a chain of __wrapped__ longer than this is a loop


@overload
def task(function: Callable[P, R], /) -> Function[P, R]: ...
@overload
def task(
    *, name: str | None = None, mode: Mode | None = None, every: int | None = None, cpu: bool | None = None
) -> Callable[[Callable[P, R]], Function[P, R]]: ...
def task(
    function: Any = None,
    /,
    *,
    name: str | None = None,
    mode: Mode | None = None,
    every: int | None = None,
    cpu: bool | None = None,
) -> Any:
    """Make a function a task: inside a workflow a call of it is a node of the graph and returns a future.

    Outside it stays what it was, and its calls are measured.

    name    the task's name in reports and metrics; the function's own name by default
    mode    which runs get the costly probes: "always", "sample" or "off" (off: nothing at all is measured)
    every   in mode "sample": the first run and then one in this many
    cpu     False leaves out the CPU time, which makes measuring a very small function cheaper
    """
    return _apply("task", function, is_task=True, name=name, mode=mode, every=every, cpu=cpu)


@overload
def profile(function: Callable[P, R], /) -> Function[P, R]: ...
@overload
def profile(
    *, mode: Mode | None = None, every: int | None = None, cpu: bool | None = None
) -> Callable[[Callable[P, R]], Function[P, R]]: ...
def profile(
    function: Any = None, /, *, mode: Mode | None = None, every: int | None = None, cpu: bool | None = None
) -> Any:
    """Measure each call of a function, with or without parentheses. See `task` for the settings."""
    return _apply("profile", function, is_task=False, name=None, mode=mode, every=every, cpu=cpu)


def collect(
    *, mode: Mode | None = None, every: int | None = None, cpu: bool | None = None
) -> Callable[[Callable[P, R]], Function[P, R]]:
    """`profile` under the name it has in ``workflow.profiling``; always with parentheses."""
    if mode is not None and callable(mode):
        raise DecoratorError("profiling.collect goes with parentheses: @profiling.collect()")
    decorator: Callable[[Callable[P, R]], Function[P, R]] = _apply(
        "collect", None, is_task=False, name=None, mode=mode, every=every, cpu=cpu
    )
    return decorator


def _apply(decorator: str, target: Any, *, is_task: bool, name: Any, mode: Any, every: Any, cpu: Any) -> Any:
    if isinstance(target, str):
        raise DecoratorError(f"@{decorator}({target!r}): a name goes by keyword: @{decorator}(name={target!r})")
    _check_settings(decorator, name, mode, every)

    def decorate(function: Any) -> Any:
        return _observe(decorator, function, is_task=is_task, name=name, mode=mode, every=every, cpu=cpu)

    return decorate if target is None else decorate(target)


def _check_settings(decorator: str, name: Any, mode: Any, every: Any) -> None:
    if name is not None and (not isinstance(name, str) or not name or not name.isprintable()):
        raise DecoratorError(f"@{decorator}: name={name!r}: a name is a text of printable characters")
    if name is not None and name.startswith("__") and name.endswith("__"):
        raise DecoratorError(f"@{decorator}: name={name!r}: names of the form __x__ are kept for our own use")
    if mode is not None and mode not in MODES:
        raise DecoratorError(f"@{decorator}: mode={mode!r} is none of always, sample, off{near(str(mode), MODES)}")
    if every is not None and (not isinstance(every, int) or isinstance(every, bool) or every < 1):
        raise DecoratorError(f"@{decorator}: every={every!r}: a whole number from 1 (1: each run) is needed")


class _Settings:
    """What the decorators on one function say together; what stands further out wins."""

    __slots__ = ("cpu", "every", "mode", "name", "task")

    def __init__(self, *, task: bool, name: str | None, mode: Any, every: int | None, cpu: bool | None) -> None:
        self.task = task
        self.name = name
        self.mode = mode
        self.every = every
        self.cpu = cpu

    def add_inner(self, inner: Function[..., Any]) -> None:
        self.task = self.task or inner.task
        self.name = self.name or (inner.name if inner.name != _default_name(inner) else None)
        self.mode = self.mode or inner.mode
        self.every = self.every or inner.every or None
        self.cpu = inner.cpu if self.cpu is None and inner.cpu_is_set else self.cpu

    def make(self, target: Any) -> Function[..., Any]:
        code = _code_of(_innermost(target))
        name = self.name or _default_name(target)
        function: Function[..., Any] = Function(target, name, kind=kind_of(target), task=self.task)
        functools.update_wrapper(function, target)
        function.after_keyword = code is None or "after" not in _parameter_names(code)
        if isinstance(target, functools.partial):
            _look_like(function, target)
        function.mode = self.mode
        function.every = self.every or 0
        function.cpu = self.cpu is not False
        function.cpu_is_set = self.cpu is not None
        return function


def _look_like(function: Function[..., Any], target: Any) -> None:
    """`inspect` sees through partials, and takes an object with these attributes for a function."""
    while isinstance(target, functools.partial):
        target = target.func
    for name in ("__code__", "__defaults__", "__kwdefaults__", "__name__", "__qualname__", "__module__"):
        if hasattr(target, name):
            setattr(function, name, getattr(target, name))


def _observe(decorator: str, target: Any, *, is_task: bool, name: Any, mode: Any, every: Any, cpu: Any) -> Any:
    if isinstance(target, (classmethod, staticmethod)):
        inner = _observe(decorator, target.__func__, is_task=is_task, name=name, mode=mode, every=every, cpu=cpu)
        return _ClassMethod(inner) if type(target) is classmethod else type(target)(inner)
    settings = _Settings(task=is_task, name=name, mode=mode, every=every, cpu=cpu)
    if isinstance(target, Function):
        # A new object: the one below may be in use under its own name.
        settings.add_inner(target)
        return settings.make(target.__wrapped__)
    _check_target(decorator, target)
    for inner in _inner_functions(target):
        if is_task and inner.task and name is not None and inner.name not in (name, _default_name(inner)):
            break  # two tasks on purpose: one that calls the other
        settings.add_inner(inner)
        inner.observed = False
        inner.task = False
    return settings.make(target)


class _ClassMethod(classmethod):  # type: ignore[type-arg]
    """A classmethod that lets the function bind itself, as Python's own does before 3.13: so ``.map`` has the class."""

    if sys.version_info >= (3, 13):

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            return self.__func__.__get__(type(instance) if owner is None else owner)


def _check_target(decorator: str, target: Any) -> None:
    what = None
    if isinstance(target, property):
        what, right = "a property", "property"
    elif isinstance(target, functools.cached_property):
        what, right = "a cached_property", "cached_property"
    if what is not None:
        raise DecoratorError(
            f"@{decorator} stands over {what}, which is no function. Put it directly over the function, like this:\n"
            f"    @{right}\n    @{decorator}\n    def {_name_of_property(target)}(self): ..."
        )
    if isinstance(target, type):
        raise DecoratorError(
            f"@{decorator} stands over the class {target.__qualname__}; decorate its methods, or what makes it"
        )
    if _is_workflow(target):
        raise DecoratorError(
            f"@{decorator} stands over the workflow '{target.name}'. A workflow is no task: call it inside another "
            f"workflow, and its tasks become part of that run"
        )
    if not callable(target):
        raise DecoratorError(f"@{decorator} is for functions; this is a {type(target).__name__}: {target!r:.80}")


def _is_workflow(target: Any) -> bool:
    return type(target).__name__ == "Workflow" and type(target).__module__.startswith("workflow.")


def _name_of_property(target: Any) -> str:
    getter = target.fget if isinstance(target, property) else target.func
    return getattr(getter, "__name__", "value")


def _default_name(target: Any) -> str:
    """The function's own ``__name__``; for a partial that of its function, for other objects that of their class."""
    for _ in range(_MAX_WRAPPERS):
        name = getattr(target, "__name__", None)
        if isinstance(name, str):
            return name
        if not isinstance(target, functools.partial):
            break
        target = target.func
    return type(target).__name__


def _below(target: Any) -> Any:
    """What `target` wraps, one step further in; None at the end."""
    if isinstance(target, functools.partial):
        return target.func
    if isinstance(target, (types.MethodType, classmethod, staticmethod)):
        return target.__func__
    return getattr(target, "__wrapped__", None)


def _chain(target: Any) -> Iterator[Any]:
    for _ in range(_MAX_WRAPPERS):
        if target is None:
            return
        yield target
        target = _below(target)


def _inner_functions(target: Any) -> Iterator[Function[..., Any]]:
    return (found for found in _chain(target) if isinstance(found, Function))


def _innermost(target: Any) -> Any:
    *_, found = _chain(target)
    return found


def _code_of(target: Any) -> types.CodeType | None:
    code = getattr(target, "__code__", None)
    if code is None and not isinstance(target, type):
        code = getattr(vars(type(target)).get("__call__"), "__code__", None)
    return code if isinstance(code, types.CodeType) else None


def _parameter_names(code: types.CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def kind_of(target: Any) -> str:
    """function, coroutine, generator or asyncgen, seen through partials, methods and foreign decorators."""
    for found in _chain(target):
        code = _code_of(found)
        if code is None:
            continue
        flags = code.co_flags
        if flags & (_CO_COROUTINE | _CO_ITERABLE_COROUTINE):
            return "coroutine"
        if flags & _CO_ASYNC_GENERATOR:
            return "asyncgen"
        if flags & _CO_GENERATOR:
            return "generator"
    return "function"
