"""wf.metrics beside prometheus_client: one update of a kept child, and one page of 10,000 series.

Ours and the peer's runs are interleaved and shown as medians, because the machine is never alone. An update includes
the method call that makes it, on both sides, and nothing is taken off; the note says what a method call costs that does
nothing, which is the least that a method can cost in this Python.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

import prometheus_client
from workflow import metrics

ROUNDS = 15
UPDATES = 100_000
SERIES = 10_000


def medians(ours: Callable[[], float], peer: Callable[[], float]) -> tuple[float, float]:
    """The median time of each, in seconds, measured in turn after a first round that warms up."""
    ours(), peer()
    times = [(ours(), peer()) for _ in range(ROUNDS)]
    return statistics.median(time[0] for time in times), statistics.median(time[1] for time in times)


def compare(
    name: str, times_cheaper: int, unit: str, ours: Callable[[], float], peer: Callable[[], float]
) -> dict[str, Any]:
    scale = {"ns": 1e9, "ms": 1e3}[unit]
    our_time, peer_time = medians(ours, peer)
    return {
        "name": name,
        "ours": our_time * scale,
        "peer": peer_time * scale,
        "ratio": our_time / peer_time,
        "target": f"<= {1 / times_cheaper:g} x",
        "unit": unit,
        "note": f"{peer_time / our_time:.1f} times cheaper than prometheus_client",
    }


def empty_call_note() -> str:
    """What a method of C without arguments costs that only looks at a flag."""
    lock = threading.Lock()
    cost = statistics.median(call_cost("metric.locked()", lock, UPDATES) for _ in range(ROUNDS))
    return f"a method that does nothing: {cost * 1e9:.1f} ns"


def call_cost(call: str, metric: Any, count: int) -> float:
    """Seconds of one `call`, a statement; 20 of them stand in a row, so that the loop itself costs next to nothing."""
    body = "\n".join([f"        {call}"] * 20)
    scope: dict[str, Any] = {}
    exec(f"def loop(metric, times):\n    for _ in times:\n{body}", scope)
    loop, times = scope["loop"], range(count // 20)
    start = time.perf_counter()
    loop(metric, times)
    return (time.perf_counter() - start) / count


def page_cost(generate: Callable[[], bytes]) -> float:
    start = time.perf_counter()
    generate()
    return time.perf_counter() - start


def run() -> list[dict[str, Any]]:
    """Rows as benchmarks/run.py shows them; ratio is ours / peer."""
    registry = prometheus_client.CollectorRegistry()
    our_counter = metrics.Counter("bench_rows", "Rows.", ("table",)).labels("users")
    peer_counter = prometheus_client.Counter("bench_rows", "Rows.", ("table",), registry=registry).labels("users")
    our_histogram = metrics.Histogram("bench_load", "Load.", ("table",)).labels("users")
    buckets = our_histogram.buckets
    peer_histogram = prometheus_client.Histogram(
        "bench_load", "Load.", ("table",), registry=registry, buckets=buckets
    ).labels("users")
    rows = [
        compare(
            "inc, child kept",
            40,
            "ns",
            lambda: call_cost("metric.inc()", our_counter, UPDATES),
            lambda: call_cost("metric.inc()", peer_counter, UPDATES),
        ),
        compare(
            "observe, child kept",
            50,
            "ns",
            lambda: call_cost("metric.observe(0.3)", our_histogram, UPDATES),
            lambda: call_cost("metric.observe(0.3)", peer_histogram, UPDATES),
        ),
    ]
    for row in rows:
        row["note"] += f"; {empty_call_note()}"
    our_wide = metrics.Counter("bench_wide", "Many.", ("workflow", "task"))
    peer_wide = prometheus_client.Counter("bench_wide", "Many.", ("workflow", "task"), registry=registry)
    for number in range(SERIES):
        our_wide.labels("training", f"task_{number}").inc(number)
        peer_wide.labels("training", f"task_{number}").inc(number)
    rows.append(
        compare(
            f"page of {SERIES} series",
            20,
            "ms",
            lambda: page_cost(metrics.generate_latest),
            lambda: page_cost(lambda: prometheus_client.generate_latest(registry)),
        )
    )
    return rows


def main() -> None:
    for row in run():
        print(f"{row['name']:24} {row['ours']:9.3f} {row['unit']} peer {row['peer']:9.3f} {row['unit']} {row['note']}")


if __name__ == "__main__":
    main()
