"""Rules: which of them a group and a topic have."""

from typing import Any

import numpy as np
import pytest
from support.followed_partition import TICK, Followed, always_ok
from warren.settings import EvaluationOverride, EvaluationSettings
from warren_core.evaluation import PartitionRules, RuleBook, Rules
from warren_core.evaluation.rewinds import LATELY_MS


def book(*overrides: dict[str, Any], **settings: Any) -> RuleBook:
    listed = [EvaluationOverride(**override) for override in overrides]
    return RuleBook(
        EvaluationSettings.model_validate({"policy": "burrow", **settings, "overrides": listed})
    )


def test_without_overrides_all_groups_share_the_same_rules() -> None:
    rules_for = book(policy="progress", min_distance=0.5, expire_group=60).rules_for
    rules = rules_for("prod", "a")
    assert rules is rules_for("dev", "b")
    assert rules.group == Rules("progress", min_distance_ms=500, expire_group_ms=60_000)
    assert rules.of_topic("t") is rules.group


def test_each_setting_comes_from_the_first_override_that_matches_and_names_it() -> None:
    rules_for = book(
        {"groups": ["^pay"], "intervals": 20},
        {"groups": ["pay", "bill"], "policy": "progress", "intervals": 30, "allowed_lag": 7},
        {"clusters": ["^dev$"], "expire_group": 1.5, "minimum_complete": 0.5},
        intervals=5,
    ).rules_for
    assert rules_for("prod", "payments").group == Rules("progress", 20, allowed_lag=7)
    assert rules_for("prod", "my-pay").group == Rules("progress", 30, allowed_lag=7)
    assert rules_for("prod", "other").group == Rules(intervals=5)
    assert rules_for("dev", "other").group == Rules(
        intervals=5, expire_group_ms=1500, minimum_complete=0.5
    )


@pytest.mark.parametrize("name", ["groups", "topics", "clusters"])
def test_one_expression_needs_no_brackets(name: str) -> None:
    assert getattr(EvaluationOverride(**{name: "^a", "intervals": 3}), name) == ["^a"]


def test_a_topic_has_its_own_rules_in_groups_that_match_only() -> None:
    rules_for = book(
        {"groups": ["^pay"], "topics": ["^slow"], "policy": "progress"},
        {"topics": ["^slow", "^quiet"], "min_distance": 30, "policy": "progress"},
        {"groups": ["^pay"], "allowed_lag": 3},
    ).rules_for
    pay, other = rules_for("c", "pay"), rules_for("c", "other")
    assert pay.group == Rules(allowed_lag=3)
    assert pay.of_topic("slow-1") == Rules("progress", allowed_lag=3, min_distance_ms=30_000)
    assert pay.of_topic("quiet") == Rules("progress", allowed_lag=3, min_distance_ms=30_000)
    assert other.of_topic("slow-1") == Rules("progress", min_distance_ms=30_000)
    assert other.of_topic("loud") == other.group == Rules()


def test_groups_that_the_same_overrides_match_share_their_rules() -> None:
    rules_for = book({"groups": ["^a"], "allowed_lag": 1}, {"groups": ["b$"], "intervals": 3})
    assert rules_for.rules_for("c", "a1") is rules_for.rules_for("d", "a2")
    assert rules_for.rules_for("c", "a1") is not rules_for.rules_for("c", "ab")


def test_rules_by_row_follow_the_topics() -> None:
    rules = book({"topics": ["^b"], "policy": "progress", "intervals": 3}).rules_for("c", "g")
    rows = PartitionRules.of(rules, [("a", 2), ("b", 1), ("c", 1)])
    assert rows.slots == 10
    np.testing.assert_array_equal(rows.intervals, [10, 10, 3, 10])
    np.testing.assert_array_equal(rows.policies["burrow"], [True, True, False, True])
    np.testing.assert_array_equal(rows.policies["progress"], [False, False, True, False])


def test_rules_by_row_are_plain_numbers_where_all_topics_have_the_same() -> None:
    rules = book({"topics": ["^b"], "intervals": 3}).rules_for("c", "g")
    assert PartitionRules.of(rules, [("a", 2), ("c", 1)]).intervals == 10
    assert PartitionRules.of(rules, [("b", 2)]).intervals == 3
    assert PartitionRules.of(rules, []).slots == 10


# Who commits old offsets in turn with new ones, as a member that forgot what it has lost.

HELD = LATELY_MS // 1000


def _commit(partition: Followed, offset: int, *, rate: int) -> str:
    partition.now += TICK * 1000
    partition.end += rate * TICK
    partition.committed = min(offset, partition.end)
    partition.committed_at = partition.now
    return partition.observe(2)


def _to_and_fro(partition: Followed, old: int, looks: int, *, every: int, rate: int) -> list[str]:
    """At each `every`th look the old offset is the newest commit."""
    return [
        _commit(partition, old if look % every == 0 else partition.end + rate * TICK, rate=rate)
        for look in range(looks)
    ]


@pytest.mark.parametrize("every", [2, 3, 4])
@pytest.mark.parametrize("rate", [5, 50, 500])
def test_an_old_offset_again_and_again_is_told_at_its_second_time(every: int, rate: int) -> None:
    partition = Followed().healthy(5, rate=rate)
    old = partition.committed - 100 * rate
    seen = _to_and_fro(partition, old, 120, every=every, rate=rate)
    assert seen[: every + 1] == ["OK"] * every + ["REWIND"]
    assert set(seen[every:]) == {"REWIND"}
    partition.seen.clear()
    partition.healthy(HELD / 60 + 1, rate=rate)
    assert partition.seen[-1] == "OK"
    assert partition.seen.index("OK") * TICK <= HELD
    assert set(partition.seen[HELD // TICK :]) == {"OK"}


def test_one_late_commit_is_nothing() -> None:
    partition = Followed().healthy(5)
    for _ in range(3):
        _to_and_fro(partition, partition.committed - 1000, 2, every=2, rate=10)
        partition.healthy(HELD / 60)
    assert always_ok(partition)


def test_two_readers_at_the_same_pace_are_nothing() -> None:
    partition = Followed().healthy(5)
    for look in range(120):
        _commit(partition, partition.end + 50 - (20 if look % 2 else 0), rate=10)
    assert always_ok(partition)
