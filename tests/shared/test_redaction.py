"""Secrets are recognised by their values."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
from warren.redaction import REDACTED, Redaction
from warren.settings import HomeSettings, RedisSettings, Settings
from warren.settings.secrets import secret_values

TOKEN = "xoxb+17/a=Q&9~<é>"
URL = f"https://user:pa55w0rd@hooks.example.org/services/T0/{quote(TOKEN, safe='')}?key=k3y-value"
redact = Redaction([URL, "Bearer abcdef123", "geheim", "pw1"])


@pytest.mark.parametrize(
    "echo",
    [
        URL,
        quote(URL, safe=""),
        quote(URL, safe="").lower(),
        json.dumps(URL),
        TOKEN,
        json.dumps(TOKEN),
        TOKEN.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
        "pa55w0rd",
        "k3y-value",
        "abcdef123",
        TOKEN.encode().hex(),
        *(base64.b64encode(b"x" * n + TOKEN.encode() + b"yz").decode() for n in range(4)),
        base64.urlsafe_b64encode(URL.encode()).decode(),
        "password was pw1.",
    ],
)
def test_forms_of_a_secret(echo: str) -> None:
    shown = redact(f"no such hook: {echo} (404)")
    assert REDACTED in shown
    assert shown.startswith("no such hook: ")
    for part in (TOKEN, quote(TOKEN, safe=""), "pa55w0rd", "k3y-value", "abcdef123", "pw1"):
        assert part not in shown


def test_what_is_no_secret_stays() -> None:
    for text in ("hooks.example.org: connection refused", "HTTP 503: pw12 T0", "", "apw1"):
        assert redact(text) == text
    assert Redaction([])("anything") == "anything"
    assert Redaction(["", "x", "https://example.org/"])("x / y") == "x / y"


@pytest.mark.parametrize("length", range(1, 7))
def test_a_cut_text_does_not_end_with_the_beginning_of_a_secret(length: int) -> None:
    text = "it was " + "geheim"[:length]
    assert redact(text, cut=True) == f"it was {REDACTED}"


@given(st.text(min_size=6), st.text(), st.text())
def test_no_text_shows_a_secret(secret: str, before: str, after: str) -> None:
    once = Redaction([f"Basic {secret}", secret])
    assert REDACTED in once(before + secret + after)


def test_secrets_of_the_settings() -> None:
    kafka = {"sasl.mechanism": "PLAIN", "sasl.password": "geheim", "sasl.username": "warren"}
    settings = Settings(
        home=HomeSettings(bootstrap="localhost:1", kafka=kafka),  # type: ignore[arg-type]
        redis=RedisSettings(url=SecretStr("redis://:abc@localhost")),
    )
    found = set(secret_values(settings))
    assert {"geheim", "redis://:abc@localhost"} <= found
    assert not {"PLAIN", "warren"} & found
