"""Incidents whose end was never seen: who knows of them is told of it when another one begins."""

from notifier.asked import put, silence
from notifier.builders import MINUTE, OPENED_AT, change, event, incident, route
from notifier.harness import Log, Scripted, play
from notifier.test_email_message import mail
from structlog.testing import capture_logs
from support.waiting import until
from warren.silences import Silences
from warren_notifier.channels.channel import Refused, Retry
from warren_notifier.routing.change import lost_end

FIRST = incident(event(incident_id="a", event_id="a-1"))
SECOND = incident(event(incident_id="b", event_id="b-1", at=OPENED_AT + MINUTE))
OPENINGS = [("a", "opened"), ("b", "opened")]


def told(channel: Scripted) -> list[tuple[str, str]]:
    return [(one.pending.incident_id, one.pending.kind) for one in channel.sent]


def ends(log: Log, incident_id: str) -> list[tuple[str, str]]:
    return [(one.kind, one.outcome) for one in log.audit() if one.incident_id == incident_id]


def test_its_end_comes_before_the_opening_of_the_next_one() -> None:
    hook = Scripted()
    over = incident(
        event(incident_id="b", event_id="b-1"),
        event("OK", "ERR", incident_id="b", event_id="b-2", at=OPENED_AT + 2 * MINUTE),
    )
    with capture_logs() as logs:
        log = play({"mail": hook}, FIRST, SECOND, over)
    assert told(hook) == [("a", "opened"), ("a", "resolved"), ("b", "opened"), ("b", "resolved")]
    end = hook.sent[1].event
    assert end is not None
    assert (end.data.status, end.data.previous, end.data.open) == ("OK", "ERR", [])
    assert (end.data.reason, end.time) == ("incident_replaced", SECOND.time)
    assert end.id not in (FIRST.id, SECOND.id)
    assert log.states() == []
    said = [one["event"] for one in logs]
    assert said.count("the end of an incident was never seen") == 1


def test_the_same_events_end_it_the_same_way() -> None:
    of, by = change(incident_id="a", objectives=[]), change(incident_id="b", event_id="b-1")
    assert lost_end(of, by) == lost_end(of, by)
    assert lost_end(of, by).event_id != lost_end(of, change(event_id="b-2")).event_id
    assert lost_end(of, by).subject == of.subject
    end = lost_end(of, by).event
    (over,) = end.data.ended
    assert over.end is not None
    assert over.end.objectives == []
    said = mail(end, kind="resolved", status="OK")["Subject"]
    assert said.startswith("[OVER] prod: billing replaced by another incident after")


def test_who_did_not_take_it_or_wants_no_ends_is_told_none() -> None:
    failing = Scripted(Retry("HTTP 503"))
    log = play(
        {"mail": failing},
        FIRST,
        lambda harness: until(lambda: harness.log.outcomes() == ["failed"]),
        SECOND,
        lambda harness: harness.start(),
        lambda harness: harness.idle(),
        stopped=True,
    )
    assert told(failing) == OPENINGS
    assert ends(log, "a")[1:] == [("opened", "superseded"), ("resolved", "suppressed")]
    refusing = Scripted(Refused("HTTP 404"))
    log = play({"mail": refusing}, FIRST, SECOND)
    assert told(refusing) == OPENINGS
    assert ends(log, "a") == [("opened", "refused"), ("resolved", "suppressed")]
    quiet = Scripted()
    play({"mail": quiet}, FIRST, SECOND, routes=[route(send_resolved=False)])
    assert told(quiet) == OPENINGS
    silenced = Scripted()
    asked = put(Silences(), silence())
    log = play({"mail": silenced}, [FIRST, SECOND], 60 * 60.0, silences=asked)
    assert told(silenced) == [("b", "opened")]
