"""Escalation: further channels are told of what stays bad, and of its end."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from notifier.asked import put, silence
from notifier.builders import MINUTE, OPENED_AT, event, route
from notifier.harness import Harness, Log, Scripted, life
from pydantic import ValidationError
from support.waiting import until
from warren.clock import ManualClock
from warren.contracts import Cause, StatusChangeEvent
from warren.settings.notifier import NotifierSettings
from warren.silences import Silences
from warren_notifier.channels.channel import Refused
from warren_notifier.routing.routes import Route

HOOK = {"type": "webhook", "url": "https://a.example", "secret": "whsec_" + "a" * 32}


def escalating(**fields: Any) -> Route:
    return route(escalate_after=900, escalate_to=["boss"], **fields)


def closing() -> StatusChangeEvent:
    return event("OK", "ERR", event_id="event-9")


async def at(harness: Harness, seconds: float) -> None:
    """So long after the opening everything that is due is done."""
    harness.clock.advance((OPENED_AT + seconds * 1000 - harness.clock.now_ms()) / 1000)
    await harness.tick()
    await until(lambda: harness.queues["mail"].idle and harness.queues["boss"].idle)


def kinds(channel: Scripted) -> list[str]:
    return [delivery.pending.kind for delivery in channel.sent]


def test_who_is_next_is_told_once_then_as_the_others() -> None:
    log, mail, boss = Log(), Scripted(), Scripted()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(
            log, tasks, [escalating(repeat_interval=3600)], {"mail": mail, "boss": boss}
        )
        await harness.assign()
        await harness.read(event("WARN"))
        await at(harness, 899)
        assert not boss.sent
        await at(harness, 900)
        await at(harness, 901)
        await at(harness, 3600)
        assert kinds(boss) == ["opened"], "it was told a quarter of an hour after the others"
        await at(harness, 4500)
        await harness.read(event("ERR", "WARN", event_id="event-2"), offset=1)
        await at(harness, 4501)
        await harness.read(closing(), offset=2)
        await harness.idle()

    life(scenario)
    assert kinds(boss) == ["opened", "repeated", "changed", "resolved"]
    assert kinds(mail) == kinds(boss)
    assert len(set(boss.ids + mail.ids)) == 8


def test_a_topic_that_nobody_subscribes_to_is_told_once_to_one() -> None:
    """It stays as it is until somebody has time for it; that something else is bad is told."""
    log, mail, boss = Log(), Scripted(), Scripted()
    left = Cause(name="unsubscribed", sentence="no member subscribes to old any more")

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        channels = {"mail": mail, "boss": boss}
        harness = Harness(log, tasks, [escalating(repeat_interval=3600)], channels)
        await harness.assign()
        await harness.read(event("WARN", cause=left))
        await at(harness, 901)
        await at(harness, 3601)
        assert (kinds(mail), kinds(boss)) == (["opened"], [])
        await harness.read(event("ERR", "WARN", event_id="event-2"), offset=1)
        await at(harness, 3602)
        assert (kinds(mail), kinds(boss)) == (["opened", "changed"], ["opened"])
        await harness.idle()

    life(scenario)


def test_bad_enough_for_the_route_all_the_time_is_what_counts() -> None:
    log, mail, boss = Log(), Scripted(), Scripted()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        channels = {"mail": mail, "boss": boss}
        harness = Harness(log, tasks, [escalating(minimum_severity="ERR")], channels)
        await harness.assign()
        await harness.read(event("ERR"))
        await at(harness, 800)
        await harness.read(event("WARN", "ERR", event_id="event-2"), offset=1)
        await at(harness, 1000)
        assert not boss.sent
        await harness.read(event("ERR", "WARN", event_id="event-3"), offset=2)
        await at(harness, 1899)
        assert not boss.sent
        await at(harness, 1900)

    life(scenario)
    assert kinds(boss) == ["opened"]


def test_time_until_then_begins_when_a_silence_is_over() -> None:
    log, mail, boss = Log(), Scripted(), Scripted()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        quiet = put(Silences(), silence(ends_at=OPENED_AT + 60 * MINUTE))
        channels = {"mail": mail, "boss": boss}
        harness = Harness(log, tasks, [escalating()], channels, silences=quiet)
        await harness.assign()
        await harness.read(event())
        await at(harness, 3599)
        await at(harness, 3600)
        assert kinds(mail) == ["opened"]
        await at(harness, 4499)
        assert not boss.sent
        await at(harness, 4500)

    life(scenario)
    assert kinds(boss) == ["opened"]


def test_who_knows_by_another_route_is_told_no_second_time() -> None:
    log, mail, boss = Log(), Scripted(), Scripted()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        routes = [escalating(continue_matching=True), route("rest", ("boss",))]
        harness = Harness(log, tasks, routes, {"mail": mail, "boss": boss})
        await harness.assign()
        await harness.read(event())
        await at(harness, 901)
        await harness.read(event("WARN", "ERR", event_id="event-2"), offset=1)
        await at(harness, 902)
        await harness.read(closing(), offset=2)
        await harness.idle()

    life(scenario)
    assert kinds(boss) == ["opened", "changed", "resolved"]


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"escalate_to": ["boss"]}, "go together"),
        ({"escalate_after": 60}, "go together"),
        ({"escalate_after": 60, "escalate_to": ["nobody"]}, "no channel 'nobody'"),
    ],
)
def test_what_cannot_be_is_refused(fields: dict[str, Any], names: str) -> None:
    with pytest.raises(ValidationError, match=names):
        NotifierSettings.model_validate(
            {
                "routes": [{"name": "all", "channels": ["mail"], **fields}],
                "channels": {"mail": HOOK, "boss": HOOK},
            }
        )


def test_a_route_that_is_muted_holds_up_no_other_ones_escalation() -> None:
    log, mail, boss = Log(), Scripted(), Scripted()
    hour = datetime.fromtimestamp(OPENED_AT / 1000, UTC).hour
    muted = [{"from": f"{hour:02}:00", "to": f"{hour + 2:02}:00", "zone": "UTC"}]
    team = route("team", ("chat",), mute=muted, continue_matching=True)

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        channels = {"chat": Scripted(), "mail": mail, "boss": boss}
        harness = Harness(log, tasks, [team, escalating(name="oncall")], channels)
        await harness.assign()
        await harness.read(event())
        await at(harness, 899)
        assert not boss.sent
        await at(harness, 900)

    life(scenario)
    assert kinds(mail) == kinds(boss) == ["opened"]


def test_a_group_that_flaps_and_is_well_is_not_escalated() -> None:
    log, mail, boss, clock = Log(), Scripted(), Scripted(), ManualClock(OPENED_AT)

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        channels = {"mail": mail, "boss": boss}
        harness = Harness(log, tasks, [escalating()], channels, clock=clock, flap_openings=3)
        await harness.assign()
        for number in range(6):
            status, previous = ("OK", "ERR") if number % 2 else ("ERR", "OK")
            one = event(
                status,
                previous,
                event_id=f"event-{number}",
                incident_id=f"i{number // 2}",
                at=clock.now_ms(),
            )
            await harness.read(one, offset=number)
            await harness.idle()
            clock.advance(10)
        await at(harness, 1200)
        assert not boss.sent
        again = event("ERR", "OK", event_id="event-6", incident_id="i3", at=clock.now_ms())
        await harness.read(again, offset=6)
        await at(harness, 1800)
        eased = event("WARN", "ERR", event_id="event-7", incident_id="i3", at=clock.now_ms())
        await harness.read(eased, offset=7)
        await at(harness, 2099)
        assert not boss.sent
        await at(harness, 2100)

    life(scenario)
    assert kinds(boss) == ["opened"], "it has been bad for 15 minutes"


def test_who_refused_what_another_route_told_is_not_taken_for_one_who_knows() -> None:
    log, mail, boss = Log(), Scripted(), Scripted(Refused("HTTP 404"))

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        routes = [escalating(continue_matching=True), route("own", ("boss",))]
        harness = Harness(log, tasks, routes, {"mail": mail, "boss": boss})
        await harness.assign()
        await harness.read(event("WARN"))
        await harness.idle()
        await at(harness, 900)

    life(scenario)
    assert kinds(boss) == ["opened", "opened"]
    assert len(boss.taken) == 1
