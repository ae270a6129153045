"""Webhooks against real servers."""

import asyncio
import json
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from notifier.builders import delivery, event, incident
from notifier.harness import Log, play
from notifier.hostile_names import HOSTILE
from notifier.http_receiver import Answer, Drip, Hang, HttpReceiver, Request, Reset, Script
from notifier.specimens import Specimen, channel, of_table, send as send_to
from notifier.tls import self_signed
from standardwebhooks import Webhook, WebhookVerificationError
from support.cloudevents_sdks import npm_is_here, read_by_npm
from warren.clock import SystemClock
from warren.contracts import GroupIncidentEvent
from warren.errors import SettingsError
from warren_notifier.channels.channel import Channel, Delivered, Refused, Result, Retry, judged
from warren_notifier.state.telling import Delivery

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def table(at: str) -> str:
    return f'url = "http://{at}/hooks/k3y-17aQ9"\nsecret = "{SECRET}"'


SPECIMEN = Specimen(
    table,
    ("17aQ9", "9Qa71"),
    [
        (f'secret = "{SECRET}"', "", "it", "secret: is needed, or a body"),
        (SECRET, "whsec_c2hvcnQ=", "it.secret", "24 to 64 bytes"),
        (SECRET, "whsec_%%%", "it.secret", "base64"),
        ("type", 'headers = { "Bad Name" = "x" }\ntype', "it.headers", "no header name"),
        ("type", 'headers = { A = "a\\nb" }\ntype', "it.headers", "not printable ASCII"),
        ("type", 'headers = { content-length = "1" }\ntype', "it.headers", "Warren's own"),
        ("hooks.example.org:9", "hooks.example.org:99999", "it.url", "out of range"),
        ("hooks.example.org:9", "hooks example.org", "it.url", "host or port is none"),
        ("hooks.example.org:9", "xn--", "it.url", "Malformed"),
        ("hooks.example.org:9", "[", "it.url", ""),
        ("http://", "ftp://", "it.url", "http:// or https://"),
        ("type", 'ca = "x"\ntype', "it.ca", "no certificates in PEM"),
        ("type", "rate = 1e-300\ntype", "it.rate", "0.01"),
    ],
    is_service=False,
)
TEMPLATE = '{"text": {{ "Group " ~ data.group ~ "!" }}, "lag": {{ data.max_total_lag }}}'


def templated(body: str, what: Delivery | None = None, **fields: Any) -> Request:
    with HttpReceiver() as receiver:
        lines = f'type = "webhook"\nurl = "{receiver.url}"'
        made = channel(of_table(lines, body=body, **fields), SystemClock())
        (result,) = send_to(made, what or delivery())
    assert result == Delivered("HTTP 200")
    (request,) = receiver.requests
    return request


@pytest.mark.parametrize("name", HOSTILE)
def test_a_body_of_ones_own_has_the_fields_of_the_event(name: str) -> None:
    """No name ends its string and begins another field."""
    request = templated(TEMPLATE, delivery(event(group=HOSTILE[name])))
    assert request.headers["content-type"] == "application/json"
    assert request.headers["webhook-id"] == "delivery-1"
    assert "webhook-signature" not in request.headers
    assert json.loads(request.body) == {"text": f"Group {HOSTILE[name]}!", "lag": 2140}


