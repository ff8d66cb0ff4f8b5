"""Settings: where they come from, which wins, and what is said about wrong ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from workflow import _config
from workflow._config import Settings
from workflow.errors import ConfigError

if sys.version_info < (3, 11):
    pytest.importorskip("tomli")


def resolve(asked=None, decorator=None, env=None):
    return _config.resolve(Settings(**(asked or {})), Settings(**(decorator or {})), env or {})


def write(text, folder="."):
    path = Path(folder) / "workflow.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_built_in_settings_hold_without_any_source():
    settings = resolve()
    assert (settings.executor, settings.mode, settings.every, settings.store) == ("threads", "always", 10, "")
    assert settings.workers == min(32, _config.usable_cpus() + 4)
    assert not settings.mode_overrides


SOURCES = ["asked", "env", "decorator", "file", "built-in"]


@pytest.mark.parametrize("first", range(len(SOURCES)), ids=SOURCES)
def test_precedence(first):
    """Of all sources from `first` on, the first one wins."""
    executors = ["inline", "processes", "async", "inline", "threads"]
    present = SOURCES[first:]
    if "file" in present:
        write('[run]\nexecutor = "inline"\n')
    settings = resolve(
        {"executor": "inline"} if "asked" in present else None,
        {"executor": "async"} if "decorator" in present else None,
        {"WF_EXECUTOR": "processes"} if "env" in present else None,
    )
    assert settings.executor == executors[first]


def test_a_mode_from_outside_beats_the_decorators_of_tasks_and_one_from_the_file_does_not():
    write('[profiling]\nmode = "sample"\nevery = 4\ncpu = false\n')
    assert (resolve().mode, resolve().mode_overrides, resolve().every, resolve().cpu) == ("sample", False, 4, False)
    assert resolve({"mode": "off"}).mode_overrides
    assert resolve(env={"WF_MODE": "off"}).mode_overrides


def test_the_file_is_found_upwards(tmp_path, monkeypatch):
    write("[run]\nworkers = 3\n")
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert resolve().workers == 3


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[run]\nexecuter = 'threads'\n", 2, "did you mean 'executor'"),
        ("\n[profiling]\nmode = 'never'\n", 3, "always, sample, off"),
        ("[run]\nworkers = 0\n", 2, "from 1"),
        ("[run]\nworkers = true\n", 2, "whole number"),
        ("[profilin]\nmode = 'off'\n", 1, "did you mean 'profiling'"),
        ("# c\nmode = 'off'\n", 2, "in no section"),
        ("[metrics]\nport = 70000\n", 2, "65535"),
        ("[metrics]\nnamespace = 'a-b'\n", 2, "letters"),
    ],
)
def test_a_wrong_file_names_file_and_line(text, line, said):
    write(text)
    with pytest.raises(ConfigError, match=said) as caught:
        resolve()
    assert f"workflow.toml:{line}:" in str(caught.value)


def test_a_file_that_is_no_toml_is_named():
    write("[run\n")
    with pytest.raises(ConfigError, match=r"workflow.toml: not TOML"):
        resolve()


def test_sections_of_other_parts_of_the_program_pass():
    write("[limits.load]\np95 = 3\n\n[run]\nworkers = 2\n")
    assert resolve().workers == 2


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("WF_MODE", "on"),
        ("WF_WORKERS", "many"),
        ("WF_EXECUTOR", "thread"),
        ("WF_METRICS_PORT", "-1"),
        ("WF_NAMESPACE", "9"),
    ],
)
def test_a_wrong_variable_is_named(variable, value):
    with pytest.raises(ConfigError, match=variable):
        resolve(env={variable: value})


def test_an_empty_variable_is_no_setting():
    assert resolve(env={"WF_MODE": "", "WF_WORKERS": ""}).mode == "always"


def test_environment_values_have_their_types():
    settings = resolve(env={"WF_WORKERS": "7", "WF_METRICS_PORT": "0", "WF_STORE": "here", "WF_NAMESPACE": "app"})
    assert (settings.workers, settings.metrics_port, settings.store, settings.namespace) == (7, 0, "here", "app")
