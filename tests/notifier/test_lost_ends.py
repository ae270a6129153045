"""Incidents whose end was never seen: who knows of them is told of it when another one begins."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from notifier.asked import put, silence
from notifier.builders import MINUTE, OPENED_AT, change, delivery, event, route
from notifier.harness import Harness, Log, Scripted, life
from notifier.test_email_message import mail
from notifier.test_flapping import Group, both, incident, turn
from structlog.testing import capture_logs
from support.waiting import until
from warren.contracts import NotificationEvent, StatusChangeEvent
from warren.silences import Silences
from warren_notifier.channels.channel import Refused, Retry
from warren_notifier.routing.lost_end import lost_end
from warren_notifier.routing.routes import Route

FIRST = event(incident_id="a", event_id="a-1")
SECOND = event(incident_id="b", event_id="b-1", at=OPENED_AT + MINUTE)
LOST = "the end of an incident was never seen"


def told(channel: Scripted) -> list[tuple[str, str]]:
    return [(one.pending.incident_id, one.pending.kind) for one in channel.sent]


def ends(log: Log, incident_id: str) -> list[tuple[str, str]]:
    return [(one.kind, one.outcome) for one in log.audit() if one.incident_id == incident_id]


def lives(
    log: Log, channel: Scripted, *events: StatusChangeEvent, routes: Sequence[Route] = (route(),)
) -> None:
    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, routes, {"mail": channel})
        await harness.assign()
        for offset, one in enumerate(events):
            await harness.read(one, offset=offset)
            await harness.idle()

    life(scenario)


def test_its_end_comes_before_the_opening_of_the_next_one() -> None:
    log, mail_ = Log(), Scripted()
    lives(log, mail_, FIRST, SECOND, event("OK", "ERR", incident_id="b", event_id="b-2"))
    assert told(mail_) == [("a", "opened"), ("a", "resolved"), ("b", "opened"), ("b", "resolved")]
    end = StatusChangeEvent.from_bytes(mail_.sent[1].event.encode())
    assert (end.data.status, end.data.previous, end.data.partitions) == ("OK", "ERR", [])
    assert (end.data.reason, end.time) == ("incident_replaced", SECOND.time)
    assert end.id not in (FIRST.id, SECOND.id)
    assert ends(log, "a") == [("opened", "delivered"), ("resolved", "delivered")]
    assert log.states() == []


def test_the_same_events_end_it_the_same_way() -> None:
    of, by = change(incident_id="a"), change(incident_id="b", event_id="b-1")
    assert lost_end(of, by) == lost_end(of, by)
    assert lost_end(of, by).event_id != lost_end(of, change(event_id="b-2")).event_id
    assert lost_end(of, by).closing
    assert lost_end(of, by).subject == of.subject


def test_one_of_an_objective_ends_as_one() -> None:
    of = change(incident_id="a", objectives=[])
    end = StatusChangeEvent.from_bytes(lost_end(of, change(incident_id="b")).event.encode())
    assert end.data.objectives == []


def test_what_was_not_sent_of_it_is_not_sent_any_more() -> None:
    log, mail_ = Log(), Scripted(Retry("HTTP 503"))

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        harness = Harness(log, tasks, [route()], {"mail": mail_}, stopped=True)
        await harness.assign()
        await harness.read(FIRST)
        await until(lambda: log.outcomes() == ["failed"])
        await harness.read(SECOND, offset=1)
        harness.start()
        await harness.idle()

    life(scenario)
    assert told(mail_) == [("a", "opened"), ("b", "opened")]
    assert ends(log, "a") == [
        ("opened", "failed"),
        ("opened", "superseded"),
        ("resolved", "suppressed"),
    ]


def test_nor_what_was_silenced() -> None:
    log, mail_ = Log(), Scripted()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        quiet = put(Silences(), silence())
        harness = Harness(log, tasks, [route()], {"mail": mail_}, silences=quiet)
        await harness.assign()
        await harness.read(FIRST, SECOND)
        harness.clock.advance(60 * 60)
        await harness.tick()
        await harness.idle()

    life(scenario)
    assert told(mail_) == [("b", "opened")]
    assert ends(log, "a") == [
        ("opened", "silenced"),
        ("opened", "superseded"),
        ("resolved", "suppressed"),
    ]


def test_who_did_not_take_it_or_wants_no_ends_is_told_none() -> None:
    log, mail_ = Log(), Scripted(Refused("HTTP 404"))
    lives(log, mail_, FIRST, SECOND)
    assert told(mail_) == [("a", "opened"), ("b", "opened")]
    assert ends(log, "a") == [("opened", "refused"), ("resolved", "suppressed")]
    quiet = Scripted()
    lives(Log(), quiet, FIRST, SECOND, routes=[route(send_resolved=False)])
    assert told(quiet) == [("a", "opened"), ("b", "opened")]


def test_a_mail_says_how_it_ended() -> None:
    of, by = change(incident_id="a"), change(incident_id="b", at=OPENED_AT + MINUTE)
    end = StatusChangeEvent.from_bytes(lost_end(of, by).event.encode())
    told_ = mail(end, kind="resolved", status="OK")
    assert told_["Subject"] == "[OVER] prod: billing replaced by another incident after 1m"
    assert delivery(end).pending.status == "OK"


class TestFlapping:
    def test_the_one_that_was_told_as_flapping_has_its_end_when_it_is_quiet(self) -> None:
        group = Group()
        begun = [*(e for n in range(2) for e in incident(n, n)), turn(2, "ERR", 2)]
        with capture_logs() as logs:
            group.lives(*begun, turn(3, "ERR", 3))
        assert [one["event"] for one in logs].count(LOST) == 1
        group.lives(turn(3, "OK", 4), quiet_at=40)
        assert group.told() == both(0, 1, 2)
        assert outcomes(group.log.audit(), "i3") == [("opened", "superseded")]

    def test_or_when_another_one_is_worse(self) -> None:
        group = Group()
        begun = [*(e for n in range(2) for e in incident(n, n)), turn(2, "WARN", 2)]
        group.lives(*begun, turn(3, "ERR", 3))
        assert group.told() == [*both(0, 1, 2), ("i3", "opened")]

    def test_nothing_is_said_to_be_lost_where_nothing_was(self) -> None:
        group = Group()
        with capture_logs() as logs:
            group.lives(*(e for n in range(6) for e in incident(n, n)), quiet_at=40)
        assert LOST not in [one["event"] for one in logs]


def outcomes(audit: Sequence[NotificationEvent], incident_id: str) -> list[tuple[str, str]]:
    return [(one.kind, one.outcome) for one in audit if one.incident_id == incident_id]
