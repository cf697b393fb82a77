"""Refuses connections of clients in C and Rust that are not recorded, where their libraries call `connect` (Linux, 64 bits).

The proxy of `network_guard` does not stop a client that is told to use no proxy. Each shared library has a table with the
addresses of the functions that it calls from other libraries (`readelf --relocs`). While a cassette is open, the entry of
`connect` has the address of a function of ours. Libraries of other packages stay as they are.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import re
import socket
import sys
from collections.abc import Iterator
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from struct import calcsize, iter_unpack, unpack_from
from typing import Any, NamedTuple

from . import network_guard

_PLACES: dict[int, int] = {}  # the entries, with their addresses before


def redirect(clients: tuple[str, ...]) -> None:
    """Directs the connections of these packages' libraries, and of libcurl's, to the guard, as far as they are loaded."""
    if sys.platform != "linux" or calcsize("P") != 8 or sys.byteorder != "little":
        return
    ours = ctypes.cast(_guard(), ctypes.c_void_p).value or 0
    for library in _loaded(clients):
        for place in _places(*library):
            if place not in _PLACES:
                _PLACES[place] = _replaced(place, ours)


def restore() -> None:
    """Reverts `redirect`."""
    while _PLACES:
        _replaced(*_PLACES.popitem())


def _replaced(place: int, address: int) -> int:
    """Writes an address into an entry, and returns what it was. Its page may be read-only since the library was loaded."""
    page = place - place % mmap.PAGESIZE
    protect = ctypes.CDLL(None).mprotect
    protect(ctypes.c_void_p(page), ctypes.c_size_t(mmap.PAGESIZE), mmap.PROT_READ | mmap.PROT_WRITE)
    entry = ctypes.c_uint64.from_address(place)
    before, entry.value = entry.value, address
    return before


@cache
def _guard() -> Any:
    """Returns the function that the libraries call. Python's lock is taken for it."""
    real = ctypes.CDLL(None, use_errno=True).connect
    real.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_uint)

    def connect(number: int, address: int, size: int) -> int:
        try:
            where = _host(ctypes.string_at(address, size))
            refused = where is not None and network_guard.refuses(*where)
        except Exception:  # noqa: BLE001  # there is nobody to raise it for
            refused = False
        if refused:
            ctypes.set_errno(errno.ECONNREFUSED)
            return -1
        return int(real(number, address, size))

    made = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, use_errno=True)
    return made(connect)


def _host(address: bytes) -> tuple[str, int] | None:
    """Returns the host and port of the C library's address; `None` if it is not one of the Internet."""
    (family,) = unpack_from("=H", address)
    starts: dict[int, int] = {socket.AF_INET: 4, socket.AF_INET6: 8}
    start = starts.get(family)
    if start is None:
        return None
    host = ip_address(address[start : start + (4 if family == socket.AF_INET else 16)])
    return str(getattr(host, "ipv4_mapped", None) or host), int(unpack_from(">H", address, 2)[0])


# --- The tables of a library (ELF) ------------------------------------------------------------------------


class _Section(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    start: int
    size: int
    link: int
    info: int
    alignment: int
    each: int


_RELOCATIONS, _DYNAMIC_SYMBOLS, _LOAD = 4, 11, 1
_FUNCTION = {6, 7, 1025, 1026}  # GLOB_DAT and JUMP_SLOT of x86-64 and of AArch64


def _loaded(clients: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Yields the path of each of these libraries that is loaded, and the address of its first byte."""
    library = re.compile(rf"/libcurl[^/]*\.so[^/]*$|/(?:{'|'.join(clients)})[^/]*(?:/[^/]+)*\.so$")
    for line in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and library.search(fields[5]) and int(fields[2], 16) == 0:
            yield fields[5], int(fields[0].partition("-")[0], 16)


@cache
def _places(path: str, base: int) -> list[int]:
    """Returns the addresses of the entries of `connect`; none if the file is of another kind."""
    data = Path(path).read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        return []
    at, size, count = (*unpack_from("<Q", data, 0x28), *unpack_from("<HH", data, 0x3A))
    sections = [_Section(*unpack_from("<IIQQQQIIQQ", data, at + n * size)) for n in range(count)]
    shift = base - _first(data)
    return [shift + offset for offset in _offsets(data, sections)]


def _first(data: bytes) -> int:
    """Returns the address that the file gives its first byte."""
    at, size, count = (*unpack_from("<Q", data, 0x20), *unpack_from("<HH", data, 0x36))
    for n in range(count):
        kind, _, start, address = unpack_from("<IIQQ", data, at + n * size)
        if kind == _LOAD and start == 0:
            return int(address)
    return 0


def _offsets(data: bytes, sections: list[_Section]) -> Iterator[int]:
    for table in sections:
        if table.kind == _RELOCATIONS and sections[table.link].kind == _DYNAMIC_SYMBOLS:
            symbols = sections[table.link]
            wanted = _number(data, symbols, sections[symbols.link].start)
            for offset, info, _ in iter_unpack("<QQq", data[table.start : table.start + table.size]):
                if info >> 32 == wanted and info & 0xFFFFFFFF in _FUNCTION:
                    yield offset


def _number(data: bytes, symbols: _Section, names: int) -> int:
    """Returns the number of the symbol `connect`, which the library has from elsewhere; -1 if it does not call it."""
    found = iter_unpack("<IBBHQQ", data[symbols.start : symbols.start + symbols.size])
    for number, (name, _, _, section, _, _) in enumerate(found):
        if section == 0 and data.startswith(b"connect\0", names + name):
            return number
    return -1
