"""Resize and normalise, twice: a pure-Python loop, and whole batches at once.

Both follow one formula: bilinear, half-pixel centres, no antialiasing (PyTorch: align_corners=False, antialias=False).
For output position i of n, from an input of m positions:

    s  = max((i + 0.5) * m / n - 0.5, 0)        the place of its centre in the input
    i0 = min(floor(s), m - 1)    i1 = min(i0 + 1, m - 1)    w = s - i0
    value = (1 - w) * input[i0] + w * input[i1]

for rows and for columns; then (value / 255 - MEAN) / STD for each channel.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)

Pixels = NDArray[np.float32]
"""Pictures as (number, height, width, channel)."""


def _taps(out_length: int, in_length: int) -> list[tuple[int, int, float]]:
    """The two input positions and the weight of the second, for each output position."""
    taps = []
    for i in range(out_length):
        s = max((i + 0.5) * in_length / out_length - 0.5, 0.0)
        i0 = min(int(s), in_length - 1)
        taps.append((i0, min(i0 + 1, in_length - 1), s - i0))
    return taps


def resize_pixel_by_pixel(image: Image.Image, size: int) -> Pixels:
    """The slow way: one picture, one pixel, one channel at a time."""
    width, height = image.size
    pixels: Any = image.load()
    columns = _taps(size, width)
    out = []
    for y0, y1, wy in _taps(size, height):
        row = []
        for x0, x1, wx in columns:
            top_left, top_right = pixels[x0, y0], pixels[x1, y0]
            bottom_left, bottom_right = pixels[x0, y1], pixels[x1, y1]
            pixel = []
            for c in range(3):
                top = (1 - wx) * top_left[c] + wx * top_right[c]
                bottom = (1 - wx) * bottom_left[c] + wx * bottom_right[c]
                value = (1 - wy) * top + wy * bottom
                pixel.append((value / 255 - MEAN[c]) / STD[c])
            row.append(pixel)
        out.append(row)
    return np.array(out, dtype=np.float32)


def _resize_numpy(batch: NDArray[np.uint8], size: int) -> Pixels:
    def axis(in_length: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Pixels]:
        taps = np.array(_taps(size, in_length))
        return taps[:, 0].astype(np.intp), taps[:, 1].astype(np.intp), taps[:, 2].astype(np.float32)

    y0, y1, wy = axis(batch.shape[1])
    x0, x1, wx = axis(batch.shape[2])
    wy, wx = wy[:, None, None], wx[:, None]
    rows = batch[:, y0] * (1 - wy) + batch[:, y1] * wy
    return rows[:, :, x0] * (1 - wx) + rows[:, :, x1] * wx


def _resize_torch(batch: NDArray[np.uint8], size: int) -> Pixels:
    import torch

    channels_first = torch.from_numpy(batch).permute(0, 3, 1, 2).float()
    out = torch.nn.functional.interpolate(
        channels_first, (size, size), mode="bilinear", align_corners=False, antialias=False
    )
    return np.asarray(out.permute(0, 2, 3, 1))


def _resize_torchvision(batch: NDArray[np.uint8], size: int) -> Pixels:
    import torch
    from torchvision.transforms import InterpolationMode
    from torchvision.transforms.functional import resize

    channels_first = torch.from_numpy(batch).permute(0, 3, 1, 2).float()
    out = resize(channels_first, [size, size], interpolation=InterpolationMode.BILINEAR, antialias=False)
    return np.asarray(out.permute(0, 2, 3, 1))


_BACKENDS: dict[str, Callable[[NDArray[np.uint8], int], Pixels]] = {
    "torchvision": _resize_torchvision,
    "torch": _resize_torch,
    "numpy": _resize_numpy,
}


@cache
def available_backends() -> list[str]:
    """The backends whose packages are installed and load, best first; NumPy is always there."""
    found = []
    for name in _BACKENDS:
        try:
            import_module(name)
        except (ImportError, OSError, RuntimeError):  # the last two: a torchvision that was built for another torch
            continue
        found.append(name)
    return found


def resize_batch(batch: NDArray[np.uint8], size: int, backend: str | None = None) -> Pixels:
    """The fast way: a batch of pictures of one size, (number, height, width, 3), in a few array operations."""
    values = _BACKENDS[backend or available_backends()[0]](batch, size)
    scale = np.array([1 / (255 * s) for s in STD], dtype=np.float32)
    shift = np.array([m / s for m, s in zip(MEAN, STD, strict=True)], dtype=np.float32)
    return values * scale - shift
