"""The words of figures."""

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


AT = 1_795_244_400_123
SAID = {
    "duration": [
        (duration(-5), "0s"),
        (duration(0), "0s"),
        (duration(999), "<1s"),
        (duration(59 * SECOND), "59s"),
        (duration(MINUTE), "1m"),
        (duration(4 * MINUTE + 12 * SECOND), "4m 12s"),
        (duration(HOUR + 59 * SECOND), "1h"),
        (duration(3 * HOUR + 2 * MINUTE), "3h 2m"),
        (duration(3 * DAY + 2 * HOUR + MINUTE), "3d 2h"),
        (duration(400 * DAY), "400d"),
    ],
    "grouped": [(grouped(0), "0"), (grouped(1_234_567), "1,234,567")],
    "records": [
        (records(0), "0 records"),
        (records(1), "1 record"),
        (records(2_101), "2,101 records"),
        (records(-1), "unknown records"),
        (records(None), "unknown records"),
    ],
    "rate": [
        (rate(0.0), "0/s"),
        (rate(0.0001), "less than 1/h"),
        (rate(0.5 / 3600), "less than 1/h"),
        (rate(1 / 60), "1/min"),
        (rate(1.5), "1.5/s"),
        (rate(27.4), "27/s"),
        (rate(1_234.0), "1,234/s"),
    ],
    "counted": [
        (counted(0, "group"), "0 groups"),
        (counted(1, "group"), "1 group"),
        (counted(2_101, "group"), "2,101 groups"),
        (counted(1, "loss", "losses"), "1 loss"),
        (counted(2, "loss", "losses"), "2 losses"),
    ],
    "clock": [
        (clock(AT, AT + 16 * HOUR), "07:00 UTC"),
        (clock(AT, AT + 17 * HOUR), "2026-11-21 07:00 UTC"),
        (as_of("80 records behind", AT, AT), "at 07:00 UTC: 80 records behind"),
    ],
    "utc": [
        (utc(AT), "2026-11-21 07:00:00 UTC"),
        (utc(-1), "never"),
        (utc(253_402_300_799_999), "9999-12-31 23:59:59 UTC"),
        *[(utc(at), "after the year 9999") for at in (253_402_300_800_000, 10**17, 10**400)],
    ],
}


@pytest.mark.parametrize("words", SAID)
def test_figures_are_said_in_words(words: str) -> None:
    assert [said for said, _ in SAID[words]] == [expected for _, expected in SAID[words]]


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
        (" a b  c ", "␠a b␠␠c␠"),
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
