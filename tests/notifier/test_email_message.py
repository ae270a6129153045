"""What a mail says, and how an incident's mails hang together."""

from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pytest
from markupsafe import escape
from notifier.builders import MINUTE, OPENED_AT, bad_partition, delivery, event
from warren.contracts import (
    Breach,
    Cause,
    CauseEvidence,
    Finding,
    GroupIncidentEvent,
    StatusChangeEvent,
)
from warren_notifier.channels.kinds.email import MailWriter

NOW = OPENED_AT + 12 * MINUTE
LINK = "https://warren.example.org"


def writer(link: str = "") -> MailWriter:
    return MailWriter("warren@example.org", ["oncall@example.org"], link)


def mail(
    published: StatusChangeEvent | GroupIncidentEvent | None = None, link: str = "", **fields: Any
) -> EmailMessage:
    return writer(link).message(delivery(published, **fields), NOW)


def text(of: EmailMessage) -> str:
    body = of.get_body(("plain",))
    assert body is not None
    return str(body.get_content())


def html(of: EmailMessage) -> str:
    body = of.get_body(("html",))
    assert body is not None
    return str(body.get_content())


def test_an_opening_in_full() -> None:
    opening = mail(link="https://warren.example.org")
    assert opening["Subject"] == "[ERR] prod: billing stopped; as of 07:00 UTC"
    assert text(opening) == OPENING


SIGNATURE_MARK = "-- "  # RFC 3676, 4.3
OPENING = f"""\
Consumer group billing on cluster prod is ERR.

Since        2026-11-21 07:00:00 UTC
What to do   Look at it: warren describe group prod/billing
Lag          2,140 records at 07:00 UTC
Largest lag  orders partition 1: 2,101 records at 07:00 UTC
Partitions   1 STOP, 11 OK at 07:00 UTC

Acknowledge  https://warren.example.org/incidents/incident-1
Look at it   https://warren.example.org/groups/prod/billing

Worst partitions at 07:00 UTC
  STOP   orders 1: lag 2,101 (committed 1,180, log end 3,281), last commit 2026-11-21 06:59:00 UTC

STOP: has stopped committing: the consumer is down or hangs.

{SIGNATURE_MARK}
Warren. Route all, channel mail, incident incident-1
"""


def test_what_was_resolved() -> None:
    end = event("OK", "ERR", event_id="event-2", at=OPENED_AT + 5 * MINUTE, total_lag=0)
    resolved = mail(end, kind="resolved", status="OK")
    assert resolved["Subject"] == "[OK] prod: billing OK again after 5m; was stopped"
    assert "From         2026-11-21 07:00:00 UTC\n" in text(resolved)
    assert "Until        2026-11-21 07:05:00 UTC (5m)\n" in text(resolved)
    assert "Worst partitions" not in text(resolved)


def breach(limit: str, value: float, **fields: Any) -> Breach:
    what = {"objective": "fresh", "status": "WARN", "since": OPENED_AT, "wanted": 1.0}
    said = {"limit": limit, "value": value, "sentence": "it is not kept"}
    return Breach(**(what | said | fields))


NOBODY = Cause(name="no_members", sentence="nobody is\x1bin it", action="start its consumers")
UNKNOWN = Cause(name="unknown", sentence="who knows", evidence=CauseEvidence(freshness_ms=90_000))
GONE = Finding(name="records_lost", sentence="9\x1brecords are gone", action="keep them")
WHY = {"explanation": "orders/1 STOP: no commit\x1bfor 5m", "late_ms": 90_000}
MORE = {"late_ms": 660_000, "time_to_loss_ms": 120_000}
LIMITS = [breach("max_freshness", 600_000.0), breach("min_time_to_loss", 30_000.0)]
STALLS = bad_partition().model_copy(update={"status": "STALL"})
NEVER = STALLS.model_copy(update={"committed": -1, "committed_at": -1})
NOTHING = bad_partition().model_copy(
    update={"lag": None, "log_end": -1, "committed_at": -1, "committed": -1}
)
BEYOND = bad_partition().model_copy(
    update={"status": "BEYOND_END", "lag": 0, "committed": 1_000_000, "log_end": 17}
)
LOOK = "What to do   Look at it: warren describe group"


