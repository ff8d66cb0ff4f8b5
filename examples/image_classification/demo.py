"""The demo: runs a slow pipeline, lets the report name its bottleneck, runs the fixed one and compares the two.

    python demo.py [--images 800] [--size 128] [--epochs 45] [--data FOLDER]

Everything stays on this machine: an S3 server on loopback, pictures and run store below --data. Exit code: 0 when the
fixed pipeline takes at most 0.60 of the slow one's time and prepares the same pictures, 1 when not, 3 when something is
missing here.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill
from types import FrameType
from typing import Any, NamedTuple, NoReturn

HERE = Path(__file__).resolve().parent
BUCKET = "images"
PACKAGES = {"boto3": "boto3", "moto": "moto[s3,server]", "numpy": "numpy", "PIL": "pillow"}
FIXED_TASK = "preprocess_images"
BOUND = 0.60
"""What the published case reached: 27 of 45 minutes."""
COMPARED = 40
"""Pictures that both variants prepare again to be compared."""


class SetupError(Exception):
    """Something that the demo needs is not here; the text says what and how to get it."""


def require_packages() -> None:
    """Raises SetupError when a package of the extra `demo` is missing."""
    missing = [package for module, package in PACKAGES.items() if find_spec(module) is None]
    if missing:
        raise SetupError(
            f"The demo needs {', '.join(missing)}, which {sys.executable} does not have. "
            'Install it with: pip install "workflow-v6[demo]"'
        )


def find_wf() -> str:
    """The `wf` command of this Python's environment, else the one on the PATH."""
    wf = shutil.which("wf", path=sysconfig.get_path("scripts")) or shutil.which("wf")
    if wf is None:
        raise SetupError(f"No `wf` command beside {sys.executable} or on the PATH. Install it with: make setup")
    return wf


def say(text: str = "") -> None:
    """Prints at once, so that our lines and those of the commands stay in order."""
    print(text, flush=True)


def title(text: str) -> None:
    """Prints a heading."""
    say(f"\n== {text}")


def prepare_images(folder: Path, count: int, seed: int) -> list[str]:
    """Writes the pictures, or keeps those of an earlier demo with the same settings; returns their keys."""
    from make_images import write_images

    marker = folder / "made.json"
    settings = {"count": count, "seed": seed}
    if marker.exists():
        made = json.loads(marker.read_text())
        if made["settings"] == settings and all((folder / key).exists() for key in made["keys"]):
            return list(made["keys"])
        shutil.rmtree(folder)
    keys = write_images(folder, count, seed)
    marker.write_text(json.dumps({"settings": settings, "keys": keys}))
    return keys


def upload(endpoint: str, folder: Path, keys: list[str]) -> None:
    """Puts the pictures into a new bucket."""
    import boto3

    s3 = boto3.client("s3", endpoint_url=endpoint)
    s3.create_bucket(Bucket=BUCKET)
    with ThreadPoolExecutor(max_workers=4) as pool:
        list(pool.map(lambda key: s3.put_object(Bucket=BUCKET, Key=key, Body=(folder / key).read_bytes()), keys))


