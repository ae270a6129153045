"""Commits before the newest: the last ten seconds in which each position was committed."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from warren_collector.positions.earlier_commits import KEPT, EarlierCommits

Commit = tuple[int, int, int]  # row, offset, ms


def taken(commits: list[Commit], at_once: int = 7) -> EarlierCommits:
    earlier = EarlierCommits()
    for start in range(0, len(commits), at_once):
        some = np.array(commits[start : start + at_once], np.int64)
        earlier.take(some[:, 0], some[:, 1], some[:, 2])
    return earlier


def of(earlier: EarlierCommits, row: int, newest: int = -5) -> list[tuple[int, int]]:
    (offsets,), (times,) = earlier.of(np.array([row]), np.array([newest]))
    return list(zip(offsets, times, strict=True))


def test_the_newest_is_told_by_the_event_itself() -> None:
    earlier = taken([(1, 10, 1000), (2, 7, 1500), (1, 20, 6000)])
    assert of(earlier, 1, newest=20) == [(10, 1000)]
    assert of(earlier, 1, newest=30) == [(10, 1000), (20, 6000)]
    assert of(earlier, 2, newest=7) == []
    assert of(earlier, 3) == []


def test_what_was_deleted_or_negative_ends_what_was_before() -> None:
    earlier = taken([(1, 10, 1000), (2, 10, 1000)])
    earlier.forget(1)
    assert of(earlier, 1) == []
    assert of(earlier, 2) == [(10, 1000)]
    earlier.take(np.array([1, 2, 2]), np.array([30, -1, 40]), np.array([5000, 6000, 7000]))
    assert of(earlier, 1) == [(30, 5000)]
    assert of(earlier, 2) == [(40, 7000)]


def test_what_is_published_is_let_go() -> None:
    earlier = taken([(1, 10, 1000), (2, 10, 1000)])
    earlier.drop(np.array([True, True, False]))
    assert of(earlier, 1) == []
    assert len(earlier) == 1
    earlier.drop(np.array([True, True, True]))
    assert len(earlier) == 0


@given(
    st.lists(
        st.tuples(st.integers(1, 4), st.integers(-1, 9), st.integers(0, 30_000)), max_size=200
    ),
    st.integers(1, 50),
)
def test_as_one_by_one(commits: list[Commit], at_once: int) -> None:
    expected: dict[int, list[tuple[int, int]]] = {row: [] for row in range(1, 5)}
    for row, offset, at in commits:
        if offset < 0:
            expected[row].clear()
            continue
        if expected[row] and expected[row][-1][1] // 1000 == at // 1000:
            expected[row].pop()
        expected[row].append((offset, at))
    earlier = taken(commits, at_once)
    for row, one in expected.items():
        assert of(earlier, row) == one[-KEPT - 1 :]
