"""Tells whether an address is inside a private network, in any notation."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from ..errors import ConnectError

__all__ = ["addresses_of", "is_private"]

Address = IPv4Address | IPv6Address

#: Addresses that no version of Python, or not every one, knows as not global.
INSIDE = (
    ip_network("192.0.0.0/24"),  # IETF protocol assignments, RFC 6890
    ip_network("192.88.99.0/24"),  # 6to4 relays, RFC 7526
    ip_network("64:ff9b:1::/48"),  # local translation, RFC 8215
    ip_network("100::/64"),  # discarded, RFC 6666
)
NAT64 = ip_network("64:ff9b::/96")  # RFC 6052: an IPv4 address in the last 32 bits
COMPATIBLE = ip_network("::/96")  # RFC 4291: likewise, of old


def is_private(address: Address) -> bool:
    """Tells whether an address is not a public one. An IPv6 address that contains an IPv4 address is judged by the
    latter.
    """
    return any(_inside(each) for each in (address, *_meant(address)))


def _inside(address: Address) -> bool:
    return not address.is_global or address.is_multicast or any(address in network for network in INSIDE)


def _meant(address: Address) -> Iterator[IPv4Address]:
    if isinstance(address, IPv4Address):
        return
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    if address in NAT64 or address in COMPATIBLE:
        yield IPv4Address(int(address) & 0xFFFFFFFF)


def addresses_of(host: str, *, resolve: bool) -> list[Address]:
    """Returns the address that a host is, or the addresses that its name resolves to, if a lookup is allowed."""
    with suppress(ValueError):
        return [ip_address(host)]
    with suppress(OSError, ValueError):
        return [ip_address(socket.inet_aton(host))]  # the short forms: 127.1, 0x7f000001
    if not resolve:
        return [ip_address("127.0.0.1")] if host == "localhost" else []
    try:
        return [ip_address(str(info[4][0]).partition("%")[0]) for info in socket.getaddrinfo(host, None)]
    except (OSError, ValueError) as error:
        raise ConnectError(f"{host}: {getattr(error, 'strerror', None) or error}") from error
