"""Downloads media by URL: from public addresses only, with limits of size and time.

httpx is imported when first needed.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urljoin, urlsplit

from ..base.budget import DOWNLOAD, TRACE, Deadline, Late, ended_by
from ..errors import ConnectError, EllmerError, UsageError

if TYPE_CHECKING:
    import httpx


# --- private addresses -----------------------------------------------------------------------------------


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
    host = host.rstrip(".")
    with suppress(ValueError):
        return [ip_address(host)]
    with suppress(OSError, ValueError):
        return [ip_address(socket.inet_aton(host))]  # the short forms: 127.1, 0x7f000001
    if not resolve:
        return [ip_address("127.0.0.1")] if host.rpartition(".")[2] == "localhost" else []
    try:
        return [ip_address(str(info[4][0]).partition("%")[0]) for info in socket.getaddrinfo(host, None)]
    except (OSError, ValueError) as error:
        raise ConnectError(f"{host} cannot be found: {getattr(error, 'strerror', None) or error}") from error


# --- downloads -------------------------------------------------------------------------------------------


MAX_REDIRECTS = 5


def download(
    url: str, client: httpx.Client | None, allow_private: bool, schemes: Sequence[str] = ("https", "http")
) -> bytes:
    """Returns the content of a URL. Raises `UsageError` for an address or an answer that is not allowed, and
    `ConnectError` if there is no answer.
    """
    import httpx  # noqa: PLC0415 - imported when first needed

    deadline = Deadline(monotonic() + DOWNLOAD.seconds)
    with nullcontext(client) if client else httpx.Client(timeout=30) as http, ended_by(deadline):
        for _ in range(MAX_REDIRECTS + 1):
            try:
                deadline.check()
                where = _addressed_to(
                    url, _addresses(url, client, allow_private, schemes), is_own=client is None
                )
                with http.stream("GET", **where, follow_redirects=False) as response:
                    if not response.has_redirect_location:
                        return _body(response, deadline)
                    url = urljoin(url, response.headers["location"])
            except (httpx.HTTPError, httpx.InvalidURL, ValueError, Late) as error:
                raise _failure(url, error, deadline) from error
    raise UsageError(f"{url} redirected more than {MAX_REDIRECTS} times. Pass the address that it leads to.")


def _failure(url: str, error: Exception, deadline: Deadline) -> EllmerError:
    try:
        deadline.check()
    except Late:
        return UsageError(
            f"{url} took longer than {DOWNLOAD.seconds:g} seconds. Download it yourself, and pass the file."
        )
    return ConnectError(f"{url} could not be downloaded: {error}")


def _addresses(
    url: str, client: httpx.Client | None, allow_private: bool, schemes: Sequence[str]
) -> list[Address]:
    """Returns the addresses to ask: none if they do not matter. Raises `UsageError` for one that is not allowed."""
    host = _host(url, schemes)
    if allow_private:
        return []
    addresses = addresses_of(host, resolve=client is None)
    if any(map(is_private, addresses)):
        raise UsageError(f"{url} is inside a private network. If you trust it, pass allow_private=True.")
    return addresses


def _addressed_to(address: str, addresses: Sequence[Address], *, is_own: bool) -> dict[str, Any]:
    """Returns the request for a URL. That of our own client is addressed to the IP address that was checked, because the name may resolve
    to another address later.
    """
    import httpx  # noqa: PLC0415 - likewise

    url, headers = httpx.URL(address), {"accept-encoding": "gzip, deflate"}
    if not is_own or not addresses:
        return {"url": url, "headers": headers, "extensions": TRACE}
    host = url.netloc.decode("ascii")
    return {
        "url": url.copy_with(host=str(addresses[0])),
        "headers": {"host": host, **headers},
        "extensions": {"sni_hostname": url.host, **TRACE},
    }


def _body(response: httpx.Response, deadline: Deadline) -> bytes:
    if not response.is_success:
        raise UsageError(
            f"{response.url} answered {response.status_code} {response.reason_phrase}. Check the address."
        )
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in {"", "identity", "gzip", "deflate"}:  # some others make gigabytes of one chunk
        raise UsageError(
            f"{response.url} is encoded as {encoding!r:.60}, which was not requested. Download it yourself, and pass the file."
        )
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > DOWNLOAD.unpacked:
            raise UsageError(
                f"{response.url} is larger than {DOWNLOAD.unpacked:,} bytes, the limit. Pass a smaller file."
            )
        deadline.check()
    return bytes(body)


def _host(url: str, schemes: Sequence[str]) -> str:
    """Returns the host of a URL, as httpx reads it: in the letters of a name or an address."""
    import httpx  # noqa: PLC0415 - likewise

    parts = url_parts(url)
    if parts.scheme not in schemes or not parts.hostname:
        there = " or ".join(f"{scheme}:" for scheme in schemes)
        raise UsageError(f"A URL to download must start with {there}, not {url[:60]!r}.")
    return httpx.URL(url).raw_host.decode("ascii")


def url_parts(url: str) -> SplitResult:
    """Returns the parts of a URL. Raises `UsageError` for an invalid URL."""
    try:
        return urlsplit(url)
    except ValueError as error:
        raise UsageError(f"{url[:60]!r} is not a URL: {error}.") from error
