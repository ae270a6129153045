"""Groups that change or end on a real broker, up to what the evaluator and the API hold of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from confluent_kafka import TopicPartition
from support.collector_lab import CLUSTER, Events, Lab
from support.group_members import Members
from support.offset_events import Judge
from warren.clock import SystemClock
from warren.contracts import OffsetEvent, StatusChangeEvent, group_key
from warren_api.model.read_model import ReadModel
from warren_collector.logs import metadata
from warren_core.evaluation import Column, GroupRules, Rules
from warren_core.judgement.state import GroupState
from warren_evaluator.batch import BatchEvaluator
from warren_evaluator.records import SourceRecord

PARTITIONS = 4


def protocols(events: Events, group: str) -> list[str | None]:
    """What the group's events say that it is, each thing once; None for its end."""
    told = [None if e is None else e.protocol for e in events.groups.get(group, [])]
    return [one for one, before in zip(told, [*told[1:], object()], strict=True) if one != before]


def test_an_online_upgrade_keeps_the_window(lab: Lab) -> None:
    topic = lab.create_topic("orders", PARTITIONS)
    group = f"{lab.name}-group"

    def have(offset: int) -> bool:
        events.read()
        expected = {(topic, number): offset for number in range(PARTITIONS)}
        return events.committed(group) == expected

    def commit(offset: int) -> None:
        """Again and again: a partition may just be on its way from one member to another."""

        def is_told() -> bool:
            if not have(offset):
                members.commit(offset)
            return have(offset)

        members.until(is_told, f"{offset} is committed")

    def stands(protocol: str, count: int) -> bool:
        events.read()
        event = events.state(group)
        if event is None or (event.protocol, event.state) != (protocol, "Stable"):
            return False
        assigned = [p for m in event.members for p in m.assignment.get(topic, [])]
        return len(event.members) == count and sorted(assigned) == list(range(PARTITIONS))

    with lab.ready(lab.settings()):
        events, members = lab.events(), Members(lab, topic)
        old = [members.join(group), members.join(group, group_instance_id="till-1")]
        members.until(lambda: stands("classic", 2), "two classic members")
        for offset in (1, 2, 3):
            commit(offset)
        before = events.state(group)
        members.join(group, group_protocol="consumer")
        members.until(lambda: stands("consumer", 3), "the group has the new protocol")
        commit(4)
        for consumer in old:
            members.leave(consumer)
        members.join(group, group_protocol="consumer", group_instance_id="till-1")
        members.until(lambda: stands("consumer", 2), "two members of the new protocol")
        for offset in (5, 6):
            commit(offset)
        after = events.state(group)

    assert protocols(events, group) == ["classic", "consumer"]  # and nowhere an end
    assert before is not None
    assert after is not None
    assert after.generation > before.generation
    assert after.rebalances > before.rebalances
    own = events.of(group)
    assert not any(event.deleted or event.removed for event in own)
    judge = Judge(Rules(min_distance_ms=0, intervals=50))
    judge.all(own)
    assert isinstance(judge.state, GroupState)
    for offsets in judge.state.windows.column(Column.OFFSET).tolist():
        assert sorted({offset for offset in offsets if offset > 0}) == [1, 2, 3, 4, 5, 6]


@dataclass
class Downstream:
    """The evaluator's table and the API's read model, fed with the collector's events."""

    evaluator: BatchEvaluator
    windows: dict[bytes, bytes] = field(default_factory=dict)
    served: ReadModel = field(default_factory=ReadModel)
    changes: list[StatusChangeEvent] = field(default_factory=list)
    taken: int = 0

    def take(self, events: list[OffsetEvent]) -> None:
        for event in events[self.taken :]:
            key = group_key(event.cluster, event.group)
            record = SourceRecord("offsets", 0, self.taken, key, event.to_bytes())
            self.taken += 1
            result = self.evaluator.evaluate([record], self.windows.get)
            for write in result.writes:
                assert write.value is not None
                self.windows[write.key] = write.value
            for publication in result.publications:
                if publication.topic.endswith("lag-status"):
                    assert publication.value is not None
                    self.changes.append(StatusChangeEvent.from_bytes(publication.value))
                else:
                    self.served.apply(publication.key, publication.value)

    def status(self, group: str) -> str | None:
        view = self.served.group(CLUSTER, group)
        return None if view is None else view.event.status

    def last_change(self, group: str) -> tuple[str, str | None]:
        data = next(c.data for c in reversed(self.changes) if c.data.group == group)
        return data.status, data.reason


def test_what_ends_disappears_everywhere_and_closes_its_incident(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group, one of its offsets, the only topic of a group: deleted while they are in trouble."""
    monkeypatch.setattr(metadata, "MAX_AGE", 0.5)
    stays, goes = lab.create_topic("stays", 2), lab.create_topic("goes", 2)
    for topic in (stays, goes):
        for partition in (0, 1):
            lab.produce(topic, [(None, b"x")] * 9, partition)
    deleted, topicless, healed = (f"{lab.name}-{n}" for n in ("deleted", "topicless", "healed"))
    places = {deleted: [stays, stays], topicless: [goes, goes], healed: [stays, goes]}
    rules = GroupRules(Rules(min_distance_ms=0))
    downstream = Downstream(BatchEvaluator(lambda _c, _g: rules, "", SystemClock()))

    with lab.ready(lab.settings()):
        events = lab.events()

        def told(condition: str, **expected: str | None) -> None:
            def holds() -> bool:
                downstream.take(events.read())
                return {group: downstream.status(group) for group in expected} == expected

            events.until(holds, condition)

        def commit(group: str, first: int, second: int) -> None:
            topics = places[group]
            numbers = (0, 1) if topics[0] == topics[1] else (0, 0)
            both = zip(topics, numbers, (first, second), strict=True)
            lab.commit(group, [TopicPartition(*place) for place in both])
            wanted = {(t, n): o for t, n, o in zip(topics, numbers, (first, second), strict=True)}
            events.until(lambda: events.committed(group) == wanted, f"{group} has committed")

        for group in places:  # one partition is far, the other goes back
            commit(group, 8, 7)
            commit(group, 9, 3)
        told("all are in trouble", **dict.fromkeys(places, "ERR"))

        lab.admin.delete_consumer_groups([deleted])[deleted].result(30)
        lab.admin.delete_topics([goes])[goes].result(30)
        told("what ended is gone", **{deleted: None, topicless: None, healed: "OK"})
        events.until(
            lambda: events.groups[deleted][-1] is None and events.groups[topicless][-1] is None,
            "the groups' ends are told",
        )

    assert downstream.last_change(deleted) == ("NOTFOUND", "group_deleted")
    assert downstream.last_change(topicless) == ("NOTFOUND", "group_deleted")
    assert downstream.last_change(healed) == ("OK", "offsets_deleted")
    assert events.committed(healed) == {(stays, 0): 9}
    still = events.state(healed)
    assert still is not None
    assert downstream.served.groups_of(CLUSTER) == [healed]
