"""Groups in trouble of every kind, as they are judged: what docs/words.md quotes of causes, mails
and chats. They are played by what tests play groups with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

from support.freshness_events import freshness_event, late
from support.group_looks import (
    STEP,
    WELL,
    at,
    group_event,
    known_of,
    looks,
    silent,
    standing,
    well,
)
from support.offset_events import NOW, At, offset_event
from warren.contracts import (
    FreshnessEvent,
    GroupEvent,
    GroupMember,
    LagEvent,
    OffsetEvent,
    OpenTransaction,
    StatusChangeEvent,
    TopicPositions,
)
from warren_core.evaluation import GroupRules, Rules
from warren_core.judgement.judge import Judged, judge
from warren_core.judgement.lateness import lateness_of
from warren_core.judgement.membership import Membership, membership_after
from warren_core.judgement.state import GroupState

PROGRESS = GroupRules(Rules(policy="progress"))
BURROW = GroupRules(Rules(policy="burrow"))
GONE = 700
"""Where a log begins, above the offset at which its partition stands."""


class Told(NamedTuple):
    """What is said of a group: its last evaluation, and the change that opened its incident."""

    lag: LagEvent
    opened: StatusChangeEvent


@dataclass(frozen=True, slots=True)
class Play:
    """What is seen of a group until its trouble is told."""

    offsets: Iterable[OffsetEvent]
    groups: Sequence[GroupEvent] = ()
    measured: FreshnessEvent | None = None
    rules: GroupRules = PROGRESS

    def told(self) -> Told:
        """Judge all of it, until what the last event says."""
        state: GroupState | None = None
        lag: LagEvent | None = None
        opened: StatusChangeEvent | None = None
        measured = None if self.measured is None else lateness_of(self.measured)
        for event in self.offsets:
            membership: Membership | None = None
            for group in self.groups:
                if group.observed_at <= event.observed_at:
                    membership = membership_after(group, membership)
            knowledge = known_of(membership, measured)
            outcome = judge(event, state, self.rules, knowledge=knowledge)
            assert isinstance(outcome, Judged)
            state, lag = outcome.state, outcome.lag
            if outcome.change is not None and outcome.change.data.previous == "OK":
                opened = outcome.change
        assert lag is not None
        assert opened is not None
        data = opened.data.model_copy(update={"cause": lag.cause, "status": lag.status})
        return Told(lag, opened.model_copy(update={"data": data}))


def _stopped(partitions: int, **log: int) -> Iterator[OffsetEvent]:
    return looks(*(silent(**log) for _ in range(partitions)))


def _all(partitions: int) -> GroupEvent:
    return group_event(0, list(range(partitions)))


def _slow() -> Iterator[At]:
    """A quarter of what is written is read."""
    for look in range(120):
        yield at(look, 50 * look, 200 * look)


def _reset() -> Iterator[At]:
    """To the beginning."""
    for look in range(WELL + 20):
        offset = 50 * look if look <= WELL else 20 * (look - WELL)
        yield at(look, offset, 50 * look)


def _in_turn() -> Iterator[At]:
    for look in range(WELL + 6):
        yield at(look, 100 if look > WELL and look % 2 else 50 * look, 50 * look)


def _made_anew() -> Iterator[At]:
    for look in range(40):
        yield at(look, 600, 50 if look > WELL else 600, commits=int(not look))


def _burst() -> Iterator[At]:
    """Eight times of what is usual comes, three times of it is read."""
    log_end = committed = 0
    for look in range(100):
        log_end += 400 if look >= 87 else 50
        committed = min(committed + 150, log_end)
        yield at(look, committed, log_end)


def _again(length: int, every: int, until: int) -> Iterator[At]:
    """Stops so long, so often; both in looks."""
    last = 0
    for look in range(until):
        last = last if look > 700 and (look - 700) % every < length else look
        yield at(look, 50 * last, 50 * look, commits=int(last == look))


def _never(partitions: int) -> Iterator[OffsetEvent]:
    for look in range(100):
        event = offset_event(NOW + look * STEP, group_state="Stable")
        none = [-1] * partitions
        topic = TopicPositions(
            partition=list(range(partitions)),
            committed=none,
            committed_at=none,
            commits=[0] * partitions,
            log_start=[0] * partitions,
            log_end=[1000 + 5 * look] * partitions,
            owned=[1] * partitions,
        )
        yield event.model_copy(update={"topics": {"orders": topic}})


def _of_topics(partitions: int) -> Iterator[OffsetEvent]:
    """`kept` is read, `old` is not any more."""
    for look in range(90):
        now, last = NOW + look * STEP, min(look, WELL)
        old = At(50 * last, NOW + last * STEP, log_end=50 * look, commits=int(last == look))
        topics = {"kept": {0: At(50 * look, now)}, "old": dict.fromkeys(range(partitions), old)}
        yield offset_event(now, topics)


def _subscribed(look: int, *topics: str) -> GroupEvent:
    member = GroupMember(
        member_id="m-0",
        client_id="client-0",
        host="h0",
        assignment={topic: [0] for topic in topics},
        subscription=list(topics),
    )
    return group_event(look).model_copy(update={"members": [member], "state": "Stable"})


def _open_transaction(partitions: int) -> FreshnessEvent:
    rows = (late(5, reason="open_transaction", bound_ms=5) for _ in range(partitions))
    held = [
        OpenTransaction(
            topic="orders",
            partition=partition,
            first_offset=600,
            since=NOW + WELL * STEP,
            transactional_id="payments-1",
        )
        for partition in range(partitions)
    ]
    return freshness_event(39 * STEP, *rows, open_transactions=held)


def _loop() -> list[GroupEvent]:
    return [group_event(n, [0, 1, 2], rebalances=n // 4) for n in range(0, 40, 4)]


@dataclass(frozen=True)
class Situation:
    """Trouble of one cause, with so many partitions."""

    cause: str
    plays: dict[int, Callable[[], Play]]

    @cached_property
    def told(self) -> dict[int, Told]:
        """What is said of so many partitions."""
        return {partitions: play().told() for partitions, play in self.plays.items()}


def _made(cause: str, play: Callable[[int], Play], *partitions: int) -> Situation:
    return Situation(cause, {n: partial(play, n) for n in partitions or (1, 3)})


def _some_well(bad: Callable[[], Iterator[At]], n: int) -> Iterator[OffsetEvent]:
    """As many are well, and one more."""
    return looks(*(bad() for _ in range(n)), *(well() for _ in range(n + 1)))


def _halves(n: int) -> GroupEvent:
    return group_event(0, list(range(n)), list(range(n, 2 * n + 1)))


def _led_by_two(n: int) -> Play:
    offsets = looks(
        *(silent() for _ in range(n)), *(well() for _ in range(4)), leaders=[101] * n + [102] * 4
    )
    return Play(offsets, [group_event(0, *([p, p + n] for p in range(4)))])


SITUATIONS: Sequence[Situation] = (
    _made(
        "unsubscribed",
        lambda n: Play(
            _of_topics(n), [_subscribed(0, "kept", "old"), _subscribed(WELL + 1, "kept")]
        ),
    ),
    _made("beyond_log_end", lambda n: Play(looks(*(_made_anew() for _ in range(n))), [_all(n)])),
    _made("crash_loop", lambda n: Play(looks(*(_again(120, 300, 1480) for _ in range(n))))),
    _made(
        "no_members",
        lambda n: Play(_stopped(n), [_all(n), group_event(WELL + 1)]),
    ),
    _made("rebalance_loop", lambda n: Play(_stopped(n), _loop())),
    _made(
        "hanging_transaction",
        lambda n: Play(_some_well(standing, n), measured=_open_transaction(n)),
    ),
    _made(
        "unowned_partitions",
        lambda n: Play(
            _some_well(silent, n),
            [
                _all(2 * n + 1),
                group_event(WELL, [*range(n, 2 * n + 1)], unowned={"orders": [*range(n)]}),
            ],
        ),
    ),
    _made("never_committed", lambda n: Play(_never(n), [_all(n)])),
    _made("one_member", lambda n: Play(_some_well(silent, n), [_halves(n)]), 2, 3),
    _made("one_broker", _led_by_two, 4),
    _made("stuck_record", lambda n: Play(_some_well(standing, n), [_all(2 * n + 1)])),
    _made("competing_commits", lambda n: Play(looks(*(_in_turn() for _ in range(n))))),
    _made("replaying", lambda n: Play(looks(*(_reset() for _ in range(n))))),
    _made(
        "producer_burst",
        lambda n: Play(looks(*(_burst() for _ in range(n))), [_all(n)], rules=BURROW),
    ),
    _made("too_slow", lambda n: Play(looks(*(_slow() for _ in range(n))), [_all(n)])),
    _made("records_lost", lambda n: Play(_stopped(n, log_start=GONE))),
    _made("unknown", lambda n: Play(_stopped(n), [group_event(0, *([p] for p in range(n)))])),
)
"""By cause; the consequences `late`, `catching_up` and `flapping` come with a root or alone."""
