"""How an answer ends: the finish reasons of each format, and the errors of providers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from ... import errors
from ...contents.content import Content
from ...contents.turns import AssistantPartialTurn, AssistantTurn
from .json_objects import read_json

# --- finish reasons --------------------------------------------------------------------------------------


class Endings(NamedTuple):
    """A provider's finish reasons, each with the neutral one. `sources` are the pages that list them."""

    sources: tuple[str, ...]
    whole: Mapping[str, str]
    cut: Mapping[str, str]

    def neutral(self, reason: object) -> str | None:
        """Returns the neutral reason for a finish reason, the reason itself if it is unknown, or `None` for none."""
        if not isinstance(reason, (str, type(None))):
            raise TypeError(f"a finish reason is a string, not {reason!r:.80}")
        reasons = self.whole if (reason or "") in self.whole else self.cut
        return reasons.get(reason or "", reason or None)

    def is_whole(self, reason: object) -> bool:
        """Tells whether an answer with this finish reason is complete."""
        return isinstance(reason, (str, type(None))) and (reason or "") in self.whole

    def also(
        self, source: str, *, whole: Mapping[str, str] | None = None, cut: Mapping[str, str] | None = None
    ) -> Endings:
        """Returns the table with further finish reasons of one provider."""
        return Endings((*self.sources, source), {**self.whole, **(whole or {})}, {**self.cut, **(cut or {})})


def answer(contents: Iterable[Content], *, whole: bool, **facts: Any) -> AssistantTurn:
    """Returns the turn of an answer. It is partial unless its finish reason says that it is complete."""
    if whole:
        return AssistantTurn(contents, **facts)
    return AssistantPartialTurn(contents, reason=facts["finish_reason"] or "incomplete", **facts)


# --- errors ----------------------------------------------------------------------------------------------


#: The HTTP status for a provider's error code, if the response has status 200.
STATUS_OF = {
    "invalid_request_error": 400,
    "invalid_request": 400,
    "invalid_prompt": 400,
    "content_filter": 400,
    "context_length_exceeded": 400,
    "tool_use_failed": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "tokens": 429,
    "requests": 429,
    "RESOURCE_EXHAUSTED": 429,
    "api_error": 500,
    "server_error": 500,
    "internal_server_error": 500,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "timeout_error": 504,
    "overloaded_error": 529,
}

#: Compiled when the first error comes: there is none in most programs.
_WAIT = r"(?i)(?:try again|retry) in (?:(\d+)m(?!s))?(?:([\d.]+)(ms|s)\b)?"
_CODE = re.compile(r"<(script|style)\b", re.IGNORECASE)
_LONGEST = 2000  # characters of an error text that is not JSON
_PAGE = 50_000  # characters of a page that are looked through for them


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> errors.ProviderError:
    """Returns the typed error for an answer with an error status."""
    headers = {name.lower(): value for name, value in headers.items()}
    parsed = _parsed(body)
    facts = _facts(parsed) | {"status": status, "body": parsed}
    if 300 <= status < 400 and (place := headers.get("location")):
        facts["message"] = (
            f"HTTP {status}: moved to {place}. Is base_url right? No redirect is followed with a key."
        )
    facts["message"] = facts["message"] or f"HTTP {status}, {_quoted(parsed)}"
    for name in ("x-request-id", "request-id", "apim-request-id"):
        facts["request_id"] = headers.get(name) or facts["request_id"]
    wait = header_wait(headers)
    facts["retry_after"] = facts["retry_after"] if wait is None else wait
    return _kind(status, facts)(**facts)


def in_band_error(body: object) -> errors.ProviderError:
    """Returns the typed error for an error inside a 200. Its `status` is the corresponding one, or `None` if it is
    unknown.
    """
    facts: dict[str, Any] = _facts(body) | {"body": body}
    facts["message"] = facts["message"] or f"The provider reported an error, {_quoted(body)}"
    facts["status"] = facts["status"] or STATUS_OF.get(facts["type"]) or STATUS_OF.get(facts["code"])
    return _kind(facts["status"], facts)(**facts)


