"""E-mail through an SMTP server. What the server calls temporary (4xx) is tried again."""

import asyncio
import hashlib
import re
import socket
import ssl
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email import policy
from email.header import Header
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Annotated, Literal

from aiosmtplib import (
    SMTP,
    SMTPConnectError,
    SMTPException,
    SMTPRecipientRefused,
    SMTPRecipientsRefused,
    SMTPResponseException,
)
from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import Field, SecretStr, StringConstraints
from warren.clock import Clock
from warren.contracts import ChannelIdentity
from warren.settings.notifier import ChannelSettings

from warren_notifier.channels.channel import Channel, Delivered, Kind, Refused, Result, Retry
from warren_notifier.channels.digest_groups import Digest
from warren_notifier.channels.digest_text import DigestText, besides, digest_text
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.channels.incident_text import IncidentText, incident_text
from warren_notifier.channels.links import incident_key, shown_id
from warren_notifier.channels.note import and_more
from warren_notifier.state.telling import Delivery

TOKEN = 255  # characters
COLOURS = {"ERR": "#b42318", "WARN": "#9a6700", "OK": "#1a7f37", "NOTFOUND": "#57606a"}
# Every mail server can carry it, whatever is in a group's name. A line may have 998 characters (RFC
# 5322, 2.1.1); at the usual 78 a long subject would begin on its second line, with a blank.
_POLICY = policy.SMTP.clone(cte_type="7bit", max_line_length=900)
_TEMPLATES = Environment(
    loader=PackageLoader("warren_notifier.channels"),
    autoescape=lambda name: name is not None and ".html" in name,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


class MailWriter:
    """Mails of one sender to one list of recipients."""

    def __init__(self, sender: str, to: Sequence[str], link_base: str) -> None:
        self._sender = sender
        self._to = to
        self._link_base = link_base

    def message(self, delivery: Delivery, now: int, digest: Digest | None = None) -> EmailMessage:
        """The same delivery always has the same Message-ID; an incident's mails are one thread.

        The first mail of the incident is the thread's root, the others refer to it (RFC 5322,
        3.6.4). Told in a digest, it is in the digest's thread.
        """
        pending = delivery.pending
        others = besides(digest) if digest is not None else ""
        text = incident_text(delivery, self._link_base, now, others)
        values = {
            "text": text,
            "delivery": pending,
            "incident": shown_id(pending.incident_id),
        }
        root = f"{pending.incident_id}.{pending.channel}"
        thread = digest.thread if digest is not None else None
        begins = thread is None and pending.kind == "opened"
        heads = (root, None) if begins else (pending.delivery_id, thread or root)
        return self._mail(text, pending.delivery_id, heads, "email", values, now)

    def digest(self, digest: Digest, now: int) -> EmailMessage:
        """One mail about many incidents, or about one as it would be alone; in the digest's
        thread.
        """
        if digest.alone is not None:
            return self.message(digest.alone, now, digest)
        text = digest_text(digest, self._link_base, now)
        heads, values = (digest.digest_id, digest.thread), {"text": text, "digest": digest}
        return self._mail(text, digest.digest_id, heads, "digest", values, now)

    def _mail(
        self,
        text: IncidentText | DigestText,
        delivery_id: str,
        heads: tuple[str, str | None],
        template: str,
        values: Mapping[str, object],
        now: int,
    ) -> EmailMessage:
        """`heads`: ids of the message and of the thread that it is in, without their domain; None
        begins one.
        """
        message_id, thread = heads
        mail = EmailMessage(policy=_POLICY)
        mail.set_raw("Subject", _subject(text.title))
        mail["From"] = self._sender
        mail["To"] = ", ".join(self._to)
        mail["Date"] = format_datetime(datetime.fromtimestamp(now // 1000, UTC))
        domain = self._sender.rpartition("@")[2]
        mail["Message-ID"] = f"<{_token(message_id)}@{domain}>"
        if thread is not None:
            root = f"<{_token(thread)}@{domain}>"
            mail["In-Reply-To"] = root
            mail["References"] = root
        mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office replies
        mail["X-Warren-Delivery"] = delivery_id
        values = {**values, "colours": COLOURS, "and_more": and_more}
        plain, html = (
            _TEMPLATES.get_template(f"{template}.{kind}.j2").render(values)
            for kind in ("txt", "html")
        )
        mail.set_content(plain)
        mail.add_alternative(html, subtype="html")
        return mail


def _subject(text: str) -> str:
    """Encoded where it must be: also a name that looks like an encoded word (RFC 2047)."""
    if text.isascii() and "=?" not in text:
        return text
    return Header(text, "utf-8", header_name="Subject").encode()


def _token(text: str) -> str:
    """What may stand on the left side of a Message-ID; of what is too long for a line a digest."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", incident_key(text, TOKEN))


MAILS = 1_000  # remembered at most; whoever is forgotten may get a mail twice
GOODBYE = 5  # seconds until a QUIT without an answer is given up
PORTS = {"starttls": 587, "tls": 465, "none": 25}
Address = Annotated[str, StringConstraints(pattern=r"^[^\s@]+@[^\s@]+$")]


class EmailSettings(ChannelSettings):
    """E-mail through an SMTP server: text and HTML, one thread for what is told together."""

    type: Literal["email"] = Field(description="Kind of channel")
    host: str = Field(min_length=1, description="SMTP server")
    port: int = Field(
        default=0, ge=0, le=65535, description="0 for the usual one: 587, 465 for tls, 25 for none"
    )
    tls: Literal["starttls", "tls", "none"] = Field(
        default="starttls", description="Encryption: upgraded, from the start, or none"
    )
    username: str = Field(default="", description="User name; empty for no login")
    password: SecretStr = Field(default=SecretStr(""), description="Password")
    sender: Address = Field(description="Address that mails come from")
    to: list[Address] = Field(min_length=1, description="Recipients")


class EmailChannel(Channel):
    """One server and one list of recipients; a connection of its own for each mail."""

    tells_people = True
    tells_many = True

    def __init__(
        self, settings: EmailSettings, link_base: str, guard: EgressGuard, clock: Clock
    ) -> None:
        """A mail server is usually internal: `guard` is not asked."""
        del guard
        self.timeout = settings.timeout
        self.concurrency = settings.concurrency
        recipients = ",".join(sorted(settings.to))
        digest = hashlib.sha256(recipients.encode()).hexdigest()
        self.identity = ChannelIdentity(kind="email", place="", digest=digest)
        self._settings = settings
        self._clock = clock
        self._writer = MailWriter(settings.sender, settings.to, link_base)
        self._reached: OrderedDict[str, frozenset[str]] = OrderedDict()
        """Whom mails have reached that have not reached all of theirs, by `Message-ID`."""
        self._leaving: dict[asyncio.Task[None], SMTP] = {}
        self._context = ssl.create_default_context()
        if settings.ca:
            self._context.load_verify_locations(cadata=settings.ca)

    async def send(self, delivery: Delivery) -> Result:
        return await self._post(self._writer.message(delivery, self._clock.now_ms()))

    async def send_many(self, digest: Digest) -> Result:
        """Thousands of incidents take a while to read: not in the loop's thread."""
        now = self._clock.now_ms()
        return await self._post(await asyncio.to_thread(self._writer.digest, digest, now))

    async def _post(self, mail: EmailMessage) -> Result:
        """To whom it has not reached: others do not get it again where some are put off."""
        message_id = str(mail["Message-ID"])
        reached = self._reached.get(message_id, frozenset())
        left = [recipient for recipient in self._settings.to if recipient not in reached]
        result, refused = await self._try(mail, left)
        if refused:
            reached = reached.union(left).difference(refused)
            self._reached[message_id] = reached
            self._reached.move_to_end(message_id)
            result = _some_refused(refused.values())
        while len(self._reached) > MAILS:
            self._reached.popitem(last=False)
        if not reached:
            return result
        if isinstance(result, Retry):
            return replace(result, uncertain=True)
        self._reached.pop(message_id, None)
        return Delivered(f"except for {result.detail}") if isinstance(result, Refused) else result

    async def _try(
        self, mail: EmailMessage, recipients: list[str]
    ) -> tuple[Result, dict[str, SMTPRecipientRefused]]:
        """What came of it, and whom the server refused while it took the mail for others."""
        settings = self._settings
        client = SMTP(
            hostname=settings.host,
            port=settings.port or PORTS[settings.tls],
            username=settings.username or None,
            password=settings.password.get_secret_value() if settings.username else None,
            use_tls=settings.tls == "tls",
            start_tls=settings.tls == "starttls",
            tls_context=self._context,
            local_hostname=socket.gethostname(),
            timeout=settings.timeout,
        )
        try:
            await client.connect()
            refused, answer = await client.sendmail(
                settings.sender,
                recipients,
                mail.as_bytes(),  # as the mail's own policy writes it
            )
        except SMTPRecipientsRefused as error:
            return _some_refused(error.recipients), {}
        except SMTPResponseException as error:
            text = _answer(error.code, error.message)
            # Without a code of SMTP it was no answer: aiosmtplib's own codes are negative.
            unsaid = not 400 <= error.code < 600
            final = 500 <= error.code < 600
            return Refused(text) if final else Retry(text, uncertain=unsaid), {}
        except OSError as error:  # aiosmtplib's lost connections and time-outs among them
            unsent = isinstance(error, SMTPConnectError | ConnectionRefusedError)
            return Retry(f"{type(error).__name__}: {error}", uncertain=not unsent), {}
        except SMTPException as error:  # the server cannot do what the settings demand
            return Refused(str(error)), {}
        except asyncio.CancelledError:
            client.close()
            raise
        finally:
            # Says goodbye without waiting for the answer: it changes nothing about the mail, and a
            # server that owes it would make a mail that arrived look like one that did not.
            if client.is_connected:
                leaving = asyncio.create_task(_quit(client))
                self._leaving[leaving] = client
                leaving.add_done_callback(lambda done: self._leaving.pop(done, None))
        return Delivered(answer), {
            to: SMTPRecipientRefused(said.code, said.message, to) for to, said in refused.items()
        }

    async def close(self) -> None:
        """Breaks off goodbyes that are not answered yet."""
        broken_off = dict(self._leaving)
        for leaving in broken_off:
            leaving.cancel()
        await asyncio.gather(*broken_off, return_exceptions=True)
        for client in broken_off.values():
            client.close()  # a task that is cancelled before it began closes nothing


async def _quit(client: SMTP) -> None:
    try:
        await client.quit(timeout=GOODBYE)
    except (SMTPException, OSError):
        pass
    finally:
        client.close()


def _some_refused(errors: Iterable[SMTPRecipientRefused]) -> Retry | Refused:
    """Worth another attempt as long as one refusal is temporary."""
    errors = list(errors)
    detail = "; ".join(
        f"{error.recipient}: {_answer(error.code, error.message)}" for error in errors
    )
    temporary = any(not 500 <= error.code < 600 for error in errors)
    return Retry(detail) if temporary else Refused(detail)


def _answer(code: int, text: str) -> str:
    return f"{code} {text}"


KIND = Kind(EmailSettings, EmailChannel)
