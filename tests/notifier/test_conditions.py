"""People and machines are told one story of a group: an incident with conditions."""

from typing import Any

import pytest
from notifier.asked import acknowledgement, put
from notifier.builders import MINUTE, OPENED_AT, route
from notifier.harness import Harness, Log, Scripted, kinds, play
from notifier.test_email_message import breach, text, writer
from notifier.test_joined_incidents import DELETED, LATE, LOSING, STANDS, broken, of, stuck
from support.waiting import until
from warren.contracts import (
    FRESHNESS_CHANGED,
    RETENTION_CHANGED,
    STATUS_CHANGED,
    NotificationTest,
    StatusChangeEvent,
)
from warren.silences import Silences
from warren_notifier.state.telling import Delivery

ROOT = "losing-status"


class People(Scripted):
    """A channel for people, who are told of now."""

    tells_people = True


class Acknowledging(People):
    takes_acknowledgements = True


def losing(at: int) -> StatusChangeEvent:
    return broken(RETENTION_CHANGED, {"lost_records": DELETED}, at, "ERR")


def warned(at: int) -> StatusChangeEvent:
    return broken(RETENTION_CHANGED, {"min_time_to_loss": LOSING}, at)


def late(at: int) -> StatusChangeEvent:
    return broken(FRESHNESS_CHANGED, {"max_freshness": LATE}, at)


def over(kind: Any, at: int, **data: Any) -> StatusChangeEvent:
    return of(kind, "OK", at, previous="ERR", **data)


STORM = [
    late(OPENED_AT),
    stuck(OPENED_AT + 1_000),
    losing(OPENED_AT + 2_000),
    over(FRESHNESS_CHANGED, OPENED_AT + 3_000, objectives=[]),
    over(STATUS_CHANGED, OPENED_AT + 4_000),
    over(RETENTION_CHANGED, OPENED_AT + 5_000, objectives=[]),
]


def turns(count: int) -> list[StatusChangeEvent]:
    """Incidents of the consumer status, each over soon."""
    events = []
    for turn in range(1, count + 1):
        at = OPENED_AT + turn * 10_000
        about = {"incident_id": f"turn-{turn}", "opened_at": at}
        opening = of(STATUS_CHANGED, "ERR", at)
        data = opening.data.model_copy(update=about)
        events.append(opening.model_copy(update={"data": data, "id": f"open-{turn}"}))
        ended = data.model_copy(update={"status": "OK", "previous": "ERR", "partitions": []})
        events.append(over(STATUS_CHANGED, at + 5_000).model_copy(update={"data": ended}))
    return events


def told(channel: Scripted) -> list[tuple[str, str]]:
    return [(one.pending.kind, one.pending.status) for one in channel.sent]


def mail(sent: Delivery) -> str:
    return text(writer("https://warren.example.org").message(sent, OPENED_AT + MINUTE))


def test_the_conditions_of_a_group_are_one_incident_in_one_thread() -> None:
    people, machine = People(), Scripted()
    log = play({"mail": people, "hook": machine}, *STORM)
    assert told(people) == [
        ("opened", "WARN"),
        ("changed", "ERR"),
        ("changed", "ERR"),
        ("changed", "ERR"),
        ("changed", "ERR"),
        ("resolved", "OK"),
    ]
    assert {one.pending.incident_id for one in people.sent} == {"losing-freshness"}
    mails = [writer("").message(one, OPENED_AT + MINUTE) for one in people.sent]
    root = mails[0]["Message-ID"]
    assert [one["In-Reply-To"] for one in mails[1:]] == [root] * 5
    assert log.states() == []


def test_the_audit_names_the_conditions_that_people_were_told_of() -> None:
    log = play({"mail": People(), "hook": Scripted()}, *STORM)
    said = {
        channel: [audit.conditions for audit in log.audit() if audit.channel == channel]
        for channel in ("mail", "hook")
    }
    late, root, gone = (f"losing-{name}" for name in ("freshness", "status", "retention"))
    three = [root, gone, late]
    assert said == {
        channel: [[], [root, late], three, three, [gone, root], [gone]]
        for channel in ("mail", "hook")
    }


def test_a_machine_is_told_the_same_as_published() -> None:
    machine = Scripted()
    log = play({"mail": People(), "hook": machine}, *STORM)
    assert [one.event for one in machine.sent] == [log.folded.of(each) for each in STORM]
    assert kinds(machine) == ["opened", *["changed"] * 4, "resolved"]


def test_partitions_of_the_root_say_when_they_were_so_beside_figures_that_are_newer() -> None:
    people = People()
    play({"mail": people}, stuck(OPENED_AT), losing(OPENED_AT + 45_000))
    first, second = (mail(one) for one in people.sent)
    assert "Worst partitions" in first
    assert "Worst partitions at 07:00 UTC\n" in second


def test_the_subject_says_the_whole_as_it_is_now_the_root_first() -> None:
    people = People()
    play({"mail": people}, *STORM)
    titles = [str(writer("").message(one, OPENED_AT + MINUTE)["Subject"]) for one in people.sent]
    assert all(one.startswith("[WARN]") for one in titles[:1])
    assert titles[2] == "[ERR] prod: losing stuck record, losing data, late"
    assert titles[3].endswith("; late: objectives kept again")
    assert titles[4].startswith("[ERR] prod: losing ")
    assert titles[4].endswith("; consumer status: OK again")
    assert titles[5] == (
        "[OK] prod: losing OK again after 5s; was stuck record; 1 record stays lost"
    )
    body = mail(people.sent[2])
    assert body.index(STANDS) < body.index(DELETED) < body.index(LATE)


