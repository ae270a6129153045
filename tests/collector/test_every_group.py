"""Real groups of every protocol on a real broker: what is decoded and told is what Admin says."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    Producer,
    TopicPartition,
)
from support.collector_lab import Events, Lab
from support.group_members import Members
from support.kafka_schemas import Schema
from support.offset_events import Judge
from support.raw_requests import RawBroker, error_code
from support.whole_records import GroupRecordDeleted, Record, decode_record, kind_of
from warren.contracts import OffsetEvent, TopicPositions
from warren.settings import Settings
from warren_core.evaluation import GroupRules, Rules
from warren_wire.records import Buffer, GroupRecord

PARTITIONS = 4
KINDS = {
    "OffsetCommit",
    "OffsetDeleted",
    "GroupMetadata",
    "ConsumerGroupMetadata",
    "ConsumerGroupMemberMetadata",
    "ConsumerGroupMemberMetadata deleted",
    "ConsumerGroupTargetAssignmentMetadata",
    "ConsumerGroupTargetAssignmentMember",
    "ConsumerGroupTargetAssignmentMember deleted",
    "ConsumerGroupCurrentMemberAssignment",
    "ConsumerGroupCurrentMemberAssignment deleted",
    "ShareGroupMetadata",
    "ShareGroupMemberMetadata",
    "ShareGroupTargetAssignmentMetadata",
    "ShareGroupTargetAssignmentMember",
    "ShareGroupCurrentMemberAssignment",
    "ShareGroupStatePartitionMetadata",
    "StreamsGroupMetadata",
    "StreamsGroupMemberMetadata",
    "StreamsGroupTargetAssignmentMetadata",
    "StreamsGroupTargetAssignmentMember",
    "StreamsGroupCurrentMemberAssignment",
    "StreamsGroupTopology",
}


def is_told(events: Events, group: str, members: int) -> bool:
    """Whether so many members of a stable group share all partitions; that they are those of
    the coordinator is test_live_groups'.
    """
    events.read()
    event = events.state(group)
    if event is None or event.state != "Stable" or len(event.members) != members:
        return False
    return sum(len(p) for m in event.members for p in m.assignment.values()) == PARTITIONS


def decoded(lab: Lab) -> set[str]:
    """Kinds of all records that the broker has written about the test's groups."""
    admin_topic = lab.admin.list_topics("__consumer_offsets", timeout=30)
    numbers = list(admin_topic.topics["__consumer_offsets"].partitions)
    reader = Consumer({"bootstrap.servers": lab.bootstrap, "group.id": f"warren-{uuid.uuid4()}"})
    found: set[str] = set()
    try:
        for number in numbers:
            place = TopicPartition("__consumer_offsets", number, 0)
            _, end = reader.get_watermark_offsets(place, timeout=30)
            reader.assign([place])
            while reader.position([place])[0].offset < end:
                for message in reader.consume(1000, 1.0):
                    key = message.key() or b""
                    if message.error() is None and lab.name.encode() in key:
                        found |= {_kind(one) for one in decode_record(key, message.value())}
                if end == 0:
                    break
    finally:
        reader.close()
    return found


def _kind(record: Record) -> str:
    match record:
        case GroupRecord():
            return kind_of(record)
        case GroupRecordDeleted():
            return f"{kind_of(record)} deleted"
    return type(record).__name__


def admin_committed(lab: Lab, group: str) -> dict[tuple[str, int], int]:
    request = [ConsumerGroupTopicPartitions(group)]
    offsets = lab.admin.list_consumer_group_offsets(request)[group].result(30).topic_partitions
    return {(p.topic, p.partition): p.offset for p in offsets or []}


def commit_in_a_transaction(lab: Lab, consumer: Consumer, positions: list[TopicPartition]) -> None:
    producer = Producer({"bootstrap.servers": lab.bootstrap, "transactional.id": lab.name})
    producer.init_transactions()
    producer.begin_transaction()
    producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata())
    producer.commit_transaction()


