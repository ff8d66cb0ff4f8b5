"""What `wf run` becomes: ``python -m workflow._launch DOCUMENT``, one JSON argument (see src/app/launch.h).

``python -c`` with START does the same, and keeps files of the current folder from standing in for modules that the
start itself imports (a user's ``json.py``).

Exit codes: 0 success, 1 the run failed, 2 wrong input, 3 set-up broken, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
import time
import types
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from workflow._hooks import user_traceback
from workflow._interrupt import Terminated, raise_terminated
from workflow._text import near
from workflow.errors import ParameterError, WorkflowError

if TYPE_CHECKING:
    from workflow._workflow import Run, Workflow

__all__ = ["START", "main", "run"]

START = 'import sys; sys.path[:1] == [""] and sys.path.pop(0); from workflow._launch import run; run()'
FAILED, WRONG_INPUT, BROKEN, INTERRUPTED, TERMINATED = 1, 2, 3, 130, 143


class _Exit(Exception):
    """Leave with a code; what there is to say has been said."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(argv: list[str]) -> int:
    """Run the document in ``argv[1]`` and return the exit code."""
    if len(argv) != 2:
        _say("workflow._launch is started by `wf run`; use that")
        return WRONG_INPUT
    request: dict[str, Any] = json.loads(argv[1])
    if request.get("version") != 1:
        _say(f"wf and the Python package are of different versions ({request.get('version')} and 1); install both anew")
        return BROKEN
    signal.signal(signal.SIGTERM, raise_terminated)
    try:
        return _launch(request)
    except _Exit as left:
        return left.code
    except Terminated:
        return TERMINATED
    except KeyboardInterrupt:
        return INTERRUPTED
    except WorkflowError as error:
        _say(f"wf run: {error}")
        return error.exit_code


def _launch(request: Mapping[str, Any]) -> int:
    target = str(request["target"])
    module = load(target)
    workflow = pick(module, target, request.get("workflow"))
    kwargs = _arguments(workflow, request)
    server = _serve_metrics(request)
    try:
        code = _run(workflow, kwargs, request)
        if server is not None and request.get("linger_s"):
            _linger(float(request["linger_s"]))
    finally:
        if server is not None:
            server.close()
    return code


# --- the file ----------------------------------------------------------------------------------------------------


def module_name(path: Path) -> str:
    """The file's own name, so that what is defined in it pickles by reference; another one when that is taken."""
    name = path.stem
    taken = name in sys.modules or name in sys.stdlib_module_names or name == "workflow"
    return name if name.isidentifier() and not taken else f"wf_run_{''.join(c if c.isalnum() else '_' for c in name)}"


def load(target: str) -> types.ModuleType:
    """Execute the file as a module. Its folder is the first place to import from, as for a script."""
    path = Path(os.path.abspath(target))
    if not path.is_file():
        raise ParameterError(f"{target}: there is no such file")
    if sys.path and sys.path[0] in ("", os.getcwd()):  # put there by `python -m`
        del sys.path[0]
    sys.path.insert(0, str(path.parent))
    sys.argv = [target]
    name = module_name(path)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ParameterError(f"{target}: is no Python file (its name must end in .py)")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except WorkflowError as error:
        sys.stderr.write(user_traceback(error))
        _say(f"wf run: {target} could not be loaded")
        raise _Exit(error.exit_code) from None
    except Exception as error:
        sys.stderr.write(user_traceback(error))
        _say(f"wf run: {target} could not be loaded: nothing was run")
        raise _Exit(BROKEN if isinstance(error, ModuleNotFoundError) else WRONG_INPUT) from None
    return module


def pick(module: types.ModuleType, target: str, asked: str | None) -> Workflow[..., Any]:
    """The workflow called `asked` (by its own name or its variable's), or the only one in the file."""
    from workflow._workflow import Workflow

    found: dict[int, tuple[str, Workflow[..., Any]]] = {}
    for variable, value in vars(module).items():
        if isinstance(value, Workflow):
            found.setdefault(id(value), (variable, value))
    everything = [workflow for _, workflow in found.values()]
    own = [workflow for workflow in everything if workflow.__module__ == module.__name__] or everything
    if asked is not None:
        for workflow in (*own, *everything):
            if workflow.name == asked:
                return workflow
        value = getattr(module, asked, None)
        if isinstance(value, Workflow):
            return value
        names = [workflow.name for workflow in everything]
        raise ParameterError(
            f"{target}: has no workflow '{asked}'{near(asked, names) or '.'} It has {', '.join(names) or 'none'}"
        )
    if not own:
        raise ParameterError(f"{target}: has no workflow; put @workflow.workflow over the function that calls tasks")
    if len(own) > 1:
        choices = " or ".join(f"wf run {target}:{workflow.name}" for workflow in own)
        raise ParameterError(f"{target}: has {len(own)} workflows; say which: {choices}")
    return own[0]


def _arguments(workflow: Workflow[..., Any], request: Mapping[str, Any]) -> dict[str, Any]:
    from workflow import _params

    values: dict[str, Any] = {}
    if request.get("params_file"):
        values = _params.read_file(Path(request["params_file"]))
    return _params.from_text(workflow.name, workflow.__wrapped__, request.get("params") or {}, values)


