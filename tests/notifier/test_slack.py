"""Slack's incoming webhooks against a receiver that checks what Slack's documentation demands."""

import json
from typing import Any

import pytest
from notifier.builders import delivery, event
from notifier.hostile_names import HOSTILE
from notifier.http_receiver import Answer, HttpReceiver, Request
from notifier.slack_receiver import shown, violations
from notifier.specimens import BASE, Specimen, made, send
from warren.contracts import Cause
from warren_notifier.channels.channel import Channel, Delivered, Refused, Result, Retry
from warren_notifier.state.telling import Delivery


def checked(request: Request) -> Answer:
    """An incoming webhook's answer."""
    wrong = list(violations(json.loads(request.body)))
    return Answer(400, body=b"invalid_blocks " + repr(wrong).encode()) if wrong else Answer(200)


def posted(what: Delivery) -> dict[str, Any]:
    with HttpReceiver(decide=checked) as receiver:
        assert send(webhook(receiver), what) == [Delivered("HTTP 200")]
    (request,) = receiver.requests
    assert request.headers["content-type"] == "application/json; charset=utf-8"
    message: dict[str, Any] = json.loads(request.body)
    return message


def webhook(receiver: HttpReceiver) -> Channel:
    return made("slack", f"127.0.0.1:{receiver.port}")


SPECIMEN = Specimen(
    lambda at: f'url = "http://{at}/hooks/k3y-17aQ9"',
    ("17aQ9", "9Qa71"),
    [
        ("http://", "slack://", "it.url", "http:// or https:// URL"),
        ("url =", "ur =", "it.ur", "unknown"),
    ],
    checked,
)


def test_a_message_says_what_is_wrong_and_what_to_do() -> None:
    cause = Cause(name="no_members", sentence="Nobody is in the group.", action="Start it.")
    message = posted(delivery(event(cause=cause)))
    assert message["text"] == "[ERR] prod: billing no members; as of 07:00 UTC"
    text = shown(message)
    for part in ("Consumer group billing on cluster prod is ERR.", "Nobody is in the group."):
        assert part in text
    assert "What to do: Start it." in text
    assert f"{BASE}/groups/prod/billing" in json.dumps(message)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_becomes_markup(name: str) -> None:
    message = posted(delivery(event(group=HOSTILE[name])))
    assert "<!" not in message["text"]
    if name == "long":
        assert "…" in message["blocks"][0]["text"]["text"]
        assert HOSTILE[name] in shown(message)


HTML = {"Content-Type": "text/html; charset=utf-8"}  # Slack's own `ok` comes as such


def result_of(answer: Answer) -> Result:
    with HttpReceiver(answer) as receiver:
        (result,) = send(webhook(receiver), delivery())
    return result


@pytest.mark.parametrize("headers", [{}, HTML], ids=["", "html"])
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("invalid_payload", Refused("HTTP 200: invalid_payload")),
        ("no_service", Refused("HTTP 200: no_service")),
        ("channel_is_archived\n", Refused("HTTP 200: channel_is_archived")),
        (
            "invalid_blocks: header is too long",
            Refused("HTTP 200: invalid_blocks: header is too long"),
        ),
        (
            '{"ok": false, "error": "channel_not_found"}',
            Refused('HTTP 200: {"ok": false, "error": "channel_not_found"}'),
        ),
        ('{"success":false}', Retry('HTTP 200: {"success":false}')),
        ("rollup_error", Retry("HTTP 200: rollup_error")),
        ("ratelimited", Retry("HTTP 200: ratelimited")),
    ],
)
def test_what_slack_says_counts(headers: dict[str, str], said: str, expected: Result) -> None:
    assert result_of(Answer(200, headers, said.encode())) == expected


def test_whether_the_message_is_at_fault_is_in_slacks_words() -> None:
    for said, of_message in (
        ("invalid_blocks", True),
        ("msg_too_long", True),
        ("no_service", False),
    ):
        result = result_of(Answer(200, body=said.encode()))
        assert isinstance(result, Refused)
        assert result.of_message == of_message


@pytest.mark.parametrize("said", ["Message posted.", "[" * 10_000], ids=["text", "nesting"])
def test_what_is_no_word_of_slack_is_the_receivers_own(said: str) -> None:
    assert result_of(Answer(200, body=said.encode())) == Delivered("HTTP 200")
