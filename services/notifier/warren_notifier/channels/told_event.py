"""What a delivery tells: one event, or the conditions of a group's incident, as one. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict
from warren.contracts import (
    FRESHNESS_CHANGED,
    GROUP_INCIDENT,
    MAX_OBJECTIVES,
    RETENTION_CHANGED,
    STATUS_CHANGED,
    Acknowledged,
    EventTypeName,
    FreshnessEvent,
    GroupIncidentEvent,
    GroupStatusName,
    LagEvent,
    StatusChange,
    StatusChangeEvent,
)
from warren.words import LOST_RECORDS, NEAR_LOSS, condition
from warren_core.objectives.near_loss import runs_out

LOST_CAUSE = "records_lost"
_STILL = ("STOP", "STALL")
"""Statuses of partitions of which nothing is read."""


def loss_in(freshness: FreshnessEvent, lag: LagEvent) -> int | None:
    """Milliseconds from the measurement until the first loss, where that runs down: a group that
    reads on is in no danger, however short the retention is. 0 while records are lost.
    """
    return 0 if freshness.lost_records else min(_running_down(freshness, lag), default=None)


def _running_down(freshness: FreshnessEvent, lag: LagEvent) -> Iterator[int]:
    for topic, rows in freshness.topics.items():
        judged = lag.topics.get(topic)
        known = () if judged is None else zip(judged.partition, judged.status, strict=True)
        still = {partition for partition, status in known if status in _STILL}
        for row, partition in enumerate(rows.partition):
            left, share = rows.time_to_loss_ms[row], rows.retention_left[row]
            late = rows.freshness_ms[row]
            late = rows.bound_ms[row] if late is None else late
            if left is not None and runs_out(left, share, late, stands_still=partition in still):
                yield left


def lost_records(changes: Iterable[StatusChange]) -> int:
    """How many are lost, as far as conditions of one group say it."""
    return round(max((count for change in changes for count in _lost(change)), default=0))


def _lost(change: StatusChange) -> Iterator[float]:
    for breach in change.objectives or ():
        if breach.limit == LOST_RECORDS:
            yield breach.value or 0
    cause = change.cause
    for found in () if cause is None else (cause, *cause.also):
        if found.name == LOST_CAUSE:
            yield found.evidence.lost_records or 0


def said_already(changes: Iterable[StatusChange]) -> set[str]:
    """Limits and consequences of a group that need not be told: another fact says the same."""
    changes = list(changes)
    limits = {breach.limit for change in changes for breach in change.objectives or ()}
    causes = [change.cause for change in changes if change.cause is not None]
    roots = {cause.name for cause in causes}
    needless = set()
    if LOST_CAUSE in roots:
        needless.add(LOST_RECORDS)
    elif LOST_RECORDS in limits:
        needless.add(LOST_CAUSE)
    seen = {*limits, *roots, *(found.name for cause in causes for found in cause.also)}
    if seen & {LOST_CAUSE, LOST_RECORDS}:
        needless.add(NEAR_LOSS)
    return needless


# What an incident is about, for people: the root comes first, then what follows, gravest first.
CALLED: dict[EventTypeName, str] = {
    kind: condition(kind) for kind in (STATUS_CHANGED, RETENTION_CHANGED, FRESHNESS_CHANGED)
}


class _Type(BaseModel):
    model_config = ConfigDict(extra="ignore")

    type: str


@dataclass(frozen=True, slots=True)
class ToldEvent:
    """`event`: all of it as one event, with the status and the incident of the whole. `open`,
    `kept` (well again, though their incidents are not over) and `ended`: events of conditions, the
    root first; a single event is one of them.
    """

    event: StatusChangeEvent
    open: Sequence[StatusChangeEvent]
    ended: Sequence[StatusChangeEvent]
    acknowledged: Acknowledged | None = None
    silenced_until: int | None = None
    """Unix milliseconds."""
    kept: Sequence[StatusChangeEvent] = ()
    was: Sequence[StatusChangeEvent] = ()
    """What is over of it, as it was."""
    lost_before: int = 0
    """Records that what is over has lost."""

    @property
    def change(self) -> StatusChange:
        return self.event.data

    @property
    def at(self) -> int:
        """Unix milliseconds."""
        return at(self.event)

    @property
    def root_at(self) -> int:
        """When partitions, and the largest lag of one, were so: they are the root's."""
        return at((*self.open, *self.kept, *self.ended)[0])

    @property
    def status(self) -> GroupStatusName:
        """The worst of what is wrong; OK where nothing is by now, though it may be again."""
        if not self.kept or any(each.data.status == self.change.status for each in self.open):
            return self.change.status
        return "WARN" if self.open else "OK"

    @property
    def kept_at(self) -> int | None:
        """When all was seen to be well again, Unix milliseconds; None: it is not, or is over."""
        return None if self.open or not self.kept else max(map(at, self.kept))

    @property
    def lost(self) -> int:
        """How many records are lost."""
        now = lost_records(each.data for each in (*self.open, *self.kept))
        return self.lost_before + now

    @property
    def lag(self) -> tuple[int, int]:
        """The newest that somebody has measured, and as of when; without a measurement it is 0."""
        return _lag([*self.open, *self.kept] or self.ended)

    @property
    def late_ms(self) -> tuple[int, int] | None:
        """How late the group is, and as of when; None: nobody has measured it."""
        return _newest(self.open or self.kept, "late_ms")

    @property
    def loss_at(self) -> tuple[int, int] | None:
        """When it loses data (Unix milliseconds), and as of when; likewise."""
        left = _newest(self.open or self.kept, "time_to_loss_ms")
        return left and (left[0] + left[1], left[1])

    @property
    def is_several(self) -> bool:
        """Whether there is more to tell than one event says."""
        return bool(self.kept) or (bool(self.open) and len(self.open) + len(self.ended) > 1)


