"""Rule: one thing that policy `progress` learns and goes by, and the parameters of all of them.

Each rule is an object in the module that has its code; `progress.RULES` lists them, and the table
in docs/evaluation.md is made from that list. Times are milliseconds.
"""

from dataclasses import dataclass, field, fields
from typing import Literal, NamedTuple

Unit = Literal["ms", "times", "share", "waits", "commits"]


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

    # Silence
    least_wait: int = _of(35 * S, "ms", "a quick rebalance may take so long")
    soon: int = _of(60 * S, "ms", "what is shorter is brief; members are asked for more often")
    long: int = _of(5 * MIN, "ms", "what lasts longer is a crash, or lateness to tell")
    unseen: int = _of(15 * MIN, "ms", "so long something may last whose end nobody has seen")
    usual: int = _of(30 * MIN, "ms", "what was so for so long is usual")
    known_waits: int = _of(8, "waits", "so many tell how long one may be")
    room: int = _of(40 * S, "ms", "a pause may take a third longer, and up to this")
    kept: int = _of(18, "times", "a pause is forgotten after so many of its lengths, and 30 min")
    memory: int = _of(256, "times", "time behind, or away, is forgotten after so many of these")
    odd_memory: int = _of(40, "times", "one that was told is forgotten after so many")
    often: int = _of(8, "times", "what begins within so many of its lengths again comes often")
    longest_often: int = _of(9 * MIN, "ms", "what comes often and lasts longer is a crash")
    batch: int = _of(25 * MIN, "ms", "a batch may rest so long before anybody knows its pace")
    earlier: int = _of(6 * HOUR, "ms", "the longest pause of before Warren that is believed")
    rests: int = _of(3, "commits", "so many that leave one record each tell that one is left")
    # Repeated commits
    repeated: int = _of(2, "commits", "so many of one offset are no silence")
    stands: int = _of(15 * S, "ms", "who has not advanced for so long stands still")
    # Transactions
    open: int = _of(90 * S, "ms", "a transaction may be open so long: the default is a minute")
    # Runs
    run_share: int = _of(4, "times", "who rests for so many times its work works in runs")
    reads_on: int = _of(9, "times", "reading on takes so many times its length off a rest")
    # Days
    day: int = _of(20 * HOUR, "ms", "what comes less far apart is no habit of a day or week")
    off: int = _of(2 * HOUR, "ms", "a pause may begin so early or late")
    alike: float = _share(0.25, "two such pauses may differ by this part of the longer one")
    turns: int = _of(3, "times", "so many days or weeks may go by without one")
    # Members
    new: int = _of(10 * MIN, "ms", "what was met less than this ago is new")
    lately: int = _of(2 * MIN, "ms", "what is younger is of late; rates are averaged over it")
    rebalance: int = _of(200 * S, "ms", "a rebalance may take so long")
    rebalances: int = _of(150 * S, "ms", "the next one may, after one that took its time")
    # What an advance leaves
    lag: int = _of(30 * S, "ms", "the lag is averaged over this at least")
    slower: int = _of(4, "times", "and a second time over so many times that")
    pauses: int = _of(4, "times", "so many mean pauses between commits are usual")
    least_pause: int = _of(10 * S, "ms", "what is written in it may be left")
    least_left: int = _of(4 * S, "ms", "the same once it is known what is left")
    most_left: int = _of(20 * S, "ms", "lateness that stays varies by so much, and by half of it")
    left: int = _of(HOUR, "ms", "a new level is known after this; a known one is averaged over it")
    varies: int = _of(3, "times", "it may vary by so many times what it usually varies by")
    # Growth
    rise: int = _of(6, "times", "a lag grows by such a part of what may be left")
    more: float = _share(1.15, "what is more than this times the usual is more than usual")
    first: int = _of(3 * MIN, "ms", "the first burst may take so long")
    late: int = _of(3, "times", "who is so many of its longest pauses behind is late")


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
