"""profiling.start_http_server, the namespace, and our families on a page of prometheus_client."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import warnings

import prometheus_client
import pytest
import workflow as wf
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text
from workflow import metrics, profiling


def get(url: str, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def run_python(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_page_is_served_on_a_free_port_until_closed():
    server = profiling.start_http_server()
    assert server.port > 0
    assert server.url == f"http://127.0.0.1:{server.port}"
    status, page = get(server.url + "/metrics")
    assert status == 200
    assert "workflow_build_info{version=" in page
    assert "\nprocess_cpu_seconds_total" in page
    assert get(server.url + "/healthz") == (200, "ok\n")
    server.close()
    server.close()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", server.port), timeout=5)


def test_port_in_use_is_an_error_that_names_the_owner():
    with profiling.start_http_server() as server:
        with pytest.raises(wf.errors.MetricsServerError, match=rf"port {server.port} is in use by pid {os.getpid()} "):
            profiling.start_http_server(server.port)


def test_other_addresses_need_a_token(tmp_path):
    with pytest.raises(OSError, match="token"):
        profiling.start_http_server(0, "0.0.0.0")
    token_file = tmp_path / "token"
    token_file.write_text("s3cret\n")
    with profiling.start_http_server(0, "0.0.0.0", token_file=token_file) as server:
        url = f"http://127.0.0.1:{server.port}/metrics"
        assert get(url)[0] == 401
        assert get(url, Authorization="Bearer wrong")[0] == 401
        assert get(url, Authorization="Bearer s3cret")[0] == 200


def test_token_file_that_is_missing_or_empty_is_said(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        profiling.start_http_server(token_file=tmp_path / "none")
    (tmp_path / "empty").write_text("\nx")
    with pytest.raises(ValueError, match="empty first line"):
        profiling.start_http_server(token_file=tmp_path / "empty")


def test_scrape_needs_no_gil():
    """While a thread of ours holds the GIL for long, the page is still served to another process."""
    with profiling.start_http_server() as server:
        script = (
            "import time, urllib.request\n"
            f"for _ in range(5):\n    urllib.request.urlopen('{server.url}/metrics').read()\n"
            "print(time.time())"
        )
        other = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        before = sys.getswitchinterval()
        sys.setswitchinterval(1000)  # nobody else gets the GIL while this thread computes
        try:
            deadline = time.time() + 120
            while other.poll() is None and time.time() < deadline:
                sum(range(100_000))
            ended = time.time()
        finally:
            sys.setswitchinterval(before)
        assert float(other.communicate(timeout=60)[0]) <= ended
        assert other.returncode == 0


def test_hundred_starts_and_stops_leak_no_thread_and_no_descriptor():
    profiling.start_http_server().close()
    threads, descriptors = len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))
    for _ in range(100):
        profiling.start_http_server().close()
    assert len(os.listdir("/proc/self/task")) == threads
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_forked_child_serves_its_own_page_and_does_not_hold_the_port():
    server = profiling.start_http_server()
    read_end, write_end = os.pipe()
    ready_read, ready_write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(write_end)
        os.write(ready_write, b"x")  # its copy of the port is gone since the fork
        os.read(read_end, 1)
        os._exit(0)
    os.close(read_end)
    os.read(ready_read, 1)
    os.close(ready_read)
    os.close(ready_write)
    server.close()
    again = profiling.start_http_server(server.port)
    assert get(again.url + "/healthz")[0] == 200
    again.close()
    os.close(write_end)
    os.waitpid(child, 0)


def test_direct_calls_are_counted_under_an_empty_workflow():
    @wf.task
    def metrics_direct_task():
        return 1

    metrics_direct_task()
    metrics_direct_task()
    page = metrics.generate_latest().decode()
    assert 'task_runs_total{workflow="",task="metrics_direct_task",status="success"} 2\n' in page
    assert 'task_runs_total{workflow="",task="metrics_direct_task",status="error"} 0\n' in page


def test_namespace_prefixes_our_families_only():
    out = run_python(
        """
import workflow as wf
from workflow import metrics, profiling
profiling.set_namespace("shop")
profiling.set_namespace("shop")
try:
    profiling.set_namespace("other")
except ValueError as error:
    print("refused:", error)
@wf.task
def load(): return 1
load()
metrics.Counter("rows", "Rows.").inc()
print(metrics.generate_latest().decode())
"""
    )
    assert 'refused: metrics namespace "other" cannot be set' in out
    assert '\nshop_duration_seconds_count{workflow="",task="load",status="success"} 1\n' in out
    assert "\nshop_workflow_build_info{" in out
    assert "\nrows_total 1\n" in out
    assert "\nduration_seconds" not in out


def test_collector_shows_our_families_on_a_page_of_prometheus_client():
    metrics.Counter("test_bridge_rows", "Rows.", ("a",)).labels('x"y').inc(3)
    metrics.Histogram("test_bridge_load", "Load.", buckets=(1, 2)).observe(1)
    registry = prometheus_client.CollectorRegistry()
    registry.register(profiling.collector())
    assert registry.get_sample_value("test_bridge_rows_total", {"a": 'x"y'}) == 3
    text = prometheus_client.generate_latest(registry).decode()
    assert 'test_bridge_load_bucket{le="2.0"} 1.0' in text
    assert list(parse_text(text))
    assert list(parse_openmetrics(prometheus_client.openmetrics.exposition.generate_latest(registry).decode()))


def test_clash_on_a_foreign_page_leaves_out_the_family_and_says_the_way_out():
    registry = prometheus_client.CollectorRegistry()
    theirs = prometheus_client.Histogram("duration_seconds", "Theirs.", registry=registry)
    theirs.observe(1)
    with pytest.warns(RuntimeWarning, match=r"duration_seconds is on this.*namespace"):
        registry.register(profiling.collector())
    text = prometheus_client.generate_latest(registry).decode()
    assert text.count("# TYPE duration_seconds histogram") == 1
    assert "duration_seconds_count 1.0" in text
    assert "# TYPE task_runs_total counter" in text


def test_default_registry_of_prometheus_client_takes_the_collector_without_a_word():
    out = run_python(
        """
import warnings
warnings.simplefilter("error")
import prometheus_client
from workflow import profiling
prometheus_client.REGISTRY.register(profiling.collector())
print(prometheus_client.generate_latest().decode())
"""
    )
    assert out.count("# TYPE process_cpu_seconds_total counter") == 1
    assert "# TYPE duration_seconds histogram" in out


def test_unkept_server_goes_on_serving():
    import gc

    port = profiling.start_http_server().port
    gc.collect()
    assert get(f"http://127.0.0.1:{port}/healthz")[0] == 200


def test_scrapes_while_children_are_made():
    counter = metrics.Counter("test_scraped_rows", "Rows.", ("id",))
    stop = threading.Event()

    def make():
        number = 0
        while not stop.is_set():
            counter.labels(str(number % 500)).inc()
            number += 1

    thread = threading.Thread(target=make)
    thread.start()
    with warnings.catch_warnings(), profiling.start_http_server() as server:
        for _ in range(10):
            status, page = get(server.url + "/metrics")
            assert status == 200
            assert list(parse_text(page))
    stop.set()
    thread.join()
