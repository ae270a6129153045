from confluent_kafka import Message
from warren_api.home.feed import NewestChanges


def record(partition: int, offset: int, at: int) -> Message:
    return Message(topic="t", partition=partition, offset=offset, timestamp=(1, at), value=b"")


def test_only_the_newest_of_all_partitions_are_kept_in_order() -> None:
    changes = NewestChanges(limit=3)
    changes.add(record(0, offset, 10 + offset) for offset in range(50))
    changes.add(record(1, offset, 58 + offset) for offset in range(2))
    kept = [(each.partition(), each.offset()) for each in changes.in_order()]
    assert kept == [(1, 0), (0, 49), (1, 1)]
    assert changes.newest_offsets == {0: 49, 1: 1}


def test_a_clock_that_went_back_does_not_reorder_a_partition() -> None:
    changes = NewestChanges(limit=10)
    changes.add([record(0, 0, 100), record(0, 1, 50), record(1, 0, 90)])
    kept = [(each.partition(), each.offset()) for each in changes.in_order()]
    assert kept == [(1, 0), (0, 0), (0, 1)]
