"""Coroutines as tasks: they wait together on one event loop, so a hundred of them cost what the slowest one does.

wf run async_pipeline.py --param count=100
"""

import asyncio

import workflow as wf


@wf.task
async def ask(number: int) -> int:
    """Stands for a request to a service that takes a fifth of a second."""
    await asyncio.sleep(0.2)
    return number * number


@wf.task
def total(answers: list[int]) -> int:
    """Plain functions and coroutines mix in one workflow."""
    return sum(answers)


@wf.workflow
def questions(count: int = 100) -> int:
    """Asks `count` questions at once and adds up the answers."""
    return total(ask.map(range(count)))


if __name__ == "__main__":
    print(questions.run().result())
