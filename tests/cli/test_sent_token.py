"""The token that is sent to the API: as it is meant, and never shown."""

from __future__ import annotations

import pytest
from api.served_api import Api
from cli.asked_api import run
from rich.console import Console
from warren.clock import SystemClock
from warren.errors import SettingsError, WarrenError
from warren_cli.commands.silence import whoever
from warren_cli.display.screens import PlainScreen
from warren_cli.sent_token import sent_token

SECRET = "warren_SECRETSECRET"
NOBODY = "http://127.0.0.1:1"
COMMANDS = [
    ("status",),
    ("status", "--watch"),
    ("get", "groups"),
    ("describe", "group", "x"),
    ("events", "--follow"),
    ("silence", "list"),
    ("ack", "x"),
]
UNSENDABLE = ["\n", "\x01", "ü", "\udcff"]


@pytest.fixture
def api() -> Api:
    made = Api(clock=SystemClock(), clusters=("demo",))  # type: ignore[arg-type]  # as the command's
    made.put("mailer", evaluated_at=SystemClock().now_ms())
    return made


@pytest.mark.parametrize("around", ["{}\n", "{}\r\n", " {}", "\t{} \n\n"])
def test_what_is_around_a_token_is_none_of_it(monkeypatch: pytest.MonkeyPatch, around: str) -> None:
    monkeypatch.setenv("WARREN_TOKEN", around.format(SECRET))
    assert sent_token() == SECRET


def test_with_a_newline_after_it_as_a_file_has_it(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("WARREN_TOKEN", f"{SECRET}\n")
    for command in (("status",), ("get", "groups"), ("events",)):
        with pytest.raises(WarrenError, match="none of those that"):  # it arrived
            run(*command, "--api", address)


@pytest.mark.parametrize("blank", ["", " ", "\n"])
def test_blanks_are_no_token(monkeypatch: pytest.MonkeyPatch, blank: str) -> None:
    monkeypatch.setenv("WARREN_TOKEN", blank)
    assert sent_token() == ""
    assert whoever(None), "the name of the user, where no token says who it is"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("more", UNSENDABLE, ids=ascii)
def test_one_that_cannot_be_sent_is_refused_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], more: str
) -> None:
    monkeypatch.setenv("WARREN_TOKEN", f"{SECRET}{more}{SECRET}")
    with pytest.raises(SettingsError) as refused:
        run(*command, "--api", NOBODY)
    assert refused.value.setting == "WARREN_TOKEN"
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize(
    ("more", "what"),
    [("\n", "line feed"), ("\x1b", "control character"), ("ü", "ASCII"), ("\udcff", "ASCII")],
)
def test_what_is_wrong_with_it_is_said(
    monkeypatch: pytest.MonkeyPatch, more: str, what: str
) -> None:
    monkeypatch.setenv("WARREN_TOKEN", f"{SECRET}{more}{SECRET}")
    with pytest.raises(SettingsError, match=what) as refused:
        sent_token()
    assert str(refused.value).isprintable()
    assert str(refused.value).isascii()


def test_a_screen_refuses_it_where_it_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WARREN_TOKEN", f"{SECRET}\n{SECRET}")
    screen = PlainScreen(Console())
    with pytest.raises(SettingsError, match="WARREN_TOKEN"):
        screen.follow(NOBODY)
    screen.close()
    assert "SECRET" not in "".join(capsys.readouterr())
