"""Waiting for a condition, never for a time."""

import asyncio
import os
import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

TURN = 0.0001  # seconds between two looks where all is in one loop
INTERVAL = 0.05  # seconds between two looks, at least
REST, LONGEST = 4, 1.0
"""Looks that cost more are rarer: so many times the CPU that one took, but never so many seconds.
Whoever is waited for, and tests beside this one, have better use for it.
"""


def eventually(condition: Callable[[], Result], *, timeout: float = 60.0, message: str) -> Result:
    """Look until `condition` returns something true and return that; fail after `timeout` s.

    A condition that raises fails at once: catch in it what may happen on the way.
    """
    deadline, used = time.monotonic() + timeout, sum(os.times()[:4])
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout:g} s: {message} (last seen: {result!r})")
        before, used = used, sum(os.times()[:4])
        time.sleep(min(max(INTERVAL, REST * (used - before)), LONGEST))
    return result


async def until(condition: Callable[[], object], timeout: float = 30.0) -> None:
    """Lets the other tasks of the loop run until the condition holds; fails after `timeout` s."""
    try:
        async with asyncio.timeout(timeout):
            while not condition():
                await asyncio.sleep(TURN)
    except TimeoutError:
        raise AssertionError(f"not within {timeout:g} s") from None
