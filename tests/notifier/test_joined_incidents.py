"""A group's line in a digest: all that is open of it, the root first, and what is over."""

from typing import Any

import pytest
from notifier.builders import MINUTE, OPENED_AT, delivery, event, incident, standing
from notifier.test_email_digest import PROD, news
from notifier.test_email_message import breach, html, text, writer
from warren.contracts import (
    FRESHNESS_CHANGED,
    RETENTION_CHANGED,
    STATUS_CHANGED,
    Cause,
    EventTypeName,
    GroupIncidentEvent,
    GroupStatusName,
    StatusChangeEvent,
)
from warren_notifier.channels.digest_groups import Digest
from warren_notifier.channels.digest_text import besides, digest_text
from warren_notifier.state.telling import Delivery

SECOND = 1_000
NOW = OPENED_AT + 2 * MINUTE
STANDS = "orders/1 has stood at offset 120 for 6s"
DELETED = "66 unread records deleted (orders/0)"
LOSING = "orders/0 may lose unread records at 07:02 UTC (in 28s; limit 1m)"
LATE = "orders/0 is at least 9m late (limit 5m)"
STUCK = Cause(name="stuck_record", sentence=STANDS)
Limits = dict[str, str]


def of(
    kind: EventTypeName,
    status: GroupStatusName = "ERR",
    at: int = OPENED_AT,
    group: str = "losing",
    **data: Any,
) -> StatusChangeEvent:
    """An event of one of the group's incidents."""
    name = f"{group}-{kind.split('.')[2]}"
    about = event(
        status, group=group, incident_id=name, event_id=f"{name}-{status}-{at}", at=at, **data
    )
    return about.model_copy(update={"type": kind})


def stuck(at: int = OPENED_AT, **data: Any) -> StatusChangeEvent:
    return of(STATUS_CHANGED, at=at, cause=STUCK, **data)


def broken(
    kind: EventTypeName,
    limits: Limits,
    at: int,
    status: GroupStatusName = "WARN",
    lag: int = 2140,
) -> StatusChangeEvent:
    breaches = [breach(limit, 1.0, sentence=said) for limit, said in limits.items()]
    none: dict[str, Any] = {"max_lag": None, "partitions": []}
    if "min_time_to_loss" in limits:
        none["time_to_loss_ms"] = 1_000
    return of(kind, status, at, opened_at=at, objectives=breaches, total_lag=lag, **none)


def joined(
    *conditions: StatusChangeEvent, over: StatusChangeEvent | None = None
) -> GroupIncidentEvent:
    """The group's incident: with these conditions, and one that is over."""
    if over is None:
        return incident(*conditions)
    was = stuck().model_copy(update={"type": over.type})
    return incident(*conditions, was, over)


def told(published: StatusChangeEvent | GroupIncidentEvent, kind: Any = "opened") -> Delivery:
    name = f"{published.data.incident_id}-{kind}"
    return delivery(published, kind=kind, delivery_id=name)


def line(*new: Delivery, now: int = NOW) -> str:
    """Of the group `losing`: as the text has it, which is what the HTML has, too."""
    about = Digest("digest-1", PROD, [*new, news(1, "WARN", total_lag=0)], [], None)
    (found,) = [row for row in digest_text(about, "", now).worst if row.name == "losing"]
    mail = writer("").digest(about, now)
    for body in (text(mail), html(mail)):
        assert found.what in body
        assert found.figures in body
    return f"{found.status} {found.name}: {found.what}; {found.figures}"


@pytest.mark.parametrize("lag", [0, 1, 10_000])
def test_a_consequence_that_is_worse_does_not_hide_its_root(lag: int) -> None:
    gone = broken(RETENTION_CHANGED, {"lost_records": DELETED}, OPENED_AT + MINUTE, "ERR", lag)
    said = line(told(joined(stuck(), gone), "changed"))
    assert said.startswith("ERR losing: stuck record, losing data; since 07:00 UTC")


