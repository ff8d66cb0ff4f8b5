"""Runs a `wf run --metrics-port 0` command and scrapes its /metrics while it works, as Prometheus would."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

FAMILIES = ("task_running", "duration_seconds_count", "duration_seconds_sum", "cpu_seconds_total")
INTERVAL_S = 0.5
_SCRAPE_TIMEOUT_S = 5.0
_PATIENCE_S = (2.0, 15.0)
_ADDRESS = re.compile(r"^metrics: (http://\S+)")

Say = Callable[[str], None]


class Watcher:
    """Scrapes one address from a thread of its own and says what is new each time another task runs."""

    def __init__(self, address: str, say: Say) -> None:
        self._address = address
        self._say = say
        self._shown: dict[str, str] = {}
        self._running: set[str] = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="scraper", daemon=True)
        # Loopback is not reached through a proxy that the environment names.
        self._open = build_opener(ProxyHandler({})).open
        self._thread.start()

    def close(self) -> None:
        """Ends the thread."""
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(INTERVAL_S):
            try:
                with self._open(self._address, timeout=_SCRAPE_TIMEOUT_S) as answer:
                    self._show(answer.read().decode())
            except (URLError, OSError):
                continue  # the run is over, and its page with it

    def _show(self, page: str) -> None:
        values = dict(interesting(page))
        running = {series for series in values if series.startswith("task_running")}
        if not running or running == self._running:
            return
        self._running = running
        self._say(f"  $ curl {self._address}")
        for series, value in values.items():
            if series in running or self._shown.get(series) != value:
                self._say(f"  | {series} {value}")
        self._shown = values


def interesting(page: str) -> Iterator[tuple[str, str]]:
    """The series and values that the demo shows of a page: those of its tasks which are not 0."""
    for line in page.splitlines():
        series, _, value = line.rpartition(" ")
        name, _, labels = series.partition("{")
        if name not in FAMILIES or 'task="' not in labels or float(value) == 0:
            continue
        if 'status="' not in labels or 'status="success"' in labels:
            yield series, value


def _stop(process: subprocess.Popen[str]) -> None:
    """Ctrl-C lets running tasks end; a second one gives them up; then nobody is asked any more."""
    for patience_s in _PATIENCE_S:
        if process.poll() is not None:
            return
        process.send_signal(signal.SIGINT)
        try:
            process.wait(patience_s)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            continue
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def started(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Starts the command; whatever happens in the block, nothing of it is left at the end.

    It has a session of its own, so that it is we who pass Ctrl-C on, once, and then wait for its orderly end.
    """
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        _stop(process)
        assert process.stderr is not None
        process.stderr.close()


def watch_run(command: list[str], say: Say) -> int:
    """Runs the command, says its own lines and those of its metrics page, and returns its exit code."""
    watcher: Watcher | None = None
    with started(command) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                say(f"  {line.rstrip()}")
                address = _ADDRESS.match(line)
                if address and watcher is None:
                    watcher = Watcher(address[1], say)
            return process.wait()
        finally:
            if watcher is not None:
                watcher.close()
