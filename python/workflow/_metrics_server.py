"""Serving the page of this process. Public through ``workflow.profiling``.

The server runs in native threads that never take the GIL: a scrape does not disturb the program, and works while it
computes.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from workflow._native import core
from workflow.errors import ConfigError

__all__ = ["MetricsServer", "collector", "set_namespace", "start_http_server"]

_serving: set[MetricsServer] = set()  # a server whose object nobody keeps goes on serving


class MetricsServer:
    """A running server of /metrics and /healthz; also a context manager that closes it."""

    def __init__(self, port: int, address: str, token: str) -> None:
        self._server = core.MetricsServer(port, address, token)
        _serving.add(self)

    @property
    def port(self) -> int:
        """The port, the real one also when 0 was asked for."""
        return self._server.port

    @property
    def url(self) -> str:
        """Where it listens, such as ``http://127.0.0.1:9100``; the page is under ``/metrics``."""
        return self._server.url

    def close(self) -> None:
        """Stop serving and free the port. Twice is harmless."""
        self._server.close()
        _serving.discard(self)

    def __enter__(self) -> MetricsServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "" if self in _serving else " (closed)"
        return f"<MetricsServer {self.url}{state}>"


def start_http_server(
    port: int = 0,
    address: str = "127.0.0.1",
    token: str | None = None,
    *,
    token_file: str | os.PathLike[str] | None = None,
) -> MetricsServer:
    """Serve /metrics in threads of its own until it is closed or the process ends.

    port        0 takes a free one
    address     others than this machine's own need a token
    token       asked from every client as ``Authorization: Bearer ...``; better in a file
    token_file  a file whose first line is the token
    """
    if token_file is not None:
        token = _read_token(Path(token_file))
    return MetricsServer(port, address, token or "")


def _read_token(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the token file '{path}' cannot be read: {error}; give a readable text file") from error
    token = lines[0].strip() if lines else ""
    if not token:
        raise ConfigError(f"the token file '{path}' has an empty first line; put the token there")
    return token


def set_namespace(name: str) -> None:
    """Prefix our own families: ``workflow`` gives ``workflow_duration_seconds``. Once, before the first task."""
    core.set_metrics_namespace(name)


def collector() -> Any:
    """A collector for a registry of `prometheus_client`."""
    from workflow._prometheus_client import WorkflowCollector

    return WorkflowCollector()
