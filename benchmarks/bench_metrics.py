"""wf.metrics beside prometheus_client: one update of a kept child, and one page of 10,000 series.

Ours and the peer's runs are interleaved, and the best of several rounds counts: the cost of the work, without what else
the machine did meanwhile. The updates include the call itself, less an empty loop.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import prometheus_client
from workflow import metrics

ROUNDS = 9
UPDATES = 100_000
SERIES = 10_000


def best_of_each(ours: Callable[[], float], peer: Callable[[], float]) -> tuple[float, float]:
    """The shortest time of each, in seconds, measured in turn."""
    times = [(ours(), peer()) for _ in range(ROUNDS)]
    return min(time[0] for time in times), min(time[1] for time in times)


def compare(
    name: str, times_cheaper: int, unit: str, ours: Callable[[], float], peer: Callable[[], float]
) -> dict[str, Any]:
    scale = {"ns": 1e9, "ms": 1e3}[unit]
    our_time, peer_time = best_of_each(ours, peer)
    return {
        "name": name,
        "ours": our_time * scale,
        "peer": peer_time * scale,
        "ratio": our_time / peer_time,
        "target": f"<= {1 / times_cheaper:g} x",
        "unit": unit,
        "note": f"{peer_time / our_time:.1f} times cheaper than prometheus_client",
    }


def empty_loop(count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        pass
    return time.perf_counter() - start


def inc_cost(counter: Any, count: int) -> float:
    """Seconds of one inc()."""
    start = time.perf_counter()
    for _ in range(count):
        counter.inc()
    spent = time.perf_counter() - start
    return max(spent - empty_loop(count), 1e-12) / count


def observe_cost(histogram: Any, count: int) -> float:
    """Seconds of one observe()."""
    start = time.perf_counter()
    for _ in range(count):
        histogram.observe(0.3)
    spent = time.perf_counter() - start
    return max(spent - empty_loop(count), 1e-12) / count


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
            lambda: inc_cost(our_counter, UPDATES),
            lambda: inc_cost(peer_counter, UPDATES // 10),
        ),
        compare(
            "observe, child kept",
            50,
            "ns",
            lambda: observe_cost(our_histogram, UPDATES),
            lambda: observe_cost(peer_histogram, UPDATES // 10),
        ),
    ]
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
