"""Interception of curl_cffi, at the handles of libcurl, blocking and asynchronous.

libcurl is written in C and sees no Python sockets. In a recording, it does what it always does, and what it hands to Python is
recorded; each redirect that it follows is an interaction of its own. In a replay, libcurl is not asked at all: the recorded
answers are handed over in its place.
"""

from __future__ import annotations

import asyncio
import io
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit
from weakref import WeakKeyDictionary, WeakValueDictionary

from curl_cffi import AsyncCurl, Curl, CurlError, CurlInfo, CurlMime, CurlOpt

from ...exchange.messages import Failure, Headers
from ...format.compression import is_coded, undo
from .. import network_guard
from ..http1 import BrokenError, Outgoing, Wire
from ..open_cassettes import RequestInFlight


def wrappers() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yields each method to wrap, with its wrapper."""
    yield Curl, "setopt", _setting
    yield Curl, "reset", _resetting
    yield Curl, "getinfo", _informing
    yield Curl, "perform", _performing
    yield Curl, "pause", _pausing
    yield CurlMime, "addpart", _adding_a_part
    yield AsyncCurl, "add_handle", _adding


# --- What was set on a handle, and what it tells ----------------------------------------------------------


_WIRE = Wire("curl_cffi")
_VERSIONS = {"HTTP/1.0": 1, "HTTP/1.1": 2, "HTTP/2": 3, "HTTP/3": 30}


@dataclass
class _Handle:
    """The options of a handle, and the information that a replay gives in the place of libcurl."""

    options: dict[int, Any] = field(default_factory=dict)
    told: dict[int, Any] = field(default_factory=dict)
    more: asyncio.Event | None = None
    """While a body is read from an asynchronous iterator: set when it has more."""

    def method(self) -> str:
        """Returns the method that libcurl would send."""
        custom = self.options.get(CurlOpt.CUSTOMREQUEST)
        if custom:
            return custom.decode() if isinstance(custom, bytes) else str(custom)
        if self.options.get(CurlOpt.NOBODY):
            return "HEAD"
        sends = self.options.get(CurlOpt.POST) or self.options.get(CurlOpt.POSTFIELDS) is not None
        return "POST" if sends else "GET"

    def body(self) -> bytes:
        """Returns the body. libcurl writes a form with files itself, with a boundary of its own."""
        if (parts := self._parts()) is not None:
            return b"".join(parts) + f"--{_BOUNDARY}--\r\n".encode()
        if isinstance(read := self.options.get(CurlOpt.READDATA), io.BytesIO):
            return read.getvalue()
        fields = self.options.get(CurlOpt.POSTFIELDS)
        return fields.encode() if isinstance(fields, str) else bytes(fields or b"")

    def headers(self) -> list[tuple[str, str]]:
        """Returns the headers that were set, and the type of a form with files."""
        lines = (line.decode("latin-1") for line in self.options.get(CurlOpt.HTTPHEADER) or ())
        pairs = [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        if self._parts() is None:
            return pairs
        others = [pair for pair in pairs if pair[0].lower() != "content-type"]
        return [*others, ("content-type", f"multipart/form-data; boundary={_BOUNDARY}")]

    def _parts(self) -> list[bytes] | None:
        form = _FORMS.get(self.options.get(CurlOpt.MIMEPOST))
        return None if form is None else _PARTS.get(form)

    def seconds(self) -> dict[str, float | None]:
        """Returns the limits of time."""
        whole, connect = (self.options.get(each) for each in (CurlOpt.TIMEOUT_MS, CurlOpt.CONNECTTIMEOUT_MS))
        return {"connect": connect / 1000 if connect else None, "read": whole / 1000 if whole else None}

    def outgoing(self, method: str, url: str) -> Outgoing:
        """Returns a request in the form that a cassette reads."""
        return Outgoing.of(method, url, dict(self.headers()), **self.seconds())


_HANDLES: WeakKeyDictionary[Curl, _Handle] = WeakKeyDictionary()
_FORMS: WeakValueDictionary[Any, CurlMime] = WeakValueDictionary()
"""Forms with files, by libcurl's pointer to each. A pointer may be used again for another form."""
_PARTS: WeakKeyDictionary[CurlMime, list[bytes]] = WeakKeyDictionary()
_BOUNDARY = "form-of-libcurl"


