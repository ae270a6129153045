"""What holds for channels of every kind, by the specimens of all."""

import re
import socket
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import Any

import pytest
from notifier.builders import MINUTE, OPENED_AT, delivery, event, fullest
from notifier.hostile_names import EVERY, HOSTILE, LARGE
from notifier.http_receiver import Answer, HttpReceiver, Request
from notifier.raw_receiver import RawReceiver
from notifier.specimens import KINDS, channel, made, of_table, send, settings, specimen
from notifier.test_hostile_receivers import told
from warren.contracts import Cause, NotificationTest
from warren.errors import SettingsError
from warren.settings.secrets import secret_values
from warren_notifier.channels.channel import Delivered, Refused, Result, Retry
from warren_notifier.channels.configured import channel_settings, digesting
from warren_notifier.routing import trial
from warren_notifier.state.telling import Delivery

URLS = [kind for kind in KINDS if specimen(kind).is_url]
GUARDED = [kind for kind in KINDS if specimen(kind).is_guarded]
SERVICES = [kind for kind in URLS if specimen(kind).is_service]
INSIDE = ["10.1.2.3", "169.254.169.254", "168.63.129.16", "fe80::1", "fd00:ec2::254"]
PAGE = b"\xef\xbb\xbf\n<!DOCTYPE html><title>Log in</title>"
HTML = {"Content-Type": "text/html; charset=utf-8"}  # Slack's own `ok` comes as such


def taken(kind: str, *what: Delivery) -> list[Request]:
    """Requests that the receiver has found right."""
    with HttpReceiver(decide=specimen(kind).receiver) as receiver:
        results = send(made(kind, f"127.0.0.1:{receiver.port}"), *what)
    assert all(isinstance(result, Delivered) for result in results), results
    return receiver.requests


def result_of(kind: str, answer: Answer) -> Result:
    with HttpReceiver(answer) as receiver:
        (result,) = send(made(kind, f"127.0.0.1:{receiver.port}"), delivery())
    return result


# --- Settings


def test_every_kind_can_be_told_from_others() -> None:
    for kind in KINDS:
        at, (old, new) = "hooks.example.org:9", specimen(kind).elsewhere
        lines = f'type = "{kind}"\n{specimen(kind).table(at)}'
        assert old in lines, kind
        there, elsewhere = channel(of_table(lines)), channel(of_table(lines.replace(old, new)))
        assert there.identity == channel(of_table(lines)).identity
        assert there.identity.kind == kind
        assert there.identity != elsewhere.identity, kind


REFUSALS = [
    *((kind, *refusal) for kind in KINDS for refusal in specimen(kind).refusals),
    *((kind, "type =", "timeuot = 5\ntype =", "timeuot", "channels.it.timeout?") for kind in KINDS),
    *((kind, "type =", "timeout = 0\ntype =", "timeout", "greater than") for kind in KINDS),
    ("teams", '"teams"', '"pigeon"', "type", f"'pigeon' is none of {', '.join(KINDS)}"),
]


