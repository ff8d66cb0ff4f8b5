"""Who runs the tasks of a run: a table of executors behind one switch, with the same results and errors.

An executor is made for one run. `start` comes before the body of the workflow, `drive` after it: it returns when every
node is final. `stop` frees what `start` took; with ``abandon=True`` it does not wait for tasks that are still running.
"""

from __future__ import annotations

import importlib
import threading
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from workflow._loop import LoopService
    from workflow._native import Engine

__all__ = ["NAMES", "Executor", "InlineExecutor", "ThreadsExecutor", "make"]

_TICK_S = 0.1  # how long one wait takes; signals are looked for meanwhile


class Executor(Protocol):
    """What a run asks of an executor."""

    def start(self, engine: Engine, workers: int) -> None:
        """Make ready; nothing runs before the engine opens its gate."""

    def drive(self) -> None:
        """Return when every node is final. A KeyboardInterrupt passes through."""

    def stop(self, *, abandon: bool) -> None:
        """Free threads and processes. Called once, after `start`, on every way out."""


class InlineExecutor:
    """Runs each task in the thread that calls ``.run``, one after another."""

    def __init__(self) -> None:
        self._engine: Engine | None = None

    def start(self, engine: Engine, workers: int) -> None:
        self._engine = engine
        engine.set_inline(True)

    def drive(self) -> None:
        assert self._engine is not None
        while not self._engine.run_ready(None, _TICK_S):
            pass

    def stop(self, *, abandon: bool) -> None:
        self._engine = None


class _LoopWhenNeeded:
    """Waits for the first coroutine of a run and gives it an event loop: most runs have none, and pay nothing."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._stopping = False
        self._service: LoopService | None = None
        engine.set_loop(True)
        self._thread = threading.Thread(target=self._wait, name="wf-loop-waiter", daemon=True)
        self._thread.start()

    def _wait(self) -> None:
        while not self._stopping:
            job = self._engine.take(_TICK_S, True)
            if job is not None:
                from workflow._loop import LoopService

                self._service = LoopService(self._engine, first=job)
                return
            if self._engine.finished():
                return

    def stop(self, *, abandon: bool) -> None:
        self._stopping = True
        self._thread.join()
        if self._service is not None:
            self._service.stop(abandon=abandon)


class ThreadsExecutor:
    """Runs tasks in threads of this process; what happens per task is native. Coroutines share one event loop."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._threads: list[threading.Thread] = []
        self._loop: _LoopWhenNeeded | None = None

    def start(self, engine: Engine, workers: int) -> None:
        self._engine = engine
        self._loop = _LoopWhenNeeded(engine)
        for index in range(workers):
            # Daemons, so that a task that never ends cannot keep the program from ending after an interrupt.
            thread = threading.Thread(target=engine.work, args=(index,), name=f"wf-worker-{index}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def drive(self) -> None:
        assert self._engine is not None
        while not self._engine.wait(_TICK_S):
            pass

    def stop(self, *, abandon: bool) -> None:
        if not abandon:
            for thread in self._threads:
                thread.join()
        if self._loop is not None:
            self._loop.stop(abandon=abandon)
        self._threads.clear()
        self._engine = self._loop = None


# name -> module and class; a module is imported when its executor is first used.
_TABLE = {
    "threads": (__name__, "ThreadsExecutor"),
    "inline": (__name__, "InlineExecutor"),
    "processes": ("workflow._pool", "ProcessesExecutor"),
    "async": ("workflow._loop", "AsyncExecutor"),
}
NAMES = tuple(_TABLE)


def make(name: str) -> Executor:
    """A new executor by its name, one of NAMES."""
    module, cls = _TABLE[name]
    executor: Executor = getattr(importlib.import_module(module), cls)()
    return executor
