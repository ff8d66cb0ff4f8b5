"""The engine beside what people use today: cost per task, growth, building a graph, importing, decorated functions.

Peers that are not installed make a row with a note. Every comparison is interleaved (ours, peer, ours, peer, …) and
shown as medians, because this machine is never alone. `WF_BENCH_SCALE` (default 1) makes everything smaller or larger.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import workflow as wf
from workflow import profiling

SCALE = float(os.environ.get("WF_BENCH_SCALE", "1"))
WORKERS = 4
ROUNDS = 5


def scaled(n: int) -> int:
    return max(10, int(n * SCALE))


@wf.task
def trivial(x: int) -> int:
    return x


@wf.workflow
def fan_out(n: int):
    return trivial.map(range(n))


@wf.workflow
def chain(n: int):
    value = trivial(0)
    for _ in range(n - 1):
        value = trivial(value)
    return value


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def interleaved(ours: Callable[[], Any], peer: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, float]:
    """Median seconds of both, taken in turns."""
    a, b = [], []
    for _ in range(rounds):
        a.append(seconds(ours))
        b.append(seconds(peer))
    return statistics.median(a), statistics.median(b)


def row(name: str, ours: float, peer: float | None, target: str, unit: str, note: str = "") -> dict[str, Any]:
    ratio = None if not peer else ours / peer
    return {"name": name, "ours": ours, "peer": peer, "ratio": ratio, "target": target, "unit": unit, "note": note}


def run_ours(workflow: Any, n: int) -> Callable[[], Any]:
    def go() -> None:
        with tempfile.TemporaryDirectory() as store:
            workflow.run(n, executor="threads", workers=WORKERS, mode="always", store=store)

    return go


def pool_fan_out(n: int) -> Callable[[], Any]:
    def go() -> None:
        with ThreadPoolExecutor(WORKERS) as pool:
            for future in [pool.submit(trivial.__wrapped__, i) for i in range(n)]:
                future.result()

    return go


def pool_chain(n: int) -> Callable[[], Any]:
    def go() -> None:
        with ThreadPoolExecutor(WORKERS) as pool:
            value = 0
            for _ in range(n):
                value = pool.submit(trivial.__wrapped__, value).result()

    return go


def per_task() -> list[dict[str, Any]]:
    """Whole runs, the store's opening and closing included, per task."""
    rows = []
    n = scaled(10_000)
    ours, peer = interleaved(run_ours(fan_out, n), pool_fan_out(n))
    rows.append(row(f"fan-out of {n}, threads, stored", ours / n * 1e6, peer / n * 1e6, "<= 1 x", "us/task", "pool"))
    n = scaled(1_000)
    ours, peer = interleaved(run_ours(chain, n), pool_chain(n))
    rows.append(row(f"chain of {n}, threads, stored", ours / n * 1e6, peer / n * 1e6, "<= 1 x", "us/task", "pool"))
    return rows


def missing(name: str, n: int, target: str, package: str) -> dict[str, Any]:
    """The row of a peer that is not here: ours alone."""
    ours = statistics.median(seconds(run_ours(fan_out, n)) for _ in range(3))
    return row(name, ours / n * 1e6, None, target, "us/task", f"{package} is not installed")


def dask_rows() -> list[dict[str, Any]]:
    """Both build their graph and run it; dask keeps no record of it. Its optimisation grows faster than the graph."""
    n = scaled(10_000)
    name, target = f"fan-out of {n} beside dask.delayed", "<= 0.05 x"
    if importlib.util.find_spec("dask") is None:
        return [missing(name, n, target, "dask")]
    import dask

    delayed = dask.delayed(trivial.__wrapped__)

    def peer(optimize: bool) -> None:
        calls = [delayed(i) for i in range(n)]
        dask.compute(*calls, scheduler="threads", num_workers=WORKERS, optimize_graph=optimize)

    rows = []
    for optimize, how in ((True, "as it comes"), (False, "optimize_graph=False")):
        peer(optimize)  # imports what it needs
        ours, theirs = interleaved(run_ours(fan_out, n), lambda optimize=optimize: peer(optimize), 3)
        note = f"dask {dask.__version__}, threads, {how}"
        rows.append(row(name, ours / n * 1e6, theirs / n * 1e6, target, "us/task", note))
    return rows


def prefect_rows() -> list[dict[str, Any]]:
    """Ours at 10,000 tasks beside Prefect's quickest flow of 200, and both at 200: it takes milliseconds for each.

    The times of its flows differ up to tenfold from one to the next: hence the quickest, which favours it.
    """
    n, few = scaled(10_000), scaled(200)
    name, target = f"fan-out of {n} beside a Prefect flow", "<= 0.01 x"
    if importlib.util.find_spec("prefect") is None:
        return [missing(name, n, target, "prefect")]
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer_prefect.py")
    done = subprocess.run([sys.executable, program, str(few)], capture_output=True, text=True)
    if done.returncode != 0:  # else what its server says when it is stopped is of no interest
        raise RuntimeError(f"{program} failed:\n{done.stderr}")
    timed = json.loads(done.stdout.splitlines()[-1])
    ours = statistics.median(seconds(run_ours(fan_out, n)) for _ in range(ROUNDS))
    quickest = min(timed["peer"]) / few * 1e6
    ours_few, peer_few = (statistics.median(timed[side]) / few * 1e6 for side in ("ours", "peer"))
    note = f"prefect {timed['version']}, ThreadPoolTaskRunner"
    return [
        row(name, ours / n * 1e6, quickest, target, "us/task", f"{note}; its quickest flow of {few}"),
        row(f"fan-out of {few} beside a Prefect flow", ours_few, peer_few, target, "us/task", f"{note}; medians"),
    ]


