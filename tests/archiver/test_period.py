"""Lengths and moments of time."""

from __future__ import annotations

import pytest
from warren.errors import SettingsError
from warren_archiver.report.period import parse_day, parse_length, parse_moment, parse_week


@pytest.mark.parametrize(
    ("text", "ms"),
    [("90s", 90_000), ("10m", 600_000), ("2h", 7_200_000), ("7d", 604_800_000), (" 1m ", 60_000)],
)
def test_lengths(text: str, ms: int) -> None:
    assert parse_length(text) == ms


@pytest.mark.parametrize("text", ["", "10", "m", "0m", "-1m", "1.5h", "1w", "10m5s"])
def test_what_is_no_length_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="no length of time"):
        parse_length(text)


@pytest.mark.parametrize(
    "text",
    [
        "1795244400123",
        "2026-11-21T07:00:00.123Z",
        "2026-11-21T08:00:00.123+01:00",
        "2026-11-21 07:00:00.123",
    ],
)
def test_moments_are_utc_unless_they_say_otherwise(text: str) -> None:
    assert parse_moment(text) == 1_795_244_400_123


def test_what_is_no_moment_is_refused() -> None:
    with pytest.raises(SettingsError, match="no time"):
        parse_moment("yesterday")


def test_a_day_and_a_week_are_utc() -> None:
    day, week = parse_day("2026-11-21"), parse_week("2026-W47")
    assert (day.start_ms, day.length_ms) == (1_795_219_200_000, 86_400_000)
    assert (week.start_ms, week.length_ms) == (day.start_ms - 5 * 86_400_000, 7 * 86_400_000)
    assert [str(each) for each in week.days][::6] == ["2026-11-16", "2026-11-22"]


@pytest.mark.parametrize("text", ["2026-W54", "47", "2026-11-21"])
def test_what_is_no_week_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="no week such as"):
        parse_week(text)


def test_a_week_that_no_archive_has_is_out_of_range() -> None:
    with pytest.raises(SettingsError, match="'9999-W52' is out of range: from 1970 to 8999"):
        parse_week("9999-W52")


@pytest.mark.parametrize("text", ["2026-02-30", "today", "2026-13-01"])
def test_what_is_no_day_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="no day such as"):
        parse_day(text)


@pytest.mark.parametrize("text", ["9999-12-31", "9000-01-01", "0001-01-01"])
def test_a_day_that_no_archive_has_is_out_of_range(text: str) -> None:
    with pytest.raises(SettingsError, match=f"'{text}' is out of range: from 1970 to 8999"):
        parse_day(text)


@pytest.mark.parametrize("text", ["9" * 20, "253402300800000", "0001-01-01T00:00:00+01:00"])
def test_a_moment_that_no_archive_has_is_out_of_range(text: str) -> None:
    with pytest.raises(SettingsError, match="is out of range: from 1970 to 8999"):
        parse_moment(text)


@pytest.mark.parametrize("text", ["36501d", "99999999d"])
def test_a_length_of_centuries_is_out_of_range(text: str) -> None:
    with pytest.raises(SettingsError, match=f"'{text}' is out of range: at most 36500d"):
        parse_length(text)
