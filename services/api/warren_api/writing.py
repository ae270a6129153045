"""What people ask for, carried out: silences and acknowledgements, made durable and shown.

Used by `v1` and by the pages, which differ in how they are asked and how they answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated
from uuid import uuid4

import structlog
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)
from warren.contracts import (
    LONGEST_SILENCE_MS,
    Acknowledgement,
    NotificationTest,
    Silence,
)
from warren.contracts.silence import Expression, Owner, Person, Why, require_target
from warren.contracts.topics import ACKNOWLEDGEMENTS, NOTIFICATION_TESTS, SILENCES
from warren.errors import ContractViolation
from warren.silences import group_matcher

from warren_api.context import ApiContext
from warren_api.http.access import Asker
from warren_api.model.incidents import IncidentRecord

log = structlog.get_logger(__name__)

EFFECT_SECONDS = 3.0  # at most, until the answer: then the next request shows it already
LOOK_SECONDS = 0.02
LATEST_MS = 253_402_300_799_000  # the year 9999
LONGEST_NAME = 100  # of a person
NOBODY = "somebody"  # without a token and without a name
LONGEST_SECONDS = LONGEST_SILENCE_MS // 1000


class NewSilence(BaseModel):
    """A silence that is asked for."""

    model_config = ConfigDict(extra="forbid")

    cluster: Expression = Field(
        default="",
        description="Clusters in whose name this regular expression (RE2) matches somewhere",
    )
    group: Expression = Field(default="", description="Groups, likewise")
    owner: Owner = Field(
        default="", description="Only groups of this owner, those that come later among them"
    )
    for_seconds: int = Field(gt=0, le=LONGEST_SECONDS, description="How long it lasts")
    begins_at: int | None = Field(
        default=None, ge=0, le=LATEST_MS, description="Unix milliseconds; null: now"
    )
    by: Person = Field(default="", description="Who wants it; empty: whose token it is")
    why: Annotated[Why, StringConstraints(min_length=1, strip_whitespace=True)] = Field(
        description="What for"
    )

    @model_validator(mode="after")
    def _of_something(self) -> NewSilence:
        require_target(self.cluster, self.group, self.owner)
        return self

    @field_validator("cluster", "group")
    @classmethod
    def _expression(cls, value: str) -> str:
        try:
            group_matcher(value, "")
        except ContractViolation as violation:
            raise ValueError(violation.reason) from None
        return value


class NewTest(BaseModel):
    """A route is to be tried out."""

    model_config = ConfigDict(extra="forbid")

    route: str = Field(min_length=1, max_length=300, description="Its name")
    by: Person = Field(default="", description="Who wants to know; empty: whose token it is")


class NewAcknowledgement(BaseModel):
    """Somebody looks after an incident."""

    model_config = ConfigDict(extra="forbid")

    by: Person = Field(default="", description="Who; empty: whose token it is")
    why: Why = Field(default="", description="What they say about it")


async def begin_silence(
    context: ApiContext, wanted: NewSilence, asker: Asker
) -> tuple[Silence, int]:
    """The silence, and how many groups it matches now.

    Raises KafkaError.
    """
    groups = len(await asyncio.to_thread(matched, context, wanted))
    now = context.clock.now_ms()
    begins_at = now if wanted.begins_at is None else wanted.begins_at
    silence = Silence(
        v=2 if wanted.owner else 1,
        id=uuid4().hex[:12],
        cluster=wanted.cluster,
        group=wanted.group,
        owner=wanted.owner,
        begins_at=begins_at,
        ends_at=begins_at + wanted.for_seconds * 1000,
        by=_signed(wanted.by, asker),
        why=wanted.why,
        created_at=now,
    )
    await _write(context, silence)
    return silence, groups


def matched(context: ApiContext, wanted: NewSilence | Silence) -> list[tuple[str, str]]:
    """Clusters and groups of now that a silence is about."""
    matches = context.model.silences.matcher(wanted.cluster, wanted.group, wanted.owner)
    return sorted(name for name in group_names(context) if matches(*name))


def group_names(context: ApiContext) -> list[tuple[str, str]]:
    """Clusters and groups, with a verdict and without."""
    judged = [(one.cluster, one.group) for one in context.model.groups()]
    return judged + [(one.cluster, one.group) for one in context.model.not_judged()]


async def end_silence(context: ApiContext, silence: Silence, asker: Asker) -> Silence:
    """One that is over already stays as it is. Raises KafkaError."""
    now = context.clock.now_ms()
    if silence.ends_at <= now:
        return silence
    update = {"ends_at": max(now, silence.begins_at), "ended_by": _signed("", asker)}
    ended = silence.model_copy(update=update)
    await _write(context, ended)
    return ended


def _signed(said: str, asker: Asker) -> str:
    """Who it was, as far as a record takes it. `said`: the name that was given."""
    return asker.signs(said)[:LONGEST_NAME] or NOBODY


async def _write(context: ApiContext, silence: Silence) -> None:
    await asyncio.to_thread(context.write, SILENCES, silence.id.encode(), silence.to_bytes())
    log.info("silence", **silence.model_dump(exclude={"v"}))
    await shown(lambda: context.model.silences.silence(silence.id) == silence)


async def acknowledge(
    context: ApiContext,
    incident: IncidentRecord,
    wanted: NewAcknowledgement,
    asker: Asker,
    at: int | None = None,
) -> Acknowledgement:
    """Of the group's incident, and of each condition that is open: machines know those. `at`: Unix
    milliseconds, if not now. Raises KafkaError.
    """
    acknowledgement = Acknowledgement(
        incident_id=incident.id,
        cluster=incident.cluster,
        group=incident.group,
        by=_signed(wanted.by, asker),
        why=wanted.why,
        at=context.clock.now_ms() if at is None else at,
    )
    open_ones = [one.incident_id for one in incident.data.open]
    for id_ in dict.fromkeys([incident.id, *open_ones]):
        of_one = acknowledgement.model_copy(update={"incident_id": id_})
        await asyncio.to_thread(context.write, ACKNOWLEDGEMENTS, id_.encode(), of_one.to_bytes())
    log.info("incident acknowledged", **acknowledgement.model_dump(exclude={"v"}))
    found = context.model.silences.acknowledgement
    await shown(lambda: found(incident.id) == acknowledgement)
    return acknowledgement


async def test_route(context: ApiContext, wanted: NewTest, asker: Asker) -> NotificationTest:
    """Raises KafkaError."""
    test = NotificationTest(
        id=uuid4().hex[:12],
        route=wanted.route,
        by=_signed(wanted.by, asker),
        at=context.clock.now_ms(),
    )
    await asyncio.to_thread(context.write, NOTIFICATION_TESTS, test.id.encode(), test.to_bytes())
    log.info("route to be tried out", route=test.route, by=test.by, id=test.id)
    return test


async def withdraw(context: ApiContext, incident: IncidentRecord) -> None:
    """Nobody looks after it any more. Raises KafkaError."""
    found = context.model.silences.acknowledgement
    for id_ in [id_ for id_ in incident.ids if id_ == incident.id or found(id_) is not None]:
        await asyncio.to_thread(context.write, ACKNOWLEDGEMENTS, id_.encode(), None)
    log.info("acknowledgement withdrawn", incident_id=incident.id)
    await shown(lambda: found(incident.id) is None)


def find_incident(context: ApiContext, id_: str) -> IncidentRecord | None:
    """A group's incident that is remembered, by its id or that of one of its conditions: the first
    that had it.
    """
    known = context.model.incidents().all  # newest first
    return next((each for each in reversed(known) if id_ in each.ids), None)


async def shown(is_so: Callable[[], bool]) -> None:
    """Waits until this API shows it; another copy may be a moment later."""
    with suppress(TimeoutError):
        async with asyncio.timeout(EFFECT_SECONDS):
            while not is_so():
                await asyncio.sleep(LOOK_SECONDS)
