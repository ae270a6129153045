"""Latenesses: how late each group is, from `warren.freshness`, and whether it keeps its objectives.

The order of effects: what was decided is stored, then told, then the source is acknowledged. What a
worker stored and did not live to tell is told by the next one, with the same ids. (The windows'
worker tells first: there, what is decided follows from the event alone. Here it also follows from
the lag at hand and the settings of that moment.)
"""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import structlog
from warren.clock import Clock
from warren.contracts import FreshnessEvent, StatusChangeEvent, split_group_key
from warren.errors import ContractViolation
from warren.metrics import evaluator as metrics
from warren_core.clocks import require_past
from warren_core.evaluation import GroupRules, Rules
from warren_core.judgement.counted import without
from warren_core.judgement.lateness import Lateness
from warren_core.judgement.membership import Membership
from warren_core.judgement.state import GroupState
from warren_core.judgement.state_codec import CorruptState, decode as decode_state
from warren_core.judgement.unsubscribed import left_alike, topics_left
from warren_core.objectives.group_record import (
    CorruptRecord,
    GroupRecord,
    after_end,
    after_event,
    decode,
    encode,
    has_broken,
    is_gone,
    lateness_in,
    remains,
)
from warren_core.objectives.limits import ObjectiveBook
from warren_core.objectives.readings import GroupLag, group_lag

from warren_evaluator.batch import GoneGroups, RulesFor
from warren_evaluator.broken_limits import BrokenLimits
from warren_evaluator.records import Publication, SourceRecord, Table

log = structlog.get_logger(__name__)
NO_RULES = GroupRules(Rules())
KEPT_DECODED = 4096  # groups that are not OK, at most

Publish = Callable[[Publication], Awaitable[Awaitable[Any]]]


