"""How a run goes, on stderr: one live line on a terminal, plain lines otherwise."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workflow._config import Settings
    from workflow._native import Engine
    from workflow._workflow import Run

__all__ = ["LiveProgress", "PlainProgress", "Quiet", "choose", "line_of"]

_FINAL = ("success", "failed", "skipped", "cancelled", "cached")
_TROUBLES = ("failed", "skipped", "cancelled")


def line_of(counts: dict[str, int], seconds: float) -> str:
    """``12/100 done, 4 running, 1 failed (3.2 s)``."""
    total = sum(counts.get(state, 0) for state in (*_FINAL, "waiting", "ready", "running"))
    parts = [f"{sum(counts.get(state, 0) for state in _FINAL)}/{total} done"]
    parts += [f"{counts[state]} {state}" for state in ("running", *_TROUBLES) if counts.get(state)]
    return f"{', '.join(parts)} ({seconds:.1f} s)"


class Quiet:
    """Says nothing but that an interrupt was understood."""

    def began(self, run: Run[Any], engine: Engine, settings: Settings) -> None:
        pass

    def interrupted(self, run: Run[Any], engine: Engine) -> None:
        running = engine.counts().get("running", 0)
        if running:
            self._say(f"interrupted: waiting for {running} running; press Ctrl-C again to leave at once")

    def ended(self, run: Run[Any], engine: Engine) -> None:
        pass

    def _say(self, text: str) -> None:
        print(text, file=sys.__stderr__, flush=True)


class PlainProgress(Quiet):
    """A line when the run begins, then one when something changed: soon at first, every ten seconds later."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._began = time.monotonic()
        self._last: dict[str, int] = {}

    def began(self, run: Run[Any], engine: Engine, settings: Settings) -> None:
        workers = "" if settings.executor == "inline" else f", {settings.workers} workers"
        self._say(f"run {run.id}: {run.workflow} ({settings.executor}{workers})")
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._watch, args=(engine,), name="wf-progress", daemon=True)
        self._thread.start()

    def ended(self, run: Run[Any], engine: Engine) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self, engine: Engine) -> None:
        pause = 2.0
        while not self._stop.wait(pause):
            counts = engine.counts()
            if counts != self._last:
                self._last = counts
                self._say(f"  {line_of(counts, time.monotonic() - self._began)}")
            pause = min(10.0, pause * 1.5)


class LiveProgress(PlainProgress):
    """One line that is rewritten, with a bar."""

    def __init__(self, console: Any) -> None:
        super().__init__()
        self._console = console
        self._live: Any = None

    def _watch(self, engine: Engine) -> None:
        from rich.live import Live

        with Live(console=self._console, refresh_per_second=8, transient=True, redirect_stdout=False) as live:
            while True:
                live.update(self._picture(engine.counts()))
                if self._stop.wait(0.15):
                    return

    def _picture(self, counts: dict[str, int]) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        done = sum(counts.get(state, 0) for state in _FINAL)
        total = sum(counts.get(state, 0) for state in (*_FINAL, "waiting", "ready", "running"))
        row = Table.grid(padding=(0, 1))
        row.add_row(
            ProgressBar(total=max(1, total), completed=done, width=30), line_of(counts, time.monotonic() - self._began)
        )
        return row


def choose(*, quiet: bool) -> Quiet:
    """What fits the terminal: nothing with -q, a live line on a terminal with `rich`, plain lines otherwise."""
    if quiet:
        return Quiet()
    if sys.stderr is not None and sys.stderr.isatty():
        try:
            from rich.console import Console

            return LiveProgress(Console(stderr=True))
        except ImportError:
            return PlainProgress()
    return PlainProgress()
