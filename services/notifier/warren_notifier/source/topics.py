"""Warren's topics, read in a thread beside the loop: what people ask notifiers for, and the state.

`warren.silences` and `warren.acknowledgements` are read whole and followed; of
`warren.notification-tests` only what comes from now on counts; `warren.notifier-state` is read back
when partitions are assigned.

The newest evaluation and measurement of groups with an open incident, from `warren.lag` and
`warren.freshness`, are what messages for people say of now. Both topics have many records of groups
that are well; those are let go by their keys alone.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import structlog
from confluent_kafka import Message
from pydantic import BaseModel, ConfigDict, ValidationError
from warren.clock import Clock
from warren.contracts import (
    Cause,
    FreshnessEvent,
    GroupIncident,
    LagEvent,
    NotificationTest,
    NotifierState,
)
from warren.contracts.group_key import group_key, split_group_key
from warren.contracts.lag_event import Incident
from warren.contracts.topics import (
    ACKNOWLEDGEMENTS,
    FRESHNESS,
    LAG,
    NOTIFICATION_TESTS,
    NOTIFIER_STATE,
    SILENCES,
)
from warren.errors import ContractViolation, KafkaError, TopicMissing
from warren.kafka.topic_reader import TopicReader, newest_values
from warren.settings import HomeSettings
from warren.silences import Silences
from warren.words import visible
from warren_core.objectives.limits import Limit, ObjectiveBook
from warren_core.standing.renewal import Known
from warren_core.standing.standing import Standing

log = structlog.get_logger(__name__)

POLL_SECONDS = 0.2
MISSING_AGAIN_SECONDS = 30.0  # for topics that are not there

Poll = Callable[[], Awaitable[tuple[list[Message], bool]]]
"""Records that have come since, and whether all that was there at the beginning has been read."""


@asynccontextmanager
async def reading(
    home: HomeSettings, topics: Sequence[str], since: int | None = None
) -> AsyncIterator[Poll]:
    """Raises what a TopicReader raises. `since`: Unix milliseconds; None: from the beginning."""
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1, thread_name_prefix="topics") as thread:
        open_reader = partial(TopicReader, home, topics, since=since)
        reader = await loop.run_in_executor(thread, open_reader)

        async def poll() -> tuple[list[Message], bool]:
            records = await loop.run_in_executor(thread, reader.poll, POLL_SECONDS)
            return records, reader.caught_up

        try:
            yield poll
        finally:
            thread.submit(reader.close)


class SilenceTopics:
    """Keeps `silences` as the topics say. Where they are not there, nobody is silenced."""

    def __init__(
        self,
        home: HomeSettings,
        silences: Silences,
        on_test: Callable[[int, NotificationTest], Awaitable[None]],
    ) -> None:
        """`on_test`: is given the partition and what stands there."""
        self._home = home
        self._silences = silences
        self._on_test = on_test
        self._known = asyncio.Event()
        self._topics = [
            topic.full_name(home.topic_prefix)
            for topic in (SILENCES, ACKNOWLEDGEMENTS, NOTIFICATION_TESTS)
        ]

    async def known(self, stop: asyncio.Event) -> None:
        """Returns when all that was there has been read: nothing is to be told before. Or when the
        service is to stop.
        """
        waits = [asyncio.create_task(event.wait()) for event in (self._known, stop)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def follow(self) -> None:
        """Until cancelled. Raises what a TopicReader raises, but for a topic that is missing."""
        while True:
            try:
                async with reading(self._home, self._topics) as poll:
                    while True:
                        records, all_read = await poll()
                        for record in records:
                            await self._take(record)
                        if all_read:
                            self._known.set()
            except TopicMissing as missing:
                log.warning("no silences: their topics are not there", problem=str(missing))
                self._known.set()
                await asyncio.sleep(MISSING_AGAIN_SECONDS)

    async def _take(self, record: Message) -> None:
        _, acknowledgements, tests = self._topics
        try:
            if record.topic() == tests:
                if self._known.is_set():
                    test = NotificationTest.from_bytes(record.value())
                    await self._on_test(record.partition() or 0, test)
            elif record.topic() == acknowledgements:
                self._silences.apply_acknowledgement(record.key(), record.value())
            else:
                self._silences.apply(record.key(), record.value())
        except ContractViolation as violation:
            log.error(
                "record refused",
                topic=record.topic(),
                partition=record.partition(),
                offset=record.offset(),
                reason=visible(violation.reason),
            )


def read_states(home: HomeSettings, partitions: Collection[int]) -> dict[int, list[NotifierState]]:
    """States by partition, oldest first: the newest record per key counts, a tombstone removes it.

    Raises TopicMissing, ClusterUnreachable, AuthenticationFailed or AuthorizationFailed.
    """
    found: dict[int, list[NotifierState]] = {number: [] for number in partitions}
    for partition, newest in newest_values(home, NOTIFIER_STATE, partitions).items():
        for value in newest.values():
            try:
                found[partition].append(NotifierState.from_bytes(value))
            except ContractViolation as violation:  # of no notifier's making: left alone
                log.error("state refused", partition=partition, reason=violation.reason)
    return found


LOOK_AGAIN_SECONDS = 10.0  # for topics that cannot be read
KNOWN_WITHIN = 10.0
"""Seconds after an assignment for which messages wait: about as long as a session may take to begin
anew. Where the home cluster is slower, they carry the times of their events.
"""
BEFORE_MS = 60_000
"""From so long ago the topics are read: each group is judged far more often."""

CAUSES = 10_000
"""Incidents whose causes are remembered."""

_INCIDENT = re.compile(rb'"incident":{"id":"([^"]+)"')
"""Whose incident a record is of, seen before all of it is read."""

E = TypeVar("E", LagEvent, FreshnessEvent)


class _Judged(BaseModel):
    """What is read of an evaluation as it comes."""

    model_config = ConfigDict(extra="ignore")

    incident: Incident | None = None
    cause: Cause | None = None


class Newest:
    """By group. Records are kept as they came: few are ever asked for."""

    def __init__(self, is_open: Callable[[str, str], bool]) -> None:
        """`is_open`: whether a group (cluster, name) has an incident of which people are told."""
        self._is_open = is_open
        self._lag: dict[tuple[str, str], bytes] = {}
        self._freshness: dict[tuple[str, str], bytes] = {}
        self._causes: OrderedDict[str, Cause] = OrderedDict()
        """The first that was known of each incident: often no event of it has one."""

    def take_lag(self, key: bytes | None, value: bytes | None) -> None:
        """Takes a record of `warren.lag`; a tombstone forgets the group."""
        self._note_cause(value or b"")
        self._take(self._lag, key, value)

    def take_freshness(self, key: bytes | None, value: bytes | None) -> None:
        """Takes a record of `warren.freshness`, likewise."""
        self._take(self._freshness, key, value)

    def cause(self, incident_id: str) -> Cause | None:
        """The first that was known of an incident of the consumer status, also when it is over."""
        return self._causes.get(incident_id)

    def _note_cause(self, value: bytes) -> None:
        """Also where the group is well again by its events, which are read beside."""
        found = _INCIDENT.search(value)
        if found is None or found[1].decode(errors="replace") in self._causes:
            return
        try:
            judged = _Judged.model_validate_json(value)
        except ValidationError:
            return
        incident, cause = judged.incident, judged.cause
        if incident is None or cause is None or not cause.is_known:
            return
        self._causes[incident.id] = cause
        while len(self._causes) > CAUSES:
            self._causes.popitem(last=False)

    def lag(self, cluster: str, group: str) -> LagEvent | None:
        return _read(LagEvent, cluster, group, self._lag)

    def freshness(self, cluster: str, group: str) -> FreshnessEvent | None:
        return _read(FreshnessEvent, cluster, group, self._freshness)

    def _take(
        self, known: dict[tuple[str, str], bytes], key: bytes | None, value: bytes | None
    ) -> None:
        try:
            group = split_group_key(key)
        except ContractViolation:
            return  # a further part of a huge group
        if value is not None and self._is_open(*group):
            known[group] = value
        else:
            known.pop(group, None)


def _read(
    contract: type[E], cluster: str, group: str, known: Mapping[tuple[str, str], bytes]
) -> E | None:
    """None also for what this version refuses: the event that is told is enough."""
    value = known.get((cluster, group))
    try:
        return None if value is None else contract.from_record(group_key(cluster, group), value)
    except ContractViolation:
        return None


class NewestTopics:
    """Keeps `newest` as the topics say. Without them messages carry the times of their events."""

    def __init__(self, home: HomeSettings, newest: Newest, clock: Clock) -> None:
        self._home = home
        self._newest = newest
        self._clock = clock
        self._lag = LAG.full_name(home.topic_prefix)
        self._topics = [self._lag, FRESHNESS.full_name(home.topic_prefix)]
        self._assigned = asyncio.Event()
        self._known = asyncio.Event()
        self._wait_until = 0.0
        """By the monotonic clock."""

    @contextmanager
    def assigning(self) -> Iterator[None]:
        """While partitions are assigned. What is known of their groups is read from then on: only
        of these is anything remembered.
        """
        self._known.clear()
        self._wait_until = self._clock.monotonic() + KNOWN_WITHIN
        yield
        self._assigned.set()

    async def known(self) -> None:
        """Returns when all has been read that was there at the last assignment, or it has taken too
        long: nobody is to be told of now before.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(self._wait_until - self._clock.monotonic()):
                await self._known.wait()

    async def follow(self) -> None:
        """Until cancelled. Whatever cannot be read ends no session: what is told is told anyway."""
        while True:
            await self._assigned.wait()
            try:
                await self._follow()
            except KafkaError as error:
                if isinstance(error, TopicMissing):  # nobody waits for them
                    self._known.set()
                log.warning(
                    "messages have the figures of their events, not of now", problem=str(error)
                )
                await asyncio.sleep(LOOK_AGAIN_SECONDS)

    async def _follow(self) -> None:
        """Until partitions are assigned once more."""
        since, newest = self._clock.now_ms() - BEFORE_MS, self._newest
        async with reading(self._home, self._topics, since) as poll:
            self._assigned.clear()
            try:
                while not self._assigned.is_set():
                    records, all_read = await poll()
                    for record in records:
                        is_lag = record.topic() == self._lag
                        take = newest.take_lag if is_lag else newest.take_freshness
                        take(record.key(), record.value())
                    if all_read and not self._assigned.is_set():
                        self._known.set()
            finally:
                self._assigned.set()


@dataclass(frozen=True, slots=True)
class Groups:
    """All that a notifier knows of each group now, from topics and settings."""

    newest: Newest
    silences: Silences
    now_ms: Callable[[], int]
    limits_for: Callable[[str, str], Sequence[Limit]] = ObjectiveBook([]).limits_for
    """What objectives ask of a group."""
    servers: Mapping[str, str] = field(default_factory=dict)
    """Bootstrap servers by cluster."""

    def standing(self, data: GroupIncident) -> Standing:
        """Of the group of an incident."""
        cluster, group = data.cluster, data.group
        silence = self.silences.in_force(self.now_ms()).of(cluster, group)
        over = [each.incident_id for each in data.over]
        causes = {each: found for each in over if (found := self.newest.cause(each)) is not None}
        said = (self.silences.acknowledgement(each) for each in data.ids)
        known = Known(
            self.newest.lag(cluster, group),
            self.newest.freshness(cluster, group),
            self.limits_for(cluster, group),
            next(filter(None, said), None),
            None if silence is None else silence.ends_at,
            self.servers.get(cluster, ""),
            causes,
        )
        return Standing.of(data, known)
