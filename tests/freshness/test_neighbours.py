import pytest
from support.record_batches import (
    CODECS,
    batch,
    interleaved_transactions,
)
from warren_freshness.reading.neighbours import neighbours

TEN = {offset: 1000 + offset for offset in range(10)}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("offset", [0, 1, 7, 9])
def test_the_record_at_the_offset_and_the_one_before(codec: str, offset: int) -> None:
    found = neighbours(batch(TEN, codec=codec), 0, offset, [])
    assert found.first == 1000 + offset
    assert found.before == (None if offset == 0 else 999 + offset)


def test_the_first_record_after_an_offset_that_compaction_removed() -> None:
    log = batch({0: 1000, 1: 1001}, next_offset=5) + batch({8: 1008})
    found = neighbours(log, 0, 3, [])
    assert (found.before, found.first) == (1001, 1008)


def test_the_search_goes_on_after_a_batch_whose_last_records_were_compacted_away() -> None:
    found = neighbours(batch({0: 1000, 1: 1001}, next_offset=5), 0, 3, [])
    assert (found.before, found.first, found.next_offset) == (1001, None, 5)


def test_aborted_records_are_not_records() -> None:
    log = interleaved_transactions()
    aborted = [(7, 0)]
    assert neighbours(log, 0, 0, aborted).first == 1001
    found = neighbours(log, 0, 3, aborted)
    assert (found.before, found.first) == (1002, 1004)
