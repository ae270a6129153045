"""Rules: which of them a group and a topic have."""

from typing import Any

import numpy as np
import pytest
from warren.settings import EvaluationOverride, EvaluationSettings
from warren_core.evaluation import PartitionRules, RuleBook, Rules


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
