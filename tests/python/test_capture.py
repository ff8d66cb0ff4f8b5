"""What tasks print and log is kept with their attempt and still shown where it always was."""

from __future__ import annotations

import io
import logging
import sqlite3
import sys
import threading
from pathlib import Path

import workflow as wf

STDOUT, STDERR, LOG = 0, 1, 2


def kept(store=".wf"):
    """{(task or None, stream): text} of everything in the store."""
    with sqlite3.connect(Path(store) / "runs.db") as db:
        tasks = dict(
            db.execute(
                "SELECT attempts.id, tasks.name FROM attempts JOIN nodes USING (run_no) JOIN tasks USING (run_no) "
                "WHERE nodes.id = attempts.node AND tasks.id = nodes.task"
            )
        )
    found = {}
    for path in (Path(store) / "runs").glob("*.db"):
        with sqlite3.connect(path) as db:
            for attempt, stream, text in db.execute("SELECT attempt, stream, text FROM logs ORDER BY id"):
                key = tasks.get(attempt), stream
                found[key] = found.get(key, "") + text
    return found


@wf.task
def prints(word):
    print(word)
    print(f"err {word}", file=sys.stderr)


def test_printed_text_is_shown_and_kept_with_its_task(capsys):
    @wf.workflow
    def body():
        print("in the body")
        prints("hello")

    body.run(executor="inline")
    out = capsys.readouterr()
    assert out.out == "in the body\nhello\n"
    assert out.err == "err hello\n"
    found = kept()
    assert found["prints", STDOUT] == "hello\n"
    assert found["prints", STDERR] == "err hello\n"
    assert found[None, STDOUT] == "in the body\n"


def test_text_of_tasks_in_threads_goes_to_the_right_task():
    tasks = [wf.task(name=f"talk{i}")(lambda i=i: [print(f"line {i}") for _ in range(50)] and None) for i in range(4)]

    @wf.workflow
    def body():
        for task in tasks:
            task()

    body.run(workers=4)
    found = kept()
    for i in range(4):
        assert found[f"talk{i}", STDOUT] == f"line {i}\n" * 50


def test_bytes_written_to_the_buffer_stay_the_same_bytes(script):
    done = script(
        "import sys, workflow as wf\n"
        "@wf.task\ndef raw():\n"
        "    sys.stdout.buffer.write(b'\\xff\\x00raw\\n')\n    sys.stdout.buffer.flush()\n    print('text')\n"
        "@wf.workflow\ndef body():\n    raw()\n"
        "body.run(executor='inline')\n",
        text=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == b"\xff\x00raw\ntext\n"
    assert kept()["raw", STDOUT].endswith("raw\ntext\n")


def test_a_replaced_stdout_stays_the_users():
    mine = io.StringIO()

    @wf.task
    def replaces():
        sys.stdout = mine
        print("for me")

    @wf.workflow
    def body():
        replaces()

    real = sys.stdout
    try:
        body.run(executor="inline", store=False)
        assert sys.stdout is mine
        assert mine.getvalue() == "for me\n"
    finally:
        sys.stdout = real


def test_the_streams_are_restored_after_success_and_failure():
    real = sys.stdout, sys.stderr

    @wf.task
    def fails():
        raise ValueError

    @wf.workflow
    def body(bad: bool):
        if bad:
            fails()

    body.run(False, store=False)
    assert (sys.stdout, sys.stderr) == real
    body.run(True, store=False, check=False)
    assert (sys.stdout, sys.stderr) == real


def test_the_tee_is_the_stream_for_everything_but_writing():
    @wf.task
    def asks():
        return sys.stdout.encoding, sys.stdout.isatty(), hasattr(sys.stdout, "fileno"), sys.stdout.writable()

    @wf.workflow
    def body():
        return asks()

    encoding, tty, has_fileno, writable = body.run(store=False).result()
    assert (encoding, tty, has_fileno, writable) == (sys.stdout.encoding, sys.stdout.isatty(), True, True)


def test_log_records_are_kept_once_and_logging_stays_as_it_was(caplog):
    log = logging.getLogger("mine")

    @wf.task
    def logs():
        log.warning("careful %d", 7)
        wf.logger().info("from the task")
        wf.logger().debug("too fine")

    @wf.workflow
    def body():
        logs()

    handlers = list(logging.getLogger().handlers)
    body.run(executor="inline")
    assert logging.getLogger().handlers == handlers
    text = kept()["logs", LOG]
    assert text.count("mine: careful 7") == 1
    assert text.count("workflow.task.logs: from the task") == 1
    assert "too fine" not in text
    assert "careful 7" in caplog.text


def test_a_record_shown_on_stderr_is_not_kept_twice(script):
    done = script(
        "import logging, workflow as wf\n"
        "@wf.task\ndef logs():\n    logging.basicConfig()\n    logging.warning('once')\n"
        "@wf.workflow\ndef body():\n    logs()\n"
        "body.run(executor='inline')\n"
    )
    assert done.returncode == 0
    assert done.stderr.count("WARNING:root:once") == 1
    assert kept()["logs", LOG].count("once") == 1
    assert ("logs", STDERR) not in kept()


def test_a_logger_tells_its_task():
    seen = []

    class Keep(logging.Handler):
        def emit(self, record):
            seen.append((record.task, record.run_id, record.node, record.funcName))

    @wf.task
    def speaks():
        wf.logger("mine.too").error("x")

    @wf.workflow
    def body():
        speaks()

    handler = Keep()
    logging.getLogger("mine.too").addHandler(handler)
    try:
        run = body.run(store=False)
    finally:
        logging.getLogger("mine.too").removeHandler(handler)
    assert seen == [("speaks", run.id, 1, "speaks")]


def test_text_of_a_thread_that_the_user_started_is_kept_with_the_run():
    @wf.task
    def starts():
        thread = threading.Thread(target=print, args=("from a thread",))
        thread.start()
        thread.join()

    @wf.workflow
    def body():
        starts()

    body.run(executor="inline")
    assert kept()[None, STDOUT] == "from a thread\n"


def test_printing_outside_a_run_is_not_touched():
    @wf.workflow
    def body():
        prints("x")

    body.run(store=False)
    assert type(sys.stdout).__module__ != "workflow._capture"
    assert logging.Logger.callHandlers.__module__ == "logging"


def test_a_line_without_an_end_is_kept_and_a_printed_line_is_one_row():
    @wf.task
    def dots():
        print("line")
        for _ in range(3):
            print(".", end="")

    @wf.workflow
    def body():
        dots()

    body.run(executor="inline")
    assert kept()["dots", STDOUT] == "line\n..."
    (path,) = Path(".wf/runs").glob("*.db")
    with sqlite3.connect(path) as db:
        assert [text for (text,) in db.execute("SELECT text FROM logs ORDER BY id")] == ["line\n", "..."]
