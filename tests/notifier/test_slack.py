"""Slack channels against a receiver that checks what Slack's documentation demands."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from notifier.builders import MINUTE, OPENED_AT, delivery, event, fullest, route
from notifier.harness import Harness, Log, life
from notifier.hostile_names import EVERY, HOSTILE
from notifier.http_receiver import Answer, HttpReceiver, Request
from notifier.slack_receiver import SlackApi, shown, violations
from notifier.test_webhook import LOOPBACK
from pydantic import SecretStr
from support.waiting import until
from warren.clock import ManualClock
from warren.contracts import Cause
from warren_notifier.channels.channel import Channel, Delivered, Refused, Result, Retry
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.channels.kinds.slack import SlackChannel, SlackSettings
from warren_notifier.channels.kinds.slack_bot import SlackBotChannel, SlackBotSettings
from warren_notifier.state.delivery import Delivery

BASE = "https://warren.example.org"
CLOCK = ManualClock(OPENED_AT + MINUTE)


def webhook(url: str, guard: EgressGuard = LOOPBACK) -> SlackChannel:
    settings = SlackSettings(type="slack", url=SecretStr(url))
    return SlackChannel(settings, BASE, guard, CLOCK)


def bot(url: str, token: str = "xoxb-1", conversation: str = "C123") -> SlackBotChannel:
    settings = SlackBotSettings(
        type="slack-bot", token=SecretStr(token), conversation=conversation, api=url
    )
    return SlackBotChannel(settings, BASE, LOOPBACK, CLOCK)


def send(channel: Channel, *deliveries: Delivery) -> list[Result]:
    async def run() -> list[Result]:
        try:
            return [await channel.send(each) for each in deliveries]
        finally:
            await channel.close()

    return asyncio.run(run())


def checked(request: Request) -> Answer:
    """An incoming webhook's answer."""
    wrong = list(violations(json.loads(request.body)))
    return Answer(400, body=b"invalid_blocks " + repr(wrong).encode()) if wrong else Answer(200)


def posted(what: Delivery) -> dict[str, Any]:
    with HttpReceiver(decide=checked) as receiver:
        assert send(webhook(receiver.url), what) == [Delivered("HTTP 200")]
    (request,) = receiver.requests
    assert request.headers["content-type"] == "application/json; charset=utf-8"
    message: dict[str, Any] = json.loads(request.body)
    return message


def test_a_message_says_what_is_wrong_and_what_to_do() -> None:
    cause = Cause(name="no_members", sentence="Nobody is in the group.", action="Start it.")
    message = posted(delivery(event(cause=cause)))
    assert message["text"] == "[ERR] billing on prod: 1 partition in trouble, lag 2,140 (1 m ago)"
    text = shown(message)
    for part in ("Consumer group billing on cluster prod is ERR.", "Nobody is in the group."):
        assert part in text
    assert "What to do: Start it." in text
    assert f"{BASE}/groups/prod/billing" in json.dumps(message)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_becomes_markup_or_breaks_a_limit(name: str) -> None:
    group = HOSTILE[name]
    message = posted(delivery(event(group=group)))
    assert "<!" not in message["text"]
    if name == "long":
        assert "…" in message["blocks"][0]["text"]["text"]
        assert group in shown(message)


@pytest.mark.parametrize("name", EVERY)
def test_the_fullest_event_fits(name: str) -> None:
    message = posted(delivery(fullest(EVERY[name])))
    assert "Late by: " in shown(message)


@pytest.mark.parametrize("name", HOSTILE)
def test_nor_does_any_other_text(name: str) -> None:
    cause = Cause(name="too_slow", sentence=HOSTILE[name] * 5, action=HOSTILE[name] * 5)
    posted(delivery(event(cause=cause, explanation=HOSTILE[name] * 9)))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            Answer(429, {"Retry-After": "30"}, b"rate_limited"),
            Retry("HTTP 429: rate_limited", 30.0),
        ),
        (Answer(500, body=b"rollup_error"), Retry("HTTP 500: rollup_error")),
        (Answer(403, body=b"action_prohibited"), Refused("HTTP 403: action_prohibited")),
        (Answer(404, body=b"channel_not_found"), Refused("HTTP 404: channel_not_found")),
        (Answer(410, body=b"channel_is_archived"), Refused("HTTP 410: channel_is_archived")),
    ],
)
def test_answers_of_a_webhook(answer: Answer, expected: Result) -> None:
    with HttpReceiver(answer) as receiver:
        assert send(webhook(receiver.url), delivery()) == [expected]


def test_addresses_that_are_not_public_are_refused() -> None:
    with HttpReceiver() as receiver:
        (result,) = send(webhook(receiver.url, EgressGuard([])), delivery())
    assert isinstance(result, Refused)
    assert receiver.requests == []


