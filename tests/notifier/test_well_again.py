"""What is well again by now, though its incident is not over, is told as that; and what was, at the
end.
"""

from typing import Any

from notifier.builders import MINUTE, OPENED_AT, delivery
from notifier.test_as_now import LATER, evaluated, measured, now, reminder, retention, whole
from notifier.test_email_digest import PROD, news
from notifier.test_email_message import breach
from notifier.test_joined_incidents import of, stuck
from support.freshness_events import freshness_event, late
from support.offset_events import NOW as FRESHNESS_NOW
from warren.contracts import (
    FRESHNESS_CHANGED,
    RETENTION_CHANGED,
    STATUS_CHANGED,
    DeliveryKind,
    FreshnessEvent,
    GroupIncidentEvent,
)
from warren.settings import ObjectiveSettings
from warren.silences import Silences
from warren_core.objectives.limits import ObjectiveBook
from warren_core.standing.standing import Standing
from warren_notifier.channels.digest_groups import Digest
from warren_notifier.channels.digest_text import DigestText, digest_text
from warren_notifier.channels.incident_text import incident_text
from warren_notifier.source.topics import Groups, Newest
from warren_notifier.state.telling import Delivery

FRESH = ObjectiveSettings(name="fresh", max_freshness=60)
LIMITS = ObjectiveBook([FRESH]).limits_for("prod", "losing")
LATE = "orders/0 is at least 1m 29s late (limit 1m)"


def reads_on(**row: Any) -> FreshnessEvent:
    """Of a group that is seconds late, on a topic whose records are kept for 90 s."""
    short = {"time_to_loss_ms": 87_000, "retention_left": 0.96, **row}
    return freshness_event(LATER - FRESHNESS_NOW, late(3_000, **short), group="losing")


def is_late() -> Any:
    one = breach("max_freshness", 89_000.0, sentence=LATE, objective="fresh")
    return of(FRESHNESS_CHANGED, "ERR", OPENED_AT, objectives=[one])


def title(event: GroupIncidentEvent | Standing, kind: Any = "changed") -> str:
    return incident_text(delivery(event, kind=kind), "", LATER).title


def well(event: GroupIncidentEvent, **known: Any) -> Standing:
    lag = evaluated(status="OK", incident=None, cause=None, total_lag=4)
    return now(event, **{"lag": lag, "freshness": reads_on(), "limits": LIMITS, **known})


def test_a_limit_that_is_kept_by_now_is_told_so() -> None:
    about = now(whole(stuck(), is_late()), freshness=reads_on(), limits=LIMITS)
    assert title(about) == "[ERR] prod: losing no members"
    said = reminder(about)
    assert f"Kept again   fresh at 07:18 UTC; before, at 07:00 UTC: {LATE}\n" in said
    assert "Objective" not in said
    assert "Late by      3s\n" in said
    assert "Data loss" not in said


def test_a_group_that_is_well_by_now_is_not_told_as_in_trouble() -> None:
    about = well(whole(stuck(), retention(), is_late()))
    assert title(about, "repeated") == (
        "[OK] prod: losing OK at 07:18 UTC, was stuck record, losing data, late; "
        "66 records stay lost"
    )
    said = reminder(about)
    assert "is OK at 07:18 UTC; its incident is over when it stays so." in said
    assert "Well again   consumer status at 07:18 UTC; before: stuck record\n" in said
    assert "Lost         66 unread records deleted (orders/0)\n" in said
    assert "Lag          4 records\n" in said
    assert "What to do" not in said
    assert "Worst partitions" not in said
    assert "Data loss" not in said


def test_more_records_than_are_lost_now_stay_lost() -> None:
    about = now(whole(retention()), freshness=measured(lost=5))
    assert "66 unread records deleted" in reminder(about)


def test_a_loss_is_told_once_and_what_to_do_of_it_after_what_to_do_of_the_root() -> None:
    lost = breach("lost_records", 66.0, sentence="66 deleted", objective="retention")
    near = breach("min_time_to_loss", 1.0, sentence="orders/0 may lose", objective="retention")
    both = of(RETENTION_CHANGED, "ERR", OPENED_AT, objectives=[lost, near])
    said = reminder(now(whole(stuck(), both)))
    assert said.count("Objective") == 1
    assert "may lose" not in said
    steps = said[said.index("What to do") :]
    assert steps.startswith("What to do   Restart the consumers\n")
    assert "Then         Raise retention.ms of orders now, unless somebody deleted them" in steps


