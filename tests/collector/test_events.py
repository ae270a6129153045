"""."""

import struct
from io import BytesIO
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import support.coordinator_records as encode
from hypothesis import given, strategies as st
from pydantic import ValidationError
from support.coordinator_batches import batch
from support.coordinator_records import string, varint
from support.recorded_positions import recorded_positions
from warren.contracts import OffsetEvent
from warren.settings import ClusterSettings, FilterSettings, Settings
from warren_collector.cluster.filters import ClusterFilters, NameFilter
from warren_collector.logs.ends import LogEnds, TopicLog
from warren_collector.positions.events import GroupEvents, Origin, group_events
from warren_collector.positions.index import Group
from warren_collector.positions.recorded import RecordedPositions
from warren_wire.committed_offsets import OffsetFetchPartitions

NOW = 1_795_244_400_123


def log(*ends: int) -> TopicLog:
    return TopicLog(start=np.zeros(len(ends), np.int64), end=np.array(ends, np.int64))


def positions_of(
    commits: dict[tuple[str, int], tuple[int, int]],
) -> tuple[RecordedPositions, Group]:
    """A group "g" with (topic, partition) → (offset, commit time)."""
    positions = recorded_positions()
    positions.fold(
        batch(
            [
                (encode.offset_key("g", topic, partition), encode.offset_value(offset, at))
                for (topic, partition), (offset, at) in commits.items()
            ]
        )
    )
    (group,) = positions.groups
    return positions, group


def build(
    positions: RecordedPositions, group: Group, ends: LogEnds, most: int = 5000
) -> GroupEvents:
    origin = Origin("prod", "offsets_topic", most)
    return group_events(group, positions.columns, ends, origin, 91822, NOW)


def publish(positions: RecordedPositions, built: GroupEvents) -> None:
    for rows, gone in built.gone:
        rows.gone = gone
    positions.published([built.group], built.rows, at=0.0)


def test_how_far_logs_are_stable_is_told_where_the_group_is_behind() -> None:
    positions, group = positions_of({("orders", 0): (5, 5000), ("orders", 1): (9, 5000)})
    ends, stable = np.array([9, 9, 9]), np.array([6, 6, 6])
    held = TopicLog(np.zeros(3, np.int64), ends, None, stable)
    first, second = build(positions, group, LogEnds({"orders": held}), most=2).events
    assert [e.topics["orders"].last_stable for e in (first, second)] == [[6, -1], [-1]]
    assert OffsetEvent.from_bytes(first.to_bytes()) == first
    nobody = TopicLog(np.zeros(3, np.int64), ends, None, np.full(3, -1))
    (event,) = build(positions, group, LogEnds({"orders": nobody})).events
    assert event.topics["orders"].last_stable is None
    assert b"last_stable" not in event.to_bytes()


def test_a_topic_of_which_nothing_is_known_shows_what_was_committed() -> None:
    positions, group = positions_of({("orders", 7): (5, 50)})
    (event,) = build(positions, group, LogEnds()).events
    columns = event.topics["orders"]
    assert (columns.partition, columns.committed) == ([7], [5])
    assert (columns.log_start, columns.log_end) == ([-1], [-1])


def test_a_negative_committed_offset_is_none() -> None:
    positions, group = positions_of({("orders", 0): (-1, 50), ("orders", 1): (-7, 50)})
    (event,) = build(positions, group, LogEnds({"orders": log(9, 9)})).events
    columns = event.topics["orders"]
    assert columns.committed == columns.committed_at == [-1, -1]
    assert columns.commits == [0, 0]


def test_a_missing_topic_is_removed_once() -> None:
    positions, group = positions_of({("old", 0): (1, 1), ("old", 1): (1, 1), ("orders", 0): (1, 1)})
    ends = LogEnds({"orders": log(9)}, missing=frozenset({"old"}))
    built = build(positions, group, ends)
    (event,) = built.events
    assert (event.removed, event.deleted) == ({"old": [0, 1]}, False)
    assert event.topics.keys() == {"orders"}
    publish(positions, built)
    (event,) = build(positions, group, ends).events
    assert event.removed == {}


