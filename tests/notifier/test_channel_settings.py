"""`[notifier.channels.<name>]`: each type as its README has it, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from notifier.test_settings import load
from warren.clock import ManualClock
from warren.errors import SettingsError
from warren_notifier.channels.channel import Channel
from warren_notifier.channels.configured import configured_channels, digesting, kinds
from warren_notifier.channels.digest import tells_many
from warren_notifier.channels.kinds.alertmanager import AlertmanagerChannel
from warren_notifier.channels.kinds.alertmanager_webhook import AlertmanagerWebhookChannel
from warren_notifier.channels.kinds.apprise import AppriseChannel
from warren_notifier.channels.kinds.pagerduty import PagerDutyChannel
from warren_notifier.channels.kinds.slack import SlackChannel
from warren_notifier.channels.kinds.slack_bot import SlackBotChannel
from warren_notifier.channels.kinds.teams import TeamsChannel
from warren_notifier.channels.kinds.template import TemplateChannel

SLACK = 'type = "slack"\nurl = "https://hooks.slack.com/services/T0/B0/abcdef"'
SLACK_BOT = 'type = "slack-bot"\ntoken = "xoxb-1"\nconversation = "C0123456789"'
PAGERDUTY = 'type = "pagerduty"\nrouting_key = "0123456789abcdef0123456789abcdef"'

EMAIL = 'type = "email"\nhost = "mail"\nsender = "warren@example.org"\nto = ["sre@example.org"]'
ALERTMANAGER = 'type = "alertmanager"\nurl = "http://alertmanager:9093"'
ALERT_WEBHOOK = 'type = "alertmanager-webhook"\nurl = "https://bridge.example.org/alerts"'

TEAMS = 'type = "teams"\nurl = "https://x.logic.azure.com/workflows/abc/triggers/manual?sig=1"'

TEMPLATE = 'type = "template"\nurl = "https://hooks.example.org/x"\nbody = \'{"a": "{{ Group }}"}\''

APPRISE = 'type = "apprise"\nurl = "ntfys://warren-abc"'


def channel(folder: Path, text: str) -> Channel:
    settings = load(folder, f"[notifier.channels.it]\n{text}\n")
    return configured_channels(settings, ManualClock())["it"]


@pytest.mark.parametrize(
    ("text", "kind", "place"),
    [
        (SLACK, SlackChannel, "hooks.slack.com:443"),
        (SLACK_BOT, SlackBotChannel, "slack.com:443"),
        (PAGERDUTY, PagerDutyChannel, "events.pagerduty.com:443"),
        (ALERTMANAGER, AlertmanagerChannel, "alertmanager:9093"),
        (ALERT_WEBHOOK, AlertmanagerWebhookChannel, "bridge.example.org:443"),
        (TEAMS, TeamsChannel, "x.logic.azure.com:443"),
        (TEMPLATE, TemplateChannel, "hooks.example.org:443"),
        (APPRISE, AppriseChannel, "ntfys"),
    ],
)
def test_every_type_is_a_channel(tmp_path: Path, text: str, kind: type, place: str) -> None:
    found = channel(tmp_path, text)
    assert isinstance(found, kind)
    assert found.identity.place == place


SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
WEBHOOK = f'type = "webhook"\nurl = "https://a.example.org"\nsecret = "{SECRET}"'
ALL = {
    "apprise": APPRISE,
    "bot": SLACK_BOT,
    "bridge": ALERT_WEBHOOK,
    "chat": SLACK,
    "desk": TEMPLATE,
    "hook": WEBHOOK,
    "mail": EMAIL,
    "manager": ALERTMANAGER,
    "pager": PAGERDUTY,
    "teams": TEAMS,
}


def test_who_can_tell_several_is_known_without_a_channel(tmp_path: Path) -> None:
    tables = [f"[notifier.channels.{name}]\n{text}\n" for name, text in ALL.items()]
    settings = load(tmp_path, "\n".join(tables))
    built = configured_channels(settings, ManualClock())
    assert digesting(settings) == {name for name, one in built.items() if tells_many(one)}
    assert digesting(settings) == {"bot", "chat", "mail", "teams"}
    assert {one.type for one in settings.channels.values()} == set(kinds()), "all types are here"


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (SLACK, "abcdef", "ghijkl"),
        (SLACK_BOT, "C0123456789", "C9876543210"),
        (PAGERDUTY, "abcdef0", "fedcba0"),
        (ALERTMANAGER, "9093", "9094"),
        (ALERT_WEBHOOK, "alerts", "others"),
        (TEAMS, "abc", "def"),
        (TEMPLATE, "example.org/x", "example.org/y"),
        (APPRISE, "abc", "def"),
    ],
)
def test_who_is_told_tells_channels_apart(tmp_path: Path, text: str, old: str, new: str) -> None:
    there, elsewhere = channel(tmp_path, text), channel(tmp_path, text.replace(old, new, 1))
    assert there.identity == channel(tmp_path, text).identity
    assert there.identity != elsewhere.identity


@pytest.mark.parametrize(
    ("text", "old", "new", "setting", "advice"),
    [
        (SLACK, "https://", "slack://", "it.url", "http:// or https:// URL"),
        (SLACK, "url =", "ur =", "it.ur", "unknown"),
        (SLACK_BOT, "xoxb-1", "xoxb-\\u00e9", "it.token", "not printable ASCII"),
        (SLACK_BOT, 'conversation = "C0123456789"', "", "it.conversation", "Field required"),
        (PAGERDUTY, "0123456789abcdef", "", "it.routing_key", "32 letters and digits"),
        (
            PAGERDUTY,
            "type",
            'severities = { WARN = "bad" }\ntype',
            "it.severities.WARN",
            "'critical'",
        ),
        (
            ALERTMANAGER,
            "type",
            'labels = { "a-b" = "c" }\ntype',
            "it.labels.a-b.[key]",
            "match pattern",
        ),
        (ALERTMANAGER, "type", "resend_interval = 0\ntype", "it.resend_interval", "greater than"),
        (TEMPLATE, "{{ Group }}", "{{ Group", "it.body", "line 1"),
        (TEMPLATE, "type", 'close_url = "x"\ntype', "it.close_url", "http:// or https://"),
        (TEMPLATE, "type", 'method = "HEAD"\ntype', "it.method", "'POST'"),
        (APPRISE, "ntfys", "ntfyz", "it.url", "Apprise knows no such URL"),
        (APPRISE, "apprise", "opsgenie", "it.type", "opsgenie://<api key>/#<team>"),
        (PAGERDUTY, "type", 'url = "ftp://x"\ntype', "it.url", "http:// or https://"),
        (EMAIL, "type", 'api_token = "\\u00e9"\ntype', "it.api_token", "not printable ASCII"),
    ],
)
def test_refusals(tmp_path: Path, text: str, old: str, new: str, setting: str, advice: str) -> None:
    with pytest.raises(SettingsError) as refused:
        channel(tmp_path, text.replace(old, new, 1))
    assert refused.value.setting == f"notifier.channels.{setting}"
    assert advice in refused.value.problem
