"""What was gone before it was archived: told, counted, and no reason to stop.

Which gaps there are is test_gaps.py's; here a real broker makes them, in each of the ways it has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from support.archive_lab import Archive, events_between
from support.other_readers import assert_others_find_the_same
from warren.errors import ClusterUnreachable
from warren.kafka.topics import HOME
from warren.metrics.archiver import ARCHIVER
from warren_archiver.bronze.batch import Offsets
from warren_archiver.bronze.bronze import Bronze
from warren_archiver.errors import ArchiveFailed

pytestmark = pytest.mark.timeout(1800)


def test_what_retention_took_is_told_once_though_nobody_could_look(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = _lost()
    lab.send(events_between(0, 5))
    lab.once()
    _send_and_lose(lab, 5, kept=10)
    with monkeypatch.context() as silent:
        silent.setattr(Bronze, "_settle", _once(Bronze._settle))
        with pytest.raises(ArchiveFailed):
            lab.once()
    assert lab.gaps() == []
    lab.once()
    told = [(0, 5, 9, "retention")]
    assert lab.gaps() == told
    assert lab.values() == [*events_between(0, 5), *events_between(10, 15)]
    found = lab.check()
    assert found.differences == ["partition 0: 5 gone before they were archived: 5-9"]
    assert (found.lost, found.equal) == (5, False)
    with monkeypatch.context() as killed:
        killed.setattr(Bronze, "_settle", _once(Bronze._settle))
        _send_and_lose(lab, 15, kept=20)
        with pytest.raises(ArchiveFailed):
            lab.once()
    assert lab.gaps() == told
    # All of what a partition has got: it stays quiet.
    lab.send(events_between(25, 30))
    _delete_below(lab, 30)
    told += [(0, 15, 19, "retention"), (0, 25, 29, "retention")]
    for _ in range(2):
        lab.once()
        assert lab.gaps() == told
    assert _lost() - lost == 15
    assert assert_others_find_the_same(lab.spark, lab.lake.gaps) == 3


def _send_and_lose(lab: Archive, start: int, *, kept: int) -> None:
    """Offsets from `start` to `kept` are gone before they are archived; five are left."""
    lab.send(events_between(start, kept + 5))
    _delete_below(lab, kept)


def _delete_below(lab: Archive, offset: int) -> None:
    for deleted in lab.admin.delete_records([TopicPartition(lab.name, 0, offset)]).values():
        deleted.result()


def _once(settle: Callable[..., Offsets]) -> Callable[..., Offsets]:
    """Before a batch is written; nobody looks at what is missing in it."""
    looks = iter([settle])

    def look(*given: Any) -> Offsets:
        if (looked := next(looks, None)) is None:
            raise ClusterUnreachable(HOME, "home.bootstrap", "no answer")
        return looked(*given)

    return look


def _lost(topic: str = "offsets") -> float:
    return ARCHIVER.get_sample_value("warren_archiver_lost_records_total", {"topic": topic}) or 0