def _handle_of(curl: Curl) -> _Handle:
    return _HANDLES.setdefault(curl, _Handle())


def _setting(real: Any) -> Any:
    def setopt(curl: Curl, option: Any, value: Any) -> Any:
        options = _handle_of(curl).options
        if option == CurlOpt.HTTPHEADER:
            options[option] = [*options.get(option, ()), *value]
        else:
            options[option] = value
        if option in _SINKS:  # two names for one place
            options.pop(_SINKS[option], None)
        return real(curl, option, value)

    return setopt


_SINKS = {
    CurlOpt.WRITEDATA: CurlOpt.WRITEFUNCTION,
    CurlOpt.WRITEFUNCTION: CurlOpt.WRITEDATA,
    CurlOpt.HEADERDATA: CurlOpt.HEADERFUNCTION,
    CurlOpt.HEADERFUNCTION: CurlOpt.HEADERDATA,
}


def _resetting(real: Any) -> Any:
    def reset(curl: Curl) -> None:
        _HANDLES.pop(curl, None)
        real(curl)

    return reset


def _adding_a_part(real: Any) -> Any:
    def addpart(form: CurlMime, name: str, **options: Any) -> None:
        real(form, name, **options)
        _FORMS[form._form] = form  # noqa: SLF001  # what libcurl is told to send
        _PARTS.setdefault(form, []).append(_part(name, **options))

    return addpart


def _part(
    name: str,
    content_type: str | None = None,
    filename: str | None = None,
    local_path: Any = None,
    data: Any = None,
) -> bytes:
    if local_path is not None:
        path = Path(os.fsdecode(local_path))
        filename, data = filename or path.name, path.read_bytes()
    file = "" if filename is None else f'; filename="{filename}"'
    of = "" if content_type is None else f"content-type: {content_type}\r\n"
    head = f'--{_BOUNDARY}\r\ncontent-disposition: form-data; name="{name}"{file}\r\n{of}\r\n'
    return head.encode() + (data if isinstance(data, bytes) else str(data or "").encode()) + b"\r\n"


def _pausing(real: Any) -> Any:
    def pause(curl: Curl, action: int) -> Any:
        more = _handle_of(curl).more
        return real(curl, action) if more is None else more.set()

    return pause


def _informing(real: Any) -> Any:
    def getinfo(curl: Curl, option: Any) -> Any:
        told = _handle_of(curl).told
        return told[option] if option in told else real(curl, option)

    return getinfo


def _cassette(curl: Curl) -> Any:
    handle = _handle_of(curl)
    handle.told = {}
    if handle.options.get(CurlOpt.CONNECT_ONLY):  # a WebSocket is no exchange
        return None
    parts = urlsplit(_text(handle.options.get(CurlOpt.URL)))
    return network_guard.wrapper_of(
        parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    )


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value or "")


# --- Blocking and asynchronous transfers ------------------------------------------------------------------


def _performing(real: Any) -> Any:
    def perform(curl: Curl, clear_headers: bool = True, clear_resolve: bool = True) -> None:
        cassette = _cassette(curl)
        if cassette is None:
            real(curl, clear_headers, clear_resolve)
            return
        if (reader := _reader(curl)) is not None:
            _send(curl, b"".join(iter(lambda: reader.read(65536), b"")))
        take = _first(cassette, curl)
        if take.reply is not None:
            try:
                _play(cassette, curl, take)
            finally:
                curl.clean_handles_and_buffers(clear_headers, clear_resolve)
                _handle_of(curl).options.pop(CurlOpt.HTTPHEADER, None)
            return
        recording = _Recording(cassette, curl, take)
        try:
            real(curl, clear_headers, clear_resolve)
        except CurlError as error:
            recording.end(error)
            raise
        recording.end(None)

    return perform