@pytest.mark.parametrize(
    ("data", "said", "unsaid"),
    [
        (
            {"cause": NOBODY},
            ["Cause        at 07:00 UTC: nobody is␛in it\n", "What to do   start its"],
            [],
        ),
        ({"cause": UNKNOWN}, [], ["Cause"]),
        (
            {"cause": Cause(name="stuck_record", sentence="it stands", also=[GONE])},
            [
                "Cause        at 07:00 UTC: it stands\n"
                "Also         at 07:00 UTC: 9␛records are gone\nWhat to do   keep them\n"
            ],
            [],
        ),
        (
            {"objectives": [breach("lost_records", 1.0, topic="orders")]},
            ["What to do   Raise retention.ms of orders now, unless somebody deleted them"],
            [],
        ),
        ({"objectives": LIMITS[:1]}, [f"{LOOK} prod/billing"], []),
        (
            {**WHY, "cause": UNKNOWN, "time_to_loss_ms": 5_400_000},
            [
                "Explanation  at 07:00 UTC: orders/1 STOP: no commit␛for 5m\n",
                "Late by      1m 30s at 07:00 UTC\n",
                "Data loss    from 08:30 UTC on, as of 07:00 UTC\n",
            ],
            [],
        ),
        (
            {"objectives": LIMITS, **WHY, **MORE},
            ["Late by      11m at 07:00 UTC\n", "from 07:02 UTC on, as of 07:00 UTC\n"],
            ["Explanation"],
        ),
        ({"partitions": [STALLS]}, ["commits, but always the same offset"], []),
        ({"partitions": [NEVER]}, [], ["the same offset"]),
        (
            {"partitions": [NOTHING], "max_lag": None},
            ["lag unknown (committed unknown, log end unknown), last commit never"],
            ["Largest lag"],
        ),
        (
            {"partition_counts": {"BEYOND_END": 1}, "partitions": [BEYOND]},
            [
                "BEYOND_END orders 1: lag 0 (committed 1,000,000, log end 17)",
                "BEYOND_END: has committed an offset beyond the end of the log",
            ],
            [],
        ),
        (
            {"partitions": [bad_partition(n) for n in range(100)], "partitions_omitted": 50},
            ["… and 140 more"],
            ["Left out", "Look at it   "],
        ),
    ],
)
def test_what_a_mail_says(data: dict[str, Any], said: list[str], unsaid: list[str]) -> None:
    told = text(mail(event(**data)))
    assert [one for one in said if one not in told] == []
    assert [one for one in unsaid if one in told] == []
    assert told.count("STOP   orders") <= 10
    over = text(mail(event("OK", "ERR", **data), kind="resolved", status="OK"))
    for line in ("Cause", "Explanation", "Late by", "Data loss", "What to do"):
        assert f"{line}  " not in over


@pytest.mark.parametrize(
    ("runbook", "is_link"),
    [
        ("https://runbooks.example.org/late?a=1&b=2", True),
        ("http://runbooks.example.org/<b>", True),
        ("javascript:alert(1)", False),
        ("ask <b>the</b> payments team", False),
        ("https://", False),
        ("https://example.org/" + "a" * 3_000, False),
    ],
)
def test_a_runbook_is_a_link_where_it_is_one(runbook: str, is_link: bool) -> None:
    told = mail(event("WARN", objectives=[breach("max_freshness", 1.0, runbook=runbook)]))
    label = "Runbook     " if is_link else "What to do  "
    assert f"{label} {runbook}\n" in text(told)
    shown = str(escape(runbook))
    assert (f'<a href="{shown}"' in html(told)) == is_link
    assert shown in html(told)


def test_what_looks_like_a_link_elsewhere_is_none() -> None:
    action = Cause(name="no_members", sentence="nobody is in it", action="https://evil.example")
    assert "<a " not in html(mail(event(cause=action)))
    named = breach("max_freshness", 1.0, owner="https://evil.example")
    assert "<a " not in html(mail(event("WARN", objectives=[named])))


def test_groups_that_are_gone_say_why() -> None:
    gone = event("NOTFOUND", "ERR", reason="group_deleted")
    assert mail(gone, kind="resolved")["Subject"].startswith("[OVER] prod: billing group deleted")
    well = mail(event("OK", "ERR"), kind="resolved")["Subject"]
    assert well.startswith("[OK] prod: billing OK again after")
    expired = event("NOTFOUND", "ERR", reason="group_expired")
    assert "has expired" in text(mail(expired, kind="resolved"))


