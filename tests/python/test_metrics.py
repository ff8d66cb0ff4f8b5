"""wf.metrics beside prometheus_client: the same calls, and both of its parsers read every page."""

from __future__ import annotations

import asyncio
import itertools
import math
import os
import pickle
import subprocess
import sys
import threading

import cloudpickle
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text
from workflow import metrics

_numbers = itertools.count()


@pytest.fixture
def name() -> str:
    """A name that no other test has: metrics are never removed."""
    return f"test_metric_{next(_numbers)}"


def samples() -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """All samples of the page, after checking that both formats say the same (but for what is read anew)."""
    pages = []
    for parse, openmetrics in ((parse_text, False), (parse_openmetrics, True)):
        page = metrics.generate_latest(openmetrics).decode()
        found = {}
        for family in parse(page):
            for sample in family.samples:
                found[sample.name, frozenset(sample.labels.items())] = sample.value
        pages.append({key: value for key, value in found.items() if not key[0].startswith("process_")})
    assert pages[0].keys() == pages[1].keys()
    for key, value in pages[0].items():
        assert value == pages[1][key] or math.isnan(value), key
    return pages[0]


def value(name: str, **labels: str) -> float | None:
    return samples().get((name, frozenset(labels.items())))


def test_counter_counts(name):
    counter = metrics.Counter(name, "Help.")
    counter.inc()
    counter.inc(2.5)
    counter.inc(amount=1)
    assert counter.value == 4.5
    assert value(f"{name}_total") == 4.5


def test_counter_refuses_to_fall_and_ignores_what_would_spoil_it(name):
    counter = metrics.Counter(name, "Help.")
    with pytest.raises(ValueError, match="cannot fall"):
        counter.inc(-1)
    counter.inc(math.nan)
    counter.inc(math.inf)
    assert counter.value == 0


def test_gauge_goes_up_and_down_and_takes_any_number(name):
    gauge = metrics.Gauge(name, "Help.")
    gauge.set(5)
    gauge.inc()
    gauge.dec(amount=2)
    assert value(name) == 4
    for odd in (math.inf, -math.inf, -0.0, 1e300, 5e-324, 0.1 + 0.2):
        gauge.set(value=odd)
        assert value(name) == odd
    gauge.set(math.nan)
    assert math.isnan(value(name))


def test_histogram_has_cumulative_buckets(name):
    histogram = metrics.Histogram(name, "Help.", buckets=(1, 2.5, math.inf))
    for amount in (0.5, 1, 2, 7):
        histogram.observe(amount)
    histogram.observe(math.nan)
    assert (histogram.count, histogram.sum, histogram.buckets) == (4, 10.5, (1.0, 2.5))
    assert [value(f"{name}_bucket", le=le) for le in ("1.0", "2.5", "+Inf")] == [2, 3, 4]
    assert value(f"{name}_count") == 4
    assert value(f"{name}_sum") == 10.5


NASTY = [
    "",
    " ",
    '"',
    "\\",
    "\n",
    "\\n",
    'a"b\\c\nd',
    "{}",
    ",=",
    "é€😀",
    "\r",
    "\t",
    "\x7f",
    "\u2028",
    "#",
    "le",
    "'",
    "x" * 5000,
]


def test_nasty_label_values_read_back_unchanged(name):
    gauge = metrics.Gauge(name, 'Help with "quotes", \\ and \n a line.', ("a", "b"))
    for index, text in enumerate(NASTY):
        gauge.labels(text, text).set(index)
    found = samples()
    for index, text in enumerate(NASTY):
        assert found[name, frozenset({("a", text), ("b", text)})] == index


def test_help_reads_back_unchanged(name):
    text = 'Help with "quotes", \\ and \n a line.'
    metrics.Gauge(name, text)
    for parse, openmetrics in ((parse_text, False), (parse_openmetrics, True)):
        families = {family.name: family for family in parse(metrics.generate_latest(openmetrics).decode())}
        assert families[name].documentation == text


