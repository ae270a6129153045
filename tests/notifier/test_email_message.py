"""What a mail says, and how an incident's mails hang together."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pytest
from markupsafe import escape
from notifier.builders import MINUTE, OPENED_AT, bad_partition, delivery, event
from warren.contracts import Breach, Cause, CauseEvidence, Finding, StatusChangeEvent
from warren_notifier.channels.email_message import MailWriter

NOW = OPENED_AT + 12 * MINUTE
LINK = "https://warren.example.org"


def writer(link: str = "") -> MailWriter:
    return MailWriter("warren@example.org", ["oncall@example.org"], link)


def mail(published: StatusChangeEvent | None = None, link: str = "", **fields: Any) -> EmailMessage:
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
    assert opening["Subject"] == "[ERR] prod: billing 1 partition stopped; as of 07:00 UTC"
    assert text(opening) == OPENING


SIGNATURE_MARK = "-- "  # RFC 3676, 4.3
OPENING = f"""\
Consumer group billing on cluster prod is ERR.

Since        2026-11-21 07:00:00 UTC
As of        2026-11-21 07:00:00 UTC
What to do   Look at it: warren describe group prod/billing
Lag          2,140 records
Largest lag  orders partition 1: 2,101 records
Partitions   1 STOP, 11 OK

Acknowledge  https://warren.example.org/incidents/incident-1
Look at it   https://warren.example.org/groups/prod/billing

Worst partitions
  STOP   orders 1: lag 2,101 (committed 1,180, log end 3,281), last commit 2026-11-21 06:59:00 UTC

STOP: has stopped committing: the consumer is down or hangs.