def _adding(real: Any) -> Any:
    def add_handle(multi: Any, curl: Curl) -> Any:
        cassette = _cassette(curl)
        if cassette is None:
            return real(multi, curl)
        if (reader := _reader(curl)) is not None:
            return multi.loop.create_task(_added_when_read(multi, curl, reader))
        take = _first(cassette, curl)
        if take.reply is None:
            recording = _Recording(cassette, curl, take)
            future = real(multi, curl)
            future.add_done_callback(
                lambda done: recording.end(None if done.cancelled() else done.exception())
            )
            return future
        future = multi.loop.create_future()
        try:
            _play(cassette, curl, take)
        except CurlError as error:
            future.set_exception(error)
        else:
            future.set_result(None)
        _handle_of(curl).options.pop(CurlOpt.HTTPHEADER, None)
        return future

    return add_handle


async def _added_when_read(multi: Any, curl: Curl, reader: Any) -> Any:
    """Adds the handle once its body is read, because a request is compared as a whole."""
    body, more = b"", asyncio.Event()
    _handle_of(curl).more = more
    try:
        while chunk := reader.read(65536):
            if isinstance(chunk, int):  # libcurl would pause here
                await more.wait()
                more.clear()
            else:
                body += chunk
    finally:
        _handle_of(curl).more = None
    _send(curl, body)
    return await multi.add_handle(curl)


def _reader(curl: Curl) -> Any:
    """Returns that from which libcurl would read the body, unless it was read already."""
    reader = _handle_of(curl).options.get(CurlOpt.READDATA)
    return None if isinstance(reader, io.BytesIO) else reader


def _send(curl: Curl, body: bytes) -> None:
    read = io.BytesIO(body)
    curl.setopt(CurlOpt.READDATA, read)
    if _handle_of(curl).options.get(CurlOpt.SEEKDATA) is not None:  # a generator cannot be sent again
        curl.setopt(CurlOpt.SEEKDATA, read)


def _first(cassette: Any, curl: Curl) -> RequestInFlight:
    handle = _handle_of(curl)
    take: RequestInFlight = cassette.begin(
        _WIRE, handle.outgoing(handle.method(), _text(handle.options[CurlOpt.URL])), handle.body()
    )
    return take


# --- Recording --------------------------------------------------------------------------------------------


class _Recording:
    """Notes what libcurl hands to Python, and makes interactions of it at the end."""

    def __init__(self, cassette: Any, curl: Curl, take: RequestInFlight) -> None:
        self._cassette, self._curl, self._take = cassette, curl, take
        self._lines: list[bytes] = []
        self._handle = _handle_of(curl)
        self._began = time.perf_counter()
        self._url = _text(self._handle.options[CurlOpt.URL])
        self._method, self._body = self._handle.method(), self._handle.body()
        self._heads: list[tuple[int, str, str, Headers]] = []
        self._tee(CurlOpt.HEADERDATA, CurlOpt.HEADERFUNCTION, self._line)
        self._tee(CurlOpt.WRITEDATA, CurlOpt.WRITEFUNCTION, self._chunk)
        if cassette.accept_encoding is not None:
            curl.setopt(CurlOpt.ACCEPT_ENCODING, cassette.accept_encoding.encode())
        target = cassette.target(self._url)
        if target != self._url:
            curl.setopt(CurlOpt.URL, target.encode())
        self._routed = target != self._url

    def _tee(self, data: Any, function: Any, note: Callable[[bytes], None]) -> None:
        """Passes the bytes of libcurl on to the program, and keeps a copy."""
        sink, call = self._handle.options.get(data), self._handle.options.get(function)

        def received(chunk: bytes) -> int:
            note(bytes(chunk))
            if call is not None:
                return call(chunk)  # type: ignore[no-any-return]  # the number of bytes that it took
            if sink is not None:
                sink.write(chunk)
            return len(chunk)

        self._curl.setopt(function, received)

    def _line(self, line: bytes) -> None:
        if line.strip():
            self._lines.append(line.rstrip(b"\r\n"))
            return
        if not self._lines:  # an empty line before the status line
            return
        first, *rest = (each.decode("latin-1") for each in self._lines)
        self._lines = []
        version, code, reason = _status(first)
        pairs = [(name.lower(), value.strip()) for name, _, value in (each.partition(":") for each in rest)]
        if code.isdigit() and int(code) >= 200:
            self._heads.append((int(code), reason, version.upper(), pairs))
            self._hops()
        elif self._heads and not code.isdigit():  # libcurl takes lines after the body for headers
            name, _, value = first.partition(":")
            self._take.exchange.headers += [(name.lower(), value.strip()), *pairs]

    def _hops(self) -> None:
        """Ends the interaction of a redirect once the next answer begins, and begins that of the next."""
        status, reason, version, pairs = self._heads[-1]
        if len(self._heads) > 1:
            before, _, _, previous = self._heads[-2]
            self._take.eof()
            self._method, self._body = _next(before, self._method, self._body)
            self._url = _joined(self._url, dict(previous).get("location", ""))
            self._take = self._cassette.begin(
                _WIRE, self._handle.outgoing(self._method, self._url), self._body
            )
        self._take.answered(status, reason, pairs, version)

    def _chunk(self, chunk: bytes) -> None:
        self._take.chunk(chunk)

    def end(self, error: BaseException | None) -> None:
        """Notes how the transfer ended."""
        self._handle.options.pop(CurlOpt.HTTPHEADER, None)
        effective = _text(self._curl.getinfo(CurlInfo.EFFECTIVE_URL))
        if self._routed:
            self._handle.told[CurlInfo.EFFECTIVE_URL] = (
                _without_dots(self._url) if effective else ""
            ).encode()
        if isinstance(error, CurlError):
            self._take.broke(_failure(error, bool(self._heads)))
        elif error is not None:
            self._take.closed()
        else:
            if (
                self._lines
            ):  # the connection ended in the head, and libcurl takes that; or lines came after the body
                self._line(b"")
            if self._heads:  # else the request has no answer, which is an error at the end of the run
                self._take.eof()


