"""How far a long job has come, told to whoever waits for it."""

from collections.abc import Callable
from typing import NamedTuple


class Step(NamedTuple):
    """What begins now. `done` of `total` are over, in this phase of the job."""

    phase: str
    """What is done: `silver`, `gold`."""
    doing: str
    """With what it goes on: a table's name. Empty at the end of a phase."""
    done: int
    total: int


Tell = Callable[[Step], None]


def untold(_: Step) -> None:
    """Nobody waits."""
