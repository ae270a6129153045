"""What a mail says about many incidents, and how their mails hang together."""

import re
from email.message import EmailMessage
from typing import Any

from notifier.builders import MINUTE, OPENED_AT, delivery, event
from notifier.test_email_message import NOW, html, mail, text, writer
from warren.contracts import Cause, DigestKey, Finding, GroupStatusName
from warren_core.standing.standing import Standing
from warren_notifier.channels.digest_groups import Digest
from warren_notifier.state.telling import Delivery

PROD = DigestKey(route="all", cluster="prod")
LINK = "https://warren.example.org"


def news(number: int, status: GroupStatusName = "ERR", kind: Any = "opened", **data: Any) -> Any:
    name = f"g{number:04}"
    about = event(status, group=name, incident_id=f"{name}-1", event_id=name, **data)
    return delivery(about, kind=kind, delivery_id=f"d{number}")


def over(number: int) -> Delivery:
    found = news(number, "OK", "resolved", previous="ERR", at=OPENED_AT + 5 * MINUTE)
    assert isinstance(found, Delivery)
    return found


def lasting(*numbers: int) -> list[Standing]:
    return [news(number).standing for number in numbers]


def digest(
    *told: Delivery, lasts: list[Standing] | None = None, thread: str | None = None, key: Any = PROD
) -> EmailMessage:
    about = Digest("digest-1", key, told, lasts or [], thread)
    return writer(LINK).digest(about, NOW)


def test_one_incident_is_told_as_it_is_alone() -> None:
    one = delivery()
    about = Digest("digest-1", PROD, [one], [], None)
    told = writer(LINK).digest(about, NOW)
    assert told.items() == mail(link=LINK).items()
    assert (text(told), html(told)) == (text(mail(link=LINK)), html(mail(link=LINK)))


def test_beside_others_that_last_it_is_in_their_thread() -> None:
    told = digest(news(1), lasts=lasting(2, 3), thread="root")
    assert told["Subject"].startswith("[ERR] prod: g0001 ")
    assert told["In-Reply-To"] == told["References"] == "<root@example.org>"
    assert told["Message-ID"] == "<d1@example.org>"


def test_a_storm_lists_the_worst_and_counts_the_rest() -> None:
    cause = Cause(name="one_broker", sentence="broker 3 leads all of them")
    many = [news(n, "WARN", total_lag=n) for n in range(1000)]
    many += [news(n, "ERR", total_lag=n, cause=cause) for n in range(1000, 2000)]
    storm = digest(*many)
    assert storm["Subject"] == "[ERR] prod: NEW g1999 +999 one broker; g0999 +999 stopped"
    assert storm["Message-ID"] == "<digest-1@example.org>"
    assert storm["X-Warren-Delivery"] == "digest-1"
    assert storm["References"] is None
    body = text(storm)
    assert "2,000 consumer groups on prod are in trouble: 1,000 ERR, 1,000 WARN." in body
    assert "1,999,000" not in body, "lags of groups have no sum"
    assert "Also new     g1979, g1978, " in body
    assert "g1780, +1,780\n" in body
    assert "Conditions   1,000 one broker; 1,000 stopped\n" in body
    worst = "ERR g1999: one broker\n  since 07:00 UTC · lag 1,999 at 07:00 UTC\n"
    assert worst in body
    assert body.index("g1999") < body.index("g1998")
    assert body.count("\nERR ") == 20
    assert "… and 1,980 more" in body
    assert f'<a class="step" href="{LINK}/incidents/g1999-1">Acknowledge</a>' in html(storm)
    assert html(storm).count("/incidents/") == 20
    assert len(storm.as_bytes()) < 35_000


def test_what_to_do_is_the_owners_word_where_no_cause_is_known() -> None:
    told = text(digest(news(1, runbook="ask Ann"), news(2, runbook="https://r.example/x"), news(3)))
    assert "ERR g0001: stopped\n" in told
    assert "  Do: ask Ann\n" in told
    assert "  Do: Look at it: warren describe group prod/g0002\n" in told
    assert "  Runbook: https://r.example/x\n" in told
    assert "  Do: Look at it: warren describe group prod/g0003\n" in told


def test_who_loses_data_comes_first() -> None:
    gone = Finding(name="records_lost", sentence="9 records are gone")
    loses = Cause(name="too_slow", sentence="it is slow", also=[gone])
    soon, later = (news(n, total_lag=1, time_to_loss_ms=n * MINUTE) for n in (1, 2))
    told = text(digest(news(3, total_lag=9), later, soon, news(4, total_lag=0, cause=loses)))
    listed = re.findall(r"^ERR (g\d+): ", told, re.MULTILINE)
    assert listed == ["g0004", "g0001", "g0002", "g0003"]
    of_then = "lag 1 at 07:00 UTC · data loss from 07:01 UTC on, as of 07:00 UTC"
    assert f"since 07:00 UTC · {of_then}\n" in told


def test_it_is_updated_as_it_grows_and_ends() -> None:
    grown = digest(news(3), news(4), over(5), lasts=lasting(1, 2), thread="root")
    assert grown["Subject"] == "[ERR] prod: NEW g0003 +1 stopped; 4 open (1 over)"
    assert grown["References"] == grown["In-Reply-To"] == "<root@example.org>"
    assert "Unchanged    2\n" in text(grown)
    assert "g0005: OK again after 5m" in text(grown)
    ended = digest(over(1), over(2), thread="root")
    assert ended["Subject"] == "[OK] prod: over: g0001, g0002"
    assert "their incidents are over" in text(ended)
    assert "ERR" not in text(ended)


def test_what_is_new_is_named_though_there_are_worse_ones() -> None:
    before = lasting(*range(25))
    told = digest(news(77, "WARN", total_lag=1), news(78, "WARN", total_lag=2), lasts=before)
    assert told["Subject"] == "[ERR] prod: NEW g0078 +1 stopped; 27 open, worst g0000 (stopped)"
    listed = re.findall(r"^(?:ERR|WARN) (g\d+): ", text(told), re.MULTILINE)
    assert len(listed) == 20
    assert listed[:3] == ["g0078", "g0077", "g0000"]
    assert "… and 7 more" in text(told)


def test_of_several_news_about_a_group_the_last_counts_and_an_end_before_is_named() -> None:
    again = event("ERR", group="g0001", incident_id="g0001-2", at=OPENED_AT + 6 * MINUTE)
    both = digest(over(1), delivery(again, kind="opened"), thread="root")
    assert both["Subject"] == "[ERR] prod: NEW g0001 stopped"
    assert "incident before: OK again after 5m" in text(both)


def test_names_cannot_break_out_of_a_digest() -> None:
    evil = "<b>x</b>\r\nBcc: everyone@example.org"
    about = event(group=evil, incident_id="x", event_id="x")
    key = DigestKey(route="all", cluster=evil)
    told = digest(delivery(about), news(1), key=key)
    assert told["Bcc"] is None
    assert "<b>x" not in html(told)
    assert told.as_bytes().isascii()