@pytest.mark.parametrize(("kind", "old", "new", "setting", "advice"), REFUSALS)
def test_refusals_name_the_setting_and_the_fix(
    kind: str, old: str, new: str, setting: str, advice: str
) -> None:
    lines = f'type = "{kind}"\n{specimen(kind).table("hooks.example.org:9")}'
    assert old in lines
    with pytest.raises((SettingsError, ValueError)) as refused:
        channel(of_table(lines.replace(old, new, 1)))
    assert setting in str(refused.value)
    assert advice in str(refused.value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_that_is_denied(kind: str) -> None:
    allowed = settings(kind, "hooks.example.org:9").model_dump(exclude={"channels"})
    table = {"it": settings(kind, "hooks.example.org:9").channels["it"].written()}
    others = [other for other in KINDS if other != kind]
    of = type(settings(kind, "hooks.example.org:9")).model_validate
    channel(of(allowed | {"channels": table, "deny_channels": others}))
    with pytest.raises(ValueError, match=f"channel it: type {kind} is in deny_channels"):
        of(allowed | {"channels": table, "deny_channels": [kind]})
    with pytest.raises(SettingsError, match="deny_channels: 'pigeon' is none of"):
        channel(of(allowed | {"channels": table, "deny_channels": ["pigeon"]}))


def test_who_can_tell_several_is_known_without_a_channel() -> None:
    many = {kind for kind in KINDS if digesting(settings(kind, "hooks.example.org:9"))}
    assert many == {"email", "slack", "teams"}
    assert many == {kind for kind in KINDS if made(kind, "hooks.example.org:9").tells_many}


def test_who_hears_of_acknowledgements_and_of_what_lasts() -> None:
    built = {kind: made(kind, "hooks.example.org:9") for kind in KINDS}
    assert {kind for kind in KINDS if built[kind].takes_acknowledgements} == {"pagerduty"}
    assert {k: built[k].resend_ms for k in KINDS if built[k].resend_ms} == {"alertmanager": 120_000}


# --- Where a channel leads


@pytest.mark.parametrize(("kind", "code"), [*product(GUARDED, [301, 307])])
def test_a_redirect_leads_nowhere(kind: str, code: int) -> None:
    with HttpReceiver() as elsewhere:
        where = {"Location": f"http://localhost:{elsewhere.port}/taken"}
        with HttpReceiver(decide=lambda _: Answer(code, where)) as receiver:
            (result,) = send(made(kind, f"127.0.0.1:{receiver.port}"), delivery())
    assert len(receiver.requests) == 1
    assert not elsewhere.requests
    assert result == Refused(f"HTTP {code}: redirects are not followed")


@pytest.mark.parametrize("kind", GUARDED)
def test_a_name_that_leads_to_this_machine_is_refused(kind: str) -> None:
    with HttpReceiver() as receiver:
        (result,) = send(made(kind, f"localhost:{receiver.port}", allow=()), delivery())
    assert isinstance(result, Refused)
    assert "not in notifier.allow_networks" in result.detail
    assert not receiver.requests


@pytest.mark.parametrize(("kind", "address"), [*product(GUARDED, INSIDE)])
def test_what_a_name_leads_to_is_refused(
    monkeypatch: pytest.MonkeyPatch, kind: str, address: str
) -> None:
    plain = socket.getaddrinfo
    asked: list[Any] = []

    def looked_up(host: Any, *rest: Any, **named: Any) -> Any:
        asked.append(host)
        return plain(address if host == "hooks.example.org" else host, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    (result,) = send(made(kind, "hooks.example.org:9", allow=()), delivery())
    assert isinstance(result, Refused)
    assert address in result.detail
    assert "not in notifier.allow_networks" in result.detail
    assert asked == ["hooks.example.org"]


# --- What its receiver is told

ENDLESS = "i\r\n" * 30_000
MESSAGES: Mapping[str, Callable[[str], Delivery]] = {
    "opened": lambda name: delivery(event(group=name)),
    "cause": lambda name: delivery(
        event(cause=Cause(name="too_slow", sentence=name * 9, action=name * 9), explanation=name)
    ),
    "fullest": lambda name: delivery(fullest(name)),
    "resolved": lambda name: delivery(
        event("OK", "ERR", event_id="event-2", group=name, at=OPENED_AT + MINUTE), kind="resolved"
    ),
}


@pytest.mark.parametrize(("kind", "message"), [*product(GUARDED, MESSAGES)])
def test_no_name_breaks_a_rule_of_the_receiver(kind: str, message: str) -> None:
    names = {"fullest": LARGE, "resolved": EVERY}.get(message, HOSTILE)
    told = [MESSAGES[message](name) for name in names.values()]
    assert len(taken(kind, *told)) == len(names)


@pytest.mark.parametrize("kind", GUARDED)
def test_an_endless_id_of_an_incident_is_taken(kind: str) -> None:
    (request,) = taken(kind, delivery(event(incident_id=ENDLESS)))
    if specimen(kind).is_service:
        assert len(request.body) < len(ENDLESS)


@pytest.mark.parametrize("kind", GUARDED)
def test_a_test_of_a_route_says_so(kind: str) -> None:
    asked = NotificationTest(id="1", route="all", by="ada", at=OPENED_AT)
    opening = trial.opening(asked, OPENED_AT)
    tests = [opening, trial.closing(opening, OPENED_AT + MINUTE)]
    told = [
        Delivery(0, test.subject, delivery(kind=kind_).pending, test.event)
        for test, kind_ in zip(tests, ("opened", "resolved"), strict=True)
    ]
    assert b"test of route all" in taken(kind, *told)[0].body


# --- What its answers mean


@pytest.mark.parametrize("kind", URLS)
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(429, {"Retry-After": "30"}), Retry("HTTP 429", 30.0)),
        (Answer(500, body=b"oops"), Retry("HTTP 500: oops")),
        (Answer(502), Retry("HTTP 502", uncertain=True)),
        (Answer(503, {"Retry-After": "9"}), Retry("HTTP 503", 9.0)),
        (Answer(400, body=b"bad"), Refused("HTTP 400: bad")),
        (Answer(404, body=b"no such hook"), Refused("HTTP 404: no such hook")),
        (Answer(410), Refused("HTTP 410")),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Answer) else "",
)
def test_codes_mean_the_same(kind: str, answer: Answer, expected: Result) -> None:
    assert result_of(kind, answer) == expected


