"""A micro-batch of offset events: what to publish, and then what to remember. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import structlog
from warren.clock import Clock
from warren.contracts import DeadLetter, OffsetEvent, split_group_key
from warren.contracts.topics import DEAD_LETTERS, LAG, LAG_STATUS
from warren.errors import ContractViolation
from warren.evaluation import GroupRules
from warren.judgement.judge import Duplicate, Ended, Judged, Outcome, judge
from warren.judgement.state import GroupGone, GroupState
from warren.judgement.state_codec import CorruptState, decode, encode

from warren_evaluator.records import BatchResult, Counts, Publication, SourceRecord, Write

log = structlog.get_logger(__name__)


ReadValue: TypeAlias = Callable[[bytes], bytes | None]
RulesFor: TypeAlias = Callable[[str, str], GroupRules]  # (cluster, group)


class BatchEvaluator:
    """Judges batches by the rules of each group."""

    def __init__(self, rules_for: RulesFor, topic_prefix: str, clock: Clock) -> None:
        self._rules_for = rules_for
        self._clock = clock
        self._lag = LAG.full_name(topic_prefix)
        self._lag_status = LAG_STATUS.full_name(topic_prefix)
        self._dead_letters = DEAD_LETTERS.full_name(topic_prefix)

    def evaluate(self, records: Iterable[SourceRecord], read: ReadValue) -> BatchResult:
        """`read` gives the table's value of a key. A bad record never stops the others."""
        result = BatchResult()
        states: dict[bytes, GroupState | GroupGone | None] = {}
        changed: dict[bytes, int] = {}
        for record in records:
            result.counts.events += 1
            try:
                key, event = _read_event(record)
                if key not in states:
                    states[key] = self._state(read(key), key, result.counts)
                outcome = judge(
                    event,
                    states[key],
                    self._rules_for(event.cluster, event.group),
                    source_offset=record.offset,
                )
            except ContractViolation as violation:
                self._refuse(record, violation.reason, result)
                continue
            self._publish(outcome, key, record, result)
            if isinstance(outcome, Judged | Ended):
                states[key] = outcome.state
                changed[key] = record.partition
        for key, partition in changed.items():
            self._remember(key, partition, states[key], result)
        return result

    @staticmethod
    def _state(value: bytes | None, key: bytes, counts: Counts) -> GroupState | GroupGone | None:
        if value is None:
            return None
        try:
            return decode(value)
        except CorruptState as error:
            counts.discarded_states += 1
            log.error(
                "state of a group is unreadable, judging it anew",
                group=key.decode(errors="replace"),
                problem=str(error),
            )
            return None

    def _publish(
        self, outcome: Outcome, key: bytes, record: SourceRecord, result: BatchResult
    ) -> None:
        counts = result.counts
        if isinstance(outcome, Duplicate):
            counts.duplicates += 1
        if not isinstance(outcome, Judged | Ended):
            return
        lag = None  # a tombstone
        if isinstance(outcome, Judged):
            lag = outcome.lag.to_bytes()
            counts.partitions += len(outcome.state.layout)
        partition = record.partition
        result.publications.append(Publication(self._lag, key, lag, partition))
        if (change := outcome.change) is not None:
            counts.status_changes.append(change.data.status)
            result.publications.append(
                Publication(self._lag_status, key, change.to_bytes(), partition)
            )

    @staticmethod
    def _remember(
        key: bytes, partition: int, state: GroupState | GroupGone | None, result: BatchResult
    ) -> None:
        if state is None:
            return
        if isinstance(state, GroupGone):
            result.gone.append((key, partition, state.source_offset))
        result.writes.append(Write(key, encode(state), partition))

    def _refuse(self, record: SourceRecord, reason: str, result: BatchResult) -> None:
        result.counts.dead_letters += 1
        log.warning(
            "event refused",
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            reason=reason,
        )
        letter = DeadLetter.of(
            service="evaluator",
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            reason=reason,
            failed_at=self._clock.now_ms(),
            key=record.key,
            value=record.value,
        )
        result.publications.append(
            Publication(self._dead_letters, letter.key, letter.to_bytes(), record.partition)
        )


def _read_event(record: SourceRecord) -> tuple[bytes, OffsetEvent]:
    """The key and the event. Raises ContractViolation, also when they disagree."""
    event = OffsetEvent.from_bytes(record.value)
    if split_group_key(record.key) != (event.cluster, event.group):
        raise ContractViolation("key: not that of the event's cluster and group")
    assert record.key is not None  # it has just been split
    return record.key, event