# --- the run -----------------------------------------------------------------------------------------------------


class _Watch:
    """Passes on to the progress, and keeps the run for when it is interrupted."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.run: Run[Any] | None = None

    def began(self, run: Run[Any], engine: Any, settings: Any) -> None:
        self.run = run
        self._inner.began(run, engine, settings)

    def interrupted(self, run: Run[Any], engine: Any) -> None:
        self._inner.interrupted(run, engine)

    def ended(self, run: Run[Any], engine: Any) -> None:
        self._inner.ended(run, engine)


def _run(workflow: Workflow[..., Any], kwargs: dict[str, Any], request: Mapping[str, Any]) -> int:
    from workflow import _progress
    from workflow._run import execute

    asked = {name: request.get(name) for name in ("executor", "workers", "store", "mode", "stack_rate")}
    asked["tags"] = request.get("tags") or None
    as_json, quiet = bool(request.get("json")), bool(request.get("quiet"))
    watch = _Watch(_progress.choose(quiet=quiet or as_json))
    stdout = sys.stdout
    if as_json:
        sys.stdout = sys.stderr  # stdout is for the document alone
    argv = _command_line(request)
    sampler = request.get("sampler") or None
    code = None
    try:
        run = execute(workflow, (), kwargs, asked, check=False, observer=watch, argv=argv, serve=False, sampler=sampler)
    except KeyboardInterrupt as interrupt:
        if watch.run is None:
            raise
        run = watch.run
        code = TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED
    finally:
        if as_json:
            sys.stdout = stdout
    if code is None:
        code = 0 if run.state == "success" else FAILED
    _tell(run, quiet=quiet, as_json=as_json)
    return code


def _tell(run: Run[Any], *, quiet: bool, as_json: bool) -> None:
    stored = bool(run._engine.store_folder)
    where = f" in run {run.id}; see: wf show {run.id}" if stored else ""
    if run._error is not None:
        sys.stderr.write(user_traceback(run._error))
        if run.errors:
            others = f" and {len(run.errors) - 1} more" if len(run.errors) > 1 else ""
            _say(f"wf run: task '{run.errors[0].task}'{others} failed{where}")
        else:
            _say(f"wf run: the body of workflow '{run.workflow}' failed{where}")
    if as_json:
        print(json.dumps(_document(run), ensure_ascii=False), flush=True)
    elif not quiet:
        hint = f"; what took the time: wf report {run.id}" if stored else ""
        cause = f" ({run.cause})" if run.state == "cancelled" and run.cause else ""
        _say(f"run {run.id}: {run.state}{cause} in {run.wall_s:.2f} s{hint}")


def _document(run: Run[Any]) -> dict[str, Any]:
    from workflow._text import shorten

    result: str | None = None
    if run.state == "success":
        try:
            result = shorten(repr(run.result()), 10_000)
        except Exception as error:  # a repr of the user's that fails
            result = f"<its repr raises {type(error).__name__}>"
    return {
        "version": 1,
        "run": run.id,
        "workflow": run.workflow,
        "state": run.state,
        "cause": run.cause,
        "wall_s": round(run.wall_s, 6),
        "nodes": run.counts(),
        "result": result,
        "failed": [{"task": failure.task, "node": failure.node} for failure in run.errors],
    }


def _command_line(request: Mapping[str, Any]) -> list[str]:
    """The command as it was typed, nearly; parameters have a place of their own in the store."""
    target = str(request["target"])
    words = ["wf", "run", f"{target}:{request['workflow']}" if request.get("workflow") else target]
    for name in ("executor", "workers", "mode", "store", "metrics_port", "stack_rate"):
        if request.get(name) is not None:
            words += [f"--{name.replace('_', '-')}", str(request[name])]
    if request.get("params_file"):
        words += ["--params", str(request["params_file"])]
    return words


# --- metrics -----------------------------------------------------------------------------------------------------


def _serve_metrics(request: Mapping[str, Any]) -> Any:
    from workflow import _config, profiling

    asked = _config.Settings(metrics_port=request.get("metrics_port"), namespace=request.get("namespace"))
    settings = _config.resolve(asked, _config.Settings())
    if settings.namespace:
        profiling.set_namespace(settings.namespace)
    if settings.metrics_port is None:
        return None
    address = str(request.get("metrics_address") or "127.0.0.1")
    server = profiling.start_http_server(settings.metrics_port, address, token_file=request.get("token_file"))
    shown = f"[{address}]" if ":" in address else address
    _say(f"metrics: http://{shown}:{server.port}/metrics")
    return server


def _linger(seconds: float) -> None:
    _say(f"metrics stay for {seconds:g} s more; Ctrl-C ends them")
    try:
        time.sleep(seconds)
    except KeyboardInterrupt:
        return


def _leave(code: int) -> NoReturn:
    """End the process. Threads of an abandoned run must not keep it or run into its dismantling."""
    import threading

    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            code = code or BROKEN
    stuck = any(thread.name.startswith("wf-worker") and thread.is_alive() for thread in threading.enumerate())
    if stuck:
        os._exit(code)
    sys.exit(code)


def run() -> NoReturn:
    """The whole program: `main`, then the end of the process."""
    _leave(main(sys.argv))


if __name__ == "__main__":
    run()
