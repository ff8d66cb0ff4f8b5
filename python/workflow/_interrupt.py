"""Ctrl-C and SIGTERM while a run goes on: the run hears of it before the exception is raised anywhere.

Without this, an interrupt that lands inside a task of the inline executor would look like that task's own error, and
the next task would start. Handlers that users set themselves are left alone.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from types import FrameType, TracebackType

__all__ = ["InterruptWatch", "Terminated", "is_interrupt", "raise_terminated"]


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived: dealt with as Ctrl-C, with another exit code."""


def raise_terminated(number: int, frame: FrameType | None) -> NoReturn:
    """The handler that `wf run` sets for SIGTERM."""
    raise Terminated("terminated by SIGTERM")


def is_interrupt(error: BaseException) -> bool:
    """Was what ran interrupted from outside? True for KeyboardInterrupt, and for a SystemExit out of a signal handler.

    A ``sys.exit`` that a task calls itself is its own failure, the same under every executor.
    """
    if isinstance(error, KeyboardInterrupt):
        return True
    return isinstance(error, SystemExit) and not _codes_in(error.__traceback__).isdisjoint(_handler_codes())


def _codes_in(trace: TracebackType | None) -> set[Any]:
    codes = set()
    while trace is not None:
        codes.add(trace.tb_frame.f_code)
        trace = trace.tb_next
    return codes


def _handler_codes() -> set[Any]:
    """The code of the handlers that are set in Python."""
    codes = set()
    for number in signal.valid_signals():
        handler: Any = signal.getsignal(number)
        while hasattr(handler, "func"):  # a partial
            handler = handler.func
        code = getattr(handler, "__code__", None)  # a method has that of its function
        if code is not None:
            codes.add(code)
    return codes


class InterruptWatch:
    """While entered, in the main thread: calls `heard` in the signal handler, then what the handler did before.

    caught   the exception of the last interrupt; None when there was none
    """

    def __init__(self, heard: Callable[[], None]) -> None:
        self.caught: KeyboardInterrupt | None = None
        self._heard = heard
        self._before: list[tuple[signal.Signals, Any]] = []

    def __enter__(self) -> InterruptWatch:
        if threading.current_thread() is not threading.main_thread():
            return self
        for number in (signal.SIGINT, signal.SIGTERM):
            handler = signal.getsignal(number)
            if handler in (signal.default_int_handler, raise_terminated):
                self._before.append((number, handler))
                signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before:
            if signal.getsignal(number) == self._handle:
                signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.caught = Terminated() if number == signal.SIGTERM else KeyboardInterrupt()
        self._heard()
        raise self.caught
