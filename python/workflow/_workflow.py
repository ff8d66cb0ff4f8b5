"""`@wf.workflow`, and what a workflow and a run are to their user."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from workflow._decorators import kind_of
from workflow._native import Function, Future
from workflow.errors import CancelledError, DecoratorError

if TYPE_CHECKING:
    from workflow._native import Engine, Mode

P = ParamSpec("P")
R = TypeVar("R")

__all__ = ["Failure", "Run", "Workflow", "workflow"]


class Failure:
    """A task that failed in a run.

    task       its name
    node       number of its node in the run
    map_index  its position in a `.map`, else -1
    status     how its last attempt ended: error, timeout or lost
    cause      why, in one line
    exception  the task's own
    """

    __slots__ = ("cause", "exception", "map_index", "node", "status", "task")

    def __init__(
        self,
        task: str,
        node: int,
        exception: BaseException,
        *,
        map_index: int = -1,
        status: str = "error",
        cause: str = "",
    ) -> None:
        self.task = task
        self.node = node
        self.exception = exception
        self.map_index = map_index
        self.status = status
        self.cause = cause

    def __repr__(self) -> str:
        name = self.task if self.map_index < 0 else f"{self.task}[{self.map_index}]"
        return f"<Failure {name} node {self.node} {self.status}: {self.cause}>"


class Run(Generic[R]):
    """A run that has ended.

    id          its name in the store and on the command line
    workflow    the workflow's name
    state       success, failed or cancelled
    cause       why it is not success; else empty
    wall_s      from the start of the body to the last task
    errors      every task that failed, in the order in which they did; `result` raises the first one's exception
    """

    def __init__(self, engine: Engine, workflow: str) -> None:
        self.id: str = engine.run_id
        self.workflow = workflow
        self.state = "running"
        self.cause = ""
        self.wall_s = 0.0
        self.errors: list[Failure] = []
        self.returned: Any = None
        self._engine = engine
        self._error: BaseException | None = None

    def result(self) -> R:
        """What the body returned, with each future in it replaced by its value; raises what the run failed with."""
        if self._error is not None:
            raise self._error
        if self.state == "cancelled":
            raise CancelledError(f"run {self.id} was cancelled{': ' if self.cause else ''}{self.cause}")
        from workflow._resolve import resolve

        value: R = resolve(self.returned)
        return value

    @property
    def futures(self) -> list[Future[Any]]:
        """The futures in what the body returned."""
        from workflow._resolve import futures_in

        return futures_in(self.returned)

    def counts(self) -> dict[str, int]:
        """How many nodes ended in which state."""
        return self._engine.counts()

    def __repr__(self) -> str:
        return f"<Run {self.id} of {self.workflow}: {self.state}>"


class Workflow(Generic[P, R]):
    """A function whose task calls make a graph. Made by `@wf.workflow`.

    Called plainly it is that function: its tasks run at once. Called inside the body of another workflow its tasks
    become part of that run. `run` makes a run of its own.
    """

    __wrapped__: Callable[P, R]

    def __init__(self, function: Callable[P, R], name: str, options: Mapping[str, Any]) -> None:
        self.name = name
        self._options = dict(options)
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.__wrapped__(*args, **kwargs)

    def run(
        self,
        *args: Any,
        executor: str | None = None,
        workers: int | None = None,
        store: Any = None,
        tags: Mapping[str, str] | None = None,
        mode: Mode | None = None,
        metrics_port: int | None = None,
        namespace: str | None = None,
        stack_rate: float | None = None,
        check: bool = True,
        **kwargs: Any,
    ) -> Run[R]:
        """Run it and wait. Raises the first task's own exception, unless ``check=False``: then see ``run.errors``.

        executor      threads (default), inline, processes or async
        workers       how many tasks at a time; by default CPUs + 4, at most 32
        store         a folder; False stores nothing; by default ``.wf`` beside ``workflow.toml`` or here
        tags          words to find the run by
        mode          always (default), sample or off: which runs of a task get the costly probes
        metrics_port  serves /metrics on 127.0.0.1 meanwhile; 0 takes a free port and prints it
        namespace     prefix of our own metrics; the same for all runs of a process
        stack_rate    stacks of all threads so many times per second, by a process beside this one; 0 (default; 100
                      under ``wf run``): none

        A parameter of the workflow that has one of these names is given by position, or here by keyword when the
        option is set with `options`.
        """
        from workflow._run import execute

        asked = {
            "executor": executor,
            "workers": workers,
            "store": store,
            "tags": tags,
            "mode": mode,
            "metrics_port": metrics_port,
            "namespace": namespace,
            "stack_rate": stack_rate,
        }
        own = _parameter_names(self.__wrapped__)
        for name in [name for name, value in asked.items() if name in own and value is not None]:
            kwargs[name] = asked.pop(name)
        run: Run[R] = execute(self, args, kwargs, {**asked}, check=check)
        return run

    def options(self, **options: Any) -> Workflow[P, R]:
        """The same workflow with other settings for `run`: those of `workflow`."""
        _check_options("options", options)
        return Workflow(self.__wrapped__, self.name, {**self._options, **options})

    @property
    def defaults(self) -> Mapping[str, Any]:
        """The settings that were given to the decorator or to `options`."""
        return dict(self._options)

    def __set_name__(self, owner: type, name: str) -> None:
        raise DecoratorError(
            f"@wf.workflow stands over the method {owner.__qualname__}.{name}; a workflow is a plain function, or a "
            f"staticmethod (put @staticmethod above @wf.workflow)"
        )

    def __reduce__(self) -> str:
        return self.__qualname__

    def __copy__(self) -> Workflow[P, R]:
        return self

    def __deepcopy__(self, memo: Any) -> Workflow[P, R]:
        return self

    def __repr__(self) -> str:
        return f"<workflow '{self.name}' of {self.__module__}>"

    if TYPE_CHECKING:
        __name__: str
        __qualname__: str


_OPTIONS = ("executor", "workers", "store", "tags", "mode", "metrics_port", "namespace", "stack_rate")


def _check_options(where: str, options: Mapping[str, Any]) -> None:
    from workflow._text import near

    for name in options:
        if name not in _OPTIONS:
            known = ", ".join(_OPTIONS)
            raise DecoratorError(f"{where}: unknown setting '{name}'{near(name, _OPTIONS)} (known: {known})")


def _parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    return () if code is None else code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


@overload
def workflow(function: Callable[P, R], /) -> Workflow[P, R]: ...
@overload
def workflow(*, name: str | None = None, **options: Any) -> Callable[[Callable[P, R]], Workflow[P, R]]: ...
def workflow(function: Any = None, /, *, name: str | None = None, **options: Any) -> Any:
    """Make a function a workflow: its body runs once, the task calls in it make the graph.

    name      the workflow's name; the function's own by default
    options   defaults for `Workflow.run`: executor, workers, store, tags, mode, metrics_port, namespace,
              stack_rate
    """
    if isinstance(function, str):
        raise DecoratorError(f"@workflow({function!r}): a name goes by keyword: @workflow(name={function!r})")
    if name is not None and (not isinstance(name, str) or not name or not name.isprintable()):
        raise DecoratorError(f"@workflow: name={name!r}: a text of at least one printable character is needed")
    _check_options("@workflow", options)

    def decorate(target: Any) -> Workflow[..., Any]:
        _check_body(target)
        return Workflow(target, name or target.__name__, options)

    return decorate if function is None else decorate(function)


def _check_body(target: Any) -> None:
    if isinstance(target, Workflow):
        raise DecoratorError(f"@workflow stands over '{target.name}', which is a workflow already")
    if isinstance(target, Function) and target.task:
        raise DecoratorError(f"@workflow stands over the task '{target.name}'; a function is one or the other")
    if isinstance(target, (classmethod, staticmethod, property, type)) or not callable(target):
        raise DecoratorError(f"@workflow is for plain functions; this is a {type(target).__name__}: {target!r:.80}")
    if not hasattr(target, "__name__"):
        raise DecoratorError(f"@workflow is for functions with a name; this is {target!r:.80}")
    kind = kind_of(target)
    if kind != "function":
        raise DecoratorError(
            f"@workflow stands over the {kind} function '{target.__name__}'; the body of a workflow only makes the "
            f"graph and is a plain function (its tasks may be async)"
        )
