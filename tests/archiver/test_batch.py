"""What a batch takes of each partition, and what its commit notes."""

import pytest
from hypothesis import given, strategies as st
from warren_archiver.bronze.batch import Batch, begins, next_batch, read
from warren_archiver.lake.gaps import Place

FIRST, SECOND, OTHER = ("warren.lag", 0), ("warren.lag", 1), ("warren.offsets", 0)
IDS = {"warren.lag": "a", "warren.offsets": "b"}
places = st.dictionaries(st.sampled_from([FIRST, SECOND, OTHER]), st.integers(0, 50))


def _last(ends: dict[Place, int]) -> Batch:
    return Batch(7, IDS, ends, ends)


def test_a_commit_notes_what_the_next_one_reads() -> None:
    batch = Batch(7, IDS, {FIRST: 1, SECOND: 2, OTHER: 3}, {FIRST: 4, SECOND: 2, OTHER: 9}, 9, 8)
    assert read(batch.text(), 9, 8) == batch
    assert batch.whole
    assert not Batch(7, IDS, batch.since, batch.ends, 8).whole
    of_lag = batch.of({"warren.lag": "a", "warren.offsets": "another"})
    assert (of_lag.ids, of_lag.ends) == ({"warren.lag": "a"}, {FIRST: 4, SECOND: 2})


def test_a_batch_of_no_topic_with_partitions_is_one() -> None:
    batch = Batch(7, IDS, {}, {})
    assert read(batch.text(), 0, 0) == batch


@pytest.mark.parametrize("text", [None, "", "somebody's", "{}", "[]", '{"topics": {"t": 1}}'])
def test_what_others_note_is_none(text: str | None) -> None:
    assert read(text, 0, 0) is None


@pytest.mark.parametrize(
    ("goal", "most", "ends"),
    [
        ({FIRST: 30, SECOND: 10}, 1000, {FIRST: 30, SECOND: 10}),
        ({FIRST: 40, SECOND: 15}, 20, {FIRST: 25, SECOND: 10}),  # three quarters, one quarter
        ({FIRST: 1010, SECOND: 6}, 10, {FIRST: 20, SECOND: 6}),  # the least is a record
        ({FIRST: 5, SECOND: 5}, 10, {FIRST: 10, SECOND: 5}),  # the end of an old leader
        ({}, 10, {FIRST: 10, SECOND: 5}),
    ],
)
def test_each_partition_has_its_share(
    goal: dict[Place, int], most: int, ends: dict[Place, int]
) -> None:
    last = _last({FIRST: 10, SECOND: 5})
    batch = next_batch(last, {}, {FIRST: 0, SECOND: 0}, goal, most)
    assert (batch.number, batch.since, batch.ends) == (8, last.ends, ends)


def test_what_goes_on_missing_is_looked_for_from_there() -> None:
    """And where the log begins later than the last batch ended, from that end."""
    last = _last({FIRST: 10, SECOND: 5})
    starts, goal = {FIRST: 0, SECOND: 8, OTHER: 3}, {FIRST: 12, SECOND: 9, OTHER: 4}
    batch = next_batch(last, {FIRST: 7}, starts, goal, 100)
    assert batch.since == {FIRST: 7, SECOND: 5, OTHER: 0}
    assert batch.ends == goal
    assert begins(last, starts) == {FIRST: 10, SECOND: 8, OTHER: 3}


@given(places, places, places, st.integers(1, 60))
def test_batches_end_at_the_goal_and_none_goes_back(
    ends: dict[Place, int], starts: dict[Place, int], goal: dict[Place, int], most: int
) -> None:
    batch = _last(ends)
    for _ in range(200):
        following = next_batch(batch, {}, starts, goal, most)
        if following.ends == batch.ends:
            break
        read_now = sum(following.ends[place] - at for place, at in begins(batch, starts).items())
        assert read_now <= most + len(starts)
        assert all(following.ends[place] >= end for place, end in batch.ends.items())
        batch = following
    assert all(batch.ends[place] >= max(goal.get(place, 0), at) for place, at in starts.items())
