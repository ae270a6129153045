"""E-mail against a real SMTP server."""

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest
from notifier.builders import delivery, event
from notifier.harness import play
from notifier.smtp_receiver import SmtpReceiver, serving, until_closed
from notifier.specimens import Specimen, channel as made_of, of_table
from notifier.tls import self_signed
from warren_local.server import free_port
from warren_notifier.channels.channel import Delivered, Refused, Result, Retry
from warren_notifier.channels.kinds.email import EmailChannel
from warren_notifier.state.telling import Delivery

SPECIMEN = Specimen(
    lambda _: (
        f"""host = "127.0.0.1"\nport = {free_port()}\ntls = "none"
sender = "warren@example.org"\nto = ["sre@example.org"]
"""
    ),
    ("sre@", "dev@"),
    [
        ('"warren@example.org"', '"warren"', "it.sender", "an address such as"),
        ("host =", "hosts =", "it.hosts", "unknown setting"),
        ('host = "127.0.0.1"', "", "it.host", "is needed"),
    ],
    is_url=False,
    is_guarded=False,
    is_service=False,
)
TABLE = """
type = "email"
host = "127.0.0.1"
tls = "none"
timeout = 5.0
sender = "warren@example.org"
to = ["oncall@example.org"]
"""


def channel(port: int, **fields: Any) -> EmailChannel:
    found = made_of(of_table(TABLE, port=port, **fields))
    assert isinstance(found, EmailChannel)
    return found


def send(receiver: SmtpReceiver, delivered: Delivery | None = None, **fields: Any) -> Result:
    async def run() -> Result:
        result = await channel(receiver.port, **fields).send(delivered or delivery())
        await until_closed()
        return result

    return asyncio.run(run())


def answer(*script: str, refused: dict[str, str] | None = None, **fields: Any) -> Result:
    with serving(SmtpReceiver(*script, refused=refused), port=free_port()) as receiver:
        return send(receiver, **fields)


def test_a_mail_arrives_at_all_recipients() -> None:
    with serving(SmtpReceiver(), port=free_port()) as receiver:
        result = send(receiver, to=["a@example.org", "b@example.org"])
    assert result == Delivered("OK")
    assert receiver.recipients == [["a@example.org", "b@example.org"]]
    (mail,) = receiver.mails
    assert mail["From"] == "warren@example.org"
    assert mail["To"] == "a@example.org, b@example.org"
    assert mail["X-Warren-Delivery"] == "delivery-1"
    text, html = (mail.get_body((kind,)) for kind in ("plain", "html"))
    assert text is not None
    assert html is not None
    assert "billing on cluster prod is ERR" in text.get_content()
    assert "https://warren.example.org/groups/prod/billing" in html.get_content()


@pytest.mark.parametrize("length", [14, 300])
def test_a_subject_arrives_as_it_was_written(length: int) -> None:
    group = "g" * length
    with serving(SmtpReceiver(), port=free_port()) as receiver:
        send(receiver, delivery(event(group=group)))
    (mail,) = receiver.mails
    assert mail["Subject"].startswith(f"[ERR] prod: {group} ")


@pytest.mark.parametrize(
    ("codes", "result"), [("421 450 451 452", Retry), ("550 552 554", Refused)]
)
def test_what_is_temporary_is_tried_again(codes: str, result: type[Retry | Refused]) -> None:
    for said in codes.split():
        assert answer(f"{said} x") == result(f"{said} x")


def test_recipients_that_are_refused() -> None:
    to = ["a@example.org", "b@example.org"]
    permanent = {"b@example.org": "550 unknown"}
    temporary = {"b@example.org": "450 greylisted"}
    assert answer(refused=permanent, to=to) == Delivered("except for b@example.org: 550 unknown")
    waits = Retry("b@example.org: 450 greylisted", uncertain=True)  # a has it
    assert answer(refused=temporary, to=to) == waits
    all_of_them = {"a@example.org": "550 unknown"} | permanent
    assert isinstance(answer(refused=all_of_them, to=to), Refused)
    assert isinstance(answer(refused=all_of_them | temporary, to=to), Retry)
    for no_answer in ("354 go", "999 x"):
        assert isinstance(answer(refused=dict.fromkeys(to, no_answer), to=to), Retry)