def test_owner_and_runbook_are_told_once() -> None:
    mine = {"owner": "payments", "runbook": "https://run.example/book"}
    late_ = of(
        FRESHNESS_CHANGED,
        objectives=[breach("max_freshness", 1.0, sentence=LATE, objective="own", **mine)],
    )
    lost = of(
        RETENTION_CHANGED,
        objectives=[breach("lost_records", 1.0, sentence="1 deleted", **mine)],
    )
    said = reminder(whole(stuck(**mine), lost, late_))
    assert said.count("Owner ") == said.count("payments") == 1
    assert said.count("Runbook ") == said.count("https://run.example/book") == 1


def digest(*told: Delivery) -> DigestText:
    return digest_text(Digest("d", PROD, told, [], None), "https://warren", LATER)


def told(event: GroupIncidentEvent | Standing, kind: DeliveryKind = "changed") -> Delivery:
    return delivery(event, kind=kind)


def test_in_a_digest_what_is_well_or_silenced_comes_last_and_out_of_the_subject() -> None:
    calm = digest(told(well(whole(stuck(), retention()))), news(1, "WARN", at=LATER))
    assert calm.title == "[WARN] prod: NEW g0001 stopped; 2 open (1 OK for now)"
    assert calm.headline == (
        "1 consumer group on prod is in trouble: 1 WARN. 1 consumer group on prod is OK for now."
    )
    last = calm.worst[-1]
    assert last.what == "OK at 07:18 UTC, was stuck record, losing data"
    assert last.status == "OK"
    assert "66 records lost" in last.figures
    assert last.action == ""
    assert [words for words, _ in last.links] == ["Look at it"]
    assert "Lag" not in dict(calm.facts)
    silenced = now(whole(stuck(), retention()), silenced_until=LATER + MINUTE)
    quiet = digest(told(silenced), news(1, "WARN", at=LATER))
    assert quiet.title == "[WARN] prod: NEW g0001 stopped; 2 open (1 silenced)"
    assert [line.name for line in quiet.worst] == ["g0001", "losing"]
    assert (
        digest(told(silenced), told(silenced)).title
        == "[ERR] prod: losing no members, losing data (1 silenced)"
    )


def test_a_subject_names_the_news_and_what_is_worse_than_they_are() -> None:
    lasting = told(whole(stuck(), retention()))
    one = digest(lasting, news(1, "WARN", at=LATER))
    assert one.title == (
        "[ERR] prod: NEW g0001 stopped; 2 open, worst losing (stuck record, losing data)"
    )
    many = digest(lasting, *(news(n, "WARN", at=LATER) for n in range(1, 24)))
    assert many.title.startswith("[ERR] prod: NEW g0001 +22 stopped; 24 open, worst losing (")
    assert dict(many.facts)["Also new"] == "g0021, g0022, g0023"
    assert "losing" not in {line.name for line in many.worst}


def test_in_a_digest_who_loses_data_within_the_hour_comes_first() -> None:
    near = breach("min_time_to_loss", 600_000.0, sentence="soon", topic="orders")
    soon = of(RETENTION_CHANGED, "WARN", LATER, objectives=[near], time_to_loss_ms=10 * MINUTE)
    in_a_week = news(1, at=LATER, time_to_loss_ms=7 * 24 * 60 * MINUTE, total_lag=10_000)
    said = digest(in_a_week, told(whole(soon), kind="opened"))
    assert [line.name for line in said.worst] == ["losing", "g0001"]
    assert said.title.startswith("[ERR] prod: NEW losing close to losing data; ")
    assert said.worst[0].action == "Do: Raise retention.ms of orders until the group has caught up"


def test_who_lost_records_and_may_lose_more_is_told_both() -> None:
    near = breach("min_time_to_loss", 1.0, sentence="soon", objective="retention")
    lost = breach("lost_records", 66.0, sentence="66 deleted", objective="retention")
    both = of(RETENTION_CHANGED, "ERR", OPENED_AT, objectives=[lost, near])
    limits = ObjectiveBook([]).limits_for("prod", "losing")
    said = reminder(now(whole(both), freshness=measured(lost=0, left=600_000), limits=limits))
    assert "Objective    retention: orders/0 may lose unread records at 07:28 UTC" in said
    assert "Lost         66 deleted\n" in said


def test_an_end_has_the_cause_that_was_known_later_than_its_opening() -> None:
    root = of(STATUS_CHANGED)
    over = of(STATUS_CHANGED, "OK", LATER, previous="ERR")
    newest = Newest(lambda *_: False)  # the end was read before
    newest.take_lag(b"prod|losing", evaluated().to_bytes())
    newest.take_lag(b"prod|losing", evaluated(cause={"name": "slow", "sentence": ""}).to_bytes())
    groups = Groups(newest, Silences(), lambda: LATER)
    told = groups.standing(whole(root, over).data)
    assert title(told, "resolved") == "[OK] prod: losing OK again after 18m; was no members"