{SIGNATURE_MARK}
Warren. Route all, channel mail, incident incident-1
"""


def test_what_was_resolved() -> None:
    end = event("OK", "ERR", event_id="event-2", at=OPENED_AT + 5 * MINUTE, total_lag=0)
    resolved = mail(end, kind="resolved", status="OK")
    assert resolved["Subject"] == "[OK] prod: billing OK again after 5m"
    assert "From         2026-11-21 07:00:00 UTC\n" in text(resolved)
    assert "Until        2026-11-21 07:05:00 UTC (5m)\n" in text(resolved)
    assert "Worst partitions" not in text(resolved)


def test_whose_trouble_it_is_and_what_to_do() -> None:
    cause = Cause(name="no_members", sentence="nobody is\x1bin it", action="start its consumers")
    told = text(mail(event(cause=cause)))
    assert "Cause        nobody is␛in it\n" in told
    assert "What to do   start its consumers\n" in told
    unknown = cause.model_copy(update={"name": "unknown"})
    assert "Cause" not in text(mail(event(cause=unknown)))
    over = event("OK", "ERR", cause=cause)
    assert "Cause" not in text(mail(over, kind="resolved", status="OK"))


@pytest.mark.parametrize(
    ("limit", "topic", "todo"),
    [
        ("lost_records", "orders", "Raise retention.ms of orders now, then fix the consumer"),
        ("max_freshness", "orders", "Look at it: warren describe group prod/billing"),
    ],
)
def test_there_is_always_something_to_do_first(limit: str, topic: str, todo: str) -> None:
    broken = event(objectives=[breach(limit, 1.0, topic=topic)])
    assert f"What to do   {todo}" in text(mail(broken))
    known = Cause(name="no_members", sentence="nobody is in it", action="start it")
    assert "What to do   start it\n" in text(mail(event(cause=known)))
    odd = text(mail(event(group="a b; rm")))
    assert "What to do   Look at it: warren describe group 'prod/a b; rm'\n" in odd


def test_a_consequence_comes_after_the_root() -> None:
    gone = Finding(name="records_lost", sentence="9\x1brecords are gone", action="keep them")
    told = text(mail(event(cause=Cause(name="stuck_record", sentence="it stands", also=[gone]))))
    assert (
        "Cause        it stands\nAlso         9␛records are gone\nThen         keep them\n" in told
    )


def test_why_how_late_and_what_is_left() -> None:
    unknown = Cause(
        name="unknown", sentence="who knows", evidence=CauseEvidence(freshness_ms=90_000)
    )
    why = {"explanation": "orders/1 STOP: no commit\x1bfor 5m", "cause": unknown}
    told = text(mail(event(**why, time_to_loss_ms=5_400_000)))
    assert "Explanation  orders/1 STOP: no commit␛for 5m\n" in told
    assert "Late by      1m 30s\n" in told
    assert "Data loss    from 08:30 UTC on\n" in told
    assert "Late by      2m\n" in text(mail(event(late_ms=120_000)))
    known = Cause(name="no_members", sentence="nobody is in it", action="start it")
    assert "Explanation" not in text(mail(event(**(why | {"cause": known}))))
    over = event("OK", "ERR", **why, late_ms=120_000, time_to_loss_ms=1)
    for line in ("Explanation", "Late by", "Data loss"):
        assert line not in text(mail(over, kind="resolved", status="OK"))


def test_figures_of_an_objective_are_told_once() -> None:
    """What was measured of all, and where an evaluator does not say that, what a limit was of."""
    late = breach("max_freshness", 600_000.0)
    left = breach("min_time_to_loss", 30_000.0)
    told = text(mail(event("WARN", objectives=[late, left], explanation="both of these")))
    assert "Late by      10m\n" in told
    assert "Data loss    from 07:00 UTC on\n" in told
    assert "Explanation" not in told, "the objectives say it"
    measured = event("WARN", objectives=[late, left], late_ms=660_000, time_to_loss_ms=120_000)
    assert "Late by      11m\n" in text(mail(measured))
    assert "Data loss    from 07:02 UTC on\n" in text(mail(measured))


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


def breach(limit: str, value: float, **fields: Any) -> Breach:
    what = {"objective": "fresh", "status": "WARN", "since": OPENED_AT, "wanted": 1.0}
    said = {"limit": limit, "value": value, "sentence": "it is not kept"}
    return Breach(**(what | said | fields))


def test_groups_that_are_gone_say_why() -> None:
    gone = event("NOTFOUND", "ERR", reason="group_deleted")
    assert mail(gone, kind="resolved")["Subject"].startswith("[OVER] prod: billing group deleted")
    well = mail(event("OK", "ERR"), kind="resolved")["Subject"]
    assert well.startswith("[OK] prod: billing OK again after")
    expired = event("NOTFOUND", "ERR", reason="group_expired")
    assert "has expired" in text(mail(expired, kind="resolved"))


def test_of_a_partition_without_a_commit_it_is_not_said_that_it_commits() -> None:
    stalls = bad_partition().model_copy(update={"status": "STALL"})
    assert "commits, but always the same offset" in text(mail(event(partitions=[stalls])))
    never = stalls.model_copy(update={"committed": -1, "committed_at": -1})
    assert "the same offset" not in text(mail(event(partitions=[never])))


def test_a_reason_of_a_newer_version_is_told_as_it_is() -> None:
    ended = mail(event("NOTFOUND", "ERR", reason="cluster_gone"), kind="resolved")
    assert "ended, cluster_gone, after" in ended["Subject"]
    assert "is not watched any more: cluster_gone" in text(ended)


@pytest.mark.parametrize("group", ["=?utf-8?q?evil?=", "a =?utf-8?b?ZXZpbA==?= b", "ü" * 100])
@pytest.mark.parametrize("repeated", [1, 12])
def test_a_subject_names_the_group_as_it_is_called(group: str, repeated: int) -> None:
    sent = mail(event(group=group * repeated)).as_bytes()
    subject = message_from_bytes(sent, policy=policy.default)["Subject"]
    assert subject.startswith(f"[ERR] prod: {group * repeated} 1 partition")
    head = sent.partition(b"\r\n\r\n")[0]
    assert head.isascii()
    assert max(len(line) for line in head.split(b"\r\n")) < 998


def test_what_was_left_out_is_counted() -> None:
    assert "Left out" not in text(mail())
    assert "Left out     1 change in between" in text(mail(kind="changed", left_out=1))
    assert "Left out     1,200 changes in between" in text(mail(kind="changed", left_out=1200))


def test_repeats_and_changes() -> None:
    repeated = mail(kind="repeated")
    assert repeated["Subject"] == "[ERR] prod: billing 1 partition stopped; since 07:00 UTC"
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


def test_only_the_worst_partitions_are_listed() -> None:
    bad = [bad_partition(n) for n in range(100)]
    many = text(mail(event(partitions=bad, partitions_omitted=50)))
    assert many.count("STOP   orders") == 10
    assert "… and 140 more" in many


def test_without_a_link_base_there_is_no_link() -> None:
    assert "Look at it   " not in text(mail())
    assert "Look at it in Warren" not in html(mail())


def test_names_cannot_break_out_of_headers_or_html() -> None:
    evil = "<script>alert(1)</script>\r\nBcc: everyone@example.org/%/ü"
    broken = mail(event(group=evil), link="https://warren.example.org")
    assert broken["Bcc"] is None
    assert "\n" not in broken["Subject"]
    assert "<script>" not in html(broken)
    assert "&lt;script&gt;" in html(broken)
    assert "/groups/prod/%3Cscript%3Ealert%281%29%3C%2Fscript%3E%0D%0ABcc%3A" in text(broken)
    assert broken.as_bytes().isascii()


def test_unknown_figures_are_called_unknown() -> None:
    unknown = bad_partition().model_copy(
        update={"lag": None, "log_end": -1, "committed_at": -1, "committed": -1}
    )
    shown = text(mail(event(partitions=[unknown], max_lag=None)))
    assert "lag unknown (committed unknown, log end unknown), last commit never" in shown
    assert "Largest lag" not in shown


def test_an_offset_beyond_the_log_end_is_told_in_words() -> None:
    where = {"status": "BEYOND_END", "lag": 0, "committed": 1_000_000, "log_end": 17}
    beyond = bad_partition().model_copy(update=where)
    told = text(mail(event(partition_counts={"BEYOND_END": 1}, partitions=[beyond])))
    assert "BEYOND_END orders 1: lag 0 (committed 1,000,000, log end 17)" in told
    assert "BEYOND_END: has committed an offset beyond the end of the log" in told


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
    assert "Objective    fresh: orders/1 is at least 10m late (limit 1m)\n" in told
    assert "Owner        payments\n" in told
    assert "Runbook      https://runbooks.example.org/late\n" in told
    assert "What to do   Look at it: warren describe group prod/billing\n" in told
    assert "Lag" not in told
    end = event("OK", "WARN", at=OPENED_AT + 5 * MINUTE, **(more | {"objectives": []}))
    resolved = mail(end, kind="resolved", status="OK")
    assert resolved["Subject"] == "[OK] prod: billing objectives kept again after 5m"
    assert "billing on cluster prod keeps its objectives again." in text(resolved)
