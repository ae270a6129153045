"""What happens to topics, brokers and offsets in real life, and what the events then say."""

from __future__ import annotations

import support.coordinator_records as encode
from support.collector_lab import CLUSTER, Lab
from warren.contracts import group_key, split_group_key

NAMES = ["a|b", "|", "with space", " ", "a/b//c", "größe-日本-🐇", "", "x" * 249, "%2F", 'a"b\\c']


def test_group_names_of_every_kind(lab: Lab) -> None:
    topic, offsets_topic = lab.create_topic("orders"), lab.create_topic("offsets")
    lab.produce(
        offsets_topic,
        [(encode.offset_key(name, topic, 0), encode.offset_value(3, 1)) for name in NAMES],
    )
    settings = lab.settings(offsets_topic)
    cluster = settings.clusters[CLUSTER].model_copy(update={"groups_allow": []})
    with lab.ready(settings.model_copy(update={"clusters": {CLUSTER: cluster}})):
        events = lab.events()
        events.until(lambda: {e.group for e in events.all} >= set(NAMES), "all are published")
    assert {e.group for e in events.all} == set(NAMES)
    assert {key for key, _ in events.keys} == {group_key(CLUSTER, name) for name in NAMES}
    for key, name in events.keys:
        assert split_group_key(key) == (CLUSTER, name)
