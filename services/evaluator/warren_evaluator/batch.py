"""A micro-batch of offset events: what to publish, and then what to remember. Pure.

Groups that are gone: their entries may go too, once the event that ended them is committed. Until
then that event, and those before it, can be replayed, and the entry tells that they were applied.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import structlog
from warren.clock import Clock
from warren.contracts import (
    DEAD_LETTERS,
    LAG,
    LAG_STATUS,
    MAX_MESSAGE_BYTES,
    TRENDS,
    DeadLetter,
    OffsetEvent,
    Status,
    part_key,
)
from warren.errors import ContractViolation
from warren_core.clocks import require_past
from warren_core.evaluation import GroupRules
from warren_core.judgement.cohort import Entry, is_ordinary, tell_together
from warren_core.judgement.facts import Knowledge
from warren_core.judgement.judge import Duplicate, Ended, Judged, Outcome, Taken, judge
from warren_core.judgement.lag_parts import in_parts
from warren_core.judgement.lateness import Lateness
from warren_core.judgement.membership import Membership
from warren_core.judgement.state import GroupGone, GroupState
from warren_core.judgement.state_codec import CorruptState, decode, encode, is_gone, remains
from warren_core.ownership import NOBODY_S, Ownership

from warren_evaluator.records import BatchResult, Counts, Publication, SourceRecord, Write
from warren_evaluator.trends import Trends

log = structlog.get_logger(__name__)

# Of a value on `warren.lag`, not compressed: the topic takes twice as much.
MOST_LAG_BYTES = MAX_MESSAGE_BYTES // 2
WORTH_IT = 4  # groups of a cohort, at least
ReadValue: TypeAlias = Callable[[bytes], bytes | None]
Input: TypeAlias = tuple[SourceRecord, bytes, OffsetEvent | ContractViolation]
Usable: TypeAlias = tuple[SourceRecord, bytes, OffsetEvent]
States: TypeAlias = dict[bytes, GroupState | GroupGone | None]
MembershipOf: TypeAlias = Callable[[bytes], Membership | None]
LatenessOf: TypeAlias = Callable[[bytes], Lateness | None]
OwnershipOf: TypeAlias = Callable[[str, str], Ownership]  # (cluster, group)
RulesFor: TypeAlias = Callable[[str, str], GroupRules]  # (cluster, group)


class BatchEvaluator:
    """Judges batches by the rules of each group."""

    def __init__(
        self,
        rules_for: RulesFor,
        topic_prefix: str,
        clock: Clock,
        membership_of: MembershipOf = lambda _: None,
        lateness_of: LatenessOf = lambda _: None,
        trends: Trends | None = None,
        ownership_of: OwnershipOf = lambda _cluster, _group: NOBODY_S,
        incident_of: Callable[[bytes], GroupState | None] = lambda _: None,
    ) -> None:
        """Of a group's key: `membership_of` what is known of its members, `lateness_of` of how late
        it is, `incident_of` what its incident says where its state does not. `trends`: None where
        nobody asks for minutes."""
        self._rules_for = rules_for
        self._membership_of = membership_of
        self._lateness_of = lateness_of
        self._ownership_of = ownership_of
        self._clock = clock
        self._lag = LAG.full_name(topic_prefix)
        self._lag_status = LAG_STATUS.full_name(topic_prefix)
        self._trends = trends
        self._trends_topic = TRENDS.full_name(topic_prefix)
        self._dead_letters = DEAD_LETTERS.full_name(topic_prefix)
        self._incident_of = incident_of

    def evaluate(self, records: Iterable[SourceRecord], read: ReadValue) -> BatchResult:
        """`read` gives the table's value of a key. A bad record never stops the others."""
        result = BatchResult()
        states: States = {}
        changed: dict[bytes, SourceRecord] = {}
        inputs = [_read_event(record) for record in records]
        for numbers in _rounds(inputs):
            events = self._usable({n: inputs[n] for n in numbers}, states, read, result)
            judged = self._judged_together(events, states)
            for number, (record, key, event) in events.items():
                try:
                    outcome = judged.get(number) or judge(
                        event,
                        states[key],
                        self._rules_for(event.cluster, event.group),
                        source_offset=record.offset,
                        knowledge=Knowledge(
                            partial(self._membership_of, key),
                            partial(self._lateness_of, key),
                            self._ownership_of(event.cluster, event.group),
                        ),
                    )
                except ContractViolation as violation:
                    self._refuse(record, violation.reason, result)
                    continue
                self._publish(outcome, key, record, result)
                if isinstance(outcome, Taken | Judged | Ended):
                    self._tell_of_minutes(outcome, key, states[key], record, result)
                    states[key] = outcome.state
                    changed[key] = record
        for key, record in changed.items():
            self._remember(key, record, states[key], result)
        return result

    def _usable(
        self, inputs: Mapping[int, Input], states: States, read: ReadValue, result: BatchResult
    ) -> dict[int, Usable]:
        """Events that may be judged, the states of their groups at hand; others are refused."""
        usable: dict[int, Usable] = {}
        for number, (record, key, event) in inputs.items():
            result.counts.events += 1
            try:
                if isinstance(event, ContractViolation):
                    raise event
                require_past("observed_at", event.observed_at, self._clock.now_ms())
            except ContractViolation as violation:
                self._refuse(record, violation.reason, result)
                continue
            if key not in states:
                states[key] = self._state(read(key), key, result.counts)
            usable[number] = record, key, event
        return usable

    def _judged_together(self, events: Mapping[int, Usable], states: States) -> dict[int, Judged]:
        """What of a round, one event of each group, is judged in the same columns: groups that were
        and are OK.
        """
        cohorts: dict[GroupRules, list[tuple[int, Entry]]] = {}
        for number, (_, key, event) in events.items():
            state = states[key]
            if not isinstance(state, GroupState) or state.status is not Status.OK:
                continue
            entry = Entry(event, state)
            rules = self._rules_for(event.cluster, event.group)
            if is_ordinary(entry, rules):
                cohorts.setdefault(rules, []).append((number, entry))
        judged: dict[int, Judged] = {}
        for rules, numbered in cohorts.items():
            if len(numbered) < WORTH_IT:
                continue
            outcomes = tell_together([entry for _, entry in numbered], rules.group)
            judged |= {
                number: outcome
                for (number, _), outcome in zip(numbered, outcomes, strict=True)
                if outcome is not None
            }
        return judged

    def _state(
        self, value: bytes | None, key: bytes, counts: Counts
    ) -> GroupState | GroupGone | None:
        if value is None:
            return None
        now = self._clock.now_ms()
        try:
            state = decode(value)
        except CorruptState as error:
            counts.discarded_states += 1
            left = remains(value) or self._incident_of(key)
            log.error(
                "state of a group is unreadable, judging it anew",
                group=key.decode(errors="replace"),
                problem=str(error),
                incident_opened_at=left.opened_at if left else None,
            )
            return left.as_of(now) if left else None
        believed = state.as_of(now)
        if believed is not state:
            log.warning(
                "a state is dated ahead of this worker's clock, judging its group anew",
                group=key.decode(errors="replace"),
            )
        return believed

    def _publish(
        self, outcome: Outcome, key: bytes, record: SourceRecord, result: BatchResult
    ) -> None:
        counts = result.counts
        if isinstance(outcome, Duplicate):
            counts.duplicates += 1
        if not isinstance(outcome, Judged | Ended):
            return
        values: Sequence[bytes | None] = [None]  # a tombstone
        if isinstance(outcome, Judged):
            values = in_parts(outcome.lag, MOST_LAG_BYTES)
            counts.partitions += len(outcome.state.layout)
        partition = record.partition
        result.publications += [
            Publication(self._lag, part_key(key, part), value, partition, record)
            for part, value in enumerate(values)
        ]
        if (change := outcome.change) is not None:
            counts.status_changes.append(change.data.status)
            result.publications.append(
                Publication(
                    *(self._lag_status, key, change.to_bytes(), partition, record), change.headers
                )
            )

    def _tell_of_minutes(
        self,
        outcome: Taken | Judged | Ended,
        key: bytes,
        before: GroupState | GroupGone | None,
        record: SourceRecord,
        result: BatchResult,
    ) -> None:
        """Of those that are over with what has just come."""
        if self._trends is None:
            return
        lag = outcome.lag if isinstance(outcome, Judged) else None
        result.publications += [
            Publication(self._trends_topic, key, trend.to_bytes(), record.partition, record)
            for trend in self._trends.after(key, before, outcome.state, lag)
        ]

    def _remember(
        self,
        key: bytes,
        record: SourceRecord,
        state: GroupState | GroupGone | None,
        result: BatchResult,
    ) -> None:
        if state is None:
            return
        if isinstance(state, GroupGone):
            result.gone.append((key, record.partition, state.applied.source_offset))
        result.writes.append(Write(key, encode(state), record.partition, record))

    def _refuse(self, record: SourceRecord, reason: str, result: BatchResult) -> None:
        result.counts.dead_letters += 1
        log.warning("event refused", **record.place, reason=reason)
        result.publications.append(self.dead_letter(record, reason))

    def dead_letter(self, record: SourceRecord, reason: str, *, whole: bool = True) -> Publication:
        """About a record that was of no use; without its value unless `whole`."""
        letter = DeadLetter.of(
            service="evaluator",
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            reason=reason,
            failed_at=self._clock.now_ms(),
            key=record.key,
            value=record.value if whole else None,
        )
        return Publication(
            self._dead_letters, letter.key, letter.to_bytes(), record.partition, record
        )


