"""Our families on a page that `prometheus_client` serves. The one file that imports that package."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import Any

from prometheus_client.core import Metric
from prometheus_client.registry import CollectorRegistry

from workflow._native import core

__all__ = ["WorkflowCollector"]

_SUFFIXES = {"counter": ("_total", "_created"), "histogram": ("_bucket", "_sum", "_count", "_created"), "gauge": ()}


class WorkflowCollector:
    """Give it to ``CollectorRegistry.register``. A family whose name is taken there is left out, with one warning.

    ``process_*`` is left to the collector that `prometheus_client` has for it.
    """

    def __init__(self) -> None:
        self._left_out: set[str] = set()

    def describe(self) -> Iterable[Metric]:
        """The families, without samples. Called by ``register``."""
        registry = _calling_registry()
        taken: dict[str, Any] = getattr(registry, "_names_to_collectors", {})
        described = []
        for name, text, kind, _ in core.metrics_snapshot():
            if name.startswith("process_"):
                continue
            names = [name, *(name + suffix for suffix in _SUFFIXES[kind])]
            if any(taken.get(each, self) is not self for each in names):
                self._left_out.add(name)
            else:
                described.append(Metric(name, text, kind))
        if self._left_out:
            warnings.warn(
                f"workflow: {', '.join(sorted(self._left_out))} is on this prometheus_client registry already and is "
                f"left out; a namespace (--namespace, WF_NAMESPACE, or in workflow.toml) gives ours another name",
                RuntimeWarning,
                stacklevel=2,
            )
        return described

    def collect(self) -> Iterable[Metric]:
        """The families with their samples. Called at each scrape."""
        for name, text, kind, samples in core.metrics_snapshot():
            if name.startswith("process_") or name in self._left_out:
                continue
            metric = Metric(name, text, kind)
            for suffix, labels, value in samples:
                metric.add_sample(name + suffix, labels, value)
            yield metric


def _calling_registry() -> CollectorRegistry | None:
    """The registry whose ``register`` is under way: a collector is not told, so it is looked up among the callers."""
    frame = sys._getframe(1)
    for _ in range(5):
        caller = frame.f_back
        if caller is None:
            return None
        if isinstance(caller.f_locals.get("self"), CollectorRegistry):
            found: CollectorRegistry = caller.f_locals["self"]
            return found
        frame = caller
    return None
