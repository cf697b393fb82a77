"""A plugin of pytest that lets a suite of vcrpy's or cassetter's record again, from a local server instead of the network.

The server answers from the suite's own cassettes: a request gets the recorded answer that the recorder's matchers find for it in
the cassette of the same name, with the coding and the chunks that its headers name. Every connection goes to the server:
names resolve to this machine, and its certificates are signed by an authority that each TLS context is told of. The clients,
their connections and the suite's code are not changed.

`FAKE_CASSETTES` is the folder of the original cassettes, and `FAKE_ROOT` the folder that they were taken out of. `FAKE_URLS` adds the URL to
answers, for hooks that were written for an older vcrpy. A summary says
how many requests the server answered, and which it has no recording of.
"""

# ruff: noqa: SLF001  # it takes the place of parts of vcrpy that have no public names

from __future__ import annotations

import contextlib
import copy
import gzip
import os
import socket
import ssl
import sys
import tempfile
import threading
import zlib
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from vcr.cassette import Cassette
from vcr.matchers import requests_match
from vcr.record_mode import RecordMode
from vcr.request import Request

with contextlib.suppress(ImportError):
    import cassetter
    from cassetter.compare import body_to_bytes

# --- The recordings --------------------------------------------------------------------------------------


class Recordings:
    """The original recordings of a cassette that is being recorded again."""

    def __init__(self, cassette: Cassette) -> None:
        self._cassette = cassette
        self._pairs: list[tuple[Request, Any]] = []
        self._given: set[int] = set()
        path = _original(Path(str(cassette._path)))
        if path.is_file():
            requests, responses = cassette._persister.load_cassette(path, serializer=cassette._serializer)
            self._pairs = [*zip(map(self._filtered, requests), responses, strict=True)]

    def _filtered(self, request: Request) -> Request:
        return self._cassette._before_record_request(copy.deepcopy(request)) or request

    def answer(self, request: Request) -> Any:
        """Returns the recorded answer, one that was not given yet if there is one, or `None`."""
        asked = self._filtered(request)
        places = [place for place, pair in enumerate(self._pairs) if self._fits(asked, pair[0])]
        places = places or [place for place, pair in enumerate(self._pairs) if _alike(asked, pair[0])]
        if not places:
            return None
        place = next((each for each in places if each not in self._given), places[-1])
        self._given.add(place)
        return self._pairs[place][1]

    def knows(self, host: str, port: int) -> bool:
        """Tells whether a server was recorded."""
        return any((each.host, each.port) == (host, port) for each, _ in self._pairs)

    def _fits(self, asked: Request, recorded: Request) -> bool:
        return bool(requests_match(asked, recorded, self._cassette._match_on))


class OfCassetter:
    """The original recordings of a cassette of cassetter that is being recorded again."""

    def __init__(self, cassette: Any, load: Any) -> None:
        self._cassette = cassette
        self._copy = copy.copy(cassette)
        self._copy._path = str(_original(Path(cassette.path)))
        self._copy._record_mode = cassetter.RecordMode.NONE
        load(self._copy)

    def knows(self, host: str, port: int) -> bool:
        """Tells whether a server was recorded."""
        return any(f"//{host}:{port}" in each.request.uri for each in self._copy.interactions)

    def answer(self, request: Request) -> Any:
        """Returns the recorded answer, or `None`."""
        headers = {name.lower(): [value] for name, value in request.headers.items()}
        try:
            found = self._copy.play(request.method, request.uri, headers, request.body)
        except cassetter.NoMatchError:
            return None
        answer = {"code": found.status, "message": ""}, body_to_bytes(found.body)
        return {"status": answer[0], "headers": found.headers, "body": {"string": answer[1]}}


def _alike(asked: Request, recorded: Request) -> bool:
    return (asked.method, asked.host, asked.path) == (recorded.method, recorded.host, recorded.path)


def _original(path: Path) -> Path:
    root = Path(os.environ["FAKE_ROOT"]).resolve()
    path = path.resolve()
    return Path(os.environ["FAKE_CASSETTES"]) / path.relative_to(root) if path.is_relative_to(root) else path


_OPEN: list[Any] = []
_SERVED = [0]
_UNKNOWN: list[str] = []


# --- The server ------------------------------------------------------------------------------------------


