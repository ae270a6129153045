"""Tokens: `warren token` makes them; what is sent to the API is as it is meant and never shown."""

import json
import tomllib
from pathlib import Path

import pytest
from api.served_api import Api
from cli.asked_api import run
from rich.console import Console
from typer.testing import CliRunner, Result
from warren.clock import SystemClock
from warren.errors import SettingsError
from warren.settings_file import load_settings
from warren_api.http.access import Access
from warren_cli.api_client import sent_token
from warren_cli.commands.silence import whoever
from warren_cli.commands.up import PlainScreen
from warren_cli.main import app

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
UNSENDABLE = {
    "\n": "line feed",
    "\x1b": "control character",
    "ü": "ASCII",
    "\udcff": "ASCII",
}


@pytest.fixture
def api() -> Api:
    made = Api(clock=SystemClock(), clusters=("demo",))  # type: ignore[arg-type]  # as the command's
    made.put("mailer", evaluated_at=SystemClock().now_ms())
    return made


@pytest.mark.parametrize("around", ["{}\n", "{}\r\n", " {}", "\t{} \n\n"])
def test_what_is_around_a_token_is_none_of_it(monkeypatch: pytest.MonkeyPatch, around: str) -> None:
    monkeypatch.setenv("WARREN_TOKEN", around.format(SECRET))
    assert sent_token() == SECRET


@pytest.mark.parametrize("blank", ["", " ", "\n"])
def test_blanks_are_no_token(monkeypatch: pytest.MonkeyPatch, blank: str) -> None:
    monkeypatch.setenv("WARREN_TOKEN", blank)
    assert sent_token() == ""
    assert whoever(None), "the name of the user, where no token says who it is"


@pytest.mark.parametrize("more", UNSENDABLE, ids=ascii)
def test_one_that_cannot_be_sent_is_refused_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    monkeypatch.setenv("WARREN_TOKEN", f"{SECRET}{more}{SECRET}")
    for command in COMMANDS:
        with pytest.raises(SettingsError, match=UNSENDABLE[more]) as refused:
            run(*command, "--api", NOBODY)
        assert refused.value.setting == "WARREN_TOKEN"
        assert "SECRET" not in str(refused.value)
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


OWN = "a-token-of-ones-own-0123456789abcdef"


def made(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["token", *arguments], input=stdin)


def test_what_it_prints_is_a_setting_that_lets_the_token_in(tmp_path: Path) -> None:
    name = 'O\'Hara "x" \\ ü'
    result = made("--name", name, "--role", "admin")
    secret = result.stderr.removeprefix("token (shown only now): ").strip()
    file = tmp_path / "warren.toml"
    file.write_text(result.stdout)
    access = Access(load_settings(file).api, is_loopback=False)
    assert access.caller(f"Bearer {secret}") == (name, "admin")
    assert secret not in result.stdout
    other = made("--name", "x").stderr
    assert secret not in other, "each is new"


def test_reading_is_the_default_and_json_is_for_scripts() -> None:
    told = json.loads(made("--name", "grafana", "--json").stdout)
    assert (told["name"], told["role"]) == ("grafana", "read")
    assert told["token"].startswith("warren_")
    assert told["hash"].startswith("sha256:")


def test_a_token_of_ones_own() -> None:
    result = made("--name", "x", "--stdin", stdin=f"{OWN}\n")
    assert OWN not in result.output
    assert tomllib.loads(result.stdout)["api"]["tokens"][0]["hash"].startswith("sha256:")


@pytest.mark.parametrize("secret", ["", "short", "ü" * 40])
def test_one_that_could_be_guessed_is_refused(secret: str) -> None:
    error = made("--name", "x", "--stdin", stdin=f"{secret}\n").exception
    assert isinstance(error, SettingsError)
    assert error.setting == "--stdin"