@pytest.mark.parametrize("kind", URLS)
def test_whether_the_message_is_at_fault(kind: str) -> None:
    for status, of_message in ((400, True), (413, True), (403, False), (404, False)):
        result = result_of(kind, Answer(status))
        assert isinstance(result, Refused)
        assert result.of_message == of_message


@pytest.mark.parametrize("kind", URLS)
def test_who_is_gone_is_not_asked_again(kind: str) -> None:
    with HttpReceiver(Answer(410)) as receiver:
        first, second = send(made(kind, f"127.0.0.1:{receiver.port}"), delivery(), delivery())
    assert first == Refused("HTTP 410")
    assert isinstance(second, Refused)
    assert "410 before" in second.detail
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("kind", SERVICES)
@pytest.mark.parametrize(
    "answer", [Answer(200, body=PAGE), Answer(202, HTML, b"Please log in")], ids=["body", "type"]
)
def test_a_page_is_no_answer_of_a_service(kind: str, answer: Answer) -> None:
    result = result_of(kind, answer)
    assert isinstance(result, Retry)
    assert result.uncertain


@pytest.mark.parametrize("kind", [kind for kind in URLS if kind not in SERVICES])
def test_of_anything_else_the_code_counts(kind: str) -> None:
    for body in (PAGE, b"invalid_payload", b'{"status": "invalid event"}'):
        assert isinstance(result_of(kind, Answer(200, HTML, body)), Delivered)


@pytest.mark.parametrize(("kind", "headers"), [*product(SERVICES, [{}, HTML])])
@pytest.mark.parametrize(
    "body", [b"", b"ok", b"OK\n", b'{"success":true}', b'{"status":"ok"}', b"1", b"{}"]
)
def test_whatever_says_yes_is_delivered(kind: str, headers: dict[str, str], body: bytes) -> None:
    assert isinstance(result_of(kind, Answer(200, headers, body)), Delivered)


@pytest.mark.parametrize("kind", SERVICES)
def test_a_body_that_does_not_come_takes_nothing_back(kind: str) -> None:
    with RawReceiver(then=b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n") as receiver:
        (result,) = send(made(kind, f"127.0.0.1:{receiver.port}"), delivery())
    assert isinstance(result, Delivered)


# --- What is secret

SPLIT = re.compile(r"[/:?&=]+|127\.0\.0\.1")


@pytest.mark.parametrize("kind", GUARDED)
def test_a_receiver_that_sends_back_what_it_got_tells_no_secret(kind: str) -> None:
    def echo(status: int, request: Request) -> Answer:
        said = f"{request.path} {' '.join(request.headers.values())} ".encode() + request.body
        return Answer(status, body=said[:2_000])

    for status in (404, 500):
        with HttpReceiver(decide=partial(echo, status)) as receiver:
            of = settings(kind, f"127.0.0.1:{receiver.port}")
            (read,) = channel_settings(of).values()
            secrets = list(secret_values(read))
            log = told(channel(of), tuple(secrets), outcomes=1)
        assert receiver.requests
        for secret in (part for text in secrets for part in SPLIT.split(text) if len(part) > 5):
            assert all(secret.encode() not in (record.value or b"") for record in log.records)
            assert secret not in repr(of)
            assert secret not in of.model_dump_json()
