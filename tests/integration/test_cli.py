"""The native command `wf` from outside: what it prints, in which form, and with which exit code."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_support import PIPELINE, WF, document, environment, ok, run_workflow, wf

VERBS = [
    "run",
    "runs",
    "show",
    "report",
    "diff",
    "logs",
    "graph",
    "dump",
    "record",
    "export",
    "serve",
    "doctor",
    "clean",
    "completions",
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two good runs, a failed one (tag: kind=bad), and a good one again, in this order."""
    folder = tmp_path_factory.mktemp("cli") / ".wf"
    assert run_workflow(folder, "squares", "--tag", "kind=good").returncode == 0
    assert run_workflow(folder, "busy").returncode == 0
    failed = run_workflow(folder, "squares", "--param", "fail=true", "--tag", "kind=bad")
    assert failed.returncode == 1, failed.stderr
    assert run_workflow(folder, "squares", "--param", "n=5").returncode == 0
    return folder


# --- wrong usage ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["rnu"], "did you mean 'run'?"),
        (["runs", "--wrong"], "wf runs --help"),
        (["runs", "--newer-than", "soon"], "no duration"),
        (["runs", "--state", "done"], "--state"),
        (["show"], "run is required"),
        (["diff", "last"], "after is required"),
        (["graph", "--format", "svg"], "--format"),
        (["logs", "--node", "0"], "--node"),
        (["clean", "--max-size", "big"], "no size"),
        (["dump"], "dump what? --pid PID, or --core FILE"),
        (["dump", "--pid", "abc"], "no process id"),
        (["completions", "tcsh"], "shell"),
        (["run", "/no/such/pipeline.py"], "no such file"),
        (["run", str(PIPELINE), "--param", "novalue"], "key=value"),
        (["run", str(PIPELINE), "--workers", "0"], "--workers"),
        (["run", str(PIPELINE), "--executor", "rocket"], "--executor"),
        (["run", str(PIPELINE), "--metrics-address", "0.0.0.0"], "--token-file"),
        (["run", str(PIPELINE), "--params", "values.yaml"], "no such file"),
        (["run", str(PIPELINE), "--linger", "-3"], "no duration"),
    ],
)
def test_wrong_usage_is_2_and_says_what_is_wrong(arguments: list[str], says: str) -> None:
    done = wf(*arguments)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert done.stdout == ""


def test_without_arguments_the_help_is_shown_and_the_code_is_2() -> None:
    done = wf()
    assert done.returncode == 2
    for verb in VERBS:
        assert f"\n  {verb} " in done.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_has_help_with_examples(verb: str) -> None:
    assert f"Examples:\n  wf {verb}" in ok(verb, "--help")


def test_version_is_the_packages() -> None:
    import workflow

    assert ok("--version") == f"wf {workflow.__version__}\n"


# --- what is not there ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [["runs"], ["report"], ["show", "last"], ["diff", "last", "last"], ["logs"], ["graph"], ["serve"]]
)
def test_a_missing_store_is_3_and_named(arguments: list[str], tmp_path: Path) -> None:
    done = wf(*arguments, "--store", tmp_path / "nothing")
    assert done.returncode == 3
    assert str(tmp_path / "nothing") in done.stderr
    assert not (tmp_path / "nothing").exists(), "looking must not make a store"


def test_an_unknown_run_is_3(store: Path) -> None:
    done = wf("show", "01ZZZZZZZZZZZZZZZZZZZZZZZZ", "--store", store)
    assert done.returncode == 3
    assert "01ZZZZZZZZZZZZZZZZZZZZZZZZ" in done.stderr


def test_an_ambiguous_beginning_is_2_and_shows_the_candidates(store: Path) -> None:
    ids = [run["id"] for run in document("runs", "--store", store)["runs"]]
    common = next(ids[0][:n] for n in range(len(ids[0]), 0, -1) if all(i.startswith(ids[0][:n]) for i in ids))
    assert len(common) >= 4, "ids made within one test share the beginning of their time"
    done = wf("show", common, "--store", store)
    assert done.returncode == 2, done.stderr
    assert ids[0] in done.stderr


def test_errors_are_documents_too(tmp_path: Path) -> None:
    done = wf("runs", "--json", "--store", tmp_path / "nothing")
    assert done.returncode == 3
    error = json.loads(done.stdout)
    assert error["version"] == 1
    assert error["error"]["code"] == "not found"
    assert error["error"]["message"] in done.stderr