def type_of(text: str) -> str:
    """The type of an event, from its text."""
    return _Type.model_validate_json(text).type


def told_event(text: str) -> ToldEvent:
    """`text`: of an event as published, or of a group's incident."""
    value = text.encode()
    if type_of(text) != GROUP_INCIDENT:
        event = StatusChangeEvent.from_bytes(value)
        is_open = event.data.status in ("WARN", "ERR")
        return ToldEvent(event, [event] * is_open, [event] * (not is_open))
    whole = GroupIncidentEvent.from_bytes(value)
    data = whole.data
    return ToldEvent(
        _as_one(whole),
        data.conditions,
        data.ended,
        data.acknowledged,
        data.silenced_until,
        data.kept,
        data.was,
        data.lost,
    )


def at(event: StatusChangeEvent) -> int:
    """When it happened, Unix milliseconds."""
    return round(event.time.timestamp() * 1000)


def _as_one(whole: GroupIncidentEvent) -> StatusChangeEvent:
    """Figures are the newest that some condition says."""
    data = whole.data
    said = data.conditions or data.kept or data.ended
    root = said[0]
    late, left = _newest(said, "late_ms"), _newest(said, "time_to_loss_ms")
    breaches = [b for each in data.conditions for b in each.data.objectives or ()]
    update = {
        "status": data.status,
        "previous": data.previous,
        "incident_id": data.incident_id,
        "opened_at": data.opened_at,
        "total_lag": _lag(said)[0],
        "objectives": breaches[:MAX_OBJECTIVES] if breaches else root.data.objectives,
        "late_ms": late and late[0],
        "time_to_loss_ms": left and left[0],
    }
    if not data.conditions and data.kept:
        update |= {
            "cause": None,
            "explanation": None,
            "objectives": None if root.data.objectives is None else [],
            "max_lag": None,
            "partition_counts": {},
            "partitions": [],
            "partitions_omitted": 0,
        }
    merged = root.data.model_copy(update=update)
    return root.model_copy(update={"id": whole.id, "time": whole.time, "data": merged})


def _newest(said: Sequence[StatusChangeEvent], figure: str) -> tuple[int, int] | None:
    """The figure that was measured last, and when; None: none was."""
    known = [(ms, at(each)) for each in said if (ms := getattr(each.data, figure)) is not None]
    return max(known, key=lambda one: one[1], default=None)


def _lag(said: Sequence[StatusChangeEvent]) -> tuple[int, int]:
    """Likewise; without a measurement it is 0."""
    newest = max(said, key=lambda each: (each.data.total_lag > 0, each.time))
    return newest.data.total_lag, at(newest)
