"""Heads of requests: what is sound, and what the small servers of Warren answer to the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from support.faulty_heads import answers, faulty_requests, is_refused_once, statuses
from warren.probe import serve
from warren.request_head import FaultyHead, require_sound
from warren_local.arrivals import Arrivals
from warren_local.ports import HOST, free_port
from warren_local.webhook_receiver import WebhookReceiver

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
FAULTS = faulty_requests(b"/ready")


@pytest.fixture(scope="module")
def probe() -> Iterator[tuple[str, int]]:
    port = free_port()
    stop = serve(port, CollectorRegistry(), lambda: True, host=HOST)
    yield HOST, port
    stop()


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    out: Path = tmp_path_factory.mktemp("hooks") / "hooks.jsonl"
    with WebhookReceiver(free_port(), SECRET, Arrivals(out, lambda _: None)) as started:
        yield HOST, started.port


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX-Empty:\r\nX-Tab:\ta\tb \r\nX-Name: \xc3\xa9\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
        b"POST / HTTP/1.1\r\ntransfer-encoding:CHUNKED \r\n\r\n",
        b"POST / HTTP/1.0\r\nContent-Length: 5\r\n\r\n",
    ],
)
def test_what_is_sound(head: bytes) -> None:
    require_sound(head)


@pytest.mark.parametrize(
    "head", [b"", b"\r\n", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nA: b\r\n"]
)
def test_a_head_that_has_no_end_is_faulty(head: bytes) -> None:
    with pytest.raises(FaultyHead):
        require_sound(head)


@pytest.mark.parametrize("method", [b"GET", b"POST"])
@pytest.mark.parametrize("fault", FAULTS)
def test_probe_ports_refuse_what_leaves_open_where_it_ends(
    probe: tuple[str, int], fault: str, method: bytes
) -> None:
    assert is_refused_once(answers(probe, faulty_requests(b"/ready", method)[fault]))


@pytest.mark.parametrize("fault", FAULTS)
def test_so_does_the_webhook_receiver_of_the_demo(receiver: tuple[str, int], fault: str) -> None:
    assert is_refused_once(answers(receiver, FAULTS[fault]))


def test_probe_ports_answer_one_request_of_a_connection(probe: tuple[str, int]) -> None:
    once = b"GET /ready HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n"
    assert statuses(answers(probe, once * 2)) == ["200"]
