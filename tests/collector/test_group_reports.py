"""What is published about groups: news once, every way in which groups end, and no bad bytes."""

import pytest
import support.coordinator_records as encode
from confluent_kafka import KafkaError, KafkaException
from hypothesis import given, settings, strategies as st
from support.group_bench import (
    ORDERS,
    ConsumerGroup,
    GroupBench,
    Record,
    classic,
    commit,
    owned,
    uncommit,
)
from support.kafka_schemas import GroupWriter
from warren.contracts import GroupEvent
from warren_collector.groups import reports
from warren_collector.groups.families import LIVED_MS, Families, family
from warren_collector.groups.live.groups import News
from warren_wire.records import Malformed


def test_an_upgrade_is_no_end(at: GroupBench, billing: ConsumerGroup) -> None:
    at.fold(classic("billing", 7, "m-1"), commit("billing"))
    assert at.only().protocol == "classic"
    upgraded = [billing.epoch(8), billing.member("m-1"), billing.target(8)]
    at.fold((encode.group_key("billing"), None), *upgraded, billing.current("m-1", 8))
    event = at.only()
    assert (event.protocol, event.generation, event.rebalances) == ("consumer", 8, 1)
    at.fold(*billing.leaves("m-1"), *billing.ends(), classic("billing", 9, "m-1"))
    event = at.only()  # and back
    assert (event.protocol, event.generation, event.rebalances) == ("classic", 9, 2)


def test_an_upgrade_of_which_only_the_tombstone_was_read_is_no_end_either(
    at: GroupBench, billing: ConsumerGroup
) -> None:
    at.fold(classic("billing", 7, "m-1"))
    at.look()
    at.fold((encode.group_key("billing"), None))
    assert at.look() == {}
    assert at.reports.awaits_ends
    at.fold(billing.epoch(8))
    assert at.only().protocol == "consumer"
    assert not at.reports.awaits_ends


def test_a_deleted_group_is_gone_once_nothing_is_left(
    at: GroupBench, billing: ConsumerGroup
) -> None:
    at.fold(billing.epoch(1), billing.member("m"), commit("billing"))
    at.look()
    at.fold(uncommit("billing"))
    assert at.look() == {}  # it has members still
    at.fold(*billing.leaves("m"), *billing.ends())
    at.look()
    assert at.look() == {"billing": None}
    assert len(at.states) == 0
    at.fold(billing.epoch(1))
    assert at.only().rebalances == 1


def test_what_is_published_only_once_and_what_failed_again(
    at: GroupBench, billing: ConsumerGroup
) -> None:
    at.fold(billing.epoch(1))
    assert len(at.due()) == 1
    assert len(at.due()) == 1  # the first was not acknowledged
    assert len(at.look()) == 1
    assert at.look() == {}
    at.fold(billing.epoch(1))
    assert at.look() == {}
    at.coordinator.news = News(frozenset({"billing", "nobody"}), frozenset())
    assert at.look() == {}  # nothing is new


def test_others_complete_the_event(at: GroupBench, billing: ConsumerGroup) -> None:
    at.coordinator.adds = {"coordinator": 1}
    at.fold(billing.epoch(1))
    assert at.only().coordinator == 1
    at.coordinator.adds = {"coordinator": 2}
    assert at.look() == {}
    at.coordinator.news = News(frozenset({"billing"}), frozenset())
    assert at.only().coordinator == 2


def test_the_state_is_known_where_members_are(at: GroupBench) -> None:
    """What was recorded last is newer than what a coordinator has answered."""

    def state() -> str | None:
        return at.reports.state_of((0, "billing"), at.positions.columns)

    assert state() is None
    at.fold(commit("billing"))
    at.look()
    assert state() is None  # it may assign partitions to itself
    at.fold(classic("billing", 1, "m"))
    at.look()
    assert state() == "Stable"
    at.coordinator.adds = {"state": "PreparingRebalance"}
    at.coordinator.news = News(frozenset({"billing"}), frozenset())
    at.look()
    assert state() == "PreparingRebalance"
    at.coordinator.adds = {"state": "Stable"}
    at.fold(classic("billing", 2))
    at.look()
    assert state() == "Empty"
    at.coordinator.adds = {"state": "Empty"}
    at.fold(classic("billing", 2, "m"))
    at.look()
    assert state() == "Stable"
    at.fold(classic("billing", 2))
    at.look()
    at.fold(classic("billing", 3, "m"), commit("billing"), classic("billing", 4))
    at.look()
    assert state() is None  # somebody came, committed and went
    at.look()
    assert state() == "Empty"
    at.fold(commit("billing"), classic("billing", 5, "m"))
    at.look()
    assert state() == "Empty"  # when it committed: an operator reset it before somebody came
    at.look()
    assert state() == "Stable"
    at.reports.release([0])
    assert state() is None


