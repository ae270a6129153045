"""Connections to brokers that are not well: the process outlives them."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from aiokafka.errors import SaslAuthenticationFailed
from confluent_kafka.admin import AdminClient
from support.starting_broker import starting_broker
from warren.errors import ClusterUnreachable
from warren.kafka import connection
from warren.logins.client_credentials import ClientCredentialsToken
from warren.settings import KafkaConnection
from warren_local.server import free_port
from warren_wire.brokers import Tokens

CONNECT = """
import sys
from warren.errors import KafkaError
from warren.kafka.connection import connect
from warren.logins.client_credentials import ClientCredentialsToken
from warren.settings import KafkaConnection
try:
    connect("home", "home", KafkaConnection(bootstrap=sys.argv[1]), 2.0)
except KafkaError as error:
    print(error)
"""


def test_a_request_that_is_never_over_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """As librdkafka's may be that were sent while it lost its brokers."""
    monkeypatch.setattr(connection, "GRACE_SECONDS", 0.1)
    monkeypatch.setattr(connection, "ask", lambda *_: Future())
    home = KafkaConnection(bootstrap="127.0.0.1:1")
    with pytest.raises(ClusterUnreachable):
        connection.connect("home", "home", home, 0.1)
    assert not connection.answers(AdminClient({"bootstrap.servers": home.bootstrap}), 0.1)


def test_a_broker_that_knows_no_brokers_does_not_end_the_process() -> None:
    with starting_broker() as broker:
        child = subprocess.run(  # librdkafka would end ours with it
            [sys.executable, "-c", CONNECT, broker.bootstrap],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert broker.asked > 1
    assert (child.returncode, child.stderr) == (0, "")


class Page(BaseHTTPRequestHandler):
    """What a proxy says in place of the token endpoint."""

    body = b"<html>Sign in</html>"
    kind = "text/html"

    def do_POST(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", self.kind)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/token"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (Page.body, "text/html"),
        (b"[]", "application/json"),
        (b"{}", "application/json"),
        (b'{"access_token": null}', "application/json"),
        (b"\xff", "application/json"),
    ],
)
def test_a_token_endpoint_without_a_token_is_a_refusal(
    endpoint: str, body: bytes, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Page, "body", body)
    monkeypatch.setattr(Page, "kind", kind)
    provider = Tokens(ClientCredentialsToken(endpoint, "warren", "secret", None))
    with pytest.raises(SaslAuthenticationFailed, match=kind):
        asyncio.run(provider.token())


def test_a_token_endpoint_that_does_not_answer_is_a_refusal() -> None:
    url = f"http://127.0.0.1:{free_port()}/"
    provider = Tokens(ClientCredentialsToken(url, "warren", "secret", None))
    with pytest.raises(SaslAuthenticationFailed, match="token endpoint"):
        asyncio.run(provider.token())
