"""Blocks the network while a cassette replays, whatever the client.

Three guards, from the inside to the outside. An audit hook refuses connections and name lookups of Python's sockets. Clients
in C and Rust (libcurl, reqwest) and child processes find a proxy in their environment, which refuses and names what they ask
for; Python itself does not see these variables. On Linux, connections that are open at the end and went past both are named.

Names and addresses of this machine pass, except for a server whose answers are in the cassette. So do the cassette's
`allow_hosts` and local (AF_UNIX) sockets.
"""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ellmer_core.base.forks import lock_for_forks

from ..errors import Blocked
from . import open_cassettes

_LOCK = lock_for_forks()
_SOCKET, _LOOK_UP = socket.socket, socket.getaddrinfo  # pytest-socket puts what refuses in their place


@contextmanager
def guarded(cassette: Any) -> Iterator[None]:
    """Guards an open cassette. At the end, connections that went past the guards are misses of a cassette that is offline."""
    _watch()
    sockets = _sockets() if cassette.offline else set()
    with _LOCK:
        _direct_to_proxy()
    try:
        yield
    finally:
        if cassette.offline and not cassette.allow_hosts:
            for address in _connections(_sockets() - sockets, cassette):
                cassette.missed(_text("a connection", address, cassette), Blocked)
        with _LOCK:
            _direct_to_proxy(closing=cassette)


def _text(what: str, host: str, cassette: Any) -> str:
    return (
        f"{what} to {host} while cassette {cassette.path} replays: this client does not go through any library that is recorded. "
        "docs/tested/recorder-problems.md#clients lists them; `ellmer-harness serve` replays a cassette for any other program. "
        f"allow_hosts=[{host.rpartition(':')[0] or host!r}] lets the host through."
    )


# --- This machine ----------------------------------------------------------------------------------------


def is_local(host: str) -> bool:
    """Tells whether a name or an address is one of this machine."""
    plain = host.strip("[]").partition("%")[0].lower()
    if plain in ("", "localhost", "ip6-localhost") or plain.endswith(".localhost"):
        return True
    with suppress(ValueError):
        address = ip_address(plain)
        return address.is_loopback or address.is_unspecified or plain in own_names()
    return plain in own_names()


@cache
def own_names() -> frozenset[str]:
    """Returns the names and addresses that this machine has besides `localhost`."""
    name = socket.gethostname().lower()
    found = {name, name.partition(".")[0]}
    with suppress(OSError), aside():
        found |= {str(info[4][0]) for info in _LOOK_UP(name, None)}
    return frozenset(found)


# --- Python's sockets: an audit hook, which cannot be removed ---------------------------------------------


_HOST_AT = {
    **dict.fromkeys(("socket.connect", "socket.sendto", "socket.sendmsg"), 1),
    **dict.fromkeys(
        ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"), 0
    ),
}
_OURS: set[int] = set()  # ports that servers of ours listen on
_ASIDE: list[object] = []  # process-wide, because clients of stores have their own threads


@cache
def _watch() -> None:
    """Installs the hook, once in each process. Without a replaying cassette, it only compares a string."""
    sys.addaudithook(_hook)


@contextmanager
def aside() -> Iterator[None]:
    """Lets the harness's own traffic through, for example while it fetches a cassette from a store."""
    token = object()
    _ASIDE.append(token)
    try:
        yield
    finally:
        _ASIDE.remove(token)


def set_aside() -> bool:
    """Tells whether the harness's own traffic is let through."""
    return bool(_ASIDE)


def wrapper_of(host: str, port: int | None) -> Any:
    """Returns the cassette that a request belongs to; `None` if it goes to a server that may be reached.

    In a replay, these are other servers of this machine: tests start some for themselves.
    """
    cassette = None if _ASIDE else open_cassettes.current()
    if cassette is None or cassette.allows(host):
        return None
    return None if cassette.offline and is_local(host) and _passes(cassette, host, port) else cassette


def refuses(host: str, port: int) -> bool:
    """Tells whether a connection of a library in C or Rust is refused, and counts it as a miss."""
    cassette = None if _ASIDE else open_cassettes.offline()
    if cassette is None or _passes(cassette, host, port):
        return False
    cassette.missed(_text("a connection", f"{host}:{port}", cassette), Blocked)
    return True


def let_through(port: int) -> None:
    """Allows connections to a server of ours on a port of this machine."""
    _OURS.add(port)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if event in _HOST_AT and not _ASIDE and (cassette := open_cassettes.offline()) is not None:
        address = args[_HOST_AT[event]]
        host, port = address[:2] if isinstance(address, tuple) else (address, None)
        looks_up = event.startswith("socket.get")
        if (isinstance(address, tuple) or looks_up) and host is not None:
            text = host.decode() if isinstance(host, bytes) else str(host)
            if not _passes(cassette, text, None if looks_up else port):
                raise cassette.missed(_text(event, text, cassette), Blocked)


def _passes(cassette: Any, host: str, port: int | None) -> bool:
    """Tells whether a host may be reached, on a port; `None` is for a lookup of its name."""
    if cassette.allows(host):
        return True
    return is_local(host) and (
        port is None or port in _OURS or cassette.allows("localhost") or not cassette.plays_port(port)
    )


# --- Clients in C and Rust, and child processes: a proxy ---------------------------------------------------


