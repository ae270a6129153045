"""What was gone before it was archived: told, counted, and no reason to stop.

Which gaps there are is test_gaps.py's; here a real broker makes them, in each of the ways it has.
"""

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from pyspark.errors import PySparkException
from pyspark.sql import (
    DataFrame,
    functions as F,  # noqa: N812  # Spark's own convention
)
from support.archive_lab import Archive, events_between
from support.other_readers import assert_others_find_the_same
from warren.errors import ClusterUnreachable
from warren.kafka.topics import HOME
from warren.metrics.archiver import ARCHIVER
from warren_archiver.bronze import bronze
from warren_archiver.bronze.batch import Batch, Offsets
from warren_archiver.bronze.bronze import Bronze
from warren_archiver.errors import ArchiveFailed
from warren_archiver.lake.lake import events
from warren_archiver.topics import topic_ids

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
        with pytest.raises(ClusterUnreachable):
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
        with pytest.raises(ClusterUnreachable):
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


WRITE = Bronze._write


def _on_a_full_disk(self: Bronze, *given: Any) -> Batch:
    with pytest.MonkeyPatch.context() as full:
        full.setattr(bronze, "events", _unwritable)
        return WRITE(self, *given)


def _unwritable(*args: object) -> DataFrame:
    key = F.raise_error(F.lit("no room")).cast("binary")
    return events(*args).withColumn("key", key)  # type: ignore[arg-type]


def _kill(*_: object) -> None:
    raise PySparkException("killed")


def test_a_topic_made_anew_is_archived_from_its_beginning_whoever_was_killed_meanwhile(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First nobody notices: the new one's rows are taken for the first one's. Then a batch fails,
    and what it had planned goes with its topic; whoever notices that is killed."""
    lab.send(events_between(0, 5))
    lab.once()
    ids = topic_ids(lab.admin, [lab.name])
    lab.make_anew()
    lab.send(events_between(100, 108))
    with monkeypatch.context() as unnoticed:
        unnoticed.setattr(bronze, "topic_ids", lambda *_: ids)
        lab.once()
    assert len(lab.rows()) == 8
    with monkeypatch.context() as full:
        full.setattr(Bronze, "_write", _on_a_full_disk)
        with pytest.raises(ArchiveFailed, match="no room"):
            lab.once()
    assert lab.values() == events_between(0, 5)
    lab.make_anew()
    lab.send(events_between(200, 230))
    with monkeypatch.context() as killed:
        killed.setattr(Bronze, "_write", _kill)
        with pytest.raises(ArchiveFailed):
            lab.once()
    for _ in range(2):
        lab.once()
    assert sorted(lab.values()) == sorted([*events_between(0, 5), *events_between(200, 230)])
    assert len({row["topic_id"] for row in lab.rows()}) == 2
    made_anew = [(0, 0), (0, 5), (1, 0), (1, 0)]
    assert lab.gaps() == [(*place, None, "topic_made_anew") for place in made_anew]
    found = lab.check()
    assert (found.archived, found.equal) == (30, True)