@pytest.mark.parametrize("group", ["=?utf-8?q?evil?=", "a =?utf-8?b?ZXZpbA==?= b", "ü" * 100])
@pytest.mark.parametrize("repeated", [1, 12])
def test_a_subject_names_the_group_as_it_is_called(group: str, repeated: int) -> None:
    sent = mail(event(group=group * repeated)).as_bytes()
    subject = message_from_bytes(sent, policy=policy.default)["Subject"]
    assert subject.startswith(f"[ERR] prod: {group * repeated} stopped")
    head = sent.partition(b"\r\n\r\n")[0]
    assert head.isascii()
    assert max(len(line) for line in head.split(b"\r\n")) < 998


def test_what_was_left_out_is_counted() -> None:
    assert "Left out" not in text(mail())
    assert "Left out     1 change in between" in text(mail(kind="changed", left_out=1))
    assert "Left out     1,200 changes in between" in text(mail(kind="changed", left_out=1200))


def test_repeats_and_changes() -> None:
    repeated = mail(kind="repeated")
    assert repeated["Subject"] == "[ERR] prod: billing stopped; since 07:00 UTC"
    worse = mail(event("ERR", "WARN"), kind="changed")
    assert "went from WARN to ERR" in text(worse)


def test_an_incidents_mails_are_one_thread() -> None:
    opening, later, end = (mail(kind=kind) for kind in ("opened", "repeated", "resolved"))
    root = "<incident-1.mail@example.org>"
    assert opening["Message-ID"] == root
    assert opening["References"] is None
    for follower in (later, end):
        assert follower["Message-ID"] == "<delivery-1@example.org>"
        assert follower["References"] == follower["In-Reply-To"] == root
    assert mail()["Message-ID"] == root
    assert mail(channel="other")["Message-ID"] != root


def test_so_are_those_of_an_incident_with_an_endless_id() -> None:
    foreign = event(incident_id="i\r\n" * 30_000)
    opening, later = mail(foreign, LINK), mail(foreign, LINK, kind="repeated")
    assert later["References"] == later["In-Reply-To"] == opening["Message-ID"]
    assert len(opening["Message-ID"]) < 100
    assert mail(foreign, LINK, channel="other")["Message-ID"] != opening["Message-ID"]
    assert mail(event(incident_id="i\r\n" * 30_001))["Message-ID"] != opening["Message-ID"]
    for said in (text(opening), html(opening)):
        assert "incident i␍␊i" in said
        assert "/incidents/" not in said
        assert len(said) < 5_000


def test_names_cannot_break_out_of_headers_or_html() -> None:
    evil = "<script>alert(1)</script>\r\nBcc: everyone@example.org/%/ü"
    broken = mail(event(group=evil), link="https://warren.example.org")
    assert broken["Bcc"] is None
    assert "\n" not in broken["Subject"]
    assert "<script>" not in html(broken)
    assert "&lt;script&gt;" in html(broken)
    assert "/groups/prod/%3Cscript%3Ealert%281%29%3C%2Fscript%3E%0D%0ABcc%3A" in text(broken)
    assert broken.as_bytes().isascii()


def test_objectives_that_are_not_kept() -> None:
    breach = Breach(
        objective="fresh",
        limit="max_freshness",
        status="WARN",
        since=OPENED_AT - MINUTE,
        value=600_000,
        wanted=60_000,
        sentence="orders/1 is at least 10m late (limit 1m)",
        owner="payments",
        runbook="https://runbooks.example.org/late",
    )
    more = {"objectives": [breach], "partitions": [], "partition_counts": {}, "max_lag": None}
    opening = mail(event("WARN", **more))
    assert opening["Subject"] == "[WARN] prod: billing late; as of 07:00 UTC"
    told = text(opening)
    assert "Consumer group billing on cluster prod is WARN." in told
    assert "Objective    fresh: at 07:00 UTC: orders/1 is at least 10m late (limit 1m)\n" in told
    assert "Owner        payments\n" in told
    assert "Runbook      https://runbooks.example.org/late\n" in told
    assert "What to do   Look at it: warren describe group prod/billing\n" in told
    assert "Lag          2,140 records at 07:00 UTC\n" in told
    end = event("OK", "WARN", at=OPENED_AT + 5 * MINUTE, **(more | {"objectives": []}))
    resolved = mail(end, kind="resolved", status="OK")
    assert (
        resolved["Subject"]
        == "[OK] prod: billing objectives kept again after 5m; was objectives not kept"
    )
    assert "billing on cluster prod keeps its objectives again." in text(resolved)
