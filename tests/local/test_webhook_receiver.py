"""The demo's webhook receiver."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
from standardwebhooks import Webhook
from support.waiting import eventually
from warren_local.arrivals import Arrivals
from warren_local.child import Child
from warren_local.ports import HOST, accepts_connections, free_port
from warren_local.webhook_receiver import WebhookReceiver

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
EVENT = {"data": {"cluster": "prod", "group": "billing", "previous": "OK", "status": "ERR"}}


def post(port: int, secret: str = SECRET, age: timedelta = timedelta()) -> int:
    at = datetime.now(UTC) - age
    body = json.dumps(EVENT)
    headers = {
        "webhook-id": "d",
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign("d", at, body),
    }
    return httpx.post(f"http://{HOST}:{port}/x", content=body, headers=headers).status_code


def test_signatures_are_verified_and_everything_is_kept(tmp_path: Path) -> None:
    told: list[str] = []
    arrivals = Arrivals(tmp_path / "hooks.jsonl", told.append)
    with WebhookReceiver(free_port(), SECRET, arrivals) as receiver:
        assert post(receiver.port) == 204
        assert post(receiver.port, "whsec_" + "A" * 32) == 401
        assert post(receiver.port, age=timedelta(hours=1)) == 401
        assert httpx.post(f"http://{HOST}:{receiver.port}/", content=b"\xff").status_code == 401
    assert [arrival["verified"] for arrival in arrivals.all] == [True, False, False, False]
    first = arrivals.all[0]
    assert (first["webhook_id"], first["event"]) == ("d", EVENT)
    assert len((tmp_path / "hooks.jsonl").read_text().splitlines()) == 4
    assert told[0] == "webhook, signature verified: billing on prod went from OK to ERR"
    assert "too old" in told[2]
    assert "refused" in told[3]


def test_as_a_process(tmp_path: Path) -> None:
    port, out = free_port(), tmp_path / "hooks.jsonl"
    command = [sys.executable, "-m", "warren_local.webhook_receiver", "--port", str(port)]
    command += ["--secret", SECRET, "--out", str(out)]
    child = Child(command, log=tmp_path / "log")
    try:
        eventually(lambda: accepts_connections(port), message="the receiver listens")
        assert post(port) == 204
        assert json.loads(out.read_text())["verified"]
        child.ask_to_stop()
        eventually(lambda: child.exit_code() is not None, message="the receiver ends")
        assert child.exit_code() == 0
    finally:
        child.kill()
