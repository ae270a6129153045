"""Logs: one JSON object per line, whoever speaks."""

import base64
import json
import logging
from collections.abc import Iterator
from typing import Literal
from urllib.parse import quote

import pytest
import structlog
from hypothesis import given, strategies as st
from pydantic import SecretStr
from support.manual_clock import ManualClock
from warren.log import configure
from warren.redaction import REDACTED, Redaction
from warren.settings import HomeSettings, LogSettings, RedisSettings, Settings, secret_values


@pytest.fixture(autouse=True)
def _restore() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_json_lines_with_the_service(capsys: pytest.CaptureFixture[str]) -> None:
    configure(LogSettings(format="json"), "collector")
    structlog.get_logger("x").info("tick published", cluster="prod", events=3)
    logging.getLogger("aiokafka").warning("node %s gone", 1)
    logging.getLogger("aiokafka").info("not worth a line")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["event"] for line in lines] == ["tick published", "node 1 gone"]
    assert all(line["service"] == "collector" and line["timestamp"] for line in lines)
    assert (lines[0]["cluster"], lines[0]["events"], lines[0]["level"]) == ("prod", 3, "info")


def test_console_lines_and_level(capsys: pytest.CaptureFixture[str]) -> None:
    configure(LogSettings(format="console", level="warning"), "api")
    structlog.get_logger("x").info("hidden")
    structlog.get_logger("x").warning("shown", port=8000)
    text = capsys.readouterr().err
    assert "hidden" not in text
    assert "shown" in text
    assert "port=8000" in text


def test_lines_that_strangers_cause_come_once_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    clock = ManualClock()
    configure(LogSettings(format="json"), "api", clock=clock)
    log = structlog.get_logger("tests")
    for offset in range(9):
        log.warning("event refused", offset=offset)
    log.warning("token refused")
    log.warning("another")
    clock.advance(60)
    log.warning("event refused", offset=9)
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(each.get("offset"), each.get("unlogged")) for each in told] == [
        (0, 0),
        (None, 0),
        (None, None),
        (9, 8),
    ]


@pytest.mark.parametrize("form", ["console", "json"])
def test_tracebacks_show_no_local_variables(
    form: Literal["console", "json"], capsys: pytest.CaptureFixture[str]
) -> None:
    """They may be passwords."""
    configure(LogSettings(format=form), "notifier")
    password = "".join(("sw", "ordfish"))
    try:
        raise RuntimeError(f"refused after {len(password)} characters")
    except RuntimeError:
        structlog.get_logger("x").exception("no mail")
    text = capsys.readouterr().err
    assert "refused after 9 characters" in text
    assert password not in text


@pytest.mark.parametrize("form", ["json", "console"])
def test_no_line_shows_a_secret(capsys: pytest.CaptureFixture[str], form: Literal["json"]) -> None:
    configure(LogSettings(format=form), "notifier", redaction=Redaction(["geheim-17"]))
    structlog.get_logger("x").info("failed", detail="it was geheim-17", key="Z2VoZWltLTE3")
    logging.getLogger("httpx").warning("POST %s", "https://example.org/geheim-17")
    password = "geheim" + "-17"  # a traceback shows the line, and in structlog's own the value too
    try:
        raise RuntimeError(password)
    except RuntimeError:
        structlog.get_logger("x").exception("failed")
    text = capsys.readouterr().err
    assert "geheim-17" not in text
    assert text.count("[redacted]") == 4
    assert "RuntimeError" in text


@pytest.mark.parametrize("form", ["json", "console"])
def test_names_that_warren_writes_stay_beside_secrets(
    capsys: pytest.CaptureFixture[str], form: Literal["json", "console"]
) -> None:
    """A channel may be called as the path of its URL, a password may be a word of every line."""
    redaction = Redaction(["https://example.org/h-new-14", "info", "notifier"])
    configure(LogSettings(format=form), "notifier", redaction=redaction)
    structlog.get_logger("x").info(
        "not told",
        channel="h-new-14",
        group="r-h-new-14",
        cluster="h-new-14",
        detail="no hook at /h-new-14",
        said=["h-new-14", {"h-new-14": ValueError("h-new-14")}],
        attempt=14,
    )
    (line,) = capsys.readouterr().err.splitlines()
    assert line.count("h-new-14") == 3  # those with a name of their own
    assert line.count("[redacted]") == 4
    if form == "json":
        told = json.loads(line)
        assert (told["channel"], told["group"]) == ("h-new-14", "r-h-new-14")
        assert (told["level"], told["service"], told["attempt"]) == ("info", "notifier", 14)
        assert told["detail"] == "no hook at [redacted]"


def test_names_do_nothing_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    configure(LogSettings(format="console"), "api")
    structlog.get_logger("t").warning("seen", group="a\x1b[2J\n\u202eb", groups=["\x1b[2J"])
    written = capsys.readouterr().err
    assert "\x1b[2J" not in written
    assert "\u202e" not in written
    assert "a\u241b[2J\u240a\\u202eb" in written
    assert written.count("\n") == 1


# Secrets are recognised by their values.

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
    assert redact("it was " + "geheim"[:length], cut=True) == f"it was {REDACTED}"


@given(st.text(min_size=6), st.text(), st.text())
def test_no_text_shows_a_secret(secret: str, before: str, after: str) -> None:
    assert REDACTED in Redaction([f"Basic {secret}", secret])(before + secret + after)


def test_secrets_of_the_settings() -> None:
    kafka = {"sasl.mechanism": "PLAIN", "sasl.password": "geheim", "sasl.username": "warren"}
    settings = Settings(
        home=HomeSettings(bootstrap="localhost:1", kafka=kafka),  # type: ignore[arg-type]
        redis=RedisSettings(url=SecretStr("redis://:abc@localhost")),
    )
    found = set(secret_values(settings))
    assert {"geheim", "redis://:abc@localhost"} <= found
    assert not {"PLAIN", "warren"} & found
