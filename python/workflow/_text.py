"""Small pieces of messages."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["location", "near", "shorten"]


def near(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` when a known name is like `name`, else nothing."""
    import difflib

    found = difflib.get_close_matches(name, list(known), n=2, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(item) for item in found)}?" if found else ""


def location(function: object) -> str:
    """``file:line`` of a function, seen through its decorators."""
    for _ in range(100):
        inner = getattr(function, "__wrapped__", None)
        if inner is None:
            break
        function = inner
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else repr(function)


def shorten(text: str, most: int) -> str:
    """The beginning of `text`, with the number of characters left out."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most} more characters)"