def _read_event(record: SourceRecord) -> Input:
    try:
        event = OffsetEvent.from_record(record.key, record.value)
    except ContractViolation as violation:
        return record, record.key or b"", violation
    assert record.key is not None  # it has just been split
    return record, record.key, event


def _rounds(inputs: Sequence[Input]) -> Iterator[list[int]]:
    """Numbers of the first events of all groups, then of the second ones, and so on."""
    rounds: list[list[int]] = []
    seen: Counter[bytes] = Counter()
    for number, (_, key, _) in enumerate(inputs):
        if seen[key] == len(rounds):
            rounds.append([])
        rounds[seen[key]].append(number)
        seen[key] += 1
    return iter(rounds)


class GoneGroups:
    """Keys that wait for a commit, by partition of the topic that says so."""

    def __init__(self) -> None:
        self._waiting: dict[int, dict[bytes, int]] = {}
        self._first_seen: dict[int, int] = {}

    def add(self, key: bytes, partition: int, source_offset: int) -> None:
        self._waiting.setdefault(partition, {})[key] = source_offset

    def restore(self, entries: Iterable[tuple[bytes, int, int]]) -> None:
        """Starts anew, after a recovery, from (key, partition, source offset) of those that are
        gone."""
        self._waiting.clear()
        self._first_seen.clear()
        for key, partition, source_offset in entries:
            self.add(key, partition, source_offset)

    def saw(self, partition: int, offset: int) -> None:
        """An event came. The first one after a recovery is at the committed offset."""
        self._first_seen.setdefault(partition, offset)

    def take_due(self, committed: Mapping[int, int]) -> list[tuple[bytes, int]]:
        """(key, partition) of groups whose end lies below what is committed of its partition.

        `committed` is what this worker has committed since it started.
        """
        due = []
        for partition, waiting in self._waiting.items():
            end = max(committed.get(partition, 0), self._first_seen.get(partition, 0))
            for key in [key for key, offset in waiting.items() if offset < end]:
                del waiting[key]
                due.append((key, partition))
        return due


def ended_groups(entries: Iterable[tuple[bytes, bytes, int]]) -> Iterator[tuple[bytes, int, int]]:
    """Of the windows' (key, value, partition): key, partition, and the offset of the event that
    ended it, of groups that are gone.
    """
    for key, value, partition in entries:
        try:
            state = decode(value) if is_gone(value) else None
        except CorruptState:
            continue  # is reported when an event of the group comes
        if isinstance(state, GroupGone):
            yield key, partition, state.applied.source_offset
