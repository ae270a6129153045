"""What holds for channels of every type: a redirect is not followed, the egress guard is asked."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from notifier.builders import delivery
from notifier.http_receiver import Answer, HttpReceiver
from notifier.test_settings import load
from notifier.test_slack import send
from warren.clock import SystemClock
from warren.errors import SettingsError
from warren_local.ports import free_port
from warren_notifier.channels.channel import Channel, Refused
from warren_notifier.channels.configured import configured_channels, kinds

SIGNED = 'secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"'
KEY = 'routing_key = "0123456789abcdef0123456789abcdef"'
BOT = 'token = "xoxb-1"\nconversation = "C0123456789"'
MAIL = 'sender = "warren@example.org"\nto = ["sre@example.org"]\ntls = "none"\nhost = "127.0.0.1"'
# The table of a channel that asks `host:port`; a type without an entry fails each test here.
TABLES: dict[str, Callable[[str], str]] = {
    "webhook": lambda at: f'url = "http://{at}/hook"\n{SIGNED}',
    # A mail server is usually internal: only the API that draws its plots is asked over HTTP.
    "email": lambda at: f'{MAIL}\nport = {free_port()}\napi = "http://{at}"\napi_token = "t"',
    "slack": lambda at: f'url = "http://{at}/hook"',
    "slack-bot": lambda at: f'api = "http://{at}/api"\n{BOT}',
    "pagerduty": lambda at: f'url = "http://{at}/v2/enqueue"\n{KEY}',
    "alertmanager": lambda at: f'url = "http://{at}"',
    "alertmanager-webhook": lambda at: f'url = "http://{at}/hook"',
    "teams": lambda at: f'url = "http://{at}/hook"',
    "template": lambda at: f'url = "http://{at}/hook"\nbody = "{{}}"',
    "apprise": lambda at: f'url = "json://{at}/hook?+X-Key=secret&redirect=yes"',
}
KINDS = list(kinds())
GUARDED = [kind for kind in KINDS if kind != "email"]
INSIDE = ["10.1.2.3", "169.254.169.254", "168.63.129.16", "fe80::1", "fd00:ec2::254"]


def channel(folder: Path, kind: str, at: str, allowed: str) -> Channel:
    table = f'[notifier.channels.it]\ntype = "{kind}"\n{TABLES[kind](at)}\n'
    settings = load(folder, f"[notifier]\nallow_networks = [{allowed}]\n{table}")
    return configured_channels(settings, SystemClock())["it"]


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("kind", KINDS)
def test_a_redirect_leads_nowhere(tmp_path: Path, kind: str, code: int) -> None:
    with HttpReceiver() as elsewhere:
        where = {"Location": f"http://localhost:{elsewhere.port}/taken"}
        with HttpReceiver(route=lambda _: Answer(code, where)) as receiver:
            asked = channel(tmp_path, kind, f"127.0.0.1:{receiver.port}", '"127.0.0.0/8", "::1"')
            (result,) = send(asked, delivery())
    assert len(receiver.requests) == 1
    assert not elsewhere.requests
    if kind in GUARDED:
        assert result == Refused(f"HTTP {code}: redirects are not followed")


@pytest.mark.parametrize("kind", GUARDED)
def test_a_name_that_leads_to_this_machine_is_refused(tmp_path: Path, kind: str) -> None:
    with HttpReceiver() as receiver:
        (result,) = send(channel(tmp_path, kind, f"localhost:{receiver.port}", ""), delivery())
    assert isinstance(result, Refused)
    assert "not in notifier.allow_networks" in result.detail
    assert not receiver.requests


@pytest.mark.parametrize("address", INSIDE)
@pytest.mark.parametrize("kind", GUARDED)
def test_what_a_name_leads_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, address: str
) -> None:
    plain = socket.getaddrinfo
    asked: list[Any] = []

    def looked_up(host: Any, *rest: Any, **named: Any) -> Any:
        asked.append(host)
        return plain(address if host == "hooks.example.org" else host, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    (result,) = send(channel(tmp_path, kind, "hooks.example.org:9", ""), delivery())
    assert isinstance(result, Refused)
    assert f"{address}" in result.detail
    assert "not in notifier.allow_networks" in result.detail
    assert asked == ["hooks.example.org"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_type_that_is_denied(tmp_path: Path, kind: str) -> None:
    table = f'[notifier.channels.it]\ntype = "{kind}"\n{TABLES[kind]("hooks.example.org")}\n'
    with pytest.raises(SettingsError) as refused:
        load(tmp_path, f'[notifier]\ndeny_channels = ["{kind}"]\n{table}')
    assert f"channel it: type {kind} is in deny_channels" in str(refused.value)
    others = ", ".join(f'"{other}"' for other in KINDS if other != kind)
    load(tmp_path, f"[notifier]\ndeny_channels = [{others}]\n{table}")
