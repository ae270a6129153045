"""Events that come again, or late: an evaluator that was killed publishes its last ones again."""

from collections.abc import Sequence

import pytest
from notifier.builders import MINUTE, OPENED_AT, event
from notifier.harness import Log, Scripted, play
from warren.contracts import StatusChangeEvent
from warren_notifier.source.consumer import SeenEvents


def of_incident(number: int) -> tuple[StatusChangeEvent, StatusChangeEvent, StatusChangeEvent]:
    """Its opening, that it got worse, and its end."""
    began = OPENED_AT + number * 10 * MINUTE
    known = {"incident_id": f"i{number}", "opened_at": began}
    return (
        event("WARN", event_id=f"{number}-1", at=began, **known),
        event("ERR", "WARN", event_id=f"{number}-2", at=began + MINUTE, **known),
        event("OK", "ERR", event_id=f"{number}-3", at=began + 2 * MINUTE, **known),
    )


OPENED, WORSE, ENDED = of_incident(0)
NEXT, NEXT_WORSE, NEXT_ENDED = of_incident(1)


def told(*lives: Sequence[StatusChangeEvent]) -> list[tuple[str, str]]:
    """By notifiers one after the other, each event once the one before has been delivered."""
    log, mail = Log(), Scripted()
    for events in lives:
        play({"mail": mail}, *events, log=log)
    return [(one.pending.incident_id, one.pending.status) for one in mail.sent]


@pytest.mark.parametrize(
    "events",
    [
        (OPENED, WORSE, ENDED),
        (OPENED, WORSE),
        (OPENED, WORSE, ENDED, NEXT),
        (OPENED, WORSE, ENDED, NEXT, NEXT_WORSE),
    ],
)
def test_what_comes_again_is_no_news(events: Sequence[StatusChangeEvent]) -> None:
    assert told([*events, *events, *events[1:]]) == told(events)


def test_nor_is_what_comes_again_once_the_next_incident_goes_on() -> None:
    """Also to a notifier that has not seen it the first time."""
    before = (OPENED, WORSE, ENDED, NEXT)
    assert told(before, (OPENED, WORSE, ENDED)) == told(before)


def test_a_late_end_ends_no_other_incident() -> None:
    late = ENDED.model_copy(update={"id": "other"})
    expected = told((OPENED, WORSE, ENDED, NEXT, NEXT_WORSE, NEXT_ENDED))
    assert told((OPENED, WORSE, ENDED, NEXT, late, NEXT_WORSE, late, NEXT_ENDED)) == expected


def test_the_end_of_an_incident_that_nobody_saw_begin_ends_the_one_before() -> None:
    assert told((OPENED, NEXT_ENDED)) == [("i0", "WARN"), ("i0", "OK")]


def test_only_so_many_are_remembered_and_only_while_a_partition_is_served() -> None:
    seen = SeenEvents(remembered=2)
    for name in ("a", "b", "c"):
        seen.add(0, name)
    assert [seen.has(0, name) for name in ("a", "b", "c")] == [False, True, True]
    assert not seen.has(1, "c")
    seen.forget(0)
    assert not seen.has(0, "c")
