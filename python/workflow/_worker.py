"""The program of a worker process: takes one task at a time from its socket, runs it, measures it, sends the answer.

It ends when the socket closes, also in the middle of a task: a thread watches for that, so that the death of the owner
leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import threading
import time
from typing import Any

from workflow import _capture, _hooks, _transport
from workflow._native import Function, RemoteAttempt, core, monotonic_ns, take_delta

__all__ = ["main"]

_LOG_EVERY_S = 0.5  # how long output of a running task may stay in the worker


class _Output:
    """Stands for the engine in the capture: keeps what tasks write until it is sent."""

    def __init__(self, channel: socket.socket, lock: threading.Lock, run_id: str) -> None:
        self.run_id = run_id
        self.attempt = 0
        self._channel = channel
        self._lock = lock
        self._lines: list[tuple[int, int, str, int, int]] = []
        self._sent = time.monotonic()

    def put_log(self, stream: int, level: int, text: str, attempt: int = 0, time_ns: int = 0) -> None:
        self._lines.append((stream, level, text, attempt or self.attempt, time_ns or monotonic_ns()))
        if time.monotonic() - self._sent > _LOG_EVERY_S:
            self.send()

    def send(self) -> None:
        lines, self._lines = self._lines, []
        self._sent = time.monotonic()
        if lines:
            with self._lock:
                _transport.send(self._channel, _transport.encode(("log", lines)))


class RemoteTraceback(Exception):
    """The traceback of an exception that was raised in a worker process, as text."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f"\n\n{self.text}"


def _portable(error: BaseException) -> bytes | None:
    """`error` as bytes that really give an exception of its type back; None when it cannot travel."""
    try:
        data = _transport.dumps(error)
        import pickle

        return data if type(pickle.loads(data)) is type(error) else None
    except Exception:  # odd constructors, values that cannot be pickled
        return None


class _Worker:
    def __init__(self, channel: socket.socket, config: dict[str, Any]) -> None:
        self._channel = channel
        self._lock = threading.Lock()
        self._workflow: str = config["workflow"]
        self._run_id: str = config["run_id"]
        self._functions: dict[int, Any] = {}
        self._output = _Output(channel, self._lock, self._run_id)

    def serve(self) -> None:
        with _capture.Capture(self._output):  # type: ignore[arg-type]
            while True:
                try:
                    message = _transport.receive(self._channel)
                except _transport.Closed:
                    return
                self._answer(*_transport.decode(message))

    def _answer(self, kind: str, header: dict[str, Any], body: Any) -> None:
        if kind == "code":
            # Kept as bytes: an error in it belongs to the task that needs it.
            self._functions[header["key"]] = body
            return
        attempt = RemoteAttempt(
            run_id=self._run_id,
            workflow=self._workflow,
            task=header["task"],
            node=header["node"],
            attempt=header["attempt"],
            number=header["number"],
            map_index=header["map_index"],
            sampled=header["sampled"],
        )
        self._output.attempt = header["attempt"]
        attempt.begin()
        result, error = None, None
        try:
            result = self._run(header, body)
        except BaseException as raised:  # a task may raise anything, SystemExit too
            error = raised
        start_ns, end_ns, usage = attempt.end()
        figures = (start_ns, end_ns, usage, threading.get_native_id(), take_delta())
        self._flush_streams()
        _capture.put_open_lines(self._output)  # type: ignore[arg-type]
        self._output.send()
        self._reply(header, result, error, figures)
        self._output.attempt = 0

    def _run(self, header: dict[str, Any], body: Any) -> Any:
        import pickle

        function = self._functions[header["key"]]
        if isinstance(function, bytes):
            function = self._functions[header["key"]] = pickle.loads(function)
        args, kwargs = _transport.decode(body)
        made = function.call_user(args, kwargs) if type(function) is Function else function(*args, **kwargs)
        if hasattr(made, "__await__") and header["kind"] == "coroutine":
            return _hooks.run_coroutine(made)
        if header["kind"] == "asyncgen":
            return _hooks.collect_asyncgen(made)
        return list(made) if header["kind"] == "generator" else _hooks.awaited(header["task"], made)

    def _reply(self, header: dict[str, Any], result: Any, error: BaseException | None, figures: Any) -> None:
        if error is None:
            try:
                parts = _transport.encode(("done", figures, result))
            except Exception:  # whatever a __reduce__ of the user's raises
                reason = _transport.why_not(result, "result")
                parts = _transport.encode(("unpicklable", figures, reason))
        else:
            cause, trace = _hooks.format_error(error)
            status = "cancelled" if type(error).__name__ == "CancelledError" else "error"
            parts = _transport.encode(("failed", figures, (status, _portable(error), cause, trace)))
        with self._lock:
            _transport.send(self._channel, parts)

    @staticmethod
    def _flush_streams() -> None:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):  # closed, or put in its place by the task
                continue


def _watch(channel: socket.socket) -> None:
    """End the process as soon as the owner's end of the socket is closed."""
    poll = select.poll()
    poll.register(channel.fileno(), select.POLLRDHUP)
    while not poll.poll():
        pass
    # Data may still lie unread in front of the end, but there is nobody left to answer.
    os._exit(0)


def main(descriptor: int) -> None:
    """Serve the owner at the other end of the socket `descriptor` until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the owner decides what it means
    channel = socket.socket(fileno=descriptor)
    config = _transport.decode(_transport.receive(channel))
    if config["namespace"]:
        core.set_metrics_namespace(config["namespace"])
    if config["sampler"]:
        core.let_sample(config["sampler"])
    threading.Thread(target=_watch, args=(channel,), name="wf-watch", daemon=True).start()
    with contextlib.suppress(_transport.Closed):
        _Worker(channel, config).serve()
