"""The demo's mailbox."""

from __future__ import annotations

import json
import smtplib
import sys
from email.message import EmailMessage
from pathlib import Path

from support.waiting import eventually
from warren_local.arrivals import Arrivals
from warren_local.child import Child
from warren_local.mailbox import Mailbox
from warren_local.ports import HOST, accepts_connections, free_port


def mail() -> EmailMessage:
    message = EmailMessage()
    message["Subject"] = "[ERR] Größe"
    message["Message-ID"] = "<1@example.org>"
    message["References"] = "<0@example.org>"
    message["X-Warren-Delivery"] = "d"
    message.set_content("Text über alles\n")
    message.add_alternative("<p>HTML</p>\n", subtype="html")
    return message


def send(port: int) -> None:
    with smtplib.SMTP(HOST, port, local_hostname="localhost") as client:
        client.send_message(mail(), "from@example.org", ["a@example.org", "b@example.org"])


def test_what_arrives_is_kept_written_and_told(tmp_path: Path) -> None:
    told: list[str] = []
    arrivals = Arrivals(tmp_path / "mails.jsonl", told.append)
    with Mailbox(free_port(), arrivals) as mailbox:
        send(mailbox.port)
    (kept,) = arrivals.all
    assert [json.loads(line) for line in (tmp_path / "mails.jsonl").read_text().splitlines()] == [
        kept
    ]
    assert (kept["from"], kept["to"]) == ("from@example.org", "a@example.org, b@example.org")
    assert (kept["subject"], kept["message_id"]) == ("[ERR] Größe", "<1@example.org>")
    assert (kept["references"], kept["delivery_id"]) == ("<0@example.org>", "d")
    assert (kept["text"], kept["html"]) == ("Text über alles\n", "<p>HTML</p>\n")
    assert told == ["mail to a@example.org, b@example.org: [ERR] Größe"]


def test_as_a_process(tmp_path: Path) -> None:
    port, out = free_port(), tmp_path / "mails.jsonl"
    command = [sys.executable, "-m", "warren_local.mailbox", "--port", str(port)]
    child = Child([*command, "--out", str(out)], log=tmp_path / "log")
    second = None
    try:
        eventually(lambda: accepts_connections(port), message="the mailbox listens")
        send(port)
        assert len(out.read_text().splitlines()) == 1
        second = Child(command, log=tmp_path / "second")
        taken = second
        eventually(lambda: taken.exit_code() is not None, message="the second one ends")
        assert second.exit_code() == 1
        assert "choose another port" in (tmp_path / "second").read_text()
        child.ask_to_stop()
        eventually(lambda: child.exit_code() is not None, message="the mailbox ends")
        assert child.exit_code() == 0
    finally:
        child.kill()
        if second is not None:
            second.kill()
    assert "mail to a@example.org" in (tmp_path / "log").read_text()
