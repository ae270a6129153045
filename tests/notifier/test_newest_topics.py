"""What the notifier knows of now, from the topics of a real broker."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from notifier.builders import OPENED_AT
from notifier.process import Home, config, email, notifier
from notifier.smtp_receiver import SmtpReceiver, serving
from notifier.test_as_now import evaluated, measured
from notifier.test_email_message import breach, text
from notifier.test_joined_incidents import DELETED, STANDS, of, stuck
from support.waiting import eventually, until
from warren.clock import ManualClock, SystemClock
from warren.contracts import RETENTION_CHANGED, group_key
from warren.kafka.producer import EventProducer
from warren.settings import HomeSettings
from warren_local.ports import free_port
from warren_notifier.source.newest import KNOWN_WITHIN, Newest, NewestTopics


def test_the_newest_of_open_groups_is_known(broker: Any, unique: str) -> None:
    home = Home.create(broker.bootstrap, unique).settings
    newest = Newest(lambda _, group: group == "losing")

    async def scenario() -> None:
        # A topic that has only just been made may have no leader: it is looked at again.
        topics = NewestTopics(home, newest, SystemClock(), lambda _: asyncio.sleep(0.1))
        following = asyncio.create_task(topics.follow())
        with topics.assigning():
            pass
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


def test_a_reminder_has_the_cause_of_now(broker: Any, unique: str, tmp_path: Path) -> None:
    home = Home.create(broker.bootstrap, unique)
    mails = SmtpReceiver()
    reminding = (
        '[[notifier.routes]]\nname = "all"\nchannels = ["mail"]\ngroup_by = []\n'
        "repeat_interval = 1\n"
    )
    with serving(mails, port=free_port()):
        file = config(tmp_path, home, email("mail", mails.port), reminding)
        with notifier(file):
            home.publish(stuck())
            eventually(lambda: mails.mails, message="opened")
            producer = EventProducer("home", "home", home.settings)
            now = SystemClock().now_ms()
            value = evaluated(evaluated_at=now, total_lag=9001).to_bytes()
            topic = f"{home.settings.topic_prefix}lag"
            producer.send(topic, group_key("prod", "losing"), value)
            producer.flush()
            eventually(
                lambda: any("9,001 records" in text(mail) for mail in mails.mails),
                message="a reminder of now",
            )
    assert STANDS in text(mails.mails[0])
    told = next(text(mail) for mail in mails.mails if "9,001 records" in text(mail))
    assert "No members for 17m" in told
    assert STANDS not in told


def test_after_a_restart_the_first_message_is_of_now(
    broker: Any, unique: str, tmp_path: Path
) -> None:
    """What was published before the notifier knew which groups are its own is known to it."""
    home = Home.create(broker.bootstrap, unique)
    mails = SmtpReceiver()
    alone = '[[notifier.routes]]\nname = "all"\nchannels = ["mail"]\ngroup_by = []\n'
    with serving(mails, port=free_port()):
        file = config(tmp_path, home, email("mail", mails.port), alone)
        with notifier(file):
            home.publish(stuck())
            eventually(lambda: mails.mails, message="opened")
        now = SystemClock().now_ms()
        producer = EventProducer("home", "home", home.settings)
        value = evaluated(evaluated_at=now, total_lag=9001).to_bytes()
        producer.send(f"{home.settings.topic_prefix}lag", group_key("prod", "losing"), value)
        producer.flush()
        lost = breach("lost_records", 66.0, sentence=DELETED, objective="retention")
        home.publish(of(RETENTION_CHANGED, at=OPENED_AT + 1, objectives=[lost], total_lag=66))
        with notifier(file):
            eventually(lambda: len(mails.mails) > 1, message="told of the loss")
    told = text(mails.mails[1])
    assert "9,001 records" in told
    assert "No members for 17m" in told
    assert STANDS not in told


def test_nobody_waits_for_long_where_the_topics_are_slow() -> None:
    clock = ManualClock(OPENED_AT)
    home = HomeSettings(bootstrap="127.0.0.1:1")
    topics = NewestTopics(home, Newest(lambda *_: True), clock, asyncio.sleep)

    async def scenario() -> None:
        with topics.assigning():
            pass
        waiting = asyncio.create_task(topics.known())
        await asyncio.sleep(0)
        assert not waiting.done()
        waiting.cancel()
        clock.advance(KNOWN_WITHIN)
        await topics.known()

    asyncio.run(scenario())