def test_all_incidents_of_a_group_are_told_the_root_first() -> None:
    late = broken(FRESHNESS_CHANGED, {"max_freshness": LATE}, NOW - 3 * SECOND)
    limits = {"lost_records": DELETED, "min_time_to_loss": LOSING}
    losing = broken(RETENTION_CHANGED, limits, NOW - 2 * SECOND, "ERR")
    root = stuck(NOW - SECOND, opened_at=NOW - 4 * SECOND)
    said = line(told(joined(late, losing, root)))
    what = "stuck record, losing data, late"
    figures = "since 07:01 UTC · lag 2,140 · data loss from 07:01 UTC on · 1 record lost"
    assert said == f"ERR losing: {what}; {figures}"


def test_what_is_over_of_a_group_in_trouble_is_told() -> None:
    gone = broken(RETENTION_CHANGED, {"lost_records": DELETED}, NOW - SECOND, "ERR")
    over = of(STATUS_CHANGED, "OK", NOW, previous="ERR")
    said = line(told(joined(gone, over=over), "changed"))
    assert said.startswith("ERR losing: losing data; ")
    assert said.endswith(" · consumer status: OK again after 2m")


def facts(*new: Delivery, lasting: tuple[StatusChangeEvent, ...]) -> dict[str, str]:
    before = [standing(one) for one in lasting]
    return dict(digest_text(Digest("digest-1", PROD, new, before, None), "", NOW).facts)


def test_a_cause_is_counted_as_long_as_it_is_open_and_once_for_each_group() -> None:
    gone = broken(RETENTION_CHANGED, {"lost_records": DELETED}, NOW, "ERR", lag=10_000)
    others = tuple(of(STATUS_CHANGED, group=name, cause=STUCK) for name in ("a", "b"))
    assert facts(told(joined(stuck(), gone)), lasting=others)["Conditions"] == (
        "3 stuck record; 1 losing data"
    )
    over = of(STATUS_CHANGED, "OK", NOW, previous="ERR", cause=STUCK)
    said = facts(told(joined(gone, over=over), "changed"), lasting=others)["Conditions"]
    assert said == "2 stuck record; 1 losing data"


def test_a_storm_counts_what_its_rows_have_no_room_for() -> None:
    lasting = tuple(of(STATUS_CHANGED, group=f"g{number}") for number in range(30))
    assert facts(told(stuck()), lasting=lasting)["Conditions"] == ("30 stopped; 1 stuck record")
    late = of(FRESHNESS_CHANGED, group="g1", objectives=[])
    warned = [
        told(
            joined(
                each,
                of(RETENTION_CHANGED, "WARN", group=each.data.group, objectives=[]),
                *([late] if each.data.group == "g1" else []),
            )
        )
        for each in lasting[:25]
    ]
    said = facts(*warned, lasting=lasting[25:])["Conditions"]
    assert said == "30 stopped; 25 objectives not kept"


def test_a_group_with_something_new_is_not_unchanged() -> None:
    warned = broken(RETENTION_CHANGED, {"min_time_to_loss": LOSING}, NOW)
    before = (of(STATUS_CHANGED, group="other"),)
    new = told(joined(of(STATUS_CHANGED, group="new")))
    said = facts(told(joined(stuck(), warned), "changed"), new, lasting=before)
    assert (said["New"], said["Changed"], said["Unchanged"]) == ("1", "1", "1")


def test_told_alone_it_says_what_else_of_its_group_is_open() -> None:
    warned = broken(RETENTION_CHANGED, {"min_time_to_loss": LOSING}, NOW)
    before = [standing(each) for each in (stuck(), event(group="a"), event(group="b"))]
    about = Digest("d", PROD, [told(warned)], before, None)
    said = "of this group: stuck record"
    assert besides(about) == f"{said}; 2 groups on prod (worst ERR)"
    assert f"Also open    {said}" in text(writer("").digest(about, NOW))
    assert besides(Digest("d", PROD, [told(warned)], before[:1], None)) == said
    bare = standing(of(STATUS_CHANGED))
    alone = Digest("d", PROD, [told(warned)], [bare], None)
    assert besides(alone) == "of this group: stopped"


@pytest.mark.parametrize(("age", "is_marked"), [(9, False), (10, True), (35, True), (90, True)])
def test_a_figure_carries_its_time_from_ten_seconds_on(age: int, is_marked: bool) -> None:
    said = line(told(stuck()), now=OPENED_AT + age * SECOND)
    assert ("lag 2,140 at 07:00 UTC" in said) == is_marked
