"""A group that flaps: what is counted is what is remembered, so it may be more."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from warren_core.judgement.causes.members import flapping
from warren_core.judgement.state import MOST_OPENINGS

MINUTE = 60_000


@pytest.mark.parametrize(
    ("ages", "said"),
    [
        ([1, 2], ""),
        ([1, 2, 3], "Flapping: 3 incidents in 30m"),
        ([1, 2, 3, 4, 40, 50], "Flapping: 4 incidents in 30m"),
        (range(MOST_OPENINGS), f"Flapping: at least {MOST_OPENINGS} incidents in 30m"),
    ],
)
def test_more_than_are_remembered_are_at_least_so_many(ages: list[int], said: str) -> None:
    now = 1_800_000_000_000
    state = SimpleNamespace(openings=tuple(now - age * MINUTE for age in ages))
    found = flapping(cast(Any, SimpleNamespace(state=state, now_ms=now)))
    assert (found.sentence if found else "").startswith(said)
