"""The parts of examples/image_classification that need no engine: pictures, the resize formula, the training."""

from __future__ import annotations

import importlib
import math
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image

DEMO = Path(__file__).parents[2] / "examples" / "image_classification"
TOLERANCE = 1 / 255

SHAPES = [(1, 1), (1, 7), (7, 1), (2, 2), (5, 3), (48, 64), (63, 31), (16, 16)]
"""Width and height of pictures: the smallest, odd, and far from square ones."""
OUT_SIZES = [1, 2, 7, 16, 33]
"""Smaller, equal and larger than those."""


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Imports a module of the example by name; its plain names are forgotten again after the test."""
    monkeypatch.syspath_prepend(str(DEMO))

    def load(name: str) -> ModuleType:
        monkeypatch.delitem(sys.modules, name, raising=False)
        return importlib.import_module(name)

    yield load
    for path in DEMO.glob("*.py"):
        sys.modules.pop(path.stem, None)


def noise(width: int, height: int) -> Image.Image:
    values = np.random.default_rng(width * 1000 + height).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(values)


def stated_formula(image: Image.Image, size: int, resize: ModuleType) -> Any:
    """The formula of resize.py, written down once more from its text, in float64."""
    values = np.asarray(image, dtype=np.float64)

    def one_axis(values: Any, axis: int) -> Any:
        length = values.shape[axis]
        rows = []
        for i in range(size):
            s = max((i + 0.5) * length / size - 0.5, 0)
            i0 = min(math.floor(s), length - 1)
            i1 = min(i0 + 1, length - 1)
            rows.append((1 - (s - i0)) * values.take(i0, axis) + (s - i0) * values.take(i1, axis))
        return np.stack(rows, axis)

    return (one_axis(one_axis(values, 0), 1) / 255 - np.array(resize.MEAN)) / np.array(resize.STD)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_loop_and_every_installed_backend_follow_the_stated_formula(demo: Any, shape: tuple[int, int]) -> None:
    resize = demo("resize")
    image = noise(*shape)
    for size in OUT_SIZES:
        expected = stated_formula(image, size, resize)
        loop = resize.resize_pixel_by_pixel(image, size)
        assert loop.shape == (size, size, 3)
        assert loop.dtype == np.float32
        assert np.abs(loop - expected).max() <= TOLERANCE / 10
        for backend in resize.available_backends():
            batch = resize.resize_batch(np.array(image)[None], size, backend)
            assert batch.shape == (1, size, size, 3), backend
            assert batch.dtype == np.float32, backend
            assert np.abs(batch[0] - expected).max() <= TOLERANCE / 10, backend


def test_numpy_is_always_among_the_backends(demo: Any) -> None:
    assert demo("resize").available_backends()[-1] == "numpy"


def test_an_enlarged_single_pixel_is_that_pixel_everywhere(demo: Any) -> None:
    resize = demo("resize")
    image = Image.new("RGB", (1, 1), (255, 128, 0))
    expected = (np.array([255, 128, 0]) / 255 - np.array(resize.MEAN)) / np.array(resize.STD)
    assert np.allclose(resize.resize_pixel_by_pixel(image, 5), expected, atol=1e-6)
    assert np.allclose(resize.resize_batch(np.array(image)[None], 5), expected, atol=1e-6)


def test_pictures_are_real_jpeg_files_and_the_same_for_the_same_seed(demo: Any, tmp_path: Path) -> None:
    make_images = demo("make_images")
    keys = make_images.write_images(tmp_path / "a", 12, seed=3)
    assert keys == make_images.write_images(tmp_path / "b", 12, seed=3)
    sizes = set()
    for key in keys:
        data = (tmp_path / "a" / key).read_bytes()
        assert data == (tmp_path / "b" / key).read_bytes()
        picture = Image.open(BytesIO(data))
        picture.load()
        assert (picture.format, picture.mode) == ("JPEG", "RGB")
        sizes.add(picture.size)
    assert {key.split("/")[0] for key in keys} == set(make_images.CLASSES)
    assert len(sizes) > 1, "pictures come in several sizes"
    assert make_images.make_image(0, seed=3) != make_images.make_image(0, seed=4)


def test_training_learns_the_classes_and_gives_the_same_accuracy_twice(demo: Any) -> None:
    make_images, model, resize = demo("make_images"), demo("model"), demo("resize")
    pictures = [Image.open(BytesIO(make_images.make_image(i)[1])).resize((24, 24)) for i in range(200)]
    x = resize.resize_batch(np.stack([np.asarray(picture) for picture in pictures]), 24)
    y = np.arange(200) % len(make_images.CLASSES)
    accuracy, where = model.train(x, y, epochs=30, seed=0)
    assert accuracy > 0.45, "chance is 0.25"
    assert (accuracy, where) == model.train(x, y, epochs=30, seed=0)


def test_the_s3_server_goes_when_its_parent_is_killed() -> None:
    program = (
        "import time; from s3_server import s3_server\n"
        "with s3_server() as endpoint: print(endpoint, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=DEMO, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        assert parent.stdout.readline().startswith("http://127.0.0.1:")
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
        assert len(children) == 1
        server = os.pidfd_open(int(children[0]))
        try:
            parent.send_signal(signal.SIGKILL)
            parent.wait()
            assert select.select([server], [], [], 60)[0], "the server is still there a minute later"
        finally:
            os.close(server)
