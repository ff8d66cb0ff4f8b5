"""A store that cannot take a run's record: the run's result, exit status and exceptions stay the user's."""

from __future__ import annotations

# The limit on the size of files stands for a full disk: it, too, makes the store's writes fail in the middle of a run.
FULL_DISK = """
import resource, sys
import workflow as wf

@wf.task
def square(x: int) -> int:
    if x == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
    return x * x

@wf.task
def total(values: list) -> int:
    return sum(values)

@wf.workflow
def flow(n: int = 20_000):
    return total(square.map(range(n)))

if __name__ == "__main__":
    run = flow.run()
    print(run.state, run.result())
"""


def test_a_full_disk_costs_the_record_and_not_the_result(script):
    done = script(FULL_DISK)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "success 2666466670000\n"
    assert done.stderr.count("record is incomplete") == 1, done.stderr
    assert "Traceback" not in done.stderr


def test_the_loss_is_said_once_where_nobody_hears_of_the_store_before_the_end(script):
    done = script(FULL_DISK.replace("20_000", "50"))  # over before the store's first write
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"success {sum(i * i for i in range(50))}\n"
    assert done.stderr.count("record is incomplete") <= 1, done.stderr


def test_a_failure_of_the_user_comes_before_the_stores(script):
    done = script(FULL_DISK.replace("return sum(values)", "raise KeyError('mine')"))
    assert done.returncode == 1
    assert done.stderr.rstrip().splitlines()[-2].startswith("KeyError: 'mine'"), done.stderr
    assert "StoreError" not in done.stderr


def test_a_folder_that_takes_no_store_costs_the_record_and_not_the_result(script):
    done = script(
        FULL_DISK.replace("flow.run()", "flow.run(store='/sys/no-store-here')")
    )  # also root may not write there
    assert done.returncode == 0, done.stderr
    assert done.stdout == "success 2666466670000\n"
    assert done.stderr.count("record is incomplete") == 1, done.stderr
    assert "/sys/no-store-here" in done.stderr


def test_what_is_no_store_stops_the_run_before_it_begins(script, tmp_path):
    (tmp_path / ".wf").write_text("a file, not a folder")
    done = script(FULL_DISK)
    assert done.returncode == 1
    assert "StoreError" in done.stderr and ".wf" in done.stderr
    assert done.stdout == ""


def test_a_recording_that_was_asked_for_by_itself_needs_its_store(script):
    done = script("from workflow import profiling\nprofiling.start(store='/sys/no-store-here')\n")
    assert done.returncode == 1
    assert "/sys/no-store-here" in done.stderr.splitlines()[-1]
