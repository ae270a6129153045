"""Silences from their topic, with a real broker: known before anything is told, followed since."""

import time
from pathlib import Path
from typing import Any

import pytest
from notifier.asked import silence
from notifier.builders import event
from notifier.http_receiver import Answer, HttpReceiver
from notifier.process import Home, config, notifier, stop, webhook
from support.waiting import eventually
from warren.contracts import Acknowledgement, NotificationTest, Silence
from warren.kafka.producer import EventProducer

HOUR = 3_600_000


@pytest.fixture
def home(broker: Any, unique: str) -> Home:
    return Home.create(broker.bootstrap, unique)


def now() -> int:
    return round(time.time() * 1000)


def quiet(id_: str = "quiet", **fields: Any) -> Silence:
    at = now()
    return silence(id_, **({"begins_at": at - HOUR, "ends_at": at + HOUR} | fields))


def ask(home: Home, *asked: Silence | Acknowledgement) -> None:
    """As the API does: acknowledged when this returns."""
    producer = EventProducer(home.settings)
    for one in asked:
        is_silence = isinstance(one, Silence)
        topic = "silences" if is_silence else "acknowledgements"
        key = one.id if isinstance(one, Silence) else one.incident_id
        producer.send(f"{home.settings.topic_prefix}{topic}", key.encode(), one.to_bytes())
    producer.flush()


def opening(group: str, status: str = "ERR") -> Any:
    return event(status, group=group, event_id=f"{group}-{status}", incident_id=f"{group}-i")  # type: ignore[arg-type]


def closing(group: str) -> Any:
    return event("OK", "ERR", group=group, event_id=f"{group}-close", incident_id=f"{group}-i")


def outcomes(home: Home, group: str) -> list[tuple[str, str]]:
    return [(one.kind, one.outcome) for one in home.audit() if one.group == group]


@pytest.mark.heavy
def test_silences_hold_from_the_start_on_through_a_kill_and_until_they_are_ended(
    home: Home, tmp_path: Path
) -> None:
    ask(home, quiet(group="^(billing|passing)$"))
    with HttpReceiver() as hooks:
        file = config(tmp_path, home, webhook("hook", hooks.port))
        with notifier(file) as running:
            home.publish(opening("billing"), opening("passing"), opening("loud"))
            eventually(lambda: len(hooks.requests) == 1, message="what is not silenced is told")
            for group in ("billing", "passing"):
                eventually(
                    lambda group=group: outcomes(home, group) == [("opened", "silenced")],
                    message=f"{group} is put off",
                )
            eventually(
                lambda: running.metric('warren_notifier_silenced{channel="hook"}') == 2,
                message="the metric shows them",
            )
            eventually(
                lambda: running.metric('warren_notifier_pending{channel="hook"}') == 0,
                message="what was sent is noted",
            )
            running.child.kill()
        with notifier(file) as running:
            home.publish(closing("passing"), closing("loud"))
            eventually(lambda: len(hooks.requests) == 2, message="the end of the loud one")
            eventually(
                lambda: outcomes(home, "passing")[-1] == ("resolved", "suppressed"),
                message="what ended meanwhile is forgotten",
            )
            ask(home, quiet(group="^(billing|passing)$", ends_at=now(), ended_by="grace"))
            eventually(lambda: len(hooks.requests) == 3, message="the silence is over")
            home.publish(closing("billing"))
            eventually(lambda: len(hooks.requests) == 4, message="and its end")
            eventually(lambda: home.states() == {}, message="nothing is left to remember")
            assert stop(running) == 0, running.output()
    told = [b'"group":"%b"' % group for group in (b"loud", b"loud", b"billing", b"billing")]
    assert all(name in r.body for name, r in zip(told, hooks.requests, strict=True))
    assert outcomes(home, "billing") == [
        ("opened", "silenced"),
        ("opened", "delivered"),
        ("resolved", "delivered"),
    ]


@pytest.mark.heavy
def test_a_route_is_tried_out_once(home: Home, tmp_path: Path) -> None:
    def try_out(id_: str) -> None:
        test = NotificationTest(id=id_, route="all", by="ada", at=now())
        producer = EventProducer(home.settings)
        topic = f"{home.settings.topic_prefix}notification-tests"
        producer.send(topic, id_.encode(), test.to_bytes())
        producer.flush()

    try_out("before")
    with HttpReceiver(Answer(500)) as hooks:
        with notifier(config(tmp_path, home, webhook("hook", hooks.port))) as running:
            try_out("now")
            eventually(lambda: len(hooks.requests) == 3, message="opened at the second try, ended")
            eventually(lambda: len(home.audit()) == 3, message="audited")
            assert stop(running) == 0, running.output()
        assert len(hooks.requests) == 3
    assert {one.incident_id for one in home.audit()} == {"test-now"}
    told = [(one.kind, one.outcome) for one in home.audit()]
    assert told == [("opened", "failed"), ("opened", "delivered"), ("resolved", "delivered")]