def test_a_store_emptied_by_clean_has_no_runs(tmp_path: Path) -> None:
    folder = tmp_path / ".wf"
    assert run_workflow(folder, "busy", "--param", "spin_s=0.01").returncode == 0
    assert "removed 1 run" in ok("clean", "--keep", "0", "--store", folder)
    assert ok("runs", "--store", folder) == f"no runs in {folder}\n"
    assert document("runs", "--store", folder)["runs"] == []
    assert wf("report", "--store", folder).returncode == 3


# --- what is there -------------------------------------------------------------------------------------------------


def test_runs_are_listed_newest_first_and_filtered(store: Path) -> None:
    states = [run["state"] for run in document("runs", "--store", store)["runs"]]
    assert states == ["success", "failed", "success", "success"]
    assert [r["workflow"] for r in document("runs", "--store", store, "--workflow", "busy")["runs"]] == ["busy"]
    assert [r["tags"] for r in document("runs", "--store", store, "--state", "failed")["runs"]] == [{"kind": "bad"}]
    assert len(document("runs", "--store", store, "-n", "2")["runs"]) == 2


def test_show_has_the_users_traceback_and_who_was_skipped(store: Path) -> None:
    text = ok("show", "tag:kind=bad", "--store", store)
    assert "ValueError: total was asked to fail" in text
    assert f'File "{PIPELINE}"' in text
    assert text.index("Traceback") < text.index("skipped because of total: mail")
    shown = document("show", "tag:kind=bad", "--store", store)
    by_task = {node["task"]: node for node in shown["nodes"]}
    assert by_task["total"]["state"] == "failed"
    assert by_task["mail"]["state"] == "skipped"
    assert by_task["mail"]["cause_node"] == by_task["total"]["node"]
    assert by_task["mail"]["attempts"] == []


def test_the_verdict_is_the_busy_task_on_one_core(store: Path) -> None:
    report = document("report", "last~2", "--store", store)
    assert report["run"]["workflow"] == "busy"
    assert report["bottleneck"]["task"] == "spin"
    one_cpu = report["run"]["usable_cpus"] < 1.8
    assert report["bottleneck"]["rule"] == ("cpu.all-cores" if one_cpu else "cpu.one-core")
    tasks = {task["task"]: task for task in report["tasks"]}
    assert tasks["spin"]["wall_seconds"] >= 0.5
    assert tasks["spin"]["cpu_seconds"]["quality"] == "measured"
    assert 0 < tasks["spin"]["share"] <= 1
    assert tasks["doze"]["cores_used"] < 0.5
    assert {"gpu_busy", "network_bytes"} <= {entry["figure"] for entry in report["absent"]}


def test_report_is_the_same_table_in_two_languages(store: Path) -> None:
    english = ok("report", "last~2", "--store", store)
    french = ok("report", "last~2", "--store", store, LANG="fr_FR.UTF-8")
    assert "Bottleneck: spin" in english
    assert "Goulot d'étranglement: spin" in french
    assert ok("report", "last~2", "--store", store, "--lang", "en", LANG="fr_FR.UTF-8") == english


def test_absent_is_a_dash_and_never_zero(store: Path) -> None:
    gpu_column = [line for line in ok("report", "--store", store).splitlines() if line.startswith("square ")]
    assert "—" in gpu_column[0]
    tasks = document("report", "--store", store)["tasks"]
    assert all(task["gpu_busy_seconds"] is None for task in tasks)


def test_diff_compares_by_name_and_says_that_it_is_one_pair(store: Path) -> None:
    text = ok("diff", "tag:kind=good", "last", "--store", store)
    assert "n = 1 and 1" in text
    diff = document("diff", "tag:kind=good", "last", "--store", store)
    assert [diff["n_before"], diff["n_after"]] == [1, 1]
    rows = {row["task"]: row for row in diff["tasks"]}
    assert rows["square"]["attempts_before"] == 3
    assert rows["square"]["attempts_after"] == 5
    other = document("diff", "tag:kind=good", "last~2", "--store", store)
    only = {row["task"]: row["in_before"] for row in other["tasks"]}
    assert only["load"] is True
    assert only["spin"] is False


def test_logs_know_task_and_stream(store: Path) -> None:
    lines = document("logs", "last", "--store", store)["lines"]
    assert ("load", "stdout", "loading 5") in {(e["task"], e["stream"], e["text"].strip()) for e in lines}
    squares = document("logs", "last", "--task", "square", "--stream", "stderr", "--store", store)["lines"]
    assert {entry["text"].strip() for entry in squares} == {f"squaring {i}" for i in range(5)}
    text = ok("logs", "last", "--task", "square", "--stream", "log", "--store", store)
    assert re.search(r"square\[3\] +WARNING +.*a warning about 3", text)


