"""Partitions: what is written to them, who reads them, and what happens to them. Seconds."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

HOUR = 3600
DAY = 6 * HOUR  # a short one

Producer = Literal["steady", "bursty", "daily"]
Committer = Literal["regular", "irregular", "batch"]
Fault = Literal["crash", "hang", "poison", "slow", "rewind", "backlog", "loop", "open", "surge"]
"""Hang: no commits, the client lives. Backlog: a crash, and then as fast as the log for ever. Loop:
its group rebalances without end, for processing takes longer than the session, and reads nothing.
Open: a transaction that nobody ends; who has read up to it can do nothing. Surge: far more is
written than it can read.
"""
Membership = Literal["member", "job", "alone"]
"""A job is a member while it runs; who is alone assigns partitions to itself."""
Harmless = Literal[
    "rebalance",  # nobody reads; what was not committed is read again
    "pause",  # the same by a client that stands still, and is soon no member any more
    "deploy",  # nobody is there for a few minutes, and then it reads on
    "retry",  # a record is tried again and again: no commits, its members are there
    "brown_out",  # what it calls is slow
    "producer_stop",
    "transaction",  # open: nobody may read beyond its first record
    "unknown_end",  # nobody can tell where the log ends
    "end_falls",  # for one look
    "skip",  # an operator's reset to the end
    "zombie",  # a commit of an old member goes back, and the next one is right again
]

FAULTS = frozenset(
    {"crash", "hang", "poison", "slow", "rewind", "backlog", "loop", "open", "surge"}
)
SILENT = frozenset({"crash", "hang", "loop", "rebalance", "pause", "deploy", "retry"})  # no commits


class Span(NamedTuple):
    """Something that happens; a rewind lasts until the consumer is back where it was."""

    kind: Fault | Harmless
    start: int
    end: int
    strength: float = 0.0
    """Slow, brown-out: share of what comes in that is read. Rewind, zombie: so many seconds of the
    log. Backlog: seconds of the crash. Surge: so many times as much is written.
    """


@dataclass(slots=True)
class Partition:
    """One partition, with its producer and its consumer."""

    scenario: str
    rate: float  # mean records/s
    pause: float  # between commits; between the runs of a batch
    producer: Producer = "steady"
    committer: Committer = "regular"
    capacity: float = 3.0  # times the rate
    burst_every: int = 600
    burst_for: int = 40
    burst_factor: float = 6.0
    quiet: float = 0.5  # share of the rate between bursts
    phase: float = 0.0  # of bursts and days, 0 to 1
    commits_always: bool = False  # also an offset that it has committed before
    commits_last: bool = False  # the last offset processed, not the next one
    clock: int = 0  # seconds that its clock is ahead
    work_first: float = 0.0  # a record takes so long (0: as the capacity says)
    by_count: int = 0  # it commits whenever it has read so many records, else by time
    membership: Membership = "member"
    unsettled: tuple[int, int] = (0, 1)
    """Its group rebalances for so many of so many seconds; it reads in between."""
    unwell: tuple[int, int] = (0, 0)
    """Between the crashes of a loop nobody calls it well, though it reads."""
    delay: float = 0.0  # it reads what is so old, as of a delay topic, or a stream processor
    wander: float = 0.0  # which varies by so much, more or less
    window: int = 0  # it reads whole windows of so many seconds
    leaves_out: float = 0.0  # share of its commits, as checkpoints fail
    scales: float = 1.0
    """So many times as much it reads with more members, which come when it is behind."""
    spans: list[Span] = field(default_factory=list)

    def is_free(self, start: float, end: float, room: float = 900) -> bool:
        """Nothing happens then, nor shortly before or after."""
        return all(end + 120 < s.start or s.end + room < start for s in self.spans)

    def add(
        self, kind: Harmless, start: float, end: float, room: float = 900, strength: float = 0.0
    ) -> None:
        """Let it happen where nothing else does."""
        if self.is_free(start, end, room):
            self.spans.append(Span(kind, int(start), int(end), strength))
