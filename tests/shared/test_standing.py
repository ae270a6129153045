"""How a group stands: what is said is of its moment, and of what counts."""

from typing import Any

import pytest
from api.served_api import CAUGHT_UP, NOW, freshness_event, lag_event, late, status_change, topic
from warren.bootstrap import VARIABLE
from warren.contracts import (
    FRESHNESS_CHANGED,
    RETENTION_CHANGED,
    DigestKey,
    FreshnessEvent,
    GroupIncident,
    LagEvent,
    StatusChangeEvent,
)
from warren.settings import ObjectiveSettings
from warren.words import shell_word
from warren_api.pages.sentences import without_commands
from warren_core.group_freshness import figures_of
from warren_core.group_incident import fold
from warren_core.objectives.limits import ObjectiveBook
from warren_core.ownership import Ownership
from warren_core.standing.endings import end_of
from warren_core.standing.facts import facts_of
from warren_core.standing.renewal import Known
from warren_core.standing.standing import Standing
from warren_notifier.channels.digest_groups import Digest
from warren_notifier.channels.digest_text import digest_text

MINUTE = 60_000
BOOTSTRAP = f"--bootstrap-server {VARIABLE}"
HOUR = 60 * MINUTE
OPENED = NOW - HOUR
ID = f"billing-{OPENED}"
ON_TIME = ObjectiveSettings(name="on-time", max_freshness=60)
LIMITS = ObjectiveBook([ON_TIME]).limits_for("demo", "billing")
STUCK = {
    "name": "stuck_record",
    "short": "Stuck at one record",
    "sentence": "orders/1 is stuck",
    "action": "Inspect the record",
}
LATE = {
    "objective": "on-time",
    "limit": "max_freshness",
    "status": "WARN",
    "since": OPENED,
    "value": 300_000,
    "wanted": 60_000,
    "sentence": "orders/1 is at least 5m late (limit 1m)",
}
LOST = {
    **LATE,
    "objective": "retention",
    "limit": "lost_records",
    "value": 66,
    "sentence": "66 unread records deleted (orders/1)",
}


def stuck(at: int = OPENED, **fields: Any) -> StatusChangeEvent:
    return status_change("billing", "ERR", at, **{"cause": STUCK, "total_lag": 1_111, **fields})


def broken(at: int, breach: dict[str, Any] = LATE, **fields: Any) -> StatusChangeEvent:
    kind = RETENTION_CHANGED if breach is LOST else FRESHNESS_CHANGED
    about: dict[str, Any] = {"type": kind, "incident_id": "broken-1", "objectives": [breach]}
    return status_change("billing", breach["status"], at, **{**about, "total_lag": 0, **fields})


def over(at: int, status: str = "OK", **fields: Any) -> StatusChangeEvent:
    return status_change("billing", status, at, opened_at=OPENED, total_lag=0, **fields)


def kept(at: int) -> StatusChangeEvent:
    about: dict[str, Any] = {"type": FRESHNESS_CHANGED, "incident_id": "broken-1", "objectives": []}
    return status_change("billing", "OK", at, **about)


def incident(*changes: StatusChangeEvent) -> GroupIncident:
    known = None
    for each in changes:
        known = fold(known, each) or known
    assert known is not None
    return known.data


def judged(at: int = NOW - 1_000, **fields: Any) -> LagEvent:
    """Stuck as before, unless told otherwise."""
    about = {"status": "ERR", "incident": {"id": ID, "opened_at": OPENED}, "cause": STUCK}
    return lag_event("billing", **{**about, "total_lag": 7_777, "evaluated_at": at, **fields})


def measured(*rows: dict[str, Any], at: int = NOW - 1_000) -> FreshnessEvent:
    return freshness_event("billing", rows=list(rows), measured_at=at)


def facts(of: Standing) -> dict[str, str]:
    found = facts_of(of, NOW)
    assert len({fact.name for fact in found if fact.name != "Then"}) == len(
        [fact for fact in found if fact.name != "Then"]
    ), found
    return {fact.name: fact.value for fact in found}


def test_what_is_over_does_not_come_back_by_an_older_evaluation() -> None:
    data = incident(stuck(), broken(NOW - 30 * MINUTE), over(NOW - MINUTE))
    for at in (NOW - 40 * MINUTE, NOW - 2 * MINUTE, NOW - MINUTE):
        of = Standing.of(data, Known(judged(at)))
        assert (of.status, of.what(NOW)) == ("WARN", "Late")
        assert "Cause" not in facts(of)
    again = Standing.of(data, Known(judged()))
    assert (again.status, again.what(NOW)) == ("ERR", "Stuck at one record, late")


def test_a_status_of_before_the_incident_is_none_of_it() -> None:
    data = incident(broken(NOW - 30 * MINUTE))
    assert Standing.of(data, Known(judged(NOW - 31 * MINUTE))).what(NOW) == "Late"


