"""Names in paths."""

from urllib.parse import urljoin

import pytest
from warren.path_segments import name_of, segment

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