def test_logs_of_an_unknown_task_name_the_known_ones(store: Path) -> None:
    done = wf("logs", "last", "--task", "sqare", "--store", store)
    assert done.returncode == 2
    assert "load, " in done.stderr


def test_graph_as_text_dot_and_mermaid(store: Path) -> None:
    text = ok("graph", "--store", store)
    assert text.splitlines() == [
        "load",
        "square \N{MULTIPLICATION SIGN}5  <- load (after)",
        "total  <- square",
        "mail  <- total",
    ]
    mermaid = ok("graph", "--format", "mermaid", "--store", store).splitlines()
    assert mermaid[0] == "flowchart LR"
    assert all(re.fullmatch(r'  n\d+(\["[^"]*"\]| (-->|-\.->) n\d+)', line) for line in mermaid[1:])
    dot = ok("graph", "--format", "dot", "--nodes", "--store", store)
    assert dot.count("->") == 5 + 5 + 1
    if shutil.which("dot"):  # else the shape above is all that can be checked
        drawn = subprocess.run(["dot", "-Tsvg"], input=dot, text=True, capture_output=True, timeout=60)
        assert drawn.returncode == 0, drawn.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["runs"], ["show", "last"], ["report"], ["diff", "last~1", "last"], ["logs"], ["graph"],
        ["clean", "--older-than", "30d", "--dry-run"],
    ],
)  # fmt: skip
def test_every_reading_verb_has_a_document(arguments: list[str], store: Path) -> None:
    assert document(*arguments, "--store", store)["kind"] == arguments[0]


def test_a_killed_run_is_lost_with_its_cause(tmp_path: Path) -> None:
    folder = tmp_path / ".wf"
    command = [WF, "run", f"{PIPELINE}:busy", "--store", folder, "--python", sys.executable, "-q"]
    process = subprocess.Popen([*command, "--param", "spin_s=0.1", "--param", "doze_s=60"], env=environment())
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:  # until what is running has been flushed
            done = wf("show", "last", "--json", "--store", folder)
            nodes = json.loads(done.stdout)["nodes"] if done.returncode == 0 else []
            if any(node["task"] == "doze" and node["state"] == "running" for node in nodes):
                break
            time.sleep(0.2)
        else:
            pytest.fail("the run never showed its running task")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
    run = document("runs", "--store", folder)["runs"][0]
    assert run["state"] == "lost"
    assert run["cause"]
    shown = ok("show", "last", "--store", folder)
    assert "lost" in shown
    assert run["cause"] in shown
    assert document("report", "--store", folder)["run"]["state"] == "lost"


# --- terminals, pipes, files ---------------------------------------------------------------------------------------


def test_no_colour_and_no_shortening_in_a_pipe(store: Path) -> None:
    assert "\x1b" not in ok("report", "--store", store, TERM="xterm-256color")