def _quoted(body: object) -> str:
    """Returns the body as the explanation if there is no message."""
    return f"with no message in its body: {json.dumps(body):.300}" if body else "without an explanation"


#: The providers' errors for a conversation that is too long (each was recorded).
_TOO_LONG = (
    r"(?i)prompt is too long|prompt too long|too many total text bytes|input is too long|input tokens exceeded"
    r"|maximum (?:context|prompt) length|maximum number of tokens allowed|context window|context size"
    r"|too many tokens|reduce the length of the messages|user input tokens exceeds"
    r"|total length of all messages is too long|too large to process"
)
_TOO_LONG_CODES = {
    "context_length_exceeded",
    "exceed_context_size_error",
    "too_many_prompt_tokens",
    "TOO_MANY_TOKENS",
}


def _kind(status: int | None, facts: Mapping[str, Any]) -> type[errors.ProviderError]:
    """Returns the class of the error. Some providers report a conversation that is too long with a 500."""
    coded = {facts["code"], facts["type"]} & _TOO_LONG_CODES
    worded = status in {400, 413, 422, 500, None} and re.search(_TOO_LONG, facts["message"])
    return errors.ContextWindowError if coded or worded else _class(status)


def _class(status: int | None) -> type[errors.ProviderError]:
    match status:
        case 401 | 403:
            return errors.AuthenticationError
        case 429:
            return errors.RateLimitError
        case 408 | 409 | 424 | None:
            return errors.ServerError
        case _:
            return errors.BadRequestError if 300 <= status < 500 else errors.ServerError


def _parsed(body: bytes) -> object:
    text = body.decode("utf-8", "replace").strip()
    event = re.search(r"(?m)^data:(.+)$", text)  # some refuse a stream with a stream
    for candidate in (text, *(event.groups() if event else ())):
        with suppress(ValueError):
            return read_json(candidate)
    return text


def _facts(body: object) -> dict[str, Any]:
    """Returns the arguments of `ProviderError` from the body, each `None` if it is missing."""
    outer = _first(body)
    error = _first(outer.get("error") or outer.get("errors")) if isinstance(outer, Mapping) else outer
    levels = [level for level in (error, outer) if isinstance(level, Mapping)]
    texts = (
        _text(part)
        for part in (error, *(level.get(n) for level in levels for n in ("message", "Message", "detail")))
    )
    message = _with_upstream(next((text for text in texts if text), ""), levels)
    type = _pick(levels, "type", "status", "error_type", "reason", "__type")
    code = _pick(levels, "code", "error_code")
    return {
        "message": message,
        "type": type,
        "code": code,
        "status": _status(levels),
        "request_id": _pick(levels, "request_id"),
        "retry_after": _body_wait(levels, message),
    }


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value


def _pick(levels: list[Mapping[str, Any]], *names: str) -> str | None:
    """Returns the first text (or number, as text) under one of the names. `type: "error"` is an envelope and not a
    type, and a number under `status` is the HTTP status.
    """
    for level in levels:
        for name in names:
            value = level.get(name)
            word = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
            if word and (name, word) != ("type", "error") and not (name == "status" and word.isdigit()):
                return word
    return None


def _status(levels: list[Mapping[str, Any]]) -> int | None:
    words = (str(level.get(name)) for level in levels for name in ("status", "status_code", "code"))
    return next((int(word) for word in words if re.fullmatch(r"[45]\d\d", word)), None)


def _text(part: object) -> str:
    """Returns the readable text of a message: a string, an HTML page, a list of validation errors, an object around
    one.
    """
    match part:
        case str() if "<html" in part[:500].lower() or "<!doctype" in part[:500].lower():
            return _page_text(part[:_PAGE])[:_LONGEST]
        case str():
            return part.strip()[:_LONGEST] if len(part) > _LONGEST else part
        case list():
            return "; ".join(filter(None, map(_text, part)))
        case {"loc": [*place], "msg": message}:
            return f"{'.'.join(map(str, place))}: {message}"
        case {"message": message} | {"detail": message}:
            return _text(message)
        case _:
            return ""


