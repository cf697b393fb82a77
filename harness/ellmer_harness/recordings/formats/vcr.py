"""Reads an exchange of vcrpy or of the VCRs of other languages: `{"request": {…}, "response": {…}}`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

from ...format.serializer import is_failure, is_stream
from ..interaction import Interaction, body_of, value_of

Json = dict[str, Any]
_STATUSES = {*HTTPStatus}
_HEX = re.compile("([0-9a-f]{2})+")


def is_entry(value: Any) -> bool:
    """Tells whether a value looks like one exchange: a request with a URL."""
    return address(value) is not None


def address(value: Any) -> str | None:
    """Returns the URL of the request of one exchange, or `None` if a value does not look like one."""
    value = _of_nock(value)
    request = value.get("request", value) if isinstance(value, dict) else None
    found = (request.get("uri") or request.get("url")) if isinstance(request, dict) else None
    return found if isinstance(found, str) else None


def entry(value: Json, place: str, folder: Path) -> Interaction:
    """Returns the exchange. `folder` is that of the file, because some recorders put bodies into separate
    files.
    """
    value = _of_replay(_of_nock(value))
    request, response = value.get("request", value), _joined(_raised(value.get("response") or {}))
    headers = [*_headers(response.get("headers"))]
    return Interaction(
        place=place,
        method=_text(request.get("method") or "POST").lstrip(":").upper(),  # the first VCR had symbols
        url=str(request.get("uri") or request.get("url")),
        sent=[*_headers(request.get("headers"))],
        body=body_of(request, folder),
        status=_status(response),
        reason=_reason(response),
        headers=headers,
        content=body_of(response, folder),
        when=moment(
            value.get("recorded_at")
            or value.get("recordedAt")
            or value.get("captured_at")
            or value_of(headers, "date")
        ),
        stream=stream if (stream := response.get("stream")) and is_stream(stream) else None,
        error=error if (error := response.get("error")) and is_failure(error) else None,
        chunks=_chunks(response),
    )


def _raised(response: Json) -> Json:
    """Returns the answer behind an exception of a client, which llama-stack stores instead of the answer."""
    match response:
        case {"is_exception": True, "exception_data": {"status_code": int(status), **more}}:
            return {"status": status, "body": {"error": more.get("body") or more.get("message")}}
    return response


def _joined(response: Json) -> Json:
    """Returns an answer as one text, if the recorder (Mastra's) stores the pieces that it came in."""
    match response:
        case {"chunks": [*pieces]} if pieces and all(isinstance(piece, str) for piece in pieces):
            return {
                **response,
                "body": "".join(pieces),
                "chunk_lengths": [len(piece.encode(errors="surrogatepass")) for piece in pieces],
            }
    return response


def _chunks(response: Json) -> tuple[int, ...]:
    """Returns the chunk sizes of an answer if the recorder lists them."""
    sizes = response.get("chunk_lengths")
    listed = isinstance(sizes, list) and all(isinstance(size, int) and size >= 0 for size in sizes)
    return tuple(sizes) if isinstance(sizes, list) and listed else ()


def moment(value: Any) -> datetime | None:
    """Returns a time of a recorder or of HTTP in UTC, or `None` for any other text."""
    if isinstance(value, datetime):
        return _in_utc(value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    text = str(value or "").removesuffix(" GMT") if str(value or "")[:4].isdigit() else str(value or "")
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return moment(parse(text))
        except (ValueError, ArithmeticError, LookupError, TypeError):  # a date of anybody's
            continue
    return None


def _in_utc(value: datetime) -> datetime | None:
    try:
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    except (ValueError, ArithmeticError):  # the first and the last day of the calendar
        return None


def _of_nock(value: Any) -> Any:
    """Returns the exchange in the format of nock (https://github.com/nock/nock): flat, with the URL in two
    parts and bytes as a list of hex strings.
    """
    match value:
        case {"scope": str(scope), "path": str(path), "status": int(status), "response": response}:
            if isinstance(response, list) and all(_HEX.fullmatch(str(each)) for each in response):
                response = bytes.fromhex("".join(response))
            raw = value.get("rawHeaders") or {}
            pairs = raw if isinstance(raw, dict) else [*zip(raw[::2], raw[1::2], strict=False)]
            request = {"method": value.get("method"), "url": scope + path, "body": value.get("body")}
            return {
                "request": request,
                "response": {"status": status, "headers": pairs, "body": response},
            }
    return value


#: What Google's client writes in place of the beginning of an address.
_PREFIXES = {
    "{MLDEV_URL_PREFIX}": "https://generativelanguage.googleapis.com/v1beta",
    "{VERTEX_URL_PREFIX}": "https://us-central1-aiplatform.googleapis.com/v1beta1/projects/p/locations/us-central1",
}


def _of_replay(value: Any) -> Any:
    """Returns the exchange of a replay of Google's client (https://github.com/googleapis/python-genai), or of Google's
    test server (https://github.com/google/test-server): its bodies are lists of JSON values, one for each event of a stream.
    """
    match value:
        case {"request": {"body_segments": list(sent), "url": str(url), **asked}, "response": dict(response)}:
            for prefix, meant in _PREFIXES.items():
                url = url.replace(prefix, meant, 1)
            got = _segments(response.get("body_segments"))
        case {
            "request": {"bodySegments": list(sent), "url": str(path), "serverAddress": str(host), **asked},
            "response": dict(response),
        }:
            url, got = f"https://{host}{path}", _segments(response.get("bodySegments"))
        case _:
            return value
    body = json.dumps(sent[0]) if sent else None
    return {
        **value,
        "request": {**asked, "url": url, "body": body},
        "response": {**response, "body": got},
    }


def _segments(values: Any) -> str:
    texts = [json.dumps(each) for each in values or ()]
    return texts[0] if len(texts) == 1 else "".join(f"data: {text}\n\n" for text in texts)


def _headers(value: Any) -> Iterator[tuple[str, str]]:
    """Reads headers from a mapping to one or several values, or from a list of pairs."""
    for name, field in value.items() if isinstance(value, dict) else value or ():
        for each in field if isinstance(field, list | tuple) else (field,):
            yield _text(name).lower(), _text(each)


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else "" if value is None else str(value)


def _status(response: Json) -> int | None:
    value = response.get("status")
    if isinstance(value, dict):
        value = value.get("code", value.get("status_code"))
    named = (response.get(key) for key in ("code", "status_code", "statusCode"))
    codes = (_code(each) for each in (value, *named))
    code = next((each for each in codes if each is not None), None)
    if code is None and "__type__" in str(response.get("body"))[:40]:
        return 200  # llama-stack stores an answer as an object of its client, and an error as an exception
    return None if code == 0 and not response.get("error") else code


def _code(value: Any) -> int | None:
    """Reads a status: a number, or the beginning of `200 OK`."""
    if isinstance(value, str) and value[:3].isdigit():
        return int(value[:3])
    return value if isinstance(value, int) else None


def _reason(response: Json) -> str:
    status = response.get("status")
    if isinstance(status, dict):
        return str(status.get("reason") or status.get("message") or "")
    if isinstance(status, str):
        return status.partition(" ")[2]
    return HTTPStatus(status).phrase if isinstance(status, int) and status in _STATUSES else ""
