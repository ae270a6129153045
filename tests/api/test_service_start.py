"""What the service refuses to start with, and what it starts without."""

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from api.api_process import NOBODY, Start
from support.waiting import eventually
from warren.api_tokens import hash_of, new_token
from warren.errors import SettingsError
from warren.settings import ApiSettings
from warren_api.server import check_tls


def test_a_taken_port_is_one_line_that_names_the_setting(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "warren_api"],
            env={**os.environ, "WARREN_API__PORT": str(port)},
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == (
        f"warren-api: api.port: cannot listen on 127.0.0.1:{port}: Address already in use; "
        "choose another with WARREN_API__PORT\n"
    )


@pytest.mark.parametrize(
    ("variable", "value", "name"),
    [
        ("WARREN_API__PROT", "1", "api.prot"),
        ("WARREN_API__HOST", "no.such.host.invalid", "api.host"),
        ("WARREN_API__HOST", "0.0.0.0", "api.tokens"),
        ("WARREN_API__TOKENS", '[{"name":"a","role":"root","hash":""}]', "api.tokens.0.role"),
        ("WARREN_API__CORS_ORIGINS", '["evil"]', "api.cors_origins"),
        ("WARREN_API__TLS_KEY", "key.pem", "api"),
        ("WARREN_HOME__KAFKA", '{"no.such.property":"1"}', "home.kafka.no.such.property"),
    ],
)
def test_a_wrong_setting_is_one_line(tmp_path: Path, variable: str, value: str, name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "warren_api"],
        env={**os.environ, "WARREN_API__PORT": "0", variable: value},
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    lines = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert len(lines) == 1
    assert lines[0].startswith(f"warren-api: {name}: ")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1, its key beside it."""
    file = tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=warren", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(file)]
    subprocess.run([*made, "-nodes", "-days", "1", *subject, *files], check=True, timeout=60)
    return file


def test_it_speaks_tls_and_wants_tokens_beyond_loopback(
    start: Start, certificate: Path, tmp_path: Path
) -> None:
    token = new_token()
    tokens = [{"name": "a", "role": "read", "hash": hash_of(token)}]
    service = start(
        NOBODY,
        WARREN_API__HOST="0.0.0.0",
        WARREN_API__TOKENS=json.dumps(tokens),
        WARREN_API__TLS_CERTIFICATE=str(certificate),
        WARREN_API__TLS_KEY=str(tmp_path / "key.pem"),
    )
    port = service.address().rpartition(":")[2]
    address = f"https://127.0.0.1:{port}"
    trust = ssl.create_default_context(cafile=certificate)
    assert httpx.get(f"{address}/burrow/admin", verify=trust, timeout=30).text == "GOOD"
    assert httpx.get(f"{address}/", verify=trust, timeout=30).status_code == 401
    headers = {"Authorization": f"Bearer {token}"}
    assert httpx.get(f"{address}/", verify=trust, headers=headers, timeout=30).status_code == 200
    assert service.end() == 0


@pytest.mark.parametrize("key", ["missing.pem", "certificate.pem"])
def test_a_certificate_that_cannot_be_used_is_one_line(
    certificate: Path, tmp_path: Path, key: str
) -> None:
    settings = ApiSettings(tls_certificate=str(certificate), tls_key=str(tmp_path / key))
    with pytest.raises(SettingsError) as caught:
        check_tls(settings)
    assert caught.value.setting == "api.tls_certificate"
    assert str(caught.value).count("\n") == 0


def test_it_serves_and_stops_without_a_home_cluster(start: Start) -> None:
    service = start(NOBODY)
    assert service.get("/burrow/admin/ready").status_code == 503
    assert service.get("/burrow/admin").text == "GOOD"
    eventually(
        lambda: (
            service.get("/burrow/admin/ready").text
            == "STARTING: cluster home: no broker answers at 127.0.0.1:1 (see home.bootstrap)"
        ),
        message="it says what it waits for",
    )
    eventually(
        lambda: "no broker answers at 127.0.0.1:1" in service.get("/").text,
        message="the page says what is wrong",
    )
    assert "warren_api_feed_working 0\n" in service.get("/metrics").text
    assert service.end(signal.SIGINT) == 0
