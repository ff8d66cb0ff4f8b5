"""Settings of a run and where they come from.

Precedence: command line or arguments of ``.run`` > environment (WF_*) > decorator > ``workflow.toml`` > built-in.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from workflow._text import near
from workflow.errors import ConfigError

__all__ = ["FILE_NAME", "Settings", "find_file", "load_file", "read_toml", "resolve", "usable_cpus"]

FILE_NAME = "workflow.toml"
MODES = ("always", "sample", "off")


class Settings:
    """What one source says; None: it says nothing."""

    __slots__ = (
        "cpu",
        "cpu_overrides",
        "every",
        "executor",
        "metrics_port",
        "mode",
        "mode_overrides",
        "namespace",
        "stack_rate",
        "store",
        "workers",
    )

    def __init__(self, **values: Any) -> None:
        self.executor: str | None = None
        self.workers: int | None = None
        self.mode: str | None = None
        # The mode was asked for on the command line, by an argument or in the environment: it beats the decorators.
        self.mode_overrides = False
        self.every: int | None = None
        self.cpu: bool | None = None
        self.cpu_overrides = False  # likewise
        self.store: str | bool | None = None
        self.metrics_port: int | None = None
        self.namespace: str | None = None
        self.stack_rate: float | None = None
        for name, value in values.items():
            setattr(self, name, value)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("a text is needed")
    return value


def _mode(value: Any) -> str:
    if value not in MODES:
        raise ValueError(f"one of always, sample, off is needed{near(str(value), MODES)}")
    return str(value)


def _executor(value: Any) -> str:
    from workflow._executors import NAMES

    if value not in NAMES:
        raise ValueError(f"one of {', '.join(NAMES)} is needed{near(str(value), NAMES)}")
    return str(value)


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if isinstance(value, str) and re.fullmatch(r"\s*\d+\s*", value):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ValueError(f"a whole number from {least} to {most} is needed")
        return value

    return check


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false is needed")
    return value


def _truth(value: Any) -> bool:
    truth = {"true": True, "1": True, "false": False, "0": False}.get(str(value).lower())
    if truth is None:
        raise ValueError("true or false is needed")
    return truth


def _namespace(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*|", value):
        raise ValueError("letters, digits and '_' are allowed, a letter first")
    return value


def _stack_rate(value: Any) -> float:
    try:
        rate = float(value) if not isinstance(value, bool) else -1.0
    except (TypeError, ValueError):
        rate = -1.0
    if rate != 0 and not 0.01 <= rate <= 10_000:
        raise ValueError("samples per second are needed, from 0.01 to 10000, or 0 for no stacks")
    return rate


_WORKERS, _PORT, _EVERY = _whole(1, 4096), _whole(0, 65535), _whole(1, 2**31 - 1)

# section -> key -> (name in Settings, check). A key not in here is an error; a section not in here may belong to a
# later version of the command line, which reads the same file, and only the ones named are ours.
_FILE_KEYS: dict[str, dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "profiling": {
        "mode": ("mode", _mode),
        "every": ("every", _EVERY),
        "cpu": ("cpu", _boolean),
        "stack_rate": ("stack_rate", _stack_rate),
    },
    "run": {"executor": ("executor", _executor), "workers": ("workers", _WORKERS)},
    "metrics": {"namespace": ("namespace", _namespace), "port": ("metrics_port", _PORT)},
}
_ENVIRONMENT: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "WF_MODE": ("mode", _mode),
    "WF_CPU": ("cpu", _truth),
    "WF_STACK_RATE": ("stack_rate", _stack_rate),
    "WF_EXECUTOR": ("executor", _executor),
    "WF_WORKERS": ("workers", _WORKERS),
    "WF_STORE": ("store", _text),
    "WF_METRICS_PORT": ("metrics_port", _PORT),
    "WF_NAMESPACE": ("namespace", _namespace),
}


def find_file(start: Path | None = None) -> Path | None:
    """The nearest ``workflow.toml``, from `start` (the current folder) upwards."""
    folder = (start or Path.cwd()).absolute()
    for candidate in (folder, *folder.parents):
        path = candidate / FILE_NAME
        if path.is_file():
            return path
    return None


def read_toml(path: Path) -> dict[str, Any]:
    """The document in `path`; ConfigError when it cannot be read."""
    try:
        toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    except ModuleNotFoundError:
        raise ConfigError(
            f"{path}: Python has read TOML files since 3.11; on this one install the package tomli "
            f"(pip install tomli), or use JSON where that is accepted"
        ) from None
    try:
        with open(path, "rb") as file:
            document: dict[str, Any] = toml.load(file)
            return document
    except toml.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not TOML: {error}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8: {error}") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None


def load_file(path: Path | None) -> Settings:
    """The settings of a ``workflow.toml``; of none, nothing."""
    settings = Settings()
    if path is None:
        return settings
    document = read_toml(path)
    for section, keys in document.items():
        known = _FILE_KEYS.get(section)
        if known is None:
            _check_section(path, section, keys)
            continue
        if not isinstance(keys, dict):
            raise ConfigError(f"{path}:{_line_of(path, None, section)}: '{section}' must be a table: [{section}]")
        for key, value in keys.items():
            if key not in known:
                raise ConfigError(
                    f"{path}:{_line_of(path, section, key)}: unknown key '{key}' in [{section}]{near(key, known)} "
                    f"(known: {', '.join(known)})"
                )
            name, check = known[key]
            try:
                setattr(settings, name, check(value))
            except ValueError as error:
                where = f"{path}:{_line_of(path, section, key)}"
                raise ConfigError(f"{where}: [{section}] {key} = {value!r}: {error}") from None
    return settings


def _check_section(path: Path, section: str, keys: Any) -> None:
    # Sections for other parts of the program pass ([limits], [report], …); what looks like a slip does not.
    line = _line_of(path, None, section)
    if not isinstance(keys, (dict, list)):
        raise ConfigError(f"{path}:{line}: '{section}' is in no section; ours are [profiling], [run], [metrics]")
    hint = near(section, _FILE_KEYS)
    if hint:
        raise ConfigError(f"{path}:{line}: unknown section [{section}]{hint}")


def _line_of(path: Path, section: str | None, key: str) -> int:
    """The line of a key; the readers of TOML do not tell it."""
    here: str | None = None
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return 1
    for number, line in enumerate(lines, 1):
        header = re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line)
        if header:
            here = header.group(1).strip("\"'")
            if section is None and here == key:
                return number
        elif re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line) and here == section:
            return number
    return 1


def from_environment(environment: Mapping[str, str]) -> Settings:
    """The settings of the WF_* variables; one that is empty counts as not set."""
    settings = Settings()
    for variable, (name, check) in _ENVIRONMENT.items():
        value = environment.get(variable)
        if not value:
            continue
        try:
            setattr(settings, name, check(value))
        except ValueError as error:
            raise ConfigError(f"environment variable {variable}={value}: {error}") from None
    return settings


def checked(settings: Settings, source: str) -> Settings:
    """`settings` as they are, or a ConfigError that names `source`."""
    for name, check in (
        ("executor", _executor),
        ("workers", _WORKERS),
        ("mode", _mode),
        ("metrics_port", _PORT),
        ("namespace", _namespace),
        ("stack_rate", _stack_rate),
    ):
        value = getattr(settings, name)
        if value is None:
            continue
        try:
            check(value)
        except ValueError as error:
            raise ConfigError(f"{source}: {name}={value!r}: {error}") from None
    return settings


def resolve(
    asked: Settings, decorator: Settings, environment: Mapping[str, str] | None = None, *, stack_rate: float = 0
) -> Settings:
    """What holds for a run, each setting from the first source that has it; `stack_rate`: the built-in one."""
    checked(asked, "run")
    checked(decorator, "@wf.workflow")
    env = from_environment(os.environ if environment is None else environment)
    file = load_file(find_file())
    built_in = Settings(executor="threads", mode="always", every=10, cpu=True, store="", stack_rate=stack_rate)
    merged = Settings()
    for name in ("executor", "workers", "mode", "every", "cpu", "store", "metrics_port", "namespace", "stack_rate"):
        for source in (asked, env, decorator, file, built_in):
            value = getattr(source, name)
            if value is not None:
                setattr(merged, name, value)
                break
    merged.mode_overrides = asked.mode is not None or env.mode is not None
    merged.cpu_overrides = asked.cpu is not None or env.cpu is not None
    if merged.workers is None:
        merged.workers = min(32, usable_cpus() + 4)
    return merged


def usable_cpus() -> int:
    """The CPUs that this process may run on."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:
        return max(1, os.cpu_count() or 1)
