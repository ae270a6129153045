"""The rules of `progress`, their parameters, and what docs/evaluation.md says of them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.followed_partition import ALL, FOUND, Followed
from warren_core.evaluation.presence import Presence
from warren_core.evaluation.progress import RULES
from warren_core.evaluation.rule import meanings
from warren_core.judgement import facts, verdict

PAGE = Path(__file__).parents[3] / "docs/evaluation.md"


def test_each_parameter_belongs_to_one_rule() -> None:
    """So that the page, which is made from the rules, has them all; there are few."""
    named = [name for rule in RULES for name in rule.parameters]
    assert sorted(named) == sorted(meanings())


def test_the_page_has_the_rules_and_all_are_on() -> None:
    page = PAGE.read_text()
    rows = [f"| {r.name} | {r.sentence} | {r.learns} | {r.speaks} |" for r in RULES]
    assert [row for row in rows if row not in page] == []
    assert all(rule.on for rule in RULES)


@pytest.mark.parametrize(
    "sentence",
    [
        f"are not said for {verdict.LONGEST_TURN_MS / 60_000:g} min",
        f"as the measurement is not older than {facts.MEASURED_LATELY_MS / 60_000:g} min",
    ],
)
def test_the_page_says_what_the_code_does(sentence: str) -> None:
    assert sentence in " ".join(PAGE.read_text().split())


def followed(minutes: float, presence: Presence = Presence.UNKNOWN) -> Followed:
    partition = Followed()
    partition.presence = presence
    return partition.healthy(minutes)


def reset() -> object:
    partition = followed(2)
    partition.committed -= 5000
    partition.tick(50, read=0)
    return partition.tick(50, read=60)


def slow() -> object:
    partition = followed(10)
    return [partition.tick(50, read=25) for _ in range(60)][-1]


def paused() -> object:
    partition = followed(10)
    partition.pause(1)
    return partition.healthy(2).pause(1)


def rested() -> object:
    partition = Followed()
    partition.silent_for(20)
    for _ in range(8):
        partition.tick(50, read=ALL)
    return partition.silent(20)


def away() -> object:
    partition = followed(31, Presence.THERE).healthy(120, every=300)
    partition.presence = Presence.NOBODY
    return partition.silent(5)


def rebalanced() -> object:
    partition = followed(12, Presence.THERE)
    partition.tick(50)
    partition.presence = Presence.REBALANCING
    return partition.silent(2)


def counted() -> object:
    partition = followed(1, Presence.THERE)
    for _ in range(20):
        partition.tick(200, read=200)
    partition.tick(120)
    return partition.silent(10, rate=0)


def daily() -> object:
    """Half an hour each day, looked at each two minutes."""
    partition = Followed()
    for look in range(4 * 720 + 16):
        rests = look >= 720 and look % 720 < 15
        told = partition.tick(1200, read=None if rests else ALL, seconds=120)
        if rests and look > 4 * 720 and told != "OK":
            return True
    return False


@pytest.mark.parametrize(
    ("name", "life", "said"),
    [
        ("silence", lambda: followed(10).silent(2), FOUND),
        ("rewind", reset, "REWIND"),
        ("behind", slow, "WARN"),
        ("habit", paused, False),
        ("first", lambda: Followed().silent(4), None),
        ("rests", rested, None),
        ("away", away, 115),
        ("held", rebalanced, None),
        ("by count", counted, None),
        ("returns", daily, False),
    ],
)
def test_without_the_rule_it_is_told_otherwise(
    name: str, life: Callable[[], object], said: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each switch takes one rule away, and nothing else does what it does."""
    told = life()
    assert told == said
    (rule,) = (rule for rule in RULES if rule.name == name)
    monkeypatch.setattr(rule, "on", False)
    assert life() != told
