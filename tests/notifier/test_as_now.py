"""Messages for people speak of now: the newest judgement of a group, who acknowledged it, and where
its cluster is.
"""

import asyncio
from typing import Any

import pytest
from notifier.asked import put, silence
from notifier.builders import MINUTE, OPENED_AT, delivery, incident
from notifier.harness import Harness, Scripted, play
from notifier.test_conditions import People
from notifier.test_email_digest import PROD, news
from notifier.test_email_message import breach, html, text, writer
from notifier.test_joined_incidents import DELETED, STANDS, STUCK, of, stuck
from support.freshness_events import freshness_event
from support.offset_events import NOW as FRESHNESS_NOW
from support.waiting import until
from warren.contracts import (
    RETENTION_CHANGED,
    Acknowledgement,
    FreshnessEvent,
    GroupIncident,
    GroupIncidentEvent,
    LagEvent,
    StatusChangeEvent,
)
from warren.silences import Silences
from warren_core.objectives.limits import ObjectiveBook
from warren_core.standing.renewal import Known
from warren_core.standing.standing import Standing
from warren_notifier.channels.digest_groups import Digest
from warren_notifier.source.topics import Groups, Newest

LATER = OPENED_AT + 18 * MINUTE
LINK = "https://warren.example.org"
LIMITS = ObjectiveBook([]).limits_for("prod", "losing")
GONE = "No members for 17m. Last: c-1 (127.0.0.1)"


def whole(*conditions: StatusChangeEvent, **data: Any) -> GroupIncidentEvent:
    found = incident(*conditions)
    return found.model_copy(update={"data": found.data.model_copy(update=data)})


def evaluated(**fields: Any) -> LagEvent:
    edge = {"offset": [1, 1], "at": [1, 1], "observed_at": [1, 1], "lag": [1, 1]}
    rows = {
        "partition": [0, 1],
        "status": ["OK", "STOP"],
        "committed": [5, 7],
        "committed_at": [OPENED_AT, OPENED_AT],
        "log_start": [0, 0],
        "log_end": [5, 9007],
        "lag": [0, 9000],
        "complete": [1.0, 1.0],
        "window_start": edge,
        "window_end": edge,
    }
    return LagEvent.model_validate(
        {
            "cluster": "prod",
            "group": "losing",
            "evaluated_at": LATER,
            "status": "ERR",
            "complete": 1.0,
            "policy": "burrow",
            "total_lag": 9000,
            "incident": {"id": "losing-status", "opened_at": OPENED_AT},
            "cause": {"name": "no_members", "sentence": GONE, "action": "Restart the consumers"},
            "topics": {"orders": rows},
            **fields,
        }
    )


def measured(lost: int = 2100, left: int = 0, at: int = LATER) -> FreshnessEvent:
    row = {
        "freshness_ms": 17 * MINUTE,
        "reason": "exact",
        "lost_records": lost,
        "time_to_loss_ms": left,
        "time_to_loss_reason": "retention_ms",
        "retention_left": 0.0,
    }
    return freshness_event(at - FRESHNESS_NOW, row, group="losing")


def now(event: GroupIncidentEvent, **known: Any) -> Standing:
    known = {"lag": evaluated(), "freshness": measured(), "limits": LIMITS, **known}
    return Standing.of(event.data, Known(**known))


def reminder(event: GroupIncidentEvent | Standing) -> str:
    return text(writer(LINK).message(delivery(event, kind="repeated"), LATER + 1_000))


def retention(at: int = OPENED_AT + MINUTE) -> StatusChangeEvent:
    lost = breach("lost_records", 66.0, sentence=DELETED, objective="retention")
    return of(RETENTION_CHANGED, "ERR", at, opened_at=at, objectives=[lost], total_lag=66)


def test_a_reminder_speaks_of_now() -> None:
    before = whole(stuck(), retention())
    assert f"at 07:00 UTC: {STANDS}" in reminder(before)
    said = reminder(now(before))
    assert GONE in said
    assert "Restart the consumers" in said
    assert "2,100 unread records deleted (orders/0)" in said
    assert "9,000 records" in said
    assert "Late by      17m" in said
    assert "Data loss    now" in said
    assert "07:00 UTC:" not in said
    assert STANDS not in said


def test_the_worst_partitions_are_those_of_now() -> None:
    (condition,) = now(whole(stuck())).open
    assert [(p.partition, p.status, p.lag) for p in condition.change.partitions] == [
        (1, "STOP", 9000)
    ]
    assert condition.change.partition_counts == {"OK": 1, "STOP": 1}
    assert condition.change.max_lag is not None
    assert condition.change.max_lag.lag == 9000
    assert condition.change.opened_at == OPENED_AT


@pytest.mark.parametrize(
    "known",
    [
        {"lag": None, "freshness": None},
        {"lag": evaluated(is_known=False)},
        {"lag": evaluated(evaluated_at=OPENED_AT - MINUTE)},
    ],
)
def test_what_is_not_known_of_now_keeps_its_time(known: dict[str, Any]) -> None:
    said = reminder(now(whole(stuck()), **{"freshness": None, **known}))
    assert f"at 07:00 UTC: {STANDS}" in said


def test_a_limit_that_nobody_can_read_keeps_its_time() -> None:
    odd = breach("max_freshness", 1.0, sentence="late by its own word", objective="own")
    own = of(RETENTION_CHANGED, "ERR", OPENED_AT, objectives=[odd])
    assert "at 07:00 UTC: late by its own word" in reminder(now(whole(own)))


