"""What a collector tells at its very first start beside groups that have long been at work."""

import time

from confluent_kafka import TopicPartition as Partition
from support.collector_lab import Lab
from support.waiting import eventually


def test_the_first_event_has_what_was_before(lab: Lab) -> None:
    topic = lab.create_topic("orders")
    began = time.time()
    group = f"{lab.name}-billing"
    for offset in range(1, 5):
        lab.produce(topic, [(None, b"x")])
        lab.commit(group, [Partition(topic, 0, offset)])
        second = int(time.time())  # commits of one second are one
        eventually(lambda s=second: time.time() > s + 1, message="the next second")
    lab.produce(topic, [(None, b"x")])
    events = lab.events()
    with lab.ready(lab.settings()):
        events.until(lambda: len(events.of(group)) > 1, "two events")
    first, *others = events.of(group)
    assert first.earlier is not None
    told = first.earlier[topic]
    assert (told.partition, told.committed) == ([0], [[1, 2, 3]])
    (times,) = told.committed_at
    assert times == sorted(times)
    assert began - 1 < times[0] / 1000 < time.time()
    # The log begins with the test: whatever is known of the past lies in it.
    assert set(told.log_end[0]) <= {0, *range(6)}
    assert all(event.earlier is None for event in others)


def test_a_group_that_comes_to_a_known_topic_is_told_where_its_log_ended(lab: Lab) -> None:
    topic, group = lab.create_topic("orders"), f"{lab.name}-late"
    lab.produce(topic, [(None, b"x")] * 7)
    events = lab.events()
    with lab.ready(lab.settings()):
        # Nobody consumes the topic; the collector looks at it all the same.
        events.until(lambda: events.cluster_states() == {"prod": "ok"}, "the collector works")
        lab.produce(topic, [(None, b"x")] * 2)
        lab.commit(group, [Partition(topic, 0, 8)])
        events.until(lambda: events.of(group), "its first event")
    first = events.of(group)[0]
    assert first.topics[topic].log_end == [9]
    assert first.earlier is not None
    assert first.earlier[topic].log_end[0][-1:] == [7]
