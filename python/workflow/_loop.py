"""Coroutine tasks on one event loop: what executor "async" is, and what serves coroutines beside the threads.

Two threads of the run's own: one takes coroutine nodes that are ready, the other runs the event loop. A coroutine is
measured between its resumes and suspends only, and knows its task there: `wf.current_task()` is right in each of them.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from workflow import _hooks

if TYPE_CHECKING:
    from workflow._native import Engine, Job

__all__ = ["AsyncExecutor", "LoopService"]

_MOST_AT_ONCE = 1000  # coroutines begun and not ended; the rest waits in the engine, where a node is small
_TICK_S = 0.1  # how long a cancel may stay unnoticed


class _Steps:
    """Awaits a coroutine for a job: enters the job at each resume and leaves it at each suspend."""

    def __init__(self, job: Job, coroutine: Any) -> None:
        self._job = job
        self._coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, Any]:
        job, inner = self._job, self._coroutine.__await__()
        step: Any = getattr(inner, "send", None) or (lambda _: next(inner))
        argument: Any = None
        while True:
            job.enter()
            job.resume()
            try:
                item = step(argument)
            except StopIteration as end:
                return end.value
            finally:
                job.suspend()
                job.leave()
            try:
                argument = yield item
                step = getattr(inner, "send", None) or (lambda _: next(inner))
            except BaseException as error:
                if not hasattr(inner, "throw"):
                    raise
                step, argument = inner.throw, error


async def _collect(stream: Any) -> list[Any]:
    return [item async for item in stream]


class LoopService:
    """Serves the coroutine nodes of one engine until it is stopped."""

    def __init__(self, engine: Engine, *, first: Job | None = None, plain_too: bool = False) -> None:
        """``first``: a job that was taken already. ``plain_too``: plain functions run in the loop's thread as well, one
        at a time, between coroutines."""
        self._engine = engine
        self._plain_too = plain_too
        self._stopping = False
        self._making = threading.Lock()
        self._slots = threading.Semaphore(_MOST_AT_ONCE)
        self._tasks: dict[int, asyncio.Task[None]] = {}  # node -> its task; touched by the loop's thread only
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread: threading.Thread | None = None
        self._takers = [threading.Thread(target=self._take, args=(True,), name="wf-loop-taker", daemon=True)]
        if plain_too:
            self._takers.append(threading.Thread(target=self._take, args=(False,), name="wf-plain-taker", daemon=True))
        engine.set_loop(True)
        if first is not None:
            self._slots.acquire()
            self._ensure_loop().call_soon_threadsafe(self._begin, first)
        for taker in self._takers:
            taker.start()

    def stop(self, *, abandon: bool) -> None:
        """Stop taking; unless abandoned, wait for what runs."""
        self._stopping = True
        if abandon and self._loop is not None:
            self._loop.call_soon_threadsafe(self._cancel_all)
        for taker in self._takers:
            taker.join()
        if self._loop is None or self._loop_thread is None:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._loop_thread.join(timeout=5 if abandon else None)

    def _take(self, loop: bool) -> None:
        while not self._stopping:
            self._cancel_asked()
            if not self._slots.acquire(timeout=_TICK_S):
                continue
            job = self._engine.take(_TICK_S, loop)
            if job is None:
                self._slots.release()
                if self._engine.finished():
                    return
                continue
            self._ensure_loop().call_soon_threadsafe(self._begin, job)

    def _ensure_loop(self) -> asyncio.AbstractEventLoop:
        with self._making:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._loop_thread = threading.Thread(target=self._run_loop, name="wf-loop", daemon=True)
                self._loop_thread.start()
            return self._loop

    def _run_loop(self) -> None:
        assert self._loop is not None
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            asyncio.set_event_loop(None)
            self._loop.close()

    def _begin(self, job: Job) -> None:
        assert self._loop is not None
        if not self._engine.begin(job, 0):
            self._slots.release()
            return
        self._tasks[job.node] = self._loop.create_task(self._run(job))

    async def _run(self, job: Job) -> None:
        engine = self._engine
        try:
            value = await self._value(job)
        except asyncio.CancelledError as error:
            engine.finish(job, "cancelled", exception=error)
        except BaseException as error:  # the user's; it belongs to the node, not to the loop
            engine.finish(job, "error", exception=error)
        else:
            engine.finish(job, "success", result=value)
        finally:
            self._tasks.pop(job.node, None)
            self._slots.release()

    async def _value(self, job: Job) -> Any:
        job.enter()
        try:
            function: Any = job.function
            made = function.call_user(job.args, job.kwargs)
        finally:
            job.suspend()
            job.leave()
        if function.kind == "function":
            made = _hooks.awaited(job.task, made)
        if hasattr(made, "__aiter__"):
            return await _Steps(job, _collect(made))
        if hasattr(made, "__await__"):
            return await _Steps(job, made)
        return list(made) if function.kind == "generator" else made

    def _cancel_asked(self) -> None:
        nodes = self._engine.take_cancels()
        if nodes and self._loop is not None:
            self._loop.call_soon_threadsafe(self._cancel_nodes, nodes)

    def _cancel_nodes(self, nodes: list[int]) -> None:
        for node in nodes:
            task = self._tasks.get(node)
            if task is not None:
                task.cancel()

    def _cancel_all(self) -> None:
        self._cancel_nodes(list(self._tasks))


class AsyncExecutor:
    """Everything in one thread with an event loop: coroutines overlap, plain functions run between them."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._service: LoopService | None = None

    def start(self, engine: Engine, workers: int) -> None:
        self._engine = engine
        self._service = LoopService(engine, plain_too=True)

    def drive(self) -> None:
        assert self._engine is not None
        while not self._engine.wait(_TICK_S):
            pass

    def stop(self, *, abandon: bool) -> None:
        if self._service is not None:
            self._service.stop(abandon=abandon)
        self._engine = self._service = None
