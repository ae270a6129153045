from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result
from warren.errors import SettingsError
from warren.settings_file import load_settings
from warren_api.http.access import Access
from warren_cli.commands.token import token

app = typer.Typer()
app.command()(token)
OWN = "a-token-of-ones-own-0123456789abcdef"


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, arguments, input=stdin)


def test_what_it_prints_is_a_setting_that_lets_the_token_in(tmp_path: Path) -> None:
    name = 'O\'Hara "x" \\ ü'
    result = run("--name", name, "--role", "admin")
    secret = result.stderr.removeprefix("token (shown only now): ").strip()
    file = tmp_path / "warren.toml"
    file.write_text(result.stdout)
    access = Access(load_settings(file).api, is_loopback=False)
    assert access.caller(f"Bearer {secret}") == (name, "admin")
    assert secret not in result.stdout
    other = run("--name", "x").stderr
    assert secret not in other, "each is new"


def test_reading_is_the_default_and_json_is_for_scripts() -> None:
    made = json.loads(run("--name", "grafana", "--json").stdout)
    assert (made["name"], made["role"]) == ("grafana", "read")
    assert made["token"].startswith("warren_")
    assert made["hash"].startswith("sha256:")


def test_a_token_of_ones_own() -> None:
    result = run("--name", "x", "--stdin", stdin=f"{OWN}\n")
    assert OWN not in result.output
    assert tomllib.loads(result.stdout)["api"]["tokens"][0]["hash"].startswith("sha256:")


@pytest.mark.parametrize("secret", ["", "short", "ü" * 40])
def test_one_that_could_be_guessed_is_refused(secret: str) -> None:
    error = run("--name", "x", "--stdin", stdin=f"{secret}\n").exception
    assert isinstance(error, SettingsError)
    assert error.setting == "--stdin"
