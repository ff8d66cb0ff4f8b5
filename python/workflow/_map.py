"""`task.map`: one call for each element of zipped iterables."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import TYPE_CHECKING, Any, TypeVar

from workflow.errors import MapError

if TYPE_CHECKING:
    from workflow._native import Function

T = TypeVar("T")

__all__ = ["FutureList", "map_calls"]


class FutureList(list[T]):
    """What ``task.map`` returns: a list of futures, or of values outside a workflow. Give it to a task as it is."""

    def result(self, timeout: float | None = None) -> list[T]:
        """The values, in order. `timeout` in seconds is for all of them together."""
        import time

        end = None if timeout is None else time.monotonic() + timeout
        values: list[T] = []
        for item in self:
            left = None if end is None else max(0.0, end - time.monotonic())
            values.append(_value(item, left))
        return values


def _value(item: Any, timeout: float | None = None) -> Any:
    from workflow._native import Future

    return item.result(timeout) if isinstance(item, Future) else item


def map_calls(
    function: Function[..., Any],
    iterables: tuple[Iterable[Any], ...],
    after: Iterable[Any],
    constants: dict[str, Any],
    *,
    bound: tuple[Any, ...] = (),
) -> FutureList[Any]:
    """Make the calls of ``function.map(*iterables, after=after, **constants)``; `bound` goes in front of each row."""
    from workflow._native import Future, building

    if not bound:
        _refuse_lost_class(function)
    rows = [(*bound, *row) for row in zip_columns(function.name, iterables)]
    if building() is None:
        return FutureList(function(*row, **constants) for row in rows)
    if not function.task:
        raise MapError(f"{function.name}.map: it is only profiled, not a task; decorate it with @wf.task")
    edges = (after,) if isinstance(after, Future) else tuple(after)
    return FutureList(function.submit(row, constants or None, index, edges) for index, row in enumerate(rows))


def _refuse_lost_class(function: Function[..., Any]) -> None:
    """``Class.method.map`` with @classmethod above @task: since Python 3.13 nothing tells which class it was."""
    code = getattr(function, "__code__", None)
    first = code.co_varnames[:1] if code is not None and code.co_argcount else ()
    if sys.version_info < (3, 13) or first != ("cls",) or function.__qualname__.endswith(f">.{function.__name__}"):
        return
    raise MapError(
        f"{function.name}.map: the class of a classmethod is lost here on Python 3.13 and later; put @task above "
        f"@classmethod instead of below it"
    )


def zip_columns(task: str, iterables: tuple[Iterable[Any], ...]) -> list[tuple[Any, ...]]:
    """The rows of the zipped iterables; a future among them is waited for. Unequal lengths are an error."""
    if not iterables:
        raise MapError(f"{task}.map needs an iterable by position; what is the same for each call goes by name")
    columns = [_iterable(task, position, item) for position, item in enumerate(iterables, 1)]
    sized = [len(column) for column in columns if isinstance(column, Sized)]
    # One more than the shortest known length is enough to see that an endless iterable does not fit.
    most = min(sized) + 1 if sized else None
    lists = [_materialise(column, most) for column in columns]
    if len({len(taken) for taken in lists}) > 1:
        said = [
            f"{position}: {_length(*pair, most)}" for position, pair in enumerate(zip(columns, lists, strict=True), 1)
        ]
        raise MapError(
            f"{task}.map: the iterables differ in length ({', '.join(said)}); they are zipped by position, and what is "
            f"the same for each call goes by name"
        )
    return list(zip(*lists, strict=True))


def _length(column: Iterable[Any], taken: list[Any], most: int | None) -> str:
    if isinstance(column, Sized):
        return str(len(column))
    return f"more than {most - 1}" if most is not None and len(taken) == most else str(len(taken))


def _iterable(task: str, position: int, item: Any) -> Iterable[Any]:
    value = _value(item)
    try:
        iter(value)
    except TypeError:
        raise MapError(
            f"{task}.map: argument {position} is a {type(value).__name__}, which cannot be iterated over; what is the "
            f"same for each call goes by name"
        ) from None
    if isinstance(value, Mapping):
        return list(value)
    found: Iterable[Any] = value
    return found


def _materialise(column: Iterable[Any], most: int | None) -> list[Any]:
    if most is None:
        return list(column)
    taken: list[Any] = []
    iterator: Iterator[Any] = iter(column)
    while len(taken) < most:
        try:
            taken.append(next(iterator))
        except StopIteration:
            break
    return taken
