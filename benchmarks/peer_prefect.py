"""A Prefect flow beside ours, in a process of its own: `python peer_prefect.py TASKS`; JSON of the times in seconds.

bench_engine.py starts it, because Prefect brings a server (on loopback, thrown away with its database afterwards) whose
work would disturb what is measured next. Nothing is sent anywhere: analytics are off, and so is the search for updates.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import Any

import bench_engine

SETTINGS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_LOGGING_LEVEL": "ERROR",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "true",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    "PREFECT_SERVER_LOGGING_LEVEL": "ERROR",
}


def measure(n: int) -> dict[str, Any]:
    import prefect
    from prefect.task_runners import ThreadPoolTaskRunner

    task = prefect.task(bench_engine.trivial.__wrapped__)

    @prefect.flow(task_runner=ThreadPoolTaskRunner(max_workers=bench_engine.WORKERS))
    def flow(count: int) -> list[int]:
        return task.map(range(count)).result()

    if flow(10) != list(range(10)):  # starts the server and warms up
        raise RuntimeError("the Prefect flow gave wrong values")
    run_ours = bench_engine.run_ours(bench_engine.fan_out, n)
    times = [
        (bench_engine.seconds(run_ours), bench_engine.seconds(lambda: flow(n))) for _ in range(bench_engine.ROUNDS)
    ]
    ours, peer = zip(*times, strict=True)
    return {"version": prefect.__version__, "ours": ours, "peer": peer}


def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        # Before Prefect is imported, which reads them then. A server or profile of the user's is not used.
        for name in [name for name in os.environ if name.startswith("PREFECT_")]:
            del os.environ[name]
        os.environ.update(SETTINGS, PREFECT_HOME=home)
        print(json.dumps(measure(int(sys.argv[1]))))


if __name__ == "__main__":
    main()
