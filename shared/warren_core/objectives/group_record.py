"""Group record: what is remembered of a group's lateness and objectives, and its bytes.

How late it is comes in a line of its own: it is read only where the group is not OK.

What is to be told is part of it (`untold`): it is stored before it is told, so that nothing is told
that is not remembered, and nothing is forgotten that was not told.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic_core import to_json
from warren.contracts import (
    EventTypeName,
    FreshnessEvent,
    Status,
    StatusChangeEvent,
    split_group_key,
)
from warren.errors import WarrenError

from warren_core.clocks import is_ahead
from warren_core.judgement.lateness import Lateness, from_fields, lateness_of
from warren_core.objectives.burn import Buckets, History, Standing
from warren_core.objectives.limits import Limit
from warren_core.objectives.readings import AskLag
from warren_core.objectives.verdicts import Objectives, OpenIncident, ended, judge

VERSION = 3
_NONE_BROKEN = b'"standings":{}'


class CorruptRecord(WarrenError):
    """A table value cannot be read. Operator: written by another version, or damaged."""


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """`source_offset`: of the last event that was applied, in `warren.freshness`. `lateness`: as it
    is stored; None of a group that is gone. `untold`: what that event, and others of its batch,
    gave to be told.
    """

    measured_at: int
    source_offset: int
    lateness: bytes | None
    objectives: Objectives
    untold: tuple[str, ...] = ()

    @property
    def is_gone(self) -> bool:
        return self.lateness is None

    def as_of(self, now: int) -> GroupRecord:
        """What counts of it at that time, Unix milliseconds: not that it was measured later."""
        return replace(self, measured_at=now) if is_ahead(self.measured_at, now) else self


def after_event(
    before: GroupRecord | None,
    event: FreshnessEvent,
    offset: int,
    limits: Sequence[Limit],
    lag: AskLag,
) -> GroupRecord | None:
    """None for an event that was applied before, or is older than one that was."""
    if before is not None and event.measured_at <= before.measured_at:
        return None
    verdict = judge(event, Objectives() if before is None else before.objectives, limits, lag)
    return GroupRecord(
        event.measured_at,
        offset,
        to_json(lateness_of(event)),
        verdict.objectives,
        _texts(verdict.changes),
    )


def after_end(before: GroupRecord | None, key: bytes, offset: int) -> GroupRecord | None:
    """The group is no more. None where that is known, or nothing was known of it."""
    if before is None or before.is_gone or offset <= before.source_offset:
        return None
    changes = ended(*split_group_key(key), before.measured_at, before.objectives)
    return GroupRecord(before.measured_at, offset, None, Objectives(), _texts(changes))


def _texts(changes: Sequence[StatusChangeEvent]) -> tuple[str, ...]:
    return tuple(change.model_dump_json() for change in changes)


def encode(record: GroupRecord) -> bytes:
    objectives = record.objectives
    fields: dict[str, Any] = {
        "v": VERSION,
        "at": [record.measured_at, record.source_offset],
        "standings": objectives.standings,
        "incidents": objectives.incidents,
        "untold": record.untold,
        **({"histories": objectives.histories} if objectives.histories else {}),
        **({"reported_lost": objectives.reported_lost} if objectives.reported_lost else {}),
        **({"seen_lost": objectives.seen_lost} if objectives.seen_lost else {}),
    }
    head = json.dumps(fields, separators=(",", ":")).encode()
    return head + b"\n" + (record.lateness or b"")


def is_gone(value: bytes) -> bool:
    """Whether the group is, without reading the rest."""
    return value.endswith(b"\n")


def has_broken(value: bytes) -> bool:
    """Whether some limit may be broken, without reading the rest."""
    return _NONE_BROKEN not in value


def lateness_in(value: bytes) -> Lateness | None:
    """None of a group that is gone. Raises CorruptRecord."""
    _, _, stored = value.partition(b"\n")
    if not stored:
        return None
    try:
        return from_fields(json.loads(stored))
    except (ValueError, TypeError, KeyError) as error:
        raise CorruptRecord(f"lateness cannot be read: {error}") from error


def remains(value: bytes) -> GroupRecord | None:
    """What can be had of a record of another version: its incidents will be closed under their ids.

    None where not even that can be read.
    """
    try:
        fields = json.loads(value.partition(b"\n")[0])
        measured_at, source_offset = fields["at"]
        return GroupRecord(
            measured_at, source_offset, None, Objectives({}, _incidents(fields["incidents"]))
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _incidents(fields: dict[EventTypeName, Any]) -> dict[EventTypeName, OpenIncident]:
    return {
        kind: OpenIncident(Status(status), int(opened_at))
        for kind, (status, opened_at) in fields.items()
    }


def _buckets(stored: list[list[int]]) -> Buckets:
    return tuple((number, spent) for number, spent in stored)


def decode(value: bytes) -> GroupRecord:
    """Raises CorruptRecord."""
    try:
        head, _, lateness = value.partition(b"\n")
        fields = json.loads(head)
        if fields["v"] != VERSION:
            raise CorruptRecord("lateness of another version")
        measured_at, source_offset = fields["at"]
        incidents = _incidents(fields["incidents"])
        histories = {
            key: History(at, verdict, _buckets(fine), _buckets(coarse))
            for key, (at, verdict, fine, coarse) in fields.get("histories", {}).items()
        }
        standings = {key: Standing(*each) for key, each in fields["standings"].items()}
        return GroupRecord(
            measured_at,
            source_offset,
            lateness or None,
            Objectives(
                standings,
                incidents,
                histories,
                fields.get("reported_lost", {}),
                fields.get("seen_lost", {}),
            ),
            tuple(fields["untold"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CorruptRecord(f"lateness cannot be read: {error}") from error
