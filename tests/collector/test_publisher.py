import pytest
import support.coordinator_records as encode
from collector.played_bus import AWAY, PlayedBus
from support.coordinator_batches import batch
from support.manual_clock import ManualClock
from support.recorded_positions import recorded_positions
from warren.contracts import DeadLetter, OffsetEvent
from warren.errors import PublishFailed, RecordTooLarge
from warren_collector.cluster.publisher import LEAST_BYTES, Publisher


def event(observed_at: int) -> OffsetEvent:
    return OffsetEvent(
        cluster="c", group="g|1", source="offsets_topic", observed_at=observed_at, position=1
    )


def make() -> tuple[Publisher, PlayedBus, ManualClock]:
    bus, clock = PlayedBus(), ManualClock(1000)
    return Publisher(bus, "warren.", "__consumer_offsets", clock), bus, clock


def test_time_grows_whatever_the_clock_says() -> None:
    publisher, _, clock = make()
    assert publisher.observe() == 1000
    publisher.publish([event(1000), event(1001), event(1002)])
    assert publisher.observe() == 1003
    clock.advance(10)
    assert publisher.observe() == 11000


def test_malformed_records_are_dead_letters_until_acknowledged() -> None:
    publisher, bus, _ = make()
    key = encode.offset_key("g", "orders", 0)
    records = batch([(key, b"\0\3\0"), (None, b"x")], partition=7, first_offset=40)
    publisher.bury(records, recorded_positions().fold(records))
    bus.problem = AWAY
    with pytest.raises(PublishFailed):
        publisher.publish([])
    assert publisher.waiting == 2
    bus.problem = None
    assert publisher.publish([]) == 2
    assert publisher.waiting == 0
    letters = {sent_key: DeadLetter.from_bytes(value) for _, sent_key, value in bus.acknowledged}
    assert letters.keys() == {key, None}
    assert letters[key] == DeadLetter.model_validate(
        {
            "service": "collector",
            "topic": "__consumer_offsets",
            "partition": 7,
            "offset": letters[key].offset,
            "reason": "value.offset: 8 bytes needed, 1 left (at byte 2)",
            "failed_at": 1000,
            "key": letters[key].model_dump(mode="json")["key"],
            "value": letters[key].model_dump(mode="json")["value"],
            "key_size": len(key),
            "value_size": 3,
        }
    )
    assert (letters[key].key, letters[key].value, letters[key].offset) == (key, b"\0\3\0", 40)
    assert (letters[None].key, letters[None].value, letters[None].offset) == (None, b"x", 41)


def test_what_only_rebuilds_state_is_not_buried_again() -> None:
    publisher, _, _ = make()
    records = batch([(b"", b""), (b"", b"")], counted=[False, True])
    publisher.bury(records, recorded_positions().fold(records))
    assert publisher.waiting == 1


def test_dead_letters_are_shorter_after_they_were_too_large() -> None:
    publisher, bus, _ = make()
    records = batch([(b"\0", b"x" * 3_000_000)])
    publisher.bury(records, recorded_positions().fold(records))
    sizes = []
    for _ in range(8):
        bus.problem = RecordTooLarge("home", "home", "too large")
        with pytest.raises(RecordTooLarge):
            publisher.publish([event(1)])
        sizes.append(max(len(value or b"") for *_, value in bus.refused))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < LEAST_BYTES
    bus.problem = None
    assert publisher.publish([]) == 1
    letter = DeadLetter.from_bytes(bus.acknowledged[-1][2])
    assert (letter.cut, letter.value_size) == (True, 3_000_000)
