"""Generators as tasks: streaming when called directly, collected to a list when another task needs the result.

wf run generator_pipeline.py --param path=data.csv        (make_data.py writes data.csv)
"""

import csv
from collections.abc import Iterator

import workflow as wf


@wf.task
def read_ages(path: str) -> Iterator[float]:
    """Yields the ages in the file that are not missing."""
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["age"]:
                yield float(row["age"])


@wf.task
def mean(values: list[float]) -> float:
    """The arithmetic mean."""
    return sum(values) / len(values)


@wf.workflow
def mean_age(path: str = "data.csv") -> float:
    """The mean age in the file."""
    return mean(read_ages(path))


if __name__ == "__main__":
    for number, age in enumerate(read_ages("data.csv")):  # outside a run: a plain generator, read as it comes
        print(age)
        if number == 2:
            break
