"""Greenlets: the one that runs is shown, whole and with nothing of another; those that wait are not shown."""

from __future__ import annotations

import subprocess
from collections import Counter

import pytest
from target_pythons import every_version, python_with_packages, running
from test_sampler_truth import PROBE

pytestmark = pytest.mark.skipif(not PROBE.exists(), reason="sampler_probe is not built (tools/test_cpp release)")

# Each has Python frames on either side of a call from C, whose link between them lies on the C stack that is exchanged.
SWITCHING = """
import os, sys, greenlet
loops = int(sys.argv[1])
def leaf_a():
    for _ in range(loops): pass
    b.switch()
def leaf_b():
    for _ in range(loops): pass
    a.switch()
def middle_a(_): leaf_a()
def middle_b(_): leaf_b()
def top_a():
    while True: max([0], key=middle_a)
def top_b():
    while True: max([0], key=middle_b)
def main():
    a.switch()
a, b = greenlet.greenlet(top_a), greenlet.greenlet(top_b)
print('ready', os.getpid(), flush=True)
main()
"""
GEVENT = """
import os, gevent
def spin():
    print('ready', os.getpid(), flush=True)
    while True: pass
def worker(): spin()
def top(): gevent.spawn(worker).join()
top()
"""
WHOLE = {end: (f"top_{end}", f"middle_{end}", f"leaf_{end}") for end in "ab"}


def sampled(version: str, source: str, *arguments: str) -> tuple[Counter[tuple[str, ...]], int, int]:
    """The stacks root first, how often any was read, and how often one was given up."""
    with running(python_with_packages(version), source, *arguments) as program:
        command = [str(PROBE), "loop", str(program.pid), "1", "1000"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    stacks: Counter[tuple[str, ...]] = Counter()
    figures = {"samples": 0, "rejected": 0}
    for line in done.stdout.splitlines():
        text, count = line.rsplit(" ", 1)
        if text.startswith("# "):
            name = text.split()[1]
            figures[name] = figures.get(name, 0) + (int(count) if name in ("samples", "rejected") else 0)
        else:
            stacks[tuple(frame.split("@")[0] for frame in text.split(";")[1:])] += int(count)
    return stacks, figures["samples"], figures["rejected"]


@every_version
def test_greenlets_that_switch_thousands_of_times_a_second_are_never_mixed(version: str) -> None:
    stacks, samples, rejected = sampled(version, SWITCHING, "5000")
    assert samples > 50  # in a second, on however busy a machine
    assert rejected <= samples / 10
    for stack in stacks:
        assert stack in (WHOLE["a"][: len(stack)], WHOLE["b"][: len(stack)]), stack
    assert {WHOLE["a"], WHOLE["b"]} <= set(stacks)


@every_version
def test_greenlets_that_do_nothing_but_switch_are_never_mixed(version: str) -> None:
    stacks, samples, _ = sampled(version, SWITCHING, "0")
    assert samples > 50
    for stack in stacks:
        assert stack in (WHOLE["a"][: len(stack)], WHOLE["b"][: len(stack)]), stack
    assert sum(stacks.values()) > samples / 10


@every_version
def test_a_greenlet_of_gevent_is_whole_and_ends_at_its_own_function(version: str) -> None:
    stacks, samples, rejected = sampled(version, GEVENT)
    assert samples > 50 and rejected <= samples / 10
    assert set(stacks) == {("worker", "spin")}
