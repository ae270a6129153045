"""How far a long job has come, told to whoever waits for it."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

Thing = TypeVar("Thing")


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


def told(
    phase: str, things: Sequence[Thing], tell: Tell, name: Callable[[Thing], str]
) -> Iterator[Thing]:
    """The things, and each told before it is done."""
    for number, thing in enumerate(things):
        tell(Step(phase, name(thing), number, len(things)))
        yield thing
    tell(Step(phase, "", len(things), len(things)))
