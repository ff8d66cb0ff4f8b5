"""Executor "processes": our own pool of worker processes.

One thread of this process serves one worker process: it takes a ready node, sends it, waits for the answer or the
worker's death (pidfd), and reports. The thread that starts a worker lives as long as the worker does. A worker is
started when its first task comes. When one dies only the task it had is lost; the next task gets a new worker.
"""

from __future__ import annotations

import contextlib
import logging
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

from workflow import _transport
from workflow._native import add_delta, core
from workflow._worker import RemoteTraceback
from workflow.errors import TaskError

if TYPE_CHECKING:
    from workflow._native import Engine, Job

__all__ = ["ProcessesExecutor"]

_TICK_S = 0.1  # how long the end of the run or a cancel may stay unnoticed
_GRACE_S = 2.0  # from the closing of its socket to the killing of a worker


class _Died(Exception):
    """The worker ended in the middle of a task; the text says how."""


class _Cancelled(Exception):
    """The run cancelled the task that the worker has."""


def _how_it_died(status: int, used: resource.struct_rusage, pid: int) -> str:
    peak = f"peak memory {used.ru_maxrss / 1024:.0f} MiB"
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"its worker process {pid} exited with status {code} in the middle of the task ({peak})"
    try:
        name = f" ({signal.Signals(-code).name})"
    except ValueError:
        name = ""
    likely = "; unless somebody killed it, the kernel ran out of memory" if code == -signal.SIGKILL else ""
    return f"its worker process {pid} was killed by signal {-code}{name} ({peak}{likely})"


class _Process:
    """One worker process and the socket to it."""

    def __init__(self, engine: Engine, config: dict[str, Any]) -> None:
        self._engine = engine
        ours, theirs = socket.socketpair()
        with theirs:
            code = f"import sys; sys.path[:] = {sys.path!r}; from workflow._worker import main; main({theirs.fileno()})"
            flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
            try:
                self._process = subprocess.Popen(
                    [sys.executable, *flags, "-c", code], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
                )
            except OSError:
                ours.close()
                raise
        self.channel = ours
        self.pid = self._process.pid
        self.known: set[int] = set()  # functions it has
        self._pidfd = os.pidfd_open(self.pid)
        self._poll = select.poll()
        self._poll.register(ours.fileno(), select.POLLIN | select.POLLHUP)
        self._poll.register(self._pidfd, select.POLLIN)
        _transport.send(ours, _transport.encode(config))

    def wait(self) -> bool:
        """Waits a moment for a message. True: there is one. _Died when the process has ended and left none."""
        events = dict(self._poll.poll(_TICK_S * 1000))
        if events.get(self.channel.fileno(), 0) & select.POLLIN:
            return True
        if self._pidfd in events or self.channel.fileno() in events:
            raise _Died(self.end(0))
        return False

    def end(self, grace_s: float) -> str:
        """Let it end, after the grace by force; says how it ended. Nothing of it is left afterwards."""
        self.channel.close()
        ended = select.poll()
        ended.register(self._pidfd, select.POLLIN)
        if not ended.poll(grace_s * 1000):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            ended.poll()
        self._engine.end_process(self.pid)  # not waited for yet, so /proc still has its last CPU seconds
        try:
            _, status, used = os.wait4(self.pid, 0)
        except ChildProcessError:  # the program reaps every child itself
            return f"its worker process {self.pid} ended in the middle of the task"
        finally:
            os.close(self._pidfd)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return _how_it_died(status, used, self.pid)