def test_a_missing_topic_that_comes_back_is_listed_again() -> None:
    positions, group = positions_of({("orders", 0): (1, 1)})
    publish(positions, build(positions, group, LogEnds(missing=frozenset({"orders"}))))
    built = build(positions, group, LogEnds({"orders": log(9)}))
    assert built.events[0].topics["orders"].committed == [1]
    publish(positions, built)
    (event,) = build(positions, group, LogEnds(missing=frozenset({"orders"}))).events
    assert event.removed == {"orders": [0]}


def test_a_group_whose_topics_are_all_gone_is_deleted_and_then_silent() -> None:
    positions, group = positions_of({("old", 0): (1, 1)})
    ends = LogEnds(missing=frozenset({"old"}))
    built = build(positions, group, ends)
    assert (built.events[0].topics, built.events[0].deleted) == ({}, True)
    publish(positions, built)
    assert build(positions, group, ends).events == []


def test_partitions_beyond_a_recreated_topic_are_removed() -> None:
    positions, group = positions_of({("orders", 0): (1, 1), ("orders", 3): (1, 1)})
    built = build(positions, group, LogEnds({"orders": log(5, 5)}))
    (event,) = built.events
    assert event.topics["orders"].partition == [0, 1]
    assert event.removed == {"orders": [3]}
    publish(positions, built)
    assert build(positions, group, LogEnds({"orders": log(5, 5)})).events[0].removed == {}


def test_a_hostile_partition_number_costs_nothing() -> None:
    positions, group = positions_of({("orders", 2**31 - 1): (1, 1)})
    (event,) = build(positions, group, LogEnds({"orders": log(5)})).events
    assert event.topics["orders"].partition == [0]


def test_deletions_are_told() -> None:
    positions, group = positions_of({("orders", 0): (1, 1), ("orders", 1): (1, 1)})
    positions.fold(batch([(encode.offset_key("g", "orders", 1), None)]))
    built = build(positions, group, LogEnds({"orders": log(5, 5)}))
    (event,) = built.events
    assert (event.removed, event.deleted) == ({"orders": [1]}, False)
    assert event.topics["orders"].committed == [1, -1]
    publish(positions, built)
    positions.fold(batch([(encode.offset_key("g", "orders", 0), None)]))
    (event,) = build(positions, group, LogEnds({"orders": log(5, 5)})).events
    assert (event.topics, event.removed, event.deleted) == ({}, {"orders": [0]}, True)


SIZES = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 12), min_size=1, max_size=6)


@given(SIZES, st.integers(1, 10))
def test_big_groups_are_split(sizes: dict[str, int], most: int) -> None:
    positions, group = positions_of(
        {(topic, p): (p, p + 1) for topic, size in sizes.items() for p in range(size)}
    )
    ends = LogEnds({topic: log(*range(size)) for topic, size in sizes.items()})
    events = build(positions, group, ends, most).events
    seen: dict[str, list[int]] = {topic: [] for topic in sizes}
    for event in events:
        assert OffsetEvent.from_bytes(event.to_bytes()) == event
        assert 0 < sum(len(columns.partition) for columns in event.topics.values()) <= most
        for topic, columns in event.topics.items():
            seen[topic] += columns.partition
            assert columns.committed == columns.partition == columns.log_end
    assert seen == {topic: list(range(size)) for topic, size in sizes.items()}
    assert [event.observed_at for event in events] == [NOW + n for n in range(len(events))]
    count = len(events)
    assert [(event.part, event.parts) for event in events] == [(n, count) for n in range(count)]
    for before, after in pairwise(events):
        both = [*before.topics.values(), *after.topics.values()]
        assert sum(len(columns.partition) for columns in both) > most


def row(partition: int, offset: int, metadata: str | None = "", error: int = 0) -> bytes:
    return (
        struct.pack(">iqi", partition, offset, 4)
        + string(metadata, compact=True)
        + struct.pack(">h", error)
        + varint(0)
    )


def decode(*rows: bytes, after: bytes = b"") -> tuple[list[int], list[int], bytes]:
    data = BytesIO(varint(len(rows) + 1) + b"".join(rows) + after)
    decoded = OffsetFetchPartitions.decode(data)
    return decoded.partition.tolist(), decoded.offset.tolist(), data.read()


