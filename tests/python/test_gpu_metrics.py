"""gpu_memory_used_bytes on the page, with a stand-in for NVIDIA's library (src/probe/fake_nvml_testing.cc)."""

from __future__ import annotations

from pathlib import Path

import pytest

FAKE = Path(__file__).resolve().parents[2] / "build/release/src/probe/libprobe_fake_nvml.so"

PROGRAM = r"""
import ctypes, os, re, sys, threading, time
import workflow as wf
from pathlib import Path

class Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("gpu_instance", ctypes.c_uint)]

class Fake(ctypes.Structure):
    _fields_ = [("init_result", ctypes.c_int), ("devices", ctypes.c_uint), ("memory_supported", ctypes.c_bool),
                ("device_used", ctypes.c_ulonglong), ("processes", Process * 200), ("process_count", ctypes.c_uint)]

library = ctypes.CDLL("libnvidia-ml.so.1")  # the one that the poller opens

def hold_on_gpu(pid, used):
    state = Fake(devices=1, memory_supported=True, process_count=1 if used else 0)
    state.processes[0] = Process(pid, used, 0xFFFFFFFF)
    library.FakeNvmlSet(ctypes.byref(state))

def series():
    return re.findall(r"^gpu_memory_used_bytes{(.*)} (\S+)$", wf.metrics.generate_latest().decode(), re.M)

def wait_for(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, series()
        time.sleep(0.02)

@wf.task
def train():
    Path("pid").write_text(str(os.getpid()))
    while not Path("go").exists():
        time.sleep(0.01)

hold_on_gpu(0, 0)
body = wf.workflow(name="w")(lambda: train())
executor, worker = sys.argv[1], sys.argv[2]
run = threading.Thread(target=lambda: body.run(executor=executor, workers=1, store=False))
run.start()
wait_for(lambda: Path("pid").exists() and Path("pid").read_text())
time.sleep(0.3)  # several polls
assert series() == [], series()  # the task uses no GPU
hold_on_gpu(int(Path("pid").read_text()), 1 << 30)
wait_for(lambda: series() == [(f'gpu="0",worker="{worker}",workflow="w",task="train"', str(1 << 30))])
hold_on_gpu(int(Path("pid").read_text()), 1 << 20)
wait_for(lambda: series() and series()[0][1] == str(1 << 20))
Path("go").touch()
run.join()
assert series() == [], series()  # the series goes with the task
"""


@pytest.mark.skipif(
    not FAKE.exists(), reason="the stand-in is built with the tests of C++ (cmake --build build/release)"
)
@pytest.mark.parametrize(("executor", "worker"), [("threads", ""), ("processes", "0")])
def test_gpu_memory_is_on_the_page_while_a_task_holds_it(script, tmp_path, executor, worker):
    (tmp_path / "libnvidia-ml.so.1").symlink_to(FAKE)
    source = f"import sys\nsys.argv[1:] = [{executor!r}, {worker!r}]\n{PROGRAM}"
    done = script(source, env={"LD_LIBRARY_PATH": str(tmp_path)})
    assert done.returncode == 0, done.stderr