def test_figures_are_not_older_than_their_time() -> None:
    """The evaluation is newer than one condition, and older than the other."""
    first = stuck(late_ms=10 * MINUTE, time_to_loss_ms=90 * MINUTE)
    data = incident(first, broken(NOW - MINUTE))
    figures = Standing.of(data, Known(judged(NOW - 2 * MINUTE))).figures
    assert figures.lag == (1_111, OPENED, False)
    assert figures.late == (10 * MINUTE, OPENED, False)
    assert figures.loss_at == (OPENED + 90 * MINUTE, OPENED, False)


def test_a_loss_to_come_is_said_of_the_moment_in_which_it_was_measured() -> None:
    data = incident(stuck(time_to_loss_ms=61 * MINUTE), broken(NOW - 5_000))
    at_ease = measured(CAUGHT_UP, CAUGHT_UP)
    assert not Standing.of(data, Known(None, at_ease)).seen


def test_what_is_over_needs_no_step() -> None:
    data = incident(stuck(), over(NOW - 1_000, time_to_loss_ms=20 * MINUTE))
    near = measured(CAUGHT_UP, late(7_000, time_to_loss_ms=20 * MINUTE))
    known = Known(judged(status="OK", incident=None, cause=None), near)
    of = Standing.of(data, known)
    assert (of.problems, of.steps) == ([], [])


def test_a_loss_of_before_the_incident_is_none_of_it() -> None:
    losing = late(7_000, lost_records=66, reason="expired", time_to_loss_ms=0)
    before, since = (measured(CAUGHT_UP, losing, at=OPENED + at) for at in (-MINUTE, MINUTE))
    assert Standing.of(incident(stuck()), Known(judged(), before)).lost == 0
    assert Standing.of(incident(stuck()), Known(judged(), since)).lost == 66
    ended = incident(stuck(), over(NOW - 2_000))
    assert Standing.of(ended, Known(judged(), since)).lost == 0


def test_what_is_lost_does_not_say_when_more_will_be() -> None:
    """Somebody deleted records that retention would have kept for a week."""
    week = 7 * 24 * HOUR
    lost = late(7_000, lost_records=66, reason="expired", time_to_loss_ms=week, retention_left=0.9)
    lag = judged(topics={"orders": topic({}, {"status": "STOP", "lag": 7})})
    of = Standing.of(incident(stuck(time_to_loss_ms=week)), Known(lag, measured(CAUGHT_UP, lost)))
    assert of.lost == 66
    assert of.figures.loss_at == (NOW - 1_000 + week, NOW - 1_000, False)


def test_a_cause_keeps_its_figure_where_the_measurement_is_older() -> None:
    said = "3,110 unread records deleted (orders/0)"
    losing = late(7_000, lost_records=66, reason="expired", time_to_loss_ms=0)
    lag = judged(cause={"name": "records_lost", "sentence": said})
    for at, expected in ((NOW - HOUR, "3,110"), (NOW - 2_000, "66")):
        of = Standing.of(incident(stuck()), Known(lag, measured(CAUGHT_UP, losing, at=at)))
        assert facts(of)["Cause"].startswith(expected)


def test_the_largest_lag_and_partitions_carry_their_time() -> None:
    most = {"topic": "orders", "partition": 1, "lag": 1_111}
    found = facts(standing_of(stuck(max_lag=most, partition_counts={"STOP": 1, "OK": 11})))
    assert found["Largest lag"] == "orders partition 1: 1,111 records at 06:00 UTC"
    assert found["Partitions"] == "1 STOP, 11 OK at 06:00 UTC"
    now = facts(Standing.of(incident(stuck()), Known(judged())))
    assert now["Partitions"] == "2 OK"


def standing_of(*changes: StatusChangeEvent) -> Standing:
    """As published."""
    return Standing.of(incident(*changes))


def test_what_does_not_count_is_in_no_figure() -> None:
    """Notifiers read the measurement of all topics, also of what was forgotten on request."""
    ignored = topic({"lag": 9_000_000}) | {"reason": ["ignored"], "explanation": [None]}
    lag = judged(topics={"orders": topic({}, {"status": "STALL", "lag": 7}), "ignored": ignored})
    losing = late(72 * HOUR, lost_records=500, reason="expired", time_to_loss_ms=0)
    orders = measured(CAUGHT_UP, late(9_000))
    other = freshness_event("billing", topic="other", rows=[losing]).topics["other"]
    for name in ("ignored", "forgotten"):
        topics = {**orders.topics, name: other}
        all_of_it = orders.model_copy(update={"topics": topics, **figures_of(topics)})
        of = Standing.of(incident(stuck()), Known(lag, all_of_it, LIMITS))
        found = facts(of)
        assert (of.what(NOW), of.lost, found["Late by"]) == ("Stuck at one record", 0, "9s")
        assert found["Largest lag"] == "orders partition 1: 7 records"


