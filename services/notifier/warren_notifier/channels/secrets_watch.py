"""Secrets of channels that change while the notifier runs: in files that settings name, mostly.

Everything else about a channel is taken up at the next start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import structlog
from warren.clock import Clock
from warren.contracts import ChannelIdentity
from warren.errors import SettingsError
from warren.redaction import Redaction
from warren.settings import Settings
from warren.settings.channels import ChannelSettings
from warren.settings.notifier import NotifierSettings
from warren.settings.secrets import secret_values

from warren_notifier.channels.configured import channel_settings, configured_channels
from warren_notifier.channels.renewable import RenewableChannel

log = structlog.get_logger(__name__)


class SecretsWatch:
    """Looks at the settings each time it is told to.

    What was found is taken up once it has stayed the same from one look to the next: a file may be
    half written.
    """

    def __init__(
        self,
        settings: NotifierSettings,
        channels: Mapping[str, RenewableChannel],
        load: Callable[[], Settings],
        redaction: Redaction,
        clock: Clock,
    ) -> None:
        """What is secret among `settings` is redacted from now on."""
        self._in_force = channel_settings(settings)
        self._seen: Mapping[str, ChannelSettings] = dict(self._in_force)
        self._channels = channels
        self._load = load
        self._redaction = redaction
        self._clock = clock
        self._refused = ""
        for channel in self._in_force.values():
            redaction.add(secret_values(channel))

    def look(self) -> NotifierSettings | None:
        """Settings whose secrets are to be taken up; None when there is nothing to do. Blocks."""
        try:
            found = self._load().notifier
            channels = channel_settings(found)
        except SettingsError as error:
            if str(error) != self._refused:
                log.error("settings refused, those before stay in force", problem=str(error))
            self._refused = str(error)
            return None
        self._refused = ""
        seen, self._seen = self._seen, channels
        return found if channels == seen and self._changed(channels) else None

    async def take_up(self, found: NotifierSettings) -> None:
        """Puts channels with new secrets in force. They are redacted from now on."""
        channels = channel_settings(found)
        changed = self._changed(channels)
        for name in changed:
            self._in_force[name] = channels[name]
            self._redaction.add(secret_values(channels[name]))
        for name in changed:
            only = found.model_copy(update={"channels": {name: found.channels[name]}})
            try:
                channel = configured_channels(only, self._clock)[name]
            except SettingsError as error:
                log.error("settings refused, those before stay in force", problem=str(error))
                continue
            if not _is_there(channel.identity, self._channels[name].identity):
                log.warning("it leads elsewhere: taken up at the next start", channel=name)
                await channel.close()
                continue
            await self._channels[name].renew(channel)
            log.info("new secrets taken up", channel=name)

    def _changed(self, channels: Mapping[str, ChannelSettings]) -> list[str]:
        return [
            name
            for name, channel in channels.items()
            if name in self._channels
            and channel != self._in_force[name]
            and _public(channel) == _public(self._in_force[name])
        ]


def _is_there(new: ChannelIdentity, old: ChannelIdentity) -> bool:
    """Whether it leads to the same place, be it with another token in the URL or another key."""
    return (new.kind, new.place) == (old.kind, old.place)


def _public(settings: ChannelSettings) -> dict[str, object]:
    """What is no secret."""
    fields = type(settings).model_fields
    return {
        name: getattr(settings, name)
        for name, field in fields.items()
        if "SecretStr" not in str(field.annotation)
    }
