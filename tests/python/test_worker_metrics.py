"""Series of worker processes on the page of the run's owner."""

from __future__ import annotations

import os
import threading
import time
import urllib.request
from pathlib import Path

import pytest
import workflow as wf
from conftest import samples
from runs import workflow
from workflow import profiling


@wf.task
def hold(folder, name):
    """Burns some CPU, says so, and waits for the file ``go``."""
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
    Path(folder, name).write_text(str(os.getpid()))
    while not Path(folder, "go").exists():
        time.sleep(0.01)
    return os.getpid()


def by_worker(name):
    return {labels["worker"]: float(value) for labels, value in samples(name) if labels.get("worker")}


def wait_for(*paths):
    end = time.monotonic() + 60
    while not all(path.exists() and path.read_text() for path in paths):
        assert time.monotonic() < end, "the tasks did not start"
        time.sleep(0.01)


@pytest.fixture
def held(tmp_path):
    """A run whose two worker processes are in the middle of their tasks."""
    body = workflow(lambda: [hold(str(tmp_path), "one"), hold(str(tmp_path), "two")])
    thread = threading.Thread(target=lambda: body.run(executor="processes", workers=2, store=False))
    thread.start()
    try:
        wait_for(tmp_path / "one", tmp_path / "two")
        yield
    finally:
        (tmp_path / "go").touch()
        thread.join(60)


def test_a_scrape_during_a_run_shows_its_worker_processes(held):
    with profiling.start_http_server() as server:
        page = urllib.request.urlopen(f"{server.url}/metrics", timeout=30).read().decode()
    for worker in ("0", "1"):
        assert f'process_resident_memory_bytes{{worker="{worker}"}}' in page
    assert min(by_worker("process_resident_memory_bytes").values()) > 1e6
    assert min(by_worker("process_cpu_seconds_total").values()) >= 0.2
    assert set(by_worker("process_threads")) == {"0", "1"}


@wf.task
def burn():
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass


def test_the_cpu_of_a_worker_that_ended_stays_counted_and_its_gauges_go():
    workflow(lambda: burn()).run(executor="processes", workers=1, store=False)
    before = by_worker("process_cpu_seconds_total")["0"]
    assert by_worker("process_resident_memory_bytes") == {}
    workflow(lambda: burn()).run(executor="processes", workers=1, store=False)
    assert by_worker("process_cpu_seconds_total")["0"] >= before + 0.3
