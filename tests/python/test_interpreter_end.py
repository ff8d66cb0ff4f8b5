"""A daemon thread that is in one of our functions when the interpreter ends does not take the process down with it."""

from __future__ import annotations

import subprocess
import sys

import pytest

# `sys.late` is freed while the interpreter is being finalized, and lets every other thread ask for the GIL meanwhile.
PROGRAM = """
import asyncio, os, sys, threading, time
import workflow as wf

class Late:
    def __del__(self, sleep=time.sleep, write=os.write):
        sleep(0.3)
        write(2, b"over\\n")

def nap(times):
    for _ in range(times):
        time.sleep(0.01)
    return times

{functions}

inside = threading.Event()
threading.Thread(target=forever, daemon=True).start()
inside.wait(30)
time.sleep(0.05)
sys.late = Late()  # this module outlives the interpreter, through the frames of the thread
"""

FUNCTIONS = {
    "decorated function": """
@wf.profile
def work():
    inside.set()
    nap(10**6)

forever = work
""",
    "decorated generator": """
@wf.profile
def work():
    for i in range(10**6):
        yield nap(1)

def forever():
    for _ in work():
        inside.set()
""",
    "decorated coroutine": """
@wf.profile
async def work():
    inside.set()
    nap(10**6)

def forever():
    asyncio.run(work())
""",
    "run inline": """
@wf.task
def work():
    inside.set()
    nap(10**6)

@wf.workflow
def only():
    work()

def forever():
    only.run(executor="inline", store=False)
""",
    "run with threads": """
@wf.task
def work():
    inside.set()
    nap(10**6)

@wf.task
def after(value):
    pass

@wf.workflow
def two():
    after(work())

def forever():
    two.run(executor="threads", workers=2, store=False)
""",
    "task that yields": """
@wf.task
def work():
    inside.set()
    for i in range(10**6):
        yield nap(1)

@wf.workflow
def only():
    work()

def forever():
    only.run(executor="threads", workers=2, store=False)
""",
    "metrics page": """
import workflow.metrics as m

counter = m.Counter("many_total", "many", ["k"])
for i in range(20000):
    counter.labels(str(i)).inc()

def forever():
    while True:
        inside.set()
        m.generate_latest()
""",
}


@pytest.mark.parametrize("functions", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_a_thread_in_one_of_our_functions_when_the_interpreter_ends_does_no_harm(functions: str) -> None:
    program = PROGRAM.replace("{functions}", functions)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "over\n")
