"""A terminal for tests: a program on a pty, and the screen that it draws, read by pyte."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator

import pyte

PATIENCE_S = 60.0
QUIET_S = 0.1


class Terminal:
    """A session leader on a terminal of its own; `text()` is what an onlooker sees."""

    def __init__(self, command: list[str], env: dict[str, str], columns: int = 100, rows: int = 24) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=10_000, ratio=0.5)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.status: int | None = None
        begin, go = os.pipe()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.read(begin, 1)  # until the window has its size
            os.close(begin)
            os.close(go)
            os.execve(command[0], command, env)
        self.modes = termios.tcgetattr(self.fd)
        self.set_size(columns, rows)
        os.write(go, b"x")
        os.close(begin)
        os.close(go)

    def set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        self.set_size(columns, rows)

    def send(self, keys: str) -> None:
        os.write(self.fd, keys.encode())

    def read(self, seconds: float) -> bool:
        """Takes in what comes meanwhile; False when the other side is closed."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:  # EIO: nobody has the terminal open any more
            return False
        self.raw += data
        # What the terminal answers is of no interest here.
        self.stream.feed(re.sub(rb"\x1b\[\?[0-9;]*[cn]", b"", data))
        return bool(data)

    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    def text(self) -> str:
        return "\n".join(self.lines())

    def scrollback(self) -> str:
        """All that went by, the screen included."""
        above = ["".join(line[x].data for x in range(self.screen.columns)) for line in self.screen.history.top]
        return "\n".join([*(line.rstrip() for line in above), *self.lines()])

    def wait_for(self, wanted: str | Callable[[str], bool]) -> str:
        """The screen as soon as it matches."""
        matches = wanted if callable(wanted) else lambda text: re.search(wanted, text) is not None
        deadline = time.monotonic() + PATIENCE_S
        while True:
            size, is_open = len(self.raw), self.read(QUIET_S)
            is_whole = len(self.raw) == size  # else more of the picture may be on its way
            if is_whole and matches(self.text()):
                return self.text()
            assert is_open, f"{wanted} did not come before the end:\n{self.text()}"
            assert time.monotonic() < deadline, f"{wanted} did not come:\n{self.text()}\n{self.raw[-2000:]!r}"

    def settings(self) -> list[object]:
        return list(termios.tcgetattr(self.fd))

    def is_as_before(self) -> bool:
        """Whether the modes are those from before the program, and the main screen is shown."""
        used = self.raw.count(b"\x1b[?1049h") == self.raw.count(b"\x1b[?1049l")
        return used and termios.tcgetattr(self.fd) == self.modes

    def wait(self) -> int:
        """The exit code, as subprocess has it."""
        deadline = time.monotonic() + PATIENCE_S
        while self.status is None:
            assert time.monotonic() < deadline, f"it did not end:\n{self.text()}"
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        while select.select([self.fd], [], [], 0)[0] and self.read(0):
            pass
        return self.status

    def close(self) -> None:
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


@contextlib.contextmanager
def terminal(command: list[str], env: dict[str, str], columns: int = 100, rows: int = 24) -> Iterator[Terminal]:
    opened = Terminal(command, env, columns, rows)
    try:
        yield opened
    finally:
        opened.close()
