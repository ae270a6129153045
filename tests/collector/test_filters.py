from typing import Any

import pytest
from pydantic import ValidationError
from warren.settings import ClusterSettings, FilterSettings, Settings
from warren_collector.cluster.filters import ClusterFilters, NameFilter


@pytest.mark.parametrize(
    ("allow", "deny", "group", "accepted"),
    [
        ([], [], "", True),
        (["a"], [], "cab", True),
        (["^a"], [], "cab", False),
        (["x", "b$"], [], "cab", True),
        ([], ["a"], "cab", False),
        (["c"], ["^cab$"], "cab", False),
        (["c"], ["^cab$"], "cabs", True),
    ],
)
def test_accepts(allow: list[str], deny: list[str], group: str, accepted: bool) -> None:
    assert NameFilter(allow, deny).accepts(group) is accepted


def settings(everywhere: dict[str, Any], prod: dict[str, Any]) -> Settings:
    return Settings(
        filters=FilterSettings(**everywhere),
        clusters={
            "prod": ClusterSettings(bootstrap="p:1", **prod),
            "test": ClusterSettings(bootstrap="t:1"),
        },
    )


def test_a_cluster_has_its_own_lists_and_those_of_all() -> None:
    given = settings(
        {"groups_deny": ["^tmp-"], "topics_allow": ["orders", "returns"]},
        {"groups_allow": ["billing"], "topics_deny": ["returns"]},
    )
    prod, test = ClusterFilters(given, "prod"), ClusterFilters(given, "test")
    groups = ["billing", "tmp-billing", "shipping", "warren-billing"]
    assert [prod.accepts_group(group) for group in groups] == [True, False, False, False]
    assert [test.accepts_group(group) for group in groups] == [True, False, True, False]
    topics = ["orders", "returns", "payments"]
    assert [prod.accepts_topic(topic) for topic in topics] == [True, False, False]
    assert [test.accepts_topic(topic) for topic in topics] == [True, True, False]


def test_own_groups_are_hidden_whatever_the_name_unless_a_list_is_given() -> None:
    named = Settings.model_validate(
        {
            "home": {"instance": "eye"},
            "notifier": {"group_id": "told"},
            "clusters": {
                "prod": {"bootstrap": "p:1"},
                "test": {"bootstrap": "t:1", "groups_deny": ["^told$"]},
                "both": {"bootstrap": "b:1", "groups_deny": ["^orders", "^warren-"]},
            },
        }
    )
    prod, test, both = (ClusterFilters(named, name) for name in ("prod", "test", "both"))
    stranger = "other-collector-MkU3OEVBNTcwNTJENDM2Qg"
    groups = ["eye-evaluator", "told", stranger, "warren-1a2b3c-notifier", "orders-collector"]
    assert [prod.accepts_group(group) for group in groups] == [False, False, False, False, True]
    assert [test.accepts_group(group) for group in groups] == [True, False, True, True, True]
    assert [both.accepts_group(group) for group in groups] == [False, False, True, False, False]


def test_filters_can_be_replaced() -> None:
    filters = ClusterFilters(settings({}, {}), "prod")
    accepts = filters.accepts_group, filters.accepts_topic
    assert [accept("a") for accept in accepts] == [True, True]
    filters.replace(settings({"groups_deny": ["a"]}, {"topics_deny": ["a"]}))
    assert [accept("a") for accept in accepts] == [False, False]


@pytest.mark.parametrize("name", ["groups_allow", "groups_deny", "topics_allow", "topics_deny"])
def test_a_bad_expression_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match=r"'\[' is no regular expression"):
        settings({name: ["["]}, {})
    with pytest.raises(ValidationError, match=r"'\[' is no regular expression"):
        settings({}, {name: ["["]})