class StreamsMember:
    """A member of a streams group: the heartbeats that Kafka Streams would send."""

    def __init__(self, raw: RawBroker, group: str, topic: str) -> None:
        self._raw = raw
        self.fields: dict[str, Any] = {
            "group_id": group,
            "member_id": str(uuid.uuid4()),
            "rebalance_timeout_ms": 60_000,
            "process_id": "process-1",
            "active_tasks": [],
            "standby_tasks": [],
            "warmup_tasks": [],
            "user_endpoint": {"host": "streams.example", "port": 50_000},
            "client_tags": [{"key": "zone", "value": "a"}],
            "topology": {
                "epoch": 1,
                "subtopologies": [{"subtopology_id": "0", "source_topics": [topic]}],
            },
        }

    def heartbeat(self) -> None:
        answer = Buffer(self._raw.send("StreamsGroupHeartbeat", self.fields))
        answer.int32("throttle_time_ms")
        assert answer.int16("error_code") == 0, answer.nullable_string("message", compact=True)
        answer.nullable_string("error_message", compact=True)
        answer.string("member_id", compact=True)
        joined = {"member_epoch": answer.int32("member_epoch"), "topology": None}
        unchanged = dict.fromkeys(("active_tasks", "standby_tasks", "warmup_tasks"))
        self.fields |= joined | unchanged


def test_every_group_is_as_the_broker_describes_it(lab: Lab, schemas: dict[str, Schema]) -> None:
    raw = RawBroker(lab.bootstrap, schemas)
    topic = lab.create_topic("orders", PARTITIONS)
    for partition in range(PARTITIONS):
        lab.produce(topic, [(None, b"x")] * 9, partition)
    names = ("classic", "static", "modern", "share", "streams", "tool", "gone")
    classic, static, modern, share, streams, tool, gone = (f"{lab.name}-{n}" for n in names)
    with lab.ready(lab.settings()):
        events, members = lab.events(), Members(lab, topic)
        first = members.join(classic, partition_assignment_strategy="roundrobin")
        members.join(classic, partition_assignment_strategy="roundrobin")
        members.join(static, group_instance_id="till-1", client_rack="rack-a")
        members.join(static, group_instance_id="till-2")
        members.join(modern, group_protocol="consumer", client_rack="rack-a")
        leaver = members.join(modern, group_protocol="consumer", group_remote_assignor="range")
        members.share(share)
        worker = StreamsMember(raw, streams, topic)
        worker.heartbeat()
        for group in (classic, static, modern):
            members.until(lambda g=group: is_told(events, g, 2), f"{group} is told")

        members.until(
            lambda: bool(first.assignment() and leaver.assignment()), "they know their partitions"
        )

        # Committing, in every way.
        ends = [TopicPartition(topic, number, number + 1) for number in range(PARTITIONS)]
        lab.commit(tool, ends)
        lab.commit(gone, ends[:1])
        first.commit(offsets=[TopicPartition(topic, p.partition, 5) for p in first.assignment()])
        mine = [TopicPartition(topic, p.partition, 7) for p in first.assignment()]
        commit_in_a_transaction(lab, first, mine)
        leaver.commit(offsets=[TopicPartition(topic, p.partition, 3) for p in leaver.assignment()])

        # Members that leave, offsets and groups that are deleted.
        members.leave(leaver)
        deletion = {"name": topic, "partitions": [{"partition_index": 1}]}
        answer = raw.send("OffsetDelete", {"group_id": tool, "topics": [deletion]})
        assert error_code(answer, at=0) == 0
        lab.admin.delete_consumer_groups([gone])[gone].result(30)

        members.until(lambda: is_told(events, modern, 1), "the member that left is not told")
        for group in (classic, modern, tool):
            expected = admin_committed(lab, group)
            assert expected
            members.until(
                lambda g=group, e=expected: bool(events.read()) and events.committed(g) == e,
                f"{group} has committed",
            )
        members.until(lambda: events.groups.get(gone, [])[-1:] == [None], "the group's end is told")

        def share_is_told() -> bool:
            events.read()
            event = events.state(share)
            return bool(event and [m.assignment for m in event.members] == [{topic: [0, 1, 2, 3]}])

        members.until(share_is_told, "the share group is told")
        pool = events.state(share)
        assert pool is not None
        assert (pool.protocol, pool.state) == ("share", "Stable")
        assert pool.members[0].subscription == [topic]
        assert pool.members[0].host.startswith("/")  # as brokers write hosts
        assert events.of(share) == []  # it has no committed offsets, and so no lag of that kind

        def streams_is_told() -> bool:
            worker.heartbeat()
            events.read()
            event = events.state(streams)
            return bool(event and event.state == "Stable")

        members.until(streams_is_told, "the streams group is told")
        counts = events.state(streams)
        assert counts is not None
        assert counts.protocol == "streams"
        assert counts.members[0].assignment == {topic: [0, 1, 2, 3]}
        assert counts.members[0].subscription == [topic]

        tools = events.state(tool)
        assert tools is not None
        assert (tools.protocol, tools.state) == ("classic", "Empty")
        fixed = events.state(static)
        assert fixed is not None
        assert [
            m.instance_id for m in sorted(fixed.members, key=lambda m: m.instance_id or "")
        ] == [
            "till-1",
            "till-2",
        ]
        assert {m.rack for m in fixed.members} == {None, "rack-a"}
        assert fixed.rebalances == fixed.generation
        assert events.letters == []
        kinds = decoded(lab)
        assert not kinds & {"Malformed", "Skipped"}
        assert kinds >= KINDS


