"""`[notifier]` in warren.toml: what is read, and that refusals name the setting and the fix."""

import os
from pathlib import Path

import pytest
from support.manual_clock import ManualClock
from warren.errors import SettingsError
from warren.settings.notifier import NotifierSettings
from warren.settings_file import load_settings
from warren_notifier.channels.configured import channel_settings, configured_channels
from warren_notifier.channels.kinds.email import EmailChannel, EmailSettings
from warren_notifier.channels.kinds.webhook import WebhookChannel, WebhookSettings

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
WORKING = f"""
[notifier]
link_base = "https://warren.example.org"
allow_networks = ["10.0.0.0/8", "fd00::/8"]

[[notifier.routes]]
name = "pager"
clusters = ["^prod"]
minimum_severity = "ERR"
repeat_interval = 1800
continue_matching = true
channels = ["hook"]

[[notifier.routes]]
name = "everything"
groups_deny = ["^test-"]
channels = ["team"]

[notifier.channels.hook]
type = "webhook"
url = "https://hooks.example.org/x"
timeout = 5
secret = "{SECRET}"
headers = {{ Authorization = "Bearer token" }}

[notifier.channels.team]
type = "email"
host = "mx.example.org"
sender = "warren@example.org"
to = ["oncall@example.org"]
"""


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("WARREN_"):
            monkeypatch.delenv(name)


def load(folder: Path, text: str = WORKING) -> NotifierSettings:
    file = folder / "warren.toml"
    file.write_text(text)
    settings = load_settings(file).notifier
    channel_settings(settings)
    return settings


def test_routes_and_channels_are_read(tmp_path: Path) -> None:
    settings = load(tmp_path)
    assert [route.name for route in settings.routes] == ["pager", "everything"]
    assert settings.routes[0].continue_matching
    read = channel_settings(settings)
    hook, team = read["hook"], read["team"]
    assert isinstance(hook, WebhookSettings)
    assert isinstance(team, EmailSettings)
    assert (team.tls, team.port) == ("starttls", 0)
    assert [str(network) for network in settings.networks()] == ["10.0.0.0/8", "fd00::/8"]
    channels = configured_channels(settings, ManualClock())
    assert isinstance(channels["hook"], WebhookChannel)
    assert isinstance(channels["team"], EmailChannel)


def test_secrets_come_from_files_and_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text(SECRET + "\n")
    text = WORKING.replace(f'secret = "{SECRET}"', f'secret_file = "{tmp_path}/secret"')
    monkeypatch.setenv("WARREN_NOTIFIER__CHANNELS__TEAM__PASSWORD", "geheim")
    monkeypatch.setenv("WARREN_NOTIFIER__CHANNELS__TEAM__TO", '["a@example.org"]')
    settings = load(tmp_path, text)
    read = channel_settings(settings)
    hook, team = read["hook"], read["team"]
    assert isinstance(hook, WebhookSettings)
    assert isinstance(team, EmailSettings)
    assert hook.secret.get_secret_value() == SECRET
    assert team.password.get_secret_value() == "geheim"
    assert team.to == ["a@example.org"]


def test_secrets_do_not_show(tmp_path: Path) -> None:
    text = WORKING.replace("mx.example.org", 'mx.example.org"\npassword = "geheim')
    settings = load(tmp_path, text)
    for shown in (repr(settings), settings.model_dump_json()):
        for secret in (SECRET, "geheim", "Bearer token", "hooks.example.org"):
            assert secret not in shown


@pytest.mark.parametrize(
    ("old", "new", "setting", "advice"),
    [
        ('channels = ["team"]', 'channels = ["tema"]', "notifier", "no channel 'tema'"),
        ('name = "pager"', 'name = "everything"', "notifier", "two routes are named"),
        ('"^prod"', '"["', "notifier.routes.0.clusters", "no regular expression"),
        ('"ERR"', '"FATAL"', "notifier.routes.0.minimum_severity", "'OK', 'WARN' or 'ERR'"),
        ("repeat_interval = 1800", "repeat_interval = -1", "notifier.routes.0", "at least 0"),
        ("repeat_interval = 1800", "repeat_interval = 0.001", "notifier.routes.0", "flood"),
        ("repeat_interval = 1800", "mute = [{ }]", "notifier.routes.0.mute", "at all times"),
        (
            "repeat_interval = 1800",
            'mute = [{ from = "08:00", to = "08:00" }]',
            "notifier.routes.0.mute",
            "at all times",
        ),
        ("repeat_interval", "repeat_intervall", "notifier.routes.0.repeat_intervall", "unknown"),
        ("timeout", "timeuot", "notifier.channels.hook.timeuot", "notifier.channels.hook.timeout?"),
        ('"10.0.0.0/8"', '"10.0.0.1/8"', "notifier.allow_networks", "host bits set"),
        ('type = "webhook"', 'type = "pigeon"', "notifier.channels.hook.type", "alertmanager, "),
        ("allow_net", "flap_openings = 1\nallow_net", "notifier", "1 is no flapping"),
        ("https://warren.example.org", "javascript:alert(1)", "notifier.link_base", "https://"),
        ("channels.team]", 'channels."a b"]', "notifier.channels", "must be of letters, digits"),
    ],
)
def test_refusals_name_the_setting_and_what_is_wrong(
    tmp_path: Path, old: str, new: str, setting: str, advice: str
) -> None:
    assert old in WORKING
    with pytest.raises(SettingsError) as refused:
        load(tmp_path, WORKING.replace(old, new, 1))
    assert refused.value.setting.startswith(setting)
    assert advice in refused.value.problem
