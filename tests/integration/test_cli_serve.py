"""`wf serve`: the store over HTTP."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_support import WF, environment, run_workflow, wf
from prometheus_client.parser import text_string_to_metric_families


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("serve") / ".wf"
    assert run_workflow(folder, "squares").returncode == 0
    assert run_workflow(folder, "squares", "--param", "fail=true").returncode == 1
    return folder


@contextmanager
def serving(store: Path, *arguments: object) -> Iterator[tuple[subprocess.Popen[str], http.client.HTTPConnection]]:
    command = [str(WF), "serve", "--port", "0", "--store", str(store), *map(str, arguments)]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        match = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        assert match, line
        connection = http.client.HTTPConnection("127.0.0.1", int(match[1]), timeout=30)
        yield process, connection
        connection.close()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=30)


def get(connection: http.client.HTTPConnection, path: str, **headers: str) -> tuple[int, str]:
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    return response.status, response.read().decode()


def get_json(connection: http.client.HTTPConnection, path: str) -> Any:
    status, body = get(connection, path)
    assert status == 200, body
    document = json.loads(body)
    assert document["version"] == 1
    return document


def test_metrics_are_gauges_of_the_last_finished_run(store: Path) -> None:
    with serving(store) as (_, connection):
        status, page = get(connection, "/metrics")
    assert status == 200
    families = {family.name: family for family in text_string_to_metric_families(page)}
    assert {family.type for family in families.values()} == {"gauge"}, "a counter here would count runs twice"
    tasks = {sample.labels["task"]: sample.value for sample in families["task_last_duration_seconds"].samples}
    assert set(tasks) == {"load", "square", "total"}, "mail was skipped in the last run"
    [success] = families["workflow_last_success_timestamp_seconds"].samples
    assert success.labels == {"workflow": "squares"}
    assert success.value > 1.7e9


def test_json_of_the_store(store: Path) -> None:
    with serving(store) as (_, connection):
        runs = get_json(connection, "/api/v1/runs?limit=1")["runs"]
        assert [run["state"] for run in runs] == ["failed"]
        run = runs[0]["id"]
        assert get_json(connection, f"/api/v1/runs/{run}")["run"]["id"] == run
        assert get_json(connection, f"/api/v1/runs/{run}/report")["kind"] == "report"
        assert get(connection, "/healthz")[0] == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/runs/01ZZZZZZZZZZZZZZZZZZZZZZZZ", 404),
        ("/api/v1/runs?limit=x", 400),
        ("/api/v1/runs?page=1", 400),
        ("/no", 404),
    ],
)
def test_what_is_not_there_is_a_problem_and_no_page(path: str, status: int, store: Path) -> None:
    with serving(store) as (_, connection):
        got, body = get(connection, path)
        assert got == status
        if path.startswith("/api"):
            assert json.loads(body)["error"]["message"]


def test_a_run_that_ends_meanwhile_appears(store: Path, tmp_path: Path) -> None:
    folder = tmp_path / ".wf"
    assert run_workflow(folder, "busy", "--param", "spin_s=0.01").returncode == 0
    with serving(folder) as (_, connection):
        assert 'workflow="squares"' not in get(connection, "/metrics")[1]
        assert run_workflow(folder, "squares").returncode == 0
        assert 'workflow="squares"' in get(connection, "/metrics")[1]


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_cleanly(ending: signal.Signals, store: Path) -> None:
    with serving(store) as (process, connection):
        assert get(connection, "/healthz")[0] == 200
        process.send_signal(ending)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 0
        assert errors == ""


def test_a_token_is_asked_for(store: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret\n")
    with serving(store, "--token-file", token) as (_, connection):
        assert get(connection, "/metrics")[0] == 401
        assert get(connection, "/metrics", Authorization="Bearer secret")[0] == 200


def test_an_address_that_others_reach_needs_a_token(store: Path) -> None:
    done = wf("serve", "--address", "0.0.0.0", "--port", "0", "--store", store)
    assert done.returncode == 2
    assert "token" in done.stderr


def test_a_port_in_use_is_named(store: Path) -> None:
    with serving(store) as (_, connection):
        done = wf("serve", "--port", connection.port, "--store", store)
    assert done.returncode == 3
    assert str(connection.port) in done.stderr
