"""Metrics of your own, on the same page as those of the tasks.

    from workflow import metrics

    ROWS = metrics.Counter("rows", "Rows read.", ("table",))
    USERS = ROWS.labels("users")       # keep the child: an update then costs some 20 ns
    USERS.inc()                        # rows_total{table="users"} 1

Names and methods are those of `prometheus_client`. What differs: the same definition twice is one metric, not an error;
a histogram's default buckets suit tasks (1 ms to 8 h); NaN is never counted; counters and histograms have no `remove`,
since a sum that falls reads as a restart. A forked child counts from 0. See docs/metrics.md.
"""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar, cast

from workflow._native import core

Counter = core.Counter
Gauge = core.Gauge
Histogram = core.Histogram

__all__ = ["Counter", "Gauge", "Histogram", "generate_latest"]

F = TypeVar("F", bound=Callable[..., Any])


def generate_latest(openmetrics: bool = False) -> bytes:
    """The whole page of this process: Prometheus text 0.0.4, or OpenMetrics 1.0."""
    return core.generate_latest(openmetrics)


class _Around:
    """Something done around a block, or around each call of a function or coroutine function."""

    __slots__ = ()

    def _again(self) -> Any:
        raise NotImplementedError

    def __call__(self, function: F) -> F:
        wrapped: Any
        if inspect.iscoroutinefunction(function):

            async def wrapped(*args: Any, **kwargs: Any) -> Any:
                with self._again():
                    return await function(*args, **kwargs)
        else:

            def wrapped(*args: Any, **kwargs: Any) -> Any:
                with self._again():
                    return function(*args, **kwargs)

        result: Any = functools.wraps(function)(wrapped)
        return cast(F, result)


class Timer(_Around):
    """Gives the seconds of a block to a histogram or gauge. Afterwards they are in `duration`."""

    __slots__ = ("_give", "_start", "duration")

    def __init__(self, give: Callable[[float], None]) -> None:
        self._give = give
        self._start = 0
        self.duration: float | None = None

    def _again(self) -> Timer:
        return Timer(self._give)

    def __enter__(self) -> Timer:
        self._start = time.monotonic_ns()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.duration = (time.monotonic_ns() - self._start) / 1e9
        self._give(self.duration)


class ExceptionCounter(_Around):
    """Counts the exceptions that leave a block; they go on."""

    __slots__ = ("_counter", "_kinds")

    def __init__(self, counter: Counter, kinds: type[BaseException] | tuple[type[BaseException], ...]) -> None:
        self._counter = counter
        self._kinds = kinds

    def _again(self) -> ExceptionCounter:
        return self

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(error, self._kinds):
            self._counter.inc()


class InprogressTracker(_Around):
    """Counts in a gauge how many are in a block now."""

    __slots__ = ("_gauge",)

    def __init__(self, gauge: Gauge) -> None:
        self._gauge = gauge

    def _again(self) -> InprogressTracker:
        return self

    def __enter__(self) -> None:
        self._gauge.inc()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._gauge.dec()


def _observe_time(self: Histogram) -> Timer:
    """A context manager and decorator that observes the seconds of a block or of each call."""
    return Timer(self.observe)


def _set_time(self: Gauge) -> Timer:
    """A context manager and decorator that sets the gauge to the seconds of a block or of each call."""
    return Timer(self.set)


def _count_exceptions(
    self: Counter, exception: type[BaseException] | tuple[type[BaseException], ...] = Exception
) -> ExceptionCounter:
    """A context manager and decorator that counts the exceptions that leave a block or a call."""
    return ExceptionCounter(self, exception)


def _track_inprogress(self: Gauge) -> InprogressTracker:
    """A context manager and decorator that counts blocks or calls under way."""
    return InprogressTracker(self)


def _set_to_current_time(self: Gauge) -> None:
    """Set the gauge to the Unix time in seconds."""
    self.set(time.time())


def _restore(cls: Any, args: tuple[Any, ...], options: dict[str, Any], values: tuple[str, ...]) -> Any:
    metric = cls(*args, **options)
    return metric.labels(*values) if values else metric


def _reduce(self: Any) -> tuple[Any, ...]:
    """By definition: in another process it is the metric of the same name there."""
    options = {"buckets": self.buckets} if isinstance(self, Histogram) else {}
    return _restore, (type(self), (self.name, self.documentation, self.labelnames), options, self.labelvalues)


def _complete() -> None:
    counter: Any = Counter
    gauge: Any = Gauge
    histogram: Any = Histogram
    counter.count_exceptions = _count_exceptions
    gauge.time = _set_time
    gauge.track_inprogress = _track_inprogress
    gauge.set_to_current_time = _set_to_current_time
    histogram.time = _observe_time
    for cls in (counter, gauge, histogram):
        cls.__reduce__ = _reduce


_complete()
