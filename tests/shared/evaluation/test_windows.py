"""Windows: inserting, remembering, resizing, against a list that is sorted by hand."""

import base64

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from warren.errors import ContractViolation
from warren_core.evaluation import UNKNOWN, Column, Int64, Windows
from warren_core.evaluation.packed_windows import pack, unpack

MIN_DISTANCE = 10
Commit = tuple[int, int, int, int, int]  # in the order of Column


class NaiveWindow:
    """One partition's window as a list of commits, oldest first."""

    def __init__(self, intervals: int) -> None:
        self.intervals = intervals
        self.slots: list[Commit] = []

    def insert(self, commit: Commit) -> None:
        offset, at, observed_at, lag, order = commit
        orders = [slot[4] for slot in self.slots]
        full = len(self.slots) == self.intervals
        if order in orders or (full and order < orders[0]):
            return
        older = [slot for slot in self.slots if slot[4] < order]
        newer = [slot for slot in self.slots if slot[4] > order]
        if newer:
            lag = UNKNOWN
        new = (offset, at, observed_at, lag, order)
        replaces_oldest = full and len(older) == 1 and bool(newer)
        if older and not replaces_oldest and at - older[-1][1] < MIN_DISTANCE:
            kept_time = older.pop()[1]
            new = (offset, kept_time, observed_at, lag, order)
        self.slots = [*older, new, *newer][-self.intervals :]


def slots_of(windows: Windows, row: int) -> list[Commit]:
    window = windows.columns[:, row, windows.intervals - int(windows.filled[row]) :]
    return [tuple(commit) for commit in window.T.tolist()]


def rows(*numbers: int) -> Int64:
    return np.array(numbers, np.int64)


commits = st.tuples(
    st.integers(0, 50),  # offset
    st.integers(0, 100),  # committed_at: also out of order
    st.integers(0, 100),  # observed_at
    st.integers(-1, 9),  # lag
    st.integers(0, 30),  # order: often one that is there already
)


@given(
    intervals=st.integers(1, 6),
    spare=st.integers(0, 2),
    batches=st.lists(st.dictionaries(st.integers(0, 3), commits, min_size=1), max_size=25),
)
def test_vectorised_insertion_is_that_into_a_sorted_list(
    intervals: int, spare: int, batches: list[dict[int, Commit]]
) -> None:
    """Also where there are more slots than these windows may use."""
    windows = Windows.empty(4, intervals + spare)
    limits = np.full(4, intervals)
    naive = [NaiveWindow(intervals) for _ in range(4)]
    for batch in batches:
        columns = np.array(list(batch.values()), np.int64).T
        windows.insert(rows(*batch), columns, MIN_DISTANCE, limits[: len(batch)])
        windows.limit(limits)
        for row, commit in batch.items():
            naive[row].insert(commit)
        assert [slots_of(windows, row) for row in range(4)] == [n.slots for n in naive]


@given(
    intervals=st.integers(1, 6),
    wanted=st.integers(1, 9),
    inserted=st.lists(commits, max_size=12),
)
def test_resizing_keeps_the_newest(intervals: int, wanted: int, inserted: list[Commit]) -> None:
    windows = Windows.empty(1, intervals)
    for commit in inserted:
        windows.insert(rows(0), np.array([commit], np.int64).T, 0)
    windows.remember_log_ends(rows(0), rows(7), 0)
    resized = windows.resized(wanted)
    assert slots_of(resized, 0) == slots_of(windows, 0)[-wanted:]
    assert resized.intervals == wanted
    assert resized.log_ends[0, -1] == 7


def test_remembers_known_log_ends_newest_last() -> None:
    windows = Windows.empty(2, 3)
    for second, end in enumerate((5, UNKNOWN, 6, 7, 8)):
        windows.remember_log_ends(rows(1), rows(end), second * 11_000)
    assert windows.log_ends.tolist() == [[-1, -1, -1], [6, 7, 8]]