class Latenesses:
    """What is known of the groups of this worker's partitions.

    `book` may be replaced at any time. `read_windows` gives the windows' table value of a
    key, `committed` the committed offset of each partition of `warren.freshness`.
    """

    def __init__(
        self,
        table: Table,
        book: ObjectiveBook,
        topic: str,
        publish: Publish,
        clock: Clock,
        read_windows: Callable[[bytes], bytes | None] = lambda _: None,
        committed: Callable[[], Mapping[int, int]] = dict,
        measured: Callable[[bytes, FreshnessEvent], None] = lambda _key, _event: None,
        membership_of: Callable[[bytes], Membership | None] = lambda _: None,
        rules_for: RulesFor = lambda _cluster, _group: NO_RULES,
    ) -> None:
        """`topic`: where changes are told. `measured` is told of every measurement."""
        self.book = book
        self._table = table
        self._topic = topic
        self._publish = publish
        self._clock = clock
        self._read_windows = read_windows
        self._committed = committed
        self._measured = measured
        self._membership_of = membership_of
        self._rules_for = rules_for
        self._told: set[bytes] = set()  # keys whose stored news were told by this worker
        self._gone = GoneGroups()
        self._broken = BrokenLimits()

    def of(self, key: bytes) -> Lateness | None:
        """None while nothing is known."""
        value = self._table.read(key)
        return None if value is None else _decoded(value)

    def recovered(self, entries: Iterable[tuple[bytes, bytes, int]]) -> None:
        """Others may have written what is in the table now: (key, value, partition)."""
        self._told.clear()
        self._broken.clear()
        gone = []
        for key, value, partition in entries:
            if has_broken(value) and (record := self._read(key)) is not None:
                self._show(key, record)
            known = remains(value) if is_gone(value) else None
            if known is not None:
                gone.append((key, partition, known.source_offset))
        self._gone.restore(gone)

    async def run(self, records: Sequence[SourceRecord]) -> None:
        """Takes in records of `warren.freshness`; when it has returned they may be acknowledged."""
        known: dict[bytes, GroupRecord | None] = {}
        changed: dict[bytes, SourceRecord] = {}
        news: dict[bytes, list[Publication]] = {}
        owed: list[Publication] = []
        for record in records:
            self._gone.saw(record.partition, record.offset)
            if (key := record.key) is None:
                continue
            if key not in known:
                before = self._read(key)
                known[key] = before = before and before.as_of(self._clock.now_ms())
                if before is not None and key not in self._told:
                    owed += [self._publication(record, text) for text in before.untold]
            after = self._after(record, key, known[key])
            if after is None:
                continue
            news.setdefault(key, []).extend(self._publication(record, t) for t in after.untold)
            known[key], changed[key] = after, record
        await self._all_published(owed)
        await self._save(changed, known, news)
        await self._all_published(_flat(news))
        self._told.update(item.key for item in [*owed, *_flat(news)] if item.key is not None)

    def _after(
        self, record: SourceRecord, key: bytes, before: GroupRecord | None
    ) -> GroupRecord | None:
        """None where the record changes nothing."""
        if record.value is None:
            return after_end(before, key, record.offset)
        try:
            event = self._read_event(record, key)
        except ContractViolation as violation:
            log.warning("event refused", **record.place, reason=violation.reason)
            return None
        stands = functools.cache(lambda: self._stands(key))
        left_out = self._left_out(key, event, stands)
        event = without(event, left_out)
        self._measured(key, event)
        lag = functools.cache(lambda: _lag(stands(), event.measured_at, left_out))
        limits = self.book.limits_for(event.cluster, event.group)
        return after_event(before, event, record.offset, limits, lag)

    def _read_event(self, record: SourceRecord, key: bytes) -> FreshnessEvent:
        """Raises ContractViolation."""
        event = FreshnessEvent.from_record(key, record.value)
        require_past("measured_at", event.measured_at, self._clock.now_ms())
        return event

    def _left_out(
        self, key: bytes, event: FreshnessEvent, ask: Callable[[], GroupState | None]
    ) -> frozenset[str]:
        """Topics that are ignored, that nobody is to read, or that were forgotten on request: no
        objective is about them.
        """
        late = [topic for topic, rows in event.topics.items() if not rows.all_at_ease]
        if late and left_alike(self._membership_of(key)) is not None:
            return frozenset(event.topics)
        stands = ask() if late else None
        if stands is None:
            return self._ignored(event)
        forgotten = event.topics.keys() - stands.layout.topics.keys()
        return self._ignored(event) | forgotten | self._unsubscribed(key, event, late, stands)

    def _ignored(self, event: FreshnessEvent) -> frozenset[str]:
        rules = self._rules_for(event.cluster, event.group)
        if rules.same_for_all_topics and not rules.group.ignore:  # as nearly always
            return frozenset()
        return frozenset(topic for topic in event.topics if rules.of_topic(topic).ignore)

    def _unsubscribed(
        self, key: bytes, event: FreshnessEvent, late: Sequence[str], stands: GroupState
    ) -> frozenset[str]:
        membership = self._membership_of(key)
        subscription = None if membership is None else membership.subscription
        if subscription is None:
            return frozenset()
        left = [topic for topic in late if topic not in subscription.topics]
        return topics_left(subscription, left, stands.layout, stands.latest, event.measured_at)

    def _stands(self, key: bytes) -> GroupState | None:
        value = self._read_windows(key)
        try:
            state = None if value is None else decode_state(value)
        except CorruptState:
            return None
        return state if isinstance(state, GroupState) else None

    def _read(self, key: bytes) -> GroupRecord | None:
        value = self._table.read(key)
        if value is None:
            return None
        try:
            return decode(value)
        except CorruptRecord as error:
            log.error(
                "lateness of a group is unreadable, beginning anew",
                group=key.decode(errors="replace"),
                problem=str(error),
            )
            return remains(value)

    async def _save(
        self,
        changed: Mapping[bytes, SourceRecord],
        known: Mapping[bytes, GroupRecord | None],
        news: Mapping[bytes, Sequence[Publication]],
    ) -> None:
        waiting = []
        for key, record in changed.items():
            found = known[key]
            assert found is not None  # it has just changed
            untold = tuple((item.value or b"").decode() for item in news[key])
            self._told.discard(key)
            value = encode(replace(found, untold=untold))
            waiting.append(await self._table.save(key, value, record.partition))
        for key, partition in self._gone.take_due(self._committed()):
            here = self._read(key) if key not in changed else None
            if here is not None and here.is_gone:
                self._told.discard(key)
                waiting.append(await self._table.save(key, None, partition))
        await asyncio.gather(*waiting)
        for key, record in changed.items():
            found = known[key]
            if found is not None:
                self._show(key, found)
            if found is not None and found.is_gone:
                self._gone.add(key, record.partition, found.source_offset)

    def _show(self, key: bytes, record: GroupRecord) -> None:
        group = split_group_key(key)
        self._broken.show(*group, record.objectives, self.book.limits_for(*group))

    def _publication(self, record: SourceRecord, text: str) -> Publication:
        return Publication(
            *(self._topic, record.key, text.encode(), record.partition, record),
            StatusChangeEvent.headers,
        )

    async def _all_published(self, items: Sequence[Publication]) -> None:
        await asyncio.gather(*[await self._publish(item) for item in items])
        for item in items:
            change = StatusChangeEvent.from_bytes(item.value)
            metrics.EVALUATOR_OBJECTIVE_CHANGES.labels(change.type, change.data.status).inc()


def _flat(news: Mapping[bytes, Sequence[Publication]]) -> list[Publication]:
    return [item for items in news.values() for item in items]


@functools.lru_cache(maxsize=KEPT_DECODED)
def _decoded(value: bytes) -> Lateness | None:
    try:
        return lateness_in(value)
    except CorruptRecord:
        return None  # until the group's next event


def _lag(stands: GroupState | None, now: int, left_out: Collection[str]) -> GroupLag | None:
    lag = None if stands is None else group_lag(stands, now)
    if lag is None or not left_out:
        return lag
    return GroupLag({topic: n for topic, n in lag.by_topic.items() if topic not in left_out})
