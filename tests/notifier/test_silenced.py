"""What is silenced is put off: told when the silence is over and it is still so, or never."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from notifier.asked import acknowledgement, put, silence
from notifier.builders import MINUTE, OPENED_AT, change, event, pending_delivery, route
from notifier.harness import Hanging, Harness, Log, Scripted, life
from support.waiting import until
from warren.contracts import StatusChangeEvent, Told
from warren.settings.notifier import DAYS
from warren.silences import Silences
from warren_notifier.channels.channel import Delivered, Retry
from warren_notifier.routing.decisions import Router
from warren_notifier.routing.holds import Holds
from warren_notifier.routing.repeats import on_repeat
from warren_notifier.state.telling import LOOKED_AFTER

OVER = OPENED_AT + 60 * MINUTE


def closing() -> StatusChangeEvent:
    return event("OK", "ERR", event_id="event-9")


async def let_time_pass(harness: Harness, to: int) -> None:
    harness.clock.advance((to - harness.clock.now_ms()) / 1000)
    await harness.tick()


def test_an_opening_is_told_when_the_silence_is_over() -> None:
    log, mail = Log(), Scripted()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        quiet = put(Silences(), silence())
        harness = Harness(log, tasks, [route()], {"mail": mail}, silences=quiet)
        await harness.assign()
        await harness.read(event())
        await let_time_pass(harness, OVER - 1)
        assert not mail.sent
        assert log.outcomes() == ["silenced"]
        await let_time_pass(harness, OVER)
        await harness.idle()

    life(scenario)
    assert [d.pending.kind for d in mail.sent] == ["opened"]
    assert log.outcomes() == ["silenced", "delivered"]
    put_off, _ = log.audit()
    assert put_off.detail.startswith("silence quiet of ada until 2026-")
    assert put_off.detail.endswith(": moving")
    assert put_off.attempt == 0
    assert put_off.next_attempt_at is None


def test_an_incident_that_ends_meanwhile_was_never_there() -> None:
    log, mail = Log(), Scripted()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        quiet = put(Silences(), silence())
        harness = Harness(log, tasks, [route()], {"mail": mail}, silences=quiet)
        await harness.assign()
        await harness.read(event("WARN"))
        await harness.read(event("ERR", "WARN", event_id="event-2"), offset=1)
        await harness.read(closing(), offset=2)
        await let_time_pass(harness, OVER)
        await harness.idle()

    life(scenario)
    assert not mail.sent
    assert log.outcomes() == ["silenced", "superseded", "silenced", "superseded", "suppressed"]
    assert log.states() == []


def test_a_silence_takes_effect_on_what_is_being_tried_again() -> None:
    log, mail, quiet = Log(), Scripted(Retry("busy", retry_after=600)), Silences()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, [route()], {"mail": mail}, silences=quiet, stopped=True)
        await harness.assign()
        await harness.read(event())
        await until(lambda: len(mail.sent) == 1)
        await until(lambda: log.states()[0].deliveries[0].attempts == 1)
        put(quiet, silence())
        await harness.tick()
        harness.start()
        await until(lambda: harness.queues["mail"].idle)
        assert len(mail.sent) == 1
        await let_time_pass(harness, OVER)
        await harness.idle()

    life(scenario)
    assert log.outcomes() == ["failed", "silenced", "delivered"]


def test_an_attempt_that_is_under_way_is_left_alone() -> None:
    log, mail, quiet = Log(), Hanging(), Silences()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, [route()], {"mail": mail}, silences=quiet)
        await harness.assign()
        await harness.read(event())
        await until(lambda: len(mail.sent) == 1)
        put(quiet, silence())
        await harness.tick()
        mail.let_go.set()
        await harness.idle()

    life(scenario)
    assert log.outcomes() == ["delivered"]


def test_what_is_put_off_holds_up_nothing_else_of_its_group() -> None:
    """The end of what was told is behind it in the group's queue."""
    log, mail, quiet = Log(), Scripted(), Silences()
    muted = {"mute": [{"days": list(DAYS)}]}

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        routes = [
            route("status", event_types=["warren.group.status.changed"], **muted),
            route("rest"),
        ]
        harness = Harness(log, tasks, routes, {"mail": mail}, silences=quiet)
        await harness.assign()
        other = {"type": "warren.group.freshness.changed"}
        late = event(event_id="late", incident_id="late").model_copy(update=other)
        await harness.read(event(), late)
        await until(lambda: len(mail.taken) == 1)

    life(scenario)
    assert [d.pending.incident_id for d in mail.sent] == ["late"]


