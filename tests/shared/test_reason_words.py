"""Reasons have words of their own."""

from warren.contracts import REASONS
from warren.reason_words import in_short


def test_each_reason_has_few_words_of_its_own() -> None:
    said = [in_short(reason) for reason in REASONS]
    assert len(set(said)) == len(REASONS)
    assert all(len(words.split()) <= 5 for words in said)


def test_a_reason_of_tomorrow_is_said_by_its_name() -> None:
    assert in_short("asks_too_much") == "Asks too much"