@pytest.mark.parametrize("foreign", ["\0", "\ud800", "a\udcffb"])
def test_what_no_page_may_carry_becomes_a_mark(name, foreign):
    metrics.Gauge(name, "Help.", ("a",)).labels(foreign).set(1)
    assert "\ufffd" in metrics.generate_latest().decode()
    samples()


def test_labels_by_position_by_name_and_of_any_type(name):
    counter = metrics.Counter(name, "Help.", ("a", "b"))
    assert counter.labels("x", "1") is counter.labels("x", "1")
    counter.labels("x", 1).inc()
    counter.labels(b="1", a="x").inc()
    assert counter.labels("x", "1").value == 2
    counter.labels("x", True).inc()
    counter.labels("x", 1.0).inc()
    assert [value(f"{name}_total", a="x", b=b) for b in ("1", "True", "1.0")] == [2, 1, 1]
    assert counter.labels("x", "1").labelvalues == ("x", "1")


def test_wrong_use_says_what_is_right(name):
    counter = metrics.Counter(name, "Help.", ("a", "b"))
    with pytest.raises(ValueError, match=r"choose a child first"):
        counter.inc()
    with pytest.raises(ValueError, match="has 2 labels, not 1"):
        counter.labels("x")
    with pytest.raises(ValueError, match="no label 'c'"):
        counter.labels(a="x", c="y")
    with pytest.raises(ValueError, match="needs a value for its label 'b'"):
        counter.labels(a="x")
    with pytest.raises(ValueError, match="not both"):
        counter.labels("x", b="y")
    with pytest.raises(ValueError, match="values already"):
        counter.labels("x", "y").labels("z")
    child = counter.labels("x", "y")
    for arguments, keywords in [((1, 2), {}), ((), {"many": 1}), ((1,), {"amount": 1}), (("1",), {}), ((None,), {})]:
        with pytest.raises(TypeError):
            child.inc(*arguments, **keywords)
    with pytest.raises(TypeError, match="not one str"):
        metrics.Counter(f"{name}_other", "Help.", "ab")


def test_bad_names_are_refused_with_the_way_out(name):
    for bad in ("", "1a", "a-b", "é"):
        with pytest.raises(ValueError, match="name"):
            metrics.Counter(bad, "Help.")
    for ending in ("_count", "_sum", "_bucket", "_created", "_total"):
        with pytest.raises(ValueError, match=ending):
            metrics.Gauge(name + ending, "Help.")
    with pytest.raises(ValueError, match="le"):
        metrics.Histogram(name, "Help.", ("le",))
    with pytest.raises(ValueError, match="Workflow's own"):
        metrics.Gauge("task_running", "Mine.")


def test_same_definition_is_one_metric_and_another_a_clash(name):
    metrics.Counter(name, "Help.", ("a",)).labels("x").inc()
    assert metrics.Counter(f"{name}_total", "Help.", ("a",)).labels("x").value == 1
    with pytest.raises(ValueError, match=f'counter "{name}"'):
        metrics.Gauge(name, "Help.")
    with pytest.raises(ValueError, match="another type, help"):
        metrics.Counter(name, "Other help.", ("a",))


def test_name_is_built_as_prometheus_client_does(name):
    metrics.Counter(f"{name}_total", "Help.", namespace="ns", subsystem="sub", unit="bytes").inc()
    assert value(f"ns_sub_{name}_bytes_total") == 1
    metrics.Gauge(f"{name}_seconds", "Help.", unit="seconds").set(1)
    assert value(f"{name}_seconds") == 1


def test_removed_gauge_child_leaves_the_page(name):
    gauge = metrics.Gauge(name, "Help.", ("a",))
    child = gauge.labels("x")
    child.set(1)
    gauge.remove("x")
    child.set(2)
    assert value(name, a="x") is None
    gauge.labels("x").set(3)
    assert value(name, a="x") == 3
    assert not hasattr(metrics.Counter, "remove")


