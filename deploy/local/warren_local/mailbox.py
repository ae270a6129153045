"""An embedded mailbox for the demo: an SMTP server that takes every mail and keeps it.

`python -m warren_local.mailbox --port 1025 --out mailbox.jsonl`
"""

import argparse
import email
import email.policy
from email.message import EmailMessage

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from warren.clock import Clock, SystemClock

from warren_local.arrivals import Arrival, Arrivals, serve, taken
from warren_local.server import HOST, Server


class _Keeper:
    """aiosmtpd's handler: its method names are the library's."""

    def __init__(self, arrivals: Arrivals, clock: Clock) -> None:
        self._arrivals = arrivals
        self._clock = clock

    async def handle_DATA(  # noqa: N802  # aiosmtpd's name
        self, _server: SMTP, _session: Session, envelope: Envelope
    ) -> str:
        self._arrivals.note(read_mail(envelope, self._clock.now_ms()))
        return "250 Message accepted for delivery"


def read_mail(envelope: Envelope, now: int) -> Arrival:
    """What is worth keeping of a mail; times in Unix milliseconds."""
    content = envelope.content or b""
    raw = content if isinstance(content, bytes) else content.encode()
    mail = email.message_from_bytes(raw, _class=EmailMessage, policy=email.policy.default)
    return {
        "at": now,
        "from": envelope.mail_from,
        "to": ", ".join(envelope.rcpt_tos),
        "subject": str(mail["Subject"] or ""),
        "message_id": str(mail["Message-ID"] or ""),
        "references": str(mail["References"] or ""),
        "delivery_id": str(mail["X-Warren-Delivery"] or ""),
        "text": _body(mail, "plain"),
        "html": _body(mail, "html"),
    }


def _body(mail: EmailMessage, kind: str) -> str:
    part = mail.get_body((kind,))
    return str(part.get_content()).replace("\r\n", "\n") if part is not None else ""


class Mailbox(Server):
    """The server, in a thread of its own. Raises StartRefused when it cannot listen."""

    def __init__(
        self, port: int, arrivals: Arrivals, *, host: str = HOST, clock: Clock | None = None
    ) -> None:
        self.port = port
        self.arrivals = arrivals
        self._host = host
        keeper = _Keeper(arrivals, clock or SystemClock())
        # Without a name of its own the server would ask the name server for one.
        self._controller = Controller(keeper, hostname=host, port=port, server_hostname="localhost")

    def start(self) -> None:
        try:
            self._controller.start()
        except OSError as error:
            raise taken("mailbox", self._host, self.port, error) from error

    def stop(self) -> None:
        """Stops it; no harm when it does not run."""
        self._controller.stop(no_assert=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m warren_local.mailbox", description=__doc__)
    serve(parser, 1025, lambda given, arrivals: Mailbox(given.port, arrivals, host=given.host))


if __name__ == "__main__":
    main()
