"""What is kept of how late a group is."""

import json

from pydantic_core import to_json
from support.freshness_events import WELL, freshness_event, late
from support.offset_events import NOW
from warren.contracts import OpenTransaction
from warren_core.judgement.lateness import MOST_PARTITIONS, from_fields, lateness_of

HELD_UP = OpenTransaction(topic="orders", partition=3, first_offset=120, since=NOW, hanging=True)


def test_a_lateness_comes_back_from_its_fields_as_it_was() -> None:
    event = freshness_event(
        5000,
        WELL,
        late(70_000, time_to_loss_ms=900, time_to_loss_reason="retention_ms", retention_left=0.2),
        late(None, reason="expired", bound_ms=4, lost_records=3),
        late(9000, reason="open_transaction", bound_ms=9000),
        late(0, reason="control_only", committed=7),
        open_transactions=[HELD_UP],
    )
    known = lateness_of(event)
    assert from_fields(json.loads(to_json(known))) == known
    assert (known.measured_at, known.late_ms, known.time_to_loss_ms) == (NOW + 5000, 70_000, 900)
    assert [row.partition for row in known.worst_first] == [2, 1, 3]
    assert [row.lost_records for row in known.worst_first] == [3, 0, 0]
    assert known.nothing_left == (("orders", 4, 7),)
    assert known.held_up == (HELD_UP,)


def test_it_takes_no_more_room_for_a_huge_group() -> None:
    huge = [late(1000 + n, time_to_loss_ms=10**9) for n in range(5000)]
    known = lateness_of(freshness_event(0, *huge))
    assert len(known.worst_first) == MOST_PARTITIONS
    assert known.worst_first[0].freshness_ms == 5999
    assert len(to_json(known)) < 4096