@pytest.mark.parametrize("metadata", ["", "m"])
def test_refused_partitions_and_those_without_an_offset_are_left_out(metadata: str) -> None:
    rows = [row(0, -1, metadata), row(1, 6, metadata, error=3), row(2, 8, metadata)]
    assert decode(*rows) == ([2], [8], b"")


def test_bytes_that_end_too_early_are_an_error() -> None:
    with pytest.raises(ValueError, match="hit error"):
        OffsetFetchPartitions.decode(BytesIO(varint(3) + row(0, 5) + row(1, 6)[:-9]))


@pytest.mark.parametrize(
    ("allow", "deny", "group", "accepted"),
    [
        ([], [], "", True),
        (["a"], [], "cab", True),
        (["^a"], [], "cab", False),
        (["x", "b$"], [], "cab", True),
        ([], ["a"], "cab", False),
        (["c"], ["^cab$"], "cab", False),
        (["c"], ["^cab$"], "cabs", True),
    ],
)
def test_accepts(allow: list[str], deny: list[str], group: str, accepted: bool) -> None:
    assert NameFilter(allow, deny).accepts(group) is accepted


def settings(everywhere: dict[str, Any], prod: dict[str, Any]) -> Settings:
    return Settings(
        filters=FilterSettings(**everywhere),
        clusters={
            "prod": ClusterSettings(bootstrap="p:1", **prod),
            "test": ClusterSettings(bootstrap="t:1"),
        },
    )


def test_a_cluster_has_its_own_lists_and_those_of_all() -> None:
    given = settings(
        {"groups_deny": ["^tmp-"], "topics_allow": ["orders", "returns"]},
        {"groups_allow": ["billing"], "topics_deny": ["returns"]},
    )
    prod, test = ClusterFilters(given, "prod"), ClusterFilters(given, "test")
    groups = ["billing", "tmp-billing", "shipping", "warren-billing"]
    assert [prod.accepts_group(group) for group in groups] == [True, False, False, False]
    assert [test.accepts_group(group) for group in groups] == [True, False, True, False]
    topics = ["orders", "returns", "payments"]
    assert [prod.accepts_topic(topic) for topic in topics] == [True, False, False]
    assert [test.accepts_topic(topic) for topic in topics] == [True, True, False]


def test_own_groups_are_hidden_whatever_the_name_unless_a_list_is_given() -> None:
    named = Settings.model_validate(
        {
            "home": {"instance": "eye"},
            "notifier": {"group_id": "told"},
            "clusters": {
                "prod": {"bootstrap": "p:1"},
                "test": {"bootstrap": "t:1", "groups_deny": ["^told$"]},
                "both": {"bootstrap": "b:1", "groups_deny": ["^orders", "^warren-"]},
            },
        }
    )
    prod, test, both = (ClusterFilters(named, name) for name in ("prod", "test", "both"))
    stranger = "other-collector-MkU3OEVBNTcwNTJENDM2Qg"
    groups = ["eye-evaluator", "told", stranger, "warren-1a2b3c-notifier", "orders-collector"]
    assert [prod.accepts_group(group) for group in groups] == [False, False, False, False, True]
    assert [test.accepts_group(group) for group in groups] == [True, False, True, True, True]
    assert [both.accepts_group(group) for group in groups] == [False, False, True, False, False]


def test_filters_can_be_replaced() -> None:
    filters = ClusterFilters(settings({}, {}), "prod")
    accepts = filters.accepts_group, filters.accepts_topic
    assert [accept("a") for accept in accepts] == [True, True]
    filters.replace(settings({"groups_deny": ["a"]}, {"topics_deny": ["a"]}))
    assert [accept("a") for accept in accepts] == [False, False]


@pytest.mark.parametrize("name", ["groups_allow", "groups_deny", "topics_allow", "topics_deny"])
def test_a_bad_expression_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match=r"'\[' is no regular expression"):
        settings({name: ["["]}, {})
    with pytest.raises(ValidationError, match=r"'\[' is no regular expression"):
        settings({}, {name: ["["]})
