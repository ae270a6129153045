import pytest
from api.served_api import status_change
from warren.contracts.group_key import group_key
from warren.errors import ContractViolation
from warren_api.model.status_history import StatusHistory

KEY = group_key("demo", "g")


def change(at: int, group: str = "g", **fields: object) -> bytes:
    return status_change(group, "ERR", at, **fields).to_bytes()


def history_of(*places: tuple[int, int], limit: int = 100) -> StatusHistory:
    history = StatusHistory(limit)
    for number, (partition, offset) in enumerate(places):
        history.take(partition, offset, change(1_000 + number), KEY)
    return history


def places(history: StatusHistory, positions: dict[int, int] | None) -> list[tuple[int, int]]:
    return [(each.partition, each.offset) for each in history.resume(positions).missed]


def test_the_oldest_go_and_a_record_is_taken_once() -> None:
    history = history_of((0, 0), (0, 1), (1, 0), (0, 1), limit=2)
    assert [(each.partition, each.offset) for each in history.changes()] == [(0, 1), (1, 0)]


@pytest.mark.parametrize("partitions", [0, 100])
def test_the_event_is_kept_as_it_was(partitions: int) -> None:
    bad = {"topic": "t", "status": "STOP", "lag": 1, "committed": 1, "log_end": 2}
    listed = [{**bad, "partition": number, "committed_at": 5} for number in range(partitions)]
    value = change(1_000, partitions=listed)
    history = StatusHistory(10)
    history.take(0, 0, value, KEY)
    (recorded,) = history.changes()
    assert recorded.value == value
    assert (recorded.at, recorded.change.status) == (1_000, "ERR")


def test_resuming_gives_what_was_missed_whatever_the_order_of_partitions() -> None:
    history = history_of((0, 4), (1, 7), (0, 5), (1, 8))
    assert places(history, {0: 5, 1: 8}) == [(0, 5), (1, 8)]
    assert places(history, {0: 6, 1: 9}) == []
    assert history.resume({0: 5, 1: 8}).is_complete
    other = history_of((1, 7), (1, 8), (0, 4), (0, 5))
    assert sorted(places(other, {0: 5, 1: 8})) == [(0, 5), (1, 8)], "another copy of the API"


@pytest.mark.parametrize(
    "positions",
    [
        pytest.param(None, id="unknown"),
        pytest.param({0: 0}, id="forgotten"),
        pytest.param({0: 99}, id="beyond the end: another topic"),
    ],
)
def test_it_says_when_something_is_missing(positions: dict[int, int] | None) -> None:
    history = history_of((0, 0), (0, 1), (0, 2), limit=2)
    assert history.resume({0: 1}).is_complete
    resumed = history.resume(positions)
    assert not resumed.is_complete
    assert resumed.positions == {0: 3}


def test_a_topic_that_was_made_anew_is_read_from_its_beginning() -> None:
    history = history_of((0, 7), (0, 8))
    history.begin_again({0: 1})
    history.take(0, 0, change(2_000), KEY)
    history.take(0, 1, change(2_001), KEY)
    assert len(history.changes()) == 4
    history.begin_again({0: 1})
    history.take(0, 1, change(2_001), KEY)
    assert len(history.changes()) == 4


def test_a_malformed_record_is_refused_and_counts_as_read() -> None:
    history = history_of((0, 0))
    with pytest.raises(ContractViolation):
        history.take(0, 1, b"{}", KEY)
    with pytest.raises(ContractViolation, match="key"):
        history.take(0, 2, change(1_002), group_key("demo", "other"))
    assert history.resume({0: 1}).positions == {0: 3}
    assert len(history.changes()) == 1


def test_listeners_are_told_until_they_stop() -> None:
    history = StatusHistory(10)
    told: list[int] = []
    stop = history.listen(lambda: told.append(1))
    history.take(0, 0, change(1_000), KEY)
    stop()
    history.take(0, 1, change(1_001), KEY)
    assert told == [1]


def test_what_came_after_a_number() -> None:
    history = history_of((0, 0), (0, 1), (0, 2))
    first, second, third = history.changes()
    assert history.after(first.sequence) == (second, third)
    assert history.after(third.sequence) == ()