def test_the_end_says_what_was_wrong_and_what_stays_lost() -> None:
    """The final number of lost records comes with an event that nobody is told of."""
    many = breach("lost_records", 4270.0, sentence="4,270 unread records deleted")
    final = losing(OPENED_AT + 2_500)
    data = final.data.model_copy(update={"previous": "ERR", "objectives": [many]})
    people, machine = People(), Scripted()
    events = [*STORM[:3], final.model_copy(update={"data": data}), *STORM[3:]]
    log = play({"mail": people, "hook": machine}, *events)
    assert kinds(people).count("changed") == 4
    assert kinds(machine) == kinds(people)
    end = people.sent[-1]
    mails = writer("").message(end, OPENED_AT + MINUTE)
    assert mails["Subject"] == (
        "[OK] prod: losing OK again after 5s; was stuck record; 4,270 records stay lost"
    )
    assert "Was          Stuck record, losing data, late\n" in text(mails)
    assert "Lost         4,270 records stay lost\n" in text(mails)
    assert log.states() == []


def test_losses_that_pass_while_their_condition_lasts_stay_lost() -> None:
    """30, 836 in the end, then only near to a loss, then 32 more: 868."""
    people = People()

    def lost(at: int, count: int) -> StatusChangeEvent:
        event = losing(at)
        assert event.data.objectives is not None
        many = [each.model_copy(update={"value": count}) for each in event.data.objectives]
        return event.model_copy(
            update={"data": event.data.model_copy(update={"objectives": many, "previous": "WARN"})}
        )

    events = [
        lost(OPENED_AT, 30),
        lost(OPENED_AT + 1_000, 836),
        warned(OPENED_AT + 2_000),
        lost(OPENED_AT + 3_000, 32),
        over(RETENTION_CHANGED, OPENED_AT + 4_000, objectives=[]),
    ]
    events = [each.model_copy(update={"id": f"loss-{n}"}) for n, each in enumerate(events)]
    play({"mail": people}, *events)
    assert "868 records stay lost" in mail(people.sent[-1])


def test_a_condition_that_gets_worse_below_the_worst_is_no_news() -> None:
    """Retention goes from WARN to ERR of a group that has been ERR: `[WARN] …` is never said."""
    people = People()
    worse = losing(OPENED_AT + 2_000).model_copy(update={"id": "worse"})
    worse = worse.model_copy(update={"data": worse.data.model_copy(update={"previous": "WARN"})})
    play({"mail": people}, stuck(), warned(OPENED_AT + 1_000), worse)
    assert told(people) == [("opened", "ERR"), ("changed", "ERR")]


@pytest.mark.parametrize("id_", [ROOT, "losing-freshness"])
def test_one_acknowledgement_is_of_the_whole_incident(id_: str) -> None:
    """Also where only that of a condition was written."""
    people, silences = Acknowledging(), Silences()
    play(
        {"pager": people},
        [stuck(), late(OPENED_AT + 1)],
        lambda _: put(silences, acknowledgement(id_, group="losing")) and None,
        0,
        600,
        losing(OPENED_AT + 600_000),
        routes=[route(channels=("pager",), repeat_interval=60)],
        silences=silences,
    )
    assert kinds(people)[-2:] == ["acknowledged", "changed"]
    assert kinds(people).count("acknowledged") == 1


def test_a_route_for_one_condition_hears_nothing_of_groups_without_it() -> None:
    storage = People()
    only = [route("storage", ("storage",), event_types=[RETENTION_CHANGED])]
    play({"storage": storage}, *STORM[:2], routes=only)
    assert storage.sent == []
    play({"storage": storage}, *STORM, routes=only)
    assert told(storage)[0] == ("opened", "ERR")
    assert told(storage)[-1] == ("resolved", "OK")
    assert told(storage).count(("resolved", "OK")) == 1


def test_a_condition_that_comes_and_goes_in_an_open_incident_flaps() -> None:
    people = People()
    events = [late(OPENED_AT), *turns(7)]
    play({"mail": people}, *events, flap_openings=3)
    assert len(people.sent) < 8
    assert people.sent[-1].pending.flapping is not None


def test_a_test_of_a_route_reaches_people_and_machines_once() -> None:
    people, machine = People(), Scripted()
    asked = NotificationTest(id="7d3e", route="all", by="ada", at=OPENED_AT)

    async def test(harness: Harness) -> None:
        await harness.dispatcher.test(0, asked)
        await until(lambda: not harness.pending())

    log = play({"mail": people, "hook": machine}, test, 0)
    assert told(people) == told(machine) == [("opened", "ERR"), ("resolved", "OK")]
    assert {one.incident_id for one in log.audit()} == {"test-7d3e"}
    assert log.states() == []


def test_a_kill_between_any_two_records_leaves_no_incident_open() -> None:
    """The condition's record is written and the group's is not: the next life makes up for it."""
    whole = play({"mail": People()}, *STORM)
    for count in range(1, len(whole.records)):
        log = Log()
        log.records = whole.records[:count]
        play({"mail": People()}, *STORM, log=log)
        assert all(state.incident is None for state in log.states())
        told = [one.kind for one in log.audit() if one.outcome == "delivered"]
        assert told[0] == "opened"
        assert told[-1] == "resolved"


@pytest.mark.parametrize("count", range(1, len(STORM)))
def test_after_a_kill_the_story_goes_on(count: int) -> None:
    people = People()
    log = play({"mail": people}, *STORM[:count])
    play({"mail": people}, *STORM[count - 1 :], log=log, read=count - 1)
    assert kinds(people) == ["opened", *["changed"] * 4, "resolved"]
    assert log.states() == []
