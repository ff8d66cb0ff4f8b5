"""`python -m workflow._launch`, the Python side of `wf run`: what it loads, says and ends with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import program_environment
from workflow._launch import START

PIPELINE = """
import sys
import workflow as wf

class Thing:
    pass

@wf.task
def load(path: str):
    print("loading", path)
    return [1, 2, 3]

@wf.task
def fail():
    raise ValueError("as told")

@wf.workflow(name="training")
def train(path: str, epochs: int = 3):
    data = load(path)
    return {"data": data, "epochs": epochs}

@wf.workflow(name="failing")
def failing():
    return fail()

if __name__ == "__main__":
    raise SystemExit("must not run")
"""


def request(target="pipeline.py", **fields):
    document = {
        "version": 1,
        "target": target,
        "workflow": None,
        "params": {},
        "params_file": None,
        "executor": None,
        "workers": None,
        "mode": None,
        "store": None,
        "metrics_port": None,
        "metrics_address": "127.0.0.1",
        "token_file": None,
        "linger_s": 0.0,
        "tags": {},
        "quiet": False,
        "json": False,
        "namespace": None,
    }
    assert not set(fields) - set(document)
    return [sys.executable, "-c", START, json.dumps({**document, **fields})]


@pytest.fixture
def launch(tmp_path):
    def go(*args, text=PIPELINE, name="pipeline.py", env=None, **fields):
        if text is not None:
            (tmp_path / name).write_text(text)
        return subprocess.run(
            request(*(args or (name,)), **fields),
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=program_environment(env),
            timeout=120,
        )

    return go


def test_success_is_0_and_the_last_line_says_the_run(launch):
    done = launch(workflow="training", params={"path": "data.csv", "epochs": "5"})
    assert done.returncode == 0, done.stderr
    assert done.stdout == "loading data.csv\n"
    last = done.stderr.splitlines()[-1]
    assert "success" in last
    assert "wf report" in last


def test_the_workflow_may_be_named_by_its_variable(launch):
    assert launch(workflow="train", params={"path": "x"}, quiet=True).returncode == 0


def test_quiet_says_nothing_on_success(launch):
    assert launch(workflow="training", params={"path": "x"}, quiet=True).stderr == ""


def test_json_is_one_document_alone_on_stdout(launch):
    done = launch(workflow="training", params={"path": "x"}, json=True)
    document = json.loads(done.stdout)
    assert document["version"] == 1
    assert document["state"] == "success"
    assert len(document["run"]) == 26
    assert document["result"] == "{'data': [1, 2, 3], 'epochs': 3}"
    assert "loading x" in done.stderr


def test_a_failed_run_is_1_with_the_users_traceback_only_and_one_line(launch):
    done = launch(workflow="failing")
    assert done.returncode == 1
    assert "ValueError: as told" in done.stderr
    assert 'raise ValueError("as told")' in done.stderr
    assert f"workflow{os.sep}_" not in done.stderr
    line = next(line for line in done.stderr.splitlines() if line.startswith("wf run:"))
    assert "'fail'" in line
    assert "wf show" in line


def test_a_failed_run_tells_json_too(launch):
    done = launch(workflow="failing", json=True)
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert document["state"] == "failed"
    assert document["failed"][0]["task"] == "fail"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "wf run pipeline.py:training or wf run pipeline.py:failing"),
        ({"workflow": "trainin"}, "did you mean 'training'"),
        ({"workflow": "training"}, "'path'"),
        ({"workflow": "training", "params": {"path": "x", "epochs": "many"}}, "'epochs' is int"),
        ({"workflow": "training", "params": {"path": "x", "epoch": "1"}}, "did you mean 'epochs'"),
        ({"workflow": "failing", "params_file": "none.json"}, "none.json"),
        ({"workflow": "failing", "executor": "thread"}, "did you mean 'threads'"),
    ],
    ids=["several", "unknown workflow", "missing", "wrong type", "unknown parameter", "no file", "executor"],
)
def test_wrong_input_is_2_and_names_what(launch, fields, said):
    done = launch(**fields)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_file_is_2(launch):
    assert launch("none.py").returncode == 2


def test_a_file_without_a_workflow_is_2(launch):
    done = launch(text="x = 1\n")
    assert done.returncode == 2
    assert "no workflow" in done.stderr


def test_a_file_that_raises_is_2_with_the_users_traceback(launch):
    done = launch(text="def f():\n    return 1 / 0\nf()\n")
    assert done.returncode == 2
    assert "ZeroDivisionError" in done.stderr
    assert f"workflow{os.sep}_" not in done.stderr
    assert "importlib" not in done.stderr


def test_a_missing_package_is_3(launch):
    done = launch(text="import surely_not_installed_anywhere\n")
    assert done.returncode == 3
    assert "surely_not_installed_anywhere" in done.stderr


def test_a_config_with_an_unknown_key_is_2(launch, tmp_path):
    if sys.version_info < (3, 11):
        pytest.importorskip("tomli")
    (tmp_path / "workflow.toml").write_text("[run]\nworker = 3\n")
    done = launch(workflow="failing")
    assert done.returncode == 2
    assert "workflow.toml:2" in done.stderr


def test_the_file_is_a_module_of_its_own_name_beside_its_folder(launch, tmp_path):
    folder = tmp_path / "deep"
    folder.mkdir()
    (folder / "beside.py").write_text("value = 7\n")
    (folder / "main_file.py").write_text(
        "import pickle, workflow as wf\nfrom beside import value\n"
        "class Thing: pass\n"
        "@wf.task\ndef check():\n    pickle.loads(pickle.dumps(Thing()))\n    return __name__, value\n"
        "@wf.workflow\ndef body():\n    return check()\n"
    )
    done = launch("deep/main_file.py", text=None, json=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["result"] == "('main_file', 7)"


@pytest.mark.parametrize("name", ["json.py", "my-file.py", "workflow_.py"])
def test_a_file_with_the_name_of_a_module_shadows_nothing(launch, name):
    done = launch(
        text=PIPELINE + "\nimport json\nassert json.loads\n", name=name, workflow="training", params={"path": "x"}
    )
    assert done.returncode == 0, done.stderr


def test_imported_workflows_do_not_make_a_choice_necessary(launch, tmp_path):
    (tmp_path / "other.py").write_text("import workflow as wf\n@wf.workflow\ndef theirs(): ...\n")
    done = launch(text="import workflow as wf\nfrom other import theirs\n@wf.workflow\ndef mine():\n    theirs()\n")
    assert done.returncode == 0, done.stderr


def test_a_request_of_another_version_is_refused():
    done = subprocess.run(
        [sys.executable, "-m", "workflow._launch", '{"version": 99}'],
        capture_output=True,
        text=True,
        env=program_environment(),
        timeout=60,
    )
    assert done.returncode == 3
    assert "version" in done.stderr


SLEEPER = """
import time
import workflow as wf