def largest_difference(folder: Path, keys: list[str], size: int) -> tuple[float, int]:
    """The largest difference between the two variants, in normalised values, and the number of pictures compared."""
    import numpy as np
    from pipeline import prepare_fixed, prepare_slow

    chosen = keys[:: max(1, len(keys) // COMPARED)]
    pictures = [(folder / key).read_bytes() for key in chosen]
    return float(np.abs(prepare_slow(pictures, size) - prepare_fixed(pictures, size)).max()), len(chosen)


def verdict(good: bool) -> str:
    """The first word of a check."""
    return "ok  " if good else "FAIL"


class Comparison(NamedTuple):
    """Seconds of the whole run and of the task that was fixed, before and after."""

    run_before: float
    run_after: float
    task_before: float
    task_after: float

    @property
    def ratio(self) -> float:
        """The time of the fixed pipeline as a part of the slow one's."""
        return self.run_after / self.run_before


def comparison(diff: Any) -> Comparison:
    """Takes from the answer of `wf diff --json` what the demo is judged by."""
    task = next(row for row in diff["tasks"] if row["task"] == FIXED_TASK)
    times = [row["wall_seconds"][when]["value"] for row in (diff["run"], task) for when in ("before", "after")]
    return Comparison(*times)


class Demo:
    """One demo: its settings, its `wf` command and its store."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.wf = find_wf()
        for library in ("OMP", "OPENBLAS", "MKL"):
            # One thread within an array operation: the parts of the run stay the same on any number of cores.
            os.environ.setdefault(f"{library}_NUM_THREADS", "1")
        if sys.prefix != sys.base_prefix:
            os.environ["VIRTUAL_ENV"] = sys.prefix  # `wf run` takes the same Python, with the same packages
        self.images = options.data / "images"
        self.store = options.data / ".wf"

    def show(self, *arguments: str) -> None:
        """Runs a `wf` verb on the store of the demo and lets it print."""
        command = [*arguments, "--store", str(self.store)]
        say(f"$ wf {' '.join(command)}")
        subprocess.run([self.wf, *command], check=True)

    def read(self, *arguments: str) -> Any:
        """The answer of a `wf` verb as JSON."""
        command = [self.wf, *arguments, "--json", "--store", str(self.store)]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)

    def run_pipeline(self, endpoint: str, variant: str) -> str:
        """Runs one variant with its metrics watched, shows some of them, and returns the id of the run."""
        from watch import watch_run

        parameters = {"endpoint": endpoint, "bucket": BUCKET, "variant": variant}
        parameters |= {name: str(getattr(self.options, name)) for name in ("size", "epochs", "seed")}
        command = ["run", str(HERE / "pipeline.py"), "--metrics-port", "0", "--store", str(self.store)]
        command += ["--tag", f"variant={variant}"]
        command += [word for name, value in parameters.items() for word in ("--param", f"{name}={value}")]
        say(f"$ wf {' '.join(command)}")
        code = watch_run([self.wf, *command], say)
        if code != 0:
            raise SystemExit(f"The pipeline failed with exit code {code}; its own messages stand above.")
        runs = self.read("runs")["runs"]  # newest first
        return str(next(run["id"] for run in runs if run["tags"].get("variant") == variant))

    def play(self) -> bool:
        """The whole demo; True when the fixed pipeline is as much faster as it should be, and as right."""
        from s3_server import s3_server, use_demo_credentials

        use_demo_credentials()
        title(f"{self.options.images} pictures, in an S3 bucket on this machine")
        keys = prepare_images(self.images, self.options.images, self.options.seed)
        say(f"JPEG files: {self.images}")
        with s3_server() as endpoint:
            upload(endpoint, self.images, keys)
            say(f"bucket:     {endpoint}/{BUCKET}")
            title("The slow pipeline, and its /metrics while it runs")
            slow = self.run_pipeline(endpoint, "slow")
            title("Where does the time go?")
            self.show("report", slow)
            self.show("logs", slow)
            title("The fixed pipeline: whole batches, on several threads")
            fixed = self.run_pipeline(endpoint, "fixed")
            self.show("report", fixed)
            self.show("logs", fixed)
        title("Before and after")
        self.show("diff", slow, fixed)
        return self.judge(slow, fixed, keys)

    def judge(self, slow: str, fixed: str, keys: list[str]) -> bool:
        """Checks the promises of the demo and sums it up."""
        title("Checks")
        times = comparison(self.read("diff", slow, fixed))
        bottleneck = (self.read("report", slow)["bottleneck"] or {"task": None})["task"]
        difference, compared = largest_difference(self.images, keys, self.options.size)
        named, faster, same = bottleneck == FIXED_TASK, times.ratio <= BOUND, difference <= 1 / 255
        say(f"{verdict(named)} the report names {bottleneck} as the bottleneck of the slow pipeline")
        say(f"{verdict(faster)} the fixed pipeline takes {times.ratio:.2f} of the slow one's time (allowed: {BOUND})")
        say(f"{verdict(same)} on {compared} pictures both variants are {difference:.1g} apart (allowed: 1/255 = 0.004)")
        self.sum_up(times, fixed)
        return named and faster and same

    def sum_up(self, times: Comparison, fixed: str) -> None:
        """Ends the demo with one paragraph and the commands to go on with."""
        from resize import available_backends

        title("Summary")
        text = (
            f"The slow pipeline took {times.run_before:.1f} s, {times.task_before:.1f} s of it in {FIXED_TASK}, a "
            f"Python loop over pixels. In batches, on threads, with {available_backends()[0]}, this task "
            f"takes {times.task_after:.1f} s and the pipeline {times.run_after:.1f} s, {times.ratio:.2f} of before; "
            f"the published case that it follows went from 45 to 27 minutes, 0.60. The pictures are in {self.images}, "
            f"the runs in {self.store}:"
        )
        say(fill(text, width=100, break_long_words=False, break_on_hyphens=False))
        for verb in ("runs", f"show {fixed}", f"logs {fixed}", "serve"):
            say(f"  wf {verb} --store {self.store}")


def parse(arguments: list[str]) -> argparse.Namespace:
    """The settings of the demo."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--images", type=int, default=800, help="number of pictures (%(default)s)")
    parser.add_argument("--size", type=int, default=128, help="width and height they are resized to (%(default)s)")
    parser.add_argument("--epochs", type=int, default=45, help="passes of the training (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of pictures and training (%(default)s)")
    parser.add_argument("--data", type=Path, default=HERE / "data", help="folder for pictures and store (%(default)s)")
    options = parser.parse_args(arguments)
    if options.images < 20 or options.size < 1 or options.epochs < 1:
        parser.error("--images must be at least 20, --size and --epochs at least 1")
    options.data = options.data.resolve()
    return options


def _terminated(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(143)


def main(arguments: list[str]) -> int:
    """Runs the demo and returns its exit code."""
    options = parse(arguments)
    signal.signal(signal.SIGTERM, _terminated)  # so that everything we started is stopped then, too
    try:
        require_packages()
        return 0 if Demo(options).play() else 1
    except SetupError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 3
    except subprocess.CalledProcessError as error:
        print(f"demo: `{' '.join(error.cmd)}` failed with exit code {error.returncode}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("demo: interrupted; everything it started has been stopped.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