def test_a_group_that_is_too_big_for_a_record_loses_detail(
    at: GroupBench, billing: ConsumerGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = [f"topic-{number:04}" for number in range(500)]
    at.fold(billing.epoch(1), billing.member("m", subscribed_topic_names=wide))
    at.fold(billing.current("m", 1, owned(ORDERS, *range(500))))
    whole = at.due()[0].event
    assert whole is not None
    for most, subscriptions, partitions in ((5000, 0, 500), (1000, 0, 0)):
        monkeypatch.setattr(reports, "MOST_BYTES", most)
        event = at.due()[0].event
        assert event is not None
        (member,) = event.members
        assert len(member.subscription) == subscriptions
        assert len(member.assignment.get("orders", [])) == partitions
        assert len(event.to_bytes()) <= most < len(whole.to_bytes())
        assert GroupEvent.from_bytes(event.to_bytes()) == event


def test_what_only_rebuilds_state_is_not_told_as_an_end(at: GroupBench) -> None:
    at.fold(classic("old", 1), (encode.group_key("old"), None), counted=False)
    at.fold((encode.group_key("older"), None), counted=False)
    assert at.look() == at.look() == {}
    at.fold((encode.group_key("meanwhile"), None))
    assert at.look() == {"meanwhile": None}


def test_denied_groups_are_not_told(at: GroupBench, writer: GroupWriter) -> None:
    at.fold(classic("denied-1", 1), *[ConsumerGroup(writer, "denied-2").epoch(1)])
    at.fold((encode.group_key("denied-1"), None))
    assert at.look() == {}


def test_released_partitions_are_forgotten(at: GroupBench, billing: ConsumerGroup) -> None:
    at.fold(billing.epoch(1), classic("other", 1))
    at.look()
    at.fold(billing.epoch(2))
    at.positions.release([0])
    at.reports.release([0])
    assert at.look() == {}
    assert len(at.states) == len(at.reports) == 0
    at.fold(billing.epoch(2), counted=False)
    assert at.only().rebalances == 0


def test_malformed_records_are_found_and_change_nothing(
    at: GroupBench, billing: ConsumerGroup
) -> None:
    key, value = billing.epoch(1)
    assert value is not None
    at.fold((key, value), billing.member("m"))
    at.look()
    at.fold((key, value[:4]), (billing.member("n")[0], b"\0"))
    assert at.look() == {}
    problems = [rejected.problem for rejected in at.rejected]
    assert [p.field for p in problems if isinstance(p, Malformed)] == [
        "value.epoch",
        "value.version",
    ]
    assert [rejected.stored.offset for rejected in at.rejected] == [2, 3]
    folded = at.fold((key[:-1], value))
    assert [malformed.field for _, malformed in folded.rejected] == ["key.group"]


def test_tags_of_later_versions_are_read_over(at: GroupBench, writer: GroupWriter) -> None:
    schema = writer.schemas["ConsumerGroupMetadataValue"]
    value = schema.encoded(schema.filled({"epoch": 4}), 0, more_tags=b"new")
    at.fold((encode.part_key(3, "billing"), value))
    assert at.only().generation == 4


KEYS = st.sampled_from(
    [encode.group_key("a"), encode.group_key("b"), encode.offset_key("a", "orders", 0)]
    + [encode.part_key(version, "a") for version in (3, 4, 6, 9, 11, 12, 15, 17, 20, 23, 24)]
    + [encode.part_key(version, "a", "m") for version in (5, 7, 8, 10, 13, 14, 16, 19, 21, 22)]
)
BYTES = st.binary(max_size=40).map(lambda content: b"\0\0" + content) | st.binary(max_size=8)


@settings(deadline=None)
@given(st.lists(st.lists(st.tuples(KEYS, BYTES | st.none()), max_size=12), max_size=4))
def test_whatever_the_bytes_there_is_one_state_per_group(looks: list[list[Record]]) -> None:
    bench = GroupBench()
    published: dict[str, GroupEvent | None] = {}
    for records in looks:
        bench.fold(*records)
        published |= bench.look()
    published |= bench.look()
    for answer in bench.answers.values():
        answer.set_exception(KafkaException(KafkaError(KafkaError._TIMED_OUT)))
    published |= bench.look()
    for name in ("a", "b"):
        records = bench.states.get(0, name)
        position = bench.positions.groups.get(0, name)
        has_head = records is not None and records.head() is not None
        has_positions = position is not None and not position.is_empty
        assert (published.get(name) is not None) == (has_head or has_positions)
    assert bench.look() == {}


# Families: which names are generated, and what is told of groups that were left behind.


@pytest.mark.parametrize(
    ("name", "alike"),
    [
        ("adhoc_4611686018427387904", "adhoc_*"),
        ("console-consumer-40187", "console-consumer-*"),
        ("preview-3f2a9c1e-77aa-4b1c-9d0e-1234567890ab", "preview-*"),
        ("etl-7d9f8b6c5d-x2x4z", "etl-*-x2x4z"),
        ("shop-a8Kd92LsQ0", "shop-*"),
        ("prod-billing01", None),
        ("payments-sha256", None),
        ("billing", None),
        ("orders-eu-west-1", None),
        ("deadbeef", None),
    ],
)
def test_what_is_generated_of_a_name(name: str, alike: str | None) -> None:
    assert family(name) == alike


def test_who_was_there_before_or_for_an_hour_is_in_no_family() -> None:
    families = Families()
    places = [(0, f"q-{number}000") for number in range(4)]
    for at, place in enumerate(places[1:]):
        families.came(place, at)
    left = [families.follow(place, LIVED_MS + 1, is_left=True) for place in places]
    assert left == [None, None, None, (0, 0)]
    families.forget(places[3])
    assert families.follow(places[3], LIVED_MS, is_left=True) is None


def test_those_that_are_left_are_counted(at: GroupBench) -> None:
    newest: dict[str, tuple[int | None, int | None]] = {}

    def look() -> None:
        events = {name: event for name, event in at.look().items() if event is not None}
        newest.update({n: (each.left_before, each.left_after) for n, each in events.items()})

    for number in range(5):
        name = f"q-{number}000"
        at.fold(classic(name, 1, "m"), commit(name), classic(name, 2))
        look()
    look()
    assert list(newest.values()) == [(0, 4), (1, 3), (2, 2), (3, 0), (4, 0)]
    at.fold(classic("q-1000", 3, "m"), classic("billing", 2), commit("billing"))
    look()
    look()
    assert newest["q-0000"] == (0, 3)
    assert newest["q-1000"] == newest["billing"] == (None, None)
