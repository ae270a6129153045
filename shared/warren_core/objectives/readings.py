"""Readings: what a freshness event says of a limit: kept, not kept, or that nobody can say.

What is known of a value is how far it may be off, or what it is at least. A limit is broken when
that is enough to say so, and kept when all of its partitions are known.

Lag of a group as its windows know it, for objectives that ask for records.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

from warren.contracts import LOSS_UNKNOWN, FreshnessEvent, LimitName, TopicFreshness, TopicLag
from warren.words import deleted, duration, grouped, rate, records, running_out

from warren_core.evaluation import UNKNOWN as UNKNOWN_LAG
from warren_core.judgement.columns import Latest, is_assumed
from warren_core.judgement.state import GroupState
from warren_core.objectives.limits import Limit

LATELY_MS = 2 * 60_000


class GroupLag(NamedTuple):
    """By topic: the sum of the known lags, at least, and whether that is all."""

    by_topic: Mapping[str, tuple[int, bool]]

    @property
    def total(self) -> int:
        return sum(lag for lag, _ in self.by_topic.values())


AskLag = Callable[[], GroupLag | None]
"""None: it was not observed lately."""


def group_lag(stands: GroupState, now: int) -> GroupLag | None:
    if abs(now - stands.applied.observed_at) > LATELY_MS:
        return None
    lag = stands.lag
    start, end = stands.latest[[Latest.LOG_START, Latest.LOG_END]]
    # Nobody knows how far behind it is where nothing was committed, unless the log is empty.
    known = (lag != UNKNOWN_LAG) & (~is_assumed(stands.latest, stands.windows) | (start == end))
    return GroupLag(
        {
            topic: (int(lag[rows].clip(min=0).sum()), bool(known[rows].all()))
            for topic, _, rows in stands.layout.slices()
        }
    )


def event_lag(topics: Mapping[str, TopicLag]) -> GroupLag:
    """The same of all parts of a lag event."""
    return GroupLag(
        {
            topic: (sum(lag or 0 for lag in rows.lag), all(_is_all(rows)))
            for topic, rows in topics.items()
        }
    )


def _is_all(rows: TopicLag) -> Iterator[bool]:
    """Of each partition, whether its lag is known, and not only at least."""
    places = zip(rows.lag, rows.committed, rows.log_start, rows.log_end, strict=True)
    return (
        lag is not None and (committed >= 0 or start == end)
        for lag, committed, start, end in places
    )


Verdict = Literal["kept", "broken", "unknown"]
_UNHEARD_OF = "timeout"
_KNOWN = frozenset(("exact", "estimated", "open_transaction", "expired"))


class Reading(NamedTuple):
    """`value` as `Limit.wanted`. Sentence and place are those of a limit that is not kept."""

    verdict: Verdict
    value: float | None = None
    sentence: str = ""
    topic: str | None = None
    partition: int | None = None
    partitions: int = 1
    """How many it is of."""


KEPT, UNKNOWN = Reading("kept"), Reading("unknown")


def read(limit: Limit, event: FreshnessEvent, lag: AskLag) -> Reading:
    return _lag(limit, lag()) if limit.name == "max_lag" else _READERS[limit.name](limit, event)


def _freshness(limit: Limit, event: FreshnessEvent) -> Reading:
    if limit.is_of_all_topics and event.at_least_ms is None:
        latest = event.freshness_ms
        if latest is not None and latest <= limit.wanted:
            return KEPT
    worst, unknown = Reading("broken", limit.wanted), False
    for topic, rows in _late_topics(limit, event):
        for number in range(len(rows.partition)):
            if rows.is_at_ease(number):
                continue
            value, bound = rows.freshness_ms[number], rows.bound_ms[number] or 0
            least = bound if value is None else max(value - bound, 0)
            unknown |= value is None or value > limit.wanted
            assert worst.value is not None
            if least > worst.value:
                worst = Reading("broken", least, "", topic, rows.partition[number])
    if worst.topic is None:
        return UNKNOWN if unknown else KEPT
    assert worst.value is not None
    late, allowed = duration(worst.value), duration(limit.wanted)
    said = f"{worst.topic}/{worst.partition} is at least {late} late (limit {allowed})"
    return worst._replace(sentence=said)


def _lag(limit: Limit, lag: GroupLag | None) -> Reading:
    if lag is None:
        return UNKNOWN
    covered = [each for topic, each in lag.by_topic.items() if limit.covers(topic)]
    behind = sum(known for known, _ in covered)
    if behind > limit.wanted:
        said = f"{records(behind)} behind (limit {grouped(round(limit.wanted))})"
        return Reading("broken", behind, said)
    return KEPT if all(is_all for _, is_all in covered) else UNKNOWN


def _produce_rate(limit: Limit, event: FreshnessEvent) -> Reading:
    rates = [each for _, rows in _topics(limit, event) for each in rows.produce_rate]
    produced = sum(each for each in rates if each is not None)
    if not rates or produced >= limit.wanted:
        return KEPT
    if None in rates:
        return UNKNOWN
    said = f"{rate(produced)} produced (at least {rate(limit.wanted)} wanted)"
    return Reading("broken", produced, said)


def _lost(limit: Limit, event: FreshnessEvent) -> Reading:
    if limit.is_of_all_topics and not event.lost_records:
        lost = []
    else:
        lost = [
            (count, topic, rows.partition[number])
            for topic, rows in _topics(limit, event)
            for number, count in enumerate(rows.lost_records)
            if count
        ]
    if not lost:
        unheard = any(_UNHEARD_OF in rows.reason for _, rows in _topics(limit, event))
        return UNKNOWN if unheard else KEPT
    total = sum(count for count, _, _ in lost)
    _, topic, partition = max(lost, key=lambda each: each[0])
    said = deleted(total, f"{topic}/{partition}", len(lost))
    return Reading("broken", total, said, topic, partition, len(lost))


def _time_to_loss(limit: Limit, event: FreshnessEvent) -> Reading:
    worst, unknown = Reading("broken", limit.wanted), False
    for topic, rows in _late_topics(limit, event):
        if _leave_time(rows, limit.wanted):
            continue
        for number, reason in enumerate(rows.reason):
            if rows.is_at_ease(number):
                continue
            time, share = rows.time_to_loss_ms[number], rows.retention_left[number]
            if time is None:
                why = rows.time_to_loss_reason[number]
                # Known, and without a time: it is kept for ever, or gone already.
                unknown |= why in LOSS_UNKNOWN or reason not in _KNOWN
            elif limit.below_share < 1 and share is None:
                unknown |= time < limit.wanted
            else:
                assert worst.value is not None
                is_near = share is None or share < limit.below_share or limit.below_share == 1
                if is_near and time < worst.value:
                    worst = Reading("broken", time, "", topic, rows.partition[number])
    if worst.topic is None:
        return UNKNOWN if unknown else KEPT
    assert worst.value is not None
    place = f"{worst.topic}/{worst.partition}"
    said = running_out(place, worst.value, limit.wanted, event.measured_at)
    return worst._replace(sentence=said)


def _leave_time(rows: TopicFreshness, wanted: float) -> bool:
    """Whether all do, as nearly always; where that is unknown they do not."""
    times = rows.time_to_loss_ms
    known = [time for time in times if time is not None]
    if known and min(known) < wanted:
        return False
    return len(known) == len(times) or all(
        time is not None or rows.is_at_ease(number) for number, time in enumerate(times)
    )


_READERS: Mapping[LimitName, Callable[[Limit, FreshnessEvent], Reading]] = {
    "max_freshness": _freshness,
    "min_produce_rate": _produce_rate,
    "min_time_to_loss": _time_to_loss,
    "lost_records": _lost,
}


def _topics(limit: Limit, event: FreshnessEvent) -> Iterator[tuple[str, TopicFreshness]]:
    for topic, rows in event.topics.items():
        if limit.is_of_all_topics or limit.covers(topic):
            yield topic, rows


def _late_topics(limit: Limit, event: FreshnessEvent) -> Iterator[tuple[str, TopicFreshness]]:
    """Those in which not all is consumed."""
    for topic, rows in _topics(limit, event):
        if not rows.all_at_ease:
            yield topic, rows
