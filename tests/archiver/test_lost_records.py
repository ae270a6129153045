"""What was gone before it was archived: told, counted, and no reason to stop."""

from __future__ import annotations

import pytest
from confluent_kafka import TopicPartition
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # Spark's own convention
from support.archive_events import NOW, lag_event
from support.archive_lab import Archive, events_between
from support.other_readers import assert_others_find_the_same
from warren.contracts.topics import LAG
from warren.errors import ClusterUnreachable
from warren.kafka.topics import HOME
from warren.metrics.archiver import ARCHIVER
from warren_archiver.errors import ArchiveFailed
from warren_archiver.lake.checkpoint import Checkpoint
from warren_archiver.lake.events import events
from warren_archiver.streaming import event_query, gap_recorder
from warren_archiver.streaming.gap_recorder import GapRecorder
from warren_archiver.topics import topic_ids

pytestmark = pytest.mark.timeout(900)


def test_a_topic_made_anew_is_archived_from_its_beginning(lab: Archive) -> None:
    """With more records than it had, then with fewer."""
    lab.send(events_between(0, 10))
    lab.once()
    for values in (more := events_between(100, 130), fewer := events_between(200, 205)):
        lab.make_anew()
        lab.send(values)
        lab.once()
        found = lab.check()
        assert found.equal, found.differences
        assert found.archived == len(values)
    assert sorted(lab.values()) == sorted([*events_between(0, 10), *more, *fewer])
    offsets = [row["offset"] for row in lab.rows()]
    assert sorted(offsets) == sorted([*range(10), *range(30), *range(5)])
    assert len({row["topic_id"] for row in lab.rows()}) == 3
    assert lab.gaps() == [
        (0, 10, None, "topic_made_anew"),
        (0, 30, None, "topic_made_anew"),
        (1, 0, None, "topic_made_anew"),
        (1, 0, None, "topic_made_anew"),
    ]


def test_what_retention_took_before_it_was_archived_is_told_and_the_rest_is_archived(
    lab: Archive,
) -> None:
    lost = _lost()
    lab.send(events_between(0, 5))
    lab.once()
    lab.send(events_between(5, 20))
    for deleted in lab.admin.delete_records([TopicPartition(lab.name, 0, 10)]).values():
        deleted.result()
    lab.once()
    assert lab.values() == [*events_between(0, 5), *events_between(10, 20)]
    found = lab.check()
    assert found.differences == ["partition 0: 5 gone before they were archived: 5-9"]
    assert (found.lost, found.equal) == (5, False)
    assert lab.gaps() == [(0, 5, 9, "retention")]
    assert _lost() - lost == 5
    assert assert_others_find_the_same(lab.spark, lab.lake.gaps) == 1


def test_records_that_compaction_took_before_they_were_archived_are_told(lab: Archive) -> None:
    """Of a topic as it was configured before: compaction may come at any time."""
    lab.topic = LAG
    values = [lag_event("g", NOW + at, "OK", 1).to_bytes() for at in range(400)]
    lab.send(values[:10])
    lab.once()
    assert lab.check().equal
    lost = _lost("lag")
    lab.compact(lab.name)
    lab.send(values[10:])
    lab.until_compacted(lab.name, below=400, kept=100)
    lab.once()
    archived = {int(row["offset"]) for row in lab.rows()}
    gone = set(range(max(archived))) - archived
    found = lab.check()
    assert gone
    assert (found.lost, found.missing, found.equal) == (len(gone), 0, False)
    recorded = lab.gaps()
    assert gone == {offset for gap in recorded for offset in range(gap[1], gap[2] + 1)}
    assert {cause for *_, cause in recorded} == {"compaction"}
    assert _lost("lag") - lost == len(gone)


def test_gaps_that_are_older_than_the_archive_are_no_loss(lab: Archive) -> None:
    lab.topic = LAG
    lab.compact(lab.name)
    lab.send([lag_event("g", NOW + at, "OK", 1).to_bytes() for at in range(400)])
    lab.until_compacted(lab.name, below=400, kept=100)
    lost = _lost("lag")
    lab.once(batch_records=50)
    assert {cause for *_, cause in lab.gaps()} == {"before_archive"}
    assert lab.check().equal
    assert _lost("lag") == lost


