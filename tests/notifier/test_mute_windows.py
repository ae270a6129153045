"""Mute windows: days, nights, time zones, and the two days a year that are not 24 hours long."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError
from warren.settings.notifier import DAYS, MuteWindow
from warren_notifier.routing.routes import muted_until


def window(**fields: Any) -> MuteWindow:
    return MuteWindow.model_validate({"zone": "Europe/Berlin", **fields})


def at(text: str) -> int:
    """`again`: the second time that there is this time."""
    written, _, again = text.partition(" ")
    moment = datetime.fromisoformat(written).replace(tzinfo=ZoneInfo("Europe/Berlin"))
    return round(moment.replace(fold=bool(again)).timestamp() * 1000)


WEEKEND = [window(days=["sat", "sun"], **{"from": "22:00", "to": "06:00"})]
TOKYO = [window(zone="Asia/Tokyo", **{"from": "09:00", "to": "17:00"})]
IN_A_ROW = [
    window(days=["fri"], **{"from": "18:00", "to": "24:00"}),
    window(days=["sat", "sun"]),
]
TWICE_ENDED = [window(**{"from": "22:00", "to": "02:30"})]
TWICE_BEGUN = [window(**{"from": "02:30", "to": "05:00"})]
NEVER_ENDED = [window(**{"from": "23:00", "to": "02:30"})]


@pytest.mark.parametrize(
    ("windows", "now", "until"),
    [
        # A night belongs to the day on which it begins.
        (WEEKEND, "2026-11-21T21:59:59", None),  # a Saturday
        (WEEKEND, "2026-11-21T22:00:00", "2026-11-22T06:00:00"),
        (WEEKEND, "2026-11-22T05:59:59", "2026-11-22T06:00:00"),
        (WEEKEND, "2026-11-22T06:00:00", None),
        (WEEKEND, "2026-11-22T23:00:00", "2026-11-23T06:00:00"),
        (WEEKEND, "2026-11-23T05:00:00", "2026-11-23T06:00:00"),  # began on Sunday
        (WEEKEND, "2026-11-23T23:00:00", None),
        (WEEKEND, "2026-11-21T05:00:00", None),  # would have begun on Friday
        # The zone of the window counts: 09:00 there is 01:00 here.
        (TOKYO, "2026-11-23T01:30:00", "2026-11-23T09:00:00"),
        (TOKYO, "2026-11-23T10:00:00", None),
        # Windows that follow on one another are one.
        (IN_A_ROW, "2026-11-20T19:00:00", "2026-11-23T00:00:00"),
        (IN_A_ROW, "2026-11-20T17:59:00", None),
        # Nights in which the clock goes forward or back.
        (WEEKEND, "2026-03-28T22:00:00", "2026-03-29T06:00:00"),
        (WEEKEND, "2026-10-24T22:00:00", "2026-10-25T06:00:00"),
        # An end that comes twice is the second one.
        (TWICE_ENDED, "2026-10-25T02:45:00", "2026-10-25T02:30:00 again"),
        (TWICE_ENDED, "2026-10-25T02:30:00 again", None),
        # A begin that comes twice is the first one.
        (TWICE_BEGUN, "2026-10-25T02:29:59", None),
        (TWICE_BEGUN, "2026-10-25T02:30:00", "2026-10-25T05:00:00"),
        (TWICE_BEGUN, "2026-10-25T02:10:00 again", "2026-10-25T05:00:00"),
        # What never comes is as much later.
        (TWICE_BEGUN, "2026-03-29T01:59:59", None),
        (TWICE_BEGUN, "2026-03-29T03:29:59", None),
        (TWICE_BEGUN, "2026-03-29T03:30:00", "2026-03-29T05:00:00"),
        (NEVER_ENDED, "2026-03-29T01:15:00", "2026-03-29T03:30:00"),
        (NEVER_ENDED, "2026-03-29T03:29:59", "2026-03-29T03:30:00"),
        (NEVER_ENDED, "2026-03-29T03:30:00", None),
    ],
)
def test_until_when_it_is_quiet(windows: list[MuteWindow], now: str, until: str | None) -> None:
    assert muted_until(windows, at(now)) == (None if until is None else at(until))


def test_whole_days_run_into_the_next_one() -> None:
    now = at("2026-11-23T12:00:00")
    until = muted_until([window(days=list(DAYS))], now)
    assert until is not None
    assert until > now + 6 * 86_400_000


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"zone": "Europe/Atlantis"}, "no time zone"),
        ({"zone": "../../etc/passwd"}, "no time zone"),
        ({"zone": ""}, "no time zone"),
        ({"zone": "Europe"}, "no time zone"),
        ({"from": "24:00"}, "23:59 at the latest"),
        ({"from": "7:00"}, "pattern"),
        ({"to": "25:00"}, "pattern"),
        ({"days": ["Samstag"]}, "mon"),
        ({"day": ["sat"]}, "day"),
    ],
)
def test_what_is_no_window_is_refused(fields: dict[str, Any], names: str) -> None:
    with pytest.raises(ValidationError, match=names):
        window(**fields)
