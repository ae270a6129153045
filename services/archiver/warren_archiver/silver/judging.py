"""Raw offset events of groups judged again, by the evaluator's own judgement. Pure, no Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from warren.contracts import LagEvent, OffsetEvent, split_group_key
from warren.errors import ContractViolation
from warren.evaluation import RuleBook
from warren.judgement.judge import Ended, Judged, Outcome, Taken, judge
from warren.judgement.state import GroupGone, GroupState
from warren.judgement.state_codec import CorruptState, decode, encode

# As the evaluator does, which knows a record when it is appended.
MOST_AHEAD_MS = 24 * 3_600_000
GroupKey = tuple[str, str]
"""Cluster and group."""


class Source(NamedTuple):
    """A record of `warren.offsets`."""

    topic: str
    topic_id: str
    partition: int
    offset: int
    appended: int
    """Unix microseconds."""
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An event's record, and what was said of its group."""

    source: Source
    lag: LagEvent


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is known of a group after its last record; `state` is None when that is nothing."""

    source: Source
    state: bytes | None


def judge_again(
    key: GroupKey, sources: Sequence[Source], state: bytes | None, rules: RuleBook
) -> Iterator[Evaluation | Remembered]:
    """Records of one group in the order of their log, after those that led to `state`; then what
    is remembered. What the evaluator refuses is passed over. An unreadable state is none.
    """
    known = _decoded(state)
    for source in sources:
        outcome = _outcome(source, key, known, rules)
        if isinstance(outcome, Taken | Judged | Ended):
            known = outcome.state
        if isinstance(outcome, Judged):
            yield Evaluation(source, outcome.lag)
    yield Remembered(sources[-1], None if known is None else encode(known))


def key_of(source: Source) -> GroupKey | None:
    """None for a record without the key of a group."""
    try:
        return split_group_key(source.key)
    except ContractViolation:
        return None


def in_order(sources: Iterable[Source]) -> list[Source]:
    """All of one topic's id, and of one partition, as one group's are."""
    return sorted(sources, key=lambda source: source.offset)


def _decoded(state: bytes | None) -> GroupState | GroupGone | None:
    try:
        return None if state is None else decode(state)
    except CorruptState:  # another version of Warren has written it
        return None


def _outcome(
    source: Source, key: GroupKey, known: GroupState | GroupGone | None, rules: RuleBook
) -> Outcome | None:
    try:
        event = OffsetEvent.from_bytes(source.value)
        ahead = event.observed_at - source.appended // 1000
        if (event.cluster, event.group) != key or ahead > MOST_AHEAD_MS:
            return None
        return judge(event, known, rules.rules_for(*key), source_offset=source.offset)
    except ContractViolation:
        return None
