"""API keys: on the console and in logs; each in its header, to its own provider, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import unquote

from ....scenarios.canary_keys import CANARY, strangers
from ...observed.exchange import Request
from ...observed.run import Run
from ...readers import MODULES
from ...readers.json_access import once_per_request
from ...rule import Finding, broken, met
from ._rulebook import LOSS, MUST, SHOULD, book, found, varied_at


@book.rule("AUT-010", MUST, LOSS, source="https://cwe.mitre.org/data/definitions/532.html")
def keys_are_not_printed(run: Run) -> Iterator[Finding]:
    """No API key is printed, and no API key is logged at any level.

    Why: logs are copied to many places. Fix: leave the key out of every repr, and leave headers out of log lines.
    """
    if run.leaks is not None:
        yield found(not run.leaks, "/leaks", f"a key was written to {', '.join(run.leaks)}")


_ITS_HEADERS = {"authorization", "x-api-key", "x-goog-api-key", "api-key"}


#: The headers that may have the key, if there are others than `authorization`.
_SCHEMES = {
    "anthropic": ("x-api-key", "authorization"),
    "gemini": ("x-goog-api-key", "authorization"),
    "openai-chat": ("authorization", "api-key"),
    "openai-responses": ("authorization", "api-key"),
}


#: The ways of a run in which the suite gives the client its key. It gives no token.
_GIVEN = {"cassette", "server", "command"}
#: The version of Anthropic's API with which its own SDKs send the key as a bearer: @anthropic-ai/sdk 1.11.0.
_TAKES_BEARERS = "2026-10-21"


@book.rule(
    "AUT-002",
    MUST,
    LOSS,
    source=[
        "https://cwe.mitre.org/data/definitions/598.html",
        "https://github.com/BerriAI/litellm/issues/24902",
    ],
)
def keys_stay_in_their_header(run: Run) -> Iterator[Finding]:
    """The API key is only in its header, not in a URL, body, other header, error or transcript.

    Why: proxies log URLs, applications log errors, and people share transcripts. Fix: send the key as
    `authorization`, `x-api-key`, `x-goog-api-key` or `api-key`, and leave it out of every repr.
    """
    for index, exchange in enumerate(run.exchanges):
        place = f"/exchanges/{index}/request"
        for name, text in _places(exchange.request):
            if CANARY in text:
                yield broken(place, f"the API key is in the {name}")
        if CANARY in _credentials(exchange.request):
            yield met(place)
    for index, reply in enumerate(run.replies):
        if reply.error is not None:
            leaked = CANARY in f"{reply.error!r} {reply.error}"
            yield found(not leaked, f"/replies/{index}", "the API key is in the error's message")
    if run.transcript:
        yield found(CANARY not in run.transcript, "/transcript", "the API key is printed")


@book.rule("AUT-003", MUST, LOSS, source="https://github.com/NousResearch/hermes-agent/issues/28660")
def keys_go_to_their_own_provider(run: Run) -> Iterator[Finding]:
    """The client does not send another provider's key that it found in the environment.

    Why: libraries that fall back to OPENAI_API_KEY send it to every compatible service. Fix: read only the variable of
    the provider that was chosen.
    """
    for index, exchange in enumerate(run.exchanges):
        texts = [_credentials(exchange.request), *(text for _, text in _places(exchange.request))]
        sent = sorted({name for text in texts for name in strangers(text)})
        if sent or any(CANARY in text for text in texts):
            problem = f"the key in {', '.join(sent)} was sent to {run.provider}"
            yield found(not sent, f"/exchanges/{index}/request", problem)


@book.rule("AUT-005", MUST, LOSS, source="https://github.com/browseros-ai/BrowserOS-agent/pull/436")
def only_the_base_url_is_called(run: Run) -> Iterator[Finding]:
    """Requests go only to the base URL that was given.

    Why: the base URL names the gateway or the region that the caller may use. Fix: build every URL from the
    base URL, and do not download price lists or schemas unasked.
    """
    if run.elsewhere is not None and run.sent_items:
        problem = f"it also called {', '.join(run.elsewhere)}"
        yield found(not run.elsewhere, "/elsewhere", problem)


@book.rule(
    "AUT-001",
    MUST,
    LOSS,
    source=[
        "https://developers.openai.com/api/reference/overview#authentication",
        "https://platform.claude.com/docs/en/api/overview",
        "https://ai.google.dev/gemini-api/docs/api-key",
        "https://github.com/alibaba/open-code-review/issues/71",
    ],
)
def keys_are_sent_as_the_provider_has_it(run: Run) -> Iterator[Finding]:
    """The API key is in the header that the provider reads: `authorization`, `x-api-key` or `x-goog-api-key`.

    Why: the provider reads the key only there. Before version 2026-10-21, Anthropic takes only the token of a login as
    a bearer token, and answers "Invalid bearer token" to a key. Fix: use the header of the provider's own SDK.
    """
    for index, exchange in enumerate(run.exchanges):
        place, headers = f"/exchanges/{index}/request", exchange.request.headers
        wanted = _SCHEMES.get(run.wire, ("authorization",))
        if (run.wire, run.provider) == ("anthropic", "anthropic") and run.way in _GIVEN:
            wanted = wanted if headers.get("anthropic-version", "") >= _TAKES_BEARERS else ("x-api-key",)
        named = [name for name in wanted if headers.get(name)]  # masked in a recording
        if run.provider == MODULES[run.wire].PROVIDER and headers:  # others have their own headers
            yield found(named, place, f"the key is in none of {', '.join(wanted)}")
        if run.wire == "anthropic" and run.provider == "anthropic":
            version = headers.get("anthropic-version") or exchange.request.body.get("anthropic_version")
            yield found(version, place, "`anthropic-version` is missing")


@book.rule(
    "AUT-006",
    SHOULD,
    LOSS,
    source=[
        "https://www.rfc-editor.org/rfc/rfc9110#section-10.1.5",
        "https://www.rfc-editor.org/rfc/rfc9110#section-8.3",
    ],
)
def usual_headers_are_there(run: Run) -> Iterator[Finding]:
    """A request has the headers `content-type`, `accept` and `user-agent`.

    Why: servers and gateways read from them what a request contains, and who sent it. Fix: send the body by the
    client's `json` argument, and set a `user-agent` with your library's name.
    """
    for index, exchange in enumerate(run.exchanges):
        names = {name.lower() for name in exchange.request.headers}
        if not names:  # a recording that kept none
            continue
        missing = sorted({"content-type", "accept", "user-agent"} - names)
        yield found(not missing, f"/exchanges/{index}/request", f"{', '.join(missing)} is missing")


@book.rule(
    "AUT-011",
    MUST,
    LOSS,
    source=[
        "https://github.com/dagucloud/dagu/issues/1574",
        "https://github.com/httpie/cli/issues/1559 (OpenAI: Unsupported content type)",
    ],
)
def bodies_are_declared_as_json(run: Run) -> Iterator[Finding]:
    """A request with a JSON body says so: its `content-type` is `application/json`, with or without a `charset`.

    Why: OpenAI refuses other types, and compatible servers do not read the body then: they answer that the model is missing. An HTTP
    client declares a string as `text/plain` by itself. Fix: set the header, or hand the body over as JSON.
    """
    for index, exchange in enumerate(run.exchanges):
        request = exchange.request
        declared = next((v for k, v in request.headers.items() if k.lower() == "content-type"), "")
        if declared and request.body:
            kind = declared.partition(";")[0].strip().lower()
            fine = kind == "application/json" or kind.endswith("+json")
            yield found(fine, f"/exchanges/{index}/request", f"the body is declared as {declared}")


@book.rule(
    "AUT-004",
    MUST,
    LOSS,
    source=[
        "https://www.rfc-editor.org/rfc/rfc9110#section-15.4",
        "https://nvd.nist.gov/vuln/detail/CVE-2018-18074",
    ],
)
def keys_are_not_redirected(run: Run) -> Iterator[Finding]:
    """After a redirect to another host, the API key is not sent.

    Why: the other host could use the key. Fix: do not follow redirects, or drop the key's header when the host changes.
    """
    for varied in run.varied:
        if varied.variation.rule != "AUT-004":
            continue
        home = run.exchanges[0].request.url.split("/")[2]
        away = [e.request for e in varied.run.exchanges if e.request.url.split("/")[2] != home]
        keyed = [r.url for r in away if _ITS_HEADERS & {*r.headers}]
        yield found(not keyed, varied_at(varied), f"the key was sent to {keyed}")


def _is_credential(name: str) -> bool:
    """Tells whether a header is for keys. Gateways have their own headers (`x-portkey-api-key`)."""
    return name.lower() in _ITS_HEADERS or name.lower().endswith("-api-key")


def _credentials(request: Request) -> str:
    return " ".join(value for name, value in request.headers.items() if _is_credential(name))


def _places(request: Request) -> Iterator[tuple[str, str]]:
    """Yields every place of a request that must not have a key, by name."""
    yield "URL", unquote(request.url)
    yield "body", _body(request)
    for name, value in request.headers.items():
        if not _is_credential(name):
            yield f"header {name}", value


@once_per_request
def _body(request: Request) -> str:
    return json.dumps(request.body, ensure_ascii=False)