@pytest.mark.parametrize(("env", "colour"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colour_on_a_terminal_unless_refused(env: dict[str, str], colour: bool, store: Path) -> None:
    import pty

    parent, child = pty.openpty()
    process = subprocess.Popen(
        [WF, "runs", "--store", store], stdout=child, env=environment(**{"TERM": "xterm", **env})
    )
    os.close(child)
    output = b""
    while True:
        try:
            chunk = os.read(parent, 4096)
        except OSError:  # EIO: the other side is closed
            break
        if not chunk:
            break
        output += chunk
    os.close(parent)
    assert process.wait(timeout=60) == 0
    assert (b"\x1b[" in output) is colour


def test_a_reader_that_leaves_early_causes_no_message(store: Path) -> None:
    process = subprocess.Popen(
        ["bash", "-c", 'for i in 1 2 3; do "$0" runs --json --store "$1" | head -c 1 >/dev/null; done', WF, store],
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.communicate(timeout=60)[1] == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_behind_standard_output_is_reported(store: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [WF, "runs", "--store", store],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            timeout=60,
        )
    assert done.returncode == 3
    assert "standard output" in done.stderr


# --- completions ---------------------------------------------------------------------------------------------------


def test_bash_accepts_and_uses_its_completions(tmp_path: Path) -> None:
    script = tmp_path / "wf.bash"
    script.write_text(ok("completions", "bash"))
    checked = subprocess.run(["bash", "-n", script], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    asked = 'source "$0"; COMP_WORDS=(wf gr); COMP_CWORD=1; _wf; echo "${COMPREPLY[@]}"'
    assert subprocess.check_output(["bash", "-c", asked, script], text=True) == "graph\n"
    asked = 'source "$0"; COMP_WORDS=(wf run --executor ""); COMP_CWORD=3; _wf; echo "${COMPREPLY[@]}"'
    words = subprocess.check_output(["bash", "-c", asked, script], text=True).split()
    assert words == ["inline", "threads", "processes", "async"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_accept_their_completions(shell: str, tmp_path: Path) -> None:
    script = ok("completions", shell)
    for verb in VERBS:
        assert verb in script
    if shutil.which(shell):
        path = tmp_path / "completions"
        path.write_text(script)
        checked = subprocess.run([shell, "-n", path], capture_output=True, text=True, timeout=60)
        assert checked.returncode == 0, checked.stderr


# --- clean, doctor -------------------------------------------------------------------------------------------------


def test_clean_says_before_it_removes(tmp_path: Path) -> None:
    folder = tmp_path / ".wf"
    for _ in range(3):  # with log lines, so that each run has a file of its own
        assert run_workflow(folder, "squares").returncode == 0
    ids = [run["id"] for run in document("runs", "--store", folder)["runs"]]
    planned = document("clean", "--keep", "1", "--dry-run", "--store", folder)
    assert [run["id"] for run in planned["runs"]] == ids[1:]
    assert len(document("runs", "--store", folder)["runs"]) == 3
    assert document("clean", "--older-than", "1h", "--store", folder)["kept"] == 3
    assert document("clean", "--max-size", "0", "--keep", "2", "--store", folder)["kept"] == 2
    assert [run["id"] for run in document("runs", "--store", folder)["runs"]] == ids[:2]


def test_clean_without_a_limit_removes_nothing(store: Path) -> None:
    done = wf("clean", "--store", store)
    assert done.returncode == 2
    assert "--older-than" in done.stderr


def test_doctor_tells_what_is_there_and_what_is_wrong(store: Path, tmp_path: Path) -> None:
    doctor = document("doctor", "--store", store, "--python", sys.executable)
    assert doctor["sound"] is True
    ids = {check["id"] for check in doctor["machine"] + doctor["installation"]}
    assert {"cpu.usable", "io.process", "store.folder", "store.file_system", "python.workflow"} <= ids
    assert all(check["reason"] for check in doctor["machine"] if check["available"] == "no")
    missing = wf("doctor", "--store", tmp_path / "new", "--python", "/no/such/python")
    assert missing.returncode == 3
    assert "/no/such/python" in missing.stdout


# --- run -----------------------------------------------------------------------------------------------------------


def test_run_keeps_the_pid_and_the_exit_code(tmp_path: Path) -> None:
    pipeline = tmp_path / "pid.py"
    pipeline.write_text(
        "import os, workflow as wf\n"
        "@wf.task\ndef write(path: str):\n    open(path, 'w').write(str(os.getpid()))\n"
        "@wf.workflow\ndef pid(path: str):\n    return write(path)\n"
    )
    command = [WF, "run", pipeline, "--param", f"path={tmp_path / 'pid'}", "--python", sys.executable]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL)
    assert process.wait(timeout=60) == 0
    assert (tmp_path / "pid").read_text() == str(process.pid)


def test_a_file_called_workflow_py_does_not_hide_the_package(tmp_path: Path) -> None:
    (tmp_path / "workflow.py").write_text(PIPELINE.read_text())
    done = wf("run", "workflow.py:busy", "--param", "spin_s=0.01", "--python", sys.executable, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_python_that_is_not_there_is_3(tmp_path: Path) -> None:
    done = wf("run", PIPELINE, "--python", tmp_path / "python")
    assert done.returncode == 3
    assert "pip install" in done.stderr
    done = wf("run", PIPELINE, VIRTUAL_ENV=str(tmp_path))
    assert done.returncode == 3
    assert "VIRTUAL_ENV" in done.stderr


def test_a_python_without_the_package_is_3_and_says_how_to_get_it(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    bare.chmod(0o755)
    done = wf("run", PIPELINE, "--python", bare, PYTHONPATH="")
    assert done.returncode == 3, done.stderr
    assert "cannot import workflow" in done.stderr


def test_a_closed_standard_error_changes_no_exit_code(tmp_path: Path) -> None:
    for arguments, code in ((["nonsense"], 2), (["runs", "--store", str(tmp_path / "none")], 3)):
        done = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", WF, *arguments], env=environment())
        assert done.returncode == code, arguments