def _status(line: str) -> tuple[str, str, str]:
    """Returns the version, the status and the reason of the first line. libcurl takes tabs for spaces, and curl_cffi finds no
    reason behind them.
    """
    if " " not in line and "\t" in line:
        version, status, *_ = line.split("\t")
        return version, status, ""
    version, _, rest = line.partition(" ")
    status, _, reason = rest.partition(" ")
    return version, status, reason


def _joined(url: str, location: str) -> str:
    """Returns the URL of a redirect. libcurl escapes the bytes that are not ASCII."""
    coded = "".join(
        "%20" if each == " " else each if each.isascii() else f"%{ord(each):02X}" for each in location
    )
    return urljoin(url, coded)


def _without_dots(url: str) -> str:
    """Returns a URL as libcurl asks for it: `/a/../b` is `/b`."""
    return urljoin(url, urlsplit(url)._replace(scheme="", netloc="").geturl()) if "/." in url else url


def _next(status: int, method: str, body: bytes) -> tuple[str, bytes]:
    """Returns the method and the body after a redirect."""
    if status == 303 or (status in (301, 302) and method == "POST"):
        return ("HEAD" if method == "HEAD" else "GET"), b""
    return method, body


_CODE = re.compile(r"curl: \((\d+)\)")
_NAMES = {5: "ConnectError", 6: "ConnectError", 7: "ConnectError", 35: "ConnectError", 60: "ConnectError"}
_CODES = {
    "ConnectError": 7,
    "ConnectTimeout": 28,
    "ReadTimeout": 28,
    "WriteTimeout": 28,
    "PoolTimeout": 28,
    "ReadError": 56,
}


def _failure(error: CurlError, answered: bool) -> Failure:
    """Returns httpx's name for a failure. Its message has the number of libcurl."""
    if error.code == 28:
        return Failure(
            "ReadTimeout" if answered or "onnect" not in str(error) else "ConnectTimeout", str(error)
        )
    return Failure(
        _NAMES.get(int(error.code), "RemoteProtocolError" if error.code != 56 else "ReadError"), str(error)
    )


# --- Replay -----------------------------------------------------------------------------------------------


