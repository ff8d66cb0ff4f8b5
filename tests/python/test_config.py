"""Settings: where they come from, which wins, and what is said about wrong ones."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
import workflow as wf
from conftest import samples
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
        ("WF_CPU", "perhaps"),
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


# --- settings that reach the run ---------------------------------------------------------------------------------


def burn():
    end = time.thread_time() + 0.01
    while time.thread_time() < end:
        pass


def cpu_counted(task):
    found = [float(value) for labels, value in samples("cpu_seconds_total") if labels["task"] == task]
    return sum(found) > 0


@pytest.mark.parametrize("executor", ["inline", "processes"])
@pytest.mark.parametrize(
    ("env", "decorator", "file", "counted"),
    [
        (None, None, None, True),
        (None, None, "false", False),
        (None, True, "false", True),
        (None, False, "true", False),
        ("1", False, "false", True),
        ("false", True, "true", False),
    ],
)
def test_cpu_is_measured_as_environment_decorator_or_file_say(env, decorator, file, counted, executor, monkeypatch):
    name = f"burn-{env}-{decorator}-{file}-{executor}"
    task = wf.task(name=name, cpu=decorator)(burn)
    if env is not None:
        monkeypatch.setenv("WF_CPU", env)
    if file is not None:
        write(f"[profiling]\ncpu = {file}\n")
    wf.workflow(name="cpu")(lambda: task()).run(executor=executor, workers=1, store=False)
    assert cpu_counted(name) is counted


NAMESPACES = r"""
import sys
import urllib.request
import workflow as wf
from workflow._metrics_server import _serving

@wf.profile
def inner():
    return 1

@wf.task
def look():
    return inner()

@wf.workflow
def body():
    return look()

def page():
    return urllib.request.urlopen(next(iter(_serving)).url + "/metrics").read().decode()

class Scrape:
    def write(self, text):
        global seen
        if text.startswith("metrics:"):
            seen = page()
    def flush(self):
        pass

sys.stderr = Scrape()
body.run(metrics_port=0, store=False, executor="processes", workers=1, **OPTIONS)
assert "\nshop_workflow_build_info" in seen, seen
text = wf.metrics.generate_latest().decode()
assert 'shop_duration_seconds_count{workflow="body",task="look",status="success"} 1' in text, text
assert 'shop_duration_seconds_count{workflow="body",task="inner",status="success"} 1' in text, text
assert "\nduration_seconds" not in text, text
"""


@pytest.mark.parametrize("source", ["argument", "environment", "file"])
def test_a_run_that_serves_its_metrics_does_so_in_the_namespace_that_was_chosen(script, source):
    if source == "file":
        write('[metrics]\nnamespace = "shop"\n')
    options = {"namespace": "shop"} if source == "argument" else {}
    env = {"WF_NAMESPACE": "shop"} if source == "environment" else None
    done = script(f"OPTIONS = {options}\n{NAMESPACES}", env=env)
    assert done.returncode == 0, done.stderr + done.stdout


TOO_LATE = """
import workflow as wf

@wf.task
def early():
    return 1

early()
wf.workflow(early.__wrapped__).run(store=False)
"""


def test_a_namespace_that_comes_too_late_stops_only_who_asked_for_it_there(script):
    told = script(TOO_LATE, env={"WF_NAMESPACE": "shop"})
    assert (told.returncode, "already counts with namespace" in told.stderr) == (0, True)
    refused = script(TOO_LATE.replace("store=False", "store=False, namespace='shop'"))
    assert "MetricsError" in refused.stderr
    assert refused.returncode == 1