@pytest.mark.parametrize(
    ("left", "seen", "said"),
    [
        (0, LATER, "data loss now"),
        (6 * MINUTE, LATER, "data loss from 07:24 UTC on"),
        (6 * MINUTE, OPENED_AT, "data loss from 07:06 UTC on, as of 07:00 UTC"),
        (0, OPENED_AT, "data loss under way at 07:00 UTC"),
    ],
)
def test_a_loss_says_of_when_it_is_known(left: int, seen: int, said: str) -> None:
    told = [news(n, at=seen, time_to_loss_ms=left) for n in (1, 2)]
    body = text(writer(LINK).digest(Digest("d", PROD, told, [], None), LATER))
    assert f" · {said}\n" in body


def test_who_acknowledged_it_stands_there_and_the_button_leads_to_the_group() -> None:
    said = Acknowledgement(
        incident_id="losing-status", cluster="prod", group="losing", by="anna", why="", at=OPENED_AT
    )
    about = now(whole(stuck()), acknowledged=said, silenced_until=LATER + 60 * MINUTE)
    mail = writer(LINK).digest(Digest("d", PROD, [news(1), news(2)], [about], None), LATER + 1_000)
    for body in (text(mail), html(mail)):
        assert "acknowledged by anna" in body
        assert "silenced until 08:18 UTC" in body
        assert "/incidents/losing-status" not in body
        assert "/groups/prod/losing" in body
        assert "/incidents/g0001-1" in body
    alone = reminder(about)
    assert "Acknowledged by anna at 07:00 UTC" in alone
    assert "/incidents/" not in alone


def test_mails_know_an_incident_by_one_id_and_beginning_whatever_of_it_is_over() -> None:
    about = now(whole(stuck(), incident_id="over-since-long", opened_at=OPENED_AT - 5 * MINUTE))
    assert f"{LINK}/incidents/over-since-long" in reminder(about)
    several = text(writer(LINK).digest(Digest("d", PROD, [news(1), news(2)], [about], None), LATER))
    assert f"{LINK}/incidents/over-since-long" in several
    assert "since 06:55 UTC" in several


def test_of_many_every_group_has_a_cause() -> None:
    told = [news(1, total_lag=1, cause=STUCK), news(2, total_lag=2, at=LATER)]
    body = text(writer(LINK).digest(Digest("d", PROD, told, [], None), LATER))
    assert "Conditions   1 stopped; 1 stuck record\n" in body


def test_people_are_told_of_now_and_machines_the_event_as_published() -> None:
    people, machine = People(), Scripted()
    of_now = now(whole(stuck()))
    log = play({"people": people, "machine": machine}, stuck(), as_now=lambda _: of_now)
    assert [each.standing for each in people.sent] == [of_now]
    assert [each.event for each in machine.sent] == [whole(stuck())]
    assert GONE not in str(log.records)


def test_people_are_told_once_it_is_known_how_groups_stand_now() -> None:
    """Until then nothing may have arrived. Machines do not wait."""
    people, machine = People(), Scripted()

    async def waits(harness: Harness) -> None:
        await harness.read(stuck())
        await until(lambda: machine.taken != [])
        assert people.sent == []
        tellings = (t for owned in harness.owned.all() for t in owned.state.tellings.values())
        (waiting,) = (t for t in tellings if t.notified.channel == "people")
        assert not waiting.is_under_way
        assert not waiting.notified.uncertain
        known.set()
        await harness.idle()

    known = asyncio.Event()
    play({"people": people, "machine": machine}, waits, known=known)
    assert len(people.sent) == 1


def test_what_cannot_be_made_of_now_is_told_as_it_was_published() -> None:
    people = People()

    def fails(_: GroupIncident) -> Standing:
        raise ZeroDivisionError

    log = play({"people": people}, stuck(), as_now=fails)
    assert people.sent[0].event == whole(stuck())
    assert log.outcomes() == ["delivered"]


def test_only_groups_with_an_open_incident_are_remembered() -> None:
    newest = Newest(lambda _, group: group == "losing")
    for group in ("losing", "fine"):
        key = f"prod|{group}".encode()
        newest.take_lag(key, evaluated(group=group).to_bytes())
        newest.take_freshness(key, measured().to_bytes())
    newest.take_lag(b"+1|prod|losing", b"a further part")
    assert newest.lag("prod", "losing") == evaluated()
    assert newest.freshness("prod", "losing") == measured()
    assert newest.lag("prod", "fine") is None
    newest.take_lag(b"prod|losing", None)
    newest.take_freshness(b"prod|losing", b"of a later version")
    assert newest.lag("prod", "losing") is None
    assert newest.freshness("prod", "losing") is None


def test_all_that_is_known_of_a_group_comes_together() -> None:
    newest, silences = Newest(lambda *_: True), Silences()
    newest.take_lag(b"prod|losing", evaluated().to_bytes())
    said = Acknowledgement(
        incident_id="losing-status", cluster="prod", group="losing", by="anna", why="", at=OPENED_AT
    )
    silences.apply_acknowledgement(b"losing-status", said.to_bytes())
    put(silences, silence(ends_at=LATER + MINUTE))
    groups = Groups(newest, silences, lambda: OPENED_AT, lambda *_: LIMITS, {"prod": "kafka:9092"})
    data = whole(stuck()).data
    known = Known(evaluated(), None, LIMITS, said, LATER + MINUTE, "kafka:9092")
    assert groups.standing(data) == Standing.of(data, known)
