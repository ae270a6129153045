"""Answers of 2xx whose body says that nothing was taken, and those that only look like it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from notifier import test_alertmanager, test_pagerduty, test_slack, test_teams
from notifier.builders import delivery
from notifier.http_receiver import Answer, HttpReceiver
from notifier.raw_receiver import RawReceiver
from notifier.slack_receiver import SlackApi
from notifier.test_slack import send
from notifier.test_template_webhook import channel as template
from notifier.test_webhook import LOOPBACK, settings
from warren.clock import SystemClock
from warren_notifier.channels.channel import Channel, Delivered, Refused, Result, Retry
from warren_notifier.channels.kinds.webhook import WebhookChannel

Make = Callable[[Any], Channel]
PAGE = b"\xef\xbb\xbf\n<!DOCTYPE html><title>Log in</title>"
HTML = {"Content-Type": "text/html; charset=utf-8"}  # Slack's own `ok` comes as such

SERVICES: dict[str, Make] = {
    "slack": lambda receiver: test_slack.webhook(receiver.url),
    "teams": lambda receiver: test_teams.channel(receiver.url),
    "pagerduty": lambda receiver: test_pagerduty.channel(receiver.url),
    "alertmanager": lambda receiver: test_alertmanager.alertmanager(receiver.url),
}
ANYTHING: dict[str, Make] = {
    "webhook": lambda receiver: WebhookChannel(settings(receiver.url), "", LOOPBACK, SystemClock()),
    "template": lambda receiver: template(receiver.url, "{}"),
    "alertmanager-webhook": lambda receiver: test_alertmanager.webhook(receiver.url),
}


def result_of(make: Make, answer: Answer) -> Result:
    with HttpReceiver(answer) as receiver:
        (result,) = send(make(receiver), delivery())
    return result


@pytest.mark.parametrize("make", SERVICES.values(), ids=SERVICES)
@pytest.mark.parametrize(
    "answer", [Answer(200, body=PAGE), Answer(202, HTML, b"Please log in")], ids=["body", "type"]
)
def test_a_page_is_no_answer_of_a_service(make: Make, answer: Answer) -> None:
    result = result_of(make, answer)
    assert isinstance(result, Retry)
    assert result.uncertain
    assert "log in" in result.detail.lower()


@pytest.mark.parametrize("make", ANYTHING.values(), ids=ANYTHING)
def test_of_anything_else_the_code_counts(make: Make) -> None:
    for body in (PAGE, b"invalid_payload", b'{"status": "invalid event"}'):
        assert isinstance(result_of(make, Answer(200, HTML, body)), Delivered)


@pytest.mark.parametrize("make", SERVICES.values(), ids=SERVICES)
@pytest.mark.parametrize("headers", [{}, HTML], ids=["", "html"])
@pytest.mark.parametrize(
    "body", [b"", b"ok", b"OK\n", b'{"success":true}', b'{"status":"ok"}', b"1", b"{}"]
)
def test_whatever_says_yes_is_delivered(make: Make, headers: dict[str, str], body: bytes) -> None:
    assert isinstance(result_of(make, Answer(200, headers, body)), Delivered)


def test_text_that_is_no_word_of_slack_is_the_receivers_own() -> None:
    found = result_of(SERVICES["slack"], Answer(200, body=b"Message posted."))
    assert found == Delivered("HTTP 200")


def test_nesting_without_end_is_an_answer_as_any_other() -> None:
    found = result_of(SERVICES["slack"], Answer(200, body=b"[" * 10_000))
    assert found == Delivered("HTTP 200")


@pytest.mark.parametrize("make", SERVICES.values(), ids=SERVICES)
def test_a_body_that_does_not_come_takes_nothing_back(make: Make) -> None:
    with RawReceiver(then=b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n") as receiver:
        (result,) = send(make(receiver), delivery())
    assert isinstance(result, Delivered)


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
    assert result_of(SERVICES["slack"], Answer(200, headers, said.encode())) == expected


FAILED = "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (f"{FAILED} 429 with ContextId tcid=0", Retry),
        (f"{FAILED} 503 with ContextId tcid=0", Retry),
        (f"{FAILED} 413 with ContextId tcid=0", Refused),
        ("Webhook message delivery failed with error: something else", Retry),
    ],
)
def test_teams_old_connector_says_yes_when_it_means_no(
    said: str, expected: type[Retry | Refused]
) -> None:
    assert result_of(SERVICES["teams"], Answer(200, body=said.encode())) == expected(
        f"HTTP 200: {said}"
    )


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ('{"status":"invalid event","errors":["dedup_key"]}', Refused),
        ('{"status":"throttle exceeded"}', Retry),
    ],
)
def test_pagerduty_says_success_or_has_not_taken_it(
    said: str, expected: type[Retry | Refused]
) -> None:
    assert result_of(SERVICES["pagerduty"], Answer(200, body=said.encode())) == expected(
        f"HTTP 200: {said}"
    )


@pytest.mark.parametrize(
    ("answer", "of_message"),
    [
        (Answer(400, body=b"invalid_blocks"), True),
        (Answer(413), True),
        (Answer(403, body=b"action_prohibited"), False),
        (Answer(404, body=b"no_service"), False),
    ],
)
def test_whether_the_message_is_at_fault(answer: Answer, of_message: bool) -> None:
    for make in SERVICES.values():
        result = result_of(make, answer)
        assert isinstance(result, Refused)
        assert result.of_message == of_message


@pytest.mark.parametrize(
    ("said", "of_message"),
    [("invalid_blocks", True), ("msg_too_long", True), ("no_service", False)],
)
def test_whether_it_is_in_slacks_words(said: str, of_message: bool) -> None:
    api = SlackApi()
    api.refusals = [said]
    with api.receiver() as receiver:
        (by_api,) = send(test_slack.bot(receiver.url), delivery())
    for result in (by_api, result_of(SERVICES["slack"], Answer(200, body=said.encode()))):
        assert isinstance(result, Refused)
        assert result.of_message == of_message