class Handler(BaseHTTPRequestHandler):
    """Answers from the cassette that is open."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Prints nothing."""

    def parse_request(self) -> bool:
        """Reads the request line and the headers, for any method."""
        done = super().parse_request()
        if done and not hasattr(self, f"do_{self.command}"):
            setattr(self, f"do_{self.command}", self._answer)
        return done

    def _answer(self) -> None:
        tls = isinstance(self.connection, ssl.SSLSocket)
        host = self.headers["Host"]
        url = self.path if "://" in self.path.partition("?")[0] else f"http{'s' * tls}://{host}{self.path}"
        request = Request(self.command, url, self._body(), dict(self.headers.items()))
        response = _OPEN[-1].answer(request) if _OPEN else None
        if response is None:
            _UNKNOWN.append(f"{self.command} {url}")
            self.send_error(599, "No recording")
            return
        _SERVED[0] += 1
        self._send(response)

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _send(self, response: Any) -> None:
        status, headers, body = _parts(response)
        names = {name.lower(): value for name, value in headers}
        body, kept = _coded(body, names.get("content-encoding", ""))
        chunked = "chunked" in names.get("transfer-encoding", "").lower()
        bare = self.command == "HEAD" or status[0] in {204, 304}
        left_out = {"transfer-encoding", "connection", "keep-alive"} | ({"content-encoding"} - kept)
        self.send_response_only(*status)
        for name, value in headers:
            if name.lower() not in left_out and (bare or name.lower() != "content-length"):
                self.send_header(name, value)
        if not bare:
            self.send_header(
                *("Transfer-Encoding", "chunked") if chunked else ("Content-Length", str(len(body)))
            )
        self.end_headers()
        if not bare:
            self._write(body, chunked=chunked)

    def _write(self, body: bytes, *, chunked: bool) -> None:
        if not chunked:
            self.wfile.write(body)
            return
        middle = (len(body) + 1) // 2
        for part in filter(None, (body[:middle], body[middle:])):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")


def _parts(response: Any) -> tuple[tuple[int, str], list[tuple[str, str]], bytes]:
    if "status_code" in response:  # of vcrpy before version 6, with httpx
        response = {
            "status": {"code": response["status_code"], "message": ""},
            "headers": response["headers"],
            "body": {"string": response["content"]},
        }
    body = (response.get("body") or {}).get("string") or b""
    pairs = [
        (name, " ".join((value.decode("latin-1") if isinstance(value, bytes) else str(value)).split("\r\n")))
        for name, values in response["headers"].items()
        for value in (values if isinstance(values, list) else [values])
    ]
    status = int(response["status"]["code"]), str(response["status"].get("message") or "")
    return status, pairs, body.encode() if isinstance(body, str) else bytes(body)


def _coded(body: bytes, coding: str) -> tuple[bytes, set[str]]:
    """Returns the body with the coding of its header, and that header's name if the body has it."""
    if not coding:
        return body, set()
    if coding == "gzip":
        return (body if body.startswith(b"\x1f\x8b") else gzip.compress(body, mtime=0)), {"content-encoding"}
    if coding == "deflate":
        return (body if body[:1] == b"\x78" else zlib.compress(body)), {"content-encoding"}
    readable = True
    with contextlib.suppress(UnicodeDecodeError):
        body.decode()
        readable = False
    return body, {"content-encoding"} if readable else set()


class Server(ThreadingHTTPServer):
    """Serves HTTP and, to clients that begin with TLS, HTTPS on the same port."""

    daemon_threads = True
    request_queue_size = 100

    def __init__(self, authority: Authority) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self._authority = authority

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Begins TLS if the client does."""
        if request.recv(1, socket.MSG_PEEK) == b"\x16":
            request = _WRAP(self._authority.server_context(), request, server_side=True)
        with request:
            super().finish_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints nothing: clients go away."""


# --- Certificates ----------------------------------------------------------------------------------------


class Authority:
    """Signs a certificate for each name that a client asks for."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._folder = Path(tempfile.mkdtemp())
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._own = self._signed("local fakes", authority=True)
        self.pem = self._own.public_bytes(serialization.Encoding.PEM).decode()

    def _signed(self, name: str, *, authority: bool = False) -> x509.Certificate:
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name[:64])])
        issuer = subject if authority else self._own.subject
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder(
            issuer, subject, self._key.public_key(), x509.random_serial_number()
        )
        builder = builder.not_valid_before(now - timedelta(1)).not_valid_after(now + timedelta(30))
        builder = builder.add_extension(x509.BasicConstraints(authority, None), critical=True)
        identifier = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        builder = builder.add_extension(identifier, critical=False)
        if not authority:
            builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        return builder.sign(self._key, hashes.SHA256())

    def context_for(self, name: str) -> ssl.SSLContext:
        """Returns a context with a certificate for the name."""
        if name not in self._contexts:
            pem = self._folder / f"{len(self._contexts)}.pem"
            key = self._key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            pem.write_bytes(key + self._signed(name).public_bytes(serialization.Encoding.PEM))
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(pem)
            self._contexts[name] = context
        return self._contexts[name]

    def server_context(self) -> ssl.SSLContext:
        """Returns a context that takes the certificate of the name that the client asks for."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._pem("localhost"))

        def chosen(sock: Any, name: str | None, _: Any) -> None:
            sock.context = self.context_for(name or "localhost")

        context.sni_callback = chosen
        return context

    def _pem(self, name: str) -> Path:
        self.context_for(name)
        return self._folder / f"{[*self._contexts].index(name)}.pem"