def _play(cassette: Any, curl: Curl, take: RequestInFlight) -> None:
    """Hands the recorded answers over, through redirects if libcurl was to follow them."""
    handle = _handle_of(curl)
    url, method, body = _text(handle.options[CurlOpt.URL]), handle.method(), handle.body()
    history: list[bytes] = []
    try:
        while True:
            reply = take.begin_reply()
            location = dict(reply.headers).get("location")
            _head(handle, reply)
            _tell(handle, url, reply, history)
            follows = handle.options.get(CurlOpt.FOLLOWLOCATION) and not reply.failure
            if not (location and 300 <= reply.status < 400 and follows):
                break
            take.eof()
            history.append(f"{reply.status}\t{url}".encode())
            if len(history) > handle.options.get(CurlOpt.MAXREDIRS, 30) >= 0:
                raise _error(47, f"Maximum ({handle.options.get(CurlOpt.MAXREDIRS)}) redirects followed")
            url = _joined(url, location)
            method, body = _next(reply.status, method, body)
            take = cassette.begin(_WIRE, handle.outgoing(method, url), body)
        _body(handle, take, method)
    except BrokenError as broken:
        found = _CODE.search(str(broken))
        code = int(found[1]) if found else _CODES.get(broken.error, 18 if take.exchange.status else 52)
        raise (CurlError(str(broken), code) if found else _error(code, str(broken))) from None


def _error(code: int, text: str) -> CurlError:
    return CurlError(
        f"Failed to perform, curl: ({code}) {text}. See https://curl.se/libcurl/c/libcurl-errors.html first for more details.",
        code,
    )


def _head(handle: _Handle, reply: Any) -> None:
    lines = [f"{name}: {value}" for name, value in reply.headers]
    for line in (
        f"{reply.http_version} {reply.status} {reply.reason}".rstrip()
        if not reply.reason
        else f"{reply.http_version} {reply.status} {reply.reason}",
        *lines,
        "",
    ):
        _give(handle, CurlOpt.HEADERDATA, CurlOpt.HEADERFUNCTION, f"{line}\r\n".encode("latin-1"))


def _tell(handle: _Handle, url: str, reply: Any, history: list[bytes]) -> None:
    handle.told |= {
        CurlInfo.EFFECTIVE_URL: _without_dots(url).encode(),
        CurlInfo.RESPONSE_CODE: reply.status,
        CurlInfo.HTTP_VERSION: _VERSIONS.get(reply.http_version, 2),
        CurlInfo.REDIRECT_COUNT: len(history),
        CurlInfo.REDIRECT_HISTORY: [*history],
        CurlInfo.SIZE_DOWNLOAD_T: len(reply.body),
        CurlInfo.COOKIECHANGES: [*handle.told.get(CurlInfo.COOKIECHANGES, ()), *_cookies(url, reply.headers)],
    }


def _cookies(url: str, headers: Headers) -> Iterator[bytes]:
    """Yields the cookies that an answer sets, as libcurl tells them."""
    for value in (value for name, value in headers if name == "set-cookie"):
        pair, *attributes = (each.strip() for each in value.split(";"))
        values = {name.lower(): content for name, _, content in (each.partition("=") for each in attributes)}
        name, _, content = pair.partition("=")
        domain, wide = values.get("domain", "").lstrip("."), "TRUE" if "domain" in values else "FALSE"
        secure, path = "TRUE" if "secure" in values else "FALSE", values.get("path") or "/"
        fields = (
            f".{domain}" if domain else urlsplit(url).hostname or "",
            wide,
            path,
            secure,
            "0",
            name,
            content,
        )
        yield ("SET\t" + "\t".join(fields)).encode()


def _body(handle: _Handle, take: RequestInFlight, method: str) -> None:
    reply = take.reply
    assert reply is not None, "asked only for a recorded answer"
    if method == "HEAD" or reply.status in (204, 304):
        take.eof()
        return
    encoding = dict(reply.headers).get("content-encoding", "")
    decodes = handle.options.get(CurlOpt.ACCEPT_ENCODING) is not None
    if decodes and is_coded(reply.body, encoding):  # by another client: libcurl records what it has decoded
        _give(handle, CurlOpt.WRITEDATA, CurlOpt.WRITEFUNCTION, undo(reply.body, encoding))
        for _ in take.play():
            pass
        return
    for piece in take.play():
        if piece.wait and take.clock.real:
            time.sleep(piece.wait)
        _give(handle, CurlOpt.WRITEDATA, CurlOpt.WRITEFUNCTION, piece.data)


def _give(handle: _Handle, data: Any, function: Any, chunk: bytes) -> None:
    call, sink = handle.options.get(function), handle.options.get(data)
    if call is not None:
        taken = call(chunk)
        if taken is not None and taken != len(chunk):
            raise _error(23, "Failure writing output to destination")
    elif sink is not None:
        sink.write(chunk)
