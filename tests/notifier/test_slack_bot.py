"""Slack's Web API: the receiver keeps messages and threads as Slack's documentation has it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from notifier.builders import MINUTE, OPENED_AT, delivery, event, route
from notifier.harness import Harness, Log, life
from notifier.http_receiver import Answer, HttpReceiver, Request
from notifier.slack_receiver import SlackApi
from notifier.specimens import Specimen, made, send
from support.waiting import until
from warren.contracts import Cause, GroupIncidentEvent
from warren_notifier.channels.channel import Channel, Delivered, Refused, Result, Retry
from warren_notifier.channels.renewable import renewable


def bot(receiver: HttpReceiver, **fields: Any) -> Channel:
    return made("slack-bot", f"127.0.0.1:{receiver.port}", **fields)


def posts(request: Request) -> Answer:
    return SlackApi().decide(request)


SPECIMEN = Specimen(
    lambda at: f'api = "http://{at}/hook"\ntoken = "xoxb-1"\nconversation = "C123"',
    ("C123", "C987"),
    [
        ("xoxb-1", "xoxb-\\u00e9", "it.token", "not printable ASCII"),
        ('conversation = "C123"', "", "it.conversation", "is needed"),
    ],
    posts,
)


def test_later_messages_are_replies_and_the_first_says_how_it_stands() -> None:
    api = SlackApi()
    with api.receiver() as receiver:
        channel = bot(receiver)
        over = event("OK", "ERR", event_id="event-2", at=OPENED_AT + MINUTE)
        (opened,) = send(channel, delivery())
        assert opened == Delivered(
            "posted C123/1795244400.000000", receipt="C123/1795244400.000000"
        )
        resolved = delivery(over, kind="resolved")
        resolved.receipt = opened.receipt
        (ended,) = send(bot(receiver), resolved)
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
        assert send(bot(receiver), delivery()) == [expected]


def test_wrong_tokens_and_conversations_are_refused() -> None:
    with SlackApi().receiver() as receiver:
        assert send(bot(receiver, token="xoxb-2"), delivery()) == [Refused("invalid_auth")]
        other = bot(receiver, conversation="C9")
        assert send(other, delivery()) == [Refused("channel_not_found")]


def test_an_answer_that_is_no_json_is_tried_again() -> None:
    with HttpReceiver(Answer(200, body=b"<html>")) as receiver:
        (result,) = send(bot(receiver), delivery())
    assert isinstance(result, Retry)
    assert result.uncertain


@pytest.mark.parametrize("error", ["message_not_found", "edit_window_closed"])
def test_a_first_message_that_cannot_change_has_its_replies(error: str) -> None:
    api = SlackApi()
    with api.receiver() as receiver:
        (opened,) = send(bot(receiver), delivery())
        assert isinstance(opened, Delivered)
        api.refusals = [error]
        again = delivery(kind="changed", delivery_id="delivery-2")
        again.receipt = opened.receipt
        assert isinstance(send(bot(receiver), again)[0], Delivered)
    assert [len(replies) for replies in api.threads().values()] == [1]


def test_without_its_thread_a_message_begins_another() -> None:
    api = SlackApi()
    lost = delivery(kind="changed")
    lost.receipt = "C123/1.000001"
    with api.receiver() as receiver:
        (result,) = send(bot(receiver), lost)
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
        channel = bot(receiver)

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
                channel = bot(receiver)
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


GONE, STUCK = (
    Cause(name=name, short=short, sentence=f"{short} for 1m")
    for name, short in (("no_members", "No members"), ("stuck_record", "Stuck at one record"))
)


class Causes:
    """Which cause groups have now."""

    def __init__(self) -> None:
        self.now = GONE

    def __call__(self, text: str) -> str:
        whole = GroupIncidentEvent.from_bytes(text.encode())
        conditions = [
            each.model_copy(update={"data": each.data.model_copy(update={"cause": self.now})})
            for each in whole.data.conditions
        ]
        told = whole.data.model_copy(update={"conditions": conditions})
        return whole.model_copy(update={"data": told}).model_dump_json()


@pytest.mark.parametrize("groups", [["billing"], ["billing", "ledger"]])
def test_the_first_message_follows_another_cause(groups: list[str]) -> None:
    """No event tells of it. What is right already is left alone, and nothing is audited."""
    causes, api, log, told = Causes(), SlackApi(), Log(), list[tuple[str, int]]()

    async def scenario(tasks: asyncio.TaskGroup) -> None:
        channels = {"slack": renewable(bot(receiver))}
        harness = Harness(log, tasks, [route(channels=("slack",))], channels, as_now=causes)
        await harness.assign()
        about = [event(event_id=name, group=name, incident_id=name) for name in groups]
        await harness.read(*about)
        await harness.idle()
        (edits,) = harness.edits
        for causes.now in (GONE, STUCK, STUCK):
            before = len(receiver.requests)
            await edits.look()
            (first,) = api.threads()
            told.append((api.messages[first]["text"], len(receiver.requests) - before))
        over = [
            event("OK", "ERR", event_id=f"{name}-over", group=name, incident_id=name)
            for name in groups
        ]
        await harness.read(*over, offset=len(groups))
        await harness.idle()
        await edits.look()

    with api.receiver() as receiver:
        life(scenario)
    assert [calls for _, calls in told] == [1, 1, 0]
    assert "no members" in told[0][0]
    assert "stuck at one record" in told[1][0]
    ((first, replies),) = api.threads().items()
    assert len(replies) == 1
    assert api.messages[first]["text"].startswith("[OK]")
    assert set(log.outcomes()) == {"delivered"}