# --- In place of the network -----------------------------------------------------------------------------


_WRAP = ssl.SSLContext.wrap_socket


def _trusting(real: Any, authority: Authority) -> Any:
    def wrap(context: ssl.SSLContext, *args: Any, **options: Any) -> Any:
        if not options.get("server_side"):
            context.load_verify_locations(cadata=authority.pem)
        return real(context, *args, **options)

    return wrap


_ELSEWHERE = "127.0.0.77"  # what every name resolves to
_LOCAL = ("localhost", "127.0.0.1", "::1")


def _resolving(real: Any) -> Any:
    def getaddrinfo(host: Any, port: Any, *args: Any, **options: Any) -> Any:
        host = host.decode() if isinstance(host, bytes) else host
        if (
            port == _PORT[0]
            or host is None
            or (host in _LOCAL and not any(each.knows(host, port) for each in _OPEN))
        ):
            return real(host, port, *args, **options)
        number = port if isinstance(port, int) else {"http": 80, "https": 443}.get(str(port), 0)
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (_ELSEWHERE, number))]

    return getaddrinfo


def _connecting(real: Any) -> Any:
    """Connects to the server in place of that address: some clients keep the port that they asked for."""

    def connect(self: socket.socket, address: Any) -> Any:
        there = isinstance(address, tuple) and address[0] == _ELSEWHERE
        return real(self, ("127.0.0.1", _PORT[0]) if there else address)

    return connect


_PORT = [0]


def _loading(real: Any) -> Any:
    def load(cassette: Cassette) -> None:
        cassette.record_mode = RecordMode.NEW_EPISODES
        _OPEN.append(Recordings(cassette))
        if os.environ.get("FAKE_URLS"):
            cassette.append = _with_url(cassette.append)
        if Path(
            str(cassette._path)
        ).exists():  # for one that is missing, some persisters raise what vcrpy does not expect
            real(cassette)

    return load


def _with_url(real: Any) -> Any:
    """Adds the URL to answers, as older versions of vcrpy did: hooks of some suites read it."""
    return lambda request, response: real(request, {**response, "url": request.uri})


def _saving(real: Any) -> Any:
    def save(cassette: Cassette, *args: Any, **options: Any) -> None:
        real(cassette, *args, **options)
        _OPEN[:] = [each for each in _OPEN if each._cassette is not cassette]

    return save


def _loading_cassetters(real: Any) -> Any:
    def load(cassette: Any) -> None:
        cassette._record_mode = cassetter.RecordMode.NEW_EPISODES
        _OPEN.append(OfCassetter(cassette, real))
        real(cassette)

    return load


def pytest_configure(config: pytest.Config) -> None:  # noqa: ARG001  # its name says which hook it is
    """Starts the server, and sends everything to it."""
    authority = Authority()
    server = Server(authority)
    threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
    for name in ("wrap_socket", "wrap_bio"):
        setattr(ssl.SSLContext, name, _trusting(getattr(ssl.SSLContext, name), authority))
    _PORT[0] = int(server.server_address[1])
    socket.getaddrinfo = _resolving(socket.getaddrinfo)
    for name in ("connect", "connect_ex"):
        setattr(socket.socket, name, _connecting(getattr(socket.socket, name)))
    Cassette._load = _loading(Cassette._load)
    Cassette._save = _saving(Cassette._save)
    if "cassetter" in sys.modules:
        theirs = cassetter.Cassette
        theirs.load, theirs.save = _loading_cassetters(theirs.load), _saving(theirs.save)
    sys.setswitchinterval(0.001)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says what the server answered."""
    terminalreporter.write_line(f"local fake: {_SERVED[0]} answered, {len(_UNKNOWN)} without a recording")
    for each in dict.fromkeys(_UNKNOWN):
        terminalreporter.write_line(f"  no recording: {each}")
