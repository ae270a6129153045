"""Secrets that settings name by their file: read again once they are renewed."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from warren.errors import AuthenticationFailed, SettingsError
from warren.files import (
    append_private,
    create_private,
    make_private_folder,
    write_private,
)
from warren.kafka.connection import new_client
from warren.settings import FileSecret, KafkaConnection
from warren.settings_file import load_settings
from warren_wire.brokers import aiokafka_options


@pytest.fixture
def password(tmp_path: Path) -> Path:
    file = tmp_path / "password"
    file.write_text("old\n")
    return file


def renew(file: Path, text: str) -> None:
    """As Kubernetes and Vault do: the file is replaced whole."""
    draft = file.with_name("draft")
    draft.write_text(text)
    draft.replace(file)


def test_the_properties_of_a_connection_are_as_new_as_their_files(
    password: Path, tmp_path: Path
) -> None:
    config = tmp_path / "warren.toml"
    config.write_text(
        f'[clusters.prod]\nbootstrap = "b:1"\nkafka."sasl.password_file" = "{password}"'
    )
    connection = load_settings(config).of_service("collector", "host").clusters["prod"]
    before = connection.login_version
    assert connection.librdkafka()["sasl.password"] == "old"
    assert connection.login_version == before
    renew(password, "renewed\n")
    assert connection.login_version != before
    assert connection.librdkafka()["sasl.password"] == "renewed"
    assert "renewed" not in repr(connection)


def test_a_file_from_the_environment_is_read_again_too(
    password: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARREN_HOME__KAFKA__SASL_PASSWORD_FILE", str(password))
    home = load_settings(Path(os.devnull)).home
    renew(password, "renewed")
    assert home.librdkafka()["sasl.password"] == "renewed"


def test_certificates_count_among_the_credentials(tmp_path: Path) -> None:
    certificate, config = tmp_path / "tls.crt", tmp_path / "warren.toml"
    certificate.write_text("old")
    config.write_text(f'[home.kafka]\n"ssl.certificate.location" = "{certificate}"')
    home = load_settings(config).home
    before = home.login_version
    renew(certificate, "renewed")
    assert home.login_version != before


@pytest.mark.parametrize("text", ["", None])
def test_a_secret_stays_while_its_file_is_written_or_away(password: Path, text: str | None) -> None:
    secret = FileSecret(password)
    if text is None:
        password.unlink()
    else:
        password.write_text(text)
    assert secret.get_secret_value() == "old"
    password.write_text("renewed")
    assert secret.get_secret_value() == "renewed"


def test_a_file_that_is_not_there_at_the_start_is_named(tmp_path: Path) -> None:
    config = tmp_path / "warren.toml"
    config.write_text(f'[home.kafka]\n"sasl.password_file" = "{tmp_path / "nothing"}"')
    with pytest.raises(
        SettingsError, match=r"^home\.kafka\.sasl\.password_file: \S+ cannot be read"
    ):
        load_settings(config)


@pytest.mark.parametrize(
    "use",
    [
        lambda connection: new_client(Producer, "prod", "clusters.prod", connection),
        lambda connection: aiokafka_options("clusters.prod", connection),
    ],
)
def test_renewed_files_that_cannot_be_used_yet_are_waited_for(
    tmp_path: Path, use: Callable[[KafkaConnection], object]
) -> None:
    """What is wrong from the start is a setting; what was renewed may be half written."""
    certificate, config = tmp_path / "tls.crt", tmp_path / "warren.toml"
    certificate.write_text("no certificate")
    config.write_text(
        f"""
        [clusters.prod]
        bootstrap = "b:1"
        [clusters.prod.kafka]
        "security.protocol" = "SSL"
        "ssl.certificate.location" = "{certificate}"
        "ssl.key.location" = "{certificate}"
        """
    )
    connection = load_settings(config).clusters["prod"]
    with pytest.raises(SettingsError) as refused:
        use(connection)
    assert refused.value.setting == "clusters.prod.kafka"
    renew(certificate, "half of a certificate")
    with pytest.raises(AuthenticationFailed, match="cluster prod: renewed credentials cannot be"):
        use(connection)


# What only its owner may look into.


@pytest.fixture(params=[0o000, 0o022, 0o277], autouse=True)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def append(path: Path, text: str) -> None:
    with os.fdopen(append_private(path), "a") as file:
        file.write(text)


@pytest.mark.parametrize(
    ("write", "found"), [(write_private, "new"), (create_private, "new"), (append, "new")]
)
def test_a_new_file(tmp_path: Path, write: Callable[[Path, str], None], found: str) -> None:
    file = tmp_path / "file"
    write(file, "new")
    assert (mode(file), file.read_text()) == (0o600, found)
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(("write", "found"), [(write_private, "new"), (append, "oldnew")])
def test_a_file_that_others_could_read(
    tmp_path: Path, write: Callable[[Path, str], None], found: str
) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    file.chmod(0o666)
    write(file, "new")
    assert (mode(file), file.read_text()) == (0o600, found)
    assert list(tmp_path.iterdir()) == [file]


def test_who_has_the_old_file_open_reads_no_new_secret(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    with file.open() as reader:
        write_private(file, "new")
        assert reader.read() == "old"


def test_a_link_stays_one(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(file)
    write_private(link, "new")
    assert link.is_symlink()
    assert (mode(file), file.read_text()) == (0o600, "new")


def test_what_is_no_file_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="no regular file"):
        write_private(pipe, "new")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(FileExistsError):
        create_private(pipe, "new")


def test_folders(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    old.mkdir()
    old.chmod(0o755)
    for folder in (new, old):
        make_private_folder(folder)
        make_private_folder(folder)
        assert mode(folder) == 0o700


def test_a_folder_for_everybody_is_left_alone(tmp_path: Path) -> None:
    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    with pytest.raises(PermissionError, match="everybody's"):
        make_private_folder(shared)
    assert mode(shared) == 0o1777
