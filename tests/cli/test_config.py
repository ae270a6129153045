"""`warren config`: what `import` writes is what `check` accepts; logins are checked, too."""

import json
import stat
from pathlib import Path

import pytest
from cli.test_burrow_config import FULL
from support.identity_provider import IdentityProvider
from typer.testing import CliRunner, Result
from warren.errors import SettingsError
from warren.settings_file import load_settings
from warren_cli.main import app


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["config", *arguments])


@pytest.fixture
def burrow(tmp_path: Path) -> Path:
    path = tmp_path / "burrow.toml"
    path.write_text(FULL)
    return path


def test_the_file_that_is_written_is_accepted(burrow: Path, tmp_path: Path) -> None:
    output = tmp_path / "warren.toml"
    result = run("import", str(burrow), "-o", str(output), "--home", "kafka:9092")
    assert result.exit_code == 0, result.output
    assert stat.S_IMODE(output.stat().st_mode) == 0o600
    assert "notifier: left out: see docs/migration-from-burrow.md" in result.stderr
    assert "1 cluster written" in result.stderr
    assert "# notifier: left out" in output.read_text()
    checked = run("check", "--config", str(output))
    assert checked.exit_code == 0
    assert "cluster prod: k1:9093,k2:9093" in checked.output
    settings = load_settings(output)
    assert settings.home.bootstrap == "kafka:9092"


def test_a_file_is_not_overwritten_unasked(burrow: Path, tmp_path: Path) -> None:
    output = tmp_path / "warren.toml"
    output.write_text("# mine\n")
    refused = run("import", str(burrow), "-o", str(output))
    assert isinstance(refused.exception, SettingsError)
    assert "--force" in str(refused.exception)
    assert output.read_text() == "# mine\n"
    assert run("import", str(burrow), "-o", str(output), "--force").exit_code == 0
    assert "[clusters.prod]" in output.read_text()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[cluster", "no TOML"),
        ("[cluster.x]\n", "cluster.x.servers"),
        (None, "No such file"),
    ],
)
def test_refusals_are_one_line(tmp_path: Path, text: str | None, problem: str) -> None:
    path = tmp_path / "burrow.toml"
    if text is not None:
        path.write_text(text)
    refused = run("import", str(path))
    assert isinstance(refused.exception, SettingsError)
    assert problem in str(refused.exception)
    assert "\n" not in str(refused.exception)


@pytest.mark.parametrize("table", ["home", "clusters.prod"])
@pytest.mark.parametrize(
    ("property_", "refusal"),
    [
        (
            '"security.protocl" = "SSL"',
            "security.protocl: librdkafka has no such property; did you mean security.protocol?",
        ),
        ('"zzz" = "1"', "zzz: librdkafka has no such property"),
        ('"security.protocol" = "SASL_SSLL"', 'security.protocol: librdkafka does not take "SASL_'),
        ('"socket.timeout.ms" = 1', "socket.timeout.ms: must be within 10..300000"),
        ('"socket.timeout.ms" = "soon"', "socket.timeout.ms: librdkafka does not take this value"),
        ('"linger.ms" = 9999999999', "queue.buffering.max.ms: must be within 0..900000"),
        (
            '"security.protocol" = "SASL_SSL"\n"sasl.mechanism" = "SCRAM-SHA-257"\n'
            '"sasl.username" = "u"\n"sasl.password" = "p"',
            ": Unsupported hash function: SCRAM-SHA-257",
        ),
        (
            '"security.protocol" = "SSL"\n"ssl.ca.location" = "/no/such.pem"',
            "ssl.ca.location: /no/such.pem cannot be read: ",
        ),
    ],
)
def test_properties_with_which_no_client_is_made(
    tmp_path: Path, table: str, property_: str, refusal: str
) -> None:
    config = tmp_path / "warren.toml"
    config.write_text(f'[{table}]\nbootstrap = "127.0.0.1:1"\n[{table}.kafka]\n{property_}\n')
    refused = run("check", "--config", str(config))
    assert isinstance(refused.exception, SettingsError), refused.output
    text = str(refused.exception)
    assert text.startswith(f"{table}.kafka{'' if refusal[0] == ':' else '.'}{refusal}")
    assert "\n" not in text


@pytest.mark.parametrize(
    ("channel", "problem"),
    [
        ('type = "slack"\nurl = "http://0177.0.0.2/"', "url: Invalid IPv4 address"),
        (
            'type = "webhook"\nurl = "https://example.org/"\nbody = "{% if %}"',
            "body: ",
        ),
        ('type = "slack"\nurl = "https://a.b"\ntimeuot = 1', "timeuot: unknown setting; did you"),
        ('type = "pigeon"', "type: 'pigeon' is none of alertmanager, "),
    ],
)
def test_a_channel_with_which_the_notifier_would_not_start(
    tmp_path: Path, channel: str, problem: str
) -> None:
    settings = tmp_path / "warren.toml"
    settings.write_text(f"[notifier.channels.team]\n{channel}\n")
    checked = run("check", "--config", str(settings))
    assert isinstance(checked.exception, SettingsError)
    assert f"notifier.channels.team.{problem}" in str(checked.exception)


