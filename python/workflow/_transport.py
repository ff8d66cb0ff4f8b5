"""How code and values travel between the owner of a run and its worker processes.

A message is one pickle (protocol 5) with its large buffers beside it:

    8 bytes  size of the pickle                 \\
    8 bytes  number of buffers, n                |  little-endian
    n x 8    size of each buffer                /
    the pickle, then the buffers

Functions that the other side can import travel by name; those of ``__main__``, lambdas and local functions by value
(cloudpickle). Both sides are ours and share one socket pair; nothing else can write to it.
"""

from __future__ import annotations

import pickle
import socket
import struct
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import cloudpickle

from workflow._native import Function

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Closed", "decode", "dumps", "encode", "receive", "send", "why_not"]

_HEAD = struct.Struct("<QQ")
_SIZE = struct.Struct("<Q")
_MOST_PATHS = 200  # steps of the search for what cannot be pickled


class Closed(EOFError):
    """The other side is gone."""


def _found_by_name(function: Function[..., Any]) -> Any:
    """What a fresh process finds under its name: the object itself, or the class method made of it; else None."""
    module = sys.modules.get(function.__module__)
    if module is None or function.__module__ == "__main__" or "<" in function.__qualname__:
        return None
    found: Any = module
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return found if found is function or getattr(found, "__func__", None) is function else None


def _rebuild(wrapped: Any, name: str, kind: str, task: bool, state: dict[str, Any]) -> Function[..., Any]:
    made: Any = Function(wrapped, name=name, kind=kind, task=task)
    made.__dict__.update(state)
    made.__dict__["__wrapped__"] = wrapped
    return made  # type: ignore[no-any-return]


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is not Function:
            return super().reducer_override(obj)
        found = _found_by_name(obj)
        if found is None:
            state = {key: value for key, value in obj.__dict__.items() if key != "__wrapped__"}
            return _rebuild, (obj.__wrapped__, obj.name, obj.kind, obj.task, state)
        if found is not obj:
            return getattr, (found, "__func__")
        return super().reducer_override(obj)


def encode(message: object) -> list[Any]:
    """The parts of a message, in order. Raises whatever pickling raises."""
    import io

    buffers: list[pickle.PickleBuffer] = []
    body = io.BytesIO()
    _Pickler(body, protocol=5, buffer_callback=buffers.append).dump(message)
    views = [buffer.raw() for buffer in buffers]
    head = _HEAD.pack(body.tell(), len(views)) + b"".join(_SIZE.pack(view.nbytes) for view in views)
    return [head, body.getbuffer(), *views]


def send(channel: socket.socket, parts: Iterable[Any]) -> None:
    """Send what `encode` made. Closed when the other side is gone."""
    try:
        for part in parts:
            channel.sendall(part)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise Closed(str(error)) from error


def _read(channel: socket.socket, size: int) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        try:
            got = channel.recv_into(view)
        except ConnectionResetError as error:
            raise Closed(str(error)) from error
        if got == 0:
            raise Closed("the other side closed the connection")
        view = view[got:]
    return data


def receive(channel: socket.socket) -> tuple[bytearray, list[bytearray]]:
    """One whole message, not decoded yet; see `decode`. Waits; Closed when the other side is gone."""
    size, count = _HEAD.unpack(_read(channel, _HEAD.size))
    sizes = [_SIZE.unpack(_read(channel, _SIZE.size))[0] for _ in range(count)]
    return _read(channel, size), [_read(channel, one) for one in sizes]


def decode(message: tuple[bytearray, list[bytearray]]) -> Any:
    """The value of a message. Raises what unpickling raises."""
    body, buffers = message
    return pickle.loads(body, buffers=buffers)


def dumps(value: object) -> bytes:
    """`value` as one string of bytes, code included."""
    import io

    body = io.BytesIO()
    _Pickler(body, protocol=5).dump(value)
    return body.getvalue()


def why_not(value: object, name: str) -> str:
    """Where in `value` the part is that cannot be pickled, and why, such as "result['lock']: cannot pickle …"."""
    search = _Search(dumps)
    path, reason = search.find(value, name)
    return f"{path}: {reason}"


class _Search:
    """Goes down to the smallest part that still fails."""

    def __init__(self, attempt: Callable[[object], object]) -> None:
        self._attempt = attempt
        self._steps = 0

    def find(self, value: object, path: str) -> tuple[str, str]:
        reason = self._fails(value) or "cannot be pickled"
        for step, part in _parts(value):
            self._steps += 1
            if self._steps > _MOST_PATHS:
                break
            if self._fails(part) is not None:
                return self.find(part, path + step)
        return f"{path} ({type(value).__qualname__})", reason

    def _fails(self, value: object) -> str | None:
        try:
            self._attempt(value)
        except RecursionError:
            return "nested too deeply"
        except Exception as error:  # whatever a __reduce__ of the user's raises
            return str(error) or type(error).__name__
        return None


def _parts(value: object) -> list[tuple[str, object]]:
    if isinstance(value, dict):
        return [(f"[{key!r:.40}]", part) for key, part in value.items()]
    if isinstance(value, (list, tuple)):
        return [(f"[{index}]", part) for index, part in enumerate(value)]
    state = getattr(value, "__dict__", None)
    if isinstance(state, dict) and not isinstance(value, type):
        return [(f".{key}", part) for key, part in state.items()]
    return []
