"""The words of figures."""

from __future__ import annotations

import subprocess

import pytest
from warren.words import (
    as_of,
    clock,
    counted,
    duration,
    grouped,
    rate,
    records,
    shell_word,
    utc,
    visible,
)

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (-5, "0 s"),
        (0, "0 s"),
        (999, "less than 1 s"),
        (59 * SECOND, "59 s"),
        (MINUTE, "1 m"),
        (4 * MINUTE + 12 * SECOND, "4 m 12 s"),
        (HOUR + 59 * SECOND, "1 h"),
        (3 * HOUR + 2 * MINUTE, "3 h 2 m"),
        (3 * DAY + 2 * HOUR + MINUTE, "3 d 2 h"),
        (400 * DAY, "400 d"),
    ],
)
def test_the_two_largest_units(milliseconds: int, words: str) -> None:
    assert duration(milliseconds) == words


def test_digits_in_groups_of_three() -> None:
    assert grouped(0) == "0"
    assert grouped(1_234_567) == "1,234,567"


def test_records_are_counted() -> None:
    assert [records(count) for count in (0, 1, 2_101, -1, None)] == [
        "0 records",
        "1 record",
        "2,101 records",
        "unknown records",
        "unknown records",
    ]


def test_a_rate_is_said_by_what_is_worth_reading() -> None:
    rates = (0.0, 0.0001, 0.5 / 3600, 1 / 60, 1.5, 27.4, 1_234.0)
    assert [rate(each) for each in rates] == [
        "0/s",
        "less than 1/h",
        "less than 1/h",
        "1/min",
        "1.5/s",
        "27/s",
        "1,234/s",
    ]


def test_whatever_is_counted_has_its_number() -> None:
    assert [counted(count, "group") for count in (0, 1, 2, 2_101)] == [
        "0 groups",
        "1 group",
        "2 groups",
        "2,101 groups",
    ]
    assert [counted(count, "loss", "losses") for count in (1, 2)] == ["1 loss", "2 losses"]


def test_what_was_said_carries_its_time_and_of_another_day_the_day() -> None:
    at = 1_795_244_400_123
    assert clock(at, at + 16 * HOUR) == "07:00 UTC"
    assert clock(at, at + 17 * HOUR) == "2026-11-21 07:00 UTC"
    assert as_of("80 records behind", at, at) == "at 07:00 UTC: 80 records behind"


def test_a_time_is_said_in_utc() -> None:
    assert utc(1_795_244_400_123) == "2026-11-21 07:00:00 UTC"
    assert utc(-1) == "never"


@pytest.mark.parametrize("moment", [253_402_300_800_000, 10**17, 10**400])
def test_a_time_that_no_calendar_has_is_said_all_the_same(moment: int) -> None:
    assert utc(253_402_300_799_999) == "9999-12-31 23:59:59 UTC"
    assert utc(moment) == "after the year 9999"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a group é 漢 🙂 \xa0", "a group é 漢 🙂 \xa0"),
        ("\x1b[2J\r\n\t\0\x7f", "␛[2J␍␊␉␀␡"),
        ("\x9b2J\x85", "\\x9b2J\\x85"),
        ("a\u202eb\u2066c\u200fd\u061c", "a\\u202eb\\u2066c\\u200fd\\u061c"),
        ("a\u2028b\u2029", "a\\u2028b\\u2029"),
        ("\udc80", "\\udc80"),
        ("bil\u200bling\u2060\xad\u3164\ufeff", "bil\\u200bling\\u2060\\xad\\u3164\\ufeff"),
        ("tag\U000e0041", "tag\\U000e0041"),
    ],
)
def test_what_acts_on_a_terminal_is_made_visible(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(visible(text)) == shown


def test_nothing_breaks_the_line_or_fails_to_be_encoded() -> None:
    everything = visible("".join(map(chr, range(0x110000))))
    assert everything.splitlines() == [everything]
    assert everything.encode().decode() == everything


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("billing", "billing"),
        ("it's $(rm -rf) `x`", "'it'\"'\"'s $(rm -rf) `x`'"),
        ("größe \N{SNOWMAN}", "'größe \N{SNOWMAN}'"),
        ("\N{SYMBOL FOR LINE FEED}", "'\N{SYMBOL FOR LINE FEED}'"),  # a picture that is in the name
        ("", "''"),
        ("new\nline beyond", "$'new\\nline beyond'"),
        ("a\tb\rc\x1b[31m\x00d", "$'a\\tb\\rc\\x1b[31m\\x00d'"),
        ("back\\slash it's\n", "$'back\\\\slash it\\'s\\n'"),
        ("\u202egnp.exe", "$'\\u202egnp.exe'"),
        ("a\x85b\u00a0c\u200bd", "$'a\\u0085b\\u00a0c\\u200bd'"),
        ("\U000e0041tag", "$'\\U000e0041tag'"),
        ("$HOME `x`\n\N{SNOWMAN}", "$'$HOME `x`\\n\N{SNOWMAN}'"),
    ],
)
def test_a_word_as_a_shell_takes_it(text: str, word: str) -> None:
    assert shell_word(text) == word
    assert visible(word) == word, "it is the same where it is shown"
    if "\0" not in text:  # no argument has one
        assert in_bash(word) == text


def in_bash(word: str) -> str:
    command = ["bash", "-c", f"printf %s {word}"]
    said = subprocess.run(command, env={"LC_ALL": "C.UTF-8"}, capture_output=True, check=True)
    return said.stdout.decode()
