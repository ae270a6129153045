"""The egress guard: webhooks reach public addresses, and others only where settings allow it.

The address that was checked is the address that is connected to: the name is resolved once, here,
and the request goes to the address itself, with the name in Host and in TLS. A second look-up,
which could answer differently (DNS rebinding), does not happen.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import httpx
from warren.errors import WarrenError

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[list[str]]]

# Python's `is_global` follows IANA's registries as they were when it was released; what it may miss
# is named here (https://www.iana.org/assignments/iana-ipv4-special-registry, …ipv6…).
_SPECIAL = (
    ip_network("192.0.0.0/24"),  # IETF protocol assignments
    ip_network("192.88.99.0/24"),  # 6to4 relay anycast, deprecated
    ip_network("2001::/23"),  # IETF protocol assignments, Teredo among them
    ip_network("3fff::/20"),  # documentation
)
# Where clouds tell a machine its credentials, or certificates. A network that settings allow opens
# one of these only when it is that address alone.
_METADATA = tuple(
    ip_address(text)
    for text in (
        "168.63.129.16",  # Azure's wire server; the address counts as public
        "169.254.169.254",  # AWS, Azure, Google, Oracle and others
        "169.254.170.2",  # AWS, tasks in containers
        "169.254.170.23",  # AWS, pods
        "100.100.100.200",  # Alibaba
        "192.0.0.192",  # Oracle, classic
        "fd00:ec2::254",  # AWS
        "fd00:ec2::23",  # AWS, pods
        "fd20:ce::254",  # Google
    )
)
_GLOBAL_UNICAST = ip_network("2000::/3")  # all that is allocated of IPv6
_NAT64 = ip_network("64:ff9b::/96")  # RFC 6052: the last 32 bits are an IPv4 address


class EgressRefused(WarrenError):
    """A webhook's host has only addresses that it must not reach.

    Operator: correct the URL, or add the network to notifier.allow_networks if it is meant.
    """


def led_to(address: Address) -> Address:
    """The IPv4 address that an IPv6 address is another form of; else the address itself."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address.sixtofour is not None:  # RFC 3056
            return address.sixtofour
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def is_public(address: Address) -> bool:
    """Not private, loopback, link-local, multicast, reserved, shared, unspecified or a cloud's."""
    plain = led_to(address)
    return (
        plain.is_global
        and plain not in _METADATA
        and not plain.is_multicast
        and not plain.is_reserved
        and (plain.version == 4 or plain in _GLOBAL_UNICAST)
        and not any(plain in network for network in _SPECIAL)
    )


async def resolve(host: str, port: int) -> list[str]:
    """Addresses of a host in the system's order; also reads `0x7f.1` and the like as addresses."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class EgressGuard:
    """Which addresses may be reached."""

    def __init__(
        self, allowed: Sequence[IPv4Network | IPv6Network], resolve: Resolve = resolve
    ) -> None:
        self._allowed = tuple(allowed)
        self._resolve = resolve

    def permits(self, address: Address) -> bool:
        plain = led_to(address)
        if plain in _METADATA:
            return ip_network(plain) in self._allowed
        return is_public(address) or any(
            form in network for form in (address, plain) for network in self._allowed
        )

    async def addresses(self, host: str, port: int) -> list[str]:
        """The host's addresses that may be reached.

        Raises EgressRefused when there is none, OSError when the name cannot be resolved.
        """
        found = await self._resolve(host, port)
        permitted = [text for text in found if self.permits(ip_address(text))]
        if not permitted:
            raise EgressRefused(
                f"{host} resolves to {', '.join(found)}, which is not public and not in "
                "notifier.allow_networks"
            )
        return permitted


class GuardedTransport(httpx.AsyncBaseTransport):
    """Sends each request to a checked address of its host, trying them in order."""

    def __init__(self, guard: EgressGuard, inner: httpx.AsyncBaseTransport) -> None:
        self._guard = guard
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        host = request.url.host
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        try:
            addresses = await self._guard.addresses(host, port)
        except OSError as error:
            raise httpx.ConnectError(f"{host}: {error.strerror or error}") from error
        for address in addresses[:-1]:
            try:
                return await self._inner.handle_async_request(_aimed(request, address))
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue  # the last address says what is wrong
        return await self._inner.handle_async_request(_aimed(request, addresses[-1]))

    async def aclose(self) -> None:
        await self._inner.aclose()


def _aimed(request: httpx.Request, address: str) -> httpx.Request:
    """The same request (its Host header too), connected to `address`."""
    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )
