"""Certificates for the tests' servers."""

import ssl
import subprocess
from pathlib import Path


def self_signed(folder: Path, name: str) -> tuple[str, ssl.SSLContext]:
    """A certificate (PEM) for a name such as `DNS:localhost`, and a server's context with it."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=test", "-addext", f"subjectAltName={name}"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return certificate.read_text(), context
