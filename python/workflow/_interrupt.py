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

__all__ = ["InterruptWatch", "Terminated", "raise_terminated"]


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived: dealt with as Ctrl-C, with another exit code."""


def raise_terminated(number: int, frame: FrameType | None) -> NoReturn:
    """The handler that `wf run` sets for SIGTERM."""
    raise Terminated("terminated by SIGTERM")


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