@pytest.mark.parametrize(
    ("search", "refusal"),
    [
        ("statuss:err", "Unknown filter “statuss:” — did you mean status:? A name goes in quotes."),
        ("payments:eu", "A name goes in quotes."),
        ("late:abc", "late: needs a duration, e.g. late:>10m."),
    ],
)
def test_a_saved_filter_that_the_search_does_not_understand(
    tmp_path: Path, search: str, refusal: str
) -> None:
    settings = tmp_path / "warren.toml"
    text = "[[api.filters]]\nname = 'ok'\nq = 'status:err'\n[[api.filters]]\nname = 'a'\nq = '{}'"
    settings.write_text(text.format(search))
    checked = run("check", "--config", str(settings))
    assert isinstance(checked.exception, SettingsError), checked.output
    assert checked.exception.setting == "api.filters.1.q"
    assert checked.exception.problem.endswith(refusal)
    settings.write_text(text.format('"payments:eu" late:>5m'))
    assert run("check", "--config", str(settings)).exit_code == 0


def test_entries_for_clusters_that_there_are_not_are_told(tmp_path: Path) -> None:
    settings = tmp_path / "warren.toml"
    settings.write_text("""
[clusters.prod]
bootstrap = "a:1"
[clusters.stage]
bootstrap = "b:1"
[notifier.channels.team]
type = "slack"
url = "https://hooks.example.org/x"
[[notifier.routes]]
name = "prd"
channels = ["team"]
clusters = ["^prd$"]
[[notifier.routes]]
name = "all"
channels = ["team"]
[[objectives]]
name = "fast"
max_lag = 1
clusters = ["^prd$", "^stg$"]
[[objectives]]
name = "one-of-two"
max_lag = 1
clusters = ["^prd$", "^stage$"]
[[groups]]
owner = "payments"
clusters = "^Prod$"
[[evaluation.overrides]]
clusters = "eu"
allowed_lag = 1
""")
    checked = run("check", "--config", str(settings))
    assert checked.exit_code == 0, checked.output
    assert [line for line in checked.output.splitlines() if "none of" in line] == [
        "notifier.routes.prd: clusters '^prd$' matches none of prod, stage",
        "objectives.fast: clusters '^prd$', '^stg$' match none of prod, stage",
        "groups.0: clusters '^Prod$' matches none of prod, stage",
        "evaluation.overrides.0: clusters 'eu' matches none of prod, stage",
    ]


def test_what_is_shown_of_a_channel_is_all_but_its_secrets(tmp_path: Path) -> None:
    settings = tmp_path / "warren.toml"
    settings.write_text(
        """[notifier.channels.team]
type = "pagerduty"
routing_key = "0123456789abcdef0123456789abcdef"
timeout = 7
"""
    )
    shown = json.loads(run("show", "--config", str(settings)).stdout)["notifier"]["channels"]
    assert shown["team"]["timeout"] == 7
    assert shown["team"]["routing_key"] == "**********"


def login(tmp_path: Path, *arguments: str, **fields: str) -> Result:
    file = tmp_path / "warren.toml"
    given = {"client_id": "warren", "public_url": "http://127.0.0.1:8000", **fields}
    lines = [f'{name} = "{value}"' for name, value in given.items()]
    file.write_text("\n".join(['[api.oidc]\nviewers = ["*"]', *lines]))
    return run("check", "--config", str(file), *arguments)


def test_it_says_what_to_register(tmp_path: Path) -> None:
    result = login(tmp_path, issuer="https://idp.example")
    assert result.exit_code == 0, result.output
    assert "login: https://idp.example, client warren" in result.output
    assert "http://127.0.0.1:8000/login/callback" in result.output
    assert "http://127.0.0.1:8000/logged-out" in result.output
    assert "api.oidc.session_secret is not set" in result.output
    assert (
        "api.oidc.public_url is http, for this machine only: cookies are not Secure"
        in result.output
    )
    safe = login(tmp_path, issuer="https://idp.example", public_url="https://warren.example")
    assert "Secure" not in safe.output


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"public_url": "http://warren.example"}, "api.oidc.public_url: "),
        ({"tls_ca": "/no/such.pem"}, "api.oidc.tls_ca: /no/such.pem cannot be used"),
    ],
)
def test_logins_that_would_not_work(tmp_path: Path, fields: dict[str, str], refusal: str) -> None:
    result = login(tmp_path, issuer="https://idp.example", **fields)
    assert isinstance(result.exception, SettingsError)  # `main` makes exit code 2 of it
    assert str(result.exception).startswith(refusal)


def test_the_provider_is_asked(tmp_path: Path) -> None:
    provider = IdentityProvider("http://127.0.0.1:8000")
    with provider.serving():
        found = login(tmp_path, "--connect", issuer=provider.issuer)
        other = login(tmp_path, "--connect", issuer=provider.issuer + "/")
    away = login(tmp_path, "--connect", issuer=provider.issuer)
    assert "api.oidc: connected" in found.output
    assert "api.oidc.issuer has to be exactly that" in other.output
    assert "api.oidc.issuer: " in away.output
    assert "All connection attempts failed" in away.output
    assert (other.exit_code, away.exit_code) == (1, 1)