def test_a_body_of_ones_own_may_be_no_json_and_may_be_signed() -> None:
    request = templated("{{ data.group }} <{{ data.status }}>", content_type="text/plain")
    assert (request.headers["content-type"], request.body) == ("text/plain", b"billing <ERR>")
    request = templated(TEMPLATE, secret=SECRET)
    Webhook(SECRET).verify(request.body, dict(request.headers))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("{{ data", "line 1: unexpected end"),
        ("{{ date }}", "'date' is undefined"),
        ("{ {{ data.group }} }", "JSONDecodeError"),
        ("{{ data.group.__class__.__mro__ }}", "unsafe"),
        ("{{ data.conditions.append(1) }}", "unsafe|not safely callable"),
        ("{{ 1 / 0 }}", "ZeroDivisionError"),
        ("{{ range(10000000) }}", "OverflowError|Range too big"),
        ("{{ 'x' * 2000000 }}", "more than 1048576"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "RecursionError"),
        ("{% include '/etc/passwd' %}", "no loader"),
    ],
)
def test_a_template_that_fails_is_refused_at_the_start(body: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        channel(of_table('type = "webhook"\nurl = "https://hooks.example.org"', body=body))


def test_one_that_fails_later_is_refused_then() -> None:
    with HttpReceiver() as receiver:
        lines = f'type = "webhook"\nurl = "{receiver.url}"'
        body = "{% if data.group == 'billing' %}{{ 1 / data.max_total_lag }}{% else %}1{% endif %}"
        made = channel(of_table(lines, body=body))
        (result,) = send_to(made, delivery(event(total_lag=0)))
    assert isinstance(result, Refused)
    assert "ZeroDivisionError" in result.detail
    assert receiver.requests == []


def hook(url: str, **fields: Any) -> Channel:
    """It asks this URL."""
    lines = f'type = "webhook"\nurl = "{url}"\nsecret = "{SECRET}"'
    return channel(of_table(lines, **{"timeout": 5.0} | fields), SystemClock())


def send(url: str, what: Delivery | None = None, **fields: Any) -> Result:
    (result,) = send_to(hook(url, **fields), what or delivery())
    return result


def answer(script: Script, **fields: Any) -> Result:
    with HttpReceiver(script) as receiver:
        return send(receiver.url, **fields)


def test_the_event_arrives_as_published_and_signed() -> None:
    with HttpReceiver() as receiver:
        assert send(f"{receiver.url}?team=a", headers={"Authorization": "Bearer x"}) == Delivered(
            "HTTP 200"
        )
    (request,) = receiver.requests
    assert request.path == "/hook?team=a"
    assert request.body == incident(event()).to_bytes()
    assert request.headers["content-type"] == "application/cloudevents+json; charset=utf-8"
    assert request.headers["authorization"] == "Bearer x"
    assert request.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert request.headers["webhook-id"] == "delivery-1"
    Webhook(SECRET).verify(request.body, dict(request.headers))
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(request.body + b" ", dict(request.headers))


@pytest.mark.parametrize("kind", ["opened", "repeated"])
def test_it_is_a_cloudevent_to_npms_sdk(kind: str) -> None:
    if not npm_is_here():
        pytest.skip("no npm package cloudevents: `make cloudevents` installs it")
    with HttpReceiver() as receiver:
        send(receiver.url, what=delivery(kind=kind))
    (request,) = receiver.requests
    (read,) = read_by_npm("http", [(dict(request.headers), request.body)])
    assert read == json.loads(request.body)


def test_cookies_are_not_kept() -> None:
    with HttpReceiver(Answer(200, {"Set-Cookie": "a=b"}), Answer(200)) as receiver:

        async def twice() -> None:
            channel = hook(receiver.url)
            await channel.send(delivery())
            await channel.send(delivery())
            await channel.close()

        asyncio.run(twice())
    assert [request.headers.get("cookie") for request in receiver.requests] == [None, None]


def test_former_secrets_sign_as_well() -> None:
    former = "whsec_" + "A" * 32
    with HttpReceiver() as receiver:
        send(receiver.url, previous_secrets=[former])
    (request,) = receiver.requests
    for secret in (SECRET, former):
        Webhook(secret).verify(request.body, dict(request.headers))
    with pytest.raises(WebhookVerificationError):
        Webhook("whsec_" + "B" * 32).verify(request.body, dict(request.headers))


@pytest.mark.parametrize(
    ("fields", "event_id"),
    [
        ({"kind": "repeated", "repeat": 1}, "event-1.1"),
        ({"kind": "repeated", "repeat": 2}, "event-1.2"),
        # The group has flapped since, and is bad by another incident than the receiver knows.
        ({"kind": "resolved", "incident_id": "before"}, "event-1"),
        ({"kind": "repeated", "incident_id": "before"}, "event-1.0"),
    ],
)
def test_what_is_told_again_has_an_id_of_its_own_and_the_incident_that_is_known(
    fields: dict[str, Any], event_id: str
) -> None:
    with HttpReceiver() as receiver:
        assert send(receiver.url, what=delivery(**fields)) == Delivered("HTTP 200")
    (request,) = receiver.requests
    Webhook(SECRET).verify(request.body, dict(request.headers))
    body = GroupIncidentEvent.from_bytes(request.body)
    known = fields.get("incident_id", "incident-1")
    assert (body.id, body.data.incident_id) == (event_id, known)
    assert body.data == incident(event()).data.model_copy(update={"incident_id": known})


def test_what_was_left_out_is_counted() -> None:
    with HttpReceiver() as receiver:
        send(receiver.url)
        send(receiver.url, what=delivery(left_out=3))
    assert [request.headers.get("warren-left-out") for request in receiver.requests] == [None, "3"]


@pytest.mark.parametrize(
    ("codes", "is_retried"),
    [
        ([408, 425, 429, 500, 502, 503, 504, 599], True),
        ([300, 304, 400, 401, 403, 404, 405, 409, 410, 413, 422, 451], False),
    ],
)
def test_which_codes_are_tried_again(codes: list[int], is_retried: bool) -> None:
    for code in codes:
        assert isinstance(judged(code, ""), Retry) is is_retried, code


@pytest.mark.parametrize("status", [201, 204, 299])
def test_taken(status: int) -> None:
    assert answer(Answer(status)) == Delivered(f"HTTP {status}")


def test_a_long_answer_is_cut() -> None:
    result = answer(Answer(500, body=b"x" * 1_000_000))
    assert len(result.detail) < 10_000


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7), ("0", 0), ("soon", None), ("", None), ("+1h", 3600), ("-1h", 0)],
)
def test_retry_after_in_seconds_or_as_a_date(header: str, seconds: int | None) -> None:
    if "h" in header:
        at = SystemClock().now_ms() / 1000 + int(header[:-1]) * 3600
        header = formatdate(at, usegmt=True)
    result = answer(Answer(429, {"Retry-After": header}))
    assert isinstance(result, Retry)
    if seconds is None:
        assert result.retry_after is None
    else:
        assert result.retry_after is not None
        assert max(seconds - 100, 0) <= result.retry_after <= seconds


