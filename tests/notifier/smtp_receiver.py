"""A real SMTP server whose answers are scripted."""

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

OK = "250 OK"


class SmtpReceiver:
    """Answers DATA with the script's entries in turn, then takes mails.

    `refused` maps recipients to what RCPT is answered with. One that `lingers` answers no QUIT
    until the client has hung up.
    """

    def __init__(
        self, *script: str, refused: dict[str, str] | None = None, lingers: bool = False
    ) -> None:
        self.mails: list[EmailMessage] = []
        self.recipients: list[list[str]] = []
        self.attempts = 0
        self.port = 0
        self._script = list(script)
        self._refused = refused or {}
        self._lingers = lingers

    async def handle_RCPT(  # noqa: N802  # aiosmtpd's name
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: Any
    ) -> str:
        if (said := self._refused.get(address, OK)) != OK:
            return said
        envelope.rcpt_tos.append(address)
        return OK

    async def handle_DATA(  # noqa: N802  # aiosmtpd's name
        self, _server: SMTP, _session: Session, envelope: Envelope
    ) -> str:
        self.attempts += 1
        answer = self._script.pop(0) if self._script else OK
        if answer == OK:
            content = envelope.content
            assert isinstance(content, bytes)
            self.mails.append(message_from_bytes(content, _class=EmailMessage, policy=default))
            self.recipients.append(list(envelope.rcpt_tos))
        return answer

    async def handle_QUIT(  # noqa: N802  # aiosmtpd's name
        self, server: SMTP, _session: Session, _envelope: Envelope
    ) -> str:
        while self._lingers and server.transport is not None:
            await asyncio.sleep(0.01)
        return "221 Bye"


@contextmanager
def serving(
    receiver: SmtpReceiver,
    *,
    port: int,
    starttls: ssl.SSLContext | None = None,
    tls: ssl.SSLContext | None = None,
    login: tuple[str, str] | None = None,
) -> Iterator[SmtpReceiver]:
    """The receiver, listening; with a login that it demands if one is given."""

    def authenticate(
        _server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, data: LoginPassword
    ) -> AuthResult:
        given = (data.login.decode(), data.password.decode())
        return AuthResult(success=given == login, handled=False)

    extra: dict[str, Any] = {}
    if login is not None:
        extra = {"authenticator": authenticate, "auth_required": True}
        extra["auth_require_tls"] = starttls is not None
    controller = Controller(
        receiver,
        hostname="127.0.0.1",
        server_hostname="localhost",  # else it asks the name server
        port=port,
        ssl_context=tls,
        tls_context=starttls,
        require_starttls=starttls is not None,
        **extra,
    )
    controller.start()
    receiver.port = port
    try:
        yield receiver
    finally:
        controller.stop()


async def until_closed() -> None:
    """aiosmtplib closes connections without waiting; a loop that ends now would leave them open."""
    selector = asyncio.get_running_loop()._selector  # type: ignore[attr-defined]  # no public way
    while len(selector.get_map()) > 1:  # one is the loop's own
        await asyncio.sleep(0.01)
