"""The channels that the settings name."""

from __future__ import annotations

import ssl

import httpx
from warren.clock import Clock
from warren.errors import SettingsError
from warren.redaction import Redaction
from warren.settings.channels import (
    AlertmanagerChannelSettings,
    AlertmanagerWebhookChannelSettings,
    AnyChannelSettings,
    AppriseChannelSettings,
    ChannelSettings,
    EmailChannelSettings,
    OpsgenieChannelSettings,
    PagerDutyChannelSettings,
    SlackBotChannelSettings,
    SlackChannelSettings,
    TeamsChannelSettings,
    TemplateChannelSettings,
    WebhookChannelSettings,
)
from warren.settings.notifier import NotifierSettings
from warren.settings.secrets import secret_values
from warren.words import visible

from warren_notifier.channels.alertmanager import AlertmanagerChannel
from warren_notifier.channels.alertmanager_webhook import AlertmanagerWebhookChannel
from warren_notifier.channels.apprise import AppriseChannel
from warren_notifier.channels.channel import Channel, ChannelUnusable
from warren_notifier.channels.egress import EgressGuard
from warren_notifier.channels.email import EmailChannel
from warren_notifier.channels.opsgenie import OpsgenieChannel
from warren_notifier.channels.pagerduty import PagerDutyChannel
from warren_notifier.channels.slack import SlackBotChannel, SlackChannel
from warren_notifier.channels.teams import TeamsChannel
from warren_notifier.channels.template_webhook import TemplateChannel
from warren_notifier.channels.webhook import WebhookChannel


def configured_channels(settings: NotifierSettings, clock: Clock) -> dict[str, Channel]:
    """Channels by name.

    Raises SettingsError for a URL, authorities or a template that cannot be used.
    """
    guard = EgressGuard(settings.networks())
    channels: dict[str, Channel] = {}
    for name, channel in settings.channels.items():
        table = f"notifier.channels.{name}"
        try:
            channels[name] = _channel(channel, settings.link_base, guard, clock)
        except httpx.InvalidURL as error:
            redact = Redaction(secret_values(channel))
            raise SettingsError(f"{table}.url", visible(redact(str(error)))) from None
        except ChannelUnusable as error:
            raise SettingsError(f"{table}.{error.setting}", visible(error.problem)) from None
        except (ssl.SSLError, ValueError) as error:
            raise SettingsError(f"{table}.ca", f"no certificates in PEM: {error}") from None
    return channels


def digesting(settings: NotifierSettings) -> set[str]:
    """Names of the channels that can tell several incidents in one message; builds none."""
    return {
        name
        for name, channel in settings.channels.items()
        if hasattr(_CLASSES[type(channel)], "send_many")
    }


_CLASSES: dict[type[ChannelSettings], type[Channel]] = {
    WebhookChannelSettings: WebhookChannel,
    EmailChannelSettings: EmailChannel,
    SlackChannelSettings: SlackChannel,
    SlackBotChannelSettings: SlackBotChannel,
    PagerDutyChannelSettings: PagerDutyChannel,
    AlertmanagerChannelSettings: AlertmanagerChannel,
    AlertmanagerWebhookChannelSettings: AlertmanagerWebhookChannel,
    TeamsChannelSettings: TeamsChannel,
    TemplateChannelSettings: TemplateChannel,
    AppriseChannelSettings: AppriseChannel,
    OpsgenieChannelSettings: OpsgenieChannel,
}


def _channel(
    settings: AnyChannelSettings, link_base: str, guard: EgressGuard, clock: Clock
) -> Channel:
    match settings:
        case WebhookChannelSettings():
            return WebhookChannel(settings, guard, clock)
        case EmailChannelSettings():
            return EmailChannel(settings, link_base, clock)
        case SlackChannelSettings():
            return SlackChannel(settings, link_base, guard, clock)
        case SlackBotChannelSettings():
            return SlackBotChannel(settings, link_base, guard, clock)
        case PagerDutyChannelSettings():
            return PagerDutyChannel(settings, link_base, guard, clock)
        case AlertmanagerChannelSettings():
            return AlertmanagerChannel(settings, link_base, guard, clock)
        case AlertmanagerWebhookChannelSettings():
            return AlertmanagerWebhookChannel(settings, link_base, guard, clock)
        case TeamsChannelSettings():
            return TeamsChannel(settings, link_base, guard, clock)
        case TemplateChannelSettings():
            return TemplateChannel(settings, link_base, guard, clock)
        case AppriseChannelSettings():
            return AppriseChannel(settings, link_base, guard, clock)
        case OpsgenieChannelSettings():
            return OpsgenieChannel(settings, link_base, guard, clock)
