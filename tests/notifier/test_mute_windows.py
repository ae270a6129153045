"""Mute windows: days, nights, time zones, and the two days a year that are not 24 hours long."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError
from warren.settings.notifier import DAYS, MuteWindow
from warren_notifier.routing.mute_windows import muted_until


def window(**fields: Any) -> MuteWindow:
    return MuteWindow.model_validate({"zone": "Europe/Berlin", **fields})


def at(text: str, zone: str = "Europe/Berlin", fold: int = 0) -> int:
    moment = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold)
    return round(moment.timestamp() * 1000)


WEEKEND = window(days=["sat", "sun"], **{"from": "22:00", "to": "06:00"})


@pytest.mark.parametrize(
    ("now", "until"),
    [
        ("2026-11-21T21:59:59", None),  # a Saturday
        ("2026-11-21T22:00:00", "2026-11-22T06:00:00"),
        ("2026-11-22T05:59:59", "2026-11-22T06:00:00"),
        ("2026-11-22T06:00:00", None),
        ("2026-11-22T23:00:00", "2026-11-23T06:00:00"),
        ("2026-11-23T05:00:00", "2026-11-23T06:00:00"),  # began on Sunday
        ("2026-11-23T23:00:00", None),
        ("2026-11-21T05:00:00", None),  # would have begun on Friday
    ],
)
def test_a_night_belongs_to_the_day_on_which_it_begins(now: str, until: str | None) -> None:
    assert muted_until([WEEKEND], at(now)) == (None if until is None else at(until))


def test_the_zone_of_the_window_counts() -> None:
    tokyo = window(zone="Asia/Tokyo", **{"from": "09:00", "to": "17:00"})
    assert muted_until([tokyo], at("2026-11-23T00:30:00", "UTC")) == at(
        "2026-11-23T08:00:00", "UTC"
    )
    assert muted_until([tokyo], at("2026-11-23T09:00:00", "UTC")) is None


def test_whole_days_run_into_the_next_one() -> None:
    now = at("2026-11-23T12:00:00")
    until = muted_until([window(days=list(DAYS))], now)
    assert until is not None
    assert until > now + 6 * 86_400_000


def test_windows_that_follow_on_one_another_are_one() -> None:
    evening = window(days=["fri"], **{"from": "18:00", "to": "24:00"})
    weekend = window(days=["sat", "sun"])
    assert muted_until([evening, weekend], at("2026-11-20T19:00:00")) == at("2026-11-23T00:00:00")
    assert muted_until([evening, weekend], at("2026-11-20T17:59:00")) is None


def test_a_night_in_which_the_clock_goes_forward_is_an_hour_shorter() -> None:
    begin = at("2026-03-28T22:00:00")
    until = muted_until([WEEKEND], begin)
    assert until == at("2026-03-29T06:00:00")
    assert until - begin == 7 * 3_600_000


def test_a_night_in_which_the_clock_goes_back_is_an_hour_longer() -> None:
    begin = at("2026-10-24T22:00:00")
    until = muted_until([WEEKEND], begin)
    assert until == at("2026-10-25T06:00:00")
    assert until - begin == 9 * 3_600_000


def test_an_end_that_comes_twice_is_the_second_one() -> None:
    night = window(**{"from": "22:00", "to": "02:30"})
    second = at("2026-10-25T02:30:00", fold=1)
    assert second - at("2026-10-25T02:30:00") == 3_600_000
    assert muted_until([night], at("2026-10-25T02:45:00")) == second
    assert muted_until([night], second) is None


def test_a_begin_that_comes_twice_is_the_first_one() -> None:
    night = window(**{"from": "02:30", "to": "05:00"})
    first = at("2026-10-25T02:30:00")
    assert muted_until([night], first - 1) is None
    assert muted_until([night], first) == at("2026-10-25T05:00:00")
    assert muted_until([night], at("2026-10-25T02:10:00", fold=1)) == at("2026-10-25T05:00:00")


def test_a_begin_that_never_comes_is_as_much_later() -> None:
    night = window(**{"from": "02:30", "to": "05:00"})
    assert muted_until([night], at("2026-03-29T01:59:59")) is None
    assert muted_until([night], at("2026-03-29T03:29:59")) is None
    assert muted_until([night], at("2026-03-29T03:30:00")) == at("2026-03-29T05:00:00")


def test_an_end_that_never_comes_is_as_much_later() -> None:
    night = window(**{"from": "23:00", "to": "02:30"})
    assert muted_until([night], at("2026-03-29T01:15:00")) == at("2026-03-29T03:30:00")
    assert muted_until([night], at("2026-03-29T03:29:59")) == at("2026-03-29T03:30:00")
    assert muted_until([night], at("2026-03-29T03:30:00")) is None


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