LINEAR = """
import sys, tempfile, time
sys.path.insert(0, {folder!r})
import bench_engine
n = int(sys.argv[1])
bench_engine.fan_out.run(10, store=False)

def peak():  # not ru_maxrss, which starts at what the parent had
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])

before = peak()
start = time.perf_counter()
with tempfile.TemporaryDirectory() as store:
    run = bench_engine.fan_out.run(n, executor="threads", workers=4, mode="always", store=store)
    took = time.perf_counter() - start
print(took / n * 1e6, (peak() - before) * 1024 / n)
"""


def linear() -> list[dict[str, Any]]:
    """Per task at 100,000 beside 10,000, each in a process of its own."""
    program = LINEAR.format(folder=os.path.dirname(os.path.abspath(__file__)))

    def measure(n: int) -> tuple[float, float]:
        done = subprocess.run([sys.executable, "-c", program, str(n)], capture_output=True, text=True, check=True)
        micros, size = map(float, done.stdout.split())
        return micros, size

    small, large = scaled(10_000), scaled(100_000)
    pairs = [(measure(large), measure(small)) for _ in range(3)]
    micros = [statistics.median(pair[i][0] for pair in pairs) for i in (0, 1)]
    sizes = [statistics.median(pair[i][1] for pair in pairs) for i in (0, 1)]
    note = f"{large} beside {small} tasks"
    return [
        row("time per task as the graph grows", micros[0], micros[1], "<= 1.2 x", "us/task", note),
        row("memory per task as the graph grows", sizes[0], sizes[1], "<= 1.2 x", "bytes/task", note),
    ]


def build_row() -> dict[str, Any]:
    """A graph of 20,000 nodes, built and checked: everything up to the moment where it could run."""
    from workflow import _native

    n = scaled(20_000)

    def build() -> float:
        engine = _native.Engine({"workflow": "build", "store": None, "executor": "threads"})
        start = time.perf_counter()
        _native.enter_body(engine)
        chain.__wrapped__(n)
        _native.exit_body(engine)
        engine.start()
        took = time.perf_counter() - start
        engine.cancel("built")
        engine.body_ended(False)
        engine.close("cancelled", "built")
        return took

    return row(
        f"a chain of {n} nodes built and checked", statistics.median(build() for _ in range(3)), None, "0.2", "s"
    )


def import_row() -> dict[str, Any]:
    program = "import time; a = time.perf_counter(); import workflow; print(time.perf_counter() - a)"

    def once() -> float:
        return float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)

    return row("import workflow", statistics.median(once() for _ in range(7)) * 1e3, None, "50", "ms")


def decorated_rows() -> list[dict[str, Any]]:
    """What a call costs more than the bare function's."""
    if importlib.util.find_spec("prometheus_client") is None:
        return [row("decorated function", 0, None, "<= 0.2 x", "ns/call", "prometheus_client is not installed")]
    n = scaled(200_000)

    def bare(x: int) -> int:
        return x

    with_cpu = profiling.collect()(bare)
    wall_only = profiling.collect(cpu=False)(bare)
    rows = []
    for name, ours, peer, target in (
        ("decorated function, wall and CPU", with_cpu, prometheus_wrapper(bare, cpu=True), "<= 0.2 x"),
        ("decorated function, wall only", wall_only, prometheus_wrapper(bare, cpu=False), "<= 0.067 x"),
    ):
        base = statistics.median(seconds(lambda: calls(bare, n)) for _ in range(3))
        a, b = interleaved(lambda f=ours: calls(f, n), lambda f=peer: calls(f, n))
        rows.append(row(name, (a - base) / n * 1e9, (b - base) / n * 1e9, target, "ns/call"))
    return rows


def calls(function: Callable[[int], int], n: int) -> None:
    for i in range(n):
        function(i)


def prometheus_wrapper(function: Callable[[int], int], *, cpu: bool) -> Callable[[int], int]:
    """What people write by hand: a histogram, a counter by status, and CPU seconds."""
    from prometheus_client import CollectorRegistry, Counter, Histogram

    registry = CollectorRegistry()
    duration = Histogram("duration_seconds", "d", ["workflow", "task", "status"], registry=registry)
    used = Counter("cpu_seconds", "c", ["workflow", "task"], registry=registry)

    def wrapper(x: int) -> int:
        start = time.perf_counter()
        cpu_start = time.thread_time() if cpu else 0.0
        status = "success"
        try:
            return function(x)
        except BaseException:
            status = "error"
            raise
        finally:
            duration.labels("", "bare", status).observe(time.perf_counter() - start)
            if cpu:
                used.labels("", "bare").inc(max(0.0, time.thread_time() - cpu_start))

    return wrapper


def run() -> list[dict[str, Any]]:
    rows = per_task()
    rows += [*dask_rows(), *prefect_rows(), *linear(), build_row(), import_row(), *decorated_rows()]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows[-1]["note"] = (rows[-1]["note"] + f" (peak of this benchmark: {peak:.0f} MiB)").strip()
    return rows


if __name__ == "__main__":
    from run import show

    show(run())
