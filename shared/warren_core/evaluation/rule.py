"""Rule: one thing that policy `progress` learns and goes by, and the parameters of all of them.

Each rule is an object in the module that has its code; `progress.RULES` lists them, and the table
in docs/evaluation.md is made from that list. Times are milliseconds.
"""

from dataclasses import dataclass, field, fields
from typing import Literal, NamedTuple

Unit = Literal["ms", "times", "share"]


class Meaning(NamedTuple):
    """What a parameter is of."""

    unit: Unit
    text: str


def _of(default: int | float, unit: Unit, text: str) -> int:
    """A field of the parameters; those of a share are no whole numbers."""
    value: int = field(default=default, metadata={"meaning": Meaning(unit, text)})  # type: ignore[assignment]  # a field stands for its value
    return value


def _share(default: float, text: str) -> float:
    return _of(default, "share", text)


S, MIN, HOUR = 1_000, 60_000, 3_600_000


@dataclass(frozen=True, slots=True)
class Parameters:
    """All numbers that the rules go by. The same for every partition: nothing is tuned by group."""

    least_wait: int = _of(45 * S, "ms", "so long anybody may wait")
    first: int = _of(
        5 * MIN, "ms", "so long may take who is not known, and a rebalance; longer is odd"
    )
    room: float = _share(0.25, "a pause may take so much longer, and 10 s")
    memory: int = _of(24 * HOUR, "ms", "the longest of it counts, and that of as long before")
    often: int = _of(10 * MIN, "ms", "a longer pause that comes often is odd all the same")
    gone: int = _of(60 * S, "ms", "who commits rarely may be away for so much longer")
    run: int = _of(4, "times", "who rests for so many times its work works in runs")
    rest: int = _of(75 * MIN, "ms", "the longest first rest of a job that is believed")
    behind: int = _of(7 * MIN, "ms", "so long a lag may grow")
    growth: int = _of(10 * MIN, "ms", "a longer growth is odd")
    commits: int = _of(4, "times", "so many pauses between commits it may grow as well")
    left: int = _of(5 * S, "ms", "what is written in it may be left; twice as much at first")
    varies: int = _of(3, "times", "it may be above its level by so much as it is usually below")
    follows: int = _of(3 * HOUR, "ms", "the level is averaged over this")
    stays: int = _of(HOUR, "ms", "a lag that does not grow for this, and 360,000 records, stays")
    rate: int = _of(2 * MIN, "ms", "rates are averaged over it")
    apart: int = _of(30 * MIN, "ms", "the shortest period of what returns; of a stop 20 h")
    off: float = _share(0.15, "what returns may be off by this part of its period, and 2 h at most")


BY = Parameters()


@dataclass(slots=True, eq=False)
class Rule:
    """`parameters` are names of those that it alone, or it first, goes by. `on` is for benchmarks,
    which ask what a rule is worth.
    """

    name: str
    learns: str
    speaks: str
    sentence: str
    parameters: tuple[str, ...] = ()
    on: bool = True


def meanings() -> dict[str, Meaning]:
    """By name of the parameter."""
    return {each.name: each.metadata["meaning"] for each in fields(Parameters)}
