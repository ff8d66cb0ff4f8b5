"""Futures in what a workflow's body returned: found and replaced at any depth."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from workflow._native import Future

__all__ = ["futures_in", "resolve"]


def futures_in(value: Any) -> list[Future[Any]]:
    """Every future in `value`, in order, each once."""
    found: dict[int, Future[Any]] = {}

    def note(future: Future[Any]) -> Any:
        found.setdefault(id(future), future)
        return future

    _Walk(note).visit(value)
    return list(found.values())


def resolve(value: Any) -> Any:
    """`value` with each future replaced by its result; what holds no future is returned as it is, not copied."""
    return _Walk(lambda future: future.result()).visit(value)


class _Walk:
    """Visits lists, tuples, sets, the values of dicts, and dataclasses, as the engine does with arguments."""

    def __init__(self, replace: Callable[[Future[Any]], Any]) -> None:
        self._replace = replace
        self._seen: dict[int, Any] = {}  # containers that hold themselves, and those met twice

    def visit(self, value: Any) -> Any:
        if isinstance(value, Future):
            return self._replace(value)
        kind = type(value)
        if isinstance(value, (list, tuple, set, frozenset, dict)) or hasattr(kind, "__dataclass_fields__"):
            if isinstance(value, type):
                return value
            if id(value) in self._seen:
                return self._seen[id(value)]
            self._seen[id(value)] = value
            made = self._visit_container(value, kind)
            self._seen[id(value)] = made
            return made
        return value

    def _visit_container(self, value: Any, kind: Any) -> Any:
        if isinstance(value, dict):
            members = {key: self.visit(member) for key, member in value.items()}
            if all(members[key] is value[key] for key in value):
                return value
            return members
        if isinstance(value, (list, tuple, set, frozenset)):
            return self._visit_sequence(value, kind)
        changes = {}
        for name in kind.__dataclass_fields__:
            if hasattr(value, name):
                member = getattr(value, name)
                made = self.visit(member)
                if made is not member:
                    changes[name] = made
        if not changes:
            return value
        twin = copy.copy(value)
        for name, made in changes.items():
            object.__setattr__(twin, name, made)
        return twin

    def _visit_sequence(self, value: Any, kind: Any) -> Any:
        before = list(value)
        after = [self.visit(member) for member in before]
        if all(new is old for new, old in zip(after, before, strict=True)):
            return value
        if isinstance(value, tuple) and hasattr(kind, "_make"):
            return kind._make(after)
        for base in (list, tuple, frozenset, set):
            if isinstance(value, base):
                return base(after)
        return after
