"""What docker-compose.yml says, read without Docker."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from api.served_api import Api
from warren.settings_file import load_settings

ROOT = Path(__file__).parents[2]
_VARIABLE = re.compile(r"\$\{\w+:-(.*?)\}")


def environment(service: str, **given: str) -> dict[str, str]:
    """Of a service, where nothing but `given` is set."""
    composed = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    said = composed["services"][service]["environment"]
    return {name: _interpolated(str(value), given) for name, value in said.items()}


def _interpolated(text: str, given: dict[str, str]) -> str:
    for name, value in given.items():
        text = re.sub(rf"\$\{{{name}:-.*?\}}", lambda _, value=value: value, text)
    return _VARIABLE.sub(r"\1", text)


def api(monkeypatch: pytest.MonkeyPatch, **given: str) -> Api:
    for name, value in environment("api", **given).items():
        monkeypatch.setenv(name, value)
    settings = load_settings().api
    assert settings.host == "0.0.0.0"
    return Api(api=settings, is_loopback=False)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost:8000", 200),
        ("127.0.0.1:8000", 200),
        ("api:8000", 200),
        ("evil.example:8000", 403),
        ("evil.example", 403),
    ],
)
def test_a_name_that_points_here_reads_nothing(
    monkeypatch: pytest.MonkeyPatch, host: str, expected: int
) -> None:
    """A browser that reads over plain HTTP says nothing by which it could be told."""
    answer = api(monkeypatch).get("/api/v1/groups", headers={"Host": host})
    assert answer.status_code == expected


def test_other_names_may_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    named = api(monkeypatch, WARREN_API_TRUSTED_HOSTS='["warren.example"]')
    for host, expected in (("warren.example", 200), ("localhost", 200), ("api", 403)):
        assert named.get("/api/v1/groups", headers={"Host": host}).status_code == expected
