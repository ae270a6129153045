"""The rules of `progress`, their parameters, and what docs/evaluation.md says of them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.followed_partition import ALL, FOUND, TICK, Followed
from warren_core.evaluation.presence import Presence
from warren_core.evaluation.progress import RULES
from warren_core.evaluation.rule import meanings
from warren_core.judgement import facts, verdict

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


def stuck() -> object:
    partition = followed(10)
    return [partition.tick(50, read=0) for _ in range(6)]


def reset() -> object:
    partition = followed(2)
    partition.committed -= 5000
    partition.tick(50, read=0)
    return partition.tick(50, read=60)


def slow() -> object:
    partition = Followed().healthy(3, rate=100)
    return [partition.tick(500, read=250) for _ in range(30)][-1]


def crashed() -> object:
    partition = followed(10)
    partition.silent_for(20)
    return partition.tick(50, read=100)


def paused() -> object:
    partition = followed(10)
    partition.pause(1)
    return partition.healthy(2).pause(1)


def rested() -> object:
    partition = Followed()
    for _ in range(2):
        found = partition.silent(20)
        partition.tick(50, read=ALL)
    return found


def away() -> object:
    partition = followed(31, Presence.THERE)
    partition.pause(1)
    partition.healthy(5)
    partition.presence = Presence.NOBODY
    return partition.silent(5)


def rebalanced() -> object:
    partition = followed(12, Presence.THERE)
    partition.tick(50)
    partition.presence = Presence.REBALANCING
    return partition.silent(2)


def held() -> object:
    partition = followed(10)
    partition.last_stable = partition.committed
    return partition.silent(1.4)


def looped() -> object:
    partition = followed(35, Presence.THERE)
    for _ in range(3):
        partition.presence = Presence.NOBODY
        partition.silent_for(6)
        partition.presence = Presence.THERE
        partition.healthy(4)
    return partition.seen[-1]


def counted() -> object:
    partition = followed(1, Presence.THERE)
    for _ in range(20):
        partition.tick(200, read=200)
    partition.tick(120)
    return partition.silent(10, rate=0)


def one_left() -> object:
    partition = Followed(behind=1)
    for _ in range(30):
        partition.tick(10, read=ALL, leaving=1)
    return partition.silent(2, rate=0)


def burst() -> object:
    partition = followed(12)
    return [partition.tick(300, read=200) for _ in range(28)]


def late() -> object:
    """As usual for it."""
    partition = Followed(behind=12_000)
    return [partition.tick(500, read=500) for _ in range(90)][30:]


@pytest.mark.parametrize(
    ("name", "life", "said"),
    [
        ("silence", lambda: followed(10).silent(2), FOUND),
        ("repeats", stuck, ["OK"] * 4 + ["STALL"] * 2),
        ("loop", looped, "WARN"),
        ("rewind", reset, "REWIND"),
        ("growing", slow, "WARN"),
        ("catching up", crashed, "WARN"),
        ("habit", paused, False),
        ("unlearnt", lambda: Followed().silent(6), None),
        ("new", lambda: followed(1, Presence.THERE).silent(6), 305 + TICK),
        ("runs", rested, None),
        ("away", away, FOUND),
        ("rebalance", rebalanced, None),
        ("transaction", held, None),
        ("by count", counted, None),
        ("one left", one_left, None),
        ("level", late, ["OK"] * 60),
        ("burst", burst, ["OK"] * 28),
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
