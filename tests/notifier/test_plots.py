"""The plot of the last hour in a mail, from a real HTTP server, through a real SMTP server."""

from __future__ import annotations

import asyncio
import io
import json
from email.message import EmailMessage

import pytest
from notifier.builders import delivery, event
from notifier.http_receiver import Answer, Drip, Hang, HttpReceiver, Reset, Script
from notifier.smtp_receiver import SmtpReceiver, serving, until_closed
from notifier.specimens import channel as channel_of
from notifier.specimens import of_table
from notifier.test_email import TABLE
from PIL import Image
from warren.clock import ManualClock
from warren_local.ports import free_port
from warren_notifier.channels.channel import Delivered
from warren_notifier.channels.last_hour import HEIGHT, LINE, MOST_BYTES, PAUSE, WIDTH, Past, plot

MINUTE = 60_000
asked: list[tuple[str, str]] = []  # path and authorization of what the API was asked last
START = 1_795_244_400_000  # 2026-11-21 07:00 UTC
NOW = START + 60 * MINUTE
AT = [START + n * MINUTE for n in range(60)]
LAG: list[int | None] = [10 * n for n in range(60)]
LATE: list[int | None] = [None, *(1000 * n for n in range(1, 60))]


def history(**columns: object) -> Answer:
    """As the API answers: with columns that a mail does not need."""
    values = {"at": AT, "lag": LAG, "late_ms": LATE, "members": [3] * 60, "group": "billing"}
    return Answer(200, {"Content-Type": "application/json"}, json.dumps(values | columns).encode())


def mails(*answers: Script, group: str = "billing", pause: float = 0) -> list[EmailMessage]:
    """A mail for each answer that the API is to give, `pause` seconds apart."""
    clock = ManualClock(NOW)
    with HttpReceiver(*answers) as api, serving(SmtpReceiver(), port=free_port()) as receiver:
        of = of_table(TABLE, port=receiver.port, api=api.url, api_token="t0ken", plot=True)

        async def run() -> None:
            channel = channel_of(of, clock)
            for _ in answers:
                assert isinstance(await channel.send(delivery(event(group=group))), Delivered)
                clock.advance(pause)
            await channel.close()
            await until_closed()

        asyncio.run(run())
        asked.clear()
        asked.extend((request.path, request.headers["authorization"]) for request in api.requests)
    return receiver.mails


def pictures(mail: EmailMessage) -> list[EmailMessage]:
    return [part for part in mail.walk() if part.get_content_type() == "image/png"]


def html(mail: EmailMessage) -> str:
    body = mail.get_body(("html",))
    assert body is not None
    return str(body.get_content())


def test_a_mail_shows_the_last_hour() -> None:
    (mail,) = mails(history(), group="a group/ä")
    (picture,) = pictures(mail)
    content = picture.get_content()
    assert isinstance(content, bytes)
    assert Image.open(io.BytesIO(content)).size == (WIDTH, HEIGHT)
    assert picture.get_content_disposition() == "inline"
    assert f"cid:{picture['Content-ID'].strip('<>')}" in html(mail)
    assert "Lateness, 07:01 to 07:59 UTC: most 59s, last 59s" in html(mail)
    hour = f"from={START}&to={NOW}&step={MINUTE}"
    path = f"/hook/api/v1/groups/prod/a%20group%2F%C3%A4/history?{hour}"  # below the given address
    assert asked == [(path, "Bearer t0ken")]


@pytest.mark.parametrize(
    "answer",
    [
        Hang(),
        Drip(),
        Reset(),
        Answer(401),
        Answer(301, {"Location": "http://127.0.0.1:1/"}),
        Answer(500, {}, b"x"),
        Answer(200, {}, b"<html>"),
        Answer(200, {}, b" " * (MOST_BYTES + 1)),
        history(at=[1] * 121),
        history(lag=["<script>"] * 60),
        history(at=[10**17 + n for n in range(60)]),
        history(at=[-(10**17) + n for n in range(60)]),
        history(late_ms=[10**400] * 60),
    ],
)
def test_without_an_answer_a_mail_goes_without(answer: Script) -> None:
    first, second = mails(answer, history())
    assert (pictures(first), pictures(second)) == ([], [])
    assert "cid:" not in html(first)
    assert len(asked) == 1  # who does not answer is left alone for a while


def test_the_api_is_asked_again_after_a_while() -> None:
    first, second = mails(Answer(503), history(), pause=PAUSE + 1)
    assert (len(pictures(first)), len(pictures(second))) == (0, 1)


def test_a_group_that_the_api_has_not_heard_of_is_no_trouble() -> None:
    first, second = mails(Answer(404), history())
    assert (len(pictures(first)), len(pictures(second))) == (0, 1)


def past(lag: list[int | None], late: list[int | None]) -> Past:
    return Past(at=AT[: len(lag)], lag=lag, late_ms=late)


def test_lag_is_shown_where_lateness_is_not_known() -> None:
    shown = plot(past([5, 5, 2400], [None, None, 7]))
    assert shown is not None
    assert shown.words == "Lag, 07:00 to 07:02 UTC: most 2,400, last 2,400"


def test_nothing_is_shown_of_nothing() -> None:
    assert plot(None) is None
    assert plot(past([], [])) is None
    assert plot(past([3, None], [None, None])) is None


@pytest.mark.parametrize("values", [[0, 0, 0], [-1, 2**62, 0], [7, None, 7]])
def test_whatever_the_values_are_there_is_a_line(values: list[int | None]) -> None:
    shown = plot(past(values, [None] * 3))
    assert shown is not None
    colours = Image.open(io.BytesIO(shown.png)).convert("RGB").getcolors(100_000)
    assert colours is not None
    assert tuple(bytes.fromhex(LINE[1:])) in {colour for _, colour in colours}
