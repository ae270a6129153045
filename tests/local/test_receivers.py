"""The demo's mailbox and its webhook receiver."""

import json
import smtplib
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path

import httpx
import pytest
from standardwebhooks import Webhook
from support.waiting import eventually
from warren_local.arrivals import Arrivals, ArrivalsFollower
from warren_local.child import Child
from warren_local.mailbox import Mailbox
from warren_local.server import HOST, accepts_connections, free_port
from warren_local.webhook_receiver import WebhookReceiver

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
EVENT = {"data": {"cluster": "prod", "group": "billing", "previous": "OK", "status": "ERR"}}


def send(port: int) -> None:
    message = EmailMessage()
    message["Subject"] = "[ERR] Größe"
    message["Message-ID"] = "<1@example.org>"
    message["References"] = "<0@example.org>"
    message["X-Warren-Delivery"] = "d"
    message.set_content("Text über alles\n")
    message.add_alternative("<p>HTML</p>\n", subtype="html")
    with smtplib.SMTP(HOST, port, local_hostname="localhost") as client:
        client.send_message(message, "from@example.org", ["a@example.org", "b@example.org"])


def post(port: int, secret: str = SECRET, age: timedelta = timedelta()) -> int:
    at = datetime.now(UTC) - age
    body = json.dumps(EVENT)
    headers = {
        "webhook-id": "d",
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign("d", at, body),
    }
    return httpx.post(f"http://{HOST}:{port}/x", content=body, headers=headers).status_code


def test_mails_are_kept_written_and_told(tmp_path: Path) -> None:
    told: list[str] = []
    arrivals = Arrivals(tmp_path / "mails.jsonl", told.append)
    with Mailbox(free_port(), arrivals) as mailbox:
        send(mailbox.port)
    (kept,) = arrivals.all
    (written,) = (tmp_path / "mails.jsonl").read_text().splitlines()
    assert json.loads(written) == kept
    assert {name: text for name, text in kept.items() if name != "at"} == {
        "from": "from@example.org",
        "to": "a@example.org, b@example.org",
        "subject": "[ERR] Größe",
        "message_id": "<1@example.org>",
        "references": "<0@example.org>",
        "delivery_id": "d",
        "text": "Text über alles\n",
        "html": "<p>HTML</p>\n",
    }
    assert told == ["mail to a@example.org, b@example.org: [ERR] Größe"]
    follower = ArrivalsFollower(tmp_path / "mails.jsonl")
    assert [follower.new_headlines() for _ in range(2)] == [told, []]


def test_signatures_of_webhooks_are_verified_and_everything_is_kept() -> None:
    told: list[str] = []
    arrivals = Arrivals(tell=told.append)
    with WebhookReceiver(free_port(), SECRET, arrivals) as receiver:
        assert post(receiver.port) == 204
        assert post(receiver.port, "whsec_" + "A" * 32) == 401
        assert post(receiver.port, age=timedelta(hours=1)) == 401
        assert httpx.post(f"http://{HOST}:{receiver.port}/", content=b"\xff").status_code == 401
    assert [arrival["verified"] for arrival in arrivals.all] == [True, False, False, False]
    assert (arrivals.all[0]["webhook_id"], arrivals.all[0]["event"]) == ("d", EVENT)
    assert told[0] == "webhook, signature verified: billing on prod went from OK to ERR"
    assert "too old" in told[2]
    assert "refused" in told[3]


@pytest.mark.parametrize(
    ("module", "options", "sent", "told"),
    [
        ("mailbox", (), send, "mail to a@example.org"),
        ("webhook_receiver", ("--secret", SECRET), post, "signature verified"),
    ],
)
def test_as_a_process(
    tmp_path: Path, module: str, options: tuple[str, ...], sent: Callable[[int], object], told: str
) -> None:
    port, out = free_port(), tmp_path / "arrived.jsonl"
    command = [sys.executable, "-m", f"warren_local.{module}", "--port", str(port), *options]
    children = [Child([*command, "--out", str(out)], log=tmp_path / "log")]
    try:
        eventually(lambda: accepts_connections(port), message="it listens")
        sent(port)
        assert len(out.read_text().splitlines()) == 1
        children.append(second := Child(command, log=tmp_path / "second"))
        assert eventually(lambda: second.exit_code() is not None, message="the second one ends")
        assert second.exit_code() == 1
        assert "choose another port" in (tmp_path / "second").read_text()
        children[0].ask_to_stop()
        eventually(lambda: children[0].exit_code() is not None, message="it ends")
        assert children[0].exit_code() == 0
    finally:
        for child in children:
            child.kill()
    assert told in (tmp_path / "log").read_text()
