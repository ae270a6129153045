"""Lengths and moments of time."""

from collections.abc import Callable

import pytest
from warren.errors import SettingsError
from warren_archiver.report.period import parse_day, parse_length, parse_moment, parse_week


@pytest.mark.parametrize(
    ("text", "ms"),
    [("90s", 90_000), ("10m", 600_000), ("2h", 7_200_000), ("7d", 604_800_000), (" 1m ", 60_000)],
)
def test_lengths(text: str, ms: int) -> None:
    assert parse_length(text) == ms


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


def test_a_day_and_a_week_are_utc() -> None:
    day, week = parse_day("2026-11-21"), parse_week("2026-W47")
    assert (day.start_ms, day.length_ms) == (1_795_219_200_000, 86_400_000)
    assert (week.start_ms, week.length_ms) == (day.start_ms - 5 * 86_400_000, 7 * 86_400_000)
    assert [str(each) for each in week.days][::6] == ["2026-11-16", "2026-11-22"]


RANGE = "is out of range: from 1970 to 8999"
REFUSED: list[tuple[Callable[[str], object], str, list[str]]] = [
    (parse_length, "no length of time", ["", "10", "m", "0m", "-1m", "1.5h", "1w", "10m5s"]),
    (parse_length, "is out of range: at most 36500d", ["36501d", "99999999d"]),
    (parse_moment, "no time", ["yesterday"]),
    (parse_moment, RANGE, ["9" * 20, "253402300800000", "0001-01-01T00:00:00+01:00"]),
    (parse_week, "no week such as", ["2026-W54", "47", "2026-11-21"]),
    (parse_week, f"'9999-W52' {RANGE}", ["9999-W52"]),
    (parse_day, "no day such as", ["2026-02-30", "today", "2026-13-01"]),
    (parse_day, f"'9999-12-31' {RANGE}", ["9999-12-31"]),
    (parse_day, RANGE, ["9000-01-01", "0001-01-01"]),
]


@pytest.mark.parametrize(
    ("parse", "problem", "text"),
    [(parse, problem, text) for parse, problem, texts in REFUSED for text in texts],
)
def test_what_is_none_or_beyond_every_archive_is_refused(
    parse: Callable[[str], object], problem: str, text: str
) -> None:
    with pytest.raises(SettingsError, match=problem):
        parse(text)