def test_what_is_well_by_now_is_not_said_as_of_now() -> None:
    """A moment between two topics, and the time for which an objective has to be kept."""
    well = judged(status="OK", incident=None, cause=None)
    near = {**LATE, "sentence": "orders/1 is late"}
    for data in (incident(stuck()), incident(broken(OPENED, near))):
        known = Known(well, measured(CAUGHT_UP, CAUGHT_UP), LIMITS)
        of = Standing.of(data, known)
        assert (of.status, of.problems, of.kept_at) == ("OK", [], NOW - 1_000)
        assert of.what(NOW).startswith("OK at 06:59 UTC, was ")
        assert [each.at for each in of.was] == [OPENED]


def test_every_step_is_told() -> None:
    """A runbook that is no link is a step, whatever else there is to do."""
    found = facts_of(standing_of(stuck(runbook="call the owner")), NOW)
    steps = [fact for fact in found if fact.name in ("What to do", "Then")]
    assert steps == [("What to do", "Inspect the record"), ("Then", "call the owner")]
    two = stuck(cause={**STUCK, "action": None}, runbook="call the owner")
    found = facts_of(standing_of(two, broken(NOW - MINUTE, {**LATE, "runbook": "wait"})), NOW)
    steps = [fact for fact in found if fact.name in ("What to do", "Then")]
    assert steps == [("What to do", "wait"), ("Then", "call the owner")]


def test_labels_are_told_as_their_event_has_them() -> None:
    assert facts(standing_of(stuck(labels={"tier": "1"})))["tier"] == "1"
    known = Known(judged(), ownership=Ownership(labels=(("tier", "2"),)))
    assert facts(Standing.of(incident(stuck(labels={"tier": "1"})), known))["tier"] == "2"


def test_a_loss_that_is_over_is_said_once() -> None:
    data = incident(stuck(), broken(NOW - MINUTE, LOST))
    caught_up = measured(CAUGHT_UP, CAUGHT_UP)
    said = facts(Standing.of(data, Known(judged(), caught_up, LIMITS)))["Lost"]
    assert said == "66 unread records deleted (orders/1)"


@pytest.mark.parametrize("group", ["a;b", "it's", 'say "hi"', "new\nline", "a (b)", "$(id)"])
def test_a_command_is_whole_whatever_the_names(group: str) -> None:
    command = f"kafka-consumer-groups {BOOTSTRAP} --delete-offsets --group {shell_word(group)}"
    cause = {**STUCK, "action": f"Start it. Else delete: {command}; or let Warren forget it"}
    of = standing_of(stuck(cause={**STUCK, "action": f"Delete: {command}"}))
    assert of.commands[0] == command
    for servers in ("broker:9092", ""):
        of = Standing.of(incident(stuck(cause=cause)), Known(servers=servers))
        assert of.commands[0] == (command.replace('"$BOOTSTRAP"', servers) if servers else command)
    assert without_commands(of.steps[0]).startswith("Start it. Else delete; or let Warren")


def test_an_end_that_only_a_newer_version_knows_claims_nothing() -> None:
    of = standing_of(stuck(), over(NOW, status="NOTFOUND", reason="quota_exceeded"))
    assert end_of(of) == ("ended, quota_exceeded", "has no incident any more: quota_exceeded")
    assert facts(of)["End"] == "ended, quota_exceeded"


def test_who_has_not_recovered_is_not_ok_again() -> None:
    skipped = over(NOW - MINUTE, reason="records_skipped")
    of = standing_of(stuck(), broken(NOW - 2 * MINUTE), skipped, kept(NOW))
    assert end_of(of) == ("objectives kept again", "keeps its objectives again")
    well = standing_of(stuck(), broken(NOW - 2 * MINUTE), over(NOW - MINUTE), kept(NOW))
    assert end_of(well) == ("OK again", "is OK again")


def test_who_catches_up_before_loses_nothing() -> None:
    """As pages, metrics and the search have it: near loss is decided once."""
    left = {"time_to_loss_ms": 30 * MINUTE, "retention_left": 0.4}
    lag = judged(topics={"orders": topic({}, {"status": "WARN", "lag": 7})})
    for catch_up, expected in ((5 * MINUTE, False), (None, True)):
        row = late(7_000, **left, time_to_catch_up_ms=catch_up)
        of = Standing.of(incident(stuck()), Known(lag, measured(CAUGHT_UP, row)))
        assert bool(of.seen) is expected


def test_a_digest_says_which_lags_are_known_only_at_least() -> None:
    of = Standing.of(incident(stuck()), Known(judged(unknown_partitions=1)))
    key = DigestKey(route="all", cluster="demo")
    text = digest_text(Digest("digest-1", key, [], [of], None), "", NOW)
    assert [line.figures for line in text.worst] == ["since 06:00 UTC · lag ≥ 7,777"]
