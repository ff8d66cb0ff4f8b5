"""Image classification in three tasks: fetch the pictures from S3, prepare them, train a classifier.

    wf run pipeline.py --param endpoint=http://127.0.0.1:5000 --param variant=slow
    wf report
    wf run pipeline.py --param endpoint=http://127.0.0.1:5000 --param variant=fixed
    wf diff RUN1 RUN2

`variant` chooses between a first version, which prepares the pictures pixel by pixel, and the one that the report's
advice leads to: whole batches, on several threads. `demo.py` brings the S3 server, the pictures and the comparison.
"""

from __future__ import annotations

import os
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Literal

import boto3
import numpy as np
import workflow as wf
from model import Floats, Labels, train
from PIL import Image
from resize import available_backends, resize_batch, resize_pixel_by_pixel
from workflow import profiling

BATCH = 16
Objects = list[tuple[str, bytes]]
Variant = Literal["slow", "fixed"]


@dataclass
class Dataset:
    """Pictures as (number, height, width, channel), normalised, and the number of the class of each."""

    x: Floats
    y: Labels


@wf.task
@profiling.collect()
def fetch_images(endpoint: str, bucket: str) -> Objects:
    """Downloads every object of the bucket: its key, `class/number.jpg`, and its bytes."""
    # Credentials come from the environment or ~/.aws, as always with boto3; an empty endpoint is Amazon's own.
    s3 = boto3.client("s3", endpoint_url=endpoint or None)
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
    keys = [item["Key"] for page in pages for item in page.get("Contents", [])]
    objects = [(key, s3.get_object(Bucket=bucket, Key=key)["Body"].read()) for key in keys]
    wf.logger().info("fetched %d pictures, %d bytes", len(objects), sum(len(data) for _, data in objects))
    return objects


def decode(data: bytes) -> Image.Image:
    """The picture of a JPEG file, as RGB."""
    return Image.open(BytesIO(data)).convert("RGB")


def prepare_slow(pictures: list[bytes], size: int) -> Floats:
    """The first version: one picture after the other, in a Python loop over its pixels."""
    return np.stack([resize_pixel_by_pixel(decode(data), size) for data in pictures])


def prepare_fixed(pictures: list[bytes], size: int) -> Floats:
    """The improved version: batches in a few array operations each, on several threads.

    Decoding and array operations release the interpreter lock, so the threads use all cores.
    """
    out = np.empty((len(pictures), size, size, 3), dtype=np.float32)

    def prepare_batch(start: int) -> None:
        by_shape: defaultdict[tuple[int, ...], list[tuple[int, Any]]] = defaultdict(list)
        for i, data in enumerate(pictures[start : start + BATCH], start):
            pixels = np.asarray(decode(data))
            by_shape[pixels.shape].append((i, pixels))
        for group in by_shape.values():
            places, batch = zip(*group, strict=True)
            out[list(places)] = resize_batch(np.stack(batch), size)

    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        list(pool.map(prepare_batch, range(0, len(pictures), BATCH)))
    return out


@wf.task
@profiling.collect()
def preprocess_images(objects: Objects, size: int, variant: Variant) -> Dataset:
    """Decodes, resizes to `size` x `size` and normalises all pictures; see resize.py for the formula."""
    prepare = {"slow": prepare_slow, "fixed": prepare_fixed}[variant]
    classes = sorted({key.split("/")[0] for key, _ in objects})
    y = np.array([classes.index(key.split("/")[0]) for key, _ in objects], dtype=np.int64)
    x = prepare([data for _, data in objects], size)
    how = "a Python loop" if variant == "slow" else f"batches of {BATCH} on threads and {available_backends()[0]}"
    wf.logger().info("resized %d pictures with %s", len(x), how)
    return Dataset(x, y)


@wf.task
@profiling.collect()
def train_model(data: Dataset, epochs: int, seed: int) -> float:
    """Trains the classifier and returns its accuracy on the pictures that it has not seen."""
    accuracy, where = train(data.x, data.y, epochs, seed)
    wf.logger().info("trained %d epochs with %s: accuracy %.3f", epochs, where, accuracy)
    return accuracy


@wf.workflow(name="image_classification")
def image_classification(
    endpoint: str = "",
    bucket: str = "images",
    variant: Variant = "slow",
    size: int = 128,
    epochs: int = 45,
    seed: int = 0,
) -> float:
    """From a bucket of pictures to the accuracy of a classifier."""
    objects = fetch_images(endpoint, bucket)
    data = preprocess_images(objects, size, variant)
    return train_model(data, epochs, seed)
