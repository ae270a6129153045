"""The channels that the settings name, by the kinds that there are."""

import json
import pkgutil
import ssl
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, get_origin

from pydantic import ValidationError
from warren.clock import Clock
from warren.errors import SettingsError
from warren.settings.notifier import ChannelSettings, NotifierSettings
from warren.settings_file import explained
from warren.words import visible

from warren_notifier.channels import kinds as modules
from warren_notifier.channels.channel import Channel, ChannelUnusable, Kind
from warren_notifier.channels.egress import EgressGuard


@cache
def kinds() -> dict[str, Kind[Any]]:
    """All that there are, by `type`: a module in `kinds` for each, named like it."""
    names = sorted(module.name for module in pkgutil.iter_modules(modules.__path__))
    found = (import_module(f"{modules.__name__}.{name}").KIND for name in names)
    return {kind.type: kind for kind in found}


def channel_settings(settings: NotifierSettings) -> dict[str, ChannelSettings]:
    """Settings of the channels, by name.

    Raises SettingsError for a type that there is not, and for what a type does not take.
    """
    for denied in settings.deny_channels:
        _kind("notifier.deny_channels", denied)
    found = {}
    for name, table in settings.channels.items():
        at = ("notifier", "channels", name)
        model = _kind(".".join((*at, "type")), table.type).settings
        try:
            found[name] = model.model_validate(_parsed(model, table.written()))
        except ValidationError as error:
            raise explained(error, model, at) from None
    return found


def configured_channels(settings: NotifierSettings, clock: Clock) -> dict[str, Channel]:
    """Channels by name.

    Raises SettingsError likewise, and for authorities or a body that cannot be used.
    """
    guard = EgressGuard(settings.networks())
    channels: dict[str, Channel] = {}
    for name, channel in channel_settings(settings).items():
        table = f"notifier.channels.{name}"
        try:
            make = kinds()[channel.type].channel
            channels[name] = make(channel, settings.link_base, guard, clock)
        except ChannelUnusable as error:
            raise SettingsError(f"{table}.{error.setting}", visible(error.problem)) from None
        except (ssl.SSLError, ValueError) as error:
            raise SettingsError(f"{table}.ca", f"no certificates in PEM: {error}") from None
    return channels


def digesting(settings: NotifierSettings) -> set[str]:
    """Names of the channels that can tell several incidents in one message; builds none."""
    return {
        name
        for name, table in settings.channels.items()
        if getattr(_kind(f"notifier.channels.{name}.type", table.type).channel, "tells_many", False)
    }


def _kind(setting: str, name: str) -> Kind[Any]:
    """Raises SettingsError."""
    if name not in kinds():
        raise SettingsError(setting, f"{visible(name)!r} is none of {', '.join(kinds())}")
    return kinds()[name]


def _parsed(model: type[ChannelSettings], table: Mapping[str, Any]) -> dict[str, Any]:
    """Tables and lists from the environment are JSON."""

    def parsed(name: str, value: Any) -> Any:
        field = model.model_fields.get(name)
        if isinstance(value, str) and field and get_origin(field.annotation) in (dict, list):
            try:
                return json.loads(value)
            except ValueError:
                return value  # it is refused as what it is not
        return value

    return {name: parsed(name, value) for name, value in table.items()}
