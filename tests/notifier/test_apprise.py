"""Channels through Apprise, which posts to a real server."""

import asyncio
import json
import sys
from typing import Any

import pytest
from notifier.builders import MINUTE, OPENED_AT, delivery, event
from notifier.harness import Harness, play
from notifier.hostile_names import HOSTILE
from notifier.http_receiver import Answer, Hang, HttpReceiver
from notifier.specimens import BASE, Specimen, channel as channel_of, of_table, send
from warren.errors import SettingsError
from warren_notifier.channels.channel import Delivered, Retry
from warren_notifier.channels.kinds.apprise import LEAST, AppriseChannel
from warren_notifier.state.telling import Delivery

SERVICES = [  # the first three have one format, a NotifyFormat; the others a tuple of them
    "ntfy://user:password@{at}/topic",
    "gotify://{at}/ABCDEFGHIJKLMNO",
    "mmost://{at}/3ccdd113474722377935511fc85d3dd4",
    "json://{at}/hook",
    "form://{at}/hook",
    "xml://{at}/hook",
]


SPECIMEN = Specimen(
    lambda at: f'url = "json://{at}/hook?+X-Key=secret&redirect=yes"',
    ("/hook", "/other"),
    [
        ("json", "jsom", "it.url", "Apprise knows no such URL"),
        ("json://", "", "it.url", "Apprise knows no such URL"),
    ],
    is_url=False,
    is_service=False,
)


def channel(url: str, **fields: Any) -> AppriseChannel:
    found = channel_of(of_table('type = "apprise"', url=url, **fields))
    assert isinstance(found, AppriseChannel)
    return found


def json_url(receiver: HttpReceiver, query: str = "") -> str:
    return f"json://127.0.0.1:{receiver.port}/hook{query}"


def posted(what: Delivery, query: str = "") -> dict[str, Any]:
    with HttpReceiver() as receiver:
        assert send(channel(json_url(receiver, query)), what) == [Delivered("taken")]
    found: dict[str, Any] = json.loads(receiver.requests[0].body)
    return found


def test_it_says_what_a_mail_says() -> None:
    found = posted(delivery())
    assert found["title"].startswith("[ERR] prod: billing ")
    assert found["type"] == "failure"
    assert "Consumer group billing on cluster prod is ERR." in found["message"]
    assert f"{BASE}/groups/prod/billing" in found["message"]
    over = event("OK", "ERR", event_id="e2", at=OPENED_AT + MINUTE)
    assert posted(delivery(over, kind="resolved"))["type"] == "success"


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_short_and_call_nobody(name: str) -> None:
    found = posted(delivery(event(group=HOSTILE[name])))
    for text in (found["title"], found["message"]):
        assert not any(call in text for call in ("<!channel>", "<@U123>", "@everyone"))
    assert len(found["title"]) <= 250
    if name == "long":
        assert found["title"].endswith("…")


@pytest.mark.parametrize("url", SERVICES)
def test_services_of_one_format_and_of_several_are_told(url: str) -> None:
    with HttpReceiver() as receiver:
        told = channel(url.format(at=f"127.0.0.1:{receiver.port}"))
        assert send(told, delivery()) == [Delivered("taken")]
    (request,) = receiver.requests
    assert b"billing" in request.body


@pytest.mark.parametrize("service", ["ntfy", "json"])
@pytest.mark.parametrize(
    ("shown", "said"), [("html", "<br>"), ("markdown", r"a\*b"), ("text", "group a*b on")]
)
def test_names_are_escaped_for_the_format_that_the_url_asks_for(
    service: str, shown: str, said: str
) -> None:
    with HttpReceiver() as receiver:
        told = channel(f"{service}://127.0.0.1:{receiver.port}/topic?format={shown}")
        assert send(told, delivery(event(group="a*b"))) == [Delivered("taken")]
    message = json.loads(receiver.requests[0].body)["message"]
    assert said in message


def test_what_goes_into_an_sms_is_cut_to_its_length() -> None:
    """As the services for SMS have it: no title, and 160 characters."""
    with HttpReceiver() as receiver:
        phone = channel(json_url(receiver))
        phone._service.title_maxlen, phone._service.body_maxlen = 0, 160
        results = send(phone, delivery(), delivery(event(group="g" * 200)))
    assert results == [Delivered("taken")] * 2
    plain, long = (json.loads(request.body)["message"] for request in receiver.requests)
    assert plain.startswith("[ERR] prod: billing stopped")
    assert "Consumer group billing" in plain
    assert long.startswith("[ERR] prod: gggg")
    assert max(len(plain), len(long)) <= 160


def test_what_is_not_taken_is_tried_again_and_says_why() -> None:
    with HttpReceiver(Answer(403)) as receiver:
        (result,) = send(channel(json_url(receiver)), delivery())
    assert isinstance(result, Retry)
    assert "403" in result.detail


def test_tokens_in_urls_are_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Apprise has them where others have a host."""
    telegram = channel("tgram://123456789:AbCdEfGhIjKlMnOpQrStUvWxYz0123456/98765432/")

    def fails(**_: object) -> bool:
        raise OSError("no route to bot123456789:AbCdEfGhIjKlMnOpQrStUvWxYz0123456")

    monkeypatch.setattr(telegram._service, "notify", fails)
    (result,) = send(telegram, delivery())
    assert isinstance(result, Retry)
    assert "no route" in result.detail
    assert "123456789" not in result.detail
    assert "AbCdEf" not in result.detail


def test_an_attempt_has_a_deadline_and_hanging_ones_are_counted() -> None:
    with HttpReceiver(*[Hang()] * (2 + LEAST)) as receiver:
        hanging = channel(json_url(receiver, "?rto=600"), timeout=0.2, concurrency=2)

        async def read(harness: Harness) -> None:
            await harness.read(event())
            while len(harness.log.audit()) < 2 + LEAST + 1:
                await asyncio.sleep(0.01)

        log = play({"any": hanging}, read)
    assert log.audit()[0].detail == "no answer within 0.2s"
    assert log.audit()[2 + LEAST].detail == f"{2 + LEAST} attempts hang"


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    with pytest.raises(SettingsError, match=r"warren-kafka\[apprise\]"):
        channel("ntfys://topic")
