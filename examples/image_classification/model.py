"""A small picture classifier, one hidden layer trained by gradient descent, in PyTorch or in NumPy.

Both start from the same weights and see the same batches in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Labels = NDArray[np.int64]

HIDDEN = 64
BATCH = 64
LEARNING_RATE = 0.001
MOMENTUM = 0.9


def train(x: Floats, y: Labels, epochs: int, seed: int) -> tuple[float, str]:
    """Trains on four fifths of the pictures; returns the accuracy on the others and what computed it."""
    x = x.reshape(len(x), -1)
    held_out = np.random.default_rng(seed).permutation(len(x)) % 5 == 0
    rows, test = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    try:
        import torch  # noqa: F401

        run = _train_torch
    except (ImportError, OSError):
        run = _train_numpy
    scores, where = run(x, y, rows, test, epochs, seed)
    return float((scores.argmax(axis=1) == y[test]).mean()), where


def _first_weights(inputs: int, classes: int, seed: int) -> list[Floats]:
    rng = np.random.default_rng(seed)
    first = rng.normal(0, (1 / inputs) ** 0.5, (inputs, HIDDEN)).astype(np.float32)
    second = rng.normal(0, (1 / HIDDEN) ** 0.5, (HIDDEN, classes)).astype(np.float32)
    return [first, np.zeros(HIDDEN, np.float32), second, np.zeros(classes, np.float32)]


def _batches(rows: NDArray[np.intp], epochs: int, seed: int) -> Iterator[NDArray[np.intp]]:
    rng = np.random.default_rng(seed + 1)
    for _ in range(epochs):
        order = rng.permutation(rows)
        yield from (order[start : start + BATCH] for start in range(0, len(order), BATCH))


def _train_numpy(
    x: Floats, y: Labels, rows: NDArray[np.intp], test: NDArray[np.intp], epochs: int, seed: int
) -> tuple[Floats, str]:
    weights = _first_weights(x.shape[1], int(y.max()) + 1, seed)
    speeds = [np.zeros_like(weight) for weight in weights]
    w1, b1, w2, b2 = weights
    for batch in _batches(rows, epochs, seed):
        inputs, labels = x[batch], y[batch]
        hidden = np.maximum(inputs @ w1 + b1, 0)
        scores = hidden @ w2 + b2
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        error = scores / scores.sum(axis=1, keepdims=True)
        error[np.arange(len(batch)), labels] -= 1
        error /= len(batch)
        hidden_error = (error @ w2.T) * (hidden > 0)
        gradients = [inputs.T @ hidden_error, hidden_error.sum(axis=0), hidden.T @ error, error.sum(axis=0)]
        for weight, speed, gradient in zip(weights, speeds, gradients, strict=True):
            speed *= MOMENTUM
            speed += gradient
            weight -= LEARNING_RATE * speed
    return np.maximum(x[test] @ w1 + b1, 0) @ w2 + b2, "NumPy on the CPU"


def _train_torch(
    x: Floats, y: Labels, rows: NDArray[np.intp], test: NDArray[np.intp], epochs: int, seed: int
) -> tuple[Floats, str]:
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    inputs, labels = torch.from_numpy(x).to(device), torch.from_numpy(y).to(device)
    first = _first_weights(x.shape[1], int(y.max()) + 1, seed)
    weights = [torch.from_numpy(weight).to(device).requires_grad_() for weight in first]
    w1, b1, w2, b2 = weights
    optimizer = torch.optim.SGD(weights, lr=LEARNING_RATE, momentum=MOMENTUM)
    for numbers in _batches(rows, epochs, seed):
        batch = torch.from_numpy(numbers).to(device)
        optimizer.zero_grad()
        scores = torch.relu(inputs[batch] @ w1 + b1) @ w2 + b2
        torch.nn.functional.cross_entropy(scores, labels[batch]).backward()
        optimizer.step()
    with torch.no_grad():
        scores = torch.relu(inputs[torch.from_numpy(test).to(device)] @ w1 + b1) @ w2 + b2
    return scores.cpu().numpy(), f"PyTorch on the {'GPU' if device == 'cuda' else 'CPU'}"
