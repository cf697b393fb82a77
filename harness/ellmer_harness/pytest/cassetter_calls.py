"""Calls of gRPC, between cassetter's form and that of this package's recordings. It needs grpcio."""

from __future__ import annotations

from dataclasses import dataclass
from json import loads
from typing import Any
from urllib.parse import urlsplit

from cassetter import Body, GrpcResponse
from cassetter.cassette import Cassette, NoMatchError
from cassetter.compare import body_to_bytes
from cassetter.intercept._grpc import _STATUS_BY_CODE, decode_chunks, encode_chunks

from ..exchange.reply import Reply
from ..format.binary_messages import form, message
from ..interception.open_cassettes import RequestInFlight
from .cassetter_conversations import Line, lines_of, played

_CODES = {status.name: code for code, status in _STATUS_BY_CODE.items()}


@dataclass(frozen=True)
class Call:
    """A call of gRPC. `kind` is one such as `unary_stream`."""

    method: str
    kind: str
    metadata: dict[str, list[str]]
    body: Body

    @classmethod
    def of(cls, request: Any, body: bytes) -> Call:
        """Makes a call of an intercepted request."""
        kind = request.extensions["kind"]
        metadata: dict[str, list[str]] = {}
        for name, value in request.headers.raw:
            if name != b"content-type":
                metadata.setdefault(name.decode(), []).append(value.decode())
        data = message(loads(body)) if body else b""
        return cls(urlsplit(str(request.url)).path, kind, metadata, Body("binary", data))

    def look_up(self, cassette: Cassette) -> tuple[GrpcResponse, list[bytes]]:
        """Returns the recorded answer, and the requests to compare while they are sent: those of a stream are not known
        before, and compared only if cassetter compares bodies. Raises `NoMatchError`.
        """
        if not self.kind.startswith("stream") or "body" not in cassette.match_config.match_on:
            return cassette.play_grpc(self.method, self.body), []
        found = cassette._inner and cassette._inner.take_grpc_match(self.method)  # noqa: SLF001  # cassetter tells it nowhere else
        if not found:
            raise NoMatchError(f"no matching gRPC interaction for {self.method}")
        return found[1].response, decode_chunks(body_to_bytes(found[1].request.body))

    def reply(self, recorded: GrpcResponse, sent: list[bytes]) -> Reply:
        """Returns the recorded answer, after the requests to compare."""
        data = body_to_bytes(recorded.body)
        chunks = decode_chunks(data) or [data] if self.kind.endswith("stream") else [data]
        end: Line = {"status": _STATUS_BY_CODE[recorded.status_code].name}
        if recorded.status_code:
            chunks, end = [], end | {"details": recorded.status_message}
        heard: list[Line] = [{"sent": form(chunk)} for chunk in sent]
        heard += [{"half_closed": True}] if sent else []
        return played(200, [*heard, *({"received": form(chunk)} for chunk in chunks), end])

    def record(self, cassette: Cassette, expected: Any, take: RequestInFlight) -> None:
        """Records the call, or compares it with what is expected in the mode `verify`. cassetter records no failed call."""
        lines = lines_of(take)
        end = lines[-1] if lines and "status" in lines[-1] else {"status": "CANCELLED"}
        if end["status"] != "OK" and expected is None:
            return
        sent, received = (
            [message(line[key]) for line in lines if key in line] for key in ("sent", "received")
        )
        cassette.record_grpc(
            self.method,
            self.metadata,
            Body("binary", encode_chunks(sent)) if self.kind.startswith("stream") else self.body,
            Body("binary", encode_chunks(received) if self.kind.endswith("stream") else b"".join(received)),
            _CODES[end["status"]],
            end.get("details", "OK"),
            expected=expected,
        )
