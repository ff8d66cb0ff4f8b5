"""Writes data.csv for pipeline.py: three columns of numbers with some holes, the same for every call.

python make_data.py [PATH] [ROWS]
"""

from __future__ import annotations

import csv
import random
import sys


def write_data(path: str, rows: int = 10_000) -> None:
    """Writes `rows` rows; about one value in fifty is missing."""
    rng = random.Random(0)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["height", "weight", "age"])
        for _ in range(rows):
            values = [rng.gauss(1.7, 0.1), rng.gauss(70, 12), rng.uniform(18, 90)]
            writer.writerow(["" if rng.random() < 0.02 else f"{value:.3f}" for value in values])


if __name__ == "__main__":
    write_data(sys.argv[1] if len(sys.argv) > 1 else "data.csv", int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
