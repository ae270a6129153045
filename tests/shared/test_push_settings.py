"""`[api.push]`: an address is enough, and no secret is where it would be logged."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError
from warren.settings.push import PushSettings, host_and_port
from warren.settings_file import load_settings


def test_nothing_is_pushed_by_default() -> None:
    push = PushSettings()
    assert (push.otlp.endpoint, push.influxdb.url, push.graphite.address) == ("", "", "")


@pytest.mark.parametrize(
    "table",
    [
        {"otlp": {"endpoint": "http://user:word@collector:4318"}},
        {"otlp": {"endpoint": "collector:4318"}},
        {"otlp": {"endpoint": "http://c", "headers": {"a b": "x"}}},
        {"otlp": {"endpoint": "http://c", "headers": {"A": "x\r\nB: y"}}},
        {"otlp": {"endpoint": "http://c", "headers": {"Content-Length": "0"}}},
        {"otlp": {"endpoint": "http://c", "interval": 3600}},
        {"influxdb": {"url": "http://i", "token": "x\ny"}},
        {"influxdb": {"url": "http://i", "token": "x", "username": "u"}},
        {"graphite": {"address": "carbon:2003", "prefix": "a b"}},
        {"graphite": {"address": "carbon:2003", "prefix": "a\n"}},
        {"graphite": {"address": "carbon:99999"}},
        {"graphite": {"address": "http://carbon"}},
        {"graphite": {"address": "carbon:2003", "labels": {"a-b": "x"}}},
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(table: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        PushSettings.model_validate(table)


def test_secrets_come_from_files(tmp_path: Path) -> None:
    secret = tmp_path / "key"
    secret.write_text("s3cret\n")
    config = tmp_path / "warren.toml"
    config.write_text(
        f"""
        [api.push.otlp]
        endpoint = "http://collector:4318"
        headers = {{ Authorization_file = "{secret}" }}
        [api.push.influxdb]
        url = "http://influxdb:8086"
        bucket = "kafka"
        token_file = "{secret}"
        """
    )
    push = load_settings(config).api.push
    assert push.otlp.plain_headers() == {"Authorization": "s3cret"}
    assert push.influxdb.token.get_secret_value() == "s3cret"
    assert "s3cret" not in repr(push)


def test_carbon_has_a_port_by_default() -> None:
    assert host_and_port("carbon") == ("carbon", 2003)
    assert host_and_port("[::1]:2004") == ("::1", 2004)
