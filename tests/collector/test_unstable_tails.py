from collections.abc import Mapping

import numpy as np
import pytest
from collector.test_transactions import written
from support.manual_clock import ManualClock
from support.record_batches import marker
from warren.errors import ClusterUnreachable
from warren_collector.sources import unstable_tails
from warren_collector.sources.source import Batch, SourcePartitions, assigned
from warren_collector.sources.unstable_tails import Fetched, UnstableTails
from warren_wire.record_batches import decoded_batches

NUMBER = 3


class PlayedLog:
    """A partition's log in place of the reader. `most`: batches in one response."""

    def __init__(self) -> None:
        self.batches: list[bytes] = []
        self.stable_end = 0
        self.most = 100
        self.failure: ClusterUnreachable | None = None
        self.is_gone = False
        self.requested = 0

    @property
    def end(self) -> int:
        return max((b.next_offset for b in decoded_batches(b"".join(self.batches))), default=0)

    def fetch(self, offsets: Mapping[int, int]) -> dict[int, Fetched]:
        self.requested += 1
        if self.failure is not None:
            raise self.failure
        batches = [
            batch
            for batch in decoded_batches(b"".join(self.batches))
            if batch.next_offset > offsets[NUMBER]
        ]
        return {NUMBER: Fetched(self.end, self.stable_end, batches[: self.most], self.is_gone)}


class Bench:
    """One owned partition that librdkafka has read up to offset 2, where a transaction begins."""

    def __init__(self, count_from: int = 0) -> None:
        self.log = PlayedLog()
        self.clock = ManualClock()
        self.partitions = SourcePartitions()
        self.partition = assigned(NUMBER, count_from, end=2)
        self.partitions.add(self.partition)
        self.partition.reach_end(2)
        self.partition.waits_at = 2
        self.tails = UnstableTails(
            self.partitions,
            self.log,  # type: ignore[arg-type]  # all that is used
            lambda _: self.log.end,
            self.clock,
        )

    def append(self, *batches: bytes, stable_end: int) -> None:
        self.log.batches += batches
        self.log.stable_end = stable_end

    def look(self) -> list[int]:
        batch = self.look_at_batch()
        return [] if batch is None else batch.offsets.tolist()

    def look_at_batch(self) -> Batch | None:
        self.clock.advance(unstable_tails.LOOK_EVERY)
        return self.tails.look()

    def news(self, *offsets: int) -> list[int]:
        """Which records are handed on of those that librdkafka delivers."""
        column = np.array(offsets, np.int64)
        news = self.tails.news(np.full(len(offsets), NUMBER, np.int32), column)
        return list(offsets) if news is None else column[news].tolist()


@pytest.fixture
def at() -> Bench:
    bench = Bench()
    bench.append(written(2, [b"a"], producer=7), written(3, [b"b", b"c"]), stable_end=2)
    return bench


def test_a_partition_is_read_on_after_two_looks(at: Bench) -> None:
    assert (at.look(), at.log.requested) == ([], 0)
    assert at.look() == [3, 4]
    assert (at.partition.position, at.partition.open_from, at.tails.pending) == (5, 2, 1)
    at.append(written(5, [b"d"]), stable_end=2)
    assert at.look() == [5]


def test_a_log_that_only_goes_on_is_left_to_librdkafka(at: Bench) -> None:
    at.log.stable_end = 5
    assert (at.look(), at.look()) == ([], [])
    assert NUMBER not in at.tails
    assert at.news(2, 3, 4) == [2, 3, 4]


def test_what_was_read_here_is_not_handed_on_again(at: Bench) -> None:
    at.look(), at.look()
    at.append(marker(5, 7, commit=True), stable_end=6)
    assert at.look() == [2]
    assert (at.partition.position, at.partition.open_from) == (6, None)
    assert at.news(2, 3) == []
    assert NUMBER in at.tails
    at.append(written(6, [b"e"]), stable_end=7)
    assert at.look() == []  # librdkafka goes on alone
    assert at.news(4, 6) == [6]
    assert NUMBER not in at.tails


def test_the_end_that_librdkafka_sees_hands_over_too(at: Bench) -> None:
    at.look(), at.look()
    at.append(marker(5, 7, commit=False), stable_end=6)
    assert at.look() == []
    at.tails.delivered(NUMBER, 6)
    assert NUMBER not in at.tails


def test_what_librdkafka_has_seen_already_is_read_before_it_goes_on_alone(at: Bench) -> None:
    at.look(), at.look()
    at.append(marker(5, 7, commit=True), stable_end=6)
    assert at.news(2, 3, 4, 6) == []
    assert at.look() == [2]
    assert NUMBER in at.tails
    at.append(written(6, [b"e"]), stable_end=7)
    assert at.look() == [6]
    assert NUMBER not in at.tails


def test_a_record_counts_by_its_marker() -> None:
    bench = Bench(count_from=5)
    bench.append(written(2, [b"a"], producer=7), written(3, [b"b", b"c"]), stable_end=2)
    bench.partitions.add(partition := assigned(NUMBER, 5, end=5, open_from=2))
    bench.tails.begin(NUMBER, 2, delivered=0)
    assert (bench.look(), bench.log.requested) == ([], 0)  # what is before comes first
    assert bench.news(0, 1, 2) == [0, 1]
    rebuilt = bench.look_at_batch()
    assert rebuilt is not None
    assert rebuilt.counted is not None
    assert (rebuilt.offsets.tolist(), rebuilt.counted.tolist()) == ([3, 4], [False, False])
    assert partition.is_live
    bench.append(marker(5, 7, commit=True), stable_end=6)
    decided = bench.look_at_batch()
    assert decided is not None
    assert decided.counted is not None
    assert (decided.offsets.tolist(), decided.counted.tolist()) == ([2], [True])


def test_a_long_tail_is_read_in_parts(at: Bench) -> None:
    at.append(*(written(offset, [b"x"]) for offset in range(5, 9)), stable_end=2)
    at.log.most = 2
    at.look()
    assert (at.look(), at.tails.has_more) == ([3, 4], True)
    assert at.tails.look() is not None  # at once
    assert (at.look(), at.tails.has_more) == ([7, 8], False)
    assert at.tails.look() is None


def test_a_leader_that_does_not_answer_is_told_and_asked_again(at: Bench) -> None:
    at.look(), at.look()
    at.log.failure = ClusterUnreachable("prod", "clusters.prod.bootstrap", "nobody")
    assert at.look() == []
    assert at.tails.problem is at.log.failure
    requested, at.log.failure = at.log.requested, None
    at.append(written(5, [b"d"]), stable_end=2)
    assert (at.look(), at.log.requested) == ([], requested)  # not so soon
    at.clock.advance(unstable_tails.LOOK_AGAIN_AFTER)
    assert at.look() == [5]
    assert at.tails.problem is None


def test_a_log_that_was_created_anew_is_left_to_librdkafka(at: Bench) -> None:
    at.look(), at.look()
    at.log.is_gone = True
    assert at.look() == []
    assert NUMBER not in at.tails
    assert at.partition.open_from is None


def test_a_partition_of_others_is_not_read(at: Bench) -> None:
    at.look(), at.look()
    at.partitions.remove(NUMBER)
    at.tails.end([NUMBER])
    at.append(written(5, [b"d"]), stable_end=2)
    assert (at.look(), at.look()) == ([], [])
