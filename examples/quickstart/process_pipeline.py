"""Work that keeps the interpreter busy, in worker processes: the same functions, another executor.

wf run process_pipeline.py --executor processes --param limit=2000000
"""

import workflow as wf


@wf.task
def count_primes(first: int, last: int) -> int:
    """Counts the primes in first..last-1, in pure Python on purpose."""
    return sum(all(n % d for d in range(2, int(n**0.5) + 1)) for n in range(max(first, 2), last))


@wf.task
def add(counts: list[int]) -> int:
    """Adds up what the pieces found."""
    return sum(counts)


@wf.workflow
def primes(limit: int = 400_000, pieces: int = 8) -> int:
    """The number of primes below `limit`, counted in pieces."""
    bounds = [limit * i // pieces for i in range(pieces + 1)]
    return add(count_primes.map(bounds[:-1], bounds[1:]))


if __name__ == "__main__":
    # Worker processes import this file again; without this line each of them would start a run of its own.
    print(primes.run().result())
