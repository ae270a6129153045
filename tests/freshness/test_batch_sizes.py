from __future__ import annotations

import pytest
from support.record_batches import batch
from warren_freshness.reading.batch_sizes import (
    LOOK_BACK,
    BatchSizes,
    first_batch_size,
    look_back,
)

KB = 1024


@pytest.mark.parametrize(
    ("seen", "worthwhile"),
    [
        ([], None),
        ([500], 500),
        ([500] * 9, 500),
        ([16 * KB] * 9, 16 * KB),
        ([64 * KB] * 9, None),
        ([500] * 8 + [64 * KB], 500),  # who is larger is asked for alone
        ([64 * KB] * 15 + [500], None),  # as too few are so small
        ([16 * KB, 16 * KB, 16 * KB, 5 * KB] * 4, 16 * KB),
        ([16 * KB] * 2 + [500] * 14, 500),
    ],
)
def test_what_is_worth_being_asked_for_with_others(seen: list[int], worthwhile: int | None) -> None:
    sizes = BatchSizes()
    for size in seen:
        sizes.learn("orders", size)
    assert sizes.worthwhile("orders") == worthwhile
    assert sizes.worthwhile("others") is None


def test_only_the_last_batches_count() -> None:
    sizes = BatchSizes()
    assert sizes.mean("orders") is None
    for size in [64 * KB] * 9 + [500] * 16:
        sizes.learn("orders", size)
    assert (sizes.worthwhile("orders"), sizes.mean("orders")) == (500, 500)


@pytest.mark.parametrize(
    ("expected", "back"), [(None, 0), (100, LOOK_BACK), (1000, 6), (3000, 1), (4000, 0)]
)
def test_a_look_back_costs_little(expected: int | None, back: int) -> None:
    assert look_back(expected) == back


def test_the_size_of_the_first_batch() -> None:
    first = batch({5: 1005})
    assert first_batch_size(first + batch({6: 1006, 7: 1007})) == len(first)
    assert first_batch_size(first[:30]) == len(first)
    assert first_batch_size(b"") == 0
