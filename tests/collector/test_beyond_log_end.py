"""A committed offset that the log does not have: real commits, collected and judged."""

from __future__ import annotations

from confluent_kafka import TopicPartition as Partition
from support.collector_lab import Lab
from support.offset_events import Judge
from warren_core.judgement.judge import Judged


def test_an_offset_beyond_the_log_end_is_no_caught_up_group(lab: Lab) -> None:
    topic, group = lab.create_topic("orders", 2), f"{lab.name}-group"
    for partition in range(2):
        lab.produce(topic, [(None, b"x")] * 17, partition)
    lab.commit(group, [Partition(topic, 0, 17), Partition(topic, 1, 1_000_000)])
    with lab.ready(lab.settings()):
        events = lab.events()
        events.until(lambda: len(events.of(group)) >= 4, "a few looks at the group")
        seen, judge = events.of(group), Judge()
        judged = [one for event in seen if isinstance(one := judge(event), Judged)]
        statuses = [one.lag.topics[topic].status for one in judged]
        assert statuses[0] == ["OK", "OK"]
        assert statuses[1:] == [["OK", "BEYOND_END"]] * (len(judged) - 1)
        assert (judged[-1].lag.status, judged[-1].lag.reason) == ("ERR", "beyond_log_end")
        assert judged[-1].lag.topics[topic].lag == [0, 0]

        lab.commit(group, [Partition(topic, 1, 17)])
        events.until(lambda: events.committed(group)[topic, 1] == 17, "the group commits anew")
        judged = [one for e in events.of(group)[len(seen) :] if isinstance(one := judge(e), Judged)]
        assert judged[-1].lag.status == "OK"
