"""Secrets that change while the notifier runs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from notifier.builders import delivery
from notifier.harness import Hanging, Scripted
from notifier.http_receiver import Answer, HttpReceiver
from notifier.process import SECRET
from standardwebhooks import Webhook, WebhookVerificationError
from structlog.testing import capture_logs
from support.waiting import until
from warren.clock import SystemClock
from warren.redaction import REDACTED, Redaction
from warren.settings.secrets import secret_values
from warren.settings_file import load_settings
from warren_notifier.channels.channel import Delivered, Refused
from warren_notifier.channels.configured import configured_channels
from warren_notifier.channels.renewable import RenewableDigestChannel, renewable
from warren_notifier.channels.secrets_watch import SecretsWatch

OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"


class Configured:
    """A warren.toml with a webhook whose secret is in a file."""

    def __init__(self, folder: Path, port: int) -> None:
        self.secret = folder / "secret"
        self.secret.write_text(SECRET)
        self.file = folder / "warren.toml"
        self.write(port)
        settings = load_settings(self.file)
        self.redaction = Redaction(secret_values(settings))
        made = configured_channels(settings.notifier, SystemClock())
        self.channels = {name: renewable(channel) for name, channel in made.items()}
        self.watch = SecretsWatch(
            settings.notifier,
            self.channels,
            lambda: load_settings(self.file),
            self.redaction,
            SystemClock(),
        )

    def write(self, port: int, **more: object) -> None:
        extra = "".join(f"{name} = {value!r}\n" for name, value in more.items())
        self.file.write_text(
            f"""[notifier]
allow_networks = ["127.0.0.0/8"]
[notifier.channels.hook]
type = "webhook"
url = "http://127.0.0.1:{port}/hook"
secret_file = "{self.secret}"
{extra}"""
        )

    async def looks(self) -> bool:
        """Whether something was taken up."""
        found = self.watch.look()
        if found is not None:
            await self.watch.take_up(found)
        return found is not None


def test_a_new_secret_is_taken_up_once_its_file_stays_as_it_is(tmp_path: Path) -> None:
    async def run(hooks: HttpReceiver) -> None:
        at = Configured(tmp_path, hooks.port)
        assert not await at.looks()
        await at.channels["hook"].send(delivery())
        at.secret.write_text(f"{OTHER}\n")
        assert not await at.looks(), "it may be half written"
        assert await at.looks()
        assert not await at.looks()
        await at.channels["hook"].send(delivery())
        assert at.redaction(f"what is {OTHER}?") == f"what is {REDACTED}?"
        assert at.redaction(f"what is {SECRET}?") == f"what is {REDACTED}?"
        await at.channels["hook"].close()

    with HttpReceiver() as hooks:
        asyncio.run(run(hooks))
    first, second = hooks.requests
    Webhook(SECRET).verify(first.body, dict(first.headers))
    Webhook(OTHER).verify(second.body, dict(second.headers))
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(second.body, dict(second.headers))


def test_what_cannot_be_used_changes_nothing_and_is_said_once(tmp_path: Path) -> None:
    async def run() -> None:
        at = Configured(tmp_path, 1)
        at.secret.write_text("whsec_short")
        with capture_logs() as logs:
            for _ in range(3):
                assert not await at.looks()
        assert [one["log_level"] for one in logs] == ["error"]
        assert "short" not in str(logs)
        await at.channels["hook"].close()

    asyncio.run(run())


def test_whatever_is_no_secret_waits_for_a_restart(tmp_path: Path) -> None:
    async def run() -> None:
        at = Configured(tmp_path, 1)
        at.write(1, timeout=3)
        assert not any([await at.looks(), await at.looks()])
        at.write(2)
        with capture_logs() as logs:
            assert [await at.looks(), await at.looks()] == [False, True]
            assert not any([await at.looks(), await at.looks()])
        assert [one["event"] for one in logs] == ["it leads elsewhere: taken up at the next start"]
        await at.channels["hook"].close()

    asyncio.run(run())


def test_a_receiver_that_was_gone_is_asked_again_with_a_new_secret(tmp_path: Path) -> None:
    async def run(hooks: HttpReceiver) -> None:
        at = Configured(tmp_path, hooks.port)
        for _ in range(2):
            assert isinstance(await at.channels["hook"].send(delivery()), Refused)
        at.secret.write_text(OTHER)
        await at.looks()
        await at.looks()
        assert isinstance(await at.channels["hook"].send(delivery()), Delivered)
        await at.channels["hook"].close()

    with HttpReceiver(Answer(410)) as hooks:
        asyncio.run(run(hooks))
    assert len(hooks.requests) == 2


class Several(Configured):
    """Channels that are told from others by what is secret."""

    def write(self, port: int, **keys: object) -> None:
        self.file.write_text(
            f"""[notifier]
allow_networks = ["127.0.0.0/8"]
[notifier.channels.broken]
type = "apprise"
url = "{keys.get("apprise", "json://127.0.0.1")}"
[notifier.channels.chat]
type = "slack"
url = "http://127.0.0.1:{port}/{keys.get("slack", "before")}"
[notifier.channels.pager]
type = "pagerduty"
routing_key = "{keys.get("pager", "a" * 32)}"
url = "http://127.0.0.1:{port}/pager"
"""
        )


def test_keys_that_tell_a_channel_from_others_are_taken_up_too(tmp_path: Path) -> None:
    """A Slack webhook's whole URL is its secret. One that cannot be used holds up no other."""

    async def run(hooks: HttpReceiver) -> list[str]:
        at = Several(tmp_path, hooks.port)
        at.write(hooks.port, slack="after", pager="b" * 32, apprise="nosuch://127.0.0.1")
        assert not await at.looks()
        with capture_logs() as logs:
            assert await at.looks()
            assert not await at.looks()
        await at.channels["chat"].send(delivery())
        await at.channels["pager"].send(delivery())
        for channel in at.channels.values():
            await channel.close()
        return [one["event"] for one in logs]

    with HttpReceiver() as hooks:
        said = asyncio.run(run(hooks))
    slack, pager = hooks.requests
    assert slack.path == "/after"
    assert json.loads(pager.body)["routing_key"] == "b" * 32
    taken_up = "new secrets taken up"
    assert said == ["settings refused, those before stay in force", taken_up, taken_up]


class Closing(Hanging):
    closed = False

    async def close(self) -> None:
        self.closed = True


def test_the_channel_before_is_closed_when_its_last_attempt_has_ended() -> None:
    async def run() -> None:
        old, new, unused = Closing(), Closing(), Closing()
        channel = renewable(old)
        sending = asyncio.create_task(channel.send(delivery()))
        await until(lambda: bool(old.sent))
        await channel.renew(new)
        assert not old.closed
        old.let_go.set()
        assert isinstance(await sending, Delivered)
        assert old.closed
        await channel.renew(unused)
        assert new.closed

    asyncio.run(run())


def test_channels_that_tell_many_go_on_doing_so(tmp_path: Path) -> None:
    file = tmp_path / "warren.toml"
    file.write_text(
        """[notifier.channels.mail]
type = "email"
host = "mx"
sender = "warren@example.org"
to = ["oncall@example.org"]
"""
    )
    (mail,) = configured_channels(load_settings(file).notifier, SystemClock()).values()
    assert isinstance(renewable(mail), RenewableDigestChannel)
    assert not isinstance(renewable(Scripted()), RenewableDigestChannel)
