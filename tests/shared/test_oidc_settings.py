"""`[api.oidc]`: what is refused is named, with the way to mend it."""

from pathlib import Path

import pytest
from pydantic import ValidationError
from warren.errors import SettingsError
from warren.settings import ArchiverSettings
from warren.settings_file import load_settings

GOOD = {
    "issuer": '"https://idp.example/realms/ops"',
    "client_id": '"warren"',
    "public_url": '"https://warren.example/"',
    "viewers": '["staff"]',
}


def write(tmp_path: Path, **fields: str | None) -> Path:
    file = tmp_path / "warren.toml"
    lines = [f"{name} = {value}" for name, value in {**GOOD, **fields}.items() if value is not None]
    file.write_text("\n".join(["[api.oidc]", *lines]))
    return file


@pytest.mark.parametrize(
    ("fields", "setting", "advice"),
    [
        ({"issuer": None}, "api.oidc.issuer", "is needed"),
        ({"issuer": '"http://idp.example"'}, "api.oidc.issuer", "use https, with tls_ca"),
        ({"issuer": '"idp.example"'}, "api.oidc.issuer", "no URL: https://host"),
        ({"issuer": '"https://["'}, "api.oidc.issuer", "no URL"),
        ({"issuer": '"https://a:b@idp.example"'}, "api.oidc.issuer", "no URL"),
        ({"issuer": '"https://idp.example?x"'}, "api.oidc.issuer", "neither query nor fragment"),
        ({"client_id": '""'}, "api.oidc.client_id", "must not be empty"),
        ({"public_url": '"https://a.example/warren"'}, "api.oidc.public_url", "alone, as https"),
        (
            {"public_url": '"http://warren.example"'},
            "api.oidc.public_url",
            "use https, with api.tls",
        ),
        (
            {"public_url": '"http://10.0.0.7:8000"'},
            "api.oidc.public_url",
            "use https, with api.tls",
        ),
        ({"public_url": None}, "api.oidc.public_url", "is needed"),
        ({"scopes": '["profile"]'}, "api.oidc.scopes", '"openid" is missing'),
        ({"viewers": None}, "api.oidc", 'or viewers = ["*"]'),
        ({"admins": '["*"]'}, "api.oidc.admins", "name the values that admins have"),
        ({"session": "10"}, "api.oidc.session", "at least 60"),
        ({"session_secret": '"short"'}, "api.oidc.session_secret", "openssl rand -base64 32"),
        ({"client_auth": '"jwt"'}, "api.oidc.client_auth", "'basic' or 'post'"),
        ({"role_claim": '"x"'}, "api.oidc.role_claim", "did you mean api.oidc.roles_claim?"),
        ({"client_secret_file": '"/no/such"'}, "api.oidc.client_secret_file", "cannot be read"),
    ],
)
def test_refusals(tmp_path: Path, fields: dict[str, str | None], setting: str, advice: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load_settings(write(tmp_path, **fields))
    assert refused.value.setting == setting
    assert advice in str(refused.value)


def test_everybody_an_admin_beside_a_login_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path)
    file.write_text(f'[api]\nwithout_token = "admin"\n{file.read_text()}')
    with pytest.raises(SettingsError, match='use "auto", or "read"'):
        load_settings(file)


def test_secrets_come_from_files_and_are_shown_to_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("from a file\n")
    monkeypatch.setenv("WARREN_API__OIDC__SESSION_SECRET", "x" * 32)
    oidc = load_settings(write(tmp_path, client_secret_file=f'"{secret}"')).api.oidc
    assert oidc is not None
    assert oidc.client_secret.get_secret_value() == "from a file"
    assert oidc.public_url == "https://warren.example"
    assert "from a file" not in oidc.model_dump_json()
    assert "xxx" not in repr(oidc)


def test_several_secrets_are_lines() -> None:
    assert load_settings().api.oidc is None


@pytest.mark.parametrize("issuer", ["http://localhost:8080/realms/ops", "http://[::1]:8080"])
def test_on_loopback_a_provider_may_do_without_https(tmp_path: Path, issuer: str) -> None:
    oidc = load_settings(write(tmp_path, issuer=f'"{issuer}"')).api.oidc
    assert oidc is not None
    assert oidc.issuer == issuer


@pytest.mark.parametrize("public_url", ["http://localhost:8000", "http://[::1]:8000"])
def test_on_loopback_people_may_do_without_https(tmp_path: Path, public_url: str) -> None:
    oidc = load_settings(write(tmp_path, public_url=f'"{public_url}"')).api.oidc
    assert oidc is not None
    assert oidc.public_url == public_url


# `[archiver]`: what neither Spark nor its JVM takes is refused when settings are read.


@pytest.mark.parametrize(
    "master",
    [
        "local",
        "local[2]",
        "local[*]",
        "local[4,3]",
        "local[*, 3]",
        "local-cluster[2,1,1024]",
        "spark://10.0.0.7:7077",
        "spark://a:7077,b:7077",
        "spark://[::1]:7077",
        "k8s://https://cluster:6443",
        "yarn",
    ],
)
def test_masters_that_spark_knows_are_taken(master: str) -> None:
    assert ArchiverSettings(master=master).master == master


@pytest.mark.parametrize(
    "master",
    ["", "lokal[2]", "local[0]", "local[]", "local[2", "local 2", "spark://a", "k8s://", "7077"],
)
def test_other_masters_are_refused_with_the_forms(master: str) -> None:
    with pytest.raises(ValidationError, match=r"a master of Spark: local\[2\], spark://host:7077"):
        ArchiverSettings(master=master)


@pytest.mark.parametrize("memory", ["512m", "1g", "2G", "700M", "524288k", "1t", "536870912"])
def test_sizes_that_a_jvm_starts_with_are_taken(memory: str) -> None:
    assert ArchiverSettings(memory=memory).memory == memory


@pytest.mark.parametrize(
    "memory", ["", "lots", "1k", "511m", "1", "1.5g", "-1g", "1gb", "0g", "1 g", "9999t", "٣g"]
)
def test_other_sizes_are_refused(memory: str) -> None:
    with pytest.raises(ValidationError, match=r"from 512m to 64t, such as 1g"):
        ArchiverSettings(memory=memory)


def test_passes_begin_at_most_each_ten_seconds() -> None:
    assert ArchiverSettings(every=10).every == 10
    for every in (-1, 0, 9.9):
        with pytest.raises(ValidationError, match=r"must be 10 or more: .* passes only"):
            ArchiverSettings(every=every)
