"""The service on a real broker, with real receivers, killed and restarted."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from notifier.builders import event, incident
from notifier.http_receiver import Answer, HttpReceiver, Request, Script
from notifier.process import PARTITIONS, SECRET, Home, config, email, notifier, stop, webhook
from notifier.smtp_receiver import SmtpReceiver, serving
from standardwebhooks import Webhook
from support.waiting import eventually
from warren.clock import SystemClock
from warren.contracts import StatusChangeEvent, group_key
from warren.settings_file import load_settings
from warren_local.server import free_port
from warren_notifier.routing.decisions import delivery_id
from warren_notifier.service import Service


@pytest.fixture
def home(broker: Any, unique: str) -> Home:
    return Home.create(broker.bootstrap, unique)


def opening(group: str) -> StatusChangeEvent:
    return event(group=group, event_id=f"{group}-open", incident_id=f"{group}-incident")


def closing(group: str) -> StatusChangeEvent:
    return event(
        "OK", "ERR", group=group, event_id=f"{group}-close", incident_id=f"{group}-incident"
    )


def test_from_the_topic_to_mail_and_webhook(home: Home, tmp_path: Path) -> None:
    mails = SmtpReceiver("451 try again")
    with (
        HttpReceiver(Answer(500), Answer(500)) as hooks,
        serving(mails, port=free_port()),
    ):
        file = config(tmp_path, home, webhook("hook", hooks.port) + email("mail", mails.port))
        with notifier(file) as running:
            home.publish(opening("billing"), b"{")
            eventually(lambda: len(hooks.requests) == 3 and mails.mails, message="opened")
            assert set(hooks.ids()) == {delivery_id("billing-open", "all", "hook")}
            eventually(
                lambda: running.metric("warren_notifier_open_incidents") == 1,
                message="the incident shows in the metrics",
            )
            assert running.metric("warren_notifier_states") == 1
            assert (running.metric("warren_notifier_state_bytes") or 0) > len(
                opening("billing").to_bytes()
            )
            home.publish(closing("billing"))
            eventually(lambda: len(mails.mails) == 2, message="closed")
            eventually(lambda: home.states() == {}, message="nothing is left to remember")
            sample = 'warren_notifier_deliveries_total{channel="hook",outcome="failed"}'
            assert running.metric(sample) == 2
            assert running.metric("warren_notifier_partitions") == 4
            routing = Service(load_settings(file), SystemClock()).works["routing"]
            eventually(lambda: not routing().waiting, message="nothing waits that was read")
            assert stop(running) == 0, running.output()
        assert len(hooks.requests) == 4
    for request in hooks.requests:
        Webhook(SECRET).verify(request.body, dict(request.headers))
    assert hooks.requests[0].body == incident(opening("billing")).to_bytes()
    outcomes = defaultdict(list)
    for one in home.audit():
        outcomes[one.channel, one.kind].append(one.outcome)
    assert outcomes == {
        ("hook", "opened"): ["failed", "failed", "delivered"],
        ("hook", "resolved"): ["delivered"],
        ("mail", "opened"): ["failed", "delivered"],
        ("mail", "resolved"): ["delivered"],
    }
    first, second = mails.mails
    assert second["References"] == first["Message-ID"]
    (letter,) = home.dead_letters()
    assert (letter.service, letter.value) == ("notifier", b"{")


def done(home: Home, hooks: HttpReceiver, expected: int) -> None:
    """Waits until so many different webhooks have come and nothing is left to remember."""
    eventually(
        lambda: len(set(hooks.ids())) == expected and home.states() == {},
        message=f"{expected} webhooks and no state",
    )


@pytest.mark.heavy
def test_an_orderly_hand_over_sends_nothing_twice(home: Home, tmp_path: Path) -> None:
    groups = [f"g{number}" for number in range(24)]
    with HttpReceiver() as hooks:
        file = config(tmp_path, home, webhook("hook", hooks.port))
        with notifier(file) as one:
            home.publish(*map(opening, groups[:12]))
            eventually(lambda: len(hooks.requests) > 3, message="deliveries go out")
            with notifier(file) as other:
                home.publish(*map(opening, groups[12:]))
                eventually(lambda: len(hooks.requests) > 13, message="deliveries go out")
                assert stop(one) == 0
                eventually(lambda: len(hooks.requests) == 24, message="all openings")
                home.publish(*map(closing, groups))
                done(home, hooks, 48)
                assert stop(other) == 0
    assert len(hooks.ids()) == len(set(hooks.ids())) == 48


@pytest.mark.heavy
def test_a_past_that_ends_in_transactions_is_told_as_well(home: Home, tmp_path: Path) -> None:
    """As a mirror with exactly-once leaves it: behind the last record is what is none."""
    groups = {f"g{number}" for number in range(3 * PARTITIONS)}
    writer = Producer(
        {
            "bootstrap.servers": home.settings.bootstrap,
            "partitioner": "murmur2_random",
            "transactional.id": home.settings.topic_prefix,
        }
    )
    writer.init_transactions()
    for keep in (True, False):
        writer.begin_transaction()
        for group in groups:
            told = home.folded.of(opening(group if keep else f"{group}-aborted"))
            assert told is not None
            key = group_key(told.data.cluster, told.data.group)
            writer.produce(f"{home.settings.topic_prefix}incidents", told.to_bytes(), key)
        writer.flush()
        writer.commit_transaction() if keep else writer.abort_transaction()
    with HttpReceiver() as hooks:
        file = config(tmp_path, home, webhook("hook", hooks.port))
        with notifier(file) as running:
            eventually(lambda: len(hooks.requests) == len(groups), message="all that last")
            assert stop(running) == 0
        with notifier(file) as running:
            home.publish(closing("g0"))
            eventually(lambda: len(hooks.requests) > len(groups), message="an end")
            assert stop(running) == 0
    assert set(hooks.ids()) == {
        *(delivery_id(f"{group}-open", "all", "hook") for group in groups),
        delivery_id("g0-close", "all", "hook"),
    }


def test_a_token_that_is_corrected_tells_what_was_refused(home: Home, tmp_path: Path) -> None:
    (token := tmp_path / "token").write_text("Bearer wrong")

    def decide(request: Request) -> Script:
        return Answer(200 if request.headers["authorization"] == "Bearer right" else 401)

    with HttpReceiver(decide=decide) as hooks:
        channel = webhook("hook", hooks.port) + f'headers = {{ Authorization_file = "{token}" }}\n'
        with notifier(config(tmp_path, home, channel)) as running:
            home.publish(opening("g"))
            refused = 'warren_notifier_deliveries_total{channel="hook",outcome="refused"}'
            eventually(lambda: running.metric(refused) == 1, message="it is refused")
            token.write_text("Bearer \u00e9")
            eventually(lambda: "settings refused" in running.output(), message="it says so")
            token.write_text("Bearer right")
            eventually(lambda: len(hooks.requests) == 2, message="it is told after all")
            home.publish(closing("g"))
            eventually(lambda: len(hooks.requests) == 3, message="its end")
            assert stop(running) == 0
    assert hooks.ids()[1:] == [
        delivery_id(f"g-{what}", "all", "hook") for what in ("open", "close")
    ]


@pytest.mark.heavy
def test_a_home_cluster_that_is_away_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "warren.toml"
    file.write_text('[home]\nbootstrap = "127.0.0.1:1"\n')
    with notifier(file, wait=False) as running:
        eventually(lambda: "cluster not usable" in running.output(), message="it says so")
        assert not running.ready
        assert running.reason.startswith("cluster home: no broker answers at 127.0.0.1:1")
        assert stop(running) == 0


def test_wrong_settings_end_it_with_one_line(tmp_path: Path) -> None:
    file = tmp_path / "warren.toml"
    file.write_text('[[notifier.routes]]\nname = "all"\nchannels = ["nowhere"]\n')
    with notifier(file, wait=False) as running:
        eventually(lambda: running.child.exit_code() is not None, message="it ends")
        assert running.child.exit_code() == 2
        (line,) = running.output().splitlines()
    assert line.startswith("warren-notifier: notifier: ")
    assert "nowhere" in line
