"""No receiver can end the service, and none gets a secret into what Warren writes."""

import asyncio
import gzip
import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from notifier.builders import event
from notifier.harness import Harness, Log, Scripted, play
from notifier.http_receiver import Answer, HttpReceiver
from notifier.raw_receiver import Flood, RawReceiver
from notifier.smtp_receiver import SmtpReceiver, serving
from notifier.test_email import channel as email_channel
from notifier.test_webhook import hook
from warren.redaction import Redaction
from warren_local.server import free_port
from warren_notifier.channels.channel import Channel, Result
from warren_notifier.state.telling import Delivery

TAKEN = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
BUSY = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n"
FOREVER = itertools.repeat


def head(line: bytes, *headers: bytes) -> bytes:
    return b"\r\n".join([line, *headers, b"", b""])


def endless_body() -> Iterator[bytes]:
    yield head(b"HTTP/1.1 500 Oops", b"Transfer-Encoding: chunked")
    yield from FOREVER(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")


def endless_headers() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\n"
    yield from FOREVER(b"X-Flood: " + b"x" * 60_000 + b"\r\n")


def endless_line() -> Iterator[bytes]:
    return FOREVER(b"x" * 65_536)


def interim_answers() -> Iterator[bytes]:
    return FOREVER(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)


def busy(retry_after: bytes) -> bytes:
    return BUSY + b"Retry-After: " + retry_after + b"\r\n\r\n"


BOMB = gzip.compress(bytes(50_000_000))
ANSWERS: dict[str, bytes | Flood] = {
    "nothing": b"",
    "nonsense": b"\x00\xff\x16\x03 nonsense \r\n\r\n",
    "TLS alert": b"\x15\x03\x01\x00\x02\x02\x28",
    "status of letters": head(b"HTTP/1.1 abc Oops"),
    "negative status": head(b"HTTP/1.1 -1 Oops"),
    "four digits": head(b"HTTP/1.1 2000 Oops"),
    "invalid UTF-8": head(b"HTTP/1.1 500 \xff\xfe", b"X-Odd: \xff\xfe", b"Content-Length: 2")
    + b"\xff\xfe",
    "two lengths": head(b"HTTP/1.1 500 Oops", b"Content-Length: 1", b"Content-Length: 5") + b"x",
    "negative length": head(b"HTTP/1.1 500 Oops", b"Content-Length: -1"),
    "longer than it is": head(b"HTTP/1.1 500 Oops", b"Content-Length: 1000") + b"x",
    "no chunk": head(b"HTTP/1.1 500 Oops", b"Transfer-Encoding: chunked") + b"zz\r\n",
    "gzip bomb": head(
        b"HTTP/1.1 500 Oops", b"Content-Encoding: gzip", b"Content-Length: %d" % len(BOMB)
    )
    + BOMB,
    "no gzip": head(b"HTTP/1.1 500 Oops", b"Content-Encoding: gzip", b"Content-Length: 1") + b"x",
    "header of 2 MB": head(b"HTTP/1.1 500 Oops", b"X-Large: " + b"x" * 2_000_000),
    "endless body": endless_body,
    "endless headers": endless_headers,
    "endless line": endless_line,
    "interim answers": interim_answers,
    "400 digits": busy(b"9" * 400),
    "5,000 digits": busy(b"9" * 5_000),
    "infinite": busy(b"Infinity"),
    "no number": busy(b"NaN"),
    "negative": busy(b"-5"),
    "Arabic digits": busy("٣".encode()),
    "year 9999": busy(b"Fri, 31 Dec 9999 23:59:59 GMT"),
    "year 1": busy(b"Mon, 01 Jan 0001 00:00:00 +1400"),
    "no year": busy(b"Fri, 31 Dec 99999999999999999999 23:59:59 GMT"),
    "no day": busy(b"Fri, 99 Dec 2026 23:59:59 GMT"),
    "no zone": busy(b"Fri, 31 Dec 2026 23:59:59 +999999999999999999"),
}


class FirstAttempts(Channel):
    """A channel that is used so many times; the next attempt never ends. Cut off amid a handshake,
    the HTTP client would leave a socket to the garbage collector.
    """

    def __init__(self, channel: Channel, attempts: int) -> None:
        self.timeout, self.concurrency = channel.timeout, channel.concurrency
        self.identity = channel.identity
        self._channel, self._left = channel, attempts

    async def send(self, delivery: Delivery) -> Result:
        self._left -= 1
        if self._left < 0:
            await asyncio.Event().wait()
        return await self._channel.send(delivery)

    async def close(self) -> None:
        await self._channel.close()


def told(channel: Channel, secrets: tuple[str, ...] = (), outcomes: int = 2) -> Log:
    """What is written when one event goes to a channel; the clock jumps over all waits."""
    channel = FirstAttempts(channel, outcomes)

    async def read(harness: Harness) -> None:
        await harness.read(event())
        async with asyncio.timeout(20):
            while harness.pending() and len(harness.log.outcomes()) < outcomes:
                await asyncio.sleep(0.01)
        await channel.close()

    return play({"hook": channel}, read, redaction=Redaction(secrets))


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
def test_any_answer_is_an_attempt_that_failed(answer: bytes | Flood) -> None:
    with RawReceiver(answer, then=TAKEN) as receiver:
        log = told(hook(receiver.url, timeout=5.0))
    first, last = log.audit()
    assert (first.outcome, last.outcome) == ("failed", "delivered")
    assert len(first.detail) < 500
    assert first.detail.isprintable()


def test_no_tls_where_tls_is_expected() -> None:
    with RawReceiver(then=b"nonsense\r\n" * 10_000) as receiver:
        url = receiver.url.replace("http:", "https:")
        log = told(hook(url, timeout=1.0))
    assert log.outcomes()[:2] == ["failed", "failed"]


def smtp_lines() -> Iterator[bytes]:
    return FOREVER(b"220-more\r\n" * 1_000)


SMTP: dict[str, bytes | Flood] = {
    "nothing": b"",
    "nonsense": b"\xff\xfe nonsense\r\n" * 3,
    "not a code": b"999999 hello\r\n",
    "invalid UTF-8": b"451 \xff\xfe\r\n",
    "control characters": b"451 \x1b[2J\x00\r\n",
    "endless line": endless_line,
    "endless answer": smtp_lines,
}


@pytest.mark.parametrize("answer", SMTP.values(), ids=SMTP.keys())
def test_any_mail_server(answer: bytes | Flood) -> None:
    with RawReceiver(answer, then=b"451 busy\r\n", greeting=True) as receiver:
        log = told(email_channel(receiver.port, timeout=1.0))
    assert log.outcomes()[:2] == ["failed", "failed"]
    assert all(len(audit.detail) < 500 and audit.detail.isprintable() for audit in log.audit())


class TestSecrets:
    """A receiver that sends back what it was sent."""

    PATH = "/services/T0123/xoxb-17aQ9"

    @pytest.mark.parametrize("status", [404, 500])
    @pytest.mark.parametrize("before", [0, 195, 290, 4_080])
    def test_of_an_url(self, status: int, before: int) -> None:
        said = b"x" * before + f" no hook at {self.PATH}?k=k3yvalue\x1b[31m".encode()
        with HttpReceiver(*[Answer(status, body=said)] * 2) as receiver:
            url = receiver.url.replace("/hook", f"{self.PATH}?k=k3yvalue")
            log = told(hook(url), (url,))
        self.assert_clean(log, "xoxb", "k3yv")
        assert log.audit()[0].outcome == ("refused" if status == 404 else "failed")

    def test_of_a_login(self) -> None:
        with serving(SmtpReceiver("554 user warren password geheim-17"), port=free_port()) as smtp:
            channel = email_channel(smtp.port)
            log = told(channel, ("geheim-17",))
        self.assert_clean(log, "geheim")
        assert log.audit()[0].detail == "554 user warren password [redacted]"

    def assert_clean(self, log: Log, *secrets: str) -> None:
        for record in log.records:
            for secret in secrets:
                assert secret.encode() not in (record.value or b"")
                assert b"\\u001b" not in (record.value or b"")


def test_a_fault_of_ours_names_no_secret() -> None:
    class Broken(Scripted):
        async def send(self, _: Any) -> Any:
            raise RuntimeError(f"cannot POST {url}")

    url = "https://example.org/services/xoxb-17aQ9"
    log = told(Broken(), (url,))
    assert log.audit()[0].detail == "RuntimeError: cannot POST https://example.org[redacted]"