def test_log_ends_are_remembered_for_a_time_however_often_they_are_seen() -> None:
    often, rarely = Windows.empty(1, 10), Windows.empty(1, 10)
    for second in range(1000):
        often.remember_log_ends(rows(0), rows(second), second * 1000)
        if second % 10 == 0:
            rarely.remember_log_ends(rows(0), rows(second), second * 1000)
    for windows in (often, rarely):
        assert 88 <= 1000 - windows.log_ends[0, 0] <= 110
        assert (np.diff(windows.log_ends[0]) > 0).all()


def test_taken_rows_are_copies_and_missing_ones_empty() -> None:
    windows = Windows.empty(2, 3)
    windows.insert(rows(0, 1), np.array([[10, 20], [1, 2], [1, 2], [3, 4], [5, 6]]), 0)
    taken = windows.take(rows(1, -1))
    windows.clear(rows(1))
    assert slots_of(taken, 0) == [(20, 2, 2, 4, 6)]
    assert taken.filled.tolist() == [1, 0]
    assert taken.column(Column.LAG)[1].tolist() == [UNKNOWN] * 3
    assert Windows.empty(0, 3).take(rows(-1)).filled.tolist() == [0]


# Packed windows: what goes in comes out; anything else is refused.

int64 = st.integers(-(2**63), 2**63 - 1)
values = st.integers(-1, 5) | st.integers(1_795_244_400_000, 1_795_244_500_000) | int64
SHOWN = [Column.OFFSET, Column.COMMITTED_AT, Column.OBSERVED_AT, Column.LAG]


@st.composite
def any_windows(draw: st.DrawFn) -> Windows:
    partitions, intervals = draw(st.integers(0, 4)), draw(st.integers(1, 12))
    windows = Windows.empty(partitions, intervals)
    windows.columns[:] = draw(
        arrays.arrays(np.int64, (len(Column), partitions, intervals), elements=values)
    )
    windows.filled[:] = draw(
        arrays.arrays(np.int64, partitions, elements=st.integers(0, intervals))
    )
    return windows


@given(any_windows())
def test_what_was_packed_is_unpacked(windows: Windows) -> None:
    commits = unpack(pack(windows), windows.columns[SHOWN, :, -1])
    np.testing.assert_array_equal(commits.columns, windows.columns[SHOWN])
    np.testing.assert_array_equal(commits.filled, windows.filled)
    assert commits.intervals == windows.intervals


def test_packing_changes_nothing() -> None:
    windows = Windows.empty(2, 3)
    windows.columns[Column.OBSERVED_AT] = 7
    windows.columns[Column.COMMITTED_AT] = 5
    pack(windows)
    assert (windows.columns[Column.OBSERVED_AT] == 7).all()


@pytest.mark.parametrize(
    "damaged",
    [
        "",
        "no base64!",
        "AAAA",
        pack(Windows.empty(2, 4)),
        base64.b64encode(base64.b64decode(pack(Windows.empty(3, 4))) + b"\0").decode(),
        base64.b64encode(base64.b64decode(pack(Windows.empty(3, 4)))[:-1]).decode(),
    ],
)
def test_what_does_not_fit_is_refused(damaged: str) -> None:
    with pytest.raises(ContractViolation):
        unpack(damaged, np.zeros((4, 3), np.int64))


def test_ordinary_commits_take_few_bytes() -> None:
    """16 bytes a commit, a third more in base64: 10 slots, the newest of which is not in here."""
    windows = Windows.empty(1000, 10)
    windows.columns[Column.OFFSET] = 10**12 + 100 * np.arange(10)
    windows.columns[Column.COMMITTED_AT] = 1_795_244_400_000 + 5_000 * np.arange(10)
    windows.columns[Column.OBSERVED_AT] = windows.columns[Column.COMMITTED_AT] + 20
    assert len(pack(windows)) < 1000 * 195
