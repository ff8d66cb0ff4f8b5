"""Measuring functions, with and without a workflow.

@profiling.collect()                    # measures each call of a function
profiling.start(store=True)             # calls outside workflows are stored from here on
profiling.start_http_server(9100)       # /metrics for Prometheus
REGISTRY.register(profiling.collector())  # or inside a page that prometheus_client serves
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from workflow._decorators import collect, profile

if TYPE_CHECKING:
    from workflow._metrics_server import MetricsServer

__all__ = ["collect", "collector", "profile", "set_namespace", "start", "start_http_server", "stop"]


def start(store: str | os.PathLike[str] | bool = True) -> str | None:
    """Store the calls of decorated functions that are made outside workflows, from now until `stop` or the end.

    store   a folder; True: ``.wf`` beside ``workflow.toml``, else in the current folder; False: nothing is stored

    They are one run in the store, whose id is returned. Starting again ends the one before.
    """
    import atexit

    from workflow._native import start_direct_store

    if store is False:
        return None
    run_id = start_direct_store(os.environ.get("WF_STORE", "") if store is True else os.fspath(store))
    atexit.unregister(stop)
    atexit.register(stop)
    return run_id


def stop() -> None:
    """End what `start` began: everything is written when this returns. Without a `start` it does nothing."""
    from workflow._native import stop_direct_store

    stop_direct_store()


def start_http_server(
    port: int = 0, address: str = "127.0.0.1", *, token_file: str | os.PathLike[str] | None = None
) -> MetricsServer:
    """Serve /metrics in a thread; port 0 takes a free one. See ``workflow.metrics`` for users' own metrics."""
    from workflow import _metrics_server

    return _metrics_server.start_http_server(port, address, token_file=token_file)


def collector() -> Any:
    """A collector for a registry of `prometheus_client`, so that its page shows our families too."""
    from workflow import _metrics_server

    return _metrics_server.collector()


def set_namespace(name: str) -> None:
    """Prefix our own families: ``workflow`` gives ``workflow_duration_seconds``. Once, before the first task."""
    from workflow import _metrics_server

    _metrics_server.set_namespace(name)
