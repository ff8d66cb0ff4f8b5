"""What tasks write to stdout and stderr and to `logging`, kept per attempt and still shown where it always was.

While at least one run is going on, ``sys.stdout`` and ``sys.stderr`` are tees: every call goes to the real stream
first, unchanged, and then its text goes to the store. Log records are seen in ``Logger.callHandlers``: a handler on
the root logger would switch off ``logging.basicConfig`` and the last-resort handler in the user's program.
"""

from __future__ import annotations

import logging
import sys
import threading
from typing import TYPE_CHECKING, Any

from workflow._native import building, current_attempt, monotonic_ns

if TYPE_CHECKING:
    from types import TracebackType

    from workflow._native import Engine

__all__ = ["Capture", "put_open_lines", "put_record", "put_text"]

STDOUT, STDERR, LOG = 0, 1, 2

_lock = threading.Lock()
_engines: dict[str, Engine] = {}  # run id -> engine, of the runs that go on
_formatter = logging.Formatter("%(name)s: %(message)s")


class _InLogging(threading.local):
    """True while a handler of the user's writes a record that has been kept already."""

    active = False


_in_logging = _InLogging()


# Text without a line end yet, by thread and stream: `print` writes its line end apart, and one row is enough.
_open_lines: dict[tuple[int, int], tuple[Engine, int, int, str]] = {}
_LONGEST_OPEN_LINE = 4096


def _here() -> tuple[Engine | None, int]:
    """The run and the attempt to which what this thread writes belongs; attempt 0: to none."""
    attempt = current_attempt()
    if attempt is not None:
        return _engines.get(attempt[0]), attempt[2]
    engine = building()
    if engine is not None:
        return engine, 0
    # A thread that the user started: it belongs to a run only when there is no other.
    if len(_engines) == 1:
        return next(iter(_engines.values()), None), 0
    return None, 0


def put_text(stream: int, text: str) -> None:
    """Keep what was written to a stream with the attempt of the calling thread. Never raises."""
    try:
        engine, attempt = _here()
        key = (threading.get_ident(), stream)
        time_ns = monotonic_ns()
        before = _open_lines.pop(key, None)
        if before is not None:
            if before[0] is engine and before[1] == attempt:
                time_ns, text = before[2], before[3] + text
            else:
                _put_open(stream, before)
        if engine is None or not text:
            return
        if attempt and not text.endswith("\n") and len(text) < _LONGEST_OPEN_LINE:
            _open_lines[key] = (engine, attempt, time_ns, text)
        else:
            engine.put_log(stream, 0, text, attempt, time_ns)
    except Exception:  # keeping output never fails the task that wrote it
        return


def _put_open(stream: int, line: tuple[Engine, int, int, str]) -> None:
    engine, attempt, time_ns, text = line
    engine.put_log(stream, 0, text, attempt, time_ns)


def put_open_lines(engine: Engine) -> None:
    """Keep what was written for `engine` without a line end yet."""
    for key, line in list(_open_lines.items()):
        if line[0] is engine and _open_lines.pop(key, None) is not None:
            _put_open(key[1], line)


def put_record(record: logging.LogRecord) -> None:
    """Keep a log record with the attempt of the calling thread. Never raises."""
    try:
        text = _formatter.format(record)
    except Exception as error:  # wrong arguments for its format: logging itself reports it
        text = f"{record.name}: {record.msg} ({type(error).__name__} when formatted)"
    engine, attempt = _here()
    if engine is not None:
        engine.put_log(LOG, record.levelno, text, attempt)


class _BytesTee:
    """The `buffer` of a tee: what is written here reaches the real buffer as it is."""

    def __init__(self, buffer: Any, stream: int, encoding: str) -> None:
        self._buffer = buffer
        self._stream = stream
        self._encoding = encoding

    def write(self, data: Any) -> Any:
        written = self._buffer.write(data)
        put_text(self._stream, bytes(data).decode(self._encoding, "replace"))
        return written

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._buffer, name)


class _Tee:
    """Stands for a text stream, and keeps a copy of what passes. Everything else is the stream's own."""

    def __init__(self, real: Any, stream: int) -> None:
        self._real = real
        self._stream = stream

    def write(self, text: str) -> Any:
        written = self._real.write(text)
        if not _in_logging.active:
            put_text(self._stream, text)
        return written

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    @property
    def buffer(self) -> _BytesTee:
        return _BytesTee(self._real.buffer, self._stream, getattr(self._real, "encoding", None) or "utf-8")

    def __iter__(self) -> Any:
        return iter(self._real)

    def __enter__(self) -> _Tee:
        return self

    def __exit__(self, *_: object) -> None:
        self._real.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


_installed: list[tuple[str, _Tee]] = []
_call_handlers = logging.Logger.callHandlers


def _see_record(logger: logging.Logger, record: logging.LogRecord) -> None:
    if _in_logging.active or not _engines:
        _call_handlers(logger, record)
        return
    put_record(record)
    _in_logging.active = True
    try:
        _call_handlers(logger, record)
    finally:
        _in_logging.active = False


def _install() -> None:
    global _call_handlers
    for name, stream in (("stdout", STDOUT), ("stderr", STDERR)):
        real = getattr(sys, name)
        if real is not None:  # as under pythonw
            tee = _Tee(real, stream)
            _installed.append((name, tee))
            setattr(sys, name, tee)
    if logging.Logger.callHandlers is not _see_record:
        _call_handlers = logging.Logger.callHandlers
        logging.Logger.callHandlers = _see_record  # type: ignore[method-assign,assignment]


def _uninstall() -> None:
    while _installed:
        name, tee = _installed.pop()
        if getattr(sys, name) is tee:  # else the user has put something of their own there; our tee lets all pass
            setattr(sys, name, tee._real)
    if logging.Logger.callHandlers is _see_record:
        logging.Logger.callHandlers = _call_handlers  # type: ignore[method-assign]


class Capture:
    """Keeps output for `engine` while it is entered."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __enter__(self) -> Capture:
        with _lock:
            if not _engines:
                _install()
            _engines[self._engine.run_id] = self._engine
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _lock:
            _engines.pop(self._engine.run_id, None)
            put_open_lines(self._engine)
            if not _engines:
                _uninstall()
