import pickle
from urllib.parse import urljoin

import pytest
from warren.path_segments import name_of, segment
from warren.patterns import Expression
from warren.settings.clusters import FilterSettings

COSTLY = "^([a-z0-9]+[.-]?)+$"
"""Takes Python's own engine minutes over a name that almost matches."""


def test_no_name_makes_an_expression_of_the_settings_costly() -> None:
    (expression,) = FilterSettings(groups_allow=[COSTLY]).groups_allow
    assert not Expression(expression).search("payments-consumer-group-eu-west-prod-2026!")
    assert Expression(expression).search("payments-consumer-group-eu-west-prod-2026")


@pytest.mark.parametrize("pattern", ["(?!x)y", r"(a)\1", "[", "a{9999}"])
def test_what_is_no_expression_is_refused_with_the_reason(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"is no regular expression: .* \(RE2, as Go"):
        FilterSettings(groups_allow=[pattern])


def test_lists_of_thousands_of_names_are_accepted() -> None:
    names = "|".join(f"orders-service-{n}" for n in range(5_000))
    assert Expression(f"^({names})$").search("orders-service-4711")


def test_expressions_go_to_other_processes() -> None:
    assert pickle.loads(pickle.dumps(Expression("^a"))) == Expression("^a")


# Names in paths.

NAMES = (".", "..", ",.", ",..", "%2E", "%2e%2E", "...", "a/b", "a,b", "größe ?#", "")


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_the_same_behind_its_path(name: str) -> None:
    assert name_of(segment(name)) == name
    assert "/" not in segment(name)
    path = f"/groups/demo/{segment(name)}/silence"
    assert urljoin("http://localhost/", path) == f"http://localhost{path}", "no way up"


def test_each_name_has_its_own() -> None:
    assert len({segment(name) for name in NAMES}) == len(NAMES)


@pytest.mark.parametrize(("written", "name"), [("..", ".."), ("%2E%2E", ".."), (",a", ",a")])
def test_what_others_write_is_understood(written: str, name: str) -> None:
    assert name_of(written) == name
