"""Makes the pictures of the demo: real JPEG files, the same bytes for the same seed on the same Pillow.

Each class has its own shape and leans towards its own colour and gradient, with noise on all of them, so that a small
network has something to learn and something to get wrong. Pictures come in a few sizes, as real ones do.
"""

from __future__ import annotations

import random
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw

CLASSES = ("circle", "cross", "square", "triangle")
SIZES = ((160, 120), (120, 160), (144, 144))
JPEG_QUALITY = 85

Color = tuple[int, int, int]

_TINTS: dict[str, Color] = {
    "circle": (150, 110, 100),
    "cross": (110, 150, 100),
    "square": (100, 110, 150),
    "triangle": (140, 140, 95),
}


def _jitter(rng: random.Random, color: Color, spread: int) -> Color:
    """Moves each channel by up to `spread`, inside 0..255."""
    red, green, blue = (min(255, max(0, channel + rng.randint(-spread, spread))) for channel in color)
    return red, green, blue


def _gradient(rng: random.Random, size: tuple[int, int], start: Color, end: Color) -> Image.Image:
    """A linear gradient from `start` to `end`, from top to bottom or from left to right."""
    mask = Image.linear_gradient("L")
    if rng.random() < 0.5:
        mask = mask.transpose(Image.Transpose.ROTATE_90)
    return Image.composite(Image.new("RGB", size, end), Image.new("RGB", size, start), mask.resize(size))


def _draw_shape(draw: ImageDraw.ImageDraw, name: str, box: tuple[int, int, int, int], color: Color) -> None:
    left, top, right, bottom = box
    middle_x, middle_y = (left + right) // 2, (top + bottom) // 2
    if name == "circle":
        draw.ellipse(box, fill=color)
    elif name == "square":
        draw.rectangle(box, fill=color)
    elif name == "triangle":
        draw.polygon([(middle_x, top), (right, bottom), (left, bottom)], fill=color)
    else:
        width = max(3, (right - left) // 5)
        draw.line([(middle_x, top), (middle_x, bottom)], fill=color, width=width)
        draw.line([(left, middle_y), (right, middle_y)], fill=color, width=width)


def make_image(index: int, seed: int = 0) -> tuple[str, bytes]:
    """Returns the key (`class/number.jpg`) and the JPEG bytes of picture number `index`."""
    rng = random.Random(f"{seed}/{index}")
    name = CLASSES[index % len(CLASSES)]
    width, height = size = rng.choice(SIZES)
    picture = _gradient(rng, size, _jitter(rng, _TINTS[name], 30), _jitter(rng, (128, 128, 128), 90))
    draw = ImageDraw.Draw(picture)
    for _ in range(40):
        x, y, radius = rng.randrange(width), rng.randrange(height), rng.randint(1, 5)
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=_jitter(rng, (128, 128, 128), 120))
    side = rng.randint(min(size) // 3, min(size) * 3 // 4)
    left, top = rng.randint(0, width - side), rng.randint(0, height - side)
    _draw_shape(draw, name, (left, top, left + side, top + side), _jitter(rng, _TINTS[name], 50))
    buffer = BytesIO()
    picture.save(buffer, format="JPEG", quality=JPEG_QUALITY)
    return f"{name}/{index:05d}.jpg", buffer.getvalue()


def write_images(folder: Path, count: int, seed: int = 0) -> list[str]:
    """Writes `count` pictures below `folder`, one folder for each class, and returns their keys."""
    keys = []
    for index in range(count):
        key, data = make_image(index, seed)
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        keys.append(key)
    return keys
