"""Measured coroutines, generators and async generators: they stream as before, and count once, when they end.

Wall time runs from the call to the end: exhaustion, `close()`, an early break or an exception. CPU is measured between
resume and suspend only, so that what the caller does in between is not counted.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Coroutine, Generator
from typing import TYPE_CHECKING, Any

from workflow._native import Observation

if TYPE_CHECKING:
    from workflow._native import Function

__all__ = ["wrap"]


def wrap(function: Function[..., Any], stream: Any) -> Any:
    """`stream` measured for `function`. What is none of the three is counted as done and returned as it is."""
    observation = Observation(function)
    name, qualname = getattr(stream, "__name__", function.name), getattr(stream, "__qualname__", function.name)
    if hasattr(stream, "asend"):
        measured: Any = _async_generator(observation, stream)
    elif hasattr(stream, "__await__") and hasattr(stream, "send"):
        return _Coroutine(observation, stream)
    elif hasattr(stream, "send"):
        measured = _generator(observation, stream)
    else:
        observation.finish("success")
        return stream
    measured.__name__, measured.__qualname__ = name, qualname
    return measured


def _status(error: BaseException) -> str:
    name = type(error).__name__
    return "cancelled" if isinstance(error, (GeneratorExit, KeyboardInterrupt)) or name == "CancelledError" else "error"


def _step(observation: Observation, method: Any, *args: Any) -> Any:
    """One resume of a coroutine or generator. StopIteration passes through, after the end was counted."""
    observation.resume()
    try:
        value = method(*args)
    except StopIteration:
        observation.finish("success")
        raise
    except BaseException as error:
        observation.finish(_status(error))
        raise
    observation.suspend()
    return value


class _Coroutine(Coroutine[Any, Any, Any]):
    """A coroutine around a coroutine. One that is never awaited warns as it would without us."""

    __slots__ = ("_coroutine", "_observation")

    def __init__(self, observation: Observation, coroutine: Any) -> None:
        self._observation = observation
        self._coroutine = coroutine

    def send(self, value: Any) -> Any:
        return _step(self._observation, self._coroutine.send, value)

    def throw(self, *error: Any) -> Any:
        return _step(self._observation, self._coroutine.throw, *error)

    def close(self) -> None:
        self._coroutine.close()
        self._observation.finish("cancelled")

    def __await__(self) -> Generator[Any, Any, Any]:
        steps: Any = self
        answer: Generator[Any, Any, Any] = steps
        return answer

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return self.send(None)

    def __getattr__(self, name: str) -> Any:  # cr_frame, cr_await, __qualname__, …
        return getattr(self._coroutine, name)

    def __repr__(self) -> str:
        return f"<measured {self._coroutine!r}>"


def _generator(observation: Observation, inner: Any) -> Generator[Any, Any, Any]:
    step: Any = inner.send
    argument: Any = None
    while True:
        try:
            item = _step(observation, step, argument)
        except StopIteration as end:
            return end.value
        try:
            argument = yield item
            step = inner.send
        except GeneratorExit:
            # Left early: what was asked for was delivered.
            observation.resume()
            inner.close()
            observation.finish("success")
            raise
        except BaseException as error:
            step, argument = inner.throw, error


class _Step:
    """One step of an async generator, measured like a coroutine; its end is not the generator's."""

    def __init__(self, observation: Observation, awaitable: Any) -> None:
        self._observation = observation
        self._awaitable = awaitable

    def __await__(self) -> Generator[Any, Any, Any]:
        iterator = self._awaitable.__await__()
        step, argument = iterator.send, None
        while True:
            self._observation.resume()
            try:
                item = step(argument)
            except StopIteration as end:
                return end.value
            finally:
                self._observation.suspend()
            try:
                argument = yield item
                step = iterator.send
            except BaseException as error:
                step, argument = iterator.throw, error


async def _async_generator(observation: Observation, inner: Any) -> AsyncGenerator[Any, Any]:
    step = inner.asend(None)
    while True:
        try:
            item = await _Step(observation, step)
        except StopAsyncIteration:
            observation.finish("success")
            return
        except BaseException as error:
            observation.finish(_status(error))
            raise
        try:
            step = inner.asend((yield item))
        except GeneratorExit:
            await _Step(observation, inner.aclose())
            observation.finish("success")
            raise
        except BaseException as error:
            step = inner.athrow(error)