_HTTP: tuple[str, ...] = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_DIRECT: tuple[str, ...] = ("no_proxy", "NO_PROXY")
_MOST = 65536  # bytes of the head of a request
_POPEN = subprocess.Popen.__init__
_SET: dict[str, str] = {}


def _direct_to_proxy(closing: Any = None) -> None:
    """Sets the variables of the environment, or restores them. Python's own copy (`os.environ`) stays the same.

    They are emptied and not removed: another thread may be reading the environment.
    """
    cassettes = [cassette for cassette in open_cassettes.all_open() if cassette is not closing]
    guards = bool(cassettes) and all(cassette.offline for cassette in cassettes)
    wanted = _variables(cassettes) if guards else {name: os.environ.get(name, "") for name in _SET}
    for name, value in wanted.items():
        if _SET.get(name) != value:
            os.putenv(name, value)
            _SET[name] = value
    setattr(subprocess.Popen, "__init__", _popen if guards else _POPEN)  # noqa: B010  # mypy forbids the assignment


def _variables(cassettes: list[Any]) -> dict[str, str]:
    direct = ",".join(dict.fromkeys(host for cassette in cassettes for host in cassette.allow_hosts))
    return dict.fromkeys(_HTTP, f"http://127.0.0.1:{_proxy()}") | dict.fromkeys(_DIRECT, direct)


def _popen(process: Any, *args: Any, **options: Any) -> None:
    """Adds the variables to the environment that a child process is given."""
    if options.get("env") is not None:
        options["env"] = {**_variables(open_cassettes.all_open()), **options["env"]}
    _POPEN(process, *args, **options)


@cache
def _proxy() -> int:
    """Starts the proxy, once in each process, and returns its port."""
    listener = _SOCKET(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    port: int = listener.getsockname()[1]
    let_through(port)
    threading.Thread(target=_serve, args=(listener,), name="ellmer-harness-proxy", daemon=True).start()
    return port


def _serve(listener: socket.socket) -> None:
    with suppress(OSError):
        while True:
            descriptor, _ = listener._accept()  # type: ignore[attr-defined]  # noqa: SLF001  # `accept` takes the name's class
            connection = _SOCKET(listener.family, listener.type, fileno=descriptor)
            threading.Thread(target=_answer, args=(connection,), daemon=True).start()


def _answer(connection: socket.socket) -> None:
    with connection, suppress(OSError, ValueError):
        head = _head(connection)
        method, target, _ = head.split(b"\r\n")[0].decode("latin-1").split(" ", 2)
        parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
        host, port = parts.hostname or "", parts.port or (443 if method == "CONNECT" else 80)
        cassette = open_cassettes.offline()
        if cassette is None or _passes(cassette, host, port):
            _forward(connection, head, (host, port), method, parts)
            return
        text = _text(f"a request ({method} {target.partition('?')[0]})", f"{host}:{port}", cassette)
        cassette.missed(text, Blocked)
        body = f"{text}\n".encode()
        connection.sendall(
            b"HTTP/1.1 403 Blocked\r\ncontent-type: text/plain\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s"
            % (len(body), body)
        )


def _head(connection: socket.socket) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head and len(head) < _MOST:
        data = connection.recv(_MOST)
        if not data:
            raise OSError("the client is gone")
        head += data
    return head


def _forward(
    connection: socket.socket, head: bytes, address: tuple[str, int], method: str, parts: Any
) -> None:
    """Passes a request on, to a server that may be reached."""
    with socket.create_connection(address) as server:
        if method == "CONNECT":
            connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            line, _, rest = head.partition(b"\r\n")
            version = line.rpartition(b" ")[2]
            server.sendall(
                b"%s %s %s\r\nconnection: close\r\n%s" % (method.encode(), path.encode(), version, rest)
            )
        back = threading.Thread(target=_copy, args=(server, connection), daemon=True)
        back.start()
        _copy(connection, server)
        back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(_MOST):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


# --- Connections that were made nevertheless (Linux) -------------------------------------------------------


_OPEN_STATES = {"01", "02", "08"}  # established, opening, closed by the other side


def _sockets() -> set[str]:
    """Returns the numbers of the sockets that this process has; none on other systems than Linux."""
    found = set()
    with suppress(OSError):
        for name in os.listdir("/proc/self/fd"):  # noqa: PTH208  # many times as quick
            with suppress(OSError):
                state = os.fstat(int(name))
                found |= {str(state.st_ino)} if stat.S_ISSOCK(state.st_mode) else set()
    return found


def _connections(sockets: set[str], cassette: Any) -> Iterator[str]:
    """Yields the addresses that these sockets are connected to and that may not be reached."""
    for table in ("tcp", "tcp6") if sockets else ():
        with suppress(OSError):
            for line in Path("/proc/self/net", table).read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if fields[9] in sockets and fields[3] in _OPEN_STATES:
                    host, port = _address(fields[2])
                    if not _passes(cassette, host, port):
                        yield f"{host}:{port}"


def _address(text: str) -> tuple[str, int]:
    """Returns an address of the kernel's table: hex, in words of four bytes in the order of this machine."""
    digits, port = text.split(":")
    raw = bytes.fromhex(digits)
    if sys.byteorder == "little":
        raw = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    mapped = len(raw) == 16 and raw[:12] == bytes(10) + b"\xff\xff"
    return str(ip_address(raw[12:] if mapped else raw)), int(port, 16)