def test_thousands_that_are_put_off_take_no_place_in_the_queue() -> None:
    log, mail = Log(), Scripted()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        quiet = put(Silences(), silence(group="^noisy-"))
        harness = Harness(log, tasks, [route()], {"mail": mail}, silences=quiet, queue_size=2)
        await harness.assign()
        noisy = [event(group=f"noisy-{n}", event_id=f"e{n}", incident_id=f"i{n}") for n in range(9)]
        await harness.read(*noisy, event())
        await until(lambda: len(mail.taken) == 1)

    life(scenario)
    assert [d.subject.group for d in mail.sent] == ["billing"]


def test_a_deadline_does_not_pass_while_nothing_may_be_sent() -> None:
    log, mail = Log(), Scripted(Retry("busy"), Retry("busy"))

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        quiet = put(Silences(), silence())
        harness = Harness(log, tasks, [route()], {"mail": mail}, silences=quiet, deadline_ms=MINUTE)
        await harness.assign()
        await harness.read(event())
        await let_time_pass(harness, OVER)
        await harness.idle()

    life(scenario)
    assert log.outcomes() == ["silenced", "failed", "failed", "delivered"]


@pytest.mark.parametrize(
    ("fields", "silenced"),
    [
        ({"cluster": "^prod$", "group": "^bill"}, True),
        ({"cluster": "^pro$"}, False),
        ({"group": "ing"}, True),
        ({"group": "^ing"}, False),
        ({"ends_at": OPENED_AT}, False),
        ({"begins_at": OPENED_AT + 1}, False),
        ({"begins_at": OPENED_AT}, True),
    ],
)
def test_which_groups_are_silenced_and_when(fields: dict[str, Any], silenced: bool) -> None:
    found = put(Silences(), silence(**fields)).in_force(OPENED_AT).of("prod", "billing")
    assert (found is not None) == silenced


def test_a_muted_route_tells_later_what_another_one_tells_now() -> None:
    log, mail, pager = Log(), Scripted(), Scripted()
    # OPENED_AT is a Saturday at 07:00 UTC.
    quiet = {"mute": [{"from": "06:30", "to": "08:00", "zone": "UTC"}], "continue_matching": True}

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        routes = [route("team", ("mail",), **quiet), route("oncall", ("pager",))]
        harness = Harness(log, tasks, routes, {"mail": mail, "pager": pager})
        await harness.assign()
        await harness.read(event())
        await until(lambda: len(pager.taken) == 1)
        assert not mail.sent
        await let_time_pass(harness, OPENED_AT + 60 * MINUTE)
        await harness.idle()

    life(scenario)
    assert len(mail.taken) == 1
    assert log.outcomes("mail") == ["silenced", "delivered"]
    assert log.audit()[0].detail.startswith("route team is muted until 2026-")


def test_what_hears_of_an_incident_again_lest_it_takes_it_for_over_goes_on_hearing() -> None:
    """As an Alertmanager does: silence or not, and whether somebody looks after it or not."""
    again = {"kind": "repeated", "channel": "alerts"}
    holds = Holds(put(Silences(), silence()), [], {"alerts"}).at(OPENED_AT)
    subject = change().subject
    assert holds.of(subject, pending_delivery(**again)) is None
    assert holds.of(subject, pending_delivery(kind="repeated")) is not None
    assert holds.of(subject, pending_delivery(channel="alerts")) is not None
    router = Router(
        [route(channels=("mail", "alerts"), repeat_interval=60)], 1, resends={"alerts": 120_000}
    )
    told = {
        name: Told(incident_id="incident-1", channel=name, route="all", status="ERR")
        for name in ("mail", "alerts")
    }
    incident = router.on_change(change(), 0, None, {}, OPENED_AT).incident
    assert incident is not None
    later = on_repeat(
        router, change(), incident, told, (), OPENED_AT + 120_000, is_looked_after=True
    )
    assert later is not None
    assert [one.channel for one in later.deliveries] == ["alerts"]


def test_a_reminder_that_is_tried_again_is_withdrawn_when_somebody_looks_after_it() -> None:
    log, mail, asked = Log(), Scripted(Delivered("taken"), Retry("no")), Silences()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        routes = [route(repeat_interval=600)]
        channels = {"mail": mail}
        harness = Harness(log, tasks, routes, channels, silences=asked, stopped=True)
        await harness.assign()
        await harness.read(event())
        await harness.idle()
        harness.clock.advance(600)
        await harness.tick()
        await until(lambda: len(mail.sent) == 2)
        await until(lambda: log.states()[0].deliveries[0].attempts == 1)
        put(asked, acknowledgement())
        await harness.tick()
        harness.start()
        await harness.idle()
        await harness.read(closing(), offset=1)
        await harness.idle()

    life(scenario)
    assert [d.pending.kind for d in mail.sent] == ["opened", "repeated", "resolved"]
    assert log.outcomes() == ["delivered", "failed", "suppressed", "delivered"]
    assert log.audit()[2].detail == LOOKED_AFTER
