"""`warren config check` of a login: what to register at the provider, and whether it answers."""

from __future__ import annotations

from pathlib import Path

from support.identity_provider import IdentityProvider
from typer.testing import CliRunner, Result
from warren.errors import SettingsError
from warren_cli.main import app


def check(tmp_path: Path, *arguments: str, **fields: str) -> Result:
    file = tmp_path / "warren.toml"
    given = {"client_id": "warren", "public_url": "http://127.0.0.1:8000", **fields}
    lines = [f'{name} = "{value}"' for name, value in given.items()]
    file.write_text("\n".join(['[api.oidc]\nviewers = ["*"]', *lines]))
    return CliRunner().invoke(app, ["config", "check", "--config", str(file), *arguments])


def test_it_says_what_to_register(tmp_path: Path) -> None:
    result = check(tmp_path, issuer="https://idp.example")
    assert result.exit_code == 0, result.output
    assert "login: https://idp.example, client warren" in result.output
    assert "http://127.0.0.1:8000/login/callback" in result.output
    assert "http://127.0.0.1:8000/logged-out" in result.output
    assert "api.oidc.session_secret is not set" in result.output
    assert (
        "api.oidc.public_url is http, for this machine only: cookies are not Secure"
        in result.output
    )
    safe = check(tmp_path, issuer="https://idp.example", public_url="https://warren.example")
    assert "Secure" not in safe.output


def test_sessions_over_http_are_refused(tmp_path: Path) -> None:
    result = check(tmp_path, issuer="https://idp.example", public_url="http://warren.example")
    assert isinstance(result.exception, SettingsError)
    assert result.exception.setting == "api.oidc.public_url"
    assert "use https" in result.exception.problem


def test_authorities_have_to_be_there(tmp_path: Path) -> None:
    result = check(tmp_path, issuer="https://idp.example", tls_ca="/no/such.pem")
    assert isinstance(result.exception, SettingsError)  # `main` makes exit code 2 of it
    assert "api.oidc.tls_ca: /no/such.pem cannot be used" in str(result.exception)


def test_the_provider_is_asked(tmp_path: Path) -> None:
    provider = IdentityProvider("http://127.0.0.1:8000")
    with provider.serving():
        found = check(tmp_path, "--connect", issuer=provider.issuer)
        other = check(tmp_path, "--connect", issuer=provider.issuer + "/")
    away = check(tmp_path, "--connect", issuer=provider.issuer)
    assert "api.oidc: connected" in found.output
    assert "api.oidc.issuer has to be exactly that" in other.output
    assert "api.oidc.issuer: " in away.output
    assert "All connection attempts failed" in away.output
    assert (other.exit_code, away.exit_code) == (1, 1)
