"""What the notifier knows of now, from the topics of a real broker."""

from pathlib import Path
from typing import Any

import pytest
from notifier.builders import OPENED_AT
from notifier.process import Home, config, email, notifier
from notifier.smtp_receiver import SmtpReceiver, serving
from notifier.test_as_now import evaluated
from notifier.test_email_message import breach, text
from notifier.test_joined_incidents import DELETED, STANDS, of, stuck
from support.waiting import eventually
from warren.clock import SystemClock
from warren.contracts import RETENTION_CHANGED, group_key
from warren.kafka.producer import EventProducer
from warren_local.server import free_port


@pytest.mark.heavy
def test_after_a_restart_the_first_message_is_of_now(
    broker: Any, unique: str, tmp_path: Path
) -> None:
    """What was published before the notifier knew which groups are its own is known to it."""
    home = Home.create(broker.bootstrap, unique)
    mails = SmtpReceiver()
    alone = '[[notifier.routes]]\nname = "all"\nchannels = ["mail"]\ngroup_wait = 0\n'
    with serving(mails, port=free_port()):
        file = config(tmp_path, home, email("mail", mails.port), alone)
        with notifier(file):
            home.publish(stuck())
            eventually(lambda: mails.mails, message="opened")
        now = SystemClock().now_ms()
        producer = EventProducer(home.settings)
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
