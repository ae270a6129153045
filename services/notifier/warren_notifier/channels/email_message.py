"""The mail of a delivery: text and HTML, threaded by incident."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email import policy
from email.header import Header
from email.message import EmailMessage
from email.utils import format_datetime

from jinja2 import Environment, PackageLoader, StrictUndefined
from warren.settings.notifier import EmailChannelSettings

from warren_notifier.channels.email_text import email_text
from warren_notifier.state.delivery import Delivery

COLOURS = {"ERR": "#b42318", "WARN": "#9a6700", "OK": "#1a7f37", "NOTFOUND": "#57606a"}
# Every mail server can carry it, whatever is in a group's name. A line may have 998 characters (RFC
# 5322, 2.1.1); at the usual 78 a long subject would begin on its second line, with a blank.
_POLICY = policy.SMTP.clone(cte_type="7bit", max_line_length=900)


def templates() -> Environment:
    return Environment(
        loader=PackageLoader("warren_notifier.channels"),
        autoescape=lambda name: name is not None and ".html" in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def message(
    delivery: Delivery,
    settings: EmailChannelSettings,
    environment: Environment,
    link_base: str,
    now: int,
) -> EmailMessage:
    """The same delivery always has the same Message-ID; an incident's mails are one thread.

    The first mail of the incident is the thread's root, the others refer to it (RFC 5322, 3.6.4).
    """
    pending, text = delivery.pending, email_text(delivery, link_base, now)
    values = {"text": text, "delivery": pending, "colour": COLOURS[text.status]}
    mail = EmailMessage(policy=_POLICY)
    mail.set_raw("Subject", _subject(text.subject))
    mail["From"] = settings.sender
    mail["To"] = ", ".join(settings.to)
    mail["Date"] = format_datetime(datetime.fromtimestamp(now // 1000, UTC))
    domain = settings.sender.rpartition("@")[2]
    root = f"<{_token(pending.incident_id)}.{_token(pending.channel)}@{domain}>"
    if pending.kind == "opened":
        mail["Message-ID"] = root
    else:
        mail["Message-ID"] = f"<{pending.delivery_id}@{domain}>"
        mail["In-Reply-To"] = root
        mail["References"] = root
    mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office replies
    mail["X-Warren-Delivery"] = pending.delivery_id
    mail.set_content(environment.get_template("email.txt.j2").render(values))
    mail.add_alternative(environment.get_template("email.html.j2").render(values), subtype="html")
    return mail


def _subject(text: str) -> str:
    """Encoded where it must be: also a name that looks like an encoded word (RFC 2047)."""
    if text.isascii() and "=?" not in text:
        return text
    return Header(text, "utf-8", header_name="Subject").encode()


def _token(text: str) -> str:
    """What may stand on the left side of a Message-ID."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text)
