"""One run from start to end: settings, body, executor, capture, state."""

from __future__ import annotations

import functools
import os
import platform
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from workflow import _config, _executors
from workflow._capture import Capture
from workflow._config import Settings
from workflow._interrupt import InterruptWatch, Terminated, is_interrupt
from workflow._native import Engine, building, enter_body, exit_body
from workflow._params import bind, document
from workflow._text import shorten
from workflow._workflow import Failure, Run
from workflow.errors import MetricsError, ParameterTypeError, StoreError, TaskError, WorkflowError

if TYPE_CHECKING:
    import inspect

    from workflow._workflow import Workflow

__all__ = ["Observer", "execute"]

_WF_RUN_STACK_RATE = 100.0  # of `wf run`; elsewhere there are stacks only where a setting asks for them
_SECRET_WORDS = ("password", "passwd", "secret", "token", "apikey", "api_key", "credential", "private_key")


class Observer(Protocol):
    """Who watches a run: the progress of `wf run`."""

    def began(self, run: Run[Any], engine: Engine, settings: Settings) -> None: ...
    def interrupted(self, run: Run[Any], engine: Engine) -> None: ...
    def ended(self, run: Run[Any], engine: Engine) -> None: ...


def execute(
    workflow: Workflow[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    asked: Mapping[str, Any],
    *,
    check: bool = True,
    observer: Observer | None = None,
    argv: list[str] | None = None,
    serve: bool = True,
    sampler: str | None = None,
) -> Run[Any]:
    """Run `workflow` and wait for it; see `Workflow.run`. ``serve=False``: the caller serves the metrics.

    ``sampler``: the file of ``wf``, given by ``wf run``: then stacks are recorded unless a setting says otherwise.
    """
    if building() is not None:
        raise WorkflowError(
            f"{workflow.name}.run(…) inside the body of a workflow: call {workflow.name}(…) there, and its tasks "
            f"become part of the same run"
        )
    bound = bind(workflow.name, workflow.__wrapped__, args, kwargs)
    tags = {**_tags(workflow.defaults.get("tags")), **_tags(asked.get("tags"))}
    built_in_rate = 0 if sampler is None else _WF_RUN_STACK_RATE
    settings = _config.resolve(_only(asked), _only(workflow.defaults), stack_rate=built_in_rate)
    if serve and settings.namespace:
        _choose_namespace(settings.namespace, asked.get("namespace") or workflow.defaults.get("namespace"))
    server = _serve_metrics(settings) if serve else None
    try:
        spec = _spec(workflow, bound, settings, tags, sys.argv if argv is None else argv)
        engine = Engine({**spec, "sampler": sampler or _find_wf() if settings.stack_rate else ""})
        run: Run[Any] = Run(engine, workflow.name)
        _Execution(workflow, bound, settings, engine, run, observer).go()
    finally:
        if server is not None:
            server.close()
    if check and run._error is not None:
        raise run._error
    return run


class _Loss:
    """Says once that the store could not take everything. It knows nothing of the run, which it outlives."""

    def __init__(self) -> None:
        self._told = False

    def __call__(self, reason: str) -> None:
        if not self._told:
            self._told = True
            print(f"workflow: the run goes on, but its record is incomplete: {reason}", file=sys.stderr, flush=True)


class _Execution:
    """The moments of one run. `go` leaves the run final and closed in every case."""

    def __init__(
        self,
        workflow: Workflow[..., Any],
        bound: inspect.BoundArguments,
        settings: Settings,
        engine: Engine,
        run: Run[Any],
        observer: Observer | None,
    ) -> None:
        self._workflow = workflow
        self._bound = bound
        self._settings = settings
        self._engine = engine
        self._run = run
        self._observer = observer
        self._started = time.monotonic()
        self._body_error: BaseException | None = None
        self._loss = _Loss()

    def go(self) -> None:
        engine, run = self._engine, self._run
        engine.on_lost(self._loss)
        executor = _executors.make(str(self._settings.executor))
        try:
            with Capture(engine), InterruptWatch(lambda: engine.cancel("interrupted")) as watch:
                executor.start(engine, int(self._settings.workers or 1))
                self._drive(executor, watch)
            self._conclude(None)
        finally:
            if run.state == "running":  # an error of our own on the way
                run.state, run.cause = "failed", run.cause or "internal error"
            try:
                engine.close(run.state, run.cause)
            except StoreError as error:  # the work is done: that its record is incomplete takes no result away
                self._loss(str(error))
            if engine.stacks_problem:
                _say_no_stacks(engine.stacks_problem)
            if self._observer is not None:
                self._observer.ended(run, engine)

    def _drive(self, executor: _executors.Executor, watch: InterruptWatch) -> None:
        """Body and tasks, until every node is final or the user does not want to wait any longer."""
        abandon = True
        try:
            if self._observer is not None:
                self._observer.began(self._run, self._engine, self._settings)
            self._body()
            executor.drive()
            if watch.caught is not None:  # a task in this thread took it for an error of its own
                raise watch.caught
            abandon = False
        except (KeyboardInterrupt, SystemExit) as interrupt:
            if not is_interrupt(interrupt):
                raise
            abandon = not self._wind_down(executor)
            self._conclude(interrupt)
            raise
        finally:
            executor.stop(abandon=abandon)

    def _body(self) -> None:
        engine = self._engine
        complete = False
        enter_body(engine)
        try:
            self._run.returned = self._workflow.__wrapped__(*self._bound.args, **self._bound.kwargs)
            complete = True
        except BaseException as error:
            if is_interrupt(error):
                raise
            self._body_error = error
            engine.cancel(f"the body of the workflow raised {_one_line(error)}")
        finally:
            exit_body(engine)
            engine.body_ended(complete)
        engine.start()

    def _wind_down(self, executor: _executors.Executor) -> bool:
        """After an interrupt: nothing new starts, what runs is waited for, unless a second interrupt comes."""
        self._engine.cancel("interrupted")
        if self._observer is not None:
            self._observer.interrupted(self._run, self._engine)
        try:
            executor.drive()
        except (KeyboardInterrupt, SystemExit):
            return False
        return True

    def _conclude(self, interrupt: BaseException | None) -> None:
        run, engine = self._run, self._engine
        run.wall_s = time.monotonic() - self._started
        run.errors = [
            failure
            for failure in _failures(engine)
            if interrupt is None or not isinstance(failure.exception, KeyboardInterrupt)
        ]
        first = run.errors[0] if run.errors else None
        if first is not None:
            _note(first.exception, f"in task '{first.task}' (node {first.node}) of run {run.id}; see: wf show {run.id}")
        if interrupt is not None:
            run.state = "cancelled"
            run.cause = _why_interrupted(interrupt)
        elif self._body_error is not None:
            run.state, run.cause = "failed", f"the body raised {_one_line(self._body_error)}"
            if first is None or first.exception is not self._body_error:
                _note(self._body_error, f"in the body of workflow '{run.workflow}', run {run.id}")
            run._error = self._body_error
        elif first is not None:
            run.state, run.cause = "failed", f"task '{first.task}': {_one_line(first.exception)}"
            run._error = first.exception
        elif engine.cancel_reason():
            run.state, run.cause = "cancelled", engine.cancel_reason()
        else:
            run.state = "success"


def _why_interrupted(interrupt: BaseException) -> str:
    if isinstance(interrupt, Terminated):
        return "terminated by SIGTERM"
    if isinstance(interrupt, KeyboardInterrupt):
        return "interrupted by Ctrl-C"
    return f"a signal handler of the program's ended it ({_one_line(interrupt)})"


def _failures(engine: Engine) -> list[Failure]:
    found = []
    for exception, node, task, map_index, status, cause in engine.failures():
        if exception is None:  # it ended without one: its executor dropped it
            exception = TaskError(f"task '{task}' (node {node}): {cause or status}")
        found.append(Failure(task, node, exception, map_index=map_index, status=status, cause=cause))
    return found


def _only(options: Mapping[str, Any]) -> Settings:
    names = ("executor", "workers", "store", "mode", "metrics_port", "namespace", "stack_rate")
    return Settings(**{name: options.get(name) for name in names})


def _tags(tags: Any) -> dict[str, str]:
    if tags is None:
        return {}
    if not isinstance(tags, Mapping):
        raise ParameterTypeError(f"tags={tags!r:.80}: a dict of name and text is needed, such as {{'data': 'march'}}")
    return {str(name): str(value) for name, value in tags.items()}


def _spec(
    workflow: Workflow[..., Any],
    bound: inspect.BoundArguments,
    settings: Settings,
    tags: dict[str, str],
    argv: list[str],
) -> dict[str, Any]:
    file = getattr(getattr(_innermost(workflow.__wrapped__), "__code__", None), "co_filename", "")
    return {
        "store": _store(settings.store),
        "workflow": workflow.name,
        "file": os.path.abspath(file) if os.path.exists(file) else file,
        "argv": [_redacted(word) for word in argv],
        "tags": tags,
        "params": document(bound),
        "executor": settings.executor,
        "workers": 1 if settings.executor == "inline" else settings.workers,
        "mode": settings.mode,
        "mode_overrides": settings.mode_overrides,
        "every": settings.every,
        "cpu": settings.cpu,
        "cpu_overrides": settings.cpu_overrides,
        "stack_rate": settings.stack_rate,
        "commit": _commit(os.path.dirname(os.path.abspath(file))) if settings.store is not False else "",
        "python": platform.python_version(),
    }


def _innermost(function: Any) -> Any:
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def _store(store: Any) -> str | None:
    if store is False:
        return None
    return "" if store is True or store is None else os.fspath(store)


def _redacted(word: str) -> str:
    """``--param password=x`` without the x. What the parameters themselves hold is dealt with by the engine."""
    name, equals, _ = word.partition("=")
    if equals and any(secret in name.lower().replace("-", "_") for secret in _SECRET_WORDS):
        return f"{name}=***"
    return word


@functools.lru_cache(maxsize=16)
def _commit(folder: str) -> str:
    """The git commit of `folder`, with "+dirty" appended when tracked files differ from it; empty outside git."""
    at = folder
    while not os.path.exists(os.path.join(at, ".git")):
        parent = os.path.dirname(at)
        if parent == at:
            return ""
        at = parent
    import subprocess

    command = ["git", "-C", folder, "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _find_wf() -> str:
    """The command ``wf`` of this environment, else of the PATH; a plain "wf" that nobody finds when there is none."""
    import shutil
    import sysconfig

    own = os.path.join(sysconfig.get_path("scripts"), "wf")
    return own if os.access(own, os.X_OK) else shutil.which("wf") or own


def _say_no_stacks(problem: str) -> None:
    print(f"workflow: the run has no stacks, or not all: {problem} (--stack-rate 0: none wanted)", file=sys.stderr)


def _choose_namespace(namespace: str, asked: Any) -> None:
    """Before the first count. What a process counted already cannot get another name: an error for who asked for it
    here; for one whose file or environment says it, the run goes on and a line tells."""
    from workflow import profiling

    try:
        profiling.set_namespace(namespace)
    except MetricsError as error:
        if asked:
            raise
        print(f"workflow: {error}", file=sys.stderr, flush=True)


def _serve_metrics(settings: Settings) -> Any:
    if settings.metrics_port is None:
        return None
    from workflow import profiling

    server = profiling.start_http_server(settings.metrics_port)
    print(f"metrics: http://127.0.0.1:{server.port}/metrics", file=sys.stderr, flush=True)
    return server


def _one_line(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:  # a __str__ of the user's that fails
        text = ""
    return shorten(f"{type(error).__name__}: {text}" if text else type(error).__name__, 300)


def _note(error: BaseException, text: str) -> None:
    add = getattr(error, "add_note", None)  # since Python 3.11
    if add is not None and text not in getattr(error, "__notes__", ()):
        try:
            add(text)
        except Exception:  # an exception class that refuses attributes keeps its own behaviour
            return
