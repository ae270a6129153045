"""The rules of `progress`, their parameters, and what docs/evaluation.md says of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from warren_core.evaluation.progress import RULES
from warren_core.evaluation.rule import meanings
from warren_core.judgement import facts, log_causes, turns

PAGE = Path(__file__).parents[3] / "docs/evaluation.md"


def test_each_parameter_belongs_to_one_rule() -> None:
    """So that the page, which is made from the rules, has them all; there are few."""
    named = [name for rule in RULES for name in rule.parameters]
    assert sorted(named) == sorted(meanings())
    assert len(named) <= 40


def test_the_page_has_the_rules_and_all_are_on() -> None:
    page = PAGE.read_text()
    rows = [f"| {r.name} | {r.sentence} | {r.learns} | {r.speaks} |" for r in RULES]
    assert [row for row in rows if row not in page] == []
    assert all(rule.on for rule in RULES)


@pytest.mark.parametrize(
    "sentence",
    [
        f"are not said, for {turns.LONGEST_TURN_MS / 60_000:g} min, where",
        f"as the measurement is not older than {facts.MEASURED_LATELY_MS / 60_000:g} min",
        f"transactions that have been open for {log_causes.OPEN_FOR_LONG_MS / 1000:g} s",
    ],
)
def test_the_page_says_what_the_code_does(sentence: str) -> None:
    assert sentence in " ".join(PAGE.read_text().split())