def test_timers_observe_blocks_calls_and_coroutines(name):
    histogram = metrics.Histogram(name, "Help.", ("a",)).labels("x")

    @histogram.time()
    def plain(number):
        """Its docstring."""
        return number + 1

    @histogram.time()
    async def coroutine():
        await asyncio.sleep(0.01)
        return 7

    with histogram.time() as timer:
        pass
    assert timer.duration >= 0
    assert plain(1) == 2
    assert (plain.__name__, plain.__doc__) == ("plain", "Its docstring.")
    assert asyncio.run(coroutine()) == 7
    assert histogram.count == 3
    assert histogram.sum >= 0.009
    gauge = metrics.Gauge(f"{name}_last", "Help.")
    with gauge.time():
        pass
    assert gauge.value > 0


def test_exceptions_are_counted_and_go_on(name):
    counter = metrics.Counter(name, "Help.")
    with pytest.raises(KeyError), counter.count_exceptions():
        raise KeyError

    @counter.count_exceptions(ValueError)
    def fail(kind):
        raise kind

    with pytest.raises(ValueError):
        fail(ValueError)
    with pytest.raises(KeyError):
        fail(KeyError)
    assert counter.value == 2


def test_gauge_follows_what_is_in_progress_and_the_time(name):
    gauge = metrics.Gauge(name, "Help.")
    with gauge.track_inprogress():
        assert gauge.value == 1
    assert gauge.value == 0
    gauge.set_to_current_time()
    assert gauge.value > 1.7e9


def test_threads_lose_nothing(name):
    counter = metrics.Counter(name, "Help.", ("t",))
    histogram = metrics.Histogram(f"{name}_h", "Help.")

    def work(number):
        for _ in range(5000):
            counter.labels(str(number % 2)).inc()
            histogram.observe(2)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        found = samples_of(name)
        assert found[f"{name}_h_sum"] == 2 * found[f"{name}_h_count"]
    for thread in threads:
        thread.join()
    assert counter.labels("0").value + counter.labels("1").value == 40000
    assert histogram.count == 40000


def samples_of(name):
    page = metrics.generate_latest().decode()
    return {line.split()[0]: float(line.split()[1]) for line in page.splitlines() if line.startswith(f"{name}_h_")}


def test_pickled_metric_is_the_one_of_that_name(name):
    child = metrics.Counter(name, "Help.", ("a",)).labels("x")
    for dump in (pickle.dumps, cloudpickle.dumps):
        copy = pickle.loads(dump(child))
        copy.inc()
    assert child.value == 2
    histogram = metrics.Histogram(f"{name}_h", "Help.", buckets=(1, 2))
    assert pickle.loads(pickle.dumps(histogram)).buckets == (1, 2)


def test_forked_child_counts_from_zero(name):
    counter = metrics.Counter(name, "Help.")
    counter.inc(5)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            counter.inc()
            status = 0 if f"{name}_total 1\n" in metrics.generate_latest().decode() else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert counter.value == 5


def test_ten_thousand_ids_as_label_are_bounded():
    """An id as label must not grow the page without end; see the cap in docs/metrics.md."""
    script = """
from workflow import metrics
c = metrics.Counter("ids", "Help.", ("id",))
for i in range(101_000):
    c.labels(str(i)).inc()
page = metrics.generate_latest().decode()
dropped = "metrics_labelsets_dropped_total 1000" in page
print(page.count("ids_total{"), 'ids_total{id="__other__"} 1000' in page, dropped)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["100001", "True", "True"]
    assert done.stderr.count("wf: metrics: more than") == 1


def test_types_show_their_signatures():
    assert "amount=1" in (metrics.Counter.inc.__text_signature__ or "")
    assert "labelnames=()" in (metrics.Histogram.__text_signature__ or "")
    assert metrics.Counter.__module__ == "workflow.metrics"
