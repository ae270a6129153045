"""The egress guard: which addresses webhooks reach."""

import asyncio
from ipaddress import ip_address, ip_network

import httpx
import pytest
from warren_notifier.channels.egress import (
    EgressGuard,
    EgressRefused,
    GuardedTransport,
    is_public,
    resolve,
)

PUBLIC = ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]
NOT_PUBLIC = [
    "127.0.0.1",
    "127.8.9.10",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "168.63.129.16",
    "169.254.169.254",
    "169.254.170.2",
    "100.64.0.1",
    "100.100.100.200",
    "192.0.0.192",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:168.63.129.16",
    "64:ff9b::168.63.129.16",
    "2002:a83f:8110::1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:0:7f00:1::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:a00:1::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fd12:3456::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_not_public(address: str) -> None:
    assert not is_public(ip_address(address))
    assert not EgressGuard([]).permits(ip_address(address))


def test_networks_that_settings_allow() -> None:
    guard = EgressGuard([ip_network("10.0.0.0/8"), ip_network("fd00::/8")])
    for allowed in ("10.1.2.3", "::ffff:10.1.2.3", "fd00::1", "8.8.8.8"):
        assert guard.permits(ip_address(allowed))
    for refused in ("127.0.0.1", "192.168.0.1", "::1", "fe80::1"):
        assert not guard.permits(ip_address(refused))


@pytest.mark.parametrize(
    ("address", "wide", "own"),
    [
        ("168.63.129.16", "168.63.0.0/16", "168.63.129.16/32"),
        ("169.254.169.254", "169.254.0.0/16", "169.254.169.254"),
        ("::ffff:169.254.169.254", "::/0", "169.254.169.254"),
        ("100.100.100.200", "100.64.0.0/10", "100.100.100.200"),
        ("fd00:ec2::254", "fd00::/8", "fd00:ec2::254"),
    ],
)
def test_what_gives_out_credentials_needs_a_network_of_its_own(
    address: str, wide: str, own: str
) -> None:
    assert not EgressGuard([ip_network(wide)]).permits(ip_address(address))
    assert EgressGuard([ip_network(wide), ip_network(own)]).permits(ip_address(address))


@pytest.mark.parametrize(
    "host", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.1", "localhost", "::1"]
)
def test_every_way_to_write_loopback_is_refused(host: str) -> None:
    with pytest.raises(EgressRefused, match="allow_networks"):
        asyncio.run(EgressGuard([]).addresses(host, 80))


def test_only_permitted_addresses_of_a_host_are_used() -> None:
    async def mixed(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1", "8.8.8.8", "::1", "2606:4700::1111"]

    found = asyncio.run(EgressGuard([], mixed).addresses("mixed.example", 443))
    assert found == ["8.8.8.8", "2606:4700::1111"]


def test_the_system_resolves() -> None:
    assert asyncio.run(resolve("127.0.0.1", 80)) == ["127.0.0.1"]


class Recorded(httpx.AsyncBaseTransport):
    """Takes requests instead of the network; the first `refusing` addresses do not answer."""

    def __init__(self, *refusing: str) -> None:
        self.requests: list[httpx.Request] = []
        self._refusing = refusing

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if request.url.host in self._refusing:
            raise httpx.ConnectError("refused")
        return httpx.Response(200)


def post(url: str, answers: list[list[str]], inner: Recorded) -> httpx.Response:
    """POSTs; each look-up of a name takes the next of `answers`."""
    left = iter(answers)

    async def lookup(_host: str, _port: int) -> list[str]:
        return next(left)

    async def run() -> httpx.Response:
        transport = GuardedTransport(EgressGuard([], lookup), inner)
        async with httpx.AsyncClient(transport=transport) as client:
            return await client.post(url, content=b"{}")

    return asyncio.run(run())


def test_the_checked_address_is_the_one_that_is_connected_to() -> None:
    inner = Recorded()
    # A rebinding name server would answer with loopback the second time.
    post("https://hook.example:8443/x?y=1", [["8.8.8.8"], ["127.0.0.1"]], inner)
    (request,) = inner.requests
    assert str(request.url) == "https://8.8.8.8:8443/x?y=1"
    assert request.headers["host"] == "hook.example:8443"
    assert request.extensions["sni_hostname"] == "hook.example"


def test_each_request_is_checked_anew() -> None:
    inner = Recorded()
    post("http://hook.example/", [["8.8.8.8"]], inner)
    with pytest.raises(EgressRefused, match=r"hook\.example resolves to 127\.0\.0\.1"):
        post("http://hook.example/", [["127.0.0.1"]], inner)
    assert len(inner.requests) == 1


def test_ipv6_addresses_are_aimed_at_too() -> None:
    inner = Recorded()
    post("http://hook.example/x", [["2606:4700::1111"]], inner)
    assert str(inner.requests[0].url) == "http://[2606:4700::1111]/x"


def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    inner = Recorded("8.8.8.8")
    assert post("http://hook.example/", [["8.8.8.8", "1.1.1.1"]], inner).status_code == 200
    assert [r.url.host for r in inner.requests] == ["8.8.8.8", "1.1.1.1"]
    with pytest.raises(httpx.ConnectError):
        post("http://hook.example/", [["1.1.1.1", "8.8.8.8"]], Recorded("8.8.8.8", "1.1.1.1"))


def test_a_name_that_cannot_be_resolved_is_a_connection_error() -> None:
    async def run() -> None:
        transport = GuardedTransport(EgressGuard([]), Recorded())
        async with httpx.AsyncClient(transport=transport) as client:
            await client.post("http://no-such-host.invalid/")

    with pytest.raises(httpx.ConnectError, match=r"no-such-host\.invalid"):
        asyncio.run(run())