def test_later_messages_are_replies_and_the_first_says_how_it_stands() -> None:
    api = SlackApi()
    with api.receiver() as receiver:
        channel = bot(receiver.url)
        over = event("OK", "ERR", event_id="event-2", at=OPENED_AT + MINUTE)
        (opened,) = send(channel, delivery())
        assert opened == Delivered(
            "posted C123/1795244400.000000", receipt="C123/1795244400.000000"
        )
        resolved = delivery(over, kind="resolved")
        resolved.receipt = opened.receipt
        (ended,) = send(bot(receiver.url), resolved)
    assert isinstance(ended, Delivered)
    assert ended.receipt == opened.receipt
    ((first, replies),) = api.threads().items()
    assert "OK again" in api.messages[first]["text"]
    assert ["OK again" in reply["text"] for reply in replies] == [True]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("ratelimited", Retry("ratelimited")),
        ("internal_error", Retry("internal_error")),
        ("not_in_channel", Refused("not_in_channel")),
        ("invalid_auth", Refused("invalid_auth")),
    ],
)
def test_refusals_of_the_web_api(error: str, expected: Result) -> None:
    api = SlackApi()
    api.refusals = [error]
    with api.receiver() as receiver:
        assert send(bot(receiver.url), delivery()) == [expected]


def test_wrong_tokens_and_conversations_are_refused() -> None:
    with SlackApi().receiver() as receiver:
        assert send(bot(receiver.url, token="xoxb-2"), delivery()) == [Refused("invalid_auth")]
        other = bot(receiver.url, conversation="C9")
        assert send(other, delivery()) == [Refused("channel_not_found")]


def test_an_answer_that_is_no_json_is_tried_again() -> None:
    with HttpReceiver(Answer(200, body=b"<html>")) as receiver:
        (result,) = send(bot(receiver.url), delivery())
    assert isinstance(result, Retry)
    assert result.uncertain


@pytest.mark.parametrize("error", ["message_not_found", "edit_window_closed"])
def test_a_first_message_that_cannot_change_has_its_replies(error: str) -> None:
    api = SlackApi()
    with api.receiver() as receiver:
        (opened,) = send(bot(receiver.url), delivery())
        assert isinstance(opened, Delivered)
        api.refusals = [error]
        again = delivery(kind="changed", delivery_id="delivery-2")
        again.receipt = opened.receipt
        assert isinstance(send(bot(receiver.url), again)[0], Delivered)
    assert [len(replies) for replies in api.threads().values()] == [1]


def test_without_its_thread_a_message_begins_another() -> None:
    api = SlackApi()
    lost = delivery(kind="changed")
    lost.receipt = "C123/1.000001"
    with api.receiver() as receiver:
        (result,) = send(bot(receiver.url), lost)
    assert isinstance(result, Delivered)
    assert result.receipt == "C123/1795244400.000000"
    assert list(api.threads()) == ["1795244400.000000"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"ok": true}',
        b'{"ok": true, "channel": null, "ts": null}',
        b'{"ok": true, "channel": "C1", "ts": "\\ud800"}',
        b'{"ok": true, "channel": "\\udfff", "ts": "1.000001"}',
        b'{"ok": true, "channel": "C1", "ts": "' + b"9" * 10_000 + b'"}',
        b'{"ok": true, "channel": "C1/C2", "ts": "1.000001"}',
    ],
)
def test_an_answer_that_does_not_say_where_is_no_thread(body: bytes) -> None:
    """The state that would remember it was not written, and the notifier ended."""
    log = Log()
    with HttpReceiver(Answer(200, body=body)) as receiver:
        channel = bot(receiver.url)

        async def scenario(tasks: asyncio.TaskGroup) -> None:
            harness = Harness(log, tasks, [route(channels=("slack",))], {"slack": channel})
            await harness.assign()
            await harness.read(event())
            await until(lambda: bool(log.outcomes()))
            await harness.idle()
            await channel.close()

        life(scenario)
    assert log.outcomes() == ["delivered"]
    assert log.audit()[0].detail == "posted, but the answer does not say where"


def test_a_notifier_that_starts_anew_finds_the_thread() -> None:
    api, log = SlackApi(), Log()
    routes = [route(channels=("slack",))]
    worse = event("ERR", "WARN", event_id="event-2", at=OPENED_AT + MINUTE)
    over = event("OK", "ERR", event_id="event-3", at=OPENED_AT + 2 * MINUTE)
    with api.receiver() as receiver:
        for offset, published in enumerate([event("WARN"), worse, over]):

            async def scenario(
                tasks: asyncio.TaskGroup, at: int = offset, what: Any = published
            ) -> None:
                channel = bot(receiver.url)
                harness = Harness(log, tasks, routes, {"slack": channel})
                await harness.assign()
                await harness.read(what, offset=at)
                await harness.idle()
                await channel.close()

            life(scenario)
    assert log.outcomes() == ["delivered"] * 3
    ((first, replies),) = api.threads().items()
    assert [reply["text"][:5] for reply in replies] == ["[ERR]", "[OK] "]
    assert api.messages[first]["text"].startswith("[OK] ")
    assert log.states() == []


def test_an_endless_id_of_an_incident_is_cut() -> None:
    message = posted(delivery(event(incident_id="i\r\n" * 30_000)))
    (origin,) = message["blocks"][-1]["elements"]
    assert len(origin["text"]) < 200
    assert "i␍␊i" in origin["text"]