@wf.task
def first():
    print("started", flush=True)
    time.sleep(1.5)
    return 1

@wf.task
def second(x):
    print("second ran", flush=True)

@wf.workflow
def body():
    second(first())
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("executor", ["threads", "inline"])
def test_a_signal_starts_nothing_more_and_ends_with_its_code(tmp_path, number, code, executor):
    (tmp_path / "pipeline.py").write_text(SLEEPER)
    process = subprocess.Popen(
        request(executor=executor),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=program_environment(),
    )
    try:
        assert process.stdout.readline() == "started\n"
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == code, err
    assert "second ran" not in out
    assert "cancelled" in err
    assert "Traceback" not in err


def test_a_second_interrupt_leaves_at_once(tmp_path):
    (tmp_path / "pipeline.py").write_text(SLEEPER.replace("1.5", "60"))
    process = subprocess.Popen(
        request(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=program_environment()
    )
    try:
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + 30
        for line in process.stderr:
            if "Ctrl-C again" in line or time.monotonic() > deadline:
                break
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
    finally:
        process.kill()
        process.communicate()


def test_the_metrics_endpoint_lives_during_the_run_and_lingers(tmp_path):
    from urllib.request import urlopen

    (tmp_path / "pipeline.py").write_text(PIPELINE)
    process = subprocess.Popen(
        request(workflow="training", params={"path": "x"}, metrics_port=0, linger_s=60.0),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=program_environment(),
    )
    try:
        url = None
        for line in process.stderr:
            if line.startswith("metrics: "):
                url = line.split()[1]
            if "metrics stay" in line:
                break
        assert url is not None
        page = urlopen(url, timeout=30).read().decode()
        assert 'duration_seconds_count{workflow="training",task="load",status="success"} 1' in page
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.communicate()