@pytest.mark.parametrize(
    ("then", "outcome"),
    [("250 OK", "OK"), ("550 unknown", "except for b@example.org: 550 unknown")],
)
def test_whoever_has_a_mail_does_not_get_it_again_with_the_others(then: str, outcome: str) -> None:
    to = ["a@example.org", "b@example.org"]
    refused = {"b@example.org": "450 greylisted"}
    with serving(SmtpReceiver(refused=refused), port=free_port()) as receiver:
        mail = channel(receiver.port, to=to)

        async def attempts() -> list[Result]:
            results = [await mail.send(delivery()) for _ in range(3)]
            refused["b@example.org"] = then
            results.append(await mail.send(delivery()))
            await until_closed()
            return results

        *waiting, last = asyncio.run(attempts())
    assert waiting == [Retry("b@example.org: 450 greylisted", uncertain=True)] * 3
    assert last == Delivered(outcome)
    second = [["b@example.org"]] if then.startswith("250") else []
    assert receiver.recipients == [["a@example.org"], *second]


@pytest.mark.parametrize("kind", ["opened", "repeated"])
@pytest.mark.parametrize("name", ["i", "i ", "ü", "\r\n", "😀"])
def test_any_incident_id_fits_into_a_mail(name: str, kind: str) -> None:
    foreign = event(incident_id=name * 50_000)
    with serving(SmtpReceiver(), port=free_port()) as receiver:
        assert send(receiver, delivery(foreign, kind=kind)) == Delivered("OK")
    (mail,) = receiver.mails
    assert len(mail.as_bytes()) < 20_000


def test_nobody_listens() -> None:
    result = asyncio.run(channel(free_port()).send(delivery()))
    assert isinstance(result, Retry)
    assert "127.0.0.1" in result.detail


def test_a_server_that_says_nothing_is_tried_again() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        assert isinstance(asyncio.run(channel(port, timeout=0.2).send(delivery())), Retry)


def test_a_server_without_starttls_is_refused_when_that_is_demanded() -> None:
    assert isinstance(answer(tls="starttls"), Refused)


# aiosmtpd does not know that a connection which is encrypted from the start is.
@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
@pytest.mark.parametrize("tls", ["starttls", "tls"])
def test_encrypted_and_with_a_login(tmp_path: Path, tls: str) -> None:
    certificate, context = self_signed(tmp_path, "IP:127.0.0.1")
    contexts = {"starttls": context} if tls == "starttls" else {"tls": context}
    login = ("warren", "geheim")
    with serving(SmtpReceiver(), port=free_port(), login=login, **contexts) as receiver:
        known = {"tls": tls, "ca": certificate}
        right = {"username": "warren", "password": "geheim"}
        assert send(receiver, **known, **right) == Delivered("OK")
        wrong = send(receiver, **known, **right | {"password": "falsch"})
        assert isinstance(wrong, Refused)
        assert "535" in wrong.detail
        assert "falsch" not in wrong.detail
        unknown_authority = send(receiver, tls=tls, **right)
        assert isinstance(unknown_authority, Retry)
    assert len(receiver.mails) == 1


def test_refusing_then_accepting_is_one_mail() -> None:
    script = ("451 try again later", "421 still busy")
    with serving(SmtpReceiver(*script), port=free_port()) as receiver:
        log = play({"mail": channel(receiver.port)}, event())
    assert receiver.attempts == 3
    assert len(receiver.mails) == 1
    assert log.outcomes() == ["failed", "failed", "delivered"]
    assert log.audit()[0].detail == "451 try again later"


@pytest.mark.parametrize(("said", "outcome"), [("250 OK", "delivered"), ("554 no", "refused")])
def test_a_server_that_never_says_goodbye_gets_a_mail_once(said: str, outcome: str) -> None:
    with serving(SmtpReceiver(said, lingers=True), port=free_port()) as receiver:
        mail = channel(receiver.port, timeout=3.0)
        log = play({"mail": mail}, event(), lambda _: mail.close())
    assert receiver.attempts == 1
    assert log.outcomes() == [outcome]
