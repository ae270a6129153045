"""Packed windows: what goes in comes out; anything else is refused."""

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from warren.errors import ContractViolation
from warren_core.evaluation import Column, Windows
from warren_core.evaluation.packed_windows import pack, unpack

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
