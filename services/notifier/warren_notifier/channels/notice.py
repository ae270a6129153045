"""What a delivery tells: one event, or the conditions of a group's incident, as one. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from warren.contracts import (
    CONDITIONS,
    MAX_OBJECTIVES,
    Acknowledged,
    Condition,
    EventTypeName,
    FreshnessEvent,
    GroupIncident,
    GroupIncidentEvent,
    GroupStatusName,
    LagEvent,
    StatusChange,
)
from warren.contracts.event import Milliseconds
from warren.words import LOST_RECORDS, NEAR_LOSS, condition
from warren_core.group_incident import LOST_CAUSE, lost_records
from warren_core.objectives.near_loss import runs_out

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
CALLED: dict[EventTypeName, str] = {kind: condition(kind) for kind in CONDITIONS}


class IncidentNow(GroupIncident):
    """An incident as it is by now, and what people have done about it."""

    seen_at: Milliseconds
    """As of when it is so."""
    kept: list[Condition]
    """Conditions, or their limits, that are well again while their incidents are not over: as of
    when they are.
    """
    acknowledged: Acknowledged | None = None
    silenced_until: Milliseconds | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """`change`: all of it as one, with the status and the incident of the whole. `open`, `kept`
    (well again, though their incidents are not over), `ended` and `was` (what is over of it):
    conditions, the root first.
    """

    change: StatusChange
    at: int
    """Unix milliseconds."""
    event_type: EventTypeName
    """Of the root."""
    open: Sequence[Condition]
    ended: Sequence[Condition]
    acknowledged: Acknowledged | None = None
    silenced_until: int | None = None
    """Unix milliseconds."""
    kept: Sequence[Condition] = ()
    was: Sequence[Condition] = ()
    lost_before: int = 0
    """Records that what is over has lost."""

    @property
    def root_at(self) -> int:
        """When partitions, and the largest lag of one, were so: they are the root's."""
        return said_at((*self.open, *self.kept, *self.ended)[0])

    @property
    def status(self) -> GroupStatusName:
        """The worst of what is wrong; OK where nothing is by now, though it may be again."""
        if not self.kept or any(each.change.status == self.change.status for each in self.open):
            return self.change.status
        return "WARN" if self.open else "OK"

    @property
    def kept_at(self) -> int | None:
        """When all was seen to be well again, Unix milliseconds; None: it is not, or is over."""
        return None if self.open or not self.kept else max(each.changed_at for each in self.kept)

    @property
    def lost(self) -> int:
        """How many records are lost."""
        now = lost_records(each.change for each in (*self.open, *self.kept))
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


def notice_of(event: GroupIncidentEvent) -> Notice:
    """What an event tells: as published, or as it is by now."""
    data = event.data
    now = data if isinstance(data, IncidentNow) else None
    kept = now.kept if now is not None else []
    root = [*data.open, *kept, *data.ended][0]
    return Notice(
        _as_one(data, kept),
        data.changed_at if now is None else now.seen_at,
        root.type,
        data.open,
        data.ended,
        None if now is None else now.acknowledged,
        None if now is None else now.silenced_until,
        kept,
        data.over,
        data.lost_before,
    )


def said(condition: Condition) -> StatusChange:
    """What was said of it last."""
    return condition.end or condition.change


def said_at(condition: Condition) -> int:
    """When, Unix milliseconds."""
    return condition.changed_at if condition.until is None else condition.until


def _as_one(data: GroupIncident, kept: Sequence[Condition]) -> StatusChange:
    """Figures are the newest that some condition says."""
    about = data.open or kept or data.ended
    root = said(about[0])
    late, left = _newest(about, "late_ms"), _newest(about, "time_to_loss_ms")
    breaches = [b for each in data.open for b in each.change.objectives or []]
    update = {
        "status": data.status,
        "previous": data.previous,
        "incident_id": data.incident_id,
        "opened_at": data.opened_at,
        "total_lag": _lag(about)[0],
        "objectives": breaches[:MAX_OBJECTIVES] if breaches else root.objectives,
        "late_ms": late and late[0],
        "time_to_loss_ms": left and left[0],
    }
    if not data.open and kept:
        update |= {
            "cause": None,
            "explanation": None,
            "objectives": None if root.objectives is None else [],
            "max_lag": None,
            "partition_counts": {},
            "partitions": [],
            "partitions_omitted": 0,
        }
    return root.model_copy(update=update)


def _newest(about: Sequence[Condition], figure: str) -> tuple[int, int] | None:
    """The figure that was measured last, and when; None: none was."""
    known = [(getattr(said(each), figure), said_at(each)) for each in about]
    return max((one for one in known if one[0] is not None), key=lambda one: one[1], default=None)


def _lag(about: Sequence[Condition]) -> tuple[int, int]:
    """Likewise; without a measurement it is 0."""
    newest = max(about, key=lambda each: (said(each).total_lag > 0, said_at(each)))
    return said(newest).total_lag, said_at(newest)