def test_a_name_is_reached_at_its_checked_address() -> None:
    with HttpReceiver() as receiver:
        assert send(f"http://localhost:{receiver.port}/x") == Delivered("HTTP 200")
    assert receiver.requests[0].headers["host"] == f"localhost:{receiver.port}"


@pytest.mark.parametrize("script", [Reset(), Hang()])
def test_no_answer_is_tried_again(script: Script) -> None:
    assert isinstance(answer(script, timeout=0.2), Retry)


def test_who_is_not_there_is_tried_again() -> None:
    with HttpReceiver() as receiver:
        url = receiver.url
    for where in (url, "http://no-such-host.invalid/"):
        result = send(where)
        assert isinstance(result, Retry)
    assert "no-such-host.invalid" in result.detail


def test_certificates_are_checked_against_the_name_not_the_address(tmp_path: Path) -> None:
    certificate, context = self_signed(tmp_path, "DNS:localhost")
    with HttpReceiver(tls=context) as receiver:
        by_name = f"https://localhost:{receiver.port}/hook"
        assert send(by_name, ca=certificate) == Delivered("HTTP 200")
        by_address = send(f"https://127.0.0.1:{receiver.port}/hook", ca=certificate)
        assert isinstance(by_address, Retry)
        assert "CERTIFICATE_VERIFY_FAILED" in by_address.detail
        assert isinstance(send(by_name), Retry)
    assert len(receiver.requests) == 1


def delivered(*script: Script, **fields: Any) -> tuple[HttpReceiver, Log]:
    """With the whole machinery around the channel."""
    with HttpReceiver(*script) as receiver:
        channel = hook(receiver.url, **fields)
        log = play({"hook": channel}, event(), lambda _: channel.close())
    return receiver, log


def test_429_waits_as_long_as_it_is_asked_to() -> None:
    _, log = delivered(Answer(429, {"Retry-After": "600"}))
    failed, taken = log.audit()
    assert failed.next_attempt_at == failed.at + 600_000
    assert taken.at >= failed.at + 600_000


@pytest.mark.parametrize("script", [(Hang(), Reset()), (Drip(),)])
def test_whoever_does_not_answer_in_time_is_asked_again(script: tuple[Script, ...]) -> None:
    """The timeout is for the whole attempt, not for each byte."""
    receiver, log = delivered(*script, timeout=4)
    assert log.outcomes() == ["failed"] * len(script) + ["delivered"]
    assert len(set(receiver.ids())) == 1
    assert Drip() not in script or log.audit()[0].detail == "no answer within 4s"
