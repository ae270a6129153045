"""What the notifier knows of now, from the topics of a real broker."""

from __future__ import annotations

import asyncio
from typing import Any

from notifier.process import Home
from notifier.test_as_now import evaluated, measured
from support.waiting import until
from warren.clock import SystemClock
from warren.contracts import group_key
from warren.kafka.producer import EventProducer
from warren_notifier.source.newest import Newest, NewestTopics


def test_the_newest_of_open_groups_is_known(broker: Any, unique: str) -> None:
    home = Home.create(broker.bootstrap, unique).settings
    newest = Newest(lambda _, group: group == "losing")

    async def scenario() -> None:
        # A topic that has only just been made may have no leader: it is looked at again.
        topics = NewestTopics(home, newest, SystemClock().now_ms, lambda _: asyncio.sleep(0.1))
        following = asyncio.create_task(topics.follow())
        producer = EventProducer("home", "home", home)
        for lag in (1, 9000):
            for group in ("losing", "fine"):
                key = group_key("prod", group)
                value = evaluated(group=group, total_lag=lag).to_bytes()
                producer.send(f"{home.topic_prefix}lag", key, value)
        producer.send(
            f"{home.topic_prefix}freshness", group_key("prod", "losing"), measured().to_bytes()
        )
        await asyncio.to_thread(producer.flush)
        await until(lambda: newest.freshness("prod", "losing") == measured())
        await until(lambda: newest.lag("prod", "losing") == evaluated(total_lag=9000))
        assert newest.lag("prod", "fine") is None
        following.cancel()

    asyncio.run(scenario())
