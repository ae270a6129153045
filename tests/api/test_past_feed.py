"""How the past of a day is read, from a real broker."""

from typing import Any

from confluent_kafka import Producer
from support.waiting import eventually
from warren.clock import SystemClock
from warren.contracts import MINUTE_MS, TrendEvent, TrendTopics, group_key
from warren.contracts.topics import TRENDS
from warren.kafka.connection import connect
from warren.kafka.topics import ensure_topics
from warren.settings import HomeSettings
from warren_api.home.feed import PastFeed
from warren_api.model.past import Past

NOTHING = TrendTopics(topic=[], lag=[], produced=[], consumed=[], late_ms=[])


class Noted(Past):
    """Knows in which order minutes came."""

    def __init__(self) -> None:
        super().__init__()
        self.minutes: list[int] = []

    def apply(self, key: bytes | None, value: bytes | None) -> None:
        super().apply(key, value)
        self.minutes.append(TrendEvent.from_bytes(value).minute)


def trend(minute: int) -> TrendEvent:
    return TrendEvent(
        cluster="demo",
        group="billing",
        minute=minute,
        status_ms={"OK": 60_000},
        lag=1,
        lag_max=1,
        late_ms=None,
        time_to_loss_ms=None,
        produced=7,
        consumed=7,
        members=None,
        rebalances=None,
        topics=NOTHING,
    )


def test_each_minute_is_read_once_and_then_what_comes(broker: Any, unique: str) -> None:
    home = HomeSettings(bootstrap=broker.bootstrap, topic_prefix=f"{unique}.", partitions=2)
    ensure_topics(connect("home", "home", home), home)
    clock = SystemClock()
    now = clock.now_ms()
    this = now - now % MINUTE_MS
    minutes = [this - n * MINUTE_MS for n in range(180, 0, -1)]
    producer = Producer({"bootstrap.servers": broker.bootstrap})

    def tell(minute: int) -> None:
        producer.produce(
            TRENDS.full_name(home.topic_prefix),
            key=group_key("demo", "billing"),
            value=trend(minute).to_bytes(),
            timestamp=minute + MINUTE_MS,
        )

    for minute in minutes:
        tell(minute)
    producer.flush()
    past = Noted()
    feed = PastFeed(home, past, clock)
    feed.start()
    try:
        eventually(lambda: len(past.minutes) == len(minutes), message="the past is read")
        tell(this)
        producer.flush()
        eventually(lambda: past.minutes[-1] == this, message="what comes is read on")
    finally:
        feed.stop()
    assert sorted(past.minutes) == [*minutes, this]
    columns = past.group("demo", "billing", minutes[0], this, MINUTE_MS)
    assert columns["produced"] == [7] * 180
