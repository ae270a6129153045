"""Waiting for a condition, never for a time."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

INTERVAL = 0.05  # seconds between two looks


def eventually(condition: Callable[[], Result], *, timeout: float = 60.0, message: str) -> Result:
    """Look until `condition` returns something true and return that; fail after `timeout` s.

    A condition that raises fails at once: catch in it what may happen on the way.
    """
    deadline = time.monotonic() + timeout
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout:g} s: {message} (last seen: {result!r})")
        time.sleep(INTERVAL)
    return result


async def until(condition: Callable[[], object], timeout: float = 30.0) -> None:
    """Lets the other tasks of the loop run until the condition holds; fails after `timeout` s."""
    try:
        async with asyncio.timeout(timeout):
            while not condition():
                await asyncio.sleep(0)
    except TimeoutError:
        raise AssertionError(f"not within {timeout:g} s") from None
