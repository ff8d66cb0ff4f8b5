"""The page as Prometheus sees it: promtool accepts it; a real server scrapes a running pipeline and answers queries."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

PROMETHEUS = shutil.which("prometheus")
PROMTOOL = shutil.which("promtool")
needs_prometheus = pytest.mark.skipif(
    PROMETHEUS is None or PROMTOOL is None, reason="prometheus and promtool are not installed (Debian: prometheus)"
)

PIPELINE = """
import time
import workflow as wf
from workflow import metrics, profiling

ROWS = metrics.Counter("scraped_rows", "Rows \\"read\\".", ("table",))

@wf.task
def load(number):
    ROWS.labels('a"b\\\\c').inc()
    time.sleep(0.05)
    return number

@wf.workflow(name="scraped")
def scraped():
    return load.map(list(range(40)))

server = profiling.start_http_server()
print(server.port, flush=True)
scraped.run()
print("done", flush=True)
time.sleep(600)
"""


@pytest.fixture
def pipeline():
    process = subprocess.Popen([sys.executable, "-c", PIPELINE], stdout=subprocess.PIPE, text=True)
    try:
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as response:
        return response.read().decode()


@needs_prometheus
def test_promtool_accepts_the_page_of_a_run(pipeline):
    process, port = pipeline
    assert process.stdout.readline() == "done\n"
    page = get(f"http://127.0.0.1:{port}/metrics")
    done = subprocess.run([PROMTOOL, "check", "metrics"], input=page, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), page
    assert 'duration_seconds_count{workflow="scraped",task="load",status="success"} 40\n' in page
    assert re.search(r'\ncpu_seconds_total\{workflow="scraped",task="load"\} [\d.e-]+\n', page)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Prometheus:
    """A Prometheus server of this test: own folder, own port, loopback only."""

    def __init__(self, folder, target_port: int) -> None:
        self.port = free_port()
        config = {
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
            "scrape_configs": [{"job_name": "wf", "static_configs": [{"targets": [f"127.0.0.1:{target_port}"]}]}],
        }
        (folder / "prometheus.yml").write_text(json.dumps(config))  # YAML is a superset of JSON
        self.log = open(folder / "log", "w+")
        self.process = subprocess.Popen(
            [
                PROMETHEUS,
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{self.port}",
            ],
            stdout=self.log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "GOMAXPROCS": "1"},
        )

    def query(self, expression: str) -> list[dict]:
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        try:
            answer = json.loads(get(url))
        except (urllib.error.URLError, ConnectionError):
            return []  # it is still starting
        return answer["data"]["result"]

    def wait_for(self, expression: str) -> list[dict]:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if found := self.query(expression):
                return found
            assert self.process.poll() is None, self.tail()
            time.sleep(0.3)
        raise AssertionError(f"no answer to {expression}\n{self.tail()}")

    def tail(self) -> str:
        self.log.seek(0)
        return self.log.read()[-3000:]

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


@needs_prometheus
def test_a_real_prometheus_scrapes_a_running_pipeline_and_answers_queries(pipeline, tmp_path):
    _, port = pipeline
    prometheus = Prometheus(tmp_path, port)
    try:
        prometheus.wait_for("up == 1")
        found = prometheus.wait_for('duration_seconds_count{workflow="scraped",task="load",status="success"} == 40')
        assert found[0]["metric"]["job"] == "wf"
        quantile = prometheus.wait_for(
            "histogram_quantile(0.95, sum by (le, workflow, task) (duration_seconds_bucket{status='success'})) > 0"
        )
        assert 0.05 <= float(quantile[0]["value"][1]) <= 10
        for status in ("error", "timeout", "cancelled", "cached", "lost"):
            zero = prometheus.wait_for(f'task_runs_total{{task="load",status="{status}"}} == 0')
            assert len(zero) == 1
        rows = prometheus.wait_for("scraped_rows_total == 40")
        assert rows[0]["metric"]["table"] == 'a"b\\c'
        assert prometheus.wait_for("process_resident_memory_bytes > 0")
        assert prometheus.wait_for("workflow_last_success_timestamp_seconds{workflow='scraped'} > 0")
        assert prometheus.query("task_start_timestamp_seconds{task='load'}") == []  # idle: absent, not 0
    finally:
        prometheus.stop()
