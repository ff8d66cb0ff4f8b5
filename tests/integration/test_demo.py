"""The demo as a user runs it, small, and the same pipeline turned round: does the verdict follow the figures?"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "image_classification"
WF = Path(sysconfig.get_path("scripts")) / "wf"
MARK = "WF_DEMO_TEST"
"""An environment variable that all processes of a test inherit, by which those left behind are found."""

# Few pictures and little training, but large ones: the pixel loop takes seconds, the rest does not.
SMALL = ["--images", "60", "--size", "160", "--epochs", "1"]


def wf_json(store: Path, *arguments: str) -> Any:
    command = [str(WF), *arguments, "--json", "--store", str(store)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=60).stdout)


def left_behind(mark: str) -> list[str]:
    """Command lines of the processes that still carry the mark, our own children that are zombies excepted."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # gone meanwhile, or of another user
    return found


@contextmanager
def demo_process(data: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """demo.py in a process group of its own, with its mark."""
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        [sys.executable, str(DEMO / "demo.py"), "--data", str(data), *arguments],
        env={**os.environ, MARK: mark, "OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process, mark
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(60)
        assert process.stdout is not None
        process.stdout.close()


def test_the_small_demo_names_the_pixel_loop_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with demo_process(tmp_path, *SMALL) as (process, mark):
        output, _ = process.communicate(timeout=240)
    # 1: the pipeline was not as much faster as asked. At this size that says nothing, and tests do not judge speed.
    assert process.returncode in (0, 1), output
    assert left_behind(mark) == []

    assert re.search(r"^ok   on 60 pictures both variants are", output, re.MULTILINE), output
    assert re.search(r"^  metrics: http://127\.0\.0\.1:\d+/metrics$", output, re.MULTILINE), output
    assert re.search(r'^  \| task_running\{.*task="preprocess_images".*\} 1', output, re.MULTILINE), output
    assert str(tmp_path / ".wf") in output
    assert str(tmp_path / "images") in output
    assert len(list((tmp_path / "images").glob("*/*.jpg"))) == 60

    runs = wf_json(tmp_path / ".wf", "runs")["runs"]
    assert [run["state"] for run in runs] == ["success", "success"]
    slow = runs[-1]["id"]
    assert bottleneck(wf_json(tmp_path / ".wf", "report", slow))["task"] == "preprocess_images"


def bottleneck(report: Any) -> Any:
    assert report["version"] >= 1
    return report["bottleneck"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"])
def test_an_interrupted_demo_stops_everything_it_started(tmp_path: Path, number: signal.Signals, code: int) -> None:
    with demo_process(tmp_path, "--images", "60", "--size", "512") as (process, mark):
        assert process.stdout is not None
        seen = []
        for line in process.stdout:
            seen.append(line)
            if "metrics: http" in line:
                break
        else:
            pytest.fail("".join(seen))
        assert len(left_behind(mark)) >= 3, "the demo, the S3 server and the pipeline"
        process.send_signal(number)
        rest, _ = process.communicate(timeout=120)
    assert process.returncode == code, "".join(seen) + rest
    assert left_behind(mark) == []
    assert "Traceback" not in rest


def test_without_its_packages_the_demo_says_what_to_install(tmp_path: Path) -> None:
    bare = [sys.executable, "-S", str(DEMO / "demo.py"), "--data", str(tmp_path / "data")]
    done = subprocess.run(bare, capture_output=True, text=True, timeout=60)
    assert done.returncode == 3
    assert "boto3" in done.stderr
    assert "moto[s3,server]" in done.stderr
    assert 'pip install "workflow-v6[demo]"' in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("wrong", [["--images", "3"], ["--size", "0"], ["--epochs", "none"]], ids=" ".join)
def test_settings_that_make_no_sense_are_refused(wrong: list[str]) -> None:
    done = subprocess.run([sys.executable, str(DEMO / "demo.py"), *wrong], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert wrong[0] in done.stderr


class SlowS3:
    """An S3 endpoint that hands every request on to another one, a while later: a far away bucket."""

    def __init__(self, endpoint: str, delay_s: float) -> None:
        target = urlsplit(endpoint)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                time.sleep(delay_s)
                connection = http.client.HTTPConnection(str(target.hostname), target.port, timeout=60)
                connection.request("GET", self.path, headers=dict(self.headers))
                answer = connection.getresponse()
                body = answer.read()
                connection.close()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("connection", "content-length", "date", "server", "transfer-encoding"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


RENAMED = """
import sys
sys.path.insert(0, {demo!r})
import workflow as wf
from pipeline import fetch_images, preprocess_images, train_model

pull = wf.task(name="pull")(fetch_images.__wrapped__)
shrink = wf.task(name="shrink")(preprocess_images.__wrapped__)
fit = wf.task(name="fit")(train_model.__wrapped__)

@wf.workflow(name="other")
def other(endpoint: str):
    return fit(shrink(pull(endpoint, "images"), 16, "slow"), epochs=1, seed=0)
"""


@pytest.fixture
def demo_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Makes the modules of the example importable; path, environment and module names are put back afterwards."""
    environment = dict(os.environ)
    monkeypatch.syspath_prepend(str(DEMO))
    yield
    for path in DEMO.glob("*.py"):
        sys.modules.pop(path.stem, None)
    os.environ.clear()
    os.environ.update(environment)


@pytest.mark.usefixtures("demo_modules")
def test_with_other_names_and_a_slow_bucket_the_verdict_names_the_waiting_fetch(tmp_path: Path) -> None:
    from demo import prepare_images, upload
    from s3_server import s3_server, use_demo_credentials

    use_demo_credentials()
    pipeline, store = tmp_path / "other.py", tmp_path / ".wf"
    pipeline.write_text(RENAMED.format(demo=str(DEMO)))
    with s3_server() as endpoint:
        upload(endpoint, tmp_path / "images", prepare_images(tmp_path / "images", 60, 0))
        far = SlowS3(endpoint, delay_s=0.08)
        try:
            command = [str(WF), "run", str(pipeline), "--param", f"endpoint={far.endpoint}", "--store", str(store)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=240)
        finally:
            far.close()
    assert done.returncode == 0, done.stderr
    verdict = bottleneck(wf_json(store, "report"))
    assert verdict["task"] == "pull"
    assert verdict["rule"].startswith(("io.", "wait.")), verdict
