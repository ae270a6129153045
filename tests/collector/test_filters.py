from __future__ import annotations

import pytest
from warren.errors import SettingsError
from warren_collector.filters import GroupFilter


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
    assert GroupFilter(allow, deny).accepts(group) is accepted


def test_a_bad_expression_names_its_setting() -> None:
    with pytest.raises(SettingsError, match=r"^clusters\.prod\.groups_deny: '\['"):
        GroupFilter([], ["["], "clusters.prod")