SOURCES = ["offsets_topic", "admin_api"]
LATER_MS = 600_000
LOOK_MS = 10_000


def settings(lab: Lab, source: str) -> Settings:
    return lab.settings(source=source)


def newest(events: Events, group: str, topic: str) -> TopicPositions | None:
    told = [event.topics[topic] for event in events.of(group) if topic in event.topics]
    return told[-1] if told else None


def judged(events: Events, group: str, topic: str) -> tuple[list[str], list[int | None]]:
    """Statuses and lags after all events, and after the same for ten minutes more."""
    judge = Judge(GroupRules(Rules(policy="progress")))
    of_group = events.of(group)
    for event in [*of_group, *_the_same(of_group[-1])]:
        lag = judge.judged(event).lag
    return list(lag.topics[topic].status), list(lag.topics[topic].lag)


def _the_same(event: OffsetEvent) -> Iterator[OffsetEvent]:
    for later in range(LOOK_MS, LATER_MS, LOOK_MS):
        yield event.model_copy(update={"observed_at": event.observed_at + later, "removed": {}})


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_member_that_never_commits_is_told_and_one_of_a_silent_topic_is_well(
    lab: Lab, source: str, protocol: str
) -> None:
    topic, silent = lab.create_topic("orders", 2), lab.create_topic("silent", 2)
    members = Members(lab, topic)
    group = f"{lab.name}-first"
    quiet = f"{lab.name}-quiet"
    with lab.ready(settings(lab, source)):
        members.join(group, group_protocol=protocol)
        members.join(quiet, topics=[silent], group_protocol=protocol)
        events = lab.events()

        def is_owned(name: str, of: str) -> bool:
            events.read()
            told = newest(events, name, of)
            return told is not None and told.owned == [1, 1]

        members.until(lambda: is_owned(group, topic), "who owns it is told")
        members.until(lambda: is_owned(quiet, silent), "who owns the silent one is told")
        lab.produce(topic, [(None, b"x")] * 20, partition=1)

        def has_end() -> bool:
            events.read()
            told = newest(events, group, topic)
            return told is not None and told.log_end == [0, 20]

        members.until(has_end, "what was written is told")
    told = newest(events, group, topic)
    assert told is not None
    assert told.committed == [-1, -1]
    assert judged(events, group, topic) == (["OK", "WARN"], [0, 20])
    assert judged(events, quiet, silent) == (["OK", "OK"], [0, 0])