class _Code:
    """Pickled functions, made once for all workers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._codes: dict[int, tuple[Any, bytes]] = {}

    def of(self, function: Any) -> tuple[int, bytes]:
        with self._lock:
            key = id(function)
            if key not in self._codes:
                self._codes[key] = (function, _transport.dumps(function))
            return key, self._codes[key][1]


class _Slot:
    """A thread and its worker process."""

    def __init__(self, pool: ProcessesExecutor, engine: Engine, index: int) -> None:
        self._pool = pool
        self._engine = engine
        self._index = index
        self._worker: _Process | None = None
        self._number = 0  # of the worker among the processes of the run
        self.thread = threading.Thread(target=self._serve, name=f"wf-pool-{index}", daemon=True)

    def _serve(self) -> None:
        try:
            while not self._pool.stopping:
                job = self._engine.take(_TICK_S)
                if job is not None:
                    self._work(job)
                elif self._engine.finished():
                    break
        finally:
            if self._worker is not None:
                self._worker.end(0 if self._pool.abandoned else _GRACE_S)

    def _work(self, job: Job) -> None:
        engine = self._engine
        if not engine.begin(job, self._index, True):
            return
        try:
            self._exchange(job)
        except _Died as died:
            self._worker = None
            error = TaskError(f"task '{job.task}' (node {job.node}): {died}")
            engine.finish(job, "lost", exception=error, cause=str(died), process=self._number)
        except _Cancelled:
            self._drop_worker()
            engine.finish(job, "cancelled", cause=engine.cancel_reason(), process=self._number)
        except TaskError as error:
            engine.finish(job, "error", exception=error, cause=str(error), process=self._number)
        except BaseException as error:  # ours; the node must not hang
            self._drop_worker()
            engine.finish(job, "error", exception=error, process=self._number)

    def _drop_worker(self) -> None:
        if self._worker is not None:
            self._worker.end(0)
            self._worker = None

    def _exchange(self, job: Job) -> None:
        parts, code = self._request(job)
        worker = self._ready_worker()
        self._engine.runs_in(job, worker.pid)
        try:
            if code is not None and code[0] not in worker.known:
                _transport.send(worker.channel, _transport.encode(("code", {"key": code[0]}, code[1])))
                worker.known.add(code[0])
            _transport.send(worker.channel, parts)
        except _transport.Closed:
            raise _Died(worker.end(0)) from None
        while True:
            if self._pool.is_cancelled(job.node):
                raise _Cancelled
            if not worker.wait():
                continue
            try:
                message = _transport.receive(worker.channel)
            except _transport.Closed:
                raise _Died(worker.end(0)) from None
            if self._handle(job, message):
                return

    def _ready_worker(self) -> _Process:
        if self._worker is None:
            try:
                self._worker = _Process(self._engine, self._pool.config)
            except OSError as error:
                raise TaskError(f"no worker process could be started: {error}; fewer --workers may help") from error
            self._number = self._engine.put_process(self._worker.pid, f"worker {self._index}")
        return self._worker

    def _request(self, job: Job) -> tuple[list[Any], tuple[int, bytes] | None]:
        """The message for `job`. TaskError that names the part which cannot be sent."""
        try:
            code = self._pool.code.of(job.function)
        except Exception as error:
            raise TaskError(f"the code of task '{job.task}' cannot be sent to a worker process: {error}") from error
        header = {
            "key": code[0],
            "task": job.task,
            "kind": _kind(job),
            "node": job.node,
            "attempt": job.attempt,
            "number": job.number,
            "map_index": job.map_index,
            "sampled": job.sampled,
        }
        try:
            # Values are a message inside the message: what fails to unpickle in the worker fails the task there.
            inner = _transport.encode((job.args, job.kwargs))
            return _transport.encode(("run", header, _as_received(inner))), code
        except Exception as error:
            named: dict[Any, Any] = {**dict(enumerate(job.args)), **job.kwargs}
            reason = _transport.why_not(named, "argument")
            raise TaskError(
                f"an argument of task '{job.task}' cannot be sent to a worker process: {reason}. "
                f"Pass something that can be pickled, or use the executor threads"
            ) from error

    def _handle(self, job: Job, message: Any) -> bool:
        """Deal with one message of the worker. True: it was the last one of this task."""
        try:
            content = _transport.decode(message)
        except Exception as error:
            raise TaskError(f"the result of task '{job.task}' cannot be read here: {error}") from error
        if content[0] == "log":
            for stream, level, text, attempt, time_ns in content[1]:
                self._engine.put_log(stream, level, text, attempt, time_ns)
            return False
        kind, (start_ns, end_ns, usage, tid, counted), body = content
        self._pool.count(counted)
        figures = {
            "usage": usage,
            "start_ns": start_ns,
            "end_ns": end_ns,
            "worker": self._index,
            "process": self._number,
            "tid": tid,
        }
        if kind == "done":
            self._engine.finish(job, "success", result=body, **figures)
        elif kind == "unpicklable":
            text = (
                f"the result of task '{job.task}' cannot be sent back from its worker process: {body}. "
                f"Return something that can be pickled, or use the executor threads"
            )
            self._engine.finish(job, "error", exception=TaskError(text), cause=text, **figures)
        else:
            status, data, cause, trace = body
            raised = _revive(job, data, cause, trace)
            self._engine.finish(job, status, exception=raised, cause=cause, traceback=trace, **figures)
        return True


def _kind(job: Job) -> str:
    function: Any = job.function
    kind: str = function.kind
    return kind


def _as_received(parts: list[Any]) -> tuple[bytearray, list[Any]]:
    import pickle

    return bytearray(parts[1]), [pickle.PickleBuffer(part) for part in parts[2:]]


def _revive(job: Job, data: bytes | None, cause: str, trace: str) -> BaseException:
    """The user's exception, with the worker's traceback shown first; a TaskError when it could not travel."""
    import pickle

    error: BaseException | None = None
    if data is not None:
        with contextlib.suppress(Exception):
            error = pickle.loads(data)
    if not isinstance(error, BaseException):
        error = TaskError(f"task '{job.task}' raised {cause}")
    error.__cause__ = RemoteTraceback(trace)
    return error


class ProcessesExecutor:
    """A pool of worker processes for one run."""

    def __init__(self) -> None:
        self.stopping = False
        self.abandoned = False
        self.config: dict[str, Any] = {}  # what a new worker is told
        self.code = _Code()
        self._engine: Engine | None = None
        self._slots: list[_Slot] = []
        self._cancelled: set[int] = set()
        self._told = False

    def start(self, engine: Engine, workers: int) -> None:
        self._engine = engine
        self.config = {
            "run_id": engine.run_id,
            "workflow": engine.workflow,
            "namespace": core.metrics_namespace(),  # what it counts is added to our families: same names
            "sampler": engine.sampler_pid,  # who may read its memory; 0: nobody
        }
        self._slots = [_Slot(self, engine, index) for index in range(workers)]
        for slot in self._slots:
            slot.thread.start()

    def is_cancelled(self, node: int) -> bool:
        """Has the run asked for the end of this node's attempt?"""
        if self._engine is not None:
            self._cancelled.update(self._engine.take_cancels())
        return node in self._cancelled

    def count(self, counted: list[tuple[Any, ...]]) -> None:
        """Add what a worker counted to this process's metrics; says once when some of it has no place there."""
        dropped = add_delta(counted) if counted else ""
        if dropped and not self._told:
            self._told = True
            logging.getLogger("workflow").warning("a metric of a worker process was dropped: %s", dropped)

    def drive(self) -> None:
        assert self._engine is not None
        while not self._engine.wait(_TICK_S):
            pass

    def stop(self, *, abandon: bool) -> None:
        self.stopping = True
        self.abandoned = abandon
        if abandon and self._engine is not None:
            self._engine.cancel("the run was given up")  # so that threads that wait for a task end it
        for slot in self._slots:
            slot.thread.join()
        self._slots = []
        self._engine = None
