"""Functions that tests need at module level: for pickling, reload and the names of tasks."""

from __future__ import annotations

import workflow as wf
from workflow import profiling


@wf.task
def double(x: int) -> int:
    """Twice as much."""
    return 2 * x


@profiling.collect()
def triple(x: int) -> int:
    return 3 * x


class Scaler:
    factor = 10

    @wf.task(name="scale_method")
    def scale(self, x: int) -> int:
        return self.factor * x

    @classmethod
    @wf.task(name="scale_class")
    def scale_class(cls, x: int) -> int:
        return cls.factor * x

    @staticmethod
    @wf.task(name="scale_static")
    def scale_static(x: int) -> int:
        return 10 * x


@wf.workflow
def doubling(x: int = 1):
    return double(x)
