from typing import Any

import pytest
from confluent_kafka import OFFSET_END, OFFSET_INVALID
from support.busy_writer import busy_writer
from support.waiting import eventually
from warren.clock import SystemClock
from warren.kafka.connection import connect
from warren.kafka.topics import ensure_topics
from warren.settings import HomeSettings, Settings
from warren_freshness.home.offsets_feed import OffsetsFeed, start_offset

END = 120


@pytest.mark.parametrize(
    ("committed", "recent", "start"),
    [
        (70, 90, 70),  # it was away for long: nothing is skipped
        (95, 90, 90),  # what is committed already is needed again
        (OFFSET_INVALID, 90, 90),  # the first start
        (70, OFFSET_END, 70),  # nobody has published for two heartbeats
        (OFFSET_INVALID, OFFSET_END, END),
        (0, 0, 0),
    ],
)
def test_where_reading_starts(committed: int, recent: int, start: int) -> None:
    assert start_offset(committed, recent, END) == start


def test_events_that_come_all_the_time_are_caught_up_with(broker: Any, unique: str) -> None:
    home = HomeSettings(bootstrap=broker.bootstrap, topic_prefix=f"{unique}.", partitions=2)
    ensure_topics(connect("home", "home", home), home)
    feed = OffsetsFeed(Settings(home=home), SystemClock())
    with busy_writer(home, f"{unique}.offsets"):
        eventually(lambda: feed.poll(0.2, {}).is_caught_up, message="what was there is read")
        feed.close({})
