"""Sentences of mails and chats: right for every count, timed when they are old, never `None`."""

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from notifier.builders import MINUTE, OPENED_AT, bad_partition, delivery, event
from notifier.test_email_digest import PROD, news, over
from notifier.test_email_message import breach, html, mail, text
from warren.contracts import Cause, CauseEvidence, StatusChangeEvent
from warren_notifier.channels.digest_groups import Digest
from warren_notifier.channels.digest_text import digest_text
from warren_notifier.channels.incident_text import incident_text
from warren_notifier.channels.kinds.alertmanager import alert_annotations
from warren_notifier.channels.kinds.pagerduty import _alert
from warren_notifier.channels.kinds.slack import slack_message
from warren_notifier.channels.note import incident_note

SAID = re.compile(r"\b(None|null|nan|NaN)\b")
FULL: dict[str, Any] = {
    "explanation": "orders/1 STOP: no commit for 5m",
    "reason": "no_commit",
    "cause": Cause(
        name="no_members",
        sentence="nobody is in it",
        action="start it",
        evidence=CauseEvidence(freshness_ms=90_000),
    ),
    "late_ms": 120_000,
    "time_to_loss_ms": 5_400_000,
    "objectives": [breach("max_freshness", 600_000.0, owner="ann", runbook="https://r.example")],
}


def subject(kind: Any, now: int = OPENED_AT, **data: Any) -> str:
    return incident_text(delivery(event(**data), kind=kind), "", now).title


@pytest.mark.parametrize(
    ("kind", "bad", "lag", "minutes", "said"),
    [
        ("opened", 0, 0, 0, "not OK"),
        ("opened", 2, 2140, 12, "stopped; as of 07:00 UTC"),
        ("repeated", 0, 2140, 12, "not OK; since 07:00 UTC"),
        ("repeated", 2, 0, 24 * 60, "stopped; since 2026-11-21 07:00 UTC"),
    ],
)
def test_subjects_over_counts(kind: str, bad: int, lag: int, minutes: int, said: str) -> None:
    counts = {"OK": 3, "STOP": bad} if bad else {"OK": 3}
    now = OPENED_AT + minutes * MINUTE
    assert subject(kind, now, partition_counts=counts, total_lag=lag) == (
        f"[ERR] prod: billing {said}"
    )


COUNTS = (0, 1, 2)


@pytest.mark.parametrize(("bad", "new", "ended"), list(itertools.product(COUNTS, repeat=3)))
def test_digests_over_counts(bad: int, new: int, ended: int) -> None:
    told = [news(n, kind="repeated") for n in range(bad)]
    told += [news(10 + n) for n in range(new)]
    told += [over(20 + n) for n in range(ended)]
    if not told:
        return
    said = digest_text(Digest("d", PROD, told, [], None), "", OPENED_AT + MINUTE)
    everything = f"{said.title} {said.headline} {said.facts} {said.worst} {said.over}"
    assert not re.search(r"\b1 (groups|consumer groups|records|incidents)\b", everything)
    assert not re.search(r"\b[02] (group|consumer group|record|incident)\b", everything)
    count = bad + new
    if count:
        noun, verb = ("group", "is") if count == 1 else ("groups", "are")
        assert said.headline == (f"{count} consumer {noun} on prod {verb} in trouble: {count} ERR.")
    else:
        are_over = "its incident is over." if ended == 1 else "their incidents are over."
        assert said.headline.endswith(are_over)


def shown(published: StatusChangeEvent, kind: Any) -> Iterator[str]:
    """All that people are told of it."""
    now, about = OPENED_AT + 12 * MINUTE, delivery(published, kind=kind)
    yield text(mail(published, kind=kind))
    yield html(mail(published, kind=kind))
    said = incident_text(about, "https://w.example", now)
    yield f"{said.title} {said.headline} {said.facts} {said.standing.owners} {said.runbooks}"
    yield json.dumps(slack_message(incident_note(said, about.pending)))
    yield json.dumps(alert_annotations(said))
    yield json.dumps(_alert(said, "critical", 2_000))
    one = digest_text(Digest("d", PROD, [about, news(2)], [about.standing], None), "", now)
    yield f"{one.title} {one.headline} {one.facts} {one.worst} {one.over}"


@pytest.mark.parametrize("kind", ["opened", "changed", "repeated", "resolved"])
@pytest.mark.parametrize("absent", [*FULL, "max_lag", "action", "breach", "partition", "all"])
def test_nothing_that_is_unknown_is_said(absent: str, kind: str) -> None:
    fields = {**FULL}
    if absent in ("action", "all"):
        fields["cause"] = Cause(name="no_members", sentence="nobody is in it")
    if absent in ("breach", "all"):
        bare = dict.fromkeys(("value", "topic", "partition", "owner", "runbook"))
        fields["objectives"] = [FULL["objectives"][0].model_copy(update=bare)]
    if absent in ("partition", "all"):
        none = {"lag": None, "explanation": None, "committed": -1, "log_end": -1}
        fields["partitions"] = [bad_partition().model_copy(update=none)]
    gone = [name for name in (*FULL, "max_lag") if absent in (name, "all")]
    if absent == "all":
        gone = [name for name in gone if name not in ("cause", "objectives")]
    fields |= dict.fromkeys(gone)
    status = "OK" if kind == "resolved" else "ERR"
    for said in shown(event(status, **fields), kind):
        assert not SAID.search(said), said