def test_gaps_are_told_though_kafka_does_not_say_where_logs_begin(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the first batch after a gap; once, though it is looked for whenever the query starts."""
    lab.send(events_between(0, 5))
    lab.once()
    lost = _lost()
    _lose(lab)
    with monkeypatch.context() as silent:
        silent.setattr(gap_recorder, "log_starts", _unreachable)
        with pytest.raises(ArchiveFailed):
            lab.once()
    assert lab.gaps() == []
    lab.once()
    lab.once()
    assert lab.gaps() == [(0, 5, 9, "retention")]
    assert _lost() - lost == 5


def test_gaps_are_told_though_the_archiver_was_killed_before_it_looked(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = _lost()
    with monkeypatch.context() as killed:
        killed.setattr(GapRecorder, "look", lambda *_: None)
        lab.send(events_between(0, 5))
        lab.once()
        _lose(lab)
        lab.once()
    lab.send(events_between(20, 25))
    lab.once()
    assert lab.gaps() == [(0, 5, 9, "retention")]
    lab.once()
    assert lab.gaps() == [(0, 5, 9, "retention")]
    assert _lost() - lost == 5


def test_a_topic_made_anew_is_told_once_though_the_archiver_was_killed(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.send(events_between(0, 5))
    lab.once()
    lab.make_anew()
    lab.send(events_between(5, 8))

    def kill(*_: object) -> None:
        raise PySparkException("killed")

    with monkeypatch.context() as killed:
        killed.setattr(Checkpoint, "forget", kill)
        with pytest.raises(PySparkException):
            lab.once()
    lab.once()
    assert lab.gaps() == [(0, 5, None, "topic_made_anew"), (1, 0, None, "topic_made_anew")]
    assert lab.check().equal


def test_what_a_failed_batch_had_planned_is_told_when_its_topic_is_made_anew(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.send(events_between(0, 5))
    lab.once()
    _fail_to_write(lab, events_between(5, 9), monkeypatch)
    lab.make_anew()
    lab.send(events_between(9, 12))
    lab.once()
    assert lab.gaps() == [(0, 5, None, "topic_made_anew"), (1, 0, None, "topic_made_anew")]
    found = lab.check()
    assert (found.archived, found.equal) == (3, True)


def test_what_is_in_the_table_is_no_gap_though_the_archiver_was_killed_before_it_noted_that(
    lab: Archive,
) -> None:
    lab.send(events_between(0, 5))
    lab.once()
    lab.send(events_between(5, 9))
    lab.once()
    lab.forget_last_batch()
    lab.make_anew()
    lab.send(events_between(9, 12))
    lab.once()
    assert lab.gaps() == [(0, 9, None, "topic_made_anew"), (1, 0, None, "topic_made_anew")]
    assert len(lab.rows()) == 12


def test_a_topic_that_is_made_anew_again_before_a_batch_had_it_is_told(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.send(events_between(0, 5))
    lab.once()
    for _ in range(2):
        lab.make_anew()
        _fail_to_write(lab, events_between(5, 9), monkeypatch)
    lab.make_anew()
    lab.once()
    made_anew = [(0, 0), (0, 0), (0, 5), (1, 0), (1, 0), (1, 0)]
    assert lab.gaps() == [(*place, None, "topic_made_anew") for place in made_anew]


@pytest.mark.parametrize("gone", [3, 5])
def test_what_retention_took_after_the_first_batch_of_all_had_failed_is_told(
    lab: Archive, monkeypatch: pytest.MonkeyPatch, gone: int
) -> None:
    """Some of what was planned, or all; it was there when the archive began."""
    lost = _lost()
    _fail_to_write(lab, events_between(0, 5), monkeypatch)
    _delete_below(lab, gone)
    for _ in range(2):
        lab.once()
        assert lab.gaps() == [(0, 0, gone - 1, "retention")]
    assert lab.values() == events_between(gone, 5)
    assert _lost() - lost == gone


def test_what_retention_took_at_the_end_of_a_quiet_partition_is_told_at_once(lab: Archive) -> None:
    lost = _lost()
    lab.send(events_between(0, 5))
    lab.once()
    lab.send(events_between(5, 10))
    _delete_below(lab, 10)
    for _ in range(2):
        lab.once()
        assert lab.gaps() == [(0, 5, 9, "retention")]
    lab.send(events_between(10, 12))
    lab.once()
    assert lab.gaps() == [(0, 5, 9, "retention")]
    assert _lost() - lost == 5


@pytest.mark.parametrize("made_anew", [False, True])
def test_what_is_missing_at_the_end_of_a_partition_is_remembered_over_restarts(
    lab: Archive, monkeypatch: pytest.MonkeyPatch, *, made_anew: bool
) -> None:
    """As compaction leaves it: Kafka does not say that the log begins after it."""
    lab.send(events_between(0, 5))
    lab.once()
    lab.send(events_between(5, 10))
    _delete_below(lab, 10)
    with monkeypatch.context() as unmoved:
        unmoved.setattr(gap_recorder, "log_starts", lambda *_: {0: 0, 1: 0})
        lab.once()
        for number in range(4):
            lab.send(events_between(number, number + 1), partition=1)
            lab.once()
    assert lab.gaps() == []
    if made_anew:
        lab.make_anew()
    lab.send(events_between(10, 12))
    told = [(0, 5, None, "topic_made_anew"), (1, 4, None, "topic_made_anew")]
    for _ in range(2):
        lab.once()
        assert lab.gaps() == (told if made_anew else [(0, 5, 9, "retention")])


def test_what_was_missing_at_the_end_of_a_topic_made_anew_is_told_though_nobody_had_looked(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.send(events_between(0, 5))
    lab.once()
    lab.send(events_between(5, 10))
    _delete_below(lab, 10)
    with monkeypatch.context() as killed:
        killed.setattr(GapRecorder, "look", lambda *_: None)
        lab.once()
    lab.make_anew()
    for _ in range(2):
        lab.once()
        assert lab.gaps() == [(0, 5, None, "topic_made_anew"), (1, 0, None, "topic_made_anew")]


def test_what_was_written_under_the_id_of_before_and_is_gone_before_it_is_written_again_is_told(
    lab: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A topic that is made anew again and again: the second one's rows are taken from the first,
    and cannot be read again."""
    lab.send(events_between(0, 5))
    lab.once()
    ids = topic_ids(lab.admin, [lab.name])
    lab.make_anew()
    lab.send(events_between(100, 108))
    with monkeypatch.context() as unnoticed:
        unnoticed.setattr(event_query, "topic_ids", lambda *_: ids)
        lab.once()
    assert len(lab.rows()) == 8
    _fail_to_write(lab, events_between(108, 109), monkeypatch)
    assert lab.values() == events_between(0, 5)
    lab.make_anew()
    lab.send(events_between(200, 203))
    lab.once()
    made_anew = [(0, 0), (0, 5), (1, 0), (1, 0)]
    assert lab.gaps() == [(*place, None, "topic_made_anew") for place in made_anew]
    assert len(lab.rows()) == 8


def _fail_to_write(lab: Archive, values: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of these is planned, and ends as where the disk is full."""

    def unwritable(*args: object) -> DataFrame:
        key = F.raise_error(F.lit("no room")).cast("binary")
        return events(*args).withColumn("key", key)  # type: ignore[arg-type]

    lab.send(list(values))
    with monkeypatch.context() as full:
        full.setattr(event_query, "events", unwritable)
        with pytest.raises(ArchiveFailed, match="writing rows"):
            lab.once()


def _lose(lab: Archive) -> None:
    """Offsets 5 to 9, before they are archived."""
    lab.send(events_between(5, 20))
    _delete_below(lab, 10)


def _delete_below(lab: Archive, offset: int) -> None:
    for deleted in lab.admin.delete_records([TopicPartition(lab.name, 0, offset)]).values():
        deleted.result()


def _unreachable(*_: object) -> dict[int, int]:
    raise ClusterUnreachable(HOME, "home.bootstrap", "no answer")


def _lost(topic: str = "offsets") -> float:
    return ARCHIVER.get_sample_value("warren_archiver_lost_records_total", {"topic": topic}) or 0
