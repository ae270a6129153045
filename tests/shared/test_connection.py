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
from structlog.testing import capture_logs
from support.manual_clock import ManualClock
from support.starting_broker import starting_broker
from warren.errors import AuthenticationFailed, ClusterUnreachable, SettingsError
from warren.kafka import connection
from warren.kafka.connection import Refusals, Trouble
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


def test_a_file_that_is_not_there_is_named() -> None:
    properties = {"security.protocol": "SSL", "ssl.ca.location": "/nowhere.pem"}
    home = KafkaConnection.model_validate({"bootstrap": "127.0.0.1:1", "kafka": properties})
    with pytest.raises(SettingsError) as refused:
        connection.require_usable("home", "home", home)
    said = "/nowhere.pem cannot be read: No such file or directory"
    assert str(refused.value) == f"home.kafka.ssl.ca.location: {said}"


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


def test_lasting_trouble_is_told_now_and_then_and_when_it_is_over() -> None:
    clock = ManualClock()
    trouble = Trouble("prod", clock)
    away = ClusterUnreachable("prod", "clusters.prod.bootstrap", "away")
    with capture_logs() as logs:
        trouble.over()
        for _ in range(35):
            trouble.tell(away)
            clock.advance(1)
        trouble.tell(AuthenticationFailed("prod", "clusters.prod.kafka", "wrong password"))
        trouble.over()
        trouble.over()
        trouble.tell(away)
    assert [(line["event"], line.get("problem")) for line in logs] == [
        ("cluster not usable, retrying", "away"),
        ("cluster not usable, retrying", "away"),
        ("cluster not usable, retrying", "wrong password"),
        ("publishing again", None),
        ("cluster not usable, retrying", "away"),
    ]
    assert logs[3]["after_seconds"] == 35.0
    assert trouble.look().obstacle == "cluster prod: away (see clusters.prod.bootstrap)"
    assert logs[0]["setting"] == "clusters.prod.bootstrap"


def test_what_somebody_else_tells_is_taken_down_and_ends_with_a_line() -> None:
    trouble = Trouble("home", ManualClock(), over="at work again")
    with capture_logs() as logs:
        trouble.note(ClusterUnreachable("home", "home.bootstrap", "away"))
        assert trouble.problem is not None
        trouble.over()
    assert trouble.look().obstacle == ""
    assert [line["event"] for line in logs] == ["at work again"]


@pytest.fixture
def refusals() -> Refusals:
    return Refusals("prod", "clusters.prod", "DESCRIBE", "group", "members are unknown")


def told(refusals: Refusals, refused: set[str], asked: set[str] | None = None) -> list[str]:
    with capture_logs() as logs:
        refusals.observe(refused, asked)
    assert all((line["cluster"], line["setting"]) == ("prod", SETTING) for line in logs)
    return [line["problem"] for line in logs]


SETTING = "clusters.prod.kafka"
BILLING = "not authorised: DESCRIBE on group billing; members are unknown"


def test_each_refusal_is_told_once(refusals: Refusals) -> None:
    assert told(refusals, set()) == []
    assert told(refusals, {"billing"}) == [BILLING]
    assert told(refusals, {"billing"}) == []


def test_several_are_told_in_one_line(refusals: Refusals) -> None:
    (line,) = told(refusals, {"orders", "billing", "returns"})
    assert line.startswith("not authorised: DESCRIBE on group billing and 2 more groups; ")


def test_what_was_granted_meanwhile_is_news_when_it_is_refused_again(refusals: Refusals) -> None:
    told(refusals, {"billing"})
    told(refusals, set())
    assert told(refusals, {"billing"}) == [BILLING]


def test_who_was_not_asked_about_stays_refused(refusals: Refusals) -> None:
    told(refusals, {"billing"}, {"billing", "orders"})
    told(refusals, set(), {"orders"})
    assert told(refusals, {"billing"}, {"billing"}) == []
    told(refusals, set(), {"billing"})
    assert told(refusals, {"billing"}, {"billing"}) == [BILLING]
