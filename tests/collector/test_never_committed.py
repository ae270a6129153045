"""Real clients that own partitions and never commit: who reads the events can tell them."""

from collections.abc import Iterator

import pytest
from support.collector_lab import Events, Lab
from support.group_members import Members
from support.offset_events import Judge
from warren.contracts import OffsetEvent, TopicPositions
from warren.settings import Settings
from warren_core.evaluation import GroupRules, Rules

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
