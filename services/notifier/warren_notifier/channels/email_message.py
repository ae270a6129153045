"""The mail of a delivery: text and HTML, threaded by incident or digest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email import policy
from email.header import Header
from email.message import EmailMessage
from email.utils import format_datetime

from jinja2 import Environment, PackageLoader, StrictUndefined

from warren_notifier.channels.digest import Digest
from warren_notifier.channels.digest_text import DigestText, besides, digest_text
from warren_notifier.channels.incident_text import IncidentText, incident_text
from warren_notifier.channels.links import incident_key, shown_id
from warren_notifier.channels.note import and_more
from warren_notifier.state.delivery import Delivery

TOKEN = 255  # characters
COLOURS = {"ERR": "#b42318", "WARN": "#9a6700", "OK": "#1a7f37", "NOTFOUND": "#57606a"}
# Every mail server can carry it, whatever is in a group's name. A line may have 998 characters (RFC
# 5322, 2.1.1); at the usual 78 a long subject would begin on its second line, with a blank.
_POLICY = policy.SMTP.clone(cte_type="7bit", max_line_length=900)


class MailWriter:
    """Mails of one sender to one list of recipients."""

    def __init__(self, sender: str, to: Sequence[str], link_base: str) -> None:
        self._sender = sender
        self._to = to
        self._link_base = link_base
        self._environment = Environment(
            loader=PackageLoader("warren_notifier.channels"),
            autoescape=lambda name: name is not None and ".html" in name,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )

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
        if digest is not None and digest.thread is not None:
            heads = _Heads(pending.delivery_id, pending.delivery_id, digest.thread)
        elif pending.kind == "opened":
            heads = _Heads(pending.delivery_id, root, None)
        else:
            heads = _Heads(pending.delivery_id, pending.delivery_id, root)
        return self._mail(text, heads, "email", values, now)

    def digest(self, digest: Digest, now: int) -> EmailMessage:
        """One mail about many incidents, or about one as it would be alone; in the digest's
        thread.
        """
        if digest.alone is not None:
            return self.message(digest.alone, now, digest)
        text = digest_text(digest, self._link_base, now)
        heads = _Heads(digest.digest_id, digest.digest_id, digest.thread)
        return self._mail(text, heads, "digest", {"text": text, "digest": digest}, now)

    def _mail(
        self,
        text: IncidentText | DigestText,
        heads: _Heads,
        template: str,
        values: Mapping[str, object],
        now: int,
    ) -> EmailMessage:
        mail = EmailMessage(policy=_POLICY)
        mail.set_raw("Subject", _subject(text.title))
        mail["From"] = self._sender
        mail["To"] = ", ".join(self._to)
        mail["Date"] = format_datetime(datetime.fromtimestamp(now // 1000, UTC))
        domain = self._sender.rpartition("@")[2]
        mail["Message-ID"] = f"<{_token(heads.message_id)}@{domain}>"
        if heads.thread is not None:
            root = f"<{_token(heads.thread)}@{domain}>"
            mail["In-Reply-To"] = root
            mail["References"] = root
        mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office replies
        mail["X-Warren-Delivery"] = heads.delivery_id
        values = {**values, "colours": COLOURS, "and_more": and_more}
        plain, html = (
            self._environment.get_template(f"{template}.{kind}.j2").render(values)
            for kind in ("txt", "html")
        )
        mail.set_content(plain)
        mail.add_alternative(html, subtype="html")
        return mail


@dataclass(frozen=True, slots=True)
class _Heads:
    """`message_id` and `thread` without their domain; `thread`: None begins one."""

    delivery_id: str
    message_id: str
    thread: str | None


def _subject(text: str) -> str:
    """Encoded where it must be: also a name that looks like an encoded word (RFC 2047)."""
    if text.isascii() and "=?" not in text:
        return text
    return Header(text, "utf-8", header_name="Subject").encode()


def _token(text: str) -> str:
    """What may stand on the left side of a Message-ID; of what is too long for a line a digest."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", incident_key(text, TOKEN))