def _page_text(page: str) -> str:
    """Returns the text of an HTML page, in linear time, without scripts, styles and tags."""
    from html import unescape  # noqa: PLC0415 - few answers are pages

    words, lower, at = [], page.lower(), 0
    while found := _CODE.search(page, at):
        words.append(page[at : found.start()])
        end = lower.find(f"</{found[1].lower()}", found.end())
        at = len(page) if end < 0 else end
    return " ".join(unescape(re.sub(r"<[^<>]*>", " ", "".join([*words, page[at:]]))).split())


def _with_upstream(message: str, levels: list[Mapping[str, Any]]) -> str:
    """Returns the message with the underlying reason. Gateways put the text of the original provider into
    `metadata.raw` (OpenRouter) or `details.error`; Xiaomi explains the error in `param`.
    """
    for level in levels:
        for upstream in (*_behind(level, "metadata", "raw"), *_behind(level, "details", "error")):
            if upstream != message:
                return f"{message}: {upstream}" if message else upstream
        if isinstance(param := level.get("param"), str) and " " in param:
            return f"{message}: {param}"
    return message


def _behind(level: Mapping[str, Any], name: str, key: str) -> Iterator[str]:
    inside = level.get(name)
    raw = inside.get(key) if isinstance(inside, Mapping) else None
    message = (
        _facts(_parsed(raw.encode("utf-8", "replace")) if isinstance(raw, str) else raw)["message"]
        if raw
        else None
    )
    if message:
        yield message


def header_wait(headers: Mapping[str, str]) -> float | None:
    """Returns seconds from a header: a number, or a date, which is compared with the server's own clock (`date`)."""
    units = (("retry-after-ms", 0.001), ("retry-after", 1.0))
    numbers = [_seconds(headers.get(name), unit) for name, unit in units]
    waits = [wait for wait in numbers if wait is not None]
    if waits:
        return next((wait for wait in waits if wait), 0.0)
    then, now = _timestamp(headers.get("retry-after")), _timestamp(headers.get("date"))
    return None if then is None or now is None else max(then - now, 0.0)


def _timestamp(date: str | None) -> float | None:
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - few answers have a date to wait for

    try:
        return parsedate_to_datetime(date).timestamp() if date else None
    except (ArithmeticError, LookupError, TypeError, ValueError):  # a date from elsewhere can be anything
        return None


def _body_wait(levels: list[Mapping[str, Any]], message: str) -> float | None:
    for level in levels:
        for detail in level.get("details") or () if isinstance(level.get("details"), list) else ():
            delay = detail.get("retryDelay") if isinstance(detail, Mapping) else None  # Gemini's RetryInfo
            if isinstance(delay, str) and (wait := _seconds(delay.removesuffix("s"))) is not None:
                return wait
        metadata = level.get("metadata")
        seconds = metadata.get("retry_after_seconds") if isinstance(metadata, Mapping) else None
        if isinstance(seconds, (int, float)) and (wait := _seconds(str(seconds))) is not None:
            return wait
    return _spoken_wait(message)


def _spoken_wait(message: str) -> float | None:
    """Returns seconds from a text: `… Please try again in 1m2.5s` (OpenAI, Groq), `Please retry in 48.9s` (Gemini)."""
    found = re.search(_WAIT, message)
    minutes, amount, unit = found.groups() if found else (None, None, None)
    if not minutes and not amount:
        return None
    parts = (
        _seconds(minutes or "0", 60.0),
        _seconds((amount or "0").rstrip("."), 0.001 if unit == "ms" else 1.0),
    )
    return None if None in parts else sum(filter(None, parts))


def _seconds(number: str | None, unit: float = 1.0) -> float | None:
    """Returns a number of seconds from a text, or `None` if there is none or it is unreasonably long."""
    if not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{0,20})?", number or "", re.ASCII):
        return None
    return float(number or "") * unit
